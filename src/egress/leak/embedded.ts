// Compressed bytes in the midst of others: a part of a multipart answer, a member behind a length or a header, an object of a pack, and
// all of it once more in base64 or hexadecimal. They are known by the marks that their formats begin with. Text has none of these marks,
// so that text in UTF-8 is not looked at at all.
import { isAscii } from 'node:buffer'
import { inflateRawSync, constants } from 'node:zlib'
import type { Budget } from './budget.ts'
import { type Content, decompress, inflateWithin, untraced, viewOf } from './containers.ts'
import { decodeEscapes } from './escapes.ts'
import type { Region } from './squeeze.ts'

interface Marked {
  readonly bytes: Uint8Array
  readonly runs: readonly Region[]
  /** Valid UTF-8. */
  readonly isText: boolean
  /** Whether a mark was among what was decoded of the escapes. */
  readonly isMarkEscaped: boolean
}

/** Whether there is anything that `openEmbedded` would look at: of most texts there is not. */
export const mayEmbed = ({ bytes, runs, isText, isMarkEscaped }: Marked): boolean =>
  !isText || isMarkEscaped || runs.length > 0 || beginsAsMultipart(viewOf(bytes))

/**
 * What is compressed within the bytes, wherever it begins. Each trial is paid for, so that a text of nothing but marks is refused.
 * @throws {OverBudget}
 */
export function* openEmbedded(
  { bytes, runs, isText, isMarkEscaped }: Marked,
  budget: Budget,
): Generator<Content> {
  const view = viewOf(bytes)
  if (beginsAsMultipart(view)) yield* openParts(view, budget)
  if (!isText) yield* openMarked(view, budget)
  if (isMarkEscaped) yield* openEscaped(bytes, budget)
  for (const { start, end } of runs)
    if (end - start >= LEAST_RUN_CHARS) yield* openRun(view.subarray(start, end), budget)
}

/** Gzip, zstd, zip, and the four levels of zlib. */
const MARKS = ['1f8b08', '28b52ffd', '504b0304', '7801', '785e', '789c', '78da'].map((mark) =>
  Buffer.from(mark, 'hex'),
)
/** Where a binary string of JavaScript stands in JSON, each byte of 128 and more is two of UTF-8. */
const CHARACTERS = MARKS.map((mark) => Buffer.from(mark.toString('latin1')))

/** @param decoded what escapes around here stand for */
export function holdsMark(decoded: Uint8Array): boolean {
  const view = viewOf(decoded)
  return !isAscii(view) && [...MARKS, ...CHARACTERS].some((mark) => view.includes(mark))
}

/** Undone all over, and not around the escapes alone: what is compressed must not be interrupted. */
function* openEscaped(bytes: Uint8Array, budget: Budget): Generator<Content> {
  const all = [{ start: 0, end: bytes.length }]
  const decoded = viewOf(decodeEscapes(bytes, all, 'literal', budget) ?? bytes)
  yield* openMarked(decoded, budget)
  budget.spend(decoded.length * 4)
  yield* openMarked(Buffer.from(decoded.toString('utf8'), 'latin1'), budget)
}

function* openMarked(view: Buffer, budget: Budget): Generator<Content> {
  for (const { name, mark, open } of FORMATS) {
    budget.spend(view.length)
    for (let at = view.indexOf(mark); at >= 0; at = view.indexOf(mark, at + 1)) {
      budget.spend(MARK_STEPS)
      const bytes = open(view, at, budget)
      if (bytes && bytes.length > 0) yield { name, bytes }
    }
  }
}

/** What a mark costs that is none. */
const MARK_STEPS = 50

interface Format {
  readonly name: string
  readonly mark: Buffer
  readonly open: (view: Buffer, at: number, budget: Budget) => Uint8Array | undefined
}

const FORMATS: readonly Format[] = [
  { name: 'gzip', mark: Buffer.from([0x1f, 0x8b, 0x08]), open: openGzip },
  {
    name: 'zstd',
    mark: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
    open: (view, at, budget) => decompress(view.subarray(at), [], budget)?.bytes,
  },
  { name: 'zip', mark: Buffer.from('PK\u0003\u0004', 'latin1'), open: openZipMember },
  { name: 'deflate', mark: Buffer.from('x'), open: openZlib },
]

