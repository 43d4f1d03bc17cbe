// What people want to be told when it happens, wherever they are. Whoever tells does not wait, and nothing fails because nobody could be told.
import type { AlertKind } from '../../schemas/notification.ts'

/** One alert: ids, hosts and amounts; never a secret, a body or a text of a stranger. */
export interface Alert {
  readonly kind: AlertKind
  /** Whose people are told; undefined: those of the installation's first account. */
  readonly accountId: string | undefined
  /** What it is about: the same again within a while is told once. */
  readonly about: string
  readonly data: Readonly<Record<string, string | number | null>>
}

export interface Alerts {
  /** Never throws, never waits. */
  tell(alert: Alert): void
}
