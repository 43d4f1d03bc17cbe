// The file of a backup: gzip over text, so that `zcat FILE | head -1` shows what it is. The first line is the header; then each table is a line that names
// it and its columns, its rows (row-text.ts) and `\.`; the last line holds the tally of each table and the SHA-256 of all before it. A file without its last
// line is no backup.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { pipeline } from 'node:stream'
import { z } from 'zod'
import { type RowReader, type RowSource, TransferFault } from './ports.ts'
import { decodeRow, END_OF_ROWS, linesOf } from './row-text.ts'
import { createTallier, type Tally, tallied } from './tally.ts'
import { CARRIED_TABLES, TABLE_FATES } from './tables.ts'

const FORMAT = 'agent-gateway-backup'
export const FORMAT_VERSION = 1
/** Rows are mostly random digits and signatures: a higher level takes three times as long for a twentieth less. */
const GZIP_LEVEL = 1
/** No row is as long: an answer of the largest size, in hexadecimal, is a hundredth of it. */
const LONGEST_LINE = 256 * 1024 * 1024
const NEWLINE = 10

const Header = z.object({
  format: z.literal(FORMAT),
  format_version: z.int().min(1),
  /** Release that wrote it. */
  gateway: z.string(),
  engine: z.enum(['sqlite', 'postgres']),
  schema_version: z.int().min(1),
  taken_at: z.iso.datetime(),
  /** Mode in which the data was begun. */
  mode: z.enum(['sandbox', 'production']).nullable(),
  /** Ids of the keys that the data needs; none of the keys is in here. */
  keys: z.object({
    authority: z.array(z.string()),
    signing: z.array(z.string()),
    /** Digest by which `derivation.jwk` is known. */
    derivation_check: z.string().nullable(),
  }),
})
export type BackupHeader = z.infer<typeof Header>
/** What the writer adds to what the database says of itself. */
export type BackupOrigin = Pick<BackupHeader, 'gateway' | 'taken_at'>

const TableLine = z.object({ table: z.string(), columns: z.array(z.string().regex(/^[a-z][a-z0-9_]*$/)) })
const Tallies = z.record(z.string(), z.object({ rows: z.int().min(0), checksum: z.string() }))
const Trailer = z.object({ end: z.literal(true), tables: Tallies, sha256: z.string() })

export type Tallied = Readonly<Record<string, Tally>>
/** Rows so far. */
export type OnRows = (rows: number) => void

/** The carried tables that this version of a database has, in the order of loading. */
export function carriedTablesOf(reader: RowReader): readonly string[] {
  return CARRIED_TABLES.filter((table) => reader.columnsOf(table) !== undefined)
}

/** The file as pieces, not compressed yet. @throws {TransferFault} */
async function* textOf(source: RowSource, origin: BackupOrigin, onRows: OnRows): AsyncGenerator<Buffer> {
  const header: BackupHeader = {
    format: FORMAT,
    format_version: FORMAT_VERSION,
    ...origin,
    engine: source.engine,
    schema_version: source.schemaVersion,
    ...(await readNeeds(source)),
  }
  yield line(header)
  const tables: Record<string, Tally> = {}
  let before = 0
  for (const table of carriedTablesOf(source)) {
    yield line({ table, columns: source.columnsOf(table) })
    const tallier = createTallier()
    for await (const piece of tallied(source.rowsOf(table), tallier)) {
      yield piece
      onRows(before + tallier.end().rows)
    }
    tables[table] = tallier.end()
    before += tallier.end().rows
    yield Buffer.from(`${END_OF_ROWS}\n`)
  }
  yield line({ end: true, tables })
}

/** The file, compressed. @throws {TransferFault} */
export function backupStream(source: RowSource, origin: BackupOrigin, onRows: OnRows): AsyncIterable<Buffer> {
  const hash = createHash('sha256')
  async function* signed() {
    let last: Buffer | undefined
    for await (const piece of textOf(source, origin, onRows)) {
      if (last) {
        hash.update(last)
        yield last
      }
      last = piece
    }
    const trailer = JSON.parse(String(last)) as object
    yield line({ ...trailer, sha256: hash.digest('hex') })
  }
  const gzip = createGzip({ level: GZIP_LEVEL })
  // Its failure reaches whoever reads the stream.
  pipeline(signed, gzip, () => {})
  return gzip as AsyncIterable<Buffer>
}

const line = (document: object) => Buffer.from(`${JSON.stringify(document)}\n`)

/** Mode of the installation, and which keys its data needs. */
async function readNeeds(source: RowSource): Promise<Pick<BackupHeader, 'mode' | 'keys'>> {
  const authority = await source.query<{ kid: string }>(
    `SELECT DISTINCT wrap_kid AS kid FROM credentials WHERE wrap_kid <> ''`,
  )
  const signing = await source.query<{ kid: string }>(
    `SELECT kid FROM published_keys WHERE purpose = 'sign' AND retired_at IS NULL AND revoked_at IS NULL`,
  )
  const documents = new Map<unknown, unknown>()
  for await (const piece of source.rowsOf('documents'))
    for (const row of linesOf(piece)) {
      const [json, name] = decodeRow(row.toString('utf8'), ['text', 'text'])
      documents.set(name, parse(String(json)))
    }
  const { mode = null } = (documents.get('installation') ?? {}) as { mode?: BackupHeader['mode'] }
  const { check = null } = (documents.get('derivation-key-check') ?? {}) as { check?: string | null }
  const kids = (rows: readonly { kid: string }[]) => rows.map(({ kid }) => kid).toSorted()
  return { mode, keys: { authority: kids(authority), signing: kids(signing), derivation_check: check } }
}

