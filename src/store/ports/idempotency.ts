// A caller's key, and the one attempt that was made under it.
import type { Attempt, Millis } from '../model.ts'

/** A key as a request claims it, in the transaction that pays for its attempt. */
export interface KeyClaim {
  /** Keyed hash of lineage and key: the key itself is nowhere in the store. */
  readonly keyHash: string
  /** Digest of the request. Another request under the same key is refused by whoever compares it. */
  readonly fingerprint: string
  readonly expiresAt: Millis
}

/** The record of a key that was claimed before, and how its attempt stands. */
export interface KeyRecord {
  readonly keyHash: string
  readonly fingerprint: string
  readonly attempt: Attempt
  /** Sealed; null until the attempt is settled, and for ever where its answer was not kept. */
  readonly answer: Uint8Array | null
  /** The receipt that says the answer was given again; null until it was. */
  readonly replayReceiptId: string | null
  /** What the account has now. */
  readonly balance: number
}

/** The key is taken: nothing was debited and nothing may be sent. */
export interface Repeated {
  readonly ok: false
  readonly reason: 'repeated'
  readonly record: KeyRecord
}

/** The answer that is stored with the end of an attempt. */
export interface KeptAnswer {
  readonly keyHash: string
  readonly sealed: Uint8Array
}
