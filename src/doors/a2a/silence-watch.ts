// Whether the process behind a task is silent, for the other replicas. Clocks of two machines are never compared: whoever looks at a task counts
// by his own how long it stays as it is, and a time in which he could not look, as while the database was away, counts little.
import type { StoredTask } from '../../store/ports.ts'

/** How often a process writes that a task goes on. */
export const HEARTBEAT_MS = 30_000
/** A process that was seen to write nothing for so long is taken for dead. */
const SILENT_MS = 4 * HEARTBEAT_MS
/** Tasks that are watched at once; what nobody has looked at for the longest is forgotten. */
const MOST = 1000

interface Seen {
  readonly revision: number
  readonly at: number
  readonly silentMs: number
}
type Row = Pick<StoredTask, 'id' | 'revision'>

export interface SilenceWatch {
  /** Takes note of a look at a task that another process works on. */
  isSilent(row: Row): boolean
  /** Whether it was written to since the last look. */
  hasMoved(row: Row): boolean
  watched(): readonly string[]
  forget(id: string): void
}

export function createSilenceWatch(now: () => number): SilenceWatch {
  const seen = new Map<string, Seen>()
  return {
    isSilent({ id, revision }) {
      const before = seen.get(id)
      const at = now()
      // At most a beat for each look: a clock may be set, and behind a longer time its beats may have been missed.
      const passed =
        before?.revision === revision
          ? before.silentMs + Math.min(Math.max(at - before.at, 0), HEARTBEAT_MS)
          : 0
      seen.delete(id)
      seen.set(id, { revision, at, silentMs: passed })
      if (seen.size > MOST) seen.delete(seen.keys().next().value!)
      return passed >= SILENT_MS
    },
    hasMoved: ({ id, revision }) => seen.get(id)?.revision !== revision,
    watched: () => [...seen.keys()],
    forget: (id) => void seen.delete(id),
  }
}
