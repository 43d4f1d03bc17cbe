// Counts of attempts, from which charts are drawn.
import type { AttemptState, Millis } from '../model.ts'

/** Upper bounds of the buckets in which the time of an upstream is counted; whatever took longer is in the last one. Milliseconds. */
export const UPSTREAM_BOUNDS_MS: readonly number[] = [
  10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
]

export interface AttemptCount {
  /** Time since the epoch in lengths of a slot. */
  readonly slot: number
  readonly host: string
  readonly state: AttemptState
  readonly outcome: string | null
  /** 2 for 200 to 299; null where nothing was answered. */
  readonly statusClass: number | null
  /** Index of a bucket of UPSTREAM_BOUNDS_MS; -1 where it was not sent, or has not ended. */
  readonly took: number
  readonly count: number
}

export interface AttemptFigures {
  /** The moment since which attempts were counted: later than asked for where there were too many. */
  readonly since: Millis
  readonly isCut: boolean
  readonly rows: readonly AttemptCount[]
}
