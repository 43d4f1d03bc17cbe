// Limits of an installation of several processes. Each counts for itself, and tells the others about once a second: a call waits for
// nobody, and whoever goes from one process to the next has the limit of one, but for what he gets within that second.
import { hash } from 'node:crypto'
import type { Logger } from '../lib/log.ts'
import type { RateCount } from '../store/ports.ts'

/** What one limiter tells, and is told. */
export interface SharedRates {
  /** @returns what others have counted of `key` in windows that are still open, as far as they have told */
  others(key: string): number
  /** @param forMs until the window closes */
  counted(key: string, used: number, forMs: number): void
}

export interface RateSharing {
  /** @param limiter whose keys are told from those of the other limiters */
  of(limiter: string): SharedRates
  close(): void
}

export interface RateSharingParts {
  /** Stores the counts of this process in place of its earlier ones. @returns those of the others of the same names */
  readonly exchange: (counts: readonly RateCount[], now: number) => Promise<readonly RateCount[]>
  readonly now: () => number
  readonly log: Logger
}

const EXCHANGE_MS = 1000
/** Of one exchange; what is left goes with the next one. */
const MOST = 2000

export function createRateSharing({ exchange, now, log }: RateSharingParts): RateSharing {
  const own = new Map<string, RateCount>()
  const theirs = new Map<string, readonly RateCount[]>()
  let isUnderWay = false

  async function share(): Promise<void> {
    forgetClosed(theirs, now())
    if (isUnderWay || own.size === 0) return
    isUnderWay = true
    const counts = [...own.values()].slice(0, MOST)
    for (const { name } of counts) own.delete(name)
    try {
      const told = Map.groupBy(await exchange(counts, now()), ({ name }) => name)
      for (const { name } of counts) theirs.set(name, told.get(name) ?? [])
    } catch (thrown) {
      // Whoever calls again is told of again.
      log.warn({ err: thrown }, 'rate limits could not be shared')
    } finally {
      isUnderWay = false
    }
  }
  const timer = setInterval(() => void share(), EXCHANGE_MS)
  timer.unref()

  return {
    of(limiter) {
      const nameOf = (key: string) => hash('sha256', `${limiter} ${key}`, 'base64url').slice(0, 22)
      return {
        others(key) {
          const at = now()
          let used = 0
          for (const count of theirs.get(nameOf(key)) ?? []) if (count.endsAt > at) used += count.used
          return used
        },
        counted(key, used, forMs) {
          const name = nameOf(key)
          own.set(name, { name, used, endsAt: now() + forMs })
        },
      }
    },
    close: () => clearInterval(timer),
  }
}

function forgetClosed(theirs: Map<string, readonly RateCount[]>, at: number): void {
  for (const [name, counts] of theirs) if (!counts.some(({ endsAt }) => endsAt > at)) theirs.delete(name)
}
