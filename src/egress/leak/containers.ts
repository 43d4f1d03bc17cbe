// What is wrapped whole: base64 and hexadecimal whose content is text or compressed, compressed bodies, and the columns of a dump.
// A wrapper is opened only where its syntax says that there is one.
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import * as zlib from 'node:zlib'
import { type Budget, OverBudget } from './budget.ts'
import type { Region } from './squeeze.ts'

export interface Content {
  readonly name: string
  readonly bytes: Uint8Array
}

/** More than this is not searched, so it does not pass either. */
const MOST_DECOMPRESSED_BYTES = 16 * 1024 * 1024
/** Tried in their order: what is small is not paid for as if it were not. */
const OUTPUT_LIMITS = [64 * 1024, 1024 * 1024, MOST_DECOMPRESSED_BYTES]
/** A stream is set up for each, and its table of codes read. */
const DECOMPRESSION_STEPS = 20_000

export const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** What a text begins with in base64, and in what is decoded of it: twelve bytes, with a line break among them. */
const BEGINNING_CHARS = 24
const BEGINNING_STEPS = 300

/**
 * What runs of digits stand for, where that could be read further; usually nothing. It begins where the run does, or behind what may
 * be a digit and separates, too: a line, a segment of a path, a word. What has been read to the end of the run ends its search.
 */
export function* decodeRuns(bytes: Uint8Array, runs: readonly Region[], budget: Budget): Generator<Content> {
  for (const run of runs) {
    budget.spend(16 + run.end - run.start)
    for (let first = run.start; (first = findBeginning(bytes, run, first)) < run.end; first++) {
      const contents = decodeFrom(bytes, run, first, budget)
      yield* contents.found
      if (contents.isRead) break
    }
  }
}

/** What is encoded begins at one of four places; a word before it may be taken for its beginning. */
const PLACES_AT_FIRST = 4

/** @returns the first place from `from` on where something encoded may begin; the end of the run where there is none */
function findBeginning(bytes: Uint8Array, run: Region, from: number): number {
  const { start, end } = run
  for (let first = from; first < end; first++) {
    if (first >= start + PLACES_AT_FIRST)
      while (first < end && SEPARATES[bytes[first - 1] ?? 0] === 0) first++
    if (first < end && mayBegin(bytes, run, first)) return first
  }
  return end
}

function mayBegin(bytes: Uint8Array, run: Region, first: number): boolean {
  if (mayBeText(bytes, first)) return true
  if (!isBeginning(bytes, run, first)) return false
  return IS_FIRST_OF_COMPRESSED[bytes[first] ?? 0] === 1 || mayBeHex(bytes, first)
}

/** Where the run begins, behind what separates, or behind the mark of hexadecimal: `0x6b`, and `\\x6b` of PostgreSQL. */
function isBeginning(bytes: Uint8Array, { start }: Region, first: number): boolean {
  const before = bytes[first - 1] ?? 0
  return first === start || SEPARATES[before] === 1 || (first <= start + 2 && (before | 0x20) === 0x78)
}

/** What may begin at `first`, and whether that was text, so that nothing else begins after it. */
function decodeFrom(
  bytes: Uint8Array,
  run: Region,
  first: number,
  budget: Budget,
): { readonly found: Content[]; readonly isRead: boolean } {
  const found: Content[] = []
  const { start, end } = run
  const rest = viewOf(bytes).subarray(first, end)
  const mayBeWrapped = isBeginning(bytes, run, first)
  if (mayBeWrapped && mayBeHex(bytes, first)) {
    budget.spend(end - first)
    const decoded = fromHex(rest)
    const isRead = isText(decoded.subarray(0, 11))
    if (isRead || isCompressed(decoded)) found.push({ name: 'hex', bytes: decoded })
    if (isRead) return { found, isRead }
  }
  if (!mayBeText(bytes, first) && !(mayBeWrapped && IS_FIRST_OF_COMPRESSED[bytes[first] ?? 0] === 1))
    return { found, isRead: false }
  if (!mayBeRead(bytes, run, first)) return { found, isRead: false }
  budget.spend(BEGINNING_STEPS)
  const beginning = fromBase64(rest.subarray(0, BEGINNING_CHARS))
  const isRead = isText(beginning.subarray(0, 12))
  if (isRead || (first === start ? isCompressed(beginning) : isSurelyCompressed(beginning))) {
    budget.spend(end - first)
    found.push({ name: 'base64', bytes: fromBase64(rest) })
  }
  return { found, isRead }
}

