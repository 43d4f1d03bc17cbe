// Says why a refund is refused, and what its operator does about it.
import { GatewayError } from '../core/errors.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import type { PaymentClaim, Store } from '../store/ports.ts'

type Unrecorded = Extract<Awaited<ReturnType<Store['recordRefund']>>, { ok: false }>

const conflict = (detail: string) => new GatewayError('state_conflict', detail)

export const noAccount = () =>
  conflict(
    'No account refunds here. Set GATEWAY_REFUND_KEY_FILE to the private key (0600) of an account that holds the asset; it needs no gas.',
  )

export const notOurs = (payTo: string) =>
  conflict(`This payment went to another seller, ${payTo}: only that seller can pay it back.`)

export const notOurChain = (network: string) =>
  conflict(
    `Nothing here can send the asset of this payment on ${network}. Pay it back by hand, to the payer that the claim names.`,
  )

export const chainSilent = (network: string) =>
  new GatewayError('payments_unavailable', `${network} does not answer. Nothing was refunded: try again.`)

/** @param money in atomic units; `bound`: refunds that are on their way */
export const poor = (
  address: string,
  { name }: PaymentNetwork,
  { held, bound, amount }: { readonly held: bigint; readonly bound: bigint; readonly amount: bigint },
) =>
  conflict(
    `The refund account ${address} holds ${held} atomic units on ${name}, of which ${bound} are on their way already, and ${amount} are to be refunded. Send it the asset and try again.`,
  )

/** @returns the problem for whoever asked for more than there is, or for what is not paid */
export function unrecorded(
  { reason, left = '0', credits = 0 }: Unrecorded,
  claim: PaymentClaim,
): GatewayError {
  switch (reason) {
    case 'claim':
      return new GatewayError('payment_not_found', 'There is no such claim.')
    case 'state':
      return conflict(`The payment is ${claim.state}: only a settled one can be refunded.`)
    case 'reference':
      return conflict('This reference was used for another amount of the payment. Choose another reference.')
    case 'credits':
      return conflict(
        `The ${credits} credits that this amount bought are spent: only what is still there can be taken back. Refund less.`,
      )
    case 'balance':
      return conflict(
        'You hold less than your share of this refund. Later sales fill your balance; until then the operator can refund it.',
      )
    case 'many':
      return conflict(
        'This sale was refunded in ten parts already. What is left of it can be refunded by the operator.',
      )
    case 'amount':
      return conflict(
        left === '0'
          ? 'All of the payment is refunded already, or about to be.'
          : `Of the payment ${left} atomic units are left to refund. Ask for 1 to ${left}.`,
      )
  }
}
