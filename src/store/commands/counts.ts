// Counters of permits and executions, one row per account, written in the transactions that they count.
import { all, columns, type Command, command, first, snakeCase } from '../command.ts'
import type { ActionCounts } from '../ports/actions.ts'

const NOTHING: ActionCounts = {
  permitsPrepared: 0,
  permitsApproved: 0,
  permitsRefused: 0,
  executions: 0,
  settled: 0,
  ambiguous: 0,
  refunded: 0,
  creditsCharged: 0,
  creditsRefunded: 0,
}
const fields = Object.keys(NOTHING)

/** Names the columns that change, and no others, since this is on the path of every execution. */
function addTo(changing: readonly string[]): string {
  const names = changing.map(snakeCase)
  return `INSERT INTO action_counts (account_id, ${names.join(', ')})
  VALUES ($1, ${names.map((_, i) => `$${i + 2}`).join(', ')})
  ON CONFLICT (account_id) DO UPDATE
  SET ${names.map((name) => `${name} = action_counts.${name} + excluded.${name}`).join(', ')}`
}
const statements = new Map<string, string>()

/** The last lock of every transaction that takes it. */
export function* addCounts(accountId: string, counts: Partial<ActionCounts>): Command<void> {
  const changing = Object.keys(counts)
  const key = changing.join()
  let text = statements.get(key)
  if (text === undefined) statements.set(key, (text = addTo(changing)))
  yield* all(text, accountId, ...Object.values(counts))
}

const COUNTS = `SELECT ${columns(fields)} FROM action_counts WHERE account_id = $1`
const TOTAL = `SELECT ${fields
  .map((field) => `CAST(COALESCE(sum(${snakeCase(field)}), 0) AS BIGINT) AS "${field}"`)
  .join(', ')} FROM action_counts`

/** Counts one account, or all of them where none is named. */
export const countActions = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string | undefined,
): Command<ActionCounts> {
  const row =
    accountId === undefined
      ? yield* first<ActionCounts>(TOTAL)
      : yield* first<ActionCounts>(COUNTS, accountId)
  return { ...NOTHING, ...row }
})
