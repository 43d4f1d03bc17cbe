// Rows that every call reads and hardly any call changes: service keys, capabilities, credentials. One process owns the
// file, so a row holds until this process changes one, which the traits of each command tell.
import { type CommandName, traitsOf } from '../commands/index.ts'
import { rowName } from '../row-name.ts'

const MAX_ROWS = 5_000

export interface RowCache {
  /** Row that `read` finds, or found before; one that it does not find is asked for every time. */
  through(name: CommandName, args: readonly unknown[], read: () => unknown): unknown
  /** Hears of every command that was answered, well or not, and forgets what that may have changed. */
  after(name: CommandName): void
}

/** Keeps at most 5,000 rows; a command that touches access forgets all of them. */
export function createRowCache(): RowCache {
  const rows = new Map<string, unknown>()
  return {
    through(name, args, read) {
      const traits = traitsOf(name)
      if (traits.kind !== 'lookup' || !traits.cached) return read()
      const key = rowName(name, args)
      const known = rows.get(key)
      if (known !== undefined) return known
      const found = read()
      if (found === undefined) return undefined
      rows.set(key, found)
      const [oldest] = rows.keys()
      if (rows.size > MAX_ROWS && oldest !== undefined) rows.delete(oldest)
      return found
    },
    after(name) {
      const traits = traitsOf(name)
      if ('touches' in traits && traits.touches === 'access') rows.clear()
    },
  }
}
