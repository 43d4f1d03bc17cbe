// How many streams one client may have open on tasks. One on a task that waits for its payment looks at the store each second for as
// long as its client likes, so streams that a client opens one after the other would in the end be all that the store does.
import { GatewayError } from '../../core/errors.ts'
import { holderOf } from '../../core/rate-limit.ts'

/** Of one account or agent, and of one address where nobody said who asks. */
const LIMITS = { perOwner: 500, perAddress: 100 }

export interface Followers {
  /**
   * @param owner null where nobody said who asks: then the address counts
   * @returns what ends it, once
   * @throws {GatewayError} rate_limited
   */
  enter(owner: string | null, address: string): () => void
}

/** Counts open streams in this process, which is what they cost. */
export function createFollowers(limits = LIMITS): Followers {
  const open = new Map<string, number>()

  return {
    enter(owner, address) {
      const [holder, limit] =
        owner === null ? [`address ${holderOf(address)}`, limits.perAddress] : [owner, limits.perOwner]
      const count = open.get(holder) ?? 0
      if (count >= limit)
        throw new GatewayError(
          'rate_limited',
          `At most ${limit} streams of yours may be open on tasks. Close some, or read tasks with GetTask.`,
          { extras: { retry_after_seconds: 10 } },
        )
      open.set(holder, count + 1)
      return () => {
        const left = (open.get(holder) ?? 1) - 1
        if (left === 0) open.delete(holder)
        else open.set(holder, left)
      }
    },
  }
}
