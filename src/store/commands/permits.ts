// Permits: prepared against a mandate, decided once where a person is asked, executed once or expired. What was taken
// of the mandate is given back where nothing was sent and nothing will be.
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto, type SqlValue } from '../command.ts'
import { selectPage } from '../page.ts'
import { balanceOf } from './accounts.ts'
import { findCredential } from './attempts.ts'
import { addCounts } from './counts.ts'
import { dropDecisions } from './permit-evidence.ts'
import { addShare, lockMandate } from './mandates.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { Mandate, PermitState, Permit, NewPermit, PrepareResult } from '../ports/actions.ts'

const beginning = [
  'id',
  'accountId',
  'mandateId',
  'credentialId',
  'credentialVersion',
  'state',
  'tokenSha256',
  'requestDigest',
  'method',
  'host',
  'cost',
  'summary',
  'createdAt',
  'expiresAt',
  'approval',
  'preparedKind',
  'preparedBy',
  'preparedPerson',
  'preparedAddress',
] as const
export const PERMIT = columns([...beginning, 'decidedAt', 'decidedBy', 'attemptId', 'evidenceBytes'])

/** Word for word what the index of open permits holds: SQLite recognises it by that alone. */
const OPEN = `state IN ('pending_approval', 'ready')`

// preparation ------------------------------------------------------------------------------------------------------

const INSERT = insertInto('permits', beginning)

/**
 * One transaction holds that the mandate is the account's, unrevoked, unexpired and has `cost` and one call left (after what
 * expired permits still held is given back, a hundred at a time); the credential is unrevoked and at
 * `credentialVersion`; the account has at least `needsBalance`; then mandate counters and the permit, which never
 * outlives its mandate. Nothing changes when any of it does not hold, but that expiry is written down.
 * @param input.maxPending of the account's permits may wait for approval, expired ones until that is written down: one
 * more that would have to wait is refused. Those who ask at the same time may each be the last
 */
export const preparePermit = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  permit: NewPermit
  needsBalance: number
  maxPending?: number
  now: Millis
}): Command<PrepareResult> {
  const { permit, needsBalance, maxPending, now } = input
  const credential = yield* findCredential(permit.credentialId, permit.accountId)
  if (!credential || credential.revokedAt !== null) return { ok: false, reason: 'credential_gone' }
  if (credential.version !== permit.credentialVersion) return { ok: false, reason: 'credential_changed' }

  const mandate = yield* lockMandate(permit.mandateId, permit.accountId)
  if (!mandate || mandate.revokedAt !== null || mandate.expiresAt <= now)
    return { ok: false, reason: 'mandate_gone' }
  if (!(yield* makeRoom(mandate, permit.cost, now))) return { ok: false, reason: 'mandate_used_up' }

  if (permit.state === 'pending_approval' && (yield* isFullOfPending(permit.accountId, maxPending)))
    return { ok: false, reason: 'too_many_pending' }
  const balance = yield* balanceOf(permit.accountId)
  if (balance < needsBalance) return { ok: false, reason: 'credits', balance }
  yield* addShare(mandate.id, 1, permit.cost)
  const bounded = { ...permit, expiresAt: Math.min(permit.expiresAt, mandate.expiresAt) }
  yield* all(INSERT, ...beginning.map((name) => bounded[name]))
  yield* addCounts(permit.accountId, { permitsPrepared: 1 })
  return { ok: true, balance }
})

// Answered by the index alone: the rows hold what will be sent, and are long.
const LAST_PENDING = `SELECT 1 FROM permits WHERE account_id = $1 AND state = 'pending_approval'
  ORDER BY id LIMIT 1 OFFSET $2`

function* isFullOfPending(accountId: string, maxPending: number | undefined): Command<boolean> {
  return maxPending !== undefined && (yield* first(LAST_PENDING, accountId, maxPending - 1)) !== undefined
}

