// Claims that nobody knows the ending of: handed out to whoever asks their chains, and counted for health.
import { all, type Command, command } from '../command.ts'
import type { Millis } from '../model.ts'
import type { PaymentClaim } from '../ports/payments.ts'
import { CLAIM, type ClaimRow, toClaim } from './claims.ts'
import { longestUnseen } from './longest-unseen.ts'

const unseen = longestUnseen<ClaimRow>(
  (isDue) => `SELECT ${CLAIM} FROM payment_claims
  WHERE state IN ('pending', 'unknown') AND ${isDue} ORDER BY looked_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`,
)
/**
 * `pending` and `unknown` claims without a look since before `now`, longest first; marks them as looked at `now`. Asked
 * again with the same `now` it goes on where it stopped, and is empty in the end. No two processes get the same one.
 */
export const takeDoubtfulClaims = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  limit: number
  now: Millis
}): Command<readonly PaymentClaim[]> {
  const { limit, now } = input
  const rows = yield* unseen({ before: now, limit })
  for (const { id } of rows) yield* all('UPDATE payment_claims SET looked_at = $1 WHERE id = $2', now, id)
  return rows.map(toClaim)
})

type OpenClaims = Record<'pending' | 'unknown', number>
/** Number of claims that are not decided yet, for health: read from an index that holds nothing else. */
export const countOpenClaims = command({ kind: 'read' })(function* (): Command<OpenClaims> {
  const rows = yield* all<{ state: keyof OpenClaims; count: number }>(
    `SELECT state, count(*) AS count FROM payment_claims WHERE state IN ('pending', 'unknown') GROUP BY state`,
  )
  const countOf = (state: keyof OpenClaims) => rows.find((row) => row.state === state)?.count ?? 0
  return { pending: countOf('pending'), unknown: countOf('unknown') }
})
