// Hosts and whose they are. `market_host_holders` has one row a host: the first that proves it has it, until the proof is gone.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { MarketHost, NewMarketEvent } from '../ports/market.ts'
import { tellSeller } from './market-events.ts'
import { pauseListingsOf, resumeListingsOf } from './market-listings.ts'

const fields = [
  'sellerId',
  'host',
  'challenge',
  'state',
  'method',
  'signatureKind',
  'signature',
  'payoutAddress',
  'failures',
  'failingSince',
  'problem',
  'provenAt',
  'checkedAt',
  'createdAt',
] as const
const HOST = columns(fields)
const toHost = (row: MarketHost): MarketHost => ({ ...row })

const INSERT = `${insertInto('market_hosts', ['sellerId', 'host', 'challenge', 'state', 'createdAt'])}
  ON CONFLICT (seller_id, host) DO NOTHING RETURNING ${HOST}`

/** Notes that a seller wants to prove a host; again is the same challenge. Undefined beyond `limit` hosts of a seller. */
export const claimHost = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  sellerId: string
  host: string
  challenge: string
  limit: number
  now: Millis
}): Command<MarketHost | undefined> {
  const { sellerId, host, challenge, limit, now } = input
  const before = yield* findHost(sellerId, host)
  if (before) return before
  const held = yield* first<{ hosts: number }>(
    'SELECT count(*) AS hosts FROM market_hosts WHERE seller_id = $1',
    sellerId,
  )
  if (held && held.hosts >= limit) return undefined
  const made = yield* first<MarketHost>(INSERT, sellerId, host, challenge, 'claimed', now)
  return made ? toHost(made) : yield* findHost(sellerId, host)
})

export const findHost = command({ kind: 'lookup' })(function* (
  sellerId: string,
  host: string,
): Command<MarketHost | undefined> {
  const row = yield* first<MarketHost>(
    `SELECT ${HOST} FROM market_hosts WHERE seller_id = $1 AND host = $2`,
    sellerId,
    host,
  )
  return row && toHost(row)
})

export const listHosts = command({ kind: 'read' })(function* (
  sellerId: string,
): Command<readonly MarketHost[]> {
  const rows = yield* all<MarketHost>(
    `SELECT ${HOST} FROM market_hosts WHERE seller_id = $1 ORDER BY host`,
    sellerId,
  )
  return rows.map(toHost)
})

export type HostProven =
  | { readonly ok: true; readonly host: MarketHost; readonly resumed: number }
  /** The seller that proved it first, or undefined where nobody claimed it. */
  | { readonly ok: false; readonly heldBy: string | undefined }

/**
 * The host has shown its challenge, and the payout address has signed its origin. Where another seller holds it nothing changes.
 * What the lost proof paused is sold again.
 */
export const proveHost = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  sellerId: string
  host: string
  method: MarketHost['method']
  signature: { kind: MarketHost['signatureKind']; text: string; address: string }
  event: NewMarketEvent
  now: Millis
}): Command<HostProven> {
  const { sellerId, host, method, signature, event, now } = input
  const before = yield* findHost(sellerId, host)
  if (!before) return { ok: false, heldBy: undefined }
  const holder = yield* holdHost(sellerId, host)
  if (holder !== sellerId) return { ok: false, heldBy: holder }
  const proven = yield* first<MarketHost>(
    `UPDATE market_hosts SET state = 'proven', method = $1, signature_kind = $2, signature = $3, payout_address = $4,
       failures = 0, failing_since = NULL, problem = NULL, proven_at = $5, checked_at = $5
     WHERE seller_id = $6 AND host = $7 RETURNING ${HOST}`,
    method,
    signature.kind,
    signature.text,
    signature.address,
    now,
    sellerId,
    host,
  )
  if (!proven) return { ok: false, heldBy: undefined }
  const resumed = yield* resumeListingsOf({ sellerId, host, eventId: event.id, now })
  // A proof that is there day after day is no news.
  if (before.state !== 'proven' || before.payoutAddress !== signature.address)
    yield* tellSeller(sellerId, event, now)
  return { ok: true, host: toHost(proven), resumed }
})

