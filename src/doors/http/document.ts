// Serves documents that everybody reads: with a tag and a date to ask by, and compressed once for each coding.
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  chooseCoding,
  type Coding,
  compress,
  compressKept,
  digestOf,
  etagOf,
  hasTag,
  isText,
  LEAST_BYTES,
  varyOf,
} from './coding.ts'
import { type Headers, sendBytes } from './reply.ts'

/** A document whose bytes never change while the process runs. */
export interface FixedDocument {
  /** Answers GET and HEAD, with these headers besides its own; 304 where the client has it. */
  send(req: IncomingMessage, res: ServerResponse, headers?: Headers): Promise<void> | void
}

export interface DocumentParts {
  readonly type: string
  readonly headers?: Headers
  /** Milliseconds; HTTP counts whole seconds. */
  readonly modified?: number
  /** Its brotli form, where a build made it. */
  readonly br?: Buffer
}

const MAX_AGE = 'public, max-age=300'

/** @param given its bytes, and what they are. Nothing is compressed before somebody asks for it. */
export function fixDocument(
  given: Buffer | string,
  { type, headers = {}, modified, br }: DocumentParts,
): FixedDocument {
  const body = typeof given === 'string' ? Buffer.from(given) : given
  const hasCodings = body.length >= LEAST_BYTES && isText(type)
  const digest = digestOf(body)
  const { vary, ...others } = headers
  const headersOf = (coding: Coding): Headers => ({
    'content-type': type,
    'cache-control': MAX_AGE,
    'x-content-type-options': 'nosniff',
    ...others,
    ...(hasCodings ? { vary: varyOf(vary) } : vary !== undefined && { vary }),
    ...(coding !== 'identity' && { 'content-encoding': coding }),
    ...(modified !== undefined && { 'last-modified': new Date(modified).toUTCString() }),
    etag: etagOf(digest, coding),
  })
  const prepared = { identity: headersOf('identity'), gzip: headersOf('gzip'), br: headersOf('br') }
  const compressed: Partial<Record<Coding, Promise<Buffer>>> = br ? { br: Promise.resolve(br) } : {}

  return {
    send(req, res, extra) {
      const coding = hasCodings ? chooseCoding(req) : 'identity'
      const all = { ...prepared[coding], ...extra }
      if (isFresh(req, etagOf(digest, coding), modified)) return sendNotModified(res, all)
      if (coding === 'identity') return sendBytes(res, 200, body, all)
      return (compressed[coding] ??= compress(body, coding)).then((bytes) => sendBytes(res, 200, bytes, all))
    },
  }
}

/** RFC 9110, section 13.2.2: If-None-Match decides; If-Modified-Since only where it is missing. */
function isFresh(req: IncomingMessage, etag: string, modified: number | undefined): boolean {
  if (req.headers['if-none-match'] !== undefined) return hasTag(req, etag)
  if (modified === undefined) return false
  return Date.parse(req.headers['if-modified-since'] ?? '') >= Math.trunc(modified / 1000) * 1000
}

function sendNotModified(res: ServerResponse, headers: Headers): void {
  const { 'content-type': _type, 'content-encoding': _coding, ...others } = headers
  res.writeHead(304, others).end()
}

/** Short answers that change are not worth the work. */
const LEAST_CHANGING_BYTES = 4 * 1024

export interface PublicText {
  readonly text: string
  readonly headers: Headers
  /** Whether it has a tag to ask by; what must not be stored has none. */
  readonly isTagged: boolean
  /** False where the request showed a token or a payment, so that the answer may be its own. */
  readonly isForEverybody: boolean
}

/** Answers with a text that changes now and then: with a tag, and compressed where it is long and everybody may read it. */
export async function sendPublicText(
  req: IncomingMessage,
  res: ServerResponse,
  { text, headers, isTagged, isForEverybody }: PublicText,
): Promise<void> {
  const body = Buffer.from(text)
  const hasCodings = isForEverybody && body.length >= LEAST_CHANGING_BYTES
  const coding = hasCodings ? chooseCoding(req) : 'identity'
  const digest = isTagged || coding !== 'identity' ? digestOf(body) : ''
  const etag = etagOf(digest, coding)
  const all: Headers = {
    ...headers,
    ...(hasCodings && { vary: varyOf(headers['vary']) }),
    ...(coding !== 'identity' && { 'content-encoding': coding }),
    ...(isTagged && { etag }),
  }
  if (isTagged && hasTag(req, etag)) return sendNotModified(res, all)
  sendBytes(res, 200, coding === 'identity' ? body : await compressKept(body, coding, digest), all)
}

/** Whether a request shows nothing that the answer could be for: no token, no payment, no signature, no cookie. */
export const isFromEverybody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  PERSONAL.every((name) => headers[name] === undefined)

const PERSONAL = [
  'authorization',
  'x-gateway-capability',
  'payment-signature',
  'x-payment',
  'sign-in-with-x',
  'cookie',
] as const
