// Where people are told of what happens while they are away, and what is still to be told.
import type { AlertKind } from '../../../schemas/notification.ts'
import type { Millis } from '../model.ts'

export interface NotificationTarget {
  readonly id: string
  readonly accountId: string
  /** Of the address; the rest of it may be a secret. */
  readonly host: string
  readonly sealed: Uint8Array
  readonly kinds: readonly AlertKind[]
  /** Whether it is told of what concerns the installation. */
  readonly admin: boolean
  readonly createdAt: Millis
  readonly createdBy: string
  /** When it last took a notification, and what kept it from the last one that it did not. */
  readonly toldAt: Millis | null
  readonly problem: string | null
  readonly problemAt: Millis | null
}

export type NewNotificationTarget = Omit<NotificationTarget, 'toldAt' | 'problem' | 'problemAt'>

/** One notification that is taken to be sent, with the target that it is for. */
export interface DueNotification {
  readonly id: string
  readonly body: string
  readonly createdAt: Millis
  /** Counted from 1. */
  readonly tries: number
  readonly target: NotificationTarget
}
