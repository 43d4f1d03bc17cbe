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
  function inTurn<T, R>(entry: Entry<T>, work: () => Promise<R>): Promise<R> {
    const done = entry.queue.then(work)
    entry.queue = done.catch(() => undefined)
    return done
  }
  return {
    read,
    update(document, edit) {
      const entry = entryOf(document)
      return inTurn(entry, () => change(entry, document, edit))
    },
    readText: (document) => entryOf(document).file.readText(),
    replaceText(document, { text, revision }) {
      const entry = entryOf(document)
      return inTurn(entry, async () => {
        const value = document.parse(parseOperatorJson(text))
        await entry.file.writeText(text, value, revision)
        entry.low.data = value
        return value
      })
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
  readText(): Promise<{ text: string | undefined; revision: string }>
  /** @throws {GatewayError} state_conflict where another text stands there than the one of this revision */
  writeText(text: string, value: T, revision: string): Promise<void>
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
  async function replace(bytes: Buffer, value: T, expected: string | undefined): Promise<void> {
    await replaceFile(dataDir, path, bytes, async () => {
      const now = await readIfThere(path)
      if ((now && digestOf(now)) !== expected)
        throw new GatewayError(
          'state_conflict',
          `${document.name}.json was changed meanwhile. Read it again, then repeat the change.`,
        )
    })
    seen = digestOf(bytes)
    good = value
    problem = undefined
  }
  return {
    read,
    write: (value) => replace(Buffer.from(`${JSON.stringify(value, null, 2)}\n`), value, seen),
    problem: () => problem,
    async readText() {
      const bytes = await readIfThere(path)
      return bytes
        ? { text: bytes.toString('utf8'), revision: digestOf(bytes) }
        : { text: undefined, revision: NO_TEXT }
    },
    writeText: (text, value, revision) =>
      replace(Buffer.from(text), value, revision === NO_TEXT ? undefined : revision),
  }
}

/** Revision of a document that nobody has written. */
const NO_TEXT = 'none'

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
