// Pays settled payments back: the amount is bound on disk first, then one transfer to the payer is sent (transfers.ts). Who may refund
// is the tool's business; how much is left, the store's.
import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { SignedReceipt } from '../../schemas/receipt.ts'
import type { OperatorRefund, RefundRecord } from '../../schemas/refund.ts'
import { GatewayError } from '../core/errors.ts'
import type { OnFault } from '../core/faults.ts'
import type { Networks, PaymentNetwork } from '../core/networks.ts'
import type { Fault } from '../lib/fault-points.ts'
import { newId } from '../lib/ids.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { Signer } from '../receipts/ports.ts'
import { toReceipt } from '../receipts/types.ts'
import type { PaymentClaim, Refund, Spend, Store, StoredReceipt } from '../store/ports.ts'
import type { EvidenceReader } from './chain-evidence.ts'
import { type Chain, ChainError } from './chain-ports.ts'
import type { Router } from './ports.ts'
import { signRefundReceipt } from './receipt.ts'
import type { TransferSigner } from './transfer-signer.ts'
import { createTransfers, validUntil } from './transfers.ts'
import * as refuse from './refund-refusals.ts'
import { refundedOf, toOperatorRefund, toRefundRecord } from './refund-wire.ts'
import { type Months, readMonths } from './spend.ts'

export interface RefundParts {
  readonly store: Store
  readonly networks: Networks
  /** By CAIP-2 id. */
  readonly chains: ReadonlyMap<string, Pick<Chain, 'balanceOf'>>
  readonly evidence: EvidenceReader
  readonly router: Pick<Router, 'routes'>
  readonly signer: Signer
  /** A stored receipt whose key was revoked is shown signed anew. */
  readonly renewReceipt: (receipt: StoredReceipt) => StoredReceipt
  readonly baseUrl: string
  /** Account of this gateway that buyers pay to; undefined where nothing is sold. */
  readonly payTo: string | undefined
  /** Undefined without GATEWAY_REFUND_KEY_FILE: nothing is refunded then. */
  readonly account: TransferSigner | undefined
  /** Whether the platform gives back its share of a sale that is refunded; it does where nobody says. */
  readonly returnsFee?: () => Promise<boolean>
  readonly fault: Fault
  readonly now: () => number
  readonly log: Logger
  readonly onFault?: OnFault
}

export interface RefundRequest {
  readonly claimId: string
  /** Atomic units; undefined for all that is left. */
  readonly amount: string | undefined
  readonly reason: string
  /** The same reference of a claim is refunded once. */
  readonly reference: string
  /** Account of the key that asks. */
  readonly accountId: string
  /** Seller of the market who asks, from what it holds; undefined for the operator. */
  readonly asker?: string | undefined
}

export interface Refunds {
  /**
   * Binds and sends; a refund that waits for its chain is answered as `submitted`, and housekeeping goes on with it.
   * @throws {GatewayError} payment_not_found; state_conflict where the payment or the refund account is not fit for it;
   * payments_unavailable where the chain does not answer: nothing was bound
   */
  refund(request: RefundRequest): Promise<{ readonly refund: Refund; readonly repeated: boolean }>
  /** Refunds of a claim, oldest first. */
  of(claimId: string): Promise<readonly Refund[]>
  /** What the operator is told of a refund, with its receipt. */
  show(refund: Refund): Promise<z.output<typeof OperatorRefund>>
  /** What the payer of a claim is told: what went back, and how each refund stands. */
  showPayer(claimId: string): Promise<{
    readonly refunded: bigint
    readonly refunds: readonly z.output<typeof RefundRecord>[]
  }>
  /**
   * What a payer spent here, newest month first.
   * @throws {GatewayError} input_invalid
   */
  spend(
    payer: string,
    asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  ): Promise<Months & { readonly payer: string; readonly spend: readonly Spend[] }>
  /** Looks once at every open refund, and whether what settled lately still is. Never throws. */
  reconcile(): Promise<void>
}

/** What was posted to `/settle` may have been for us too: the money is here, whatever its buyer meant to do with it. */
export const isPaidToUs = (
  claim: Pick<PaymentClaim, 'origin' | 'payTo'>,
  payTo: string | undefined,
): boolean => claim.origin === 'tool' || claim.payTo.toLowerCase() === payTo?.toLowerCase()

/** Open refunds that are counted against what the account holds. */
const MOST_OPEN = 1_000

