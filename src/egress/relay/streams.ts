// How many exchanges are under way at once: each holds connections, buffers and the forms of a secret for as long as it takes.
import { GatewayError } from '../../core/errors.ts'

const MOST = { inAll: 256, ofAccount: 128, ofCapability: 32 }

export interface StreamLimits {
  /**
   * @param accountId whose it is: however many capabilities it issues, half of the places are left to others
   * @param rootId root of the lineage of the capability
   * @returns what ends the exchange, once
   * @throws {GatewayError} rate_limited
   */
  enter(accountId: string, rootId: string): () => void
}

/** Counts in this process, whose memory it is. */
export function createStreamLimits(most = MOST): StreamLimits {
  let total = 0
  const ofAccounts = createCounts()
  const ofCapabilities = createCounts()

  return {
    enter(accountId, rootId) {
      if (ofCapabilities.of(rootId) >= most.ofCapability)
        throw tooMany(`This capability has ${most.ofCapability} requests under way`)
      if (ofAccounts.of(accountId) >= most.ofAccount)
        throw tooMany(`This account has ${most.ofAccount} requests under way`)
      if (total >= most.inAll) throw tooMany('Too many requests of programs are under way')
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
