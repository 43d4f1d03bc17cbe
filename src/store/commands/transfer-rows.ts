// A transfer of ours is a row, whether it goes back to a payer or out to a seller: recorded -> submitted -> settled | failed, and
// settled -> submitted where its chain replaced the block. These are the statements that both have; what else a step moves is theirs.
import { all, type Command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import type { StoredReceipt } from '../ports/attempts.ts'
import { insertReceipt } from './attempts.ts'
import { longestUnseen } from './longest-unseen.ts'

/** Word for word what the indexes of open transfers hold: SQLite recognises it by that alone. */
export const OPEN = `state IN ('recorded', 'submitted')`

/** How a transfer begins: what is not known yet. */
export const NOTHING_YET = {
  tries: 0,
  transaction: null,
  failure: null,
  receiptId: null,
  submittedAt: null,
  finishedAt: null,
} as const

export interface SettledPage {
  /** The last one of the page before. */
  readonly after?: { readonly id: string; readonly finishedAt: Millis | null } | undefined
  readonly limit: number
}

/**
 * @param table whose rows have the columns `state, tries, tx, failure, receipt_id, submitted_at, finished_at, looked_at, final_at`
 * @param columns of a row, as SQL
 * @param isDue what else has to be true of a row that is sent, as SQL
 */
export function transferRows<T extends object>(table: string, columns: string, isDue = '1 = 1') {
  const one = (row: T | undefined) => row && { ...row }
  const many = (rows: readonly T[]) => rows.map((row) => ({ ...row }))
  const unseen = longestUnseen<T>(
    (unseenFor) =>
      `SELECT ${columns} FROM ${table} WHERE ${OPEN} AND ${unseenFor} ORDER BY looked_at, id LIMIT $2`,
  )

  return {
    *get(id: string): Command<T | undefined> {
      return one(yield* first<T>(`SELECT ${columns} FROM ${table} WHERE id = $1`, id))
    },

    /** Open ones that nobody looked at since `before`, longest first; nothing is marked. */
    *listOpen(asked: { before: Millis; limit: number }): Command<readonly T[]> {
      return many(yield* unseen(asked))
    },

    /** Those that settled and are not final, oldest first, behind `after`. */
    *listSettled({ after, limit }: SettledPage): Command<readonly T[]> {
      const text = `SELECT ${columns} FROM ${table} WHERE state = 'settled' AND final_at IS NULL AND (finished_at, id) > ($1, $2)
        ORDER BY finished_at, id LIMIT $3`
      return many(yield* all<T>(text, after?.finishedAt ?? 0, after?.id ?? '', limit))
    },

    *finalize(id: string, now: Millis): Command<void> {
      yield* all(`UPDATE ${table} SET final_at = $1 WHERE id = $2 AND state = 'settled'`, now, id)
    },

    *touch(id: string, now: Millis): Command<void> {
      yield* all(`UPDATE ${table} SET looked_at = $1 WHERE id = $2 AND ${OPEN}`, now, id)
    },

    *submit({ id, tries, now }: { id: string; tries: number; now: Millis }): Command<T | undefined> {
      const text = `UPDATE ${table} SET state = 'submitted', tries = tries + 1, looked_at = $1, submitted_at = COALESCE(submitted_at, $2)
        WHERE id = $3 AND tries = $4 AND ${OPEN} AND ${isDue} RETURNING ${columns}`
      return one(yield* first<T>(text, now, now, id, tries))
    },

    /** With its receipt. */
    *settle(input: {
      id: string
      transaction: string
      receipt: StoredReceipt
      now: Millis
    }): Command<T | undefined> {
      const { id, transaction, receipt, now } = input
      const text = `UPDATE ${table} SET state = 'settled', tx = $1, receipt_id = $2, finished_at = $3
        WHERE id = $4 AND ${OPEN} RETURNING ${columns}`
      const row = yield* first<T>(text, transaction, receipt.id, now, id)
      if (row) yield* insertReceipt(receipt)
      return one(row)
    },

    /** @param input.tries where nothing left: undefined is answered when somebody else set out since */
    *fail(input: {
      id: string
      failure: string
      tries?: number | undefined
      now: Millis
    }): Command<T | undefined> {
      const { id, failure, tries, now } = input
      const text = `UPDATE ${table} SET state = 'failed', failure = $1, finished_at = $2
        WHERE id = $3 AND ${OPEN} ${tries === undefined ? '' : 'AND tries = $4'} RETURNING ${columns}`
      return one(yield* first<T>(text, failure, now, id, ...(tries === undefined ? [] : [tries])))
    },

    /** Withdraws its receipt. */
    *reopen(input: { id: string; receiptId: string; now: Millis }): Command<T | undefined> {
      const { id, receiptId, now } = input
      const text = `UPDATE ${table} SET state = 'submitted', receipt_id = NULL, finished_at = NULL, looked_at = 0
        WHERE id = $1 AND receipt_id = $2 AND state = 'settled' RETURNING ${columns}`
      const row = yield* first<T>(text, id, receiptId)
      if (row) yield* withdrawReceipt(receiptId, now)
      return one(row)
    },
  }
}

/** A chain took back what it is of. */
export function* withdrawReceipt(receiptId: string, now: Millis): Command<void> {
  const text =
    'INSERT INTO receipt_withdrawals (receipt_id, withdrawn_at) VALUES ($1, $2) ON CONFLICT DO NOTHING'
  yield* all(text, receiptId, now)
}
