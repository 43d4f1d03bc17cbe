// Counts calls as they end. A call does not wait for it: outcomes are held for a moment and written together.
import type { Logger } from '../../lib/log.ts'
import type { ServiceOutcome, Store } from '../../store/ports.ts'

export interface RecorderParts {
  readonly store: Pick<Store, 'recordServiceOutcomes'>
  readonly log: Logger
  readonly now: () => number
}

export interface Recorder {
  /**
   * Never throws and never waits. A paid call that a crash loses is in the ledger, and recount.ts counts it from there; a failed one is
   * written nowhere else.
   */
  record(outcome: DistributiveOmit<ServiceOutcome, 'at'>): void
  /** Writes what is held. */
  flush(): Promise<void>
  /** Writes what is held and holds nothing after. */
  close(): Promise<void>
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

const HELD_MS = 200
const RETRY_MS = 2_000
const BATCH = 200
/** A store that does not answer must not fill the memory. */
const MAX_HELD = 20_000

export function createRecorder({ store, log, now }: RecorderParts): Recorder {
  let held: ServiceOutcome[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let writing = Promise.resolve()

  /** One batch at a time, in the order in which they came; what a failing store refuses is tried again with the next ones. */
  async function write(): Promise<void> {
    while (held.length > 0) {
      const batch = held.slice(0, BATCH)
      held = held.slice(BATCH)
      try {
        await store.recordServiceOutcomes({ outcomes: batch, now: now() })
      } catch (err) {
        held = [...batch, ...held]
        log.warn({ err, held: held.length }, 'market: figures could not be written; they are tried again')
        if (!isClosed) timer ??= setTimeout(() => void flush(), RETRY_MS)
        return
      }
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    return (writing = writing.then(write))
  }

  return {
    record(outcome) {
      if (held.length >= MAX_HELD) return
      held.push({ ...outcome, at: now() })
      timer ??= setTimeout(() => void flush(), HELD_MS)
    },
    flush,
    close() {
      isClosed = true
      return flush()
    },
  }
}
