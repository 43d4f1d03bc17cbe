// A caller's key, and the one attempt that was made under it.
import type { Attempt } from '../model.ts'

/** A key as a request claims it, with the attempt that it pays for. */
export interface KeyClaim {
  /** Keyed hash of lineage and key: the key itself is nowhere in the store. */
  readonly keyHash: string
  /** The size that was asked for. With the request's digest it tells the same request from another, for whoever compares them. */
  readonly maxBytes: number
  /** Statuses of answers that free the key: whoever gave one did nothing and may be asked again. None unless said. */
  readonly freedBy?: readonly number[]
}

/** The attempt of a key that was claimed before, and how it stands. */
export interface KeyRecord {
  readonly attempt: Attempt
  readonly maxBytes: number
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
