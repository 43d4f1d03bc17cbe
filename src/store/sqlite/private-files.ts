// The files of the database are their owner's alone, in whatever directory they are. SQLite would make them as the umask says.
import { chmodSync, closeSync, openSync, statSync } from 'node:fs'

/**
 * Makes a file that SQLite is about to open, with the mode that its log of writes and the index of that get, too.
 * @returns the system's code for why it cannot be made, for whoever hears less from SQLite; undefined where it was made, or is there
 */
export function createPrivate(file: string): string | undefined {
  try {
    // One that is there is not opened: to close it would end the locks that this process has on it.
    closeSync(openSync(file, 'wx', 0o600))
    return undefined
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'error'
    return code === 'EEXIST' ? undefined : code
  }
}

/** Closes a database that an earlier release, or a copy, left open to others. What belongs to another user is theirs to close. */
export function closeToOthers(file: string): void {
  for (const part of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) {
    const info = statSync(part, { throwIfNoEntry: false })
    if (info === undefined || (info.mode & 0o077) === 0) continue
    try {
      chmodSync(part, 0o600)
    } catch {}
  }
}