export function createRefunds(parts: RefundParts): Refunds {
  const { store, networks, chains, account, baseUrl, fault, now } = parts

  /** @throws {GatewayError} state_conflict */
  function networkOf({ network, asset, payer }: PaymentClaim): PaymentNetwork {
    const found = networks.find(network)
    if (!found || !chains.has(found.network) || found.asset.address.toLowerCase() !== asset || payer === '')
      throw refuse.notOurChain(network)
    return found
  }

  /** @throws {GatewayError} state_conflict, payments_unavailable */
  async function assertFunded({ address }: TransferSigner, network: PaymentNetwork, amount: bigint) {
    let held: bigint | undefined
    try {
      held = await chains.get(network.network)?.balanceOf(address)
    } catch (thrown) {
      if (!(thrown instanceof ChainError)) throw thrown
    }
    if (held === undefined) throw refuse.chainSilent(network.name)
    // What is on its way leaves the account too: a transfer that it does not cover would be reverted at the settlers' cost.
    const open = await store.listOpenRefunds({ before: Number.MAX_SAFE_INTEGER, limit: MOST_OPEN })
    const bound = sumOf(
      open.filter((refund) => refund.sender === address && refund.network === network.network),
    )
    if (held < bound + amount) throw refuse.poor(address, network, { held, bound, amount })
  }

  /** @throws {GatewayError} */
  async function record(request: RefundRequest): Promise<{ refund: Refund; repeated: boolean }> {
    const { claimId, amount, reason, reference, accountId, asker } = request
    const claim = await store.getClaim(claimId)
    if (!claim) throw new GatewayError('payment_not_found', 'There is no such claim.')
    const refunds = await store.listRefunds(claimId)
    const before = refunds.find((refund) => refund.reference === reference)
    if (!account) {
      if (before && (amount === undefined || amount === before.amount))
        return { refund: before, repeated: true }
      throw refuse.noAccount()
    }
    if (!isPaidToUs(claim, parts.payTo)) throw refuse.notOurs(claim.payTo)
    const network = networkOf(claim)
    if (!before && claim.state === 'settled') {
      const left = BigInt(claim.amount) - sumOf(refunds)
      const asked = amount === undefined ? left : BigInt(amount)
      if (asked > 0n && asked <= left) await assertFunded(account, network, asked)
    }
    const createdAt = now()
    const recorded = await store.recordRefund({
      id: newId('rfd', createdAt),
      claimId,
      reference,
      accountId,
      reason,
      amount: amount ?? null,
      asker,
      returnsFee: await parts.returnsFee?.(),
      sender: account.address,
      nonce: `0x${randomBytes(32).toString('hex')}`,
      validBefore: validUntil(createdAt),
      createdAt,
    })
    if (!recorded.ok) throw refuse.unrecorded(recorded, claim)
    return recorded
  }

  const transfers = createTransfers(
    { ...parts, engine: store.engine },
    {
      noun: 'refund',
      toTransfer: ({ payer: recipient, ...refund }: Refund) => ({ ...refund, recipient }),
      fieldsOf: ({ id, claimId }) => ({ [LogField.claim]: claimId, refund: id }),
      get: store.getRefund,
      submit: store.submitRefund,
      async cancelReason({ claimId }) {
        const claim = await store.getClaim(claimId)
        return claim?.state === 'failed' ? 'payment_reversed' : undefined
      },
      async settle(refund, transaction) {
        const receipt = signRefundReceipt(parts, refund, transaction)
        return store.settleRefund({ id: refund.id, transaction, receipt, now: receipt.createdAt })
      },
      fail: store.failRefund,
      reopen: store.reopenRefund,
      touch: store.touchRefund,
      listOpen: store.listOpenRefunds,
      listSettled: store.listSettledRefunds,
      finalize: store.finalizeRefund,
    },
  )

  async function receiptOf({ receiptId }: Refund): Promise<SignedReceipt | null> {
    const stored = receiptId === null ? undefined : await store.getReceipt(receiptId)
    return stored ? toReceipt(baseUrl, parts.renewReceipt(stored)) : null
  }

  return {
    async refund(request) {
      const { refund, repeated } = await record(request)
      if (repeated) return { refund, repeated }
      await fault.at('after_refund_recorded')
      return { refund: await transfers.send(refund), repeated }
    },
    of: (claimId) => store.listRefunds(claimId),
    show: async (refund) => toOperatorRefund(refund, await receiptOf(refund)),
    async showPayer(claimId) {
      const refunds = await store.listRefunds(claimId)
      const shown = refunds.map(async (refund) => toRefundRecord(refund, await receiptOf(refund)))
      return { refunded: refundedOf(refunds), refunds: await Promise.all(shown) }
    },
    async spend(asked, months) {
      const { since, until, ...shown } = readMonths(months, now())
      // Addresses of other chains have capitals that count.
      const payer = /^0x/i.test(asked) ? asked.toLowerCase() : asked
      return { payer, ...shown, spend: await store.listSpend({ payer, since, until }) }
    },

    reconcile: transfers.reconcile,
  }
}

const sumOf = (refunds: readonly Refund[]) =>
  refunds.reduce((sum, { state, amount }) => (state === 'failed' ? sum : sum + BigInt(amount)), 0n)
