// A file that is written piece by piece and is there whole or not at all: under another name until its last byte is on disk. Nothing that is
// there already is replaced.
import { link, open, rename, truncate, unlink } from 'node:fs/promises'
import { CommandFailure, Exit } from './exit.ts'
import { writeWhole } from './stdout.ts'

export interface FileWriter {
  write(text: string): Promise<void>
  /** The file is there from now on. @throws {CommandFailure} where another one took its name meanwhile */
  finish(): Promise<void>
  /** Leaves nothing behind. */
  discard(): Promise<void>
  /** Leaves what was written as `<file>.part`, without a piece of a write that failed. @returns its name; undefined of stdout */
  keep(): Promise<string | undefined>
}

/**
 * Writes to stdout where no file is named, and then fails where that does not take all of it.
 * @throws {CommandFailure} where the file is there already, or cannot be written
 */
export async function openWriter(file: string | undefined): Promise<FileWriter> {
  if (file === undefined) return { write: writeWhole, finish: nothing, discard: nothing, keep: nothing }
  const part = `${file}.${process.pid}.part`
  const handle = await open(part, 'wx', 0o600).catch(() => Promise.reject(unwritable(file)))
  const discard = async () => {
    await handle.close().catch(() => {})
    await unlink(part).catch(() => {})
  }
  await open(file, 'r').then(
    async (other) => {
      await other.close()
      await discard()
      throw exists(file)
    },
    () => {},
  )
  let wholeBytes = 0
  return {
    write: async (text) => {
      await handle.writeFile(text).catch(() => Promise.reject(unwritable(file)))
      wholeBytes += Buffer.byteLength(text)
    },
    async finish() {
      await handle.sync()
      await handle.close()
      // Unlike a rename this replaces nothing.
      await link(part, file).catch((thrown: NodeJS.ErrnoException) => {
        throw thrown.code === 'EEXIST' ? exists(file) : unwritable(file)
      })
      await unlink(part)
    },
    discard,
    async keep() {
      // It may be closed, where only its name could not be given.
      await handle.close().catch(() => {})
      // A disk that fills up takes the beginning of what it is given. What cannot be cut either must not hide why it broke off.
      await truncate(part, wholeBytes).catch(() => {})
      const kept = `${file}.part`
      // One that broke off before is older than this one.
      await rename(part, kept)
      return kept
    },
  }
}

const nothing = async () => undefined

const exists = (file: string) =>
  new CommandFailure(Exit.usage, `${file} exists already: an export replaces no other. Name another file.`)
const unwritable = (file: string) =>
  new CommandFailure(
    Exit.usage,
    `${file} cannot be written: its folder is not there or full, or this user may not write in it. Name another file.`,
  )
