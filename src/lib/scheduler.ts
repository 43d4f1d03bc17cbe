// One thread serves everybody, so long computations that many callers want at the same moment are spread over rounds of its
// event loop: whoever comes meanwhile is heard in between. First come, first served; where nobody else is there, at once.

export interface Scheduler {
  /** @returns when it is the caller's turn, which may then compute for a few milliseconds */
  turn(): Promise<void>
}

/** @param perRound callers that are let through between two rounds of the event loop */
export function createScheduler(perRound: number): Scheduler {
  const waiting: (() => void)[] = []
  let taken = 0
  let isWatching = false

  function watch(): void {
    if (isWatching) return
    isWatching = true
    setImmediate(() => {
      isWatching = false
      taken = 0
      for (const go of waiting.splice(0, perRound)) {
        taken++
        go()
      }
      if (taken > 0) watch()
    })
  }

  return {
    turn() {
      watch()
      // This round is full whenever anybody waits.
      if (taken < perRound) {
        taken++
        return Promise.resolve()
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
  }
}
