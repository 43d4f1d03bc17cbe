// Resources that were paid through our own facilitator: what was said of each with its payments, and how many paid for it.
import { all, columns, type Command, command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import type { StoredSettledListing } from '../ports/records.ts'

const LISTING = columns(['id', 'payee', 'item', 'settlements', 'payers', 'firstSettled', 'lastSettled'])
const A_DAY_MS = 24 * 3600 * 1000
/** A text that many payments carried is replaced after so many others at most. */
const MAX_VOTES = 10

interface Row {
  readonly digest: string
  readonly votes: number
  readonly payers: number
}

/**
 * Notes one settlement. A payer counts once, and once a day; the listing's text is that of most counted settlements, so that
 * one payment with another text does not replace what many payers saw.
 * @param input.item the listing as JSON text; `digest` tells one text from another
 * @param input.limits `perPayee` and `total` listings, and `payers` that are told apart for each listing; beyond `total` the
 * listing with the fewest payers goes, the oldest of those first
 * @returns false where this payee has as many listings as it may
 */
export const noteSettledListing = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  payee: string
  payer: string
  item: string
  digest: string
  limits: { readonly perPayee: number; readonly total: number; readonly payers: number }
  now: Millis
}): Command<boolean> {
  const { id, payee, item, digest, limits, now } = input
  let row = yield* find(id)
  if (!row) {
    const held = yield* count('SELECT count(*) AS count FROM settled_listings WHERE payee = $1', payee)
    if (held >= limits.perPayee) return false
    yield* all(
      `INSERT INTO settled_listings (id, payee, item, digest, votes, settlements, payers, first_settled, last_settled)
       VALUES ($1, $2, $3, $4, 0, 0, 0, $5, $6) ON CONFLICT (id) DO NOTHING`,
      id,
      payee,
      item,
      digest,
      now,
      now,
    )
    row = yield* find(id)
    // Another process has made and removed it in between; the next payment makes it again.
    if (!row) return true
  }
  const counted = yield* countPayer(input, row)
  const votes = row.votes + (digest === row.digest ? counted.settlements : -counted.settlements)
  if (votes < 0)
    yield* all('UPDATE settled_listings SET item = $1, digest = $2 WHERE id = $3', item, digest, id)
  yield* all(
    `UPDATE settled_listings SET votes = $1, settlements = settlements + $2, payers = payers + $3, last_settled = $4
     WHERE id = $5`,
    votes < 0 ? 1 : Math.min(votes, MAX_VOTES),
    counted.settlements,
    counted.payers,
    now,
    id,
  )
  yield* trim(limits.total)
  return true
})

function* find(id: string): Command<Row | undefined> {
  return yield* first<Row>('SELECT digest, votes, payers FROM settled_listings WHERE id = $1 FOR UPDATE', id)
}

function* count(text: string, ...values: string[]): Command<number> {
  const row = yield* first<{ count: number | string }>(text, ...values)
  return Number(row?.count ?? 0)
}

/** What the settlement adds to the counts. Beyond the payers that are told apart, another new one adds nothing. */
function* countPayer(
  { id, payer, limits, now }: { id: string; payer: string; limits: { readonly payers: number }; now: Millis },
  { payers }: Row,
): Command<{ readonly settlements: 0 | 1; readonly payers: 0 | 1 }> {
  const day = Math.floor(now / A_DAY_MS)
  const known = yield* first<{ lastDay: number }>(
    'SELECT last_day AS "lastDay" FROM settled_listing_payers WHERE listing_id = $1 AND payer = $2',
    id,
    payer,
  )
  if (!known) {
    if (payers >= limits.payers) return { settlements: 0, payers: 0 }
    yield* all(
      'INSERT INTO settled_listing_payers (listing_id, payer, last_day) VALUES ($1, $2, $3)',
      id,
      payer,
      day,
    )
    return { settlements: 1, payers: 1 }
  }
  if (known.lastDay >= day) return { settlements: 0, payers: 0 }
  yield* all(
    'UPDATE settled_listing_payers SET last_day = $1 WHERE listing_id = $2 AND payer = $3',
    day,
    id,
    payer,
  )
  return { settlements: 1, payers: 0 }
}

/** Few are removed at a time: every settlement that adds one removes one. */
const TRIMMED = 5
function* trim(total: number): Command<void> {
  const surplus = (yield* count('SELECT count(*) AS count FROM settled_listings')) - total
  if (surplus <= 0) return
  const gone = yield* all<{ id: string }>(
    `SELECT id FROM settled_listings ORDER BY payers, last_settled, id LIMIT $1`,
    Math.min(surplus, TRIMMED),
  )
  for (const { id } of gone) yield* remove(id)
}

function* remove(id: string): Command<void> {
  yield* all('DELETE FROM settled_listing_payers WHERE listing_id = $1', id)
  yield* all('DELETE FROM settled_listings WHERE id = $1', id)
}

/** Those that were paid since then: most payers first, at most `limit`. */
export const listSettledListings = command({ kind: 'read' })(function* (input: {
  since: Millis
  limit: number
}): Command<readonly StoredSettledListing[]> {
  return yield* all<StoredSettledListing>(
    `SELECT ${LISTING} FROM settled_listings WHERE last_settled >= $1
     ORDER BY payers DESC, first_settled, id LIMIT $2`,
    input.since,
    input.limit,
  )
})

/** Removes up to `limit` that nobody paid for since then, with their payers. @returns how many */
export const forgetSettledListings = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  notSettledSince: Millis
  limit: number
}): Command<number> {
  const old = yield* all<{ id: string }>(
    'SELECT id FROM settled_listings WHERE last_settled < $1 ORDER BY last_settled LIMIT $2 FOR UPDATE',
    input.notSettledSince,
    input.limit,
  )
  for (const { id } of old) yield* remove(id)
  return old.length
})