/**
 * Whether the first two bytes may be those of a text, or of what is compressed; most are neither. Where a line break is among their digits,
 * only decoding says.
 */
function mayBeRead(bytes: Uint8Array, { start, end }: Region, first: number): boolean {
  if (first === start || first + LOOKED_AT > end || mayBeText(bytes, first)) return true
  for (let at = first; at < first + LOOKED_AT; at++) if ((bytes[at] ?? 0) < FIRST_DIGIT) return true
  const [a = 0, b = 0, c = 0] = [first, first + 1, first + 2].map((at) => SIX_BITS[bytes[at] ?? 0])
  const two = (a << 10) | (b << 4) | (c >> 2)
  const isWide = (two & 0xff) === 0
  return isWide || FIRST_TWO.has(two) || (two >> 8 === 0x78 && two % 31 === 0)
}
/** As many as say whether it is ASCII. */
const LOOKED_AT = 12
/** Whatever is less among the bytes of a run is a line break. */
const FIRST_DIGIT = 0x2b
/** Of gzip, zstd and zip. */
const FIRST_TWO = new Set([0x1f_8b, 0x28_b5, 0x50_4b])

const SEPARATES = new Uint8Array(256)
for (const byte of Buffer.from('/-_\r\n')) SEPARATES[byte] = 1

const fromBase64 = (run: Buffer) => Buffer.from(run.toString('latin1'), 'base64')
const fromHex = (run: Buffer) => Buffer.from(run.toString('latin1').replaceAll(/[\r\n]/g, ''), 'hex')

/** What is compressed begins so in base64: gzip, zstd, zip and deflate. The last is the first character of a JSON object, too. */
const IS_FIRST_OF_COMPRESSED = new Uint8Array(256)
for (const byte of Buffer.from('HKUe')) IS_FIRST_OF_COMPRESSED[byte] = 1

const hexDigit = (byte: number) =>
  byte >= 0x30 && byte <= 0x39
    ? byte - 0x30
    : (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66
      ? (byte | 0x20) - 0x57
      : -1

/** Four bytes of ASCII, or of UTF-16, or the first of what is compressed: of random digits one run in fifty. */
function mayBeHex(bytes: Uint8Array, start: number): boolean {
  let isAscii = true
  for (let at = start; at < start + 8; at++) {
    const digit = hexDigit(bytes[at] ?? 0)
    if (digit < 0) return false
    if ((at - start) % 2 === 0 && (digit < 2 || digit > 7)) isAscii = false
  }
  if (isAscii || isZero(bytes, start) || (isZero(bytes, start + 2) && isZero(bytes, start + 6))) return true
  const first = hexDigit(bytes[start] ?? 0) * 16 + hexDigit(bytes[start + 1] ?? 0)
  return first === 0x1f || first === 0x28 || first === 0x78
}

/** A byte of UTF-16. */
const isZero = (bytes: Uint8Array, at: number) => bytes[at] === 0x30 && bytes[at + 1] === 0x30

const SIX_BITS = new Uint8Array(256)
for (const [value, byte] of Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
).entries())
  SIX_BITS[byte] = value
SIX_BITS[0x2d] = 62
SIX_BITS[0x5f] = 63

/** Whether the first groups are of ASCII: of each byte the first bit is zero. Most runs end here, after one. */
function mayBeText(run: Uint8Array, first: number): boolean {
  for (let at = first; at < first + LOOKED_AT; at += 4) {
    const a = SIX_BITS[run[at] ?? 0] ?? 0
    const b = SIX_BITS[run[at + 1] ?? 0] ?? 0
    const c = SIX_BITS[run[at + 2] ?? 0] ?? 0
    if (a >= 32 || (b & 8) !== 0 || (c & 2) !== 0) return false
  }
  return true
}

