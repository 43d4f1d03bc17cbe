// Lets one thing happen after the other, and the next one begin early where the one before it only waits for a slow answer.

export interface Turns {
  /**
   * Runs the work when its turn has come.
   * @param work ends its turn with its end, or before it by what it is given
   */
  take<T>(work: (handOver: () => void) => Promise<T>): Promise<T>
  /** Asked by who has the turn: whether others have waited for this answer for long enough. False once it is there. */
  isSlow(answer: Promise<unknown>): Promise<boolean>
  /** How long the next one would wait for its turn, in milliseconds, as things went lately. */
  waitMs(): number
}

/** An answer that takes longer is waited for no longer by those that come next. */
const TURN_MS = 500

export function createTurns(): Turns {
  let queue: Promise<unknown> = Promise.resolve()
  /** Those that wait for their turn or have it, and how long one had it lately. */
  let queued = 0
  let turnMs = 0

  /** @returns ends the turn, once */
  function begin(handOver: () => void): () => void {
    const startedAt = performance.now()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      queued--
      turnMs = (turnMs + performance.now() - startedAt) / 2
      handOver()
    }
  }

  return {
    take(work) {
      queued++
      const { promise: over, resolve } = Promise.withResolvers<void>()
      const result = queue.then(async () => {
        const end = begin(resolve)
        try {
          return await work(end)
        } finally {
          end()
        }
      })
      queue = over
      return result
    },
    async isSlow(answer) {
      while (!(await isIn(answer, TURN_MS))) if (queued > 1) return true
      return false
    },
    waitMs: () => queued * turnMs,
  }
}

async function isIn(answer: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: silence, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  try {
    return await Promise.race([answer.then(() => true), silence])
  } finally {
    clearTimeout(timer)
  }
}
