// Published keys, A2A tasks, and the sweep that retention allows (contract, section 10).
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto, where } from '../command.ts'
import { dropBudgets } from './budgets.ts'
import { dropConnectionAt, sweepAccessTokens } from './connection-terms.ts'
import { sweepEmail } from './email.ts'
import { sweepKeptAnswers } from './kept-answers.ts'
import { sweepOauth } from './oauth.ts'
import { sweepPermits } from './permits.ts'
import { sweepPushConfigs } from './push-configs.ts'
import { sweepSpend } from './spend-windows.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { NewPublishedKey, StoredTask, PublishedKey } from '../ports/records.ts'

const newKeyFields = ['kid', 'purpose', 'jwk', 'notBefore', 'retiredAt']
const keyFields = [...newKeyFields, 'revokedAt', 'revocationReason']

/** Idempotent by `kid`. True where it was not published before. */
export const publishKey = command({ kind: 'statement', touches: 'access' })(function* (
  key: NewPublishedKey,
): Command<boolean> {
  const row = yield* first(
    `${insertInto('published_keys', newKeyFields)} ON CONFLICT (kid) DO NOTHING RETURNING kid`,
    key.kid,
    key.purpose,
    key.jwk,
    key.notBefore,
    key.retiredAt,
  )
  return row !== undefined
})

/** Idempotent: of several times the earliest stands. The key stays published. True where this one is written down. */
export const retireKey = command({ kind: 'statement', touches: 'access' })(function* (
  kid: string,
  at: Millis,
): Command<boolean> {
  const row = yield* first(
    `UPDATE published_keys SET retired_at = $1 WHERE kid = $2 AND (retired_at IS NULL OR retired_at > $1) RETURNING kid`,
    at,
    kid,
  )
  return row !== undefined
})

/** Retires every signing key but this one that nobody has retired yet. True where there was one. */
export const retireSigningKeysBut = command({ kind: 'statement', touches: 'access' })(function* (
  kid: string,
  at: Millis,
): Command<boolean> {
  const row = yield* first(
    `UPDATE published_keys SET retired_at = $1 WHERE purpose = 'sign' AND kid <> $2 AND retired_at IS NULL RETURNING kid`,
    at,
    kid,
  )
  return row !== undefined
})

/** Idempotent: the first time and reason stand. A revoked key is retired too. False where there is none, or it was revoked before. */
export const revokeSigningKey = command({ kind: 'statement', touches: 'access' })(function* (
  kid: string,
  reason: string,
  now: Millis,
): Command<boolean> {
  const row = yield* first(
    `UPDATE published_keys SET revoked_at = $1, revocation_reason = $2,
       retired_at = CASE WHEN retired_at IS NULL OR retired_at > $1 THEN $1 ELSE retired_at END
     WHERE kid = $3 AND purpose = 'sign' AND revoked_at IS NULL RETURNING kid`,
    now,
    reason,
    kid,
  )
  return row !== undefined
})

/** Oldest first, retired ones too. */
export const listPublishedKeys = command({ kind: 'read' })(function* (): Command<readonly PublishedKey[]> {
  const rows = yield* all<PublishedKey>(
    `SELECT ${columns(keyFields)} FROM published_keys ORDER BY not_before, kid`,
  )
  return rows.map((row) => ({ ...row }))
})

const taskFields = ['id', 'contextId', 'owner', 'state', 'revision', 'json', 'updatedAt', 'expiresAt']
export const TASK = columns(taskFields)
const INSERT_TASK = `${insertInto('tasks', taskFields)} ON CONFLICT DO NOTHING RETURNING id`
const UPDATE_TASK = `UPDATE tasks SET state = $1, revision = $2, json = $3, updated_at = $4, expires_at = $5
  WHERE id = $6 AND revision = $7 RETURNING id`

/** revision 1 inserts; n+1 replaces n. False when the stored revision is another. */
export const saveTask = command({ kind: 'statement', touches: 'records' })(function* (
  t: StoredTask,
): Command<boolean> {
  const saved =
    t.revision === 1
      ? yield* first(
          INSERT_TASK,
          t.id,
          t.contextId,
          t.owner,
          t.state,
          t.revision,
          t.json,
          t.updatedAt,
          t.expiresAt,
        )
      : yield* first(UPDATE_TASK, t.state, t.revision, t.json, t.updatedAt, t.expiresAt, t.id, t.revision - 1)
  return saved !== undefined
})