/** Of ASCII, without control characters; or of UTF-16 or UTF-32, where every other byte is zero. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.length < 8) return false
  return bytes.every(isPrintable) || isWide(bytes, 0) || isWide(bytes, 1)
}

const isPrintable = (byte: number) =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09

/** @param zeros which bytes are zero: those of the second place, or of the first */
function isWide(bytes: Uint8Array, zeros: 0 | 1): boolean {
  let written = 0
  for (const [at, byte] of bytes.entries()) {
    if (at % 2 === zeros ? byte !== 0 : byte !== 0 && byte < 0x20 && !isPrintable(byte)) return false
    if (byte !== 0) written++
  }
  return written * 4 >= bytes.length - 3
}

type Inflate = (bytes: Buffer, maxOutputLength: number, budget: Budget) => Buffer

/** An end that is missing, or a checksum that is wrong, leaves a reader what came before. */
const PARTIAL = { finishFlush: zlib.constants.Z_SYNC_FLUSH }
const gunzip: Inflate = (bytes, maxOutputLength) => {
  try {
    return gunzipSync(bytes, { ...PARTIAL, maxOutputLength })
  } catch (error) {
    if (isTooLong(error)) throw error
    return inflateRawSync(bytes.subarray(10), { ...PARTIAL, maxOutputLength })
  }
}
const inflate: Inflate = (bytes, maxOutputLength) => inflateSync(bytes, { ...PARTIAL, maxOutputLength })
const inflateRaw: Inflate = (bytes, maxOutputLength) => inflateRawSync(bytes, { ...PARTIAL, maxOutputLength })
const brotli: Inflate = (bytes, maxOutputLength) => {
  const finishFlush = zlib.constants.BROTLI_OPERATION_FLUSH
  // Whatever is no text may be it, and hardly anything is: that shows in its first bytes, without memory for all of it.
  const trial = { finishFlush, maxOutputLength: OUTPUT_LIMITS[0], chunkSize: TRIAL_BYTES }
  try {
    brotliDecompressSync(bytes.subarray(0, TRIAL_BYTES), trial)
  } catch (error) {
    if (!isTooLong(error)) throw error
  }
  return brotliDecompressSync(bytes, { finishFlush, maxOutputLength })
}
const TRIAL_BYTES = 512
const zstd: Inflate = (bytes, maxOutputLength) =>
  zlib.zstdDecompressSync(bytes, { finishFlush: zlib.constants.ZSTD_e_flush, maxOutputLength })

function compressionOf(
  bytes: Uint8Array,
): { readonly name: string; readonly decompress: Inflate } | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  if (a === 0x1f && b === 0x8b) return { name: 'gzip', decompress: gunzip }
  if ((a & 0x0f) === 8 && a <= 0x78 && ((a << 8) | b) % 31 === 0 && (b & 0x20) === 0)
    return { name: 'deflate', decompress: inflate }
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return { name: 'zstd', decompress: zstd }
  if (a === 0x50 && b === 0x4b && c === 3 && d === 4) return { name: 'zip', decompress: unzip }
  return undefined
}

const isCompressed = (bytes: Uint8Array) => compressionOf(bytes) !== undefined

/** Where many places are looked at, two bytes are found by chance. */
function isSurelyCompressed(bytes: Uint8Array): boolean {
  const name = compressionOf(bytes)?.name
  if (name === 'deflate') return bytes[0] === 0x78
  return name === 'gzip' ? bytes[2] === 8 : name === 'zstd' || name === 'zip'
}

/** The members of an archive, one behind the other. */
const unzip: Inflate = (bytes, maxOutputLength, budget) => {
  const contents: Buffer[] = []
  let left = maxOutputLength
  for (
    let at = 0;
    (at = bytes.indexOf('PK\u0003\u0004', at, 'latin1')) >= 0 && at + 30 < bytes.length;
    at += 4
  ) {
    const content = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
    // Whatever is stored and not compressed is searched as it stands.
    if (bytes.readUInt16LE(at + 8) !== 8) continue
    budget.spend(DECOMPRESSION_STEPS)
    const member = tryTo(() => inflateRaw(bytes.subarray(content), Math.max(1, left), budget))
    if (!member) continue
    left -= member.length
    contents.push(member)
  }
  return Buffer.concat(contents)
}

