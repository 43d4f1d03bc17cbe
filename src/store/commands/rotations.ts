// Rotations of the wrapping authority: one runs at a time, and who works on it may die.
import { newId, timeOfId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { Rotation } from '../ports/rotations.ts'

const fields = [
  'id',
  'state',
  'step',
  'fromKid',
  'kid',
  'retired',
  'rewrapped',
  'total',
  'broken',
  'credentialIds',
  'bootId',
  'createdAt',
  'updatedAt',
  'finishedAt',
] as const
const ROTATION = columns(fields)
type Row = Omit<Rotation, 'retired' | 'credentialIds'> & { retired: string; credentialIds: string }
const toRotation = (row: Row): Rotation => ({
  ...row,
  retired: JSON.parse(row.retired) as string[],
  credentialIds: JSON.parse(row.credentialIds) as string[],
})

type Begun =
  { readonly ok: true; readonly rotation: Rotation } | { readonly ok: false; readonly running: Rotation }

// At most one row runs: a unique index over those that do.
const BEGIN = `${insertInto('authority_rotations', fields)} ON CONFLICT DO NOTHING RETURNING ${ROTATION}`
const RUNNING = `SELECT ${ROTATION} FROM authority_rotations WHERE state = 'running'`
const RENAME = `UPDATE authority_rotations SET id = $1 WHERE id = $2 RETURNING ${ROTATION}`

/** Begins a rotation where none runs. Its id sorts behind those of all before it, whatever the clocks of replicas say. */
export const beginRotation = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  fromKid: string
  bootId: string
  now: Millis
}): Command<Begun> {
  const { fromKid, bootId, now } = input
  // Again where the one that was in the way has ended by the time it is looked for.
  for (;;) {
    const id = newId('rot', now)
    const values = [id, 'running', 'begun', fromKid, null, '[]', 0, null, 0, '[]', bootId, now, now, null]
    const made = yield* first<Row>(BEGIN, ...values)
    if (made) return { ok: true, rotation: toRotation((yield* moveToEnd(made)) ?? made) }
    const running = yield* first<Row>(RUNNING)
    if (running) return { ok: false, running: toRotation(running) }
  }
})

/** Done once the row stands: no other rotation can begin then, so none comes behind it. */
function* moveToEnd({ id }: Row): Command<Row | undefined> {
  const newest = yield* first<{ id: string }>('SELECT max(id) AS id FROM authority_rotations')
  if (newest === undefined || newest.id === id) return undefined
  return yield* first<Row>(RENAME, newId('rot', (timeOfId(newest.id) ?? 0) + 1), id)
}

/** Writes how far a rotation got. False where it is another process's by now. */
export const advanceRotation = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  bootId: string
  change: {
    step?: Rotation['step']
    kid?: string
    retired?: readonly string[]
    total?: number
    /** Added to what was re-wrapped before. */
    rewrapped?: number
  }
  now: Millis
}): Command<boolean> {
  const { id, bootId, change, now } = input
  const { step, kid, retired, total, rewrapped = 0 } = change
  const row = yield* first(
    `UPDATE authority_rotations SET step = COALESCE($1, step), kid = COALESCE($2, kid), retired = COALESCE($3, retired),
       total = COALESCE($4, total), rewrapped = rewrapped + $5, updated_at = $6
     WHERE id = $7 AND boot_id = $8 AND state = 'running' RETURNING id`,
    step,
    kid,
    retired && JSON.stringify(retired),
    total,
    rewrapped,
    now,
    id,
    bootId,
  )
  return row !== undefined
})

/** Ends a rotation, once. Undefined where it is another process's by now, or has ended. */
export const finishRotation = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  bootId: string
  state: 'done' | 'failed'
  credentialIds: readonly string[]
  broken: number
  now: Millis
}): Command<Rotation | undefined> {
  const { id, bootId, state, credentialIds, broken, now } = input
  const row = yield* first<Row>(
    `UPDATE authority_rotations SET state = $1, credential_ids = $2, broken = $3, updated_at = $4, finished_at = $4
     WHERE id = $5 AND boot_id = $6 AND state = 'running' RETURNING ${ROTATION}`,
    state,
    JSON.stringify(credentialIds),
    broken,
    now,
    id,
    bootId,
  )
  return row && toRotation(row)
})

export const getRotation = command({ kind: 'read' })(function* (id: string): Command<Rotation | undefined> {
  const row = yield* first<Row>(`SELECT ${ROTATION} FROM authority_rotations WHERE id = $1`, id)
  return row && toRotation(row)
})

/** The one that runs, else the one that began last. */
export const latestRotation = command({ kind: 'read' })(function* (): Command<Rotation | undefined> {
  // Earlier releases made ids by the clock alone.
  const row = yield* first<Row>(
    `SELECT ${ROTATION} FROM authority_rotations
     ORDER BY CASE state WHEN 'running' THEN 0 ELSE 1 END, id DESC LIMIT 1`,
  )
  return row && toRotation(row)
})

/** Names the process start that works on a rotation, other than $1. */
export const RUNNING_ROTATION_OWNERS = `SELECT boot_id AS "bootId" FROM authority_rotations
  WHERE state = 'running' AND boot_id <> $1`
/** Makes the rotation of one of the given process starts that of `bootId`. */
export function* takeOverRotationOf(
  owners: readonly string[],
  { bootId, now }: { bootId: string; now: Millis },
): Command<Rotation | undefined> {
  for (const owner of owners) {
    const row = yield* first<Row>(
      `UPDATE authority_rotations SET boot_id = $1, updated_at = $2
       WHERE state = 'running' AND boot_id = $3 RETURNING ${ROTATION}`,
      bootId,
      now,
      owner,
    )
    if (row) return toRotation(row)
  }
  return undefined
}
/** Takes over the rotation that a dead process left behind. */
export const takeOverRotation = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  bootId: string
  now: Millis
}): Command<Rotation | undefined> {
  // One engine has one owner at a time, so every other process start is dead; PostgreSQL asks the leases instead.
  const owners = yield* all<{ bootId: string }>(RUNNING_ROTATION_OWNERS, input.bootId)
  return yield* takeOverRotationOf(
    owners.map((owner) => owner.bootId),
    input,
  )
})

/** Records whose record key is wrapped to another authority key than `kid`, and those keys. */
export const countWrapsNotUnder = command({ kind: 'read' })(function* (kid: string): Command<WrapsNotUnder> {
  const rows = yield* all<{ kid: string; count: number }>(
    `SELECT wrap_kid AS kid, count(*) AS count FROM credentials WHERE wrap_kid <> $1 AND wrap_kid <> ''
     GROUP BY wrap_kid ORDER BY wrap_kid`,
    kid,
  )
  return { total: rows.reduce((sum, { count }) => sum + count, 0), kids: rows.map((row) => row.kid) }
})
type WrapsNotUnder = { total: number; kids: readonly string[] }
