// Who found rows locked that somebody else keeps. Every command waits briefly for a lock, so that its connection is free again soon, and tries
// again here until it has waited as long as a statement may: a few at once, whoever they are, and one of each owner. So whoever was only
// unlucky has its turn among those whose rows stay locked, and nobody else waits for any of them.
import { createOwnSemaphores, createSemaphore, type OwnSemaphores } from '../../lib/semaphore.ts'
import { toStoreError } from '../failure.ts'
import { isLockedOut } from './pool.ts'

export interface Apart {
  /**
   * Tries, and again for as long as it finds something locked. While one of this name and owner is apart, the next join it.
   * @param work does nothing where it finds something locked
   * @param first bounds those of an owner that try for the first time
   * @throws what the work throws, and store_unavailable where everything stayed locked for too long; nothing was done then
   */
  run<T>(name: string, owner: string | undefined, work: () => Promise<T>, first?: OwnSemaphores): Promise<T>
  /**
   * Tries once, when there is a place, and the owner's turn has come.
   * @param owner undefined: somebody that nobody shares anything with
   * @param until on the clock of `performance`
   * @throws {GatewayError} store_unavailable where that took too long; the work was not begun
   */
  takeTurn<T>(owner: string | undefined, until: number, work: () => Promise<T>): Promise<T>
}

/**
 * @param count places
 * @param waitMs how long somebody is let try
 */
export function createApart(count: number, waitMs: number): Apart {
  const turns = createOwnSemaphores(1)
  const places = createSemaphore(count)
  /** Names and owners of those who are apart. */
  const locked = new Set<string>()

  async function takeTurn<T>(owner: string | undefined, until: number, work: () => Promise<T>): Promise<T> {
    const inPlace = async (): Promise<T> => {
      const leftMs = until - performance.now()
      const release = leftMs > 0 ? await places.acquire(leftMs) : undefined
      if (!release) throw stayedLocked()
      try {
        return await work()
      } finally {
        release()
      }
    }
    return owner === undefined ? inPlace() : turns.run(owner, inPlace)
  }

  return {
    takeTurn,
    async run(name, owner, work, first) {
      const key = `${name} ${owner}`
      const until = performance.now() + waitMs
      if (owner === undefined || !locked.has(key)) {
        try {
          return await (owner === undefined || !first ? work() : first.run(owner, work))
        } catch (thrown) {
          if (!isLockedOut(thrown)) throw thrown
        }
      }
      locked.add(key)
      try {
        for (;;) {
          try {
            return await takeTurn(owner, until, work)
          } catch (thrown) {
            if (!isLockedOut(thrown)) throw thrown
          }
        }
      } finally {
        // The next one tries where everybody does: what was locked may be free.
        locked.delete(key)
      }
    },
  }
}

/** @returns 503 store_unavailable */
export const stayedLocked = () =>
  toStoreError({
    code: 'store_unavailable',
    detail: 'Somebody keeps rows locked that this needs; nothing was charged or sent. Try again in a moment.',
    reason: 'locked',
  })