/**
 * What a compressed text holds, known by its first bytes or by what the headers say of it.
 * @throws {OverBudget} also where it holds more than is ever searched
 */
export function decompress(
  bytes: Uint8Array,
  encodings: readonly string[],
  budget: Budget,
): Content | undefined {
  const known = compressionOf(bytes) ?? namedCompression(encodings)
  if (!known) return undefined
  const content = unpackWithin(bytes, known.decompress, budget)
  return content && content.length > 0 ? { name: known.name, bytes: content } : undefined
}

/**
 * What a raw stream of deflate holds, and nothing of what comes after it.
 * @returns undefined where it is none
 * @throws {OverBudget} also where it holds more than is ever searched
 */
export const inflateWithin = (bytes: Uint8Array, budget: Budget): Uint8Array | undefined =>
  unpackWithin(bytes, inflateRaw, budget)

function unpackWithin(bytes: Uint8Array, unpack: Inflate, budget: Budget): Buffer | undefined {
  for (const limit of OUTPUT_LIMITS) {
    // Of a stream that ends early the rest is not looked at.
    budget.spend(DECOMPRESSION_STEPS + Math.min(bytes.length, limit))
    try {
      const content = untraced(() => unpack(viewOf(bytes), limit, budget))
      budget.spend(content.length * 4)
      return content
    } catch (error) {
      if (error instanceof OverBudget) throw error
      if (!isTooLong(error)) return undefined
      budget.spend(limit * 4)
    }
  }
  throw new OverBudget()
}

/** Most trials end in an error that nobody reads: to write down where it came from costs more than the trial. */
export function untraced<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function namedCompression(encodings: readonly string[]) {
  if (encodings.includes('br')) return { name: 'brotli', decompress: brotli }
  return encodings.includes('deflate') ? { name: 'deflate', decompress: inflateRaw } : undefined
}

function tryTo(work: () => Buffer): Buffer | undefined {
  try {
    return work()
  } catch (error) {
    if (isTooLong(error)) throw error
    return undefined
  }
}

const isTooLong = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'

/** The offset of a line, and the rest of it. */
const DUMP_LINE = /^([\da-f]{6,16})[: \t][ \t]*(.*)$/is

/**
 * The data of `xxd`, `hexdump` and `od` without the offsets before it and the characters behind it, line after line: what the lines
 * of a dump part is together again. Binary digits become bytes.
 */
export function readDump(bytes: Uint8Array, budget: Budget): Content {
  budget.spend(bytes.length * 16)
  const columns: string[] = []
  const binary: number[] = []
  for (const line of viewOf(bytes).toString('latin1').split('\n')) {
    const [, , data] = DUMP_LINE.exec(line.trimEnd()) ?? []
    if (data === undefined) continue
    const tokens = dataOf(data).split(/[ \t]+/)
    if (tokens.every((token) => /^[01]{8}$/.test(token)))
      binary.push(...tokens.map((token) => Number.parseInt(token, 2)))
    else columns.push(tokens.join(' '))
  }
  return {
    name: 'dump',
    bytes: Buffer.concat([Buffer.from(columns.join(' '), 'latin1'), Buffer.from(binary)]),
  }
}

/**
 * Behind two blanks or a bar `xxd` and `hexdump -C` print the characters; the latter also parts eight bytes from eight.
 * A search that may begin at each of many blanks takes time with the square of their number.
 */
function dataOf(data: string): string {
  const bar = data.search(/(?<! ) {2,}[|>]/)
  if (bar >= 0) return data.slice(0, bar).replaceAll('  ', ' ')
  const isSpaced = /^(?:\S{1,3} {2,})/.test(data)
  const end = isSpaced ? -1 : data.search(/ {2,}/)
  return end >= 0 ? data.slice(0, end) : data
}
