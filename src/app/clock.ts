// What time it is. Where the gateway has its machine to itself, the machine says so. Replicas have to agree: one whose clock is a day ahead would open
// budgets again, free keys that were used and sweep away what others keep. So theirs is the clock of the database, as far as the machine's own is off.
import { GatewayError } from '../core/errors.ts'
import { within } from '../lib/deadline.ts'
import type { Logger } from '../lib/log.ts'

export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /**
   * Goes by another clock from now on: looks at it at once, and again every few seconds.
   * @param ask milliseconds since the epoch; where it rejects or takes long later on, the time goes on as it did
   * @throws what the first `ask` rejects with, or store_unavailable where that takes too long: until then nobody knows what time it is
   */
  follow(ask: () => Promise<number>): Promise<void>
  close(): void
}

export interface ClockParts {
  readonly log: Pick<Logger, 'warn'>
  /** Of the machine; it may be set. */
  readonly wall?: (() => number) | undefined
  /** Of a clock that nobody sets, in milliseconds. */
  readonly elapsedMs?: () => number
}

const EVERY_MS = 3_000
/** An answer that took longer says too little of the moment that it is about. */
const MOST_MS = 1_000
/** The first one is waited for: half of that is nothing beside a clock that is a day ahead. */
const MOST_AT_FIRST_MS = 10_000
/** What is less is the way of the answer and the two clocks' ticking: time that jumps to and fro for it helps nobody. */
const TOLERATED_MS = 1_000

export function createClock({
  log,
  wall = Date.now,
  elapsedMs = () => performance.now(),
}: ClockParts): Clock {
  /** The machine's clock, once, and from there on by what cannot be set; undefined where nothing else is gone by. */
  let base: { readonly at: number; readonly elapsed: number } | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const now = () => (base ? Math.round(base.at + elapsedMs() - base.elapsed) : wall())

  /** @returns whether it was told in time; rejects with `ask` */
  async function look(ask: () => Promise<number>, mostMs: number): Promise<boolean> {
    const asked = elapsedMs()
    const said = await within(mostMs, ask())
    const elapsed = elapsedMs()
    // A process that stood still may hear of the answer before it hears that it is late.
    if (said === undefined || elapsed - asked > mostMs) return false
    const at = said + (elapsed - asked) / 2
    const offMs = Math.round(now() - at)
    if (Math.abs(offMs) <= TOLERATED_MS) return true
    base = { at, elapsed }
    const machineIsOffMs = Math.round(wall() - at)
    log.warn(
      { off_ms: offMs, machine_off_ms: machineIsOffMs },
      'the time here was not that of the database, by which all replicas go: it is now. Look after the clocks of both machines',
    )
    return true
  }

  function lookLater(ask: () => Promise<number>): void {
    if (isClosed) return
    timer = setTimeout(() => {
      void look(ask, MOST_MS)
        .catch(() => false)
        .then(() => lookLater(ask))
    }, EVERY_MS)
    timer.unref()
  }

  return {
    now,
    async follow(ask) {
      base = { at: wall(), elapsed: elapsedMs() }
      if (!(await look(ask, MOST_AT_FIRST_MS)))
        throw new GatewayError(
          'store_unavailable',
          `The database did not say within ${MOST_AT_FIRST_MS / 1000} s what time it is, and replicas go by its clock. Let it come to rest, then start again.`,
        )
      lookLater(ask)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
