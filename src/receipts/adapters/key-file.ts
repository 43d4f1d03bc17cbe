// Key files on disk: written whole or not at all, never readable by anyone else, one writer at a time.
import { randomUUID } from 'node:crypto'
import { type FileHandle, link, open, realpath, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { GatewayError } from '../../core/errors.ts'
import { makeDirectory } from '../../store/make-directory.ts'

/** A lock older than this was left by a process that died: writing a key file takes milliseconds. */
const STALE_LOCK_MS = 30_000

/** @returns why a key file cannot be read, and what to do; for a file that is there */
export function describeUnreadable(file: string, thrown: unknown): string {
  if (hasCode(thrown, 'EISDIR')) return `${file} is a directory: put the key file in its place, from a backup`
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'error'
  return `${file} cannot be read by this user (${code}): give it to the user that runs the gateway`
}

/** Creates the file with this content, unless it exists by then: the first of two starting replicas wins. */
export async function createFile(file: string, content: string): Promise<void> {
  makeDirectory(dirname(file))
  const draft = await writeDraft(file, content)
  try {
    await link(draft, file)
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) throw thrown
  } finally {
    await unlink(draft)
  }
  await syncDirectory(file)
}

/**
 * Writes beside the file and renames over it, so that a crash leaves the old one or the new one whole.
 * @throws {PlaceNotWritable}
 */
export async function replaceFile(file: string, content: string): Promise<void> {
  const place = await placeOf(file)
  await writing(async () => rename(await writeDraft(place, content), place))
  await syncDirectory(place)
}

/** Tries whether the file could be replaced, by writing something beside it. @throws {PlaceNotWritable} */
export async function tryReplacing(file: string): Promise<void> {
  const place = await placeOf(file)
  await writing(async () => unlink(await writeDraft(place, '')))
}

/**
 * Where the file itself is: replicas may share it by links. A rename over a link would leave the others with the old file, and a lock
 * beside a link would keep nobody out who comes by another one.
 */
async function placeOf(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch (thrown) {
    if (!hasCode(thrown, 'ENOENT')) throw thrown
    return file
  }
}

/** The place of a file may not be written: by this user, or by anybody. Nothing was changed, and to try again changes nothing. */
export class PlaceNotWritable extends Error {}

async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    // EBUSY: the file is a mount of its own, which nothing is renamed over.
    if (!['EACCES', 'EPERM', 'EROFS', 'EBUSY'].some((code) => hasCode(thrown, code))) throw thrown
    throw new PlaceNotWritable(thrown instanceof Error ? thrown.message : 'not writable', { cause: thrown })
  }
}

/**
 * Read-modify-write across processes. Two rotations at once would each write a set without the other's new key.
 * @throws {GatewayError} state_conflict while another process holds the lock
 * @throws {PlaceNotWritable}
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${await placeOf(file)}.lock`
  await takeLock(lock)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function takeLock(lock: string): Promise<void> {
  let handle: FileHandle
  try {
    handle = await writing(() => open(lock, 'wx', 0o600))
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) throw thrown
    const age = Date.now() - (await modifiedAt(lock))
    if (age < STALE_LOCK_MS)
      throw new GatewayError('state_conflict', 'Another rotation is running. Try again when it is done.', {
        extras: { retry_after_seconds: 5 },
      })
    await rm(lock, { force: true })
    return takeLock(lock)
  }
  await handle.close()
}

async function modifiedAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs
  } catch {
    return 0
  }
}

async function writeDraft(file: string, content: string): Promise<string> {
  const draft = `${file}.${randomUUID()}.tmp`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return draft
}

/** The name is on disk only once its directory is. */
async function syncDirectory(file: string): Promise<void> {
  const handle = await open(dirname(file), 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}
