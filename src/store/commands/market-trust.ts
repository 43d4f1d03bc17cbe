// What is counted of each service: calls as they end, payers, refunds, our own looks. One batch holds the calls of a moment, so that a
// service with many of them costs a few statements. Locks: days, then payers, then standings, each in the order of its key.
import { all, columns, type Command, command, first, type SqlValue } from '../command.ts'
import { FAILURE_KINDS, LATENCY_BOUNDS_MS } from '../market-trust-tables.ts'
import type {
  ExcludedPayers,
  PayerExclusion,
  ServiceDay,
  ServiceDays,
  ServiceFailure,
  ServiceRef,
  ServiceOutcome,
  ServiceStanding,
} from '../ports/market.ts'
import type { Millis } from '../model.ts'
import { bucketOf, DAY_MS, dayOf, markCounted } from './market-counted.ts'

const EXCLUSIONS: readonly PayerExclusion[] = ['self', 'funded', 'ring']
const BUCKETS = LATENCY_BOUNDS_MS.map((_, at) => `b${at}`)
const DAY_COUNTERS = [
  'settled',
  'volume',
  ...FAILURE_KINDS.map((kind) => `failed_${kind}`),
  'refunds',
  'refunded',
  'probes_up',
  'probes_down',
  ...BUCKETS,
]
const KEY = ['seller_id', 'service_id', 'environment']
/** Rows of one page of standings. */
const MAX_PAGE = 500

export type Settled = Extract<ServiceOutcome, { kind: 'settled' }>
export type Counters = Map<string, number>

/**
 * Adds the outcomes to days, payers and standings, which change at `now`, however late an outcome is written. A paid call counts if its
 * sale is booked and nobody has counted it, so that the same outcomes again change nothing of those.
 */
export const recordServiceOutcomes = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  outcomes: readonly ServiceOutcome[]
  now: Millis
}): Command<void> {
  const sold = yield* markCounted(input.outcomes.filter(isSettled))
  yield* countOutcomes([...input.outcomes.filter((outcome) => !isSettled(outcome)), ...sold], input.now)
})
const isSettled = (outcome: ServiceOutcome): outcome is Settled => outcome.kind === 'settled'

/** For commands: counts what is marked, or needs no mark. */
export function* countOutcomes(outcomes: readonly ServiceOutcome[], now: Millis): Command<void> {
  yield* addToDays(outcomes)
  const standings = new Map<string, { key: ServiceRef; counters: Counters }>()
  const standingOf = (outcome: ServiceOutcome) => {
    const name = nameOf(outcome)
    const known = standings.get(name) ?? { key: outcome, counters: new Map<string, number>() }
    standings.set(name, known)
    return known.counters
  }
  for (const outcome of outcomes) {
    const counters = standingOf(outcome)
    if (outcome.kind === 'up' || outcome.kind === 'down')
      counters.set('probed_at', Math.max(outcome.at, counters.get('probed_at') ?? 0))
  }
  for (const [, calls] of byName(outcomes.filter(isSettled), (one) => `${nameOf(one)} ${one.payer}`)) {
    const [one] = calls
    if (one) yield* addToPayer(one, calls, standingOf(one))
  }
  for (const [, { key, counters }] of [...standings].sort(byText)) yield* addToStanding(key, now, counters)
}

function* addToDays(outcomes: readonly ServiceOutcome[]): Command<void> {
  for (const [, those] of byName(outcomes, (one) => `${nameOf(one)} ${dayOf(one.at)}`)) {
    const [one] = those
    if (!one) continue
    const counters: Counters = new Map()
    for (const outcome of those) countInDay(outcome, (name, by) => add(counters, name, by))
    const names = [...counters.keys()]
    const values = [...keyOf(one), dayOf(one.at), ...counters.values()]
    yield* all(
      `INSERT INTO market_day_stats (${[...KEY, 'day', ...names].join(', ')}) VALUES (${placeholders(values)})
       ON CONFLICT (${KEY.join(', ')}, day) DO UPDATE SET
       ${names.map((name) => `${name} = market_day_stats.${name} + excluded.${name}`).join(', ')}`,
      ...values,
    )
  }
}

function countInDay(outcome: ServiceOutcome, count: (name: string, by: number) => void): void {
  switch (outcome.kind) {
    case 'settled': {
      count('settled', 1)
      count('volume', outcome.amount)
      const bucket = bucketOf(outcome.latencyMs)
      if (bucket !== null) count(`b${bucket}`, 1)
      return
    }
    case 'refunded':
      count('refunds', 1)
      return count('refunded', outcome.amount)
    case 'up':
      return count('probes_up', 1)
    case 'down':
      return count('probes_down', 1)
    default:
      return count(`failed_${outcome.kind}`, 1)
  }
}

