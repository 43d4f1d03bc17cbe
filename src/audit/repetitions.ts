// A refusal that comes again and again is one event and a number: whoever is refused decides how often they try, and must not
// decide how long the log gets. The first of a kind is written at once, because an alarm is of no use a minute later.
import { GatewayError } from '../core/errors.ts'
import type { NewAuditEvent } from '../store/ports.ts'

const WINDOW_MS = 60_000
/**
 * Different refusals of one name that one chain takes in a minute; what is beyond is counted. Of one name: whoever has a thousand hosts refused
 * hides no answer that held a secret.
 */
const MOST_IN_WINDOW = 60
/** Events and counts that are kept for a store that does not take them: whoever is refused must not fill the memory either. */
const MOST_UNWRITTEN = 2_000

export interface Repetitions {
  /**
   * Writes the event, or counts it.
   * @throws what `write` throws; the event is kept for the next flush, unless it is refused
   */
  note(event: NewAuditEvent): Promise<void>
  /**
   * Writes what was counted in windows that are over, and what the store would not take before.
   * @param now later than every window has them all written
   * @throws what `write` throws; all that was not written is kept for the next time, but for what is refused, which is thrown once the
   * rest is written
   */
  flush(now: number): Promise<void>
}

interface Window {
  readonly chain: string
  readonly event: string
  readonly openedAt: number
  readonly seen: Map<string, { readonly event: NewAuditEvent; repeated: number; until: number }>
  suppressed: number
  /** Of the last refusal in it. */
  until: number
}

/**
 * @param write adds events at the end of their chains, all or none
 * @param onRefused told of each event that `write` will never take, and that is given up
 */
export function createRepetitions(
  write: (events: readonly NewAuditEvent[]) => Promise<void>,
  onRefused: (event: NewAuditEvent, thrown: unknown) => void,
): Repetitions {
  const windows = new Map<string, Window>()
  /** Events, and counts of windows that are over, which the store would not take. */
  let unwritten: readonly NewAuditEvent[] = []

  /** What comes from now on counts in another window, so that these counts stay as they are until they are written. */
  function close(key: string, { chain, event, seen, suppressed, openedAt, until }: Window): NewAuditEvent[] {
    windows.delete(key)
    const counted = [...seen.values()].filter(({ repeated }) => repeated > 0)
    const events = counted.map(({ event: first, repeated, until: at }) => ({
      ...first,
      at,
      detail: { ...first.detail, repeated, since: new Date(first.at).toISOString() },
    }))
    if (suppressed === 0) return events
    const since = new Date(openedAt).toISOString()
    return [
      ...events,
      {
        chain,
        at: until,
        event: 'refusals.suppressed',
        actor: { kind: 'gateway' },
        detail: { event, count: suppressed, since },
      },
    ]
  }

  /** Together; one at a time where the store refuses one of them, or nothing would ever be written with it. */
  async function writeOrKeep(events: readonly NewAuditEvent[]): Promise<void> {
    if (events.length === 0) return
    try {
      await write(events)
    } catch (thrown) {
      if (isRefusal(thrown)) return writeEach(events)
      keep(events)
      throw thrown
    }
  }

  async function writeEach(events: readonly NewAuditEvent[]): Promise<void> {
    const refusals: unknown[] = []
    for (const [index, event] of events.entries())
      try {
        await write([event])
      } catch (thrown) {
        if (!isRefusal(thrown)) {
          keep(events.slice(index))
          throw thrown
        }
        onRefused(event, thrown)
        refusals.push(thrown)
      }
    if (refusals.length > 0) throw refusals[0]
  }

  function keep(events: readonly NewAuditEvent[]): void {
    unwritten = [...unwritten, ...events].slice(0, MOST_UNWRITTEN)
  }

  return {
    async note(event) {
      const { chain, at } = event
      const key = `${chain} ${event.event}`
      let counts: readonly NewAuditEvent[] = []
      let window = windows.get(key)
      if (window && at - window.openedAt >= WINDOW_MS) {
        counts = close(key, window)
        window = undefined
      }
      if (!window) {
        window = { chain, event: event.event, openedAt: at, seen: new Map(), suppressed: 0, until: at }
        windows.set(key, window)
      }
      window.until = at
      const kind = kindOf(event)
      const known = window.seen.get(kind)
      if (known) {
        known.repeated++
        known.until = at
      } else if (window.seen.size < MOST_IN_WINDOW) {
        window.seen.set(kind, { event, repeated: 0, until: at })
        await writeOrKeep([...counts, event])
      } else window.suppressed++
    },

    async flush(now) {
      const over = [...windows].filter(([, { openedAt }]) => now - openedAt >= WINDOW_MS)
      const before = unwritten
      unwritten = []
      await writeOrKeep([...before, ...over.flatMap(([key, window]) => close(key, window))])
    },
  }
}

/** Whether the store says of what it was given that it takes none such, now or later. */
const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.code !== 'store_unavailable'

/** Two events of one kind differ in time, request and attempt only. */
function kindOf({ event, actor, subject, detail }: NewAuditEvent): string {
  const subjectId = subject?.type === 'attempt' ? '' : subject?.id
  return JSON.stringify([event, actor?.kind, actor?.id ?? actor?.address, actor?.tool, subjectId, detail])
}
