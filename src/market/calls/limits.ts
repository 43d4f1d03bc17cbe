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

/** Counters live in memory: each replica counts its own. @param parts.isOff the operator has switched limits off */
export function createCallLimits({
  isOff,
  now,
}: {
  readonly isOff: boolean
  readonly now: () => number
}): CallLimits {
  let window = 0
  const calls = new Map<string, number>()
  const asks = new Map<string, number>()
  const running = new Map<string, number>()

  function turnOver(): void {
    const current = Math.floor(now() / WINDOW_MS)
    if (current === window) return
    window = current
    calls.clear()
    asks.clear()
  }
  function take(counts: Map<string, number>, key: string, perMinute: number): void {
    const count = counts.get(key) ?? 0
    if (count >= perMinute) throw tooMany(perMinute)
    counts.set(key, count + 1)
  }
  function tooMany(perMinute: number): GatewayError {
    const seconds = Math.max(1, Math.ceil((WINDOW_MS - (now() % WINDOW_MS)) / 1000))
    return new GatewayError(
      'rate_limited',
      `This service takes ${perMinute} calls a minute. Nothing was charged; try again in ${seconds} s.`,
      { reason: 'service', extras: { retry_after_seconds: seconds } },
    )
  }

  return {
    asked(service, perMinute, { address, isPaying }) {
      if (isOff) return
      turnOver()
      if ((calls.get(service) ?? 0) >= perMinute) throw tooMany(perMinute)
      const key = `${service} ${isPaying ? 'paying' : 'asking'} ${holderOf(address)}`
      if (asks.size >= MAX_COUNTED && !asks.has(key)) throw tooMany(perMinute)
      take(asks, key, perMinute)
    },
    begun(service, sellerId, perMinute) {
      const count = running.get(sellerId) ?? 0
      if (count >= MAX_RUNNING) throw tooManyAtOnce()
      if (!isOff) {
        turnOver()
        take(calls, service, perMinute)
      }
      running.set(sellerId, count + 1)
      return () => {
        const left = (running.get(sellerId) ?? 1) - 1
        if (left > 0) running.set(sellerId, left)
        else running.delete(sellerId)
      }
    },
  }
}
