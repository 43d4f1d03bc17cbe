// A refusal that comes again and again is one event and a number: whoever is refused decides how often they try, and must not
// decide how long the log gets. The first of a kind is written at once, because an alarm is of no use a minute later.
import type { NewAuditEvent } from '../store/ports.ts'

const WINDOW_MS = 60_000
/** Different refusals that one chain takes in a minute; what is beyond is counted. */
const MOST_IN_WINDOW = 60

export interface Repetitions {
  /** Writes the event, or counts it. */
  note(event: NewAuditEvent): Promise<void>
  /** Writes what was counted in windows that are over; with `all`, in every one. */
  flush(all?: boolean): Promise<void>
}

interface Window {
  readonly openedAt: number
  readonly seen: Map<string, { readonly event: NewAuditEvent; repeated: number; until: number }>
  suppressed: number
}

/** @param write adds events at the end of their chains */
export function createRepetitions(write: (events: readonly NewAuditEvent[]) => Promise<void>): Repetitions {
  const windows = new Map<string, Window>()
  let latest = 0

  function close(chain: string, { seen, suppressed, openedAt }: Window): NewAuditEvent[] {
    windows.delete(chain)
    const counted = [...seen.values()].filter(({ repeated }) => repeated > 0)
    const events = counted.map(({ event, repeated, until }) => ({
      ...event,
      at: until,
      detail: { ...event.detail, repeated, since: new Date(event.at).toISOString() },
    }))
    if (suppressed === 0) return events
    const since = new Date(openedAt).toISOString()
    return [
      ...events,
      {
        chain,
        at: latest,
        event: 'refusals.suppressed',
        actor: { kind: 'gateway' },
        detail: { count: suppressed, since },
      },
    ]
  }

  return {
    async note(event) {
      const { chain, at } = event
      latest = Math.max(latest, at)
      const before: NewAuditEvent[] = []
      let window = windows.get(chain)
      if (window && at - window.openedAt >= WINDOW_MS) {
        before.push(...close(chain, window))
        window = undefined
      }
      if (!window) {
        window = { openedAt: at, seen: new Map(), suppressed: 0 }
        windows.set(chain, window)
      }
      const kind = kindOf(event)
      const known = window.seen.get(kind)
      if (known) {
        known.repeated++
        known.until = at
      } else if (window.seen.size < MOST_IN_WINDOW) {
        window.seen.set(kind, { event, repeated: 0, until: at })
        before.push(event)
      } else window.suppressed++
      if (before.length > 0) await write(before)
    },

    async flush(all = false) {
      const over = [...windows].filter(([, { openedAt }]) => all || latest - openedAt >= WINDOW_MS)
      const events = over.flatMap(([chain, window]) => close(chain, window))
      if (events.length > 0) await write(events)
    },
  }
}

/** Two events of one kind differ in time, request and attempt only. */
function kindOf({ event, actor, subject, detail }: NewAuditEvent): string {
  const subjectId = subject?.type === 'attempt' ? '' : subject?.id
  return JSON.stringify([event, actor?.kind, actor?.id ?? actor?.address, actor?.tool, subjectId, detail])
}
