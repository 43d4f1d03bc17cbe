// Notifications of A2A tasks. What is to be told is never stored: a row knows which state of its task was told last, and the task says
// whether there is a newer one. So nothing is lost between a task and its notification, and no queue can grow.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { DuePushes, NewPushConfig, PushConfig, PushConfigSaved } from '../ports/push.ts'

const newFields = [
  'taskId',
  'id',
  'holder',
  'url',
  'host',
  'scheme',
  'sealed',
  'wire',
  'toldState',
  'toldRevision',
  'createdAt',
] as const
const CONFIG = columns([...newFields, 'tries', 'nextAt', 'problem'])
const INSERT = insertInto('push_configs', [...newFields, 'nextAt'])

/** Stores a configuration, in the place of the one with its id. Bounded for each task, and for each holder among those still in use. */
export const savePushConfig = command({ kind: 'transaction', touches: 'records', seals: 'kept' })(
  function* (input: {
    config: NewPushConfig
    limits: { perTask: number; perHolder: number }
  }): Command<PushConfigSaved> {
    const { config, limits } = input
    const { taskId, id } = config
    const counts = yield* first<{ task: number; holder: number }>(
      `SELECT (SELECT count(*) FROM push_configs WHERE task_id = $1 AND id <> $2) AS task,
        (SELECT count(*) FROM push_configs WHERE holder = $3 AND next_at IS NOT NULL
           AND NOT (task_id = $1 AND id = $2)) AS holder`,
      taskId,
      id,
      config.holder,
    )
    if (counts && counts.task >= limits.perTask) return { ok: false, full: 'task' }
    if (counts && counts.holder >= limits.perHolder) return { ok: false, full: 'holder' }
    yield* all('DELETE FROM push_configs WHERE task_id = $1 AND id = $2', taskId, id)
    yield* all(`${INSERT} ON CONFLICT DO NOTHING`, ...newFields.map((name) => config[name]), config.createdAt)
    return { ok: true }
  },
)

const OF_TASK = `SELECT ${CONFIG} FROM push_configs WHERE task_id = $1 ORDER BY created_at, id`
/** All of a task, the oldest first. Whether the caller may see the task is the caller's business. */
export const listPushConfigs = command({ kind: 'read' })(function* (
  taskId: string,
): Command<readonly PushConfig[]> {
  const rows = yield* all<PushConfig>(OF_TASK, taskId)
  return rows.map((row) => ({ ...row }))
})

/** Nothing is sent to it any more. Idempotent. */
export const deletePushConfig = command({ kind: 'statement', touches: 'records', seals: 'kept' })(function* (
  taskId: string,
  id: string,
): Command<void> {
  yield* all('DELETE FROM push_configs WHERE task_id = $1 AND id = $2', taskId, id)
})

/** Rows that one look at what is due reads at most. */
const LOOK = 200
/** As many shares of a holder are looked at: what it has under way may keep one's first rows from going out, and not all of them. */
const SHARES = 3
/**
 * Holders take turns, each with a few rows of a host: whoever has hundreds that are due hides nobody else's. Heartbeats of a task at work
 * are revisions, too: those alone tell nothing.
 */
const DUE = `SELECT "taskId", id, host, holder, "nextAt" FROM (
    SELECT few.*, row_number() OVER (PARTITION BY holder ORDER BY "nextAt", "taskId", id) AS turn FROM (
      SELECT c.task_id AS "taskId", c.id, c.host, c.holder, c.next_at AS "nextAt",
        row_number() OVER (PARTITION BY c.holder, c.host ORDER BY c.next_at, c.task_id, c.id) AS place
      FROM push_configs c JOIN tasks t ON t.id = c.task_id
      WHERE c.next_at <= $1 AND t.expires_at > $1 AND t.revision > c.told_revision
        AND (c.told_state IS NULL OR t.state <> c.told_state OR t.state NOT IN ('TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED'))
    ) few WHERE place <= $2
  ) turns WHERE turn <= $3
  ORDER BY turn, "nextAt", "taskId", id LIMIT ${LOOK}`
const TAKE = `UPDATE push_configs SET next_at = $1, tries = tries + 1
  WHERE task_id = $2 AND id = $3 AND next_at = $4 RETURNING ${CONFIG}`
type Candidate = Pick<PushConfig, 'taskId' | 'id' | 'host' | 'holder'> & { nextAt: Millis }

