// What is said of a service: counted from receipts and from our own looks.
import type { MarketFigures, MarketNetwork } from '../../../schemas/market.ts'

const NOTHING = { payers: 0, calls: 0, volume_atomic: '0' }

/** The figures of a service that nobody has called. */
export const noFigures = (network: MarketNetwork): MarketFigures => ({
  environment: network === 'eip155:8453' ? 'live' : 'test',
  settled_calls: 0,
  unique_payers: 0,
  repeat_payers: 0,
  volume_atomic: '0',
  excluded: { self_payments: NOTHING, funded_by_seller: NOTHING, one_funder: NOTHING },
  last_30_days: {
    settled_calls: 0,
    failed_calls: 0,
    failures: { unreachable: 0, timeout: 0, status: 0, answer: 0, schema: 0 },
    success_rate: null,
    p50_ms: null,
    p95_ms: null,
    volume_atomic: '0',
    refunds: 0,
    refunded_atomic: '0',
  },
  uptime_30_days: null,
  probes_30_days: 0,
  ratings: { count: 0, average: null },
  days_since_proof: null,
  challenge_score: null,
  computed_at: null,
})
