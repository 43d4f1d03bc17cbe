// How the attempts of an account went, counted for charts: by time, host, end and how long the upstream took. Like the lists that people
// look through it uses the account's index alone, and looks at so many of the newest and no more.
import { firstIdAt } from '../../lib/ids.ts'
import { all, type Command, command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import { type AttemptCount, type AttemptFigures, UPSTREAM_BOUNDS_MS } from '../ports/figures.ts'

const LOOK_AT = 20_000

const TOOK = `CASE WHEN finished_at IS NULL OR sending_at IS NULL THEN -1 ${UPSTREAM_BOUNDS_MS.slice(0, -1)
  .map((bound, at) => `WHEN finished_at - sending_at <= ${bound} THEN ${at}`)
  .join(' ')} ELSE ${UPSTREAM_BOUNDS_MS.length - 1} END`

/** @param input.slotMs length of one time on the chart, in milliseconds */
export interface FiguresInput {
  readonly accountId: string
  readonly since: Millis
  readonly slotMs: number
  /** Most rows that are looked at; tests look at fewer. */
  readonly lookAt?: number
}

/** Attempts of an account since a moment, counted. */
export const countAttempts = command({ kind: 'read' })(function (
  input: FiguresInput,
): Command<AttemptFigures> {
  return countAttemptsFrom('attempts', input)
})

/** @param from the table, or what an engine reads in its place */
export function* countAttemptsFrom(
  from: string,
  { accountId, since, slotMs, lookAt = LOOK_AT }: FiguresInput,
): Command<AttemptFigures> {
  const oldest = firstIdAt('att', since)
  const floor = yield* first<{ id: string; createdAt: Millis }>(
    `SELECT id, created_at AS "createdAt" FROM ${from} a WHERE account_id = $1 AND id >= $2 ORDER BY id DESC LIMIT 1 OFFSET $3`,
    accountId,
    oldest,
    lookAt,
  )
  const rows = yield* all<AttemptCount>(
    `SELECT CAST(created_at / ${Math.floor(slotMs)} AS INTEGER) AS slot, host, state, outcome,
       CAST(upstream_status / 100 AS INTEGER) AS "statusClass", ${TOOK} AS took, CAST(count(*) AS INTEGER) AS count
     FROM ${from} a WHERE account_id = $1 AND id >= $2 AND id > $3
     GROUP BY created_at / ${Math.floor(slotMs)}, host, state, outcome, upstream_status / 100, ${TOOK} ORDER BY 1`,
    accountId,
    oldest,
    floor?.id ?? '',
  )
  return {
    since: floor?.createdAt ?? since,
    isCut: floor !== undefined,
    rows: rows.map((row) => ({ ...row })),
  }
}
