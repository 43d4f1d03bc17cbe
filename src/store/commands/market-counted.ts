// Whether figures count a sale is written on the sale itself, in the transaction that counts it: so it is counted once, by whatever
// process, and can be taken out of the very day and bucket again.
import { type Command, first } from '../command.ts'
import { LATENCY_BOUNDS_MS } from '../market-trust-tables.ts'
import type { ServiceOutcome } from '../ports/market.ts'
import type { Millis } from '../model.ts'

export const DAY_MS = 24 * 3600 * 1000
export const dayOf = (at: Millis): number => Math.floor(at / DAY_MS)

/** @returns the bucket of a latency, the last one for what is above every bound; null where nobody knows it */
export function bucketOf(latencyMs: number | null): number | null {
  if (latencyMs === null) return null
  const at = LATENCY_BOUNDS_MS.findIndex((bound) => latencyMs <= bound)
  return at === -1 ? LATENCY_BOUNDS_MS.length - 1 : at
}

type Settled = Extract<ServiceOutcome, { kind: 'settled' }>

const MARK = `UPDATE market_sales SET counted_day = $1, counted_bucket = $2
  WHERE claim_id = $3 AND is_booked = 1 AND counted_day IS NULL RETURNING claim_id`

/**
 * Marks the sales of these calls as counted, in the order of their ids, which is the order of locks.
 * @returns those that are the caller's to count: booked, and counted by nobody before
 */
export function* markCounted(calls: readonly Settled[]): Command<readonly Settled[]> {
  const marked: Settled[] = []
  for (const call of calls.toSorted((one, other) => (one.claimId < other.claimId ? -1 : 1)))
    if (yield* first(MARK, dayOf(call.at), bucketOf(call.latencyMs), call.claimId)) marked.push(call)
  return marked
}
