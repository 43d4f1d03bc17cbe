// Rows and pages that every list of store commands speaks of. Types only.

/** Milliseconds since the epoch. */
export type Millis = number

export type AttemptState = 'reserved' | 'sending' | 'settled' | 'ambiguous' | 'refunded'

/** `fetch`: with a capability; `action`: the execution of a permit; `edge`: a merchant's transaction passed on. */
export type AttemptKind = 'fetch' | 'action' | 'edge'

export interface Attempt {
  readonly id: string
  readonly kind: AttemptKind
  readonly accountId: string
  /** Set for a `fetch` alone. */
  readonly capabilityId: string | null
  /** Set for an `action` alone; no two attempts share one. */
  readonly permitId: string | null
  /** Null at the edge, which adds no credential. */
  readonly credentialId: string | null
  readonly credentialVersion: number | null
  readonly state: AttemptState
  readonly method: string
  readonly host: string
  /** base64url SHA-256 over the canonical request (see egress/digest.ts). */
  readonly requestDigest: string
  /** Value that was sent as Idempotency-Key; null for safe methods. */
  readonly idempotencyKey: string | null
  readonly createdAt: Millis
  readonly sendingAt: Millis | null
  readonly finishedAt: Millis | null
  readonly upstreamStatus: number | null
  readonly responseDigest: string | null
  /** Stable word for how it ended: `delivered`, `secret_reflected`, `dns_refused`, `connect_failed`, `crashed` … */
  readonly outcome: string | null
  readonly receiptId: string | null
}

/** A page of rows, newest first; `next` goes back in as `before`. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | null
}
export interface PageRequest {
  readonly limit: number
  readonly before?: string | undefined
}
