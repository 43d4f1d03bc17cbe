// Large bodies are parsed one after the other, with the work that follows at once, and the event loop is left to everybody else for as
// long as each one took: whoever sends them shares half of it. Senders take turns, so that nobody waits behind somebody's storm.
import { createFairQueue } from '../../lib/fair-queue.ts'

export interface ParseTurns {
  /**
   * @param sender address of the connection
   * @returns when it may parse; at once where nobody parses
   */
  turn(sender: string): Promise<void>
}

/** @param elapsedMs a clock that nobody sets */
export function createParseTurns(elapsedMs: () => number = () => performance.now()): ParseTurns {
  const waiting = createFairQueue<() => void>()
  let isTaken = false

  /** What runs now ends with this round of the loop. */
  function leave(begunMs: number): void {
    setImmediate(() => setTimeout(next, elapsedMs() - begunMs))
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
