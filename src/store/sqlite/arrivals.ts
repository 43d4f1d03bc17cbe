// What a commit puts off. Rows that are kept by account have as many pages as there are accounts, and a group of commits wrote
// every one of them in three places: that took longer than all else it did. So attempts and their entries are written in order
// of arrival, and many at once go to their places later, in a transaction of their own: each is always in one of the two, and
// lists read both.
import { type Command, statement } from '../command.ts'
import { ledgerFrom } from '../commands/accounts.ts'
import { type AttemptFilter, listAttemptsFrom } from '../commands/attempts.ts'
import type { Attempt, LedgerEntry, Page, PageRequest } from '../ports.ts'
import type { SqliteDatabase } from './database.ts'

const ENTRY = 'account, transaction_id, amount, kind, reference, created_at'
/** In place of the table: every entry once. */
export const LEDGER = `(SELECT ${ENTRY} FROM ledger_entries UNION ALL SELECT ${ENTRY} FROM ledger_arrivals)`
// Two halves with an index each, where one condition for both would have none.
const ATTEMPTS = `(SELECT * FROM attempts WHERE listed = 1 UNION ALL SELECT * FROM attempts WHERE listed = 0)`

export const ledger = (accountId: string, page: PageRequest): Command<Page<LedgerEntry>> =>
  ledgerFrom(LEDGER, accountId, page)

export const listAttempts = (filter: AttemptFilter, page: PageRequest): Command<Page<Attempt>> =>
  listAttemptsFrom(ATTEMPTS, filter, page)

const PLACE_ENTRIES = `INSERT INTO ledger_entries (${ENTRY})
  SELECT ${ENTRY} FROM ledger_arrivals ORDER BY account, transaction_id`
export function* placeEntries(): Command<void> {
  yield statement(PLACE_ENTRIES)
  yield statement('DELETE FROM ledger_arrivals')
}

export function* placeAttempts(): Command<void> {
  yield statement('UPDATE attempts SET listed = 1 WHERE listed = 0')
}

/** Commands between two turns: enough that a page takes many rows, few enough that the next group waits milliseconds. */
export const TURN_COMMANDS = 1000

/**
 * Places what has arrived, the two kinds in turn. The first transaction of a process finds what an earlier one left of both.
 * @returns to be called after every transaction, with how many commands it held
 */
export function createPlacing(db: SqliteDatabase): (commands: number) => void {
  const kinds = [
    { place: placeEntries, due: -TURN_COMMANDS },
    { place: placeAttempts, due: 0 },
  ]
  let count = 0
  return (commands) => {
    count += commands
    for (const kind of kinds) {
      if (count < kind.due) continue
      kind.due += 2 * TURN_COMMANDS
      try {
        db.begin()
        db.drive(kind.place())
        db.commit()
      } catch {
        // No room on the disk: all of it stays where it arrived, where lists find it, until the next turn.
        db.rollback()
      }
    }
  }
}