/** Whose the host is from now on: this seller's, unless another has it. */
function* holdHost(sellerId: string, host: string): Command<string> {
  const taken = yield* first(
    'INSERT INTO market_host_holders (host, seller_id) VALUES ($1, $2) ON CONFLICT (host) DO NOTHING RETURNING host',
    host,
    sellerId,
  )
  if (taken) return sellerId
  const holder = yield* first<{ sellerId: string }>(
    'SELECT seller_id AS "sellerId" FROM market_host_holders WHERE host = $1',
    host,
  )
  return holder?.sellerId ?? sellerId
}

/**
 * Takes proofs whose last look was before then, the oldest first: no two processes look at one, and one that dies in between has
 * looked. Those that failed or lapsed are due earlier; those that were not there since `provenSince` not at all.
 */
export const takeHostsToCheck = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  checkedBefore: Millis
  failingBefore: Millis
  provenSince: Millis
  limit: number
  now: Millis
}): Command<readonly MarketHost[]> {
  const rows = yield* all<MarketHost>(
    `SELECT ${HOST} FROM market_hosts WHERE state <> 'claimed' AND checked_at < $2
       AND (checked_at < $1 OR failures > 0 OR state = 'lapsed') AND (state = 'proven' OR proven_at >= $3)
     ORDER BY checked_at, seller_id, host LIMIT $4 FOR UPDATE`,
    input.checkedBefore,
    Math.max(input.checkedBefore, input.failingBefore),
    input.provenSince,
    input.limit,
  )
  for (const { sellerId, host } of rows)
    yield* all(
      'UPDATE market_hosts SET checked_at = $1 WHERE seller_id = $2 AND host = $3',
      input.now,
      sellerId,
      host,
    )
  return rows.map(toHost)
})

/** A look that could not tell: counted, and the proof holds. */
export const noteHostFailure = command({ kind: 'statement', touches: 'records' })(function* (input: {
  sellerId: string
  host: string
  problem: string
  now: Millis
}): Command<MarketHost | undefined> {
  const { sellerId, host, problem, now } = input
  const row = yield* first<MarketHost>(
    `UPDATE market_hosts SET failures = failures + 1, failing_since = COALESCE(failing_since, $1), problem = $2, checked_at = $1
     WHERE seller_id = $3 AND host = $4 RETURNING ${HOST}`,
    now,
    problem,
    sellerId,
    host,
  )
  return row && toHost(row)
})

/** The proof is gone: the host is free for others, and what is sold from it is paused. The number of listings that were. */
export const lapseHost = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  sellerId: string
  host: string
  problem: string
  /** What the listings say: the gateway's words. */
  reason: string
  event: NewMarketEvent
  now: Millis
}): Command<{ readonly changed: boolean; readonly paused: number }> {
  const { sellerId, host, problem, reason, event, now } = input
  const changed = yield* first(
    `UPDATE market_hosts SET state = 'lapsed', problem = $1, checked_at = $2
     WHERE seller_id = $3 AND host = $4 AND state = 'proven' RETURNING host`,
    problem,
    now,
    sellerId,
    host,
  )
  if (!changed) {
    yield* all(
      'UPDATE market_hosts SET problem = $1, checked_at = $2 WHERE seller_id = $3 AND host = $4',
      problem,
      now,
      sellerId,
      host,
    )
    // What was approved while the proof was going is paused, too.
    return {
      changed: false,
      paused: yield* pauseListingsOf({ sellerId, host, reason, eventId: event.id, now }),
    }
  }
  yield* all('DELETE FROM market_host_holders WHERE host = $1 AND seller_id = $2', host, sellerId)
  const paused = yield* pauseListingsOf({ sellerId, host, reason, eventId: event.id, now })
  yield* tellSeller(sellerId, event, now)
  return { changed: true, paused }
})
