// Whether the advisory locks of a database keep anybody out. It is tried and not read from a version: a database that speaks PostgreSQL's
// protocol may have the functions, answer yes to everybody and lock nothing, and every process would take all others for dead.
import { randomInt } from 'node:crypto'
import type pg from 'pg'
import type { SessionPair } from './sessions.ts'

/** First key of the locks that are tried; nothing else has it. */
const TRIAL_SPACE = 0x617a
const MAX_KEY = 2 ** 31 - 1

/** insufficient_privilege, undefined_function, feature_not_supported. Anything else may pass, and is no answer to the question. */
const REFUSALS: Readonly<Record<string, string>> = {
  '42501': 'this role may not use them (permission denied)',
  '42883': 'the server has none',
  '0A000': 'the server does not support them',
}
const GIVEN_TWICE = 'they keep nobody out: one was given to two sessions at once'
const KEPT = 'they do not end: one was kept after it had been given back'

type LockFunction =
  | 'pg_advisory_lock'
  | 'pg_advisory_unlock'
  | 'pg_advisory_xact_lock'
  | 'pg_try_advisory_lock'
  | 'pg_try_advisory_xact_lock'

/**
 * Tries every function that the gateway uses, between two sessions.
 * @returns why advisory locks are of no use here, as the end of a sentence; undefined: they are
 * @throws the driver's error where a connection or the server fails
 */
export async function tryAdvisoryLocks([one, other]: SessionPair): Promise<string | undefined> {
  const key = randomInt(1, MAX_KEY)
  async function call(client: pg.Client, name: LockFunction): Promise<unknown> {
    const text = `SELECT ${name}($1::int, $2::int) AS answer`
    return (await client.query<{ answer: unknown }>(text, [TRIAL_SPACE, key])).rows[0]?.answer
  }
  try {
    await call(one, 'pg_advisory_lock')
    await other.query('BEGIN')
    if ((await call(other, 'pg_try_advisory_xact_lock')) !== false) return GIVEN_TWICE
    if ((await call(other, 'pg_try_advisory_lock')) !== false) return GIVEN_TWICE
    if ((await call(one, 'pg_advisory_unlock')) !== true) return KEPT
    if ((await call(other, 'pg_try_advisory_xact_lock')) !== true) return KEPT
    if ((await call(one, 'pg_try_advisory_lock')) !== false) return GIVEN_TWICE
    await other.query('ROLLBACK')
    await call(other, 'pg_advisory_xact_lock')
    return (await call(one, 'pg_try_advisory_lock')) === true ? undefined : KEPT
  } catch (thrown) {
    const why = REFUSALS[String((thrown as { code?: unknown }).code)]
    if (why === undefined) throw thrown
    return why
  }
}
