// How many exchanges are under way at once: each holds connections, buffers and the forms of a secret for as long as it takes.
import { GatewayError } from '../../core/errors.ts'

const MOST_IN_ALL = 256
const MOST_OF_CAPABILITY = 32

export interface StreamLimits {
  /**
   * @param holder root of the lineage of the capability
   * @returns what ends the exchange, once
   * @throws {GatewayError} rate_limited
   */
  enter(holder: string): () => void
}

/** Counts in this process, whose memory it is. */
export function createStreamLimits(mostInAll = MOST_IN_ALL, mostOfOne = MOST_OF_CAPABILITY): StreamLimits {
  const held = new Map<string, number>()
  let total = 0

  return {
    enter(holder) {
      const own = held.get(holder) ?? 0
      if (own >= mostOfOne) throw tooMany(`This capability has ${mostOfOne} requests under way`)
      if (total >= mostInAll) throw tooMany('Too many requests of programs are under way')
      held.set(holder, own + 1)
      total++
      let isIn = true
      return () => {
        if (!isIn) return
        isIn = false
        total--
        const left = (held.get(holder) ?? 1) - 1
        if (left === 0) held.delete(holder)
        else held.set(holder, left)
      }
    },
  }
}

const tooMany = (what: string) =>
  new GatewayError(
    'rate_limited',
    `${what}. Nothing was sent or charged: end one of them, or send this again in a moment.`,
    { reason: 'streams', extras: { retry_after_seconds: 1 } },
  )
