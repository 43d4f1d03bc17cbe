// An answer that is encoded although identity was asked for: it is decoded, searched and passed on as it is then.
import { pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { OutboundResponse, StreamedAnswer } from '../ports.ts'

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const

type Coding = keyof typeof DECODERS

/** @returns undefined for none; `unknown` for one that nobody here decodes, or several */
export function codingOf(headers: OutboundResponse['headers']): Coding | 'unknown' | undefined {
  const codings = headers
    .filter(({ name }) => name === 'content-encoding')
    .flatMap(({ value }) => value.toLowerCase().split(','))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const [only] = codings
  if (only === undefined) return undefined
  return codings.length === 1 && Object.hasOwn(DECODERS, only) ? (only as Coding) : 'unknown'
}

/** The pieces of an answer; what breaks off, or is not what it says it is, throws. */
export async function* decode(answer: StreamedAnswer, coding: Coding | undefined): AsyncGenerator<Buffer> {
  if (coding === undefined) return yield* piecesOf(answer)
  const decoder = DECODERS[coding]()
  pipeline(Readable.from(piecesOf(answer)), decoder, () => {})
  for await (const piece of decoder) yield piece as Buffer
}

/** As much of what is packed is held until it can be unpacked and searched as a whole. */
const MOST_PACKED_BYTES = 1024 * 1024
const ZIP = Buffer.from('PK\u0003\u0004', 'latin1')
/** The first bytes of gzip, zlib, Zstandard and zip. */
const PACKED = [
  [0x1f, 0x8b],
  [0x78, 0x01],
  [0x78, 0x5e],
  [0x78, 0x9c],
  [0x78, 0xda],
  [0x28, 0xb5, 0x2f, 0xfd],
  [...ZIP],
].map((bytes) => Buffer.from(bytes))

/** Whether a file is packed that begins so. */
export const isPacked = (bytes: Buffer): boolean =>
  PACKED.some((first) => bytes.subarray(0, first.length).equals(first))

/** Whether they are too few to tell: they begin as what says it does. */
const mayBePacked = (bytes: Buffer): boolean =>
  PACKED.some((first) => bytes.length < first.length && bytes.equals(first.subarray(0, bytes.length)))

/** A packed file that says so with nothing but its first bytes comes as one piece, for as long as it is short; what is longer passes as it comes. */
export async function* holdPacked(pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let first: Buffer = Buffer.alloc(0)
  while (mayBePacked(first)) {
    const next = await pieces.next()
    if (next.done === true) break
    first = first.length === 0 ? next.value : Buffer.concat([first, next.value])
  }
  if (!isPacked(first)) {
    if (first.length > 0) yield first
    return yield* pieces
  }
  const held = [first]
  let size = first.length
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    held.push(next.value)
    size += next.value.length
    if (size > MOST_PACKED_BYTES) break
  }
  // Of a long archive the members that come first are no more than those behind, and may unpack to more than is ever searched.
  const isLongArchive = size > MOST_PACKED_BYTES && first.subarray(0, ZIP.length).equals(ZIP)
  if (isLongArchive) yield* held
  else yield Buffer.concat(held, size)
  yield* pieces
}

async function* piecesOf(answer: StreamedAnswer): AsyncGenerator<Buffer> {
  for (let piece = await answer.next(); piece; piece = await answer.next()) yield piece
}