/**
 * Takes what is due, and puts it off until `busyUntil`: no two processes tell the same, and where one dies in between it is told then.
 * `busy`: those that this process is telling something already, one entry for each. A host and a holder have a share at most.
 */
export const takePushes = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  now: Millis
  busyUntil: Millis
  limit: number
  share: { perHost: number; perHolder: number }
  busy: readonly Pick<PushConfig, 'host' | 'holder'>[]
}): Command<DuePushes> {
  const { now, busyUntil, limit, share, busy } = input
  const active = yield* first('SELECT 1 FROM push_configs WHERE next_at IS NOT NULL LIMIT 1')
  if (!active) return { taken: [], isAnyActive: false }
  const chosen: Candidate[] = []
  const counts = (of: 'host' | 'holder', value: string) =>
    [...busy, ...chosen].filter((one) => one[of] === value).length
  for (const due of yield* all<Candidate>(DUE, now, share.perHost, SHARES * share.perHolder)) {
    if (chosen.length >= limit) break
    if (counts('host', due.host) < share.perHost && counts('holder', due.holder) < share.perHolder)
      chosen.push(due)
  }
  // Locked in the order of the key, by every process.
  const inOrder = chosen.toSorted((a, b) => compare(a.taskId, b.taskId) || compare(a.id, b.id))
  const taken: PushConfig[] = []
  for (const { taskId, id, nextAt } of inOrder) {
    const row = yield* first<PushConfig>(TAKE, busyUntil, taskId, id, nextAt)
    if (row) taken.push({ ...row })
  }
  return { taken, isAnyActive: true }
})

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Says how a notification ended: `told` where it was taken, else why not. Nothing is changed where the row was replaced or taken again
 * since. `nextAt` null: nothing is told any more.
 */
export const finishPush = command({ kind: 'statement', touches: 'records' })(function* (input: {
  taken: Pick<PushConfig, 'taskId' | 'id' | 'nextAt'>
  nextAt: Millis | null
  now: Millis
  ended: { told: { state: string; revision: number } } | { problem: string; tries: number }
}): Command<void> {
  const { taken, nextAt, ended } = input
  const where = 'WHERE task_id = $1 AND id = $2 AND next_at = $3'
  const key = [taken.taskId, taken.id, taken.nextAt] as const
  if ('told' in ended)
    yield* all(
      `UPDATE push_configs SET told_state = $4, told_revision = $5, next_at = $6, tries = 0, problem = NULL ${where}`,
      ...key,
      ended.told.state,
      ended.told.revision,
      nextAt,
    )
  else
    yield* all(
      `UPDATE push_configs SET problem = $4, tries = $5, next_at = $6 ${where}`,
      ...key,
      ended.problem,
      ended.tries,
      nextAt,
    )
})

/**
 * Tasks at work whose end somebody waits to be told, and which nobody has written to since `before`: their process may be gone. What was written
 * later than `after` is one too: a clock that goes ahead wrote it, and nobody knows when.
 */
export const listSilentPushTasks = command({ kind: 'read' })(function* (input: {
  before: Millis
  after: Millis
  limit: number
}): Command<readonly { readonly taskId: string; readonly holder: string }[]> {
  const rows = yield* all<{ taskId: string; holder: string }>(
    `SELECT c.task_id AS "taskId", min(c.holder) AS holder FROM push_configs c JOIN tasks t ON t.id = c.task_id
     WHERE c.next_at IS NOT NULL AND t.state IN ('TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED') 
       AND (t.updated_at < $1 OR t.updated_at > $2)
     GROUP BY c.task_id ORDER BY c.task_id LIMIT $3`,
    input.before,
    input.after,
    input.limit,
  )
  return rows.map((row) => ({ ...row }))
})

/** A configuration is stored just before its task is: until then it is nobody's. */
const ORPHAN_MS = 3600_000

/** For the sweep, before the expired tasks go: theirs go with them, and those whose task was never stored. */
export function* sweepPushConfigs(now: Millis, expiredTasks: string, limit: number): Command<number> {
  const gone = yield* all(
    `DELETE FROM push_configs WHERE task_id IN (${expiredTasks}) RETURNING id`,
    now,
    limit,
  )
  const orphans = yield* all(
    `DELETE FROM push_configs WHERE (task_id, id) IN (
       SELECT c.task_id, c.id FROM push_configs c
       WHERE c.next_at < $1 AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = c.task_id) LIMIT $2
     ) RETURNING id`,
    now - ORPHAN_MS,
    limit,
  )
  return gone.length + orphans.length
}
