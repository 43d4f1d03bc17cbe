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
/** Half open for so long without an answer, because others are preferred: closed again, on one failure's notice. */
const FORGIVEN_MS = 60_000

export function createBreaker(): Breaker {
  let failures = 0
  let backoffMs = 0
  let openUntil: number | undefined
  let probedAt: number | undefined

  function state(now: number): BreakerState {
    if (openUntil !== undefined && now >= openUntil + FORGIVEN_MS) {
      openUntil = probedAt = undefined
      failures = FAILURES - 1
    }
    return openUntil === undefined ? 'closed' : now < openUntil ? 'open' : 'half_open'
  }

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
      const is = state(now)
      if (ok) {
        failures = backoffMs = 0
        openUntil = probedAt = undefined
        return
      }
      failures++
      // Late answers of calls that left before it opened say nothing new.
      if (is === 'open' || failures < FAILURES) return
      backoffMs = backoffMs === 0 ? BACKOFF_MS : Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      openUntil = now + backoffMs
      probedAt = undefined
    },
  }
}
