// The one thread that everybody shares: what many want of it at the same moment is spread over turns of its event loop,
// so that whoever comes meanwhile is heard in between. In the order of arrival; where nobody else is there, at once.

export interface Turns {
  /** @returns when it is your turn: the caller may then compute for a few milliseconds */
  take(): Promise<void>
}

/** @param perTurn callers that are let through between two rounds of the event loop */
export function createTurns(perTurn: number): Turns {
  const waiting: (() => void)[] = []
  let taken = 0
  let isWatching = false

  function watch(): void {
    if (isWatching) return
    isWatching = true
    setImmediate(() => {
      isWatching = false
      taken = 0
      for (const go of waiting.splice(0, perTurn)) {
        taken++
        go()
      }
      if (taken > 0) watch()
    })
  }

  return {
    take() {
      watch()
      // Where anybody waits, this turn is full.
      if (taken < perTurn) {
        taken++
        return Promise.resolve()
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
  }
}

/**
 * For work that goes to another thread and comes back: its ends must not meet in one turn. Nothing that waits for anybody
 * outside may run in it: a slow stranger would hold a place.
 * @param places how many may be under way
 */
export function createLane(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = places
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The place goes to who waits longest, without being free in between.
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
