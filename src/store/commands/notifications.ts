// Whom to tell, and what is still to be told: written when it happens, taken by whoever sends, gone when it was taken or given up.
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { AlertKind } from '../../../schemas/notification.ts'
import type { Millis } from '../model.ts'
import type { DueNotification, NewNotificationTarget, NotificationTarget } from '../ports/notifications.ts'

const fields = ['id', 'accountId', 'host', 'sealed', 'kinds', 'admin', 'createdAt', 'createdBy'] as const
const TARGET = columns([...fields, 'toldAt', 'problem', 'problemAt'])
type TargetRow = Omit<NotificationTarget, 'kinds' | 'admin'> & { kinds: string; admin: number }
const toTarget = (row: TargetRow): NotificationTarget => ({
  ...row,
  kinds: JSON.parse(row.kinds) as AlertKind[],
  admin: row.admin === 1,
})

/** @returns false, and nothing is stored, where the account has `most` already */
export const addNotificationTarget = command({ kind: 'transaction', touches: 'access' })(function* (
  target: NewNotificationTarget,
  most: number,
): Command<boolean> {
  const { id, accountId, host, sealed, kinds, admin, createdAt, createdBy } = target
  // Whoever adds one at the same time waits here.
  yield* all('SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE', accountId)
  const there = yield* all('SELECT id FROM notification_targets WHERE account_id = $1', accountId)
  if (there.length >= most) return false
  yield* all(
    insertInto('notification_targets', fields),
    id,
    accountId,
    host,
    sealed,
    JSON.stringify(kinds),
    admin ? 1 : 0,
    createdAt,
    createdBy,
  )
  return true
})

/** Oldest first. */
export const listNotificationTargets = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string,
): Command<readonly NotificationTarget[]> {
  const rows = yield* all<TargetRow>(
    `SELECT ${TARGET} FROM notification_targets WHERE account_id = $1 ORDER BY id`,
    accountId,
  )
  return rows.map(toTarget)
})

/** With what was still to be told there. Undefined where the account has none of this id. */
export const removeNotificationTarget = command({ kind: 'transaction', touches: 'access' })(
  function* (input: { id: string; accountId: string; now: Millis }): Command<NotificationTarget | undefined> {
    const row = yield* first<TargetRow>(
      `DELETE FROM notification_targets WHERE id = $1 AND account_id = $2 RETURNING ${TARGET}`,
      input.id,
      input.accountId,
    )
    if (!row) return undefined
    yield* all('DELETE FROM notifications WHERE target_id = $1', input.id)
    return toTarget(row)
  },
)

/** A target that is not reached is not owed more than this. */
const MOST_WAITING = 200
const WAITING = `SELECT 1 FROM notifications WHERE target_id = $1 AND next_at IS NOT NULL LIMIT 1 OFFSET ${MOST_WAITING - 1}`
const TOLD = `SELECT 1 FROM notifications WHERE target_id = $1 AND kind = $2 AND about = $3 AND created_at > $4 LIMIT 1`
/** Whoever has the same to tell at the same time waits, and then sees that it is told. */
const TARGETS_OF_ALL = `SELECT ${TARGET} FROM notification_targets WHERE admin = 1 ORDER BY id FOR NO KEY UPDATE`
const TARGETS_OF_ACCOUNT = `SELECT ${TARGET} FROM notification_targets WHERE account_id = $1 ORDER BY id FOR NO KEY UPDATE`
const QUEUE = insertInto('notifications', ['id', 'targetId', 'kind', 'about', 'body', 'createdAt', 'nextAt'])

/**
 * Writes down what every target of the account, or of the installation, is to be told that asked for this kind.
 * @param input.againAfter the same of the same is told once in so many milliseconds
 * @returns how many are told
 */
export const queueNotifications = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  accountId: string | undefined
  kind: AlertKind
  about: string
  body: string
  againAfter: number
  now: Millis
}): Command<number> {
  const { accountId, kind, about, body, againAfter, now } = input
  const rows =
    accountId === undefined
      ? yield* all<TargetRow>(TARGETS_OF_ALL)
      : yield* all<TargetRow>(TARGETS_OF_ACCOUNT, accountId)
  let queued = 0
  for (const { id, kinds } of rows.map(toTarget)) {
    if (!kinds.includes(kind)) continue
    if (yield* first(TOLD, id, kind, about, now - againAfter)) continue
    if (yield* first(WAITING, id)) continue
    yield* all(QUEUE, newId('nty', now), id, kind, about, body, now, now)
    queued++
  }
  return queued
})

const DUE = `SELECT id FROM notifications WHERE next_at <= $1 ORDER BY next_at, id LIMIT $2 FOR UPDATE`
const TAKE = `UPDATE notifications SET next_at = $1, tries = tries + 1 WHERE id = $2 AND next_at <= $3
  RETURNING id, target_id AS "targetId", body, created_at AS "createdAt", tries`

/** Takes what is due: until `busyUntil` nobody else sends it. */
export const takeNotifications = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  now: Millis
  busyUntil: Millis
  limit: number
}): Command<readonly DueNotification[]> {
  const taken: DueNotification[] = []
  for (const { id } of yield* all<{ id: string }>(DUE, input.now, input.limit)) {
    const row = yield* first<Omit<DueNotification, 'target'> & { targetId: string }>(
      TAKE,
      input.busyUntil,
      id,
      input.now,
    )
    const target =
      row &&
      (yield* first<TargetRow>(`SELECT ${TARGET} FROM notification_targets WHERE id = $1`, row.targetId))
    if (!row || !target) continue
    const { targetId: _, ...notification } = row
    taken.push({ ...notification, target: toTarget(target) })
  }
  return taken
})

/** Told, or given up, where `nextAt` is null; else it is tried again then. */
export const finishNotification = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  targetId: string
  problem: string | null
  nextAt: Millis | null
  now: Millis
}): Command<void> {
  const { id, targetId, problem, nextAt, now } = input
  yield* all('UPDATE notifications SET next_at = $1 WHERE id = $2', nextAt, id)
  yield* problem === null
    ? all('UPDATE notification_targets SET told_at = $1 WHERE id = $2', now, targetId)
    : all(
        'UPDATE notification_targets SET problem = $1, problem_at = $2 WHERE id = $3',
        problem,
        now,
        targetId,
      )
})

/** Forgets what was told or given up before `before`. @returns how many */
export const forgetNotifications = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  before: Millis
  limit: number
}): Command<number> {
  const rows = yield* all(
    `DELETE FROM notifications WHERE id IN (
       SELECT id FROM notifications WHERE id < $1 AND next_at IS NULL ORDER BY id LIMIT $2
     ) RETURNING id`,
    newId('nty', input.before).slice(0, 'nty_'.length + 9),
    input.limit,
  )
  return rows.length
})