/** A document that somebody broke says nothing. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

export interface BackupReader {
  /** Called once, before any table. */
  readonly header?: (header: BackupHeader) => Promise<void> | void
  /** Has to read the pieces to their end. */
  readonly table: (table: string, columns: readonly string[], pieces: AsyncIterable<Buffer>) => Promise<void>
}

/**
 * Reads the file from its beginning to its end.
 * @returns header, and the tallies that it was written with, which are those of what was read
 * @throws {TransferFault} where it is no backup, is damaged or cut, or of a release that this one does not know
 */
export async function readBackupFile(
  file: string,
  reader: BackupReader,
): Promise<{ header: BackupHeader; tables: Tallied }> {
  await refuseOthers(file)
  const gunzip = createGunzip()
  pipeline(createReadStream(file), gunzip, () => {})
  const text = new LineReader(gunzip as AsyncIterable<Buffer>)
  try {
    const header = parseHeader(file, await text.line())
    await reader.header?.(header)
    const found: Record<string, Tally> = {}
    for (;;) {
      const before = text.digest()
      const next: unknown = JSON.parse((await text.line()) ?? 'null')
      const trailer = Trailer.safeParse(next)
      if (trailer.success) {
        if (trailer.data.sha256 !== before || !sameTallies(trailer.data.tables, found)) throw damaged(file)
        return { header, tables: found }
      }
      const { table, columns } = TableLine.parse(next)
      if (TABLE_FATES[table]?.fate !== 'carried' || found[table] !== undefined)
        throw new TransferFault(
          `${file} holds a table that this release does not know. It is of a newer release: restore it with that one.`,
        )
      const tallier = createTallier()
      await reader.table(table, columns, tallied(text.rows(), tallier))
      found[table] = tallier.end()
    }
  } catch (thrown) {
    if (thrown instanceof TransferFault || !isOfText(thrown)) throw thrown
    throw damaged(file, thrown)
  } finally {
    gunzip.destroy()
  }
}

/** Of zlib, JSON, zod and the parser of rows: whatever else fails is no fault of the file. */
const isOfText = (thrown: unknown): boolean =>
  thrown instanceof SyntaxError ||
  thrown instanceof RangeError ||
  thrown instanceof z.ZodError ||
  (thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('Z_'))

const damaged = (file: string, cause?: unknown) =>
  new TransferFault(
    `${file} is damaged, or was cut off before its end: nothing of it was kept. Take another copy of it, or another backup.`,
    { cause },
  )

function parseHeader(file: string, text: string | undefined): BackupHeader {
  const document = JSON.parse(text ?? 'null') as { format?: unknown; format_version?: unknown } | null
  if (document?.format !== FORMAT) throw new TransferFault(`${file} is no backup of this gateway.`)
  if (document.format_version !== FORMAT_VERSION)
    throw new TransferFault(
      `${file} is of backup format ${String(document.format_version)}, and this release reads ${FORMAT_VERSION}: restore it with the release that wrote it, or a newer one.`,
    )
  return Header.parse(document)
}

/** What people take for a backup of this kind. */
async function refuseOthers(file: string): Promise<void> {
  let handle
  try {
    handle = await open(file, 'r')
  } catch {
    throw new TransferFault(`${file} cannot be read: it does not exist, or this user may not read it.`)
  }
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(512), 0, 512, 0).catch(() => {
      throw new TransferFault(`${file} is no file that holds a backup.`)
    })
    if (bytesRead > 2 && buffer[0] === 0x1f && buffer[1] === 0x8b) return
    if (buffer.toString('latin1', 257, 262) === 'ustar')
      throw new TransferFault(
        `${file} is a backup of an earlier release. Unpack it into an empty data directory (mkdir -m 700 data && tar -xf FILE -C data), put the key ` +
          'files beside it, and start the gateway.',
      )
    throw new TransferFault(`${file} is no backup of this gateway.`)
  } finally {
    await handle.close()
  }
}

/** @returns whether every table has the same rows in both */
export function sameTallies(a: Tallied, b: Tallied): boolean {
  return differingTables(a, b).length === 0
}

/** The tables whose rows are not the same in both. */
export function differingTables(a: Tallied, b: Tallied): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (table) => a[table]?.rows !== b[table]?.rows || a[table]?.checksum !== b[table]?.checksum,
  )
}

/** Lines and runs of rows of a stream, and the digest of what was read. */
class LineReader {
  readonly #pieces: AsyncIterator<Buffer>
  readonly #hash = createHash('sha256')
  #rest: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** Of everything that was handed out. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  async line(): Promise<string | undefined> {
    for (let end = this.#rest.indexOf(NEWLINE); ; end = this.#rest.indexOf(NEWLINE)) {
      if (end >= 0) return this.#take(end + 1).toString('utf8', 0, end)
      if (!(await this.#more())) throw new RangeError('the file ends within a line')
    }
  }

  /** Pieces of whole lines, up to the line that ends them. */
  async *rows(): AsyncGenerator<Buffer> {
    const end = Buffer.from(`${END_OF_ROWS}\n`)
    const inner = Buffer.from(`\n${END_OF_ROWS}\n`)
    for (;;) {
      if (this.#rest.subarray(0, end.length).equals(end)) {
        this.#take(end.length)
        return
      }
      const at = this.#rest.indexOf(inner)
      const whole = (at < 0 ? this.#rest.lastIndexOf(NEWLINE) : at) + 1
      // The last bytes may begin the line that ends the rows.
      if (whole > 0) yield this.#take(whole)
      else if (!(await this.#more())) throw new RangeError('the file ends within its rows')
    }
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    this.#hash.update(taken)
    return taken
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#pieces.next()
    if (done === true) return false
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
    if (this.#rest.length > LONGEST_LINE) throw new RangeError('a line is too long')
    return true
  }
}
