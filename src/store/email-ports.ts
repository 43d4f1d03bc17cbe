// Keys of email verification and what they have used of a day. Of what is verified nothing is stored.
import type { Millis } from './ports.ts'

export interface EmailKey {
  readonly id: string
  readonly createdAt: Millis
  readonly revokedAt: Millis | null
}

export interface EmailStore {
  createEmailKey(input: { key: EmailKey; keyHash: Buffer }): Promise<void>
  /** Hot: one indexed read. Revoked keys are not found. */
  findEmailKey(keyHash: Buffer): Promise<EmailKey | undefined>
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
