// How an attempt begins and ends.
import type { AttemptKind, Millis } from '../model.ts'
import type { Budget } from './budgets.ts'
import type { Repeated } from './idempotency.ts'

export interface StoredReceipt {
  readonly id: string
  /** Empty for a payment that no account made. */
  readonly accountId: string
  /** Compact JWS. */
  readonly jws: string
  readonly createdAt: Millis
}

export type ReserveResult =
  | { ok: true; balance: number }
  | { ok: false; reason: 'credits'; balance: number }
  /** This one has too little left; nothing was counted on any. */
  | { ok: false; reason: 'budget'; budget: Budget }
  | Repeated
  | { ok: false; reason: 'capability_gone' | 'capability_used_up' | 'credential_gone' | 'credential_changed' }

/** How an attempt ends, in the one transaction that also stores its receipt. */
export interface FinishAttempt {
  readonly id: string
  /** Kind that the attempt was reserved with. */
  readonly kind: AttemptKind
  readonly bootId: string
  readonly state: 'settled' | 'ambiguous'
  readonly outcome: string
  readonly upstreamStatus: number | null
  readonly responseDigest: string | null
  readonly receipt: StoredReceipt
  /** The answer, sealed, for whoever repeats the call under its key. */
  readonly answer?: Uint8Array | undefined
  readonly now: Millis
}

/** `ok` is false where it was not the caller's to finish. */
export interface FinishResult {
  readonly ok: boolean
  readonly balance: number
  /** Only where there was an answer to keep, and its account has no room for it. */
  readonly isAnswerKept?: false
}

/** An operator's decision about an ambiguous attempt. */
export interface StoredReconciliation {
  readonly attemptId: string
  readonly accountId: string
  readonly decision: 'happened' | 'did_not_happen'
  readonly reason: string
  /** Outcome before the decision. */
  readonly was: string
  /** Service key that decided. */
  readonly decidedBy: string
  readonly decidedAt: Millis
  readonly receiptId: string
}
