// Limits of an installation of several processes. Each counts for itself, and tells the others about once a second: a call waits for
// nobody, and whoever goes from one process to the next has the limit of one, but for what he gets within that second.
import { hash } from 'node:crypto'
import type { Logger } from '../lib/log.ts'
import type { RateCount } from '../store/ports.ts'

/** What one limiter tells, and is told. */
export interface SharedRates {
  /** @returns what others have counted of `key` in windows that are still open, as far as they have told */
  others(key: string): number
  /** @param leftMs until the window closes */
  counted(key: string, used: number, leftMs: number): void
}

export interface RateSharing {
  /** @param limiter whose keys are told from those of the other limiters */
  of(limiter: string): SharedRates
  close(): void
}

export interface RateSharingParts {
  /** Stores the counts of this process in place of its earlier ones. @returns those of the others of the same names */
  readonly exchange: (counts: readonly RateCount[]) => Promise<readonly RateCount[]>
  /** Milliseconds of a clock that is never set. */
  readonly elapsedMs: () => number
  readonly log: Logger
}

const EXCHANGE_MS = 1000
/** Of one exchange; what is left goes with the next one. */
const MOST = 2000

interface Open {
  readonly used: number
  readonly endsAt: number
}

export function createRateSharing({ exchange, elapsedMs, log }: RateSharingParts): RateSharing {
  const own = new Map<string, Open>()
  const theirs = new Map<string, readonly Open[]>()
  let isUnderWay = false
  let isFailing = false

  /** What goes out, and is no longer to be told. Of windows that have closed meanwhile there is nothing to tell. */
  function takeOwn(at: number): RateCount[] {
    const counts: RateCount[] = []
    for (const [name, { used, endsAt }] of own) {
      if (counts.length === MOST) break
      own.delete(name)
      if (endsAt > at) counts.push({ name, used, leftMs: Math.round(endsAt - at) })
    }
    return counts
  }

  async function share(): Promise<void> {
    const at = elapsedMs()
    forgetClosed(theirs, at)
    if (isUnderWay) return
    const counts = takeOwn(at)
    if (counts.length === 0) return
    isUnderWay = true
    try {
      const told = Map.groupBy(await exchange(counts), ({ name }) => name)
      if (isFailing) log.info('rate limits are shared again')
      isFailing = false
      const since = elapsedMs()
      for (const { name } of counts)
        theirs.set(
          name,
          (told.get(name) ?? []).map(({ used, leftMs }) => ({ used, endsAt: since + leftMs })),
        )
    } catch (thrown) {
      // Whoever calls again is told of again. A database that is away is told of once, and not every second.
      if (!isFailing)
        log.warn({ err: thrown }, 'rate limits cannot be shared: each process counts for itself')
      isFailing = true
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
          const at = elapsedMs()
          let used = 0
          for (const count of theirs.get(nameOf(key)) ?? []) if (count.endsAt > at) used += count.used
          return used
        },
        counted: (key, used, leftMs) => void own.set(nameOf(key), { used, endsAt: elapsedMs() + leftMs }),
      }
    },
    close: () => clearInterval(timer),
  }
}

function forgetClosed(theirs: Map<string, readonly Open[]>, at: number): void {
  for (const [name, counts] of theirs) if (!counts.some(({ endsAt }) => endsAt > at)) theirs.delete(name)
}
