// When to leave an upstream alone, and when to ask it again. Pure: time is an argument.

export type BreakerState = 'closed' | 'open' | 'half_open'

export interface Breaker {
  state(now: number): BreakerState
  /** Whether a call may go out now. In `half_open` one may, and the next one a while after it. */
  admits(now: number): boolean
  record(ok: boolean, now: number): void
}

/** Consecutive failures that open it. */
const FAILURES = 3
const BACKOFF_MS = 5_000
const MAX_BACKOFF_MS = 300_000
/** A probe of which nothing was heard does not keep the next one from being made. */
const PROBE_MS = 10_000

export function createBreaker(): Breaker {
  let failures = 0
  let backoffMs = BACKOFF_MS
  let openUntil: number | undefined
  let probedAt: number | undefined

  const state = (now: number): BreakerState =>
    openUntil === undefined ? 'closed' : now < openUntil ? 'open' : 'half_open'
  return {
    state,
    admits(now) {
      const is = state(now)
      if (is !== 'half_open') return is === 'closed'
      if (probedAt !== undefined && now < probedAt + PROBE_MS) return false
      probedAt = now
      return true
    },
    record(ok, now) {
      if (ok) {
        failures = 0
        backoffMs = BACKOFF_MS
        openUntil = probedAt = undefined
        return
      }
      failures++
      // Late answers of calls that left before it opened say nothing new.
      if (state(now) === 'open') return
      if (openUntil === undefined && failures < FAILURES) return
      if (openUntil !== undefined) backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      openUntil = now + backoffMs
      probedAt = undefined
    },
  }
}