/** Counts the calls of one payer, and what they change of the standing: a new payer, one that came again, or nothing that counts. */
function* addToPayer(one: Settled, calls: readonly Settled[], counters: Counters): Command<void> {
  const volume = calls.reduce((sum, { amount }) => sum + amount, 0)
  const at = Math.max(...calls.map((call) => call.at))
  const isSelf = calls.some((call) => call.isSelf)
  const row = yield* first<{ calls: number; exclusion: PayerExclusion | null }>(
    `INSERT INTO market_payers (${KEY.join(', ')}, payer, calls, volume, exclusion, first_at, last_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (${KEY.join(', ')}, payer) DO UPDATE SET calls = market_payers.calls + excluded.calls,
       volume = market_payers.volume + excluded.volume, last_at = excluded.last_at,
       checked_at = CASE WHEN market_payers.checked_at < $10 THEN 0 ELSE market_payers.checked_at END
     RETURNING calls, exclusion`,
    ...keyOf(one),
    one.payer,
    calls.length,
    volume,
    isSelf ? 'self' : null,
    at,
    at,
    // Whose money it pays with is looked up again.
    at - 7 * DAY_MS,
  )
  const after = row?.calls ?? calls.length
  const before = after - calls.length
  const exclusion = row?.exclusion ?? null
  const isNew = before === 0 ? 1 : 0
  if (exclusion === null) {
    add(counters, 'settled', calls.length)
    add(counters, 'volume', volume)
    add(counters, 'payers', isNew)
    add(counters, 'repeat_payers', before < 2 && after >= 2 ? 1 : 0)
  } else {
    add(counters, `${exclusion}_payers`, isNew)
    add(counters, `${exclusion}_calls`, calls.length)
    add(counters, `${exclusion}_volume`, volume)
  }
}

/** Readers remember how far they have read: a change is never older than one before it. */
const LATEST_CHANGE = `changed_at = CASE WHEN excluded.changed_at > market_standings.changed_at THEN excluded.changed_at
  ELSE market_standings.changed_at END`

/** `probed_at` is a time and not a count: it is set. */
export function* addToStanding(key: ServiceRef, at: Millis, counters: Counters): Command<void> {
  const names = [...counters.keys()]
  const values = [...keyOf(key), at, ...counters.values()]
  const next = (name: string) =>
    name === 'probed_at'
      ? `probed_at = excluded.probed_at`
      : `${name} = market_standings.${name} + excluded.${name}`
  yield* all(
    `INSERT INTO market_standings (${[...KEY, 'changed_at', ...names].join(', ')}) VALUES (${placeholders(values)})
     ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET
     ${[LATEST_CHANGE, ...names.map(next)].join(', ')}`,
    ...values,
  )
}

/** A service, and the network on which it was paid. */
export interface CountedService {
  readonly sellerId: string
  readonly serviceId: string
  readonly network: string
}

/** For commands: a refund of a sale that left on a day, or (`sign` -1) that its chain took back. */
export function* countRefund(
  service: CountedService,
  { amount, sign, day, now }: { amount: number; sign: 1 | -1; day: number; now: Millis },
): Command<void> {
  const key = refOf(service)
  yield* all(
    `INSERT INTO market_day_stats (${KEY.join(', ')}, day, refunds, refunded) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (${KEY.join(', ')}, day) DO UPDATE SET refunds = market_day_stats.refunds + excluded.refunds,
       refunded = market_day_stats.refunded + excluded.refunded`,
    ...keyOf(key),
    day,
    sign,
    sign * amount,
  )
  yield* addToStanding(key, now, new Map())
}

/** Whose figures a sale counts in. */
export const refOf = ({ sellerId, serviceId, network }: CountedService): ServiceRef => ({
  sellerId,
  serviceId,
  environment: network === TEST_NETWORK ? 'test' : 'live',
})
const TEST_NETWORK = 'eip155:84532'

const STANDING = columns([
  'sellerId',
  'serviceId',
  'environment',
  'settled',
  'volume',
  'payers',
  'repeatPayers',
  ...EXCLUSIONS.flatMap((why) => [`${why}Payers`, `${why}Calls`, `${why}Volume`]),
  'ratings',
  'ratingSum',
  'challengeScore',
  'probedAt',
  'changedAt',
])
type StandingRow = Omit<ServiceStanding, 'excluded'> & Readonly<Record<string, number>>

/** The standing of one service; undefined where nobody has called it or looked at it. */
export const findServiceStanding = command({ kind: 'read' })(function* (
  key: ServiceRef,
): Command<ServiceStanding | undefined> {
  const row = yield* first<StandingRow>(
    `SELECT ${STANDING} FROM market_standings WHERE seller_id = $1 AND service_id = $2 AND environment = $3`,
    ...keyOf(key),
  )
  return row && toStanding(row)
})

