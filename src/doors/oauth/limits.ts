// How often one network may make this gateway remember or fetch something, and how often a program may ask whether its code was approved.
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { GatewayError } from '../../core/errors.ts'
import { createRateLimiter } from '../../core/rate-limit.ts'
import { networkOf } from '../../email/keys.ts'

export const REGISTRATIONS_PER_HOUR = 60
export const DOCUMENTS_PER_HOUR = 120
/** Requests of one address that leave a row behind or cost a look into the store; clients behind one proxy share theirs. */
export const REQUESTS_PER_MINUTE = 300
/** RFC 8628, 3.5: what a client waits that was told nothing else. */
export const POLL_SECONDS = 5
/** A program's clock and the way to us vary a little. */
const POLL_MS = POLL_SECONDS * 1000 - 500
const MAX_POLLING = 10_000

export interface OauthLimits {
  /** Counts a request to the server. @throws {GatewayError} rate_limited */
  count(address: string): Promise<void>
  /** @returns seconds to wait; undefined where one more is fine */
  registration(address: string): Promise<number | undefined>
  mayFetch(address: string): Promise<boolean>
  /** Whether this code was asked about just now. */
  isPolledTooFast(deviceCode: string, now: number): boolean
}

/** @param perMinute of the operator; 0: no limits */
export function createOauthLimits(perMinute: number | undefined): OauthLimits {
  const registrations = new RateLimiterMemory({ points: REGISTRATIONS_PER_HOUR, duration: 3600 })
  const documents = new RateLimiterMemory({ points: DOCUMENTS_PER_HOUR, duration: 3600 })
  const requests = createRateLimiter(perMinute && Math.max(perMinute, REQUESTS_PER_MINUTE))
  const polls = new Map<string, number>()

  /** @returns seconds to wait */
  async function take(limiter: RateLimiterMemory, address: string): Promise<number | undefined> {
    if (perMinute === 0) return undefined
    const network = networkOf(address)
    const known = await limiter.get(network)
    if (known && known.remainingPoints <= 0) return Math.max(1, Math.ceil(known.msBeforeNext / 1000))
    await limiter.consume(network)
    return undefined
  }

  return {
    async count(address) {
      const rate = await requests.take('sign-in', address, REQUESTS_PER_MINUTE)
      if (!rate?.exceeded) return
      throw new GatewayError(
        'rate_limited',
        `At most ${rate.limit} requests a minute for one address. Try again in ${rate.resetSeconds} s.`,
        { extras: { retry_after_seconds: rate.resetSeconds } },
      )
    },
    registration: (address) => take(registrations, address),
    mayFetch: async (address) => (await take(documents, address)) === undefined,
    isPolledTooFast(deviceCode, now) {
      const last = polls.get(deviceCode)
      polls.delete(deviceCode)
      polls.set(deviceCode, now)
      const [oldest] = polls.keys()
      if (polls.size > MAX_POLLING && oldest !== undefined) polls.delete(oldest)
      return last !== undefined && now - last < POLL_MS
    },
  }
}
