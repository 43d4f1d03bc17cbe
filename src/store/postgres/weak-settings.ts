// How the server and the role are set where that breaks a promise of the gateway's: told at the start, since nothing fails until it is too late.
import { type Command, first } from '../command.ts'

const SETTINGS = `SELECT current_setting('synchronous_commit') AS "synchronousCommit", current_setting('fsync') AS fsync,
  current_setting('statement_timeout') AS "statementTimeout",
  current_setting('idle_in_transaction_session_timeout') AS "idleTimeout"`

interface Settings {
  readonly synchronousCommit: string
  readonly fsync: string
  readonly statementTimeout: string
  readonly idleTimeout: string
}

/** @returns a sentence for each, with what to do */
export function* findWeakSettings(): Command<readonly string[]> {
  const found = yield* first<Settings>(SETTINGS)
  if (!found) return []
  const weak: string[] = []
  if (found.fsync === 'off')
    weak.push('fsync is off: a power cut can lose or damage everything. Set it on in postgresql.conf.')
  if (found.synchronousCommit === 'off')
    weak.push(
      'synchronous_commit is off: a crash of the server loses debits and receipts that were acknowledged. Set it on, for this role at least.',
    )
  // The gateway sets these itself, but through a pooler.
  if (found.statementTimeout === '0')
    weak.push(
      "statement_timeout is off: what waits for a lock waits without end. ALTER ROLE … SET statement_timeout = '15s'.",
    )
  if (found.idleTimeout === '0')
    weak.push(
      'idle_in_transaction_session_timeout is off: a connection that is lost in a transaction keeps its locks. ' +
        "ALTER ROLE … SET idle_in_transaction_session_timeout = '30s'.",
    )
  return weak
}
