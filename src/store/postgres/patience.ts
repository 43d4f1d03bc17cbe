// How long a command waits for rows that somebody else keeps locked: not long, so that its connection is free again soon. Whoever found
// something locked has done nothing, and tries again (apart.ts).

export const SHORT_WAIT_MS = 100
/** As long as a statement may take. */
export const STATEMENT_TIMEOUT_MS = 15_000

/** A condition, to stand where a statement locks its first rows: it waits so long for each lock, then nothing is done. The setting ends with it. */
export const BRIEFLY = `AND (SELECT set_config('lock_timeout', '${SHORT_WAIT_MS}', true)) IS NOT NULL`

/** How long for each lock. `short`: SHORT_WAIT_MS. `long`: as long as a statement may take, whose own limit does not pass a pooler. */
export type Patience = 'short' | 'long'

/** What begins a transaction; said to the server at once. */
export const BEGIN: Readonly<Record<Patience, string>> = {
  // Read committed is said, because a database may have another level for its default: claims look again after the lock that they waited for.
  long: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${STATEMENT_TIMEOUT_MS}`,
  short: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${SHORT_WAIT_MS}`,
}
