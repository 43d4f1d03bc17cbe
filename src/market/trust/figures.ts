// What is said of a service: counted from receipts and from our own looks, never claimed.
import type { MarketFigures, MarketNetwork } from '../../../schemas/market.ts'
import { percentileOf } from '../../lib/histogram.ts'
import { toTimestampOrNull } from '../../lib/timestamp.ts'
import { LATENCY_BOUNDS_MS } from '../../store/market-trust-tables.ts'
import type { ExcludedPayers, ServiceDays, ServiceStanding } from '../../store/ports.ts'

export interface FigureContext {
  readonly network: MarketNetwork
  /** When they were computed; null: not yet. */
  readonly at: number | null
  readonly provenDaysAgo?: number
}

/**
 * @param standing since the listing began; undefined where nobody has called it
 * @param days of the window, together
 */
export function figuresOf(
  standing: ServiceStanding | undefined,
  days: ServiceDays | undefined,
  { network, at, provenDaysAgo }: FigureContext,
): MarketFigures {
  const failures = days?.failures ?? NO_FAILURES
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  const settled = days?.settled ?? 0
  const probes = (days?.probesUp ?? 0) + (days?.probesDown ?? 0)
  const ratings = standing?.ratings ?? 0
  return {
    environment: network === 'eip155:8453' ? 'live' : 'test',
    settled_calls: standing?.settled ?? 0,
    unique_payers: standing?.payers ?? 0,
    repeat_payers: standing?.repeatPayers ?? 0,
    volume_atomic: String(standing?.volume ?? 0),
    excluded: {
      self_payments: describeExcluded(standing?.excluded.self),
      funded_by_seller: describeExcluded(standing?.excluded.funded),
      one_funder: describeExcluded(standing?.excluded.ring),
    },
    last_30_days: {
      settled_calls: settled,
      failed_calls: failed,
      failures,
      success_rate: successRateOf(days),
      p50_ms: percentile(days, 0.5),
      p95_ms: percentile(days, 0.95),
      volume_atomic: String(days?.volume ?? 0),
      refunds: days?.refunds ?? 0,
      refunded_atomic: String(days?.refunded ?? 0),
    },
    uptime_30_days: shareOf(days?.probesUp ?? 0, probes),
    probes_30_days: probes,
    ratings: {
      count: ratings,
      average: ratings === 0 || !standing ? null : Math.round((standing.ratingSum / ratings) * 100) / 100,
    },
    days_since_proof: provenDaysAgo ?? null,
    challenge_score: standing?.challengeScore ?? null,
    computed_at: toTimestampOrNull(at),
  }
}

const NO_FAILURES = { unreachable: 0, timeout: 0, status: 0, answer: 0, schema: 0 }

const describeExcluded = (
  { payers, calls, volume }: ExcludedPayers = { payers: 0, calls: 0, volume: 0 },
) => ({
  payers,
  calls,
  volume_atomic: String(volume),
})

/** Four digits; null where there is nothing to divide by. */
const shareOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000

/** The upper bound of the bucket that holds so much of the calls; null without calls. */
export const percentile = (days: Pick<ServiceDays, 'latencies'> | undefined, share: number): number | null =>
  days ? percentileOf(days.latencies, LATENCY_BOUNDS_MS, share) : null

/** Null where nothing was called. */
export function successRateOf(days: ServiceDays | undefined): number | null {
  if (!days) return null
  const { unreachable, timeout, status, answer, schema } = days.failures
  return shareOf(days.settled, days.settled + unreachable + timeout + status + answer + schema)
}
