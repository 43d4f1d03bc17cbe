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
   * @throws what `write` throws; the event is kept for the next flush, unless the store refuses it
   */
  note(event: NewAuditEvent): Promise<void>
  /**
   * Writes what was counted in windows that are over, and what the store would not take before.
   * @param now later than every window has them all written
   * @throws what `write` throws; all of it is kept for the next time
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

/** @param write adds events at the end of their chains */
export function createRepetitions(write: (events: readonly NewAuditEvent[]) => Promise<void>): Repetitions {
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

  /** What the store does not take now is kept; an event that it refuses is not, or nothing would ever be written with it. */
  async function writeOrKeep(counts: readonly NewAuditEvent[], event?: NewAuditEvent): Promise<void> {
    const events = event ? [...counts, event] : counts
    if (events.length === 0) return
    try {
      await write(events)
    } catch (thrown) {
      unwritten = [...unwritten, ...(isRefusal(thrown) ? counts : events)].slice(0, MOST_UNWRITTEN)
      throw thrown
    }
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
        await writeOrKeep(counts, event)
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
