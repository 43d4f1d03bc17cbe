// Counts the calls of the last hour in memory, by minute: how many delivered and how fast, how many were refused and why. It keeps numbers
// under names that this house gave (tools, doors, codes), so its size is bounded and nothing of a caller is in it.
import { bucketOf, percentileOf } from '../lib/histogram.ts'
import { LATENCY_BOUNDS_MS as MARKET_BOUNDS_MS } from '../store/market-trust-tables.ts'
import type { CallCounts, CallWatch, LastHour, RecentCalls } from './call-watch.ts'
import type { ErrorCode } from './errors.ts'
import type { CallDoor } from './context.ts'

const MINUTES = 60
const MINUTE_MS = 60_000

/** The buckets of the market's figures, and finer ones below them: most calls of a gateway wait for nobody. */
export const CALL_BOUNDS_MS: readonly number[] = [1, 2, 5, 10, 25, ...MARKET_BOUNDS_MS]
const BUCKETS = CALL_BOUNDS_MS.length

/** One number for each minute of the ring. */
type Ring = Uint32Array

/** 5 KB for each tool that was called, and 240 bytes for each code and door that it was refused with and called through. */
interface ToolSeries {
  /** One number for each minute and bucket, of calls that delivered. */
  readonly latencies: Uint32Array
  readonly refusals: Map<ErrorCode, Ring>
  readonly doors: Map<CallDoor, Ring>
}

/** @param now of a clock that may be set: time that goes back counts in the newest minute */
export function createRecentCalls({ now }: { readonly now: () => number }): CallWatch & RecentCalls {
  const startedAt = now()
  const tools = new Map<string, ToolSeries>()
  let newest = minuteOf(startedAt)

  /** Empties the minutes that began since, in which the ring still holds those of an hour ago. */
  function turn(): void {
    const minute = minuteOf(now())
    if (minute <= newest) return
    const from = Math.max(newest + 1, minute - MINUTES + 1)
    for (const { latencies, refusals, doors } of tools.values())
      for (let at = from; at <= minute; at++) {
        const slot = at % MINUTES
        latencies.fill(0, slot * BUCKETS, (slot + 1) * BUCKETS)
        for (const ring of refusals.values()) ring[slot] = 0
        for (const ring of doors.values()) ring[slot] = 0
      }
    newest = minute
  }

  function seriesOf(tool: string): ToolSeries {
    let series = tools.get(tool)
    if (!series) {
      series = { latencies: new Uint32Array(MINUTES * BUCKETS), refusals: new Map(), doors: new Map() }
      tools.set(tool, series)
    }
    return series
  }

  return {
    ended(tool, door, code, ms) {
      turn()
      const { latencies, refusals, doors } = seriesOf(tool)
      const slot = newest % MINUTES
      increment(ringOf(doors, door), slot)
      if (code === undefined) increment(latencies, slot * BUCKETS + bucketOf(ms, CALL_BOUNDS_MS))
      else increment(ringOf(refusals, code), slot)
    },

    lastHour(isCounted): LastHour {
      turn()
      const counted = [...tools].filter(([tool]) => isCounted(tool))
      const first = Math.max(newest - MINUTES + 1, minuteOf(startedAt))
      const minutes = Array.from({ length: newest - first + 1 }, (_, at) => first + at)
      const all = countsOf(
        counted.map(([, series]) => series),
        minutes,
      )
      return {
        since: Math.max(startedAt, first * MINUTE_MS),
        ...all,
        minutes: minutes.map((minute) => ({
          at: minute * MINUTE_MS,
          ...countsOf(
            counted.map(([, series]) => series),
            [minute],
          ),
        })),
        tools: counted
          .map(([tool, series]) => ({ tool, ...countsOf([series], minutes) }))
          .filter(({ delivered, refused }) => delivered + refused > 0)
          .toSorted((a, b) => b.delivered + b.refused - (a.delivered + a.refused)),
        refusals: totals(counted.map(([, { refusals }]) => refusals)).map(([code, count]) => ({
          code,
          count,
        })),
        doors: totals(counted.map(([, { doors }]) => doors)).map(([door, count]) => ({ door, count })),
      }
    },
  }
}

const minuteOf = (ms: number) => Math.floor(ms / MINUTE_MS)

const increment = (counts: Uint32Array, at: number) => {
  counts[at] = (counts[at] ?? 0) + 1
}

function ringOf<K>(rings: Map<K, Ring>, key: K): Ring {
  let ring = rings.get(key)
  if (!ring) {
    ring = new Uint32Array(MINUTES)
    rings.set(key, ring)
  }
  return ring
}

const sum = (counts: Iterable<number>) => {
  let all = 0
  for (const count of counts) all += count
  return all
}

/** What several tools did in these minutes together. */
function countsOf(series: readonly ToolSeries[], minutes: readonly number[]): CallCounts {
  const latencies = CALL_BOUNDS_MS.map(() => 0)
  let refused = 0
  for (const tool of series)
    for (const minute of minutes) {
      const slot = minute % MINUTES
      for (let bucket = 0; bucket < BUCKETS; bucket++)
        latencies[bucket] = (latencies[bucket] ?? 0) + (tool.latencies[slot * BUCKETS + bucket] ?? 0)
      for (const ring of tool.refusals.values()) refused += ring[slot] ?? 0
    }
  return {
    delivered: sum(latencies),
    refused,
    p50Ms: percentileOf(latencies, CALL_BOUNDS_MS, 0.5),
    p95Ms: percentileOf(latencies, CALL_BOUNDS_MS, 0.95),
    p99Ms: percentileOf(latencies, CALL_BOUNDS_MS, 0.99),
  }
}

/** What each key was counted, most first. Minutes that have passed hold nothing, so a whole ring may be added up. */
function totals<K>(all: readonly ReadonlyMap<K, Ring>[]): [K, number][] {
  const counts = new Map<K, number>()
  for (const rings of all)
    for (const [key, ring] of rings) counts.set(key, (counts.get(key) ?? 0) + sum(ring))
  return [...counts].filter(([, count]) => count > 0).toSorted(([, a], [, b]) => b - a)
}
