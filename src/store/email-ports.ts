// Keys of email verification and what they have used of a day. Of what is verified nothing is stored.
import type { Millis, Page, PageRequest } from './model.ts'

export interface EmailKey {
  readonly id: string
  readonly createdAt: Millis
  readonly revokedAt: Millis | null
  /** Day, UTC, on which it was used last, or made: `2026-11-21`. */
  readonly lastSeenDay: string
}

/** So many keys at most in a period for one holder of them, both as the caller names them. */
export interface KeyLimit {
  readonly holder: string
  /** Begins with its day, and sorts like it: `2026-11-21` or `2026-11-21T13`. */
  readonly period: string
  readonly keys: number
}

export interface EmailStore {
  /** @returns `reached`: index of the limit that stands against it; then nothing is counted and no key is made */
  createEmailKey(input: {
    key: EmailKey
    keyHash: Buffer
    limits: readonly KeyLimit[]
  }): Promise<{ ok: true } | { ok: false; reached: number }>
  /** Hot: one indexed read. Revoked keys are not found. */
  findEmailKey(keyHash: Buffer): Promise<EmailKey | undefined>
  /** Newest first, revoked ones too. `usedToday` is what was taken of `day`. */
  listEmailKeys(input: PageRequest & { day: string }): Promise<Page<EmailKey & { usedToday: number }>>
  /** Used on this day; never set back. */
  touchEmailKey(input: { id: string; day: string }): Promise<void>
  /** Idempotent; undefined when there is no such key. */
  revokeEmailKey(input: { id: string; now: Millis }): Promise<EmailKey | undefined>
  /**
   * Counts `count` addresses of this key and day, all of them or, beyond `limit`, none.
   * @param input.day e.g. `2026-11-21`, UTC
   * @returns what is used after it; refused: what is used already
   */
  takeEmailQuota(input: {
    keyId: string
    day: string
    count: number
    limit: number
  }): Promise<{ ok: boolean; used: number }>
  /** What was taken and not used. */
  returnEmailQuota(input: { keyId: string; day: string; count: number }): Promise<void>
}
