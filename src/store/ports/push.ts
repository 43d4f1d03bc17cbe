// Where clients of A2A tasks want to be told of them.
import type { Millis } from '../model.ts'

export interface NewPushConfig {
  readonly taskId: string
  /** Tells it from the other ones of its task; the client's own, or made for it. */
  readonly id: string
  /** Whom it counts against: the owner of the task, or a digest of the address that asked. */
  readonly holder: string
  readonly url: string
  /** Host and port of the URL: receivers are kept apart by it. */
  readonly host: string
  /** Of the Authorization header that the receiver wants; its credentials are sealed. */
  readonly scheme: string | null
  /** Token and credentials; null where the client gave none. */
  readonly sealed: string | null
  /** The version of A2A that its client speaks. */
  readonly wire: '1.0' | '0.3'
  /** State and revision of the task that its client knows; null and 0 where it is to be told in any case. */
  readonly toldState: string | null
  readonly toldRevision: number
  readonly createdAt: Millis
}

export interface PushConfig extends NewPushConfig {
  /** Since the last notification that was taken. */
  readonly tries: number
  /** Not before then; null where nothing is told any more. */
  readonly nextAt: Millis | null
  /** Why the last try failed. */
  readonly problem: string | null
}

/** `task`, `holder`: has as many as it may have. */
export type PushConfigSaved = { readonly ok: true } | { readonly ok: false; readonly full: 'task' | 'holder' }

export interface DuePushes {
  readonly taken: readonly PushConfig[]
  /** False where nobody waits to be told anything, now or later. */
  readonly isAnyActive: boolean
}