const GET_TASK = `SELECT ${TASK} FROM tasks WHERE id = $1`
/** Whether the caller may see it is the caller's business: compare `owner`. */
export const getTask = command({ kind: 'lookup' })(function* (id: string): Command<StoredTask | undefined> {
  const row = yield* first<StoredTask>(GET_TASK, id)
  return row && { ...row }
})

/** Newest status first; `total` counts all pages. */
export const listTasks = command({ kind: 'read' })(function* (
  filter: {
    owner: string
    contextId?: string | undefined
    state?: string | undefined
    since?: Millis | undefined
  },
  page: PageRequest,
): Command<Page<StoredTask> & { total: number }> {
  const conditions = [
    ['owner = $', filter.owner],
    ['context_id = $', filter.contextId],
    ['state = $', filter.state],
    ['updated_at >= $', filter.since],
  ] as const
  const { text, values } = where(conditions)
  const count = yield* first<{ total: number }>(
    `SELECT count(*) AS total FROM tasks WHERE ${text}`,
    ...values,
  )
  // A2A wants the newest status first, and a task's status changes: the cursor is the time of the last row and its id.
  const [, at, id = ''] = /^(\d{1,15})~(\w+)$/.exec(page.before ?? '') ?? []
  const from = values.length
  const cursor = at === undefined ? '' : ` AND (updated_at, id) < ($${from + 1}, $${from + 2})`
  const bounds = at === undefined ? [] : [Number(at), id]
  const rows: readonly StoredTask[] = yield* all<StoredTask>(
    `SELECT ${TASK} FROM tasks WHERE ${text}${cursor} ORDER BY updated_at DESC, id DESC
     LIMIT $${from + bounds.length + 1}`,
    ...values,
    ...bounds,
    page.limit + 1,
  )
  const items = rows.slice(0, page.limit).map((row) => ({ ...row }))
  const last = items.at(-1)
  const next = rows.length > page.limit && last !== undefined ? `${last.updatedAt}~${last.id}` : null
  return { items, next, total: count?.total ?? 0 }
})

/** Rows that one sweep transaction removes of a kind at most: others wait no longer than that takes. */
export const SWEEP_LIMIT = 500
/** In an order, so that what belongs to tasks goes with the same ones. */
const EXPIRED_TASKS = 'SELECT id FROM tasks WHERE expires_at <= $1 ORDER BY expires_at, id LIMIT $2'
const THIRTY_DAYS_MS = 30 * 24 * 3600 * 1000

type Removed = Readonly<Record<string, number>>

function* sweepTasks(now: Millis): Command<Removed> {
  const pushes = yield* sweepPushConfigs(now, EXPIRED_TASKS, SWEEP_LIMIT)
  const tasks = yield* all(`DELETE FROM tasks WHERE id IN (${EXPIRED_TASKS}) RETURNING id`, now, SWEEP_LIMIT)
  return { tasks: tasks.length, pushes }
}

function* sweepAttempts(now: Millis): Command<Removed> {
  const cutoff = now - THIRTY_DAYS_MS
  // The time in front of an id makes the primary key do: nothing younger is looked at.
  const attempts = yield* all(
    `DELETE FROM attempts WHERE id IN (
       SELECT id FROM attempts WHERE id < $1 AND finished_at <= $2 AND state IN ('settled', 'ambiguous', 'refunded')
       LIMIT $3
     ) RETURNING id`,
    newId('att', cutoff).slice(0, 'att_'.length + 9),
    cutoff,
    SWEEP_LIMIT,
  )
  return { attempts: attempts.length }
}

