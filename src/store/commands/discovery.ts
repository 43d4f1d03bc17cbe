// Resources of others, as discovery keeps them, and the claim that pays under a one-time account reference.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { ClaimState } from '../ports/payments.ts'
import type { DiscoveredResource } from '../ports/records.ts'

// resources --------------------------------------------------------------------------------------------------------

/** Ids that one SELECT asks for; a shorter list repeats its last one, so that there is one statement to prepare. */
const BATCH = 50
/** How old `last_seen` may get before it is worth a write. */
const SEEN_GRAIN_MS = 3600 * 1000

const fields = ['id', 'firstSeen', 'lastSeen', 'prices', 'liveness'] as const
const RESOURCE = columns(fields)
const FIND_BATCH = `SELECT ${RESOURCE} FROM discovery_resources
  WHERE id IN (${Array.from({ length: BATCH }, (_, i) => `$${i + 1}`).join(', ')}) ORDER BY id FOR UPDATE`
const INSERT = `${insertInto('discovery_resources', fields)} ON CONFLICT (id) DO NOTHING RETURNING id`
const UPDATE = 'UPDATE discovery_resources SET last_seen = $1, prices = $2 WHERE id = $3'

interface ResourceRow {
  readonly id: string
  readonly firstSeen: Millis
  readonly lastSeen: Millis
  readonly prices: string
  readonly liveness: string | null
}
type Price = DiscoveredResource['prices'][number]
const toResource = ({ prices, ...row }: ResourceRow): DiscoveredResource => ({
  ...row,
  prices: JSON.parse(prices) as Price[],
})

/**
 * Keeps what a catalogue lists: `firstSeen` once, and every price that differs from the last one (the
 * newest `keepPrices`). Returns what is known of each, liveness included.
 */
export const seeResources = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  seen: readonly { id: string; price: string }[]
  keepPrices: number
  now: Millis
}): Command<readonly DiscoveredResource[]> {
  const { keepPrices, now } = input
  // The order is the same everywhere, so that two processes that see the same catalogue wait for each other once.
  const seen = [...input.seen].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  const found: DiscoveredResource[] = []
  for (let start = 0; start < seen.length; start += BATCH) {
    const batch = seen.slice(start, start + BATCH)
    for (const { id, price } of yield* missing(batch))
      yield* all(INSERT, id, now, now, JSON.stringify([{ at: now, price }]), null)
    const rows = yield* findBatch(batch.map(({ id }) => id))
    for (const { id, price } of batch) {
      const row = rows.get(id)
      // Another process has removed it in between; the next look adds it again.
      if (!row) continue
      const isNews = row.prices.at(-1)?.price !== price
      if (!isNews && now - row.lastSeen < SEEN_GRAIN_MS) {
        found.push(row)
        continue
      }
      const prices = isNews ? [...row.prices, { at: now, price }].slice(-keepPrices) : row.prices
      yield* all(UPDATE, now, JSON.stringify(prices), id)
      found.push({ ...row, lastSeen: now, prices })
    }
  }
  return found
})

function* findBatch(ids: readonly string[]): Command<Map<string, DiscoveredResource>> {
  const last = ids.at(-1) ?? ''
  const padded = Array.from({ length: BATCH }, (_, i) => ids[i] ?? last)
  const rows = yield* all<ResourceRow>(FIND_BATCH, ...padded)
  return new Map(rows.map((row) => [row.id, toResource(row)]))
}

function* missing<T extends { id: string }>(batch: readonly T[]): Command<readonly T[]> {
  const rows = yield* findBatch(batch.map(({ id }) => id))
  return batch.filter(({ id }) => !rows.has(id))
}

/** Records what our own look at a resource found; nothing happens when the resource is unknown. */
export const recordLiveness = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  liveness: string
}): Command<void> {
  const { id, liveness } = input
  yield* all('UPDATE discovery_resources SET liveness = $1 WHERE id = $2', liveness, id)
})

/** Removes up to `limit` that no catalogue listed since then, and up to `limit` beyond the newest `keep`. */
export const forgetResources = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  notSeenSince: Millis
  keep: number
  limit: number
}): Command<number> {
  const { notSeenSince, keep, limit } = input
  const old = yield* all(
    `DELETE FROM discovery_resources WHERE id IN (
       SELECT id FROM discovery_resources WHERE last_seen < $1 ORDER BY last_seen LIMIT $2
     ) RETURNING id`,
    notSeenSince,
    limit,
  )
  const beyond = yield* all(
    `DELETE FROM discovery_resources WHERE id IN (
       SELECT id FROM discovery_resources ORDER BY last_seen DESC, id LIMIT $1 OFFSET $2
     ) RETURNING id`,
    limit,
    keep,
  )
  return old.length + beyond.length
})

// account references -----------------------------------------------------------------------------------------------

/** References expire after minutes; a day later nobody needs to know who used one. */
const REFERENCE_KEPT_MS = 24 * 3600 * 1000
const REFERENCES_SWEPT = 10

type Taken = { ok: true } | { ok: false; claim: { id: string; state: ClaimState } }
/**
 * Binds a one-time account reference to the claim that pays by it; again for the same claim is fine. Another claim
 * that holds it is named, unless that one was canceled or failed: then the reference is free again.
 */
export const takeReference = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  claimId: string
  now: Millis
}): Command<Taken> {
  const { id, claimId, now } = input
  yield* all(
    `DELETE FROM purchase_references WHERE id IN (
       SELECT id FROM purchase_references WHERE created_at < $1 ORDER BY created_at LIMIT $2
     )`,
    now - REFERENCE_KEPT_MS,
    REFERENCES_SWEPT,
  )
  const taken = yield* first(
    `INSERT INTO purchase_references (id, claim_id, created_at) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    id,
    claimId,
    now,
  )
  if (taken) return { ok: true }
  const holder = yield* first<{ claimId: string }>(
    'SELECT claim_id AS "claimId" FROM purchase_references WHERE id = $1 FOR UPDATE',
    id,
  )
  const claim = yield* first<{ id: string; state: ClaimState }>(
    'SELECT id, state FROM payment_claims WHERE id = $1',
    holder?.claimId,
  )
  const isFree = claim === undefined || claim.state === 'canceled' || claim.state === 'failed'
  if (!isFree) return claim.id === claimId ? { ok: true } : { ok: false, claim: { ...claim } }
  yield* all('UPDATE purchase_references SET claim_id = $1 WHERE id = $2', claimId, id)
  return { ok: true }
})
