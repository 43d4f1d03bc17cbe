// The port through which the call path tells how each call ended. It hears no caller, no address and no word of the input, so that
// whatever counts calls cannot keep any.
import type { ErrorCode } from './errors.ts'
import type { CallDoor } from './context.ts'

export interface CallWatch {
  /**
   * One call has ended. It is told of every call, so it allocates nothing and never throws.
   * @param code undefined where it delivered
   * @param ms how long it took
   */
  ended(tool: string, door: CallDoor, code: ErrorCode | undefined, ms: number): void
}

/** What a tool, or several together, did in a minute or an hour. */
export interface CallCounts {
  readonly delivered: number
  readonly refused: number
  /** Upper bounds of the buckets that hold half, 95 % and 99 % of the calls that delivered; null without any. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
}

export interface LastHour extends CallCounts {
  /** When counting began, or an hour ago where that is later. */
  readonly since: number
  /** Oldest first; the last one has not ended. */
  readonly minutes: readonly ({ readonly at: number } & CallCounts)[]
  /** Those that were called, most calls first. */
  readonly tools: readonly ({ readonly tool: string } & CallCounts)[]
  /** Most frequent first. */
  readonly refusals: readonly { readonly code: ErrorCode; readonly count: number }[]
  readonly doors: readonly { readonly door: CallDoor; readonly count: number }[]
}

/** The calls of the last hour, as this process saw them. */
export interface RecentCalls {
  /** @param isCounted which tools it speaks of */
  lastHour(isCounted: (tool: string) => boolean): LastHour
}
