// Rate and concurrency limits of the call path. Counters live in memory: they protect this process.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** Whole seconds until the window starts anew. */
  readonly resetSeconds: number
  readonly exceeded: boolean
}

/** Of a quota that is counted elsewhere, over a longer window. */
export interface QuotaState extends RateState {
  readonly name: string
  readonly windowSeconds: number
}

export interface RateLimiter {
  /** Counts one call of `who` on `what`. Undefined when limits are off. */
  take(what: string, who: string, defaultPerMinute: number): Promise<RateState | undefined>
}

const WINDOW_SECONDS = 60

/** @param perMinute overrides every route's own figure; 0 switches limits off */
export function createRateLimiter(perMinute: number | undefined): RateLimiter {
  const windows = new Map<number, RateLimiterMemory>()
  return {
    async take(what, who, defaultPerMinute) {
      const limit = perMinute ?? defaultPerMinute
      if (limit === 0) return undefined
      let limiter = windows.get(limit)
      if (!limiter)
        windows.set(limit, (limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS })))
      try {
        return state(await limiter.consume(`${what} ${who}`), limit, false)
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return state(refused, limit, true)
        throw refused
      }
    },
  }
}

function state(result: RateLimiterRes, limit: number, exceeded: boolean): RateState {
  return {
    limit,
    remaining: Math.max(0, result.remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)),
    exceeded,
  }
}