function* sweepCapabilities(now: Millis): Command<Removed> {
  // A capability never outlives the one it was narrowed from, so no row loses its ancestor first.
  const capabilities = yield* all<{ id: string }>(
    `DELETE FROM capabilities WHERE id IN (
       SELECT id FROM capabilities WHERE expires_at <= $1 ORDER BY expires_at, id DESC LIMIT $2
     ) RETURNING id`,
    now - THIRTY_DAYS_MS,
    SWEEP_LIMIT,
  )
  for (const { id } of capabilities) {
    yield* all('DELETE FROM capability_lineage WHERE capability_id = $1', id)
    yield* dropBudgets(id)
    yield* dropConnectionAt(id)
  }
  return { capabilities: capabilities.length }
}

/** In the order in which they are swept. */
const SWEEPS = {
  tasks: sweepTasks,
  attempts: sweepAttempts,
  capabilities: sweepCapabilities,
  *accessTokens(now: Millis): Command<Removed> {
    return { access_tokens: yield* sweepAccessTokens(now, SWEEP_LIMIT) }
  },
  permits: (now: Millis) => sweepPermits(now, now - THIRTY_DAYS_MS, SWEEP_LIMIT),
  payments: sweepPayments,
  email: (now: Millis) => sweepEmail(now, SWEEP_LIMIT),
  answers: (now: Millis) => sweepKeptAnswers(now, SWEEP_LIMIT),
  oauth: (now: Millis) => sweepOauth(now, SWEEP_LIMIT),
  spend: (now: Millis) => sweepSpend(now, now - THIRTY_DAYS_MS, SWEEP_LIMIT),
} as const satisfies Record<string, (now: Millis) => Command<Removed>>

export type SweptKind = keyof typeof SWEEPS
export const SWEPT_KINDS = Object.keys(SWEEPS) as readonly SweptKind[]

/**
 * Deletes what retention allows (contract, section 10), up to SWEEP_LIMIT rows of each kind; claims, ledger and receipts stay
 * for ever. Returns rows removed by kind.
 * @param only this kind, where another one cannot be swept and would keep all from it
 */
export const sweep = command({ kind: 'transaction', touches: 'access' })(function* (
  now: Millis,
  only?: SweptKind,
): Command<Removed> {
  const removed: Record<string, number> = {}
  for (const kind of only === undefined ? SWEPT_KINDS : [only])
    Object.assign(removed, yield* SWEEPS[kind](now))
  return removed
})

const QUOTE_GRACE_MS = 5 * 60 * 1000
/** Months whose counters stay: this one, and the last for what is given back late. */
const SEVENTY_DAYS_MS = 70 * 24 * 3600 * 1000

function* sweepPayments(now: Millis): Command<Removed> {
  // A claim that may still turn out to be paid keeps its result.
  const results = yield* all(
    `DELETE FROM claim_results WHERE claim_id IN (
       SELECT r.claim_id FROM claim_results r WHERE r.expires_at <= $1 AND NOT EXISTS (
         SELECT 1 FROM payment_claims c
         WHERE c.id = r.claim_id AND (c.state IN ('submitted', 'pending', 'unknown')
           OR (c.state = 'failed' AND c.finished_at IS NULL))
       ) LIMIT $2
     ) RETURNING claim_id`,
    now,
    SWEEP_LIMIT,
  )
  const quotes = yield* all(
    'DELETE FROM quotes WHERE id IN (SELECT id FROM quotes WHERE expires_at <= $1 LIMIT $2) RETURNING id',
    now - QUOTE_GRACE_MS,
    SWEEP_LIMIT,
  )
  const month = new Date(now - SEVENTY_DAYS_MS).toISOString().slice(0, 7)
  const takes = yield* all(
    `DELETE FROM settlement_takes WHERE claim_id IN (
       SELECT claim_id FROM settlement_takes WHERE month <= $1 LIMIT $2
     ) RETURNING claim_id`,
    month,
    SWEEP_LIMIT,
  )
  const counters = yield* all(
    `DELETE FROM settlement_counters WHERE (holder, month) IN (
       SELECT holder, month FROM settlement_counters WHERE month <= $1 LIMIT $2
     ) RETURNING holder`,
    month,
    SWEEP_LIMIT,
  )
  return {
    results: results.length,
    quotes: quotes.length,
    settlements: takes.length,
    months: counters.length,
  }
}
