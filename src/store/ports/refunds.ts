// Money that went back to payers, and what payers spent.
import type { Millis } from '../model.ts'

/** `recorded -> submitted -> settled | failed`; `settled -> submitted` where its chain replaced the block. */
export type RefundState = 'recorded' | 'submitted' | 'settled' | 'failed'

/**
 * One transfer to the payer of a settled claim. Its EIP-3009 nonce is drawn before anything is signed, and a nonce is spent once:
 * however often the transfer is sent, it happens once. The signature is never stored.
 */
export interface Refund {
  readonly id: string
  readonly claimId: string
  /** Chosen by who asks: the same reference of a claim is refunded once. */
  readonly reference: string
  /** Whose key asked. */
  readonly accountId: string
  /** Network, asset, payer and tool are the claim's. */
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly tool: string
  /** Atomic units as decimal text. */
  readonly amount: string
  /** Credits that were taken back with it. */
  readonly credits: number
  /** In the operator's words. */
  readonly reason: string
  /** Account that the money leaves; lower-case. */
  readonly sender: string
  readonly nonce: string
  /** From then on the transfer cannot happen any more. */
  readonly validBefore: Millis
  readonly state: RefundState
  /** How often somebody set out to send it. */
  readonly tries: number
  readonly transaction: string | null
  /** Stable word for why it failed. */
  readonly failure: string | null
  readonly receiptId: string | null
  readonly createdAt: Millis
  readonly submittedAt: Millis | null
  readonly finishedAt: Millis | null
}

/** How a refund begins; the rest is its claim's. */
export type NewRefund = Pick<
  Refund,
  'id' | 'claimId' | 'reference' | 'accountId' | 'reason' | 'sender' | 'nonce' | 'validBefore' | 'createdAt'
> & {
  /** Atomic units; null for all that is left. */
  readonly amount: string | null
  /** Seller of the market who asks: only for its own sales, and only what it holds. */
  readonly asker?: string | undefined
  /** Whether the platform gives back its share of a sale, too; it does unless it is told not to. */
  readonly returnsFee?: boolean | undefined
}

/** What a payer spent with one tool in one month, on one network with one asset. */
export interface Spend {
  readonly network: string
  readonly asset: string
  readonly tool: string
  /** `2026-11`, UTC. */
  readonly month: string
  /** Settled payments. */
  readonly payments: number
  /** Atomic units as decimal text. */
  readonly settled: string
  /** Of what was given back in that month. */
  readonly refunded: string
}
