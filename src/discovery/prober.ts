// When our own looks happen: for entries that somebody was shown, and for those whose last look is oldest; few at a
// time, never twice within the hour.
import type { Liveness } from '../../schemas/discovery.ts'
import { isObject } from '../lib/json.ts'
import type { Entry } from './entry.ts'
import { canBeProbed, notProbed } from './liveness.ts'

export interface Look {
  /** By our last look. */
  found: Liveness
}

export interface Looked {
  readonly entry: Entry
  readonly isOwn: boolean
  readonly look: Look
}

const AGAIN_AFTER_MS = 3600 * 1000
const MAX_A_CALL = 8
const MAX_RUNNING = 16

export interface ProberParts {
  readonly probe: (entry: Entry) => Promise<Liveness>
  readonly record: (id: string, liveness: string) => Promise<void>
  readonly now: () => number
  readonly onError: (thrown: unknown) => void
}

export function createProber({ probe, record, now, onError }: ProberParts) {
  const running = new Map<string, Promise<void>>()
  const hosts = new Set<string>()

  const isDue = ({ entry, isOwn, look: { found } }: Looked) =>
    !isOwn &&
    canBeProbed(entry) &&
    !running.has(entry.id) &&
    (found.checked_at === null || now() - Date.parse(found.checked_at) >= AGAIN_AFTER_MS)

  async function lookAt({ entry, look }: Looked, host: string): Promise<void> {
    try {
      look.found = await probe(entry)
      await record(entry.id, JSON.stringify(look.found))
    } catch (thrown) {
      onError(thrown)
    } finally {
      running.delete(entry.id)
      hosts.delete(host)
    }
  }

  return {
    /** Begins looks at those that are due; one at a time for each host. */
    begin(shown: readonly Looked[]): void {
      let begun = 0
      for (const looked of shown) {
        if (begun >= MAX_A_CALL || running.size >= MAX_RUNNING) return
        const { host } = new URL(looked.entry.resource)
        if (!isDue(looked) || hosts.has(host)) continue
        begun++
        hosts.add(host)
        running.set(looked.entry.id, lookAt(looked, host))
      }
    },
    async settled(): Promise<void> {
      await Promise.all(running.values())
    },
  }
}

/** What was stored of the last look; nothing that we did not write ourselves. */
export function readLiveness(stored: string | null, entry: Entry): Liveness {
  const value: unknown = stored === null ? undefined : JSON.parse(stored)
  return isObject(value) ? (value as unknown as Liveness) : notProbed(entry)
}
