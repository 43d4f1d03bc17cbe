// A new file that has its room on the disk before there is anything to put into it: a full disk refuses while nothing is lost by it.
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { CommandFailure, Exit } from './exit.ts'

/** Four times the longest token, a permit. Random, because a disk that compresses would keep no room for blanks. */
const RESERVED_BYTES = 16 * 1024

export interface ReservedFile {
  /** The file holds this and nothing else, and it is on the disk. @throws what the system says */
  write(text: string): Promise<void>
  /** Leaves nothing behind. */
  discard(): Promise<void>
}

/** @throws {CommandFailure} where the file is there already, cannot be made, or has no room */
export async function reserveFile(file: string): Promise<ReservedFile> {
  // `wx` never follows or overwrites what is there.
  const handle = await open(file, 'wx', 0o600).catch((thrown) => Promise.reject(inWords(file, thrown)))
  const discard = async () => {
    // What cannot be removed must not hide why it is of no use.
    await handle.close().catch(() => {})
    await rm(file, { force: true }).catch(() => {})
  }
  try {
    await overwrite(handle, randomBytes(RESERVED_BYTES))
  } catch (thrown) {
    await discard()
    throw inWords(file, thrown)
  }
  return {
    async write(text) {
      await overwrite(handle, Buffer.from(text))
      await handle.close()
    },
    discard,
  }
}

/** In place, so that the room stays this file's; what is longer is cut only then. */
async function overwrite(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten
  await handle.truncate(bytes.length)
  // Some disks say only now that they are full.
  await handle.sync()
}

/** @returns the name that the system has for what failed */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown)

/** EFBIG: a shell limits the size of files, which is as good as no room. */
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EFBIG']

function inWords(file: string, thrown: unknown): CommandFailure {
  const code = codeOf(thrown)
  if (code === 'EEXIST') return new CommandFailure(Exit.failed, `${file} exists already: name a new file.`)
  return new CommandFailure(
    Exit.failed,
    NO_ROOM.includes(code)
      ? `There is no space left for ${file} (${code}): nothing was made. Free some, or name a file on another disk.`
      : `${file} cannot be written by this user (${code}): nothing was made.`,
  )
}
