// Tables of what is said of a service: counted with each call, so that nobody counts at read time.
import type { Dialect } from './dialects.ts'

/** Upper bounds in milliseconds of the buckets `b0` to `b15` of a day's latencies; what takes longer is in the last one. */
export const LATENCY_BOUNDS_MS = [
  50, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000, 20_000, 60_000,
] as const

/** Ways in which a service fails a call that was paid for. */
export const FAILURE_KINDS = ['unreachable', 'timeout', 'status', 'answer', 'schema'] as const

const buckets = (int: string) =>
  LATENCY_BOUNDS_MS.map((_, at) => `b${at} ${int} NOT NULL DEFAULT 0`).join(', ')

/**
 * `environment` is `live` or `test`: test money never counts for anything. A payer's `exclusion` says why what it paid is shown and not
 * counted. `changed_at` of a standing names when anything of it, or of its days, changed last.
 */
export const marketTrustTables = ({ id, int, clustered, plain }: Dialect): readonly string[] => [
  `CREATE TABLE market_day_stats (
    seller_id ${id} NOT NULL,
    service_id ${id} NOT NULL,
    environment ${id} NOT NULL CHECK (environment IN ('live', 'test')),
    day ${int} NOT NULL,
    settled ${int} NOT NULL DEFAULT 0,
    volume ${int} NOT NULL DEFAULT 0,
    ${FAILURE_KINDS.map((kind) => `failed_${kind} ${int} NOT NULL DEFAULT 0`).join(', ')},
    refunds ${int} NOT NULL DEFAULT 0,
    refunded ${int} NOT NULL DEFAULT 0,
    probes_up ${int} NOT NULL DEFAULT 0,
    probes_down ${int} NOT NULL DEFAULT 0,
    ${buckets(int)},
    PRIMARY KEY (seller_id, service_id, environment, day)
  ) ${clustered}`,
  `CREATE TABLE market_payers (
    seller_id ${id} NOT NULL,
    service_id ${id} NOT NULL,
    environment ${id} NOT NULL,
    payer ${id} NOT NULL,
    calls ${int} NOT NULL,
    volume ${int} NOT NULL,
    exclusion TEXT CHECK (exclusion IN ('self', 'funded', 'ring')),
    first_at ${int} NOT NULL,
    last_at ${int} NOT NULL,
    checked_at ${int} NOT NULL DEFAULT 0,
    PRIMARY KEY (seller_id, service_id, environment, payer)
  ) ${clustered}`,
  // Whose money a payer pays with is looked up once, and again when it has paid since.
  `CREATE INDEX market_payers_unchecked ON market_payers (checked_at, payer) WHERE environment = 'live' AND exclusion IS NULL`,
  `CREATE INDEX market_payers_payer ON market_payers (payer, seller_id)`,
  `CREATE TABLE market_funders (
    payer ${id} NOT NULL,
    funder ${id} NOT NULL,
    block ${int} NOT NULL,
    transaction_hash TEXT NOT NULL,
    PRIMARY KEY (payer, funder)
  ) ${clustered}`,
  `CREATE INDEX market_funders_funder ON market_funders (funder, payer)`,
  `CREATE TABLE market_standings (
    seller_id ${id} NOT NULL,
    service_id ${id} NOT NULL,
    environment ${id} NOT NULL,
    settled ${int} NOT NULL DEFAULT 0,
    volume ${int} NOT NULL DEFAULT 0,
    payers ${int} NOT NULL DEFAULT 0,
    repeat_payers ${int} NOT NULL DEFAULT 0,
    ${['self', 'funded', 'ring']
      .flatMap((why) =>
        ['payers', 'calls', 'volume'].map((what) => `${why}_${what} ${int} NOT NULL DEFAULT 0`),
      )
      .join(', ')},
    ratings ${int} NOT NULL DEFAULT 0,
    rating_sum ${int} NOT NULL DEFAULT 0,
    challenge_score ${int},
    probed_at ${int} NOT NULL DEFAULT 0,
    changed_at ${int} NOT NULL,
    PRIMARY KEY (seller_id, service_id, environment)
  ) ${clustered}`,
  `CREATE INDEX market_standings_changed ON market_standings (changed_at, seller_id, service_id, environment)`,
  `CREATE TABLE market_ratings (
    claim_id ${id} PRIMARY KEY,
    seller_id ${id} NOT NULL,
    service_id ${id} NOT NULL,
    payer ${id} NOT NULL,
    rating ${int} NOT NULL CHECK (rating BETWEEN 1 AND 5),
    words TEXT,
    is_counted ${int} NOT NULL CHECK (is_counted IN (0, 1)),
    created_at ${int} NOT NULL
  ) ${plain}`,
  `CREATE INDEX market_ratings_service ON market_ratings (seller_id, service_id, created_at, claim_id)`,
  `CREATE INDEX market_ratings_payer ON market_ratings (payer, seller_id, service_id)`,
]

/** What figures are computed from, and what changed since somebody looked. An address stays a seller's when its payouts go elsewhere. */
export const marketEvidenceTables = ({ id, int, clustered }: Dialect): readonly string[] => [
  `CREATE TABLE market_seller_addresses (
    seller_id ${id} NOT NULL,
    address ${id} NOT NULL,
    since ${int} NOT NULL,
    PRIMARY KEY (seller_id, address)
  ) ${clustered}`,
  `CREATE INDEX market_sellers_updated ON market_sellers (updated_at, id)`,
  `CREATE INDEX market_sales_booked ON market_sales (seller_id, service_id, network, claim_id) WHERE is_booked = 1`,
]
