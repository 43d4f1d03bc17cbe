// Decides when resources are probed: those that somebody was shown, and those whose last probe is oldest; few at a time,
// never twice within the hour. What a probe sends and how it is judged is liveness.ts's business.
import type { Liveness } from '../../schemas/discovery.ts'
import { isObject } from '../lib/json.ts'
import type { Entry } from './entry.ts'
import { canBeProbed, notProbed } from './liveness.ts'

export interface LastProbe {
  /** The result of the last probe; replaced in place. */
  found: Liveness
}

export interface ProbeTarget {
  readonly entry: Entry
  readonly isOwn: boolean
  readonly lastProbe: LastProbe
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

/** @param parts.record stores the observation as JSON text; its failure goes to `onError` */
export function createProber({ probe, record, now, onError }: ProberParts) {
  const running = new Map<string, Promise<void>>()
  const hosts = new Set<string>()

  const isDue = ({ entry, isOwn, lastProbe: { found } }: ProbeTarget) =>
    !isOwn &&
    canBeProbed(entry) &&
    !running.has(entry.id) &&
    (found.checked_at === null || now() - Date.parse(found.checked_at) >= AGAIN_AFTER_MS)

  async function probeOnce({ entry, lastProbe }: ProbeTarget, host: string): Promise<void> {
    try {
      lastProbe.found = await probe(entry)
      await record(entry.id, JSON.stringify(lastProbe.found))
    } catch (thrown) {
      onError(thrown)
    } finally {
      running.delete(entry.id)
      hosts.delete(host)
    }
  }

  return {
    /** Starts probing those that are due, one at a time for each host; nobody waits for it. */
    begin(shown: readonly ProbeTarget[]): void {
      let begun = 0
      for (const target of shown) {
        if (begun >= MAX_A_CALL || running.size >= MAX_RUNNING) return
        const { host } = new URL(target.entry.resource)
        if (!isDue(target) || hosts.has(host)) continue
        begun++
        hosts.add(host)
        running.set(target.entry.id, probeOnce(target, host))
      }
    },
    async settled(): Promise<void> {
      await Promise.all(running.values())
    },
  }
}

/** Reads what this gateway itself stored of the last probe. */
export function readLiveness(stored: string | null, entry: Entry): Liveness {
  const value: unknown = stored === null ? undefined : JSON.parse(stored)
  return isObject(value) ? (value as unknown as Liveness) : notProbed(entry)
}