const FLAG_CRC = 2
const FLAG_EXTRA = 4
const FLAG_NAME = 8
const FLAG_COMMENT = 16
const RESERVED_FLAGS = 0xe0

/** RFC 1952, 2.3. What follows the member, and a wrong checksum, do not matter to a reader. */
function openGzip(view: Buffer, at: number, budget: Budget): Uint8Array | undefined {
  const flags = view[at + 3] ?? RESERVED_FLAGS
  if ((flags & RESERVED_FLAGS) !== 0) return undefined
  let start = at + 10
  if ((flags & FLAG_EXTRA) !== 0) start += 2 + (view[start] ?? 0) + (view[start + 1] ?? 0) * 256
  for (const flag of [FLAG_NAME, FLAG_COMMENT]) {
    if ((flags & flag) === 0) continue
    const end = view.subarray(start, start + LONGEST_NAME).indexOf(0)
    if (end < 0) return undefined
    start += end + 1
  }
  if ((flags & FLAG_CRC) !== 0) start += 2
  return inflateAt(view, start, budget)
}

const LONGEST_NAME = 4096
const DEFLATED = 8

function openZipMember(view: Buffer, at: number, budget: Budget): Uint8Array | undefined {
  // What is stored and not compressed is searched as it stands.
  if (at + 30 > view.length || view.readUInt16LE(at + 8) !== DEFLATED) return undefined
  return inflateAt(view, at + 30 + view.readUInt16LE(at + 26) + view.readUInt16LE(at + 28), budget)
}

/** Of the four levels that `78` can be followed by (RFC 1950, 2.2). */
const ZLIB_LEVELS = new Set([0x01, 0x5e, 0x9c, 0xda])

function openZlib(view: Buffer, at: number, budget: Budget): Uint8Array | undefined {
  if (!ZLIB_LEVELS.has(view[at + 1] ?? 0)) return undefined
  // The points of a picture are no text that software shows a secret in, and they may be many.
  if (at >= 4 && view.toString('latin1', at - 4, at) === 'IDAT') return undefined
  return inflateAt(view, at + 2, budget)
}

/** What begins as a stream by chance fails within this many bytes of it, nearly always. */
const TRIAL_BYTES = 512
const TRIAL_OUTPUT = 64 * 1024
/** Most of it is the error that says that it has failed. */
const TRIAL_STEPS = 80_000

function inflateAt(view: Buffer, start: number, budget: Budget): Uint8Array | undefined {
  if (!mayBeDeflate(view, start)) return undefined
  budget.spend(TRIAL_STEPS)
  try {
    const finishFlush = constants.Z_SYNC_FLUSH
    const trial = { finishFlush, maxOutputLength: TRIAL_OUTPUT }
    untraced(() => inflateRawSync(view.subarray(start, start + TRIAL_BYTES), trial))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'))
      return undefined
  }
  return inflateWithin(view.subarray(start), budget)
}

/** RFC 1951, 3.2.3: one of four types of the first block does not exist, and another repeats its length inverted. */
function mayBeDeflate(view: Buffer, start: number): boolean {
  const type = ((view[start] ?? 0xff) >> 1) & 3
  if (type === 3 || start + 5 > view.length) return false
  return type !== 0 || (view.readUInt16LE(start + 1) ^ view.readUInt16LE(start + 3)) === 0xff_ff
}

/** Digits that what is worth compressing takes, with something before it. */
const LEAST_RUN_CHARS = 64
/** The marks of gzip, zstd and zip in base64, at each of the three places that a byte may have in it; gzip's in hexadecimal. */
const IN_BASE64 =
  /(?<first>H4sI|KLUv[/_]|UEsDB)|(?<second>[BRhx][+-]LC|[CSiy]i1L[/_]|[FVl1]BLAw)|fiw[g-j]|otS[/_]9|QSwME/g
const IN_HEX = /1f8b08|1F8B08|28b52ffd|28B52FFD|504b0304|504B0304/

