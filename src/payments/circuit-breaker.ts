// Decides when to leave an upstream alone, and when to ask it again. Pure: time is an argument.

type CircuitState = 'closed' | 'open' | 'half_open'

export interface CircuitBreaker {
  /** In `half_open` calls may go out again; the first that fails opens it. */
  state(now: number): CircuitState
  record(ok: boolean, now: number): void
}

/** So many consecutive failures open it. */
const FAILURES = 3
const BACKOFF_MS = 5_000
const MAX_BACKOFF_MS = 300_000
/**
 * A breaker that was half open for so long without an answer, because others are preferred, is closed again; one failure
 * opens it.
 */
const FORGIVEN_MS = 60_000

/** A closed breaker; each time that it opens again it stays open twice as long, at most five minutes. */
export function createCircuitBreaker(): CircuitBreaker {
  let failures = 0
  let backoffMs = 0
  let openUntil: number | undefined

  function state(now: number): CircuitState {
    if (openUntil !== undefined && now >= openUntil + FORGIVEN_MS) {
      openUntil = undefined
      failures = FAILURES - 1
    }
    return openUntil === undefined ? 'closed' : now < openUntil ? 'open' : 'half_open'
  }

  return {
    state,
    record(ok, now) {
      const is = state(now)
      if (ok) {
        failures = backoffMs = 0
        openUntil = undefined
        return
      }
      failures++
      // Late answers of calls that left before it opened say nothing new.
      if (is === 'open' || failures < FAILURES) return
      backoffMs = backoffMs === 0 ? BACKOFF_MS : Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      openUntil = now + backoffMs
    },
  }
}
