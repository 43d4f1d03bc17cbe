// Decides whose payments are settled for other sellers, and how many of them for nothing. Gas is the operator's, and payees and
// payers cost nothing to make: without a service key only the sum of a network stands in the way of who makes them by the
// hundred, so that one is counted too.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import type { Caller } from '../core/caller.ts'
import type { Config } from '../core/config.ts'
import { GatewayError } from '../core/errors.ts'
import type { Allowance } from '../store/commands/settlements.ts'
import type { PaymentClaim } from '../store/ports.ts'
import type { PaymentPolicy } from './policy.ts'
import type { Verdict } from './ports.ts'

type Refused = Extract<Verdict, { ok: false }>

const KEY = 'Send the service key of an account as `Authorization: Bearer`.'

/** The account that pays for a settlement; null without a service key. */
export const accountOf = (caller: Caller): string | null =>
  caller.kind === 'operator' ? caller.accountId : null

/** @param parts.readPolicy of the operator; its known payees are asked for only where they matter */
export function createSettleTerms(parts: {
  config: Pick<
    Config,
    'settleFreeAllowance' | 'settleKeylessAllowance' | 'settleMinAtomic' | 'settleWithoutKey'
  >
  readPolicy: () => Promise<PaymentPolicy>
}) {
  const { config, readPolicy } = parts
  const { settleFreeAllowance, settleKeylessAllowance, settleMinAtomic, settleWithoutKey } = config

  return {
    /**
     * @returns why the payment is too small for a caller without a key; undefined where it is not
     * @throws {GatewayError} key_required, where the operator settles this payee's payments for accounts alone
     */
    async check(
      { amount, payTo }: Pick<PaymentRequirements, 'amount' | 'payTo'>,
      caller: Caller,
    ): Promise<Refused | undefined> {
      if (accountOf(caller) !== null) return undefined
      if (settleWithoutKey === 'nobody')
        throw new GatewayError('key_required', `Payments are settled for accounts only. ${KEY}`)
      if (settleWithoutKey === 'known' && !(await readPolicy()).isKnownPayee(payTo))
        throw new GatewayError(
          'key_required',
          `Without a key payments are settled for payees that the operator knows, and ${payTo} is none of them. ${KEY}`,
        )
      // Every asset that is taken has the decimals of USDC (core/networks.ts).
      if (BigInt(amount) >= settleMinAtomic) return undefined
      return {
        ok: false,
        check: 'amount',
        reason: 'amount_below_minimum',
        message: `Without a key payments of at least ${settleMinAtomic} atomic units are settled; this one is over ${amount}. ${KEY}`,
        isRetryable: false,
      }
    },

    /** Whose allowances a settlement uses: of its account, else of its payee, its payer and its network together. */
    allowancesOf(
      { network, payTo, payer }: Pick<PaymentClaim, 'network' | 'payTo' | 'payer'>,
      caller: Caller,
    ): readonly [Allowance, ...Allowance[]] {
      const accountId = accountOf(caller)
      const allowance = settleFreeAllowance
      if (accountId !== null) return [{ holder: accountId, allowance }]
      const payee = network.startsWith('eip155:') ? payTo.toLowerCase() : payTo
      return [
        { holder: `${network}:${payee}`, allowance },
        // The payer of a foreign payment is known to its facilitator alone.
        ...(payer === '' ? [] : [{ holder: `${network}:payer:${payer}`, allowance }]),
        // The row that everybody counts in is locked last, and so for the shortest time.
        { holder: `${network}:keyless`, allowance: settleKeylessAllowance },
      ]
    },

    /** The refusal of a caller without a key when one of its allowances is used up. */
    usedUp(held: PaymentClaim, holder: string): GatewayError {
      const whose = holder.endsWith(':keyless')
        ? `all payments without a key on ${held.network}`
        : holder.includes(':payer:')
          ? `payments of ${held.payer} on ${held.network}`
          : `payments to ${held.payTo} on ${held.network}`
      const count = holder.endsWith(':keyless') ? settleKeylessAllowance : settleFreeAllowance
      return new GatewayError(
        'credits_required',
        `The free allowance of ${count} settlements a month is used up for ${whose}. Send the service key of an ` +
          'account with credits as `Authorization: Bearer`.',
      )
    },
  }
}
