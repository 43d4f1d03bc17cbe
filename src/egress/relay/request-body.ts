// The body of a program's request. A short one is read whole, so that it has a digest before it is sent; a long one is sent while it is
// read, counted and hashed on its way.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { GatewayError } from '../../core/errors.ts'
import type { HttpExchange } from '../../core/message.ts'

/** A body of up to so many bytes waits until it is whole. */
const SHORT_BYTES = 256 * 1024
/** Longest wait for that: it holds one of the places for requests meanwhile. Once it is sent, the clocks of the exchange count. */
const READ_MS = 60_000

export interface ReadBody {
  /** All of it, where it is short or had to be read whole. */
  readonly whole: Buffer | undefined
  /** Else what was read of it, and the rest of it while it comes. */
  readonly streamed: Readable | undefined
}

export interface SentBody {
  readonly body: Buffer | Readable | undefined
  /** Bytes that were sent so far. */
  readonly bytes: () => number
  /** Of what was sent, in RFC 9530 form; undefined for a body that was whole. */
  readonly digest: () => string | undefined
}

/**
 * @param maxBytes of all of it
 * @param isWhole whether a long one is read whole, too: the secret goes into it, or a signature goes over it
 * @param hold takes room for so many bytes of a body that is read whole, or throws
 * @throws {GatewayError} body_too_large, request_invalid where the program goes away or takes too long
 */
export async function readBody(
  { body, bodyBytes = 0 }: Pick<HttpExchange, 'body' | 'bodyBytes'>,
  {
    maxBytes,
    isWhole,
    hold,
    readMs = READ_MS,
  }: {
    readonly maxBytes: number
    readonly isWhole: boolean
    readonly hold: (bytes: number) => void
    readonly readMs?: number
  },
): Promise<ReadBody> {
  if (bodyBytes > maxBytes) throw tooLarge(maxBytes)
  if (!body) return { whole: undefined, streamed: undefined }
  if (isWhole) hold(bodyBytes)
  const pieces = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  const first: Buffer[] = []
  let size = 0
  const most = isWhole ? maxBytes : Math.min(SHORT_BYTES, maxBytes)
  const late = Promise.withResolvers<never>()
  late.promise.catch(() => {})
  const timer = setTimeout(() => late.reject(tooSlow(readMs)), readMs)
  try {
    while (size <= most) {
      const next = await Promise.race([nextOf(pieces), late.promise])
      if (next === undefined) return { whole: Buffer.concat(first, size), streamed: undefined }
      first.push(next)
      size += next.length
      if (isWhole) hold(size)
    }
  } finally {
    clearTimeout(timer)
  }
  if (size > maxBytes) throw tooLarge(maxBytes)
  return { whole: undefined, streamed: Readable.from(rejoin(first, pieces), { objectMode: false }) }
}

async function nextOf(pieces: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  try {
    const { value, done } = await pieces.next()
    return done === true ? undefined : (value as Buffer)
  } catch (cause) {
    throw new GatewayError('request_invalid', 'The request body ended early. Nothing was sent or charged.', {
      cause,
    })
  }
}

async function* rejoin(first: readonly Buffer[], pieces: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
}

/** Larger than it may be is known in the middle of it alone where nobody said how long it is: the request then ends there. */
export function countSent({ whole, streamed }: ReadBody, maxBytes: number): SentBody {
  if (!streamed) return { body: whole, bytes: () => whole?.length ?? 0, digest: () => undefined }
  const hash = createHash('sha256')
  let bytes = 0
  async function* counted(source: Readable): AsyncGenerator<Buffer> {
    for await (const piece of source as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > maxBytes) throw new Error('the request body is larger than it may be')
      hash.update(piece)
      yield piece
    }
  }
  return {
    body: Readable.from(counted(streamed), { objectMode: false }),
    bytes: () => bytes,
    digest: () => `sha-256=:${hash.copy().digest('base64')}:`,
  }
}

const tooSlow = (readMs: number) =>
  new GatewayError(
    'request_invalid',
    `Send the request body, or its first ${SHORT_BYTES / 1024} KiB, within ${Math.round(readMs / 1000)} s. Nothing was sent or charged.`,
    { reason: 'body_slow' },
  )

const tooLarge = (maxBytes: number) =>
  new GatewayError(
    'body_too_large',
    `Send at most ${maxBytes} bytes as the request body. Nothing was sent or charged.`,
    {
      extras: { max_bytes: maxBytes },
    },
  )
