// How many exchanges, or connections of a proxy, are under way at once: each holds connections and buffers for as long as it takes.
import { GatewayError } from '../../core/errors.ts'

export interface MostAtOnce {
  readonly inAll: number
  readonly ofAccount: number
  readonly ofCapability: number
}

const MOST: MostAtOnce = { inAll: 256, ofAccount: 128, ofCapability: 32 }

export interface StreamLimits {
  /**
   * @param accountId whose it is: however many capabilities it issues, half of the places are left to others
   * @param rootId root of the lineage of the capability
   * @returns what ends the exchange, once
   * @throws {GatewayError} rate_limited
   */
  enter(accountId: string, rootId: string): () => void
}

/**
 * Counts in this process, whose memory it is.
 * @param what for the words of a refusal
 */
export function createStreamLimits(most = MOST, what = 'requests under way'): StreamLimits {
  let total = 0
  const ofAccounts = createCounts()
  const ofCapabilities = createCounts()

  return {
    enter(accountId, rootId) {
      if (ofCapabilities.of(rootId) >= most.ofCapability)
        throw tooMany(`This capability has ${most.ofCapability} ${what}`)
      if (ofAccounts.of(accountId) >= most.ofAccount)
        throw tooMany(`This account has ${most.ofAccount} ${what}`)
      if (total >= most.inAll) throw tooMany(`Programs have too many ${what}`)
      count(1)
      let isIn = true
      return () => {
        if (isIn) count(-1)
        isIn = false
      }

      function count(change: 1 | -1): void {
        total += change
        ofAccounts.add(accountId, change)
        ofCapabilities.add(rootId, change)
      }
    },
  }
}

/** Counts by name; a name without a count takes no place. */
function createCounts() {
  const counts = new Map<string, number>()
  const of = (name: string) => counts.get(name) ?? 0
  return {
    of,
    add(name: string, change: 1 | -1): void {
      const left = of(name) + change
      if (left === 0) counts.delete(name)
      else counts.set(name, left)
    },
  }
}

const tooMany = (what: string) =>
  new GatewayError(
    'rate_limited',
    `${what}. Nothing was sent or charged: end one of them, or send this again in a moment.`,
    { reason: 'streams', extras: { retry_after_seconds: 1 } },
  )
