// Undoes a Content-Encoding up to a cap: what would be longer is cut there, so that a bomb costs what the cap allows.
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

export type DecodedBody =
  | { readonly ok: true; readonly body: Buffer; readonly isCut: boolean }
  | { readonly ok: false; readonly reason: 'unknown_encoding' | 'malformed' }

/** The codings that sources are offered; a source that has none of them sends `identity`. */
export const ACCEPT_ENCODING = 'gzip, deflate, br'

/** Codings of a header value, outermost last, `identity` left out. */
export const codingsOf = (header: string | undefined): string[] =>
  (header ?? '')
    .split(',')
    .map((coding) =>
      coding
        .trim()
        .toLowerCase()
        .replace(/^x-(?=gzip$)/, ''),
    )
    .filter((coding) => coding !== '' && coding !== 'identity')

/**
 * @param isCut more would have followed `body`
 * @param maxBytes of what comes out
 */
export async function decodeBody(
  body: Buffer,
  codings: readonly string[],
  { isCut, maxBytes }: { isCut: boolean; maxBytes: number },
): Promise<DecodedBody> {
  if (codings.length === 0 || body.length === 0)
    return { ok: true, body: body.subarray(0, maxBytes), isCut: isCut || body.length > maxBytes }
  // Nobody encodes twice but to hide something from somebody.
  if (codings.length > 1) return { ok: false, reason: 'unknown_encoding' }
  const chunkSize = pieceOf(body.length, maxBytes)
  // The end of what was cut is missing, and what came out before it is what there is.
  const zlib = { chunkSize, ...(isCut && { finishFlush: constants.Z_SYNC_FLUSH }) }
  switch (codings[0]) {
    case 'gzip':
      return inflate(createGunzip(zlib), body, isCut, maxBytes)
    case 'br':
      return inflate(
        createBrotliDecompress({
          chunkSize,
          ...(isCut && { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
        }),
        body,
        isCut,
        maxBytes,
      )
    case 'deflate':
      return inflate(isZlib(body) ? createInflate(zlib) : createInflateRaw(zlib), body, isCut, maxBytes)
    default:
      return { ok: false, reason: 'unknown_encoding' }
  }
}

/** RFC 9110, 8.4.1.2: `deflate` begins with two bytes of zlib; some servers send it without them. */
export const isZlib = (body: Buffer) =>
  body.length > 1 && (body.readUInt8(0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0

const KIB = 1024
/** Every piece that comes out is a call back to the one thread that everybody shares, and putting pieces together is a copy. */
function pieceOf(bytes: number, maxBytes: number): number {
  const likely = bytes < 4 * KIB ? 16 * KIB : bytes < 32 * KIB ? 256 * KIB : Number.POSITIVE_INFINITY
  // One byte more than wanted shows that there is more. Memory that nothing is written to costs nothing.
  return Math.max(16 * KIB, Math.min(likely, maxBytes + 1))
}

type Decompressor =
  | ReturnType<typeof createGunzip>
  | ReturnType<typeof createBrotliDecompress>
  | ReturnType<typeof createInflateRaw>

function inflate(stream: Decompressor, body: Buffer, isCut: boolean, maxBytes: number): Promise<DecodedBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const end = (result: DecodedBody) => {
      stream.removeAllListeners().on('error', () => {})
      stream.destroy()
      resolve(result)
    }
    const joined = () => {
      const [only, ...more] = chunks
      return only && more.length === 0 ? only : Buffer.concat(chunks, size)
    }
    const all = (cut: boolean): DecodedBody => ({
      ok: true,
      body: joined().subarray(0, maxBytes),
      isCut: cut,
    })
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      // Whatever is beyond the cap is never asked for.
      if (size > maxBytes) end(all(true))
    })
    stream.on('end', () => end(all(isCut)))
    stream.on('error', () => end({ ok: false, reason: 'malformed' }))
    stream.end(body)
  })
}
