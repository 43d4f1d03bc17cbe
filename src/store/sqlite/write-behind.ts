// Write-behind: what a commit stages in order of arrival, and a merge puts in its place later. Rows that are kept by account
// have as many pages as there are accounts, and a group of commits wrote every one of them in three places, which took longer
// than all else it did. So the account's half of an entry is staged in a table (`ledger_arrivals`), an attempt by a column
// (`listed`), and many at once are merged in a transaction of their own. Each row is always in one of the two, and lists read both.
import { type Command, statement } from '../command.ts'
import { ledgerFrom } from '../commands/accounts.ts'
import { type AttemptFilter, listAttemptsFrom, UNFINISHED } from '../commands/attempts.ts'
import { countAttemptsFrom, type FiguresInput } from '../commands/figures.ts'
import { toFailure } from '../failure.ts'
import { searchAttemptsFrom, searchLedgerFrom, sumLedgerFrom } from '../commands/searches.ts'
import type {
  AttemptFigures,
  AttemptSearch,
  DayOfLedger,
  LedgerEntry,
  LedgerSearch,
  SearchPage,
  SearchRequest,
} from '../ports.ts'
import type { Attempt, AttemptState, Page, PageRequest } from '../model.ts'
import type { SqliteDatabase } from './database.ts'

const ENTRY = 'account, transaction_id, amount, kind, reference, created_at'
/** Stands for the table: every entry once, staged or merged. */
export const LEDGER = `(SELECT ${ENTRY} FROM ledger_entries UNION ALL SELECT ${ENTRY} FROM ledger_arrivals)`
// Each half has an index, where one condition for both would have none.
const ATTEMPTS = `(SELECT * FROM attempts WHERE listed = 1 UNION ALL SELECT * FROM attempts WHERE listed = 0)`

/** The command `ledger` over both places. */
export const ledger = (accountId: string, page: PageRequest): Command<Page<LedgerEntry>> =>
  ledgerFrom(LEDGER, accountId, page)

// These indexes hold few attempts, staged or merged. They are named because SQLite keeps no count of either.
const UNDER_WAY = `(SELECT * FROM attempts INDEXED BY attempts_unfinished WHERE ${UNFINISHED})`
const BY_STATE: Readonly<Record<AttemptState, string>> = {
  reserved: UNDER_WAY,
  sending: UNDER_WAY,
  settled: ATTEMPTS,
  ambiguous: 'attempts INDEXED BY attempts_ambiguous',
  refunded: 'attempts INDEXED BY attempts_refunded',
}

/** The command `listAttempts` over both places. */
export const listAttempts = (filter: AttemptFilter, page: PageRequest): Command<Page<Attempt>> =>
  listAttemptsFrom(filter.state === undefined ? ATTEMPTS : BY_STATE[filter.state], filter, page)

/** The command `searchAttempts` over both places. */
export const searchAttempts = (filter: AttemptSearch, request: SearchRequest): Command<SearchPage<Attempt>> =>
  searchAttemptsFrom(filter.state === undefined ? ATTEMPTS : BY_STATE[filter.state], filter, request)

/** The command `countAttempts` over both places. */
export const countAttempts = (input: FiguresInput): Command<AttemptFigures> =>
  countAttemptsFrom(ATTEMPTS, input)

/** The command `searchLedger` over both places. */
export const searchLedger = (
  filter: LedgerSearch,
  request: SearchRequest,
): Command<SearchPage<LedgerEntry>> => searchLedgerFrom(LEDGER, filter, request)

/** The command `sumLedger` over both places. */
export const sumLedger = (filter: Parameters<typeof sumLedgerFrom>[1]): Command<readonly DayOfLedger[]> =>
  sumLedgerFrom(LEDGER, filter)

const MERGE_ENTRIES = `INSERT INTO ledger_entries (${ENTRY})
  SELECT ${ENTRY} FROM ledger_arrivals ORDER BY account, transaction_id`
/** Moves staged entries of the ledger into its table, in the order of its index. */
export function* mergeEntries(): Command<void> {
  yield statement(MERGE_ENTRIES)
  yield statement('DELETE FROM ledger_arrivals')
}

const IS_TAKEN = `SELECT 1 FROM ledger_entries e
  WHERE e.account = ledger_arrivals.account AND e.transaction_id = ledger_arrivals.transaction_id`
/**
 * Merges around an entry whose place is taken. Only an id that was given twice can do that, since a staged entry is compared
 * with the staged ones, not with all. The balance has moved, so the entry stays staged and in its list, and holds up no other.
 */
export function* mergeEntriesThatFit(): Command<void> {
  yield statement(`INSERT INTO ledger_entries (${ENTRY})
    SELECT ${ENTRY} FROM ledger_arrivals WHERE NOT EXISTS (${IS_TAKEN}) ORDER BY account, transaction_id`)
  yield statement(
    `DELETE FROM ledger_arrivals WHERE EXISTS (${IS_TAKEN} AND e.reference = ledger_arrivals.reference)`,
  )
}

/** Lists attempts that were written without their index entries. */
export function* mergeAttempts(): Command<void> {
  yield statement('UPDATE attempts SET listed = 1 WHERE listed = 0')
}

/** Commands from one merge to the next, so that a page takes many rows at once. */
export const MERGE_EVERY = 1000
const MERGE_EVERY_AT_LEAST = 32
/** How long a merge may hold up the next group. Where a page takes one row in any case, short merges cost no more than long ones. */
const MAX_MERGE_MS = 20

const KINDS = [
  { merge: mergeEntries, mergeWhatFits: mergeEntriesThatFit },
  { merge: mergeAttempts, mergeWhatFits: undefined },
] as const

/**
 * Merges what is staged, the two kinds in turn. The first transaction of a process merges what an earlier one left of both.
 * @param now in milliseconds, for how long a merge takes
 * @returns to be called after every transaction, with how many commands it held
 */
export function createMerger(
  db: SqliteDatabase,
  now: () => number = () => performance.now(),
): (commands: number) => void {
  let merges = 0
  let interval = MERGE_EVERY
  let left = 0
  return (commands) => {
    left -= commands
    if (left > 0) return
    const startedAt = now()
    for (const { merge, mergeWhatFits } of merges === 0 ? KINDS : [KINDS[merges % 2 === 0 ? 0 : 1]]) {
      const thrown = commitAlone(db, merge)
      const isTaken = thrown !== undefined && toFailure(thrown).code === 'state_conflict'
      if (isTaken && mergeWhatFits) commitAlone(db, mergeWhatFits)
    }
    const tookMs = now() - startedAt
    merges++
    if (tookMs > MAX_MERGE_MS) interval = Math.max(MERGE_EVERY_AT_LEAST, Math.floor(interval / 2))
    else if (tookMs < MAX_MERGE_MS / 2) interval = Math.min(MERGE_EVERY, interval * 2)
    left = interval
  }
}

/** @returns why it failed. Where the disk has no room, all of it stays staged, where lists find it, until the next merge. */
function commitAlone(db: SqliteDatabase, merge: () => Command<void>): unknown {
  try {
    db.begin()
    db.drive(merge())
    db.commit()
    return undefined
  } catch (thrown) {
    db.rollback()
    return thrown
  }
}
