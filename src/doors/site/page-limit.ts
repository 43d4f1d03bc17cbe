// How many pages an address may have drawn in a minute. A page takes milliseconds of the one thread that serves everybody, and most are
// drawn without a call that would count it; those that are kept cost nothing, and are not counted.
import { GatewayError } from '../../core/errors.ts'
import { createRateLimiter } from '../../core/rate-limit.ts'

/** Nobody reads so fast; drawn one after the other they are a few seconds of the minute. */
export const PAGES_PER_MINUTE = 600

export interface PageLimit {
  /** Counts a page that is drawn for the address. @throws {GatewayError} rate_limited */
  count(address: string): Promise<void>
  /** Counts one too; false where it is too many. */
  allows(address: string): Promise<boolean>
}

/** @param perMinute of the operator for every route: never fewer pages than usual, since one brings others with it. 0: no limit */
export function createPageLimit(perMinute: number | undefined): PageLimit {
  const limiter = createRateLimiter(perMinute && Math.max(perMinute, PAGES_PER_MINUTE))
  const take = (address: string) => limiter.take('pages', address, PAGES_PER_MINUTE)
  return {
    async count(address) {
      const rate = await take(address)
      if (!rate?.exceeded) return
      const { limit, resetSeconds } = rate
      throw new GatewayError(
        'rate_limited',
        `At most ${limit} pages a minute for one address. Try again in ${resetSeconds} s.`,
        { extras: { retry_after_seconds: resetSeconds } },
      )
    },
    allows: async (address) => !(await take(address))?.exceeded,
  }
}
