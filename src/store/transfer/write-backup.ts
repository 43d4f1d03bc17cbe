// Writes a backup to a file that nobody else reads, under another name until all of it is on disk: what was cut off never looks whole.
import { createHash, randomUUID } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Writable } from 'node:stream'
import type { StoreConfig } from '../index.ts'
import { type BackupOrigin, backupStream } from './backup-file.ts'
import { openSource } from './carry.ts'
import { TransferFault } from './ports.ts'

/** Bytes and digest of the file, and rows in it. */
export interface WrittenBackup {
  readonly bytes: number
  readonly sha256: string
  readonly rows: number
  readonly engine: 'sqlite' | 'postgres'
  readonly schemaVersion: number
}

/** Rows so far, and about how many there are; bytes of the database. */
export type OnProgress = (rows: number, about: { readonly rows: number; readonly bytes: number }) => void

interface WriteOptions {
  readonly config: StoreConfig
  readonly origin: BackupOrigin
  readonly onProgress?: OnProgress | undefined
  readonly signal?: AbortSignal | undefined
}

/** Streams a backup of the configured database. @throws {TransferFault} */
export async function streamBackup(
  { config, origin, onProgress, signal }: WriteOptions,
  to: Writable,
): Promise<WrittenBackup> {
  const source = await openSource(config)
  try {
    const hash = createHash('sha256')
    let [bytes, rows] = [0, 0]
    const stream = backupStream(source, origin, (count) => {
      rows = count
      onProgress?.(count, source.size)
    })
    async function* measured() {
      for await (const piece of stream) {
        hash.update(piece)
        bytes += piece.length
        yield piece
      }
    }
    await pipeline(measured, to, signal ? { signal } : {})
    const { engine, schemaVersion } = source
    return { bytes, sha256: hash.digest('hex'), rows, engine, schemaVersion }
  } finally {
    await source.close()
  }
}

/** The name of a file until all of it is on disk. In containers that share a folder every process may be number 1, so that chance tells them apart. */
export const partOf = (file: string): string => join(dirname(file), `.${basename(file)}.${randomUUID()}.part`)

/**
 * Writes the backup into a new file (0600).
 * @param options.beforeNaming all of it is on disk by then
 * @throws {TransferFault} where the file exists, or its place has no room
 */
export async function writeBackup(
  options: WriteOptions & { readonly beforeNaming?: () => Promise<void> },
  file: string,
  part = partOf(file),
): Promise<WrittenBackup> {
  const folder = dirname(file)
  if (await stat(file).catch(() => undefined))
    throw new TransferFault(`${file} exists already: name a new file.`)
  const handle = await open(part, 'wx', 0o600).catch((thrown: unknown) => {
    throw ofDisk(thrown, file)
  })
  try {
    // The stream closes the file, after it is on disk.
    const written = await streamBackup(options, handle.createWriteStream({ flush: true }))
    await options.beforeNaming?.()
    await rename(part, file)
    await syncFolder(folder)
    return written
  } catch (thrown) {
    await handle.close().catch(() => {})
    await rm(part, { force: true })
    throw ofDisk(thrown, file)
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const WORDS: Readonly<Record<string, (file: string) => string>> = {
  ENOSPC: (file) =>
    `There is no space left for ${file}. Free some or name a file on another disk; what was begun is removed.`,
  EDQUOT: (file) =>
    `Your quota leaves no space for ${file}. Name a file elsewhere; what was begun is removed.`,
  ENOENT: (file) => `The directory of ${file} does not exist. Make it first.`,
  ENOTDIR: (file) => `${dirname(file)} is no directory.`,
  EACCES: (file) => `${file} may not be written by this user.`,
  EROFS: (file) => `${file} would be on a read-only file system. Name a file elsewhere.`,
}

function ofDisk(thrown: unknown, file: string): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const words = WORDS[code]
  return words ? new TransferFault(words(file), { cause: thrown }) : thrown
}
