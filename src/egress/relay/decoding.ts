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

async function* piecesOf(answer: StreamedAnswer): AsyncGenerator<Buffer> {
  for (let piece = await answer.next(); piece; piece = await answer.next()) yield piece
}
