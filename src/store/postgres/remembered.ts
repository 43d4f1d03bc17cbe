// Rows that every call reads and hardly any call changes: keys, capabilities, credentials, connections, sessions. They are remembered
// under the word of `access_version`, and the word is read again for every call: one look for all calls that wait for it, so that each sees
// whatever was revoked before it came, at whichever replica.
import { all, type Command } from '../command.ts'
import { ACCESS_VERSION } from '../access-version.ts'
import { toStoreError } from '../failure.ts'
import { within } from '../../lib/deadline.ts'

const MAX_ROWS = 5_000
/** The row of a connection has the rows of its credentials with it: some are a thousand times as large as others. */
const MAX_CHARS = 32 * 1024 * 1024
/** A connection that has gone silent would hold up every call: the next look takes another one. */
const LOOK_MS = 5_000

export interface Remembered {
  /** The row under this name, as it is now or was at a moment after this was called. One that is not found is asked for every time. */
  through(name: string, read: () => Promise<unknown>): Promise<unknown>
}

const SILENT = 'The database does not answer. Nothing was charged or sent; try again in a moment.'

/** @param look reads the word that changes with every change of a row */
export function rememberRows(look: () => Promise<string>): Remembered {
  const rows = new Map<string, { readonly row: unknown; readonly chars: number }>()
  let chars = 0
  let known: string | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function lookAgain(): Promise<void> {
    const version = await within(LOOK_MS, look())
    if (version === undefined)
      throw toStoreError({ code: 'store_unavailable', detail: SILENT, reason: 'silent' })
    if (version === known) return
    rows.clear()
    chars = 0
    known = version
  }
  /** Resolves after a look that began later than now: the one that is under way may have read before a revocation that this call follows. */
  function current(): Promise<void> {
    next ??= (running ?? Promise.resolve()).then(begin, begin)
    return next
  }
  function begin(): Promise<void> {
    next = undefined
    const look = lookAgain()
    running = look
    return look
  }

  function keep(name: string, row: unknown): void {
    forget(name)
    const size = JSON.stringify(row).length
    rows.set(name, { row, chars: size })
    chars += size
    for (const oldest of rows.keys()) {
      if (rows.size <= MAX_ROWS && chars <= MAX_CHARS) break
      forget(oldest)
    }
  }
  function forget(name: string): void {
    chars -= rows.get(name)?.chars ?? 0
    rows.delete(name)
  }

  return {
    async through(name, read) {
      await current()
      const remembered = rows.get(name)
      if (remembered !== undefined) return remembered.row
      const under = known
      const found = await read()
      // What was read after the word is at least as new as the word; where the word is another by now, it may be older than that.
      if (found === undefined || under !== known) return found
      keep(name, found)
      return found
    },
  }
}

/** The word as it is now. */
export function* accessVersion(): Command<string> {
  const [row] = yield* all<{ version: string }>(ACCESS_VERSION)
  if (!row) throw new Error('the table of the access version is empty')
  return row.version
}