/**
 * Those that changed since then, oldest change first.
 * @param input.since inclusive: several may change in one millisecond
 * @param input.after the last one of the page before
 */
export const listServiceStandings = command({ kind: 'read' })(function* (input: {
  since: Millis
  after?: Pick<ServiceStanding, 'sellerId' | 'serviceId' | 'environment' | 'changedAt'>
  limit: number
}): Command<readonly ServiceStanding[]> {
  const { since, after, limit } = input
  const rows = yield* all<StandingRow>(
    `SELECT ${STANDING} FROM market_standings
     WHERE changed_at >= $1 AND (changed_at, seller_id, service_id, environment) > ($2, $3, $4, $5)
     ORDER BY changed_at, seller_id, service_id, environment LIMIT $6`,
    since,
    after?.changedAt ?? -1,
    ...(after ? keyOf(after) : ['', '', '']),
    Math.min(limit, MAX_PAGE),
  )
  return rows.map(toStanding)
})

type DayRow = Readonly<Record<string, number>> & { readonly sellerId: string; readonly serviceId: string }

/** The days of one service since then, oldest first. */
export const listServiceDays = command({ kind: 'read' })(function* (
  input: ServiceRef & { sinceDay: number },
): Command<readonly ServiceDay[]> {
  const rows = yield* all<DayRow & { day: number }>(
    `SELECT seller_id AS "sellerId", service_id AS "serviceId", day, ${DAY_COUNTERS.join(', ')} FROM market_day_stats
     WHERE seller_id = $1 AND service_id = $2 AND environment = $3 AND day >= $4 ORDER BY day`,
    ...keyOf(input),
    input.sinceDay,
  )
  return rows.map((row) => ({ day: row.day, ...toDays(row) }))
})

/** Sums the days of several services since then: an array beside `keys`. Each costs as much as it has days. */
export const sumServiceDays = command({ kind: 'read' })(function* (input: {
  keys: readonly ServiceRef[]
  sinceDay: number
}): Command<readonly (ServiceDays | undefined)[]> {
  const found: (ServiceDays | undefined)[] = []
  for (const key of input.keys) {
    const row = yield* first<DayRow & { days: number }>(
      `SELECT count(*) AS days, ${DAY_COUNTERS.map((name) => `CAST(COALESCE(sum(${name}), 0) AS BIGINT) AS ${name}`).join(', ')}
       FROM market_day_stats WHERE seller_id = $1 AND service_id = $2 AND environment = $3 AND day >= $4`,
      ...keyOf(key),
      input.sinceDay,
    )
    found.push(row && Number(row.days) > 0 ? toDays(row) : undefined)
  }
  return found
})

function toStanding(row: StandingRow): ServiceStanding {
  const excluded = (why: PayerExclusion): ExcludedPayers => ({
    payers: row[`${why}Payers`] ?? 0,
    calls: row[`${why}Calls`] ?? 0,
    volume: row[`${why}Volume`] ?? 0,
  })
  return {
    sellerId: row.sellerId,
    serviceId: row.serviceId,
    environment: row.environment,
    settled: row.settled,
    volume: row.volume,
    payers: row.payers,
    repeatPayers: row.repeatPayers,
    excluded: { self: excluded('self'), funded: excluded('funded'), ring: excluded('ring') },
    ratings: row.ratings,
    ratingSum: row.ratingSum,
    challengeScore: row.challengeScore,
    probedAt: row.probedAt,
    changedAt: row.changedAt,
  }
}

function toDays(row: Readonly<Record<string, unknown>>): ServiceDays {
  const count = (name: string) => Number(row[name] ?? 0)
  return {
    settled: count('settled'),
    volume: count('volume'),
    failures: Object.fromEntries(FAILURE_KINDS.map((kind) => [kind, count(`failed_${kind}`)])) as Record<
      ServiceFailure,
      number
    >,
    refunds: count('refunds'),
    refunded: count('refunded'),
    probesUp: count('probes_up'),
    probesDown: count('probes_down'),
    latencies: BUCKETS.map(count),
  }
}

export const keyOf = ({ sellerId, serviceId, environment }: ServiceRef) => [sellerId, serviceId, environment]
const nameOf = (key: ServiceRef) => keyOf(key).join(' ')
const placeholders = (values: readonly SqlValue[]) => values.map((_, at) => `$${at + 1}`).join(', ')
const byText = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) =>
  a < b ? -1 : a > b ? 1 : 0

export function add(counters: Counters, name: string, by: number): void {
  if (by !== 0) counters.set(name, (counters.get(name) ?? 0) + by)
}

/** Groups in the order of their names, which is the order of locks. */
const byName = <T>(items: readonly T[], nameOfItem: (item: T) => string): [string, T[]][] =>
  [...Map.groupBy(items, nameOfItem)].sort(byText)
