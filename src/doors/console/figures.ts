// Counts of attempts as charts and tables show them: by time, by host, by reason.
import { percentileOf } from '../../lib/histogram.ts'
import type { AttemptCount, AttemptFigures } from '../../store/ports.ts'
import { UPSTREAM_BOUNDS_MS } from '../../store/ports/figures.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What may be looked back on, and how long one bar of it is. */
export const SPANS = {
  hour: { ms: HOUR, slotMs: MINUTE },
  day: { ms: DAY, slotMs: 30 * MINUTE },
  week: { ms: 7 * DAY, slotMs: 4 * HOUR },
  month: { ms: 30 * DAY, slotMs: DAY },
} as const
export type Span = keyof typeof SPANS

export const isSpan = (text: string | null): text is Span => text !== null && text in SPANS

export interface Took {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface HostFigures extends Took {
  readonly host: string
  readonly attempts: number
  readonly settled: number
  /** Answered with 500 to 599. */
  readonly broken: number
  readonly ambiguous: number
  readonly refunded: number
}

export interface AttemptCharts extends Took {
  readonly slots: readonly ({
    /** Milliseconds since the epoch. */
    readonly at: number
    readonly settled: number
    /** Ended in any other way. */
    readonly others: number
  } & Took)[]
  readonly attempts: number
  readonly settled: number
  readonly ambiguous: number
  readonly refunded: number
  /** Most attempts first, at most MOST_HOSTS. */
  readonly hosts: readonly HostFigures[]
  /** Why attempts did not settle, most frequent first. */
  readonly reasons: readonly { readonly outcome: string; readonly count: number }[]
}

const MOST_HOSTS = 25
const MOST_REASONS = 12

const sum = (rows: readonly AttemptCount[], fits: (row: AttemptCount) => boolean = () => true) =>
  rows.reduce((all, row) => all + (fits(row) ? row.count : 0), 0)
const isSettled = ({ state }: AttemptCount) => state === 'settled'
const isAmbiguous = ({ state }: AttemptCount) => state === 'ambiguous'
const isRefunded = ({ state }: AttemptCount) => state === 'refunded'

/** How long upstreams took, of those that answered. */
function tookOf(rows: readonly AttemptCount[]): Took {
  const counts = UPSTREAM_BOUNDS_MS.map(() => 0)
  for (const { took, count, state } of rows)
    if (took >= 0 && state === 'settled') counts[took] = (counts[took] ?? 0) + count
  const at = (share: number) => percentileOf(counts, UPSTREAM_BOUNDS_MS, share)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** @param now end of the last slot, which has not ended */
export function chartsOf({ rows }: Pick<AttemptFigures, 'rows'>, span: Span, now: number): AttemptCharts {
  const { ms, slotMs } = SPANS[span]
  const last = Math.floor(now / slotMs)
  const bySlot = Map.groupBy(rows, ({ slot }) => slot)
  const slots = Array.from({ length: ms / slotMs }, (_, at) => {
    const slot = last - ms / slotMs + 1 + at
    const its = bySlot.get(slot) ?? []
    const settled = sum(its, isSettled)
    return { at: slot * slotMs, settled, others: sum(its) - settled, ...tookOf(its) }
  })
  const hosts = [...Map.groupBy(rows, ({ host }) => host)]
    .map(([host, its]) => ({
      host,
      attempts: sum(its),
      settled: sum(its, isSettled),
      broken: sum(its, (row) => isSettled(row) && row.statusClass === 5),
      ambiguous: sum(its, isAmbiguous),
      refunded: sum(its, isRefunded),
      ...tookOf(its),
    }))
    .toSorted((a, b) => b.attempts - a.attempts)
  const failed = rows.filter((row) => isAmbiguous(row) || isRefunded(row))
  return {
    slots,
    attempts: sum(rows),
    settled: sum(rows, isSettled),
    ambiguous: sum(rows, isAmbiguous),
    refunded: sum(rows, isRefunded),
    ...tookOf(rows),
    hosts: hosts.slice(0, MOST_HOSTS),
    reasons: [...Map.groupBy(failed, ({ outcome }) => outcome ?? 'unknown')]
      .map(([outcome, its]) => ({ outcome, count: sum(its) }))
      .toSorted((a, b) => b.count - a.count)
      .slice(0, MOST_REASONS),
  }
}
