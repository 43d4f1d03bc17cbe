// A rotation of the wrapping authority, as far as it got.
import type { Millis } from '../model.ts'

export interface Rotation {
  readonly id: string
  readonly state: 'running' | 'done' | 'failed'
  /** The last step that is done. */
  readonly step: 'begun' | 'key_made' | 'rewrapped'
  /** The key that was current when it began. */
  readonly fromKid: string
  readonly kid: string | null
  /** Keys that it retires and forgets. */
  readonly retired: readonly string[]
  readonly rewrapped: number
  readonly total: number | null
  /** Records that no key opens: their number, and the first of them. */
  readonly broken: number
  readonly credentialIds: readonly string[]
  /** The process start that works on it. */
  readonly bootId: string
  readonly createdAt: Millis
  readonly updatedAt: Millis
  readonly finishedAt: Millis | null
}