function* openRun(run: Buffer, budget: Budget): Generator<Content> {
  budget.spend(run.length * 4)
  const digits = withoutBreaks(run).toString('latin1')
  const hex = IN_HEX.exec(digits)
  if (hex) yield* openMarked(Buffer.from(digits.slice(hex.index), 'hex'), budget)
  const decoded = new Set<number>()
  for (const { groups = {}, index } of digits.matchAll(IN_BASE64)) {
    // Decoding begins where the group of four does in which the mark begins; the rest of the run is read from there at once.
    const start = index - (groups['first'] !== undefined ? 0 : groups['second'] !== undefined ? 1 : 3)
    if (start < 0 || decoded.has(start % 4)) continue
    decoded.add(start % 4)
    budget.spend(run.length)
    yield* openMarked(Buffer.from(digits.slice(start), 'base64'), budget)
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** As bytes: a text from which millions of line breaks are replaced takes more heap than a thread has (search/thread.ts). */
function withoutBreaks(run: Buffer): Buffer {
  if (!run.includes(LINE_FEED)) return run
  const out = Buffer.allocUnsafeSlow(run.length)
  let length = 0
  for (const byte of run) if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) out[length++] = byte
  return out.subarray(0, length)
}

/** Before the first boundary there may be a word to whoever reads mail without a program for it (RFC 2046, 5.1.1). */
const LONGEST_PREAMBLE = 1024
const beginsAsMultipart = (view: Buffer) =>
  (view[0] === DASH && view[1] === DASH) || view.subarray(0, LONGEST_PREAMBLE).includes('\n--')
const DASH = 0x2d

const LONGEST_HEAD = 8192
const PART_STEPS = 2 * LONGEST_HEAD

/**
 * The parts that say how they are encoded. Brotli and deflate have no mark, and what is base64 of something else than text reads as a
 * word like any other.
 */
function* openParts(view: Buffer, budget: Budget): Generator<Content> {
  budget.spend(view.length * 2)
  let read = 0
  for (let at = view.indexOf('ncoding:'); at >= 0; at = view.indexOf('ncoding:', at + 1)) {
    if (at < read) continue
    budget.spend(PART_STEPS)
    const from = Math.max(0, at - LONGEST_HEAD)
    const around = view.toString('latin1', from, at + LONGEST_HEAD)
    const blank = /\r?\n\r?\n/g
    blank.lastIndex = at - from
    const end = blank.exec(around)
    if (!end) continue
    read = from + end.index + end[0].length
    const head = around.slice(Math.max(0, around.lastIndexOf('\n--', at - from)), end.index)
    const encodings = (/^content-encoding:[ \t]*(.*)$/im.exec(head)?.[1] ?? '').toLowerCase().split(/[ ,\r]+/)
    const bytes = transferDecoded(head, view.subarray(read), budget)
    const unpacked = decompress(bytes ?? view.subarray(read), encodings, budget)
    if (unpacked) yield { name: `part+${unpacked.name}`, bytes: unpacked.bytes }
    else if (bytes) yield { name: 'part', bytes }
  }
}

/** RFC 2045, 6: undefined where the part stands as it is. */
function transferDecoded(head: string, rest: Buffer, budget: Budget): Uint8Array | undefined {
  const [, encoding] =
    /^content-transfer-encoding:[ \t]*(base64|quoted-printable)/im
      .exec(head)
      ?.map((word) => word.toLowerCase()) ?? []
  if (encoding === undefined) return undefined
  const end = rest.indexOf('\n--')
  const part = rest.subarray(0, end < 0 ? rest.length : end)
  budget.spend(part.length * 2)
  return encoding === 'base64' ? Buffer.from(part.toString('latin1'), 'base64') : decodeQuotedPrintable(part)
}

const EQUALS = 0x3d

/** RFC 2045, 6.7. As bytes, for the same reason. */
function decodeQuotedPrintable(part: Buffer): Buffer {
  const out = Buffer.allocUnsafeSlow(part.length)
  let length = 0
  for (let at = 0; at < part.length; at++) {
    const byte = part[at] ?? 0
    const [first = -1, second = -1] = byte === EQUALS ? [part[at + 1], part[at + 2]] : []
    const [high, low] = [digitOf(first), digitOf(second)]
    if (high >= 0 && low >= 0) {
      out[length++] = high * 16 + low
      at += 2
    } else if (first === LINE_FEED) at += 1
    else if (first === CARRIAGE_RETURN && second === LINE_FEED) at += 2
    else out[length++] = byte
  }
  return out.subarray(0, length)
}

/** @returns the value of a hexadecimal digit; -1 for another byte */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}
