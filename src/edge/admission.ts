// Bounds what strangers can take of the gateway, and of its credits, in the name of one merchant: whoever knows the host
// may call, from as many addresses as they like, and the merchant pays. Counted in this process, before anything is charged.
import { GatewayError } from '../core/errors.ts'
import type { RateLimiter, RateState } from '../core/rate-limit.ts'

export interface Admission {
  /**
   * @returns what gives the place back, once
   * @throws {GatewayError} rate_limited, overloaded
   */
  enter(accountId: string): Promise<() => void>
}

/** The bound of any caller that is known: here it is the one who pays. */
export const MERCHANT_PER_MINUTE = 3000
/** A quarter of what the gateway handles at once: a merchant that answers nobody must not hold all of it. */
export const MERCHANT_IN_FLIGHT = 128

/** Bounds what strangers take in one merchant's name: 3,000 calls a minute and 128 at once. */
export function createAdmission(limiter: RateLimiter): Admission {
  const inFlight = new Map<string, number>()

  return {
    async enter(accountId) {
      const held = inFlight.get(accountId) ?? 0
      if (held >= MERCHANT_IN_FLIGHT) throw busy()
      inFlight.set(accountId, held + 1)
      const leave = () => {
        const left = (inFlight.get(accountId) ?? 1) - 1
        if (left === 0) inFlight.delete(accountId)
        else inFlight.set(accountId, left)
      }
      const rate = await limiter.take('merchant', accountId, MERCHANT_PER_MINUTE).catch((thrown: unknown) => {
        leave()
        throw thrown
      })
      if (!rate?.exceeded) return leave
      leave()
      throw tooMany(rate)
    },
  }
}

const busy = () =>
  new GatewayError(
    'overloaded',
    'This merchant has not answered those before you yet. Nothing was sent or charged: try again shortly.',
    { reason: 'merchant_busy', extras: { retry_after_seconds: 1 } },
  )

const tooMany = ({ limit, resetSeconds }: RateState) =>
  new GatewayError(
    'rate_limited',
    `At most ${limit} transactions a minute go to one merchant. Nothing was sent or charged: try again in ${resetSeconds} s.`,
    { reason: 'merchant_rate', extras: { retry_after_seconds: resetSeconds } },
  )
