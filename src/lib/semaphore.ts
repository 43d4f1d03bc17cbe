// Bounded concurrency for work that holds something scarce, such as a socket or a thread: what finds no place waits for one, on
// its own time.

export interface Semaphore {
  /**
   * @returns a function that gives the place back, to be called once; undefined where the wait was longer than it may be
   */
  acquire(timeoutMs: number): Promise<(() => void) | undefined>
  /**
   * Runs the work when there is a place, however long that takes. Nothing that waits for anybody outside may run in it: a slow
   * stranger would hold the place.
   */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** @param count places, which are handed on in the order of arrival */
export function createSemaphore(count: number): Semaphore {
  const waiting = new Set<() => void>()
  let free = count

  // The place goes to whoever waits longest without being free in between.
  function release(): void {
    const [next] = waiting
    if (!next) {
      free++
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    acquire(timeoutMs) {
      if (free > 0) {
        free--
        return Promise.resolve(release)
      }
      return new Promise((resolve) => {
        const take = () => {
          clearTimeout(timer)
          resolve(release)
        }
        const timer = setTimeout(() => {
          waiting.delete(take)
          resolve(undefined)
        }, timeoutMs)
        waiting.add(take)
      })
    },
    async run(work) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.add(resolve))
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

export interface OwnSemaphores {
  /** Runs the work when its owner has a place, in the order of arrival. Nobody waits for another owner. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>
}

/** @param count places of each owner */
export function createOwnSemaphores(count: number): OwnSemaphores {
  const inUse = new Map<string, { readonly semaphore: Semaphore; users: number }>()
  return {
    async run(owner, work) {
      const own = inUse.get(owner) ?? { semaphore: createSemaphore(count), users: 0 }
      inUse.set(owner, own)
      own.users++
      try {
        return await own.semaphore.run(work)
      } finally {
        if (--own.users === 0) inUse.delete(owner)
      }
    },
  }
}
