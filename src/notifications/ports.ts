// Notifications as tools and the console see them. Types only.
import type { AlertKind } from '../../schemas/notification.ts'
import type { Alerts } from '../core/alerts.ts'
import type { NotificationTarget } from '../store/ports.ts'

/** One mail, in plain words. */
export interface MailRequest {
  /** Of the notification: the same again is the same mail. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly signal: AbortSignal
}

/** The way to mailboxes, where the operator configured one. */
export interface Mailer {
  /** Never throws. @returns undefined where the server took it; else a word for why not */
  send(mail: MailRequest): Promise<string | undefined>
}

export type ShownTarget = Omit<NotificationTarget, 'sealed'>

/** An account may have this many. */
export const MAX_TARGETS = 10

export interface Notifications {
  list(accountId: string): Promise<readonly ShownTarget[]>
  /**
   * @param input.admin whether it is told of what concerns the installation
   * @param input.url https, or `mailto:` with one address
   * @throws {GatewayError} target_invalid, target_blocked, state_conflict where there are too many
   */
  add(input: {
    accountId: string
    url: string
    kinds: readonly AlertKind[]
    by: string
    admin: boolean
  }): Promise<ShownTarget>
  /** @throws {GatewayError} not_found */
  remove(accountId: string, id: string): Promise<void>
  /** Sends one now. @returns a word for why it was not taken; undefined where it was. @throws {GatewayError} not_found */
  test(accountId: string, id: string): Promise<string | undefined>
}

export interface OpenNotifications extends Notifications {
  readonly alerts: Alerts
  /** Ends what is under way: it is told again by whoever comes next. */
  close(): Promise<void>
}
