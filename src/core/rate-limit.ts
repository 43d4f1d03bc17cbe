// Rate and concurrency limits of the call path. Counters live in memory: they protect this process.
import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** Whole seconds until the window starts anew. */
  readonly resetSeconds: number
  readonly exceeded: boolean
}

/** The state of a quota that is counted elsewhere, over a longer window. */
export interface QuotaState extends RateState {
  readonly name: string
  readonly windowSeconds: number
}

export interface RateLimiter {
  /** Counts one call of `who`, an id or an address, on `what`. Undefined when limits are off. */
  take(what: string, who: string, defaultPerMinute: number): Promise<RateState | undefined>
  /** Whether the next call would be refused; nothing is counted. */
  isSpent(what: string, who: string, defaultPerMinute: number): Promise<boolean>
}

const WINDOW_SECONDS = 60

/** @param set overrides every route's own figure, and may change while the gateway runs; 0 switches limits off */
export function createRateLimiter(set: number | undefined | (() => number | undefined)): RateLimiter {
  const perMinute = typeof set === 'function' ? set : () => set
  const windows = new Map<number, RateLimiterMemory>()

  function windowOf(limit: number): RateLimiterMemory {
    let limiter = windows.get(limit)
    if (!limiter)
      windows.set(limit, (limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS })))
    return limiter
  }

  return {
    async take(what, who, defaultPerMinute) {
      const limit = perMinute() ?? defaultPerMinute
      if (limit === 0) return undefined
      try {
        return state(await windowOf(limit).consume(`${what} ${holderOf(who)}`), limit, false)
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return state(refused, limit, true)
        throw refused
      }
    },
    async isSpent(what, who, defaultPerMinute) {
      const limit = perMinute() ?? defaultPerMinute
      if (limit === 0) return false
      const known = await windowOf(limit).get(`${what} ${holderOf(who)}`)
      return known !== null && known.remainingPoints <= 0
    },
  }
}

/** Whoever has one address of IPv6 has the 2^64 around it: they count as one. */
export function holderOf(who: string): string {
  if (!isIPv6(who)) return who
  // The zone is cut off: it only means something on this machine.
  const canonical = new URL(`http://[${who.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  // IPv4 in IPv6, the same address in either spelling.
  const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(canonical)
  if (mapped) return mapped.slice(1).flatMap(bytesOf).join('.')
  const [before = [], after = []] = canonical.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

const bytesOf = (group: string) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]

function state(result: RateLimiterRes, limit: number, exceeded: boolean): RateState {
  return {
    limit,
    remaining: Math.max(0, result.remainingPoints),
    resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)),
    exceeded,
  }
}
