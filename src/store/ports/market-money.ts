// Money of the market: what is owed to whom, and what was paid out. Amounts are atomic units.
import type { Millis } from '../model.ts'
import type { FeeTerms, Sale, SellerId } from './market.ts'

/**
 * Whose money it is. `cash`: what the gateway holds, as a negative number; `fees`: the platform's; `seller:<id>`: owed to a seller;
 * `retained:<id>`: of a seller that is the platform itself; `transit:<id>`: bound to a payout or a refund that is under way.
 */
export type MarketAccount =
  'cash' | 'fees' | `seller:${SellerId}` | `retained:${SellerId}` | `transit:${string}`

/**
 * Why money moved. `sale_reversed`: a chain took the payment back; `sale_restored`: it has it after all; `_failed`: the transfer
 * never comes, what was bound is owed again; `_reopened`: a chain took the transfer back.
 */
export type MarketEntryKind =
  | 'sale'
  | 'sale_reversed'
  | 'sale_restored'
  | 'refund'
  | 'refund_settled'
  | 'refund_failed'
  | 'refund_reopened'
  | 'payout'
  | 'payout_settled'
  | 'payout_failed'
  | 'payout_reopened'

/** One line of an account; lines of one transaction sum to zero. */
export interface MarketEntry {
  readonly account: string
  /** CAIP-2. */
  readonly network: string
  /** Never before that of the line above it. */
  readonly at: Millis
  /** 1 for the first line of an account on a network, one more for each. */
  readonly seq: number
  readonly transactionId: string
  /** Signed. */
  readonly amount: number
  /** After this line. */
  readonly balance: number
  readonly kind: MarketEntryKind
  /** Claim of a sale, or refund, or payout. */
  readonly reference: string
}

/** A line as a statement shows it: with what it stands for. */
export interface StatementEntry extends MarketEntry {
  readonly claimId: string | null
  readonly serviceId: string | null
  readonly route: string | null
  /** What the buyer paid or got back; of a payout what was sent. */
  readonly gross: number
  /** The platform's share of it. */
  readonly fee: number
  /** As its claim, refund or payout stands now. */
  readonly state: string
  readonly transaction: string | null
  readonly receiptId: string | null
}

export interface MarketBalance {
  readonly account: string
  readonly network: string
  readonly balance: number
  readonly entries: number
}

/** A sale beside its claim. */
export interface StoredSale extends Sale {
  readonly claimId: string
  readonly network: string
  readonly amountAtomic: string
  /** Whether the ledger counts it: its claim is settled, and its chain has not taken that back. */
  readonly isBooked: boolean
  readonly fee: FeeTerms
  readonly createdAt: Millis
}

/** `recorded -> submitted -> settled | failed`; `settled -> submitted` where its chain replaced the block. */
export type PayoutState = 'recorded' | 'submitted' | 'settled' | 'failed'

/** One transfer of what is owed to a seller. As with refunds its nonce is on disk before anything is signed, and is spent once. */
export interface Payout {
  readonly id: string
  readonly batchId: string
  readonly sellerId: SellerId
  readonly network: string
  readonly asset: string
  /** Lower-case, as is the sender. */
  readonly recipient: string
  readonly amount: number
  readonly sender: string
  readonly nonce: string
  readonly validBefore: Millis
  readonly state: PayoutState
  readonly tries: number
  readonly transaction: string | null
  readonly failure: string | null
  readonly receiptId: string | null
  readonly createdAt: Millis
  readonly submittedAt: Millis | null
  readonly finishedAt: Millis | null
}

/** How a payout begins: its amount is what is owed when it is written. */
export type NewPayout = Pick<
  Payout,
  | 'id'
  | 'batchId'
  | 'sellerId'
  | 'network'
  | 'asset'
  | 'recipient'
  | 'sender'
  | 'nonce'
  | 'validBefore'
  | 'createdAt'
>

/** One run over the sellers of a network. */
export interface PayoutBatch {
  readonly id: string
  readonly network: string
  /** Day or week of a schedule, or the id of a run by hand: there is one batch of it. */
  readonly period: string
  /** Less than that stays owed. */
  readonly minimum: number
  readonly createdAt: Millis
  readonly finishedAt: Millis | null
}

export interface PayoutHold {
  readonly sellerId: SellerId
  readonly network: string
  /** Stable word. */
  readonly reason: string
  readonly since: Millis
  readonly lookedAt: Millis
}

export interface Owed {
  readonly sellerId: SellerId
  readonly owed: number
}

/** What must be true of the ledger of a network. */
export interface LedgerProof {
  /** Of each kind of account; all of them sum to zero. */
  readonly sums: Readonly<Record<'cash' | 'fees' | 'seller' | 'retained' | 'transit', number>>
  /** What open payouts and refunds of sales are bound to: as much as `transit` holds. */
  readonly underWay: number
  /** Accounts whose balance is not the one after their last entry. */
  readonly unbalanced: number
}
