// Keys of email verification. No address that is verified is stored.
import type { Millis } from '../model.ts'

export interface EmailKey {
  readonly id: string
  readonly createdAt: Millis
  readonly revokedAt: Millis | null
  /** Day, UTC, on which it was used last, or made: `2026-11-21`. */
  readonly lastSeenDay: string
}

/** One holder gets so many keys at most in a period, both as the caller names them. */
export interface KeyLimit {
  readonly holder: string
  /** Begins with its day, and sorts like it: `2026-11-21` or `2026-11-21T13`. */
  readonly period: string
  readonly keys: number
}
