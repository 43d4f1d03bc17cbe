// Large bodies leave the event loop to everybody else, and senders take turns in it, so that nobody waits behind somebody's storm.
import { createFairQueue } from '../../lib/fair-queue.ts'

export interface BodyTurns {
  /**
   * @param sender address that it comes from; whoever has many of them is one
   * @returns when it may go on; at once where nobody else does
   */
  turn(sender: string): Promise<void>
}

/**
 * Turns for parsing, with the work that follows a round of the loop later: one after the other, and as long for others behind each as both
 * took, so whoever sends large bodies shares half of the loop.
 * @param elapsedMs a clock that nobody sets
 */
export function createParseTurns(elapsedMs: () => number = () => performance.now()): BodyTurns {
  const waiting = createFairQueue<() => void>()
  let isTaken = false

  /** What runs now ends with this round of the loop, and what is made of it with the next one. */
  function leave(begunMs: number): void {
    const leaveRest = () => setImmediate(() => setTimeout(next, elapsedMs() - begunMs))
    setImmediate(() => setTimeout(leaveRest))
  }

  function next(): void {
    const go = waiting.take(() => true)
    isTaken = go !== undefined
    if (!go) return
    leave(elapsedMs())
    go()
  }

  return {
    turn(sender) {
      if (isTaken) return new Promise((resolve) => waiting.add(sender, resolve))
      isTaken = true
      leave(elapsedMs())
      return Promise.resolve()
    },
  }
}

/** Turns for reading a piece. @param perRound pieces between two rounds of the event loop */
export function createPieceTurns(perRound: number): BodyTurns {
  const waiting = createFairQueue<() => void>()
  let isWatching = false

  function next(): void {
    for (let i = 0; i < perRound; i++) waiting.take(() => true)?.()
    isWatching = waiting.size > 0
    if (isWatching) setImmediate(next)
  }

  return {
    turn(sender) {
      if (!isWatching) setImmediate(next)
      isWatching = true
      return new Promise((resolve) => waiting.add(sender, resolve))
    },
  }
}
