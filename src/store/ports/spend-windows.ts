// Spend windows: what the payments of an account that were inspected may add up to within an hour or a day.
import type { SpendHolder, SpendPeriod } from '../../../schemas/commerce.ts'
import type { Millis } from '../model.ts'

/** Milliseconds. A window is the time of this length that ends now, whenever the clock strikes. */
export const SPEND_PERIOD_MS: Readonly<Record<SpendPeriod, number>> = { hour: 3_600_000, day: 86_400_000 }

/** What one payment counts on one running total. */
export interface SpendCount {
  /** Digest of account, unit, and whose total it is. */
  readonly scope: string
  /** Decimal text of the smallest unit, at most 78 digits. */
  readonly amount: string
}

export interface SpendWindow {
  readonly scope: string
  readonly period: SpendPeriod
  /** Whose payments the scope adds up, for who reads the answer. */
  readonly per: SpendHolder
  /** Decimal text. */
  readonly max: string
}

/** A payment as it is held against windows. */
export interface SpendInput {
  readonly accountId: string
  readonly now: Millis
  readonly payment: {
    /** Digest by which it is known again: two of one digest are one payment. */
    readonly id: string
    /** Digest of what is paid, to whom and for what: the same payment says the same. */
    readonly content: string
    /** How long the id stands for this one payment. After it, the same is another payment. */
    readonly keptMs: number
    /** The whole that a stream of payments has come to, decimal text: what was not counted of it is counted. */
    readonly upTo?: string | undefined
  }
  /** One of a scope. */
  readonly counts: readonly SpendCount[]
  readonly windows: readonly SpendWindow[]
  /** Payments that an account may have on record. */
  readonly maxCounted: number
}

export interface SpendStanding extends SpendWindow {
  /** Decimal text; with the payment, where it is counted. */
  readonly spent: string
  readonly isOver: boolean
  /** When the oldest amount leaves or, where it is over, when enough has left; null: nothing is in it, or it never fits. */
  readonly freesAt: Millis | null
}

export interface SpendResult {
  /**
   * `fits`: nothing was counted, because nobody asked; `repeated`: counted before; `replayed`: the id was counted for another
   * content; `full`: the account has too many payments of the last day on record.
   */
  readonly outcome: 'counted' | 'fits' | 'repeated' | 'over' | 'replayed' | 'full'
  /** When the payment of this id was counted. */
  readonly countedAt: Millis | null
  readonly windows: readonly SpendStanding[]
}
