// What a commit puts off. Rows that are kept by account have as many pages as there are accounts, and a group of commits wrote
// every one of them in three places: that took longer than all else it did. So attempts and their entries are written in order
// of arrival, and many at once go to their places later, in a transaction of their own: each is always in one of the two, and
// lists read both.
import { type Command, statement } from '../command.ts'
import { ledgerFrom } from '../commands/accounts.ts'
import { type AttemptFilter, listAttemptsFrom, UNFINISHED } from '../commands/attempts.ts'
import { toFailure } from '../failure.ts'
import type { LedgerEntry } from '../ports.ts'
import type { Attempt, AttemptState, Page, PageRequest } from '../model.ts'
import type { SqliteDatabase } from './database.ts'

const ENTRY = 'account, transaction_id, amount, kind, reference, created_at'
/** In place of the table: every entry once. */
export const LEDGER = `(SELECT ${ENTRY} FROM ledger_entries UNION ALL SELECT ${ENTRY} FROM ledger_arrivals)`
// Two halves with an index each, where one condition for both would have none.
const ATTEMPTS = `(SELECT * FROM attempts WHERE listed = 1 UNION ALL SELECT * FROM attempts WHERE listed = 0)`

export const ledger = (accountId: string, page: PageRequest): Command<Page<LedgerEntry>> =>
  ledgerFrom(LEDGER, accountId, page)

// Indexes that hold few, wherever they are. Named, because nobody told SQLite how many there are of each.
const UNDER_WAY = `(SELECT * FROM attempts INDEXED BY attempts_unfinished WHERE ${UNFINISHED})`
const BY_STATE: Readonly<Record<AttemptState, string>> = {
  reserved: UNDER_WAY,
  sending: UNDER_WAY,
  settled: ATTEMPTS,
  ambiguous: 'attempts INDEXED BY attempts_ambiguous',
  refunded: 'attempts INDEXED BY attempts_refunded',
}

export const listAttempts = (filter: AttemptFilter, page: PageRequest): Command<Page<Attempt>> =>
  listAttemptsFrom(filter.state === undefined ? ATTEMPTS : BY_STATE[filter.state], filter, page)

const PLACE_ENTRIES = `INSERT INTO ledger_entries (${ENTRY})
  SELECT ${ENTRY} FROM ledger_arrivals ORDER BY account, transaction_id`
export function* placeEntries(): Command<void> {
  yield statement(PLACE_ENTRIES)
  yield statement('DELETE FROM ledger_arrivals')
}

const TAKEN = `SELECT 1 FROM ledger_entries e
  WHERE e.account = ledger_arrivals.account AND e.transaction_id = ledger_arrivals.transaction_id`
/**
 * For when a place is taken, which only an id that was given twice can do: an entry that arrives is compared with those that
 * arrived, not with all. The balance has moved, so it stays where it is and in its list, and keeps no other from its place.
 */
export function* placeEntriesThatFit(): Command<void> {
  yield statement(`INSERT INTO ledger_entries (${ENTRY})
    SELECT ${ENTRY} FROM ledger_arrivals WHERE NOT EXISTS (${TAKEN}) ORDER BY account, transaction_id`)
  yield statement(
    `DELETE FROM ledger_arrivals WHERE EXISTS (${TAKEN} AND e.reference = ledger_arrivals.reference)`,
  )
}

export function* placeAttempts(): Command<void> {
  yield statement('UPDATE attempts SET listed = 1 WHERE listed = 0')
}

/** Commands from one turn to the next, so that a page takes many rows at once. */
export const TURN_COMMANDS = 1000
const MIN_TURN_COMMANDS = 32
/** How long the next group may wait for a turn. Where a page takes one row in any case, short turns cost no more than long ones. */
const MAX_TURN_MS = 20

/**
 * Places what has arrived, the two kinds in turn. The first transaction of a process finds what an earlier one left of both.
 * @param now in milliseconds, for how long a turn takes
 * @returns to be called after every transaction, with how many commands it held
 */
export function createPlacing(
  db: SqliteDatabase,
  now: () => number = () => performance.now(),
): (commands: number) => void {
  const kinds = [
    { place: placeEntries, placeWhatFits: placeEntriesThatFit },
    { place: placeAttempts, placeWhatFits: undefined },
  ]
  let turns = 0
  let length = TURN_COMMANDS
  let left = 0
  return (commands) => {
    left -= commands
    if (left > 0) return
    const startedAt = now()
    for (const kind of turns === 0 ? kinds : [kinds[turns % kinds.length]!]) {
      const thrown = commitAlone(db, kind.place)
      const isTaken = thrown !== undefined && toFailure(thrown).code === 'state_conflict'
      if (isTaken && kind.placeWhatFits) commitAlone(db, kind.placeWhatFits)
    }
    const tookMs = now() - startedAt
    turns++
    if (tookMs > MAX_TURN_MS) length = Math.max(MIN_TURN_COMMANDS, Math.floor(length / 2))
    else if (tookMs < MAX_TURN_MS / 2) length = Math.min(TURN_COMMANDS, length * 2)
    left = length
  }
}

/** @returns why it failed. No room on the disk: all of it stays where it arrived, where lists find it, until the next turn. */
function commitAlone(db: SqliteDatabase, place: () => Command<void>): unknown {
  try {
    db.begin()
    db.drive(place())
    db.commit()
    return undefined
  } catch (thrown) {
    db.rollback()
    return thrown
  }
}