/** Permits that one preparation may find expired: others wait no longer than that takes. */
const EXPIRE_LIMIT = 100
const EXPIRE = `UPDATE permits SET state = 'expired', summary = NULL WHERE ${OPEN} AND id IN (
    SELECT id FROM permits WHERE mandate_id = $1 AND expires_at <= $2 AND ${OPEN} ORDER BY expires_at LIMIT $3
  ) RETURNING cost`

/** Whether the locked mandate has a call and `cost` left, when what expired permits hold is given back. */
function* makeRoom(mandate: Mandate, cost: number, now: Millis): Command<boolean> {
  if (hasRoom(mandate, cost)) return true
  const expired = yield* all<{ cost: number }>(EXPIRE, mandate.id, now, EXPIRE_LIMIT)
  if (expired.length === 0) return false
  const credits = expired.reduce((sum, permit) => sum + permit.cost, 0)
  yield* addShare(mandate.id, -expired.length, -credits)
  return hasRoom(
    { ...mandate, calls: mandate.calls - expired.length, credits: mandate.credits - credits },
    cost,
  )
}

const hasRoom = ({ maxCalls, calls, maxCredits, credits }: Mandate, cost: number) =>
  (maxCalls === null || calls < maxCalls) && (maxCredits === null || credits + cost <= maxCredits)

// reading ----------------------------------------------------------------------------------------------------------

const GET = `SELECT ${PERMIT} FROM permits WHERE id = $1`
/** Finds a permit of any account: the caller has seen the permit itself, or compares `accountId`. */
export const getPermit = command({ kind: 'lookup' })(function* (id: string): Command<Permit | undefined> {
  const row = yield* first<Permit>(GET, id)
  return row && { ...row }
})

/** Condition for each state as it stands for who asks at `$`, whether or not expiry is written down. */
const IN_STATE: Readonly<Record<PermitState, string>> = {
  // The first three are word for word what their indexes hold.
  pending_approval: `state = 'pending_approval' AND expires_at > $`,
  ready: `state = 'ready' AND expires_at > $`,
  refused: `state = 'refused' AND created_at <= $`,
  expired: `(state = 'expired' OR (${OPEN} AND expires_at <= $))`,
  executed: `state = 'executed' AND created_at <= $`,
}

/** Filters by the state that stands at `now`: an open permit whose time is over is `expired`, written down or not. */
export const listPermits = command({ kind: 'read' })(function* (
  filter: { accountId: string; state?: PermitState | undefined; now: Millis },
  page: PageRequest,
): Command<Page<Permit>> {
  const { accountId, state, now } = filter
  const inState: (readonly [string, SqlValue])[] = state === undefined ? [] : [[IN_STATE[state], now]]
  return yield* selectPage<Permit, Permit>(
    { columns: PERMIT, from: 'permits', id: 'id' },
    [['account_id = $', accountId], ...inState],
    page,
    (row) => ({ ...row }),
    (permit) => permit.id,
  )
})

// a request that somebody holds -----------------------------------------------------------------------------------

const USE = `UPDATE permits SET state = 'executed', attempt_id = $1, summary = NULL
  WHERE id = $2 AND state = 'ready' AND expires_at > $3 RETURNING id`
/**
 * `ready -> executed` by an attempt that was reserved on another word than the permit's: a request that was held until people had
 * decided. False when the permit does not stand any more; the attempt is its own then.
 */
export const usePermit = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  attemptId: string
  now: Millis
}): Command<boolean> {
  const { id, attemptId, now } = input
  if (!(yield* first(USE, attemptId, id, now))) return false
  yield* all('UPDATE attempts SET permit_id = $1 WHERE id = $2', id, attemptId)
  return true
})

const WITHDRAW = `UPDATE permits SET expires_at = $1 WHERE id = $2 AND state = 'pending_approval' AND expires_at > $1`
/** Nobody waits for the decision any more: the permit ends now. What is decided already stays so. */
export const withdrawPermit = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  now: Millis
}): Command<void> {
  yield* all(WITHDRAW, input.now, input.id)
})

// retention --------------------------------------------------------------------------------------------------------

