// What the gateway does without being called, as people look at it: when each part of it ran last, how long that took and whether it went well.
// Figures of this process; every replica does the same work on the same rows.

export interface UpkeepRun {
  /** Name of the part, such as `settlements`. */
  readonly name: string
  readonly startedAt: number
  readonly ms: number
  /** Code of the error that it ended in; null where it went well. */
  readonly failed: string | null
  /** Times that it ran since the start, and how many of them failed. */
  readonly runs: number
  readonly failures: number
}

export interface Upkeep {
  /** In the order in which they first ran. */
  list(): readonly UpkeepRun[]
}

export interface UpkeepWatch extends Upkeep {
  /** Runs the part and notes how it went. Rejects as the part does. */
  run<T>(name: string, part: () => Promise<T> | T): Promise<T>
}

/** @param now milliseconds since the epoch */
export function createUpkeepWatch({ now }: { readonly now: () => number }): UpkeepWatch {
  const runs = new Map<string, UpkeepRun>()

  function note(name: string, startedAt: number, failed: string | null): void {
    const before = runs.get(name)
    runs.set(name, {
      name,
      startedAt,
      ms: Math.max(now() - startedAt, 0),
      failed,
      runs: (before?.runs ?? 0) + 1,
      failures: (before?.failures ?? 0) + (failed === null ? 0 : 1),
    })
  }

  return {
    list: () => [...runs.values()],
    async run(name, part) {
      const startedAt = now()
      try {
        const result = await part()
        note(name, startedAt, null)
        return result
      } catch (thrown) {
        note(name, startedAt, codeOf(thrown))
        throw thrown
      }
    },
  }
}

/** A code, never a message: drivers quote what they were given. */
const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'error'
