// How often a service is called in a minute: by one address, and by everybody together. Who only asks for the price, or shows what
// turns out to be no payment, uses up its own share and nobody else's: else one stranger would keep every buyer away.
import { holderOf } from '../../core/rate-limit.ts'
import { GatewayError } from '../../core/errors.ts'

const WINDOW_MS = 60_000
/** Addresses that are counted in one minute; further ones are refused, and what is paid for already goes on. */
const MAX_COUNTED = 100_000
/** Calls of one seller that may wait for its hosts at once: a slow one must not take all the places there are for calls. */
const MAX_RUNNING = 64

const tooManyAtOnce = () =>
  new GatewayError(
    'rate_limited',
    `${MAX_RUNNING} calls of this seller are running. Nothing was charged; try again in a moment.`,
    { reason: 'seller_at_once', extras: { retry_after_seconds: 2 } },
  )

export interface Asker {
  readonly address: string
  readonly isPaying: boolean
}

export interface CallLimits {
  /** Counts a request of an address, and looks whether there is any room left. @throws {GatewayError} rate_limited */
  asked(service: string, perMinute: number, asker: Asker): void
  /**
   * Counts a call that is paid for and about to be made.
   * @returns to be called when it has ended
   * @throws {GatewayError} rate_limited; also where as many calls of the seller as may run at once are running
   */
  begun(service: string, sellerId: string, perMinute: number): () => void
}

/** Calls in the minute that began with the first of them. */
interface Minute {
  count: number
  readonly until: number
}

/** Counters live in memory: each replica counts its own. @param parts.isOff the operator has switched limits off */
export function createCallLimits({
  isOff,
  now,
}: {
  readonly isOff: boolean
  readonly now: () => number
}): CallLimits {
  const calls = new Map<string, Minute>()
  const asks = new Map<string, Minute>()
  const running = new Map<string, number>()
  let sweptAt = now()

  /** Minutes that are over are forgotten once a minute, whoever comes or does not come again. */
  function sweep(): void {
    if (now() < sweptAt + WINDOW_MS) return
    sweptAt = now()
    for (const counts of [calls, asks])
      for (const [key, { until }] of counts) if (until <= sweptAt) counts.delete(key)
  }
  function current(counts: Map<string, Minute>, key: string): Minute | undefined {
    const minute = counts.get(key)
    return minute && minute.until > now() ? minute : undefined
  }
  function take(counts: Map<string, Minute>, key: string, perMinute: number): void {
    const minute = current(counts, key) ?? { count: 0, until: now() + WINDOW_MS }
    if (minute.count >= perMinute) throw tooMany(perMinute, minute)
    minute.count++
    counts.set(key, minute)
  }
  function tooMany(perMinute: number, { until }: Pick<Minute, 'until'>): GatewayError {
    const seconds = Math.max(1, Math.ceil((until - now()) / 1000))
    return new GatewayError(
      'rate_limited',
      `This service takes ${perMinute} calls a minute. Nothing was charged; try again in ${seconds} s.`,
      { reason: 'service', extras: { retry_after_seconds: seconds } },
    )
  }

  return {
    asked(service, perMinute, { address, isPaying }) {
      if (isOff) return
      sweep()
      const full = current(calls, service)
      if (full && full.count >= perMinute) throw tooMany(perMinute, full)
      const key = `${service} ${isPaying ? 'paying' : 'asking'} ${holderOf(address)}`
      if (asks.size >= MAX_COUNTED && !asks.has(key)) throw tooMany(perMinute, { until: sweptAt + WINDOW_MS })
      take(asks, key, perMinute)
    },
    begun(service, sellerId, perMinute) {
      const count = running.get(sellerId) ?? 0
      if (count >= MAX_RUNNING) throw tooManyAtOnce()
      if (!isOff) take(calls, service, perMinute)
      running.set(sellerId, count + 1)
      return () => {
        const left = (running.get(sellerId) ?? 1) - 1
        if (left > 0) running.set(sellerId, left)
        else running.delete(sellerId)
      }
    },
  }
}
