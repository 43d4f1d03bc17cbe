// Lists that people look through: what they may be narrowed by, and what a page of one is.
import type { AttemptKind, AttemptState, Millis, Page, PageRequest } from '../model.ts'
import type { LedgerEntry } from './accounts.ts'
import type { ClaimState } from './payments.ts'

/** From `since` on, and before `until`. */
export interface Between {
  readonly since?: Millis | undefined
  readonly until?: Millis | undefined
}

export interface AttemptSearch extends Between {
  readonly accountId: string
  readonly state?: AttemptState | undefined
  readonly kind?: AttemptKind | undefined
  readonly host?: string | undefined
  readonly method?: string | undefined
  readonly capabilityId?: string | undefined
  /** A capability and all that were narrowed from it: the root of a connection stands for the connection. */
  readonly belowCapabilityId?: string | undefined
  readonly credentialId?: string | undefined
}

export interface ClaimSearch extends Between {
  readonly state?: ClaimState | undefined
  readonly origin?: 'tool' | 'settle' | undefined
  readonly network?: string | undefined
  /** Lower-case where the chain is EVM. */
  readonly payer?: string | undefined
  readonly payTo?: string | undefined
  readonly tool?: string | undefined
  readonly resource?: string | undefined
  /** Atomic units as decimal text without leading zeros, both ends included. */
  readonly minAmount?: string | undefined
  readonly maxAmount?: string | undefined
}

export interface LedgerSearch extends Between {
  readonly accountId: string
  readonly kind?: LedgerEntry['kind'] | undefined
}

export interface SearchRequest extends PageRequest {
  /** Rows that are looked at, at most: others wait for the same thread of an embedded store. */
  readonly lookAt?: number | undefined
}

/** What fits among the rows that were looked at, newest first: fewer than asked for where most do not. `next` goes on behind them. */
export type SearchPage<T> = Page<T>

/** Claims of one day that paid the same for the same. */
export interface DayOfClaims {
  /** Days since the epoch (UTC). */
  readonly day: number
  readonly network: string
  readonly asset: string
  readonly tool: string
  readonly payer: string
  /** Of each; atomic units as decimal text. */
  readonly amount: string
  readonly count: number
}

/** Payments, or refunds, of the same price for the same. */
export interface RevenueGroup {
  readonly network: string
  readonly asset: string
  readonly tool: string
  /** Of each; atomic units as decimal text. */
  readonly amount: string
  readonly count: number
}

/** Movements of one account, day and kind. */
export interface DayOfLedger {
  /** Days since the epoch (UTC). */
  readonly day: number
  readonly kind: LedgerEntry['kind']
  /** Credits in, and credits out: both positive. */
  readonly added: number
  readonly taken: number
  readonly count: number
}
