// Shares one read among equal ones. Only reads that start almost together are shared: the one that joins has its own
// deadline, and must not lose more than a moment of it to another's.

export interface SingleFlight<T> {
  /**
   * A read of the same thing whose deadline is this one, or a moment before it.
   * @param deadline milliseconds, of the same clock for all
   */
  find(key: string, deadline: number): Promise<T | undefined> | undefined
  /** @param run gives undefined for what says nothing to others */
  start(key: string, deadline: number, run: () => Promise<T | undefined>): void
}

const MOMENT_MS = 250

/** Shares a read with whoever asks for the same and has at most 250 ms more time. */
export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, { readonly deadline: number; readonly result: Promise<T | undefined> }>()
  return {
    find(key, deadline) {
      const read = running.get(key)
      if (!read) return undefined
      const lostMs = deadline - read.deadline
      return lostMs >= 0 && lostMs <= MOMENT_MS ? read.result : undefined
    },
    start(key, deadline, run) {
      const result = run().catch(() => undefined)
      const read = { deadline, result }
      running.set(key, read)
      void result.then(() => {
        if (running.get(key) === read) running.delete(key)
      })
    },
  }
}
