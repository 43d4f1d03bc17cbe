// Documents that an operator edits by hand: one JSON file each, through lowdb with an adapter that survives a power
// cut (write aside, fsync, rename, fsync the directory) and notices an editor's change instead of overwriting it.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Adapter, Low } from 'lowdb'
import { GatewayError } from '../../core/errors.ts'
import { parseOperatorJson } from '../../lib/operator-json.ts'
import { describeFault } from './fault.ts'
import type { DocumentKind, DocumentStore } from '../ports.ts'

interface Entry<T> {
  readonly low: Low<T>
  readonly file: DocumentFile<T>
  /** Updates of one document run one after the other. */
  queue: Promise<unknown>
}

/** Documents as one JSON file each in `dataDir`. */
export function openFileDocuments(dataDir: string): DocumentStore {
  const entries = new Map<string, Entry<unknown>>()
  let isClosed = false

  function entryOf<T>(document: DocumentKind<T>): Entry<T> {
    if (isClosed) throw new GatewayError('store_unavailable', 'The gateway is shutting down.')
    let entry = entries.get(document.name) as Entry<T> | undefined
    if (!entry) {
      const file = createDocumentFile(dataDir, document)
      entry = { file, low: new Low<T>(file, document.initial), queue: Promise.resolve() }
      entries.set(document.name, entry as Entry<unknown>)
    }
    return entry
  }
  async function read<T>(document: DocumentKind<T>): Promise<{ value: T; problem?: string }> {
    const { low, file } = entryOf(document)
    await low.read()
    const problem = file.problem()
    return problem === undefined ? { value: low.data } : { value: low.data, problem }
  }
  async function change<T>(entry: Entry<T>, document: DocumentKind<T>, edit: (value: T) => T): Promise<T> {
    await entry.low.read()
    const problem = entry.file.problem()
    if (problem !== undefined)
      throw new GatewayError('state_conflict', `${problem} Repair the file by hand before changing it here.`)
    const value = document.parse(edit(structuredClone(entry.low.data)))
    const before = entry.low.data
    entry.low.data = value
    try {
      await entry.low.write()
    } catch (thrown) {
      entry.low.data = before
      throw thrown
    }
    return value
  }
  return {
    read,
    update(document, edit) {
      const entry = entryOf(document)
      const done = entry.queue.then(() => change(entry, document, edit))
      entry.queue = done.catch(() => undefined)
      return done
    },
    async close() {
      isClosed = true
      await Promise.all([...entries.values()].map((entry) => entry.queue))
    },
  }
}

interface DocumentFile<T> extends Adapter<T> {
  /** Problem with the file on disk, when the last good copy is being used instead. */
  problem(): string | undefined
}

function createDocumentFile<T>(dataDir: string, document: DocumentKind<T>): DocumentFile<T> {
  const path = join(dataDir, `${document.name}.json`)
  /** Digest of the bytes last read or written: what an update may replace. */
  let seen: string | undefined
  let good: T | undefined
  let problem: string | undefined

  async function read(): Promise<T> {
    const bytes = await readIfThere(path)
    const digest = bytes && digestOf(bytes)
    if (digest === seen && (good !== undefined || bytes === undefined)) return good ?? document.initial
    seen = digest
    problem = undefined
    if (bytes === undefined) {
      good = undefined
      return document.initial
    }
    try {
      good = document.parse(parseOperatorJson(bytes.toString('utf8')))
    } catch (thrown) {
      problem = describeFault(`${document.name}.json`, thrown, good !== undefined)
    }
    return good ?? document.initial
  }
  async function write(value: T): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
    await replaceFile(dataDir, path, bytes, async () => {
      const now = await readIfThere(path)
      if ((now && digestOf(now)) !== seen)
        throw new GatewayError(
          'state_conflict',
          `${document.name}.json was changed by hand meanwhile. Read it again, then repeat the change.`,
        )
    })
    seen = digestOf(bytes)
    good = value
  }
  return { read, write, problem: () => problem }
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64')

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}

/**
 * Either the old file or the new one is there after a crash, and the new one whole.
 * @param check last thing before the old one goes; throwing keeps it
 */
async function replaceFile(
  dir: string,
  path: string,
  bytes: Buffer,
  check: () => Promise<void>,
): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const aside = `${path}.${process.pid}.${randomUUID()}.tmp`
  try {
    const file = await open(aside, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await check()
    await rename(aside, path)
  } catch (thrown) {
    await rm(aside, { force: true })
    throw thrown
  }
  const folder = await open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