const DAY_MS = 24 * 3600 * 1000
/** A permit whose request was kept stays longer than others, with its request and with who prepared and approved it. */
const KEPT_LONGER_MS = 60 * DAY_MS
/**
 * Permits without a request are looked for among those that were prepared in so many days before the cutoff, so that those that are kept
 * longer are not looked at each time; what a gateway that was off for so long has missed goes with them.
 */
const WINDOW_MS = 7 * DAY_MS
const OVER = `state IN ('refused', 'executed', 'expired')`
const REMOVED = `RETURNING id, account_id AS "accountId", evidence_bytes AS "evidenceBytes"`
type Removed = { id: string; accountId: string; evidenceBytes: number | null }
/** The time in front of an id makes the primary key do: nothing younger is looked at. */
const firstIdAt = (prefix: 'pmt' | 'mdt', at: Millis) => newId(prefix, at).slice(0, 'pmt_'.length + 9)

/**
 * Writes expiry down, which gives mandates their share back and forgets summaries; then deletes what expired before
 * `cutoff`, 60 days later where its approved request is kept, and mandates that expired before it. Up to `limit` rows of each.
 */
export function* sweepPermits(
  now: Millis,
  cutoff: Millis,
  limit: number,
): Command<{ expired: number; permits: number; mandates: number }> {
  const expired = yield* expireAll(now, limit)
  const [from, before] = [firstIdAt('pmt', Math.max(cutoff - WINDOW_MS, 0)), firstIdAt('pmt', cutoff)]
  const permits = yield* all<Removed>(
    `DELETE FROM permits WHERE id IN (
       SELECT id FROM permits
       WHERE id >= $1 AND id < $2 AND expires_at <= $3 AND ${OVER} AND evidence_bytes IS NULL LIMIT $4
     ) ${REMOVED}`,
    from,
    before,
    cutoff,
    limit,
  )
  const keptCutoff = cutoff - KEPT_LONGER_MS
  const kept = yield* all<Removed>(
    `DELETE FROM permits WHERE id IN (
       SELECT id FROM permits WHERE id < $1 AND expires_at <= $2 AND ${OVER} LIMIT $3
     ) ${REMOVED}`,
    firstIdAt('pmt', Math.max(keptCutoff, 0)),
    keptCutoff,
    limit,
  )
  yield* dropDecisions([...permits, ...kept])
  const swept = { expired, permits: permits.length + kept.length, mandates: 0 }
  // A permit ends with its mandate at the latest: when none of that age is left, none of these mandates has one that could still change.
  const left = yield* first(
    `SELECT id FROM permits
     WHERE id >= $1 AND id < $2 AND expires_at <= $3 AND evidence_bytes IS NULL LIMIT 1`,
    from,
    before,
    cutoff,
  )
  if (left) return swept
  const mandates = yield* all(
    `DELETE FROM mandates WHERE id IN (SELECT id FROM mandates WHERE id < $1 AND expires_at <= $2 LIMIT $3)
     RETURNING id`,
    firstIdAt('mdt', cutoff),
    cutoff,
    limit,
  )
  return { ...swept, mandates: mandates.length }
}

function* expireAll(now: Millis, limit: number): Command<number> {
  const found = yield* all<{ mandateId: string }>(
    `SELECT DISTINCT mandate_id AS "mandateId" FROM permits WHERE ${OPEN} AND expires_at <= $1 LIMIT $2`,
    now,
    limit,
  )
  let expired = 0
  for (const { mandateId } of found.toSorted((a, b) => (a.mandateId < b.mandateId ? -1 : 1))) {
    if (expired >= limit) break
    yield* first('SELECT id FROM mandates WHERE id = $1 FOR UPDATE', mandateId)
    const rows = yield* all<{ cost: number }>(EXPIRE, mandateId, now, limit - expired)
    if (rows.length > 0)
      yield* addShare(mandateId, -rows.length, -rows.reduce((sum, { cost }) => sum + cost, 0))
    expired += rows.length
  }
  return expired
}
