// Compressed answers. What is compressed holds no secret: a document that everybody reads, a list of tools, an answer to somebody who
// showed no token and no payment. Where a secret and a text of an attacker's choice stand in one answer, its length would tell how
// alike they are (BREACH); so what is private, and all that a tool answers to a token, goes as it is.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Coding = 'identity' | 'gzip' | 'br'

/** Shorter ones fit into one packet as they are. */
export const LEAST_BYTES = 1024

interface Accepted {
  readonly best: Coding
  readonly gzip: boolean
}

const MAX_REMEMBERED = 256
const read = new Map<string, Accepted>()
const NOTHING: Accepted = { best: 'identity', gzip: false }

/** The coding that the client likes and that makes least of a text: brotli, else gzip (RFC 9110, section 12.5.3). */
export const chooseCoding = (req: Pick<IncomingMessage, 'headers'>): Coding => acceptedBy(req).best

/** Whether the client takes gzip, whatever it likes better. */
export const acceptsGzip = (req: Pick<IncomingMessage, 'headers'>): boolean => acceptedBy(req).gzip

function acceptedBy({ headers }: Pick<IncomingMessage, 'headers'>): Accepted {
  const text = headers['accept-encoding']
  if (text === undefined) return NOTHING
  // Few clients differ in it, so it is read once for each.
  const name = String(text)
  const known = read.get(name)
  if (known) return known
  const accepted = readAccepted(name)
  if (read.size < MAX_REMEMBERED) read.set(name, accepted)
  return accepted
}

function readAccepted(text: string): Accepted {
  const weights = new Map<string, number>()
  for (const item of text.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  const [brotli, gzipped] = [weightOf('br'), Math.max(weightOf('gzip'), weights.get('x-gzip') ?? 0)]
  if (brotli === 0 && gzipped === 0) return NOTHING
  return { best: brotli >= gzipped ? 'br' : 'gzip', gzip: gzipped > 0 }
}

const toGzip = promisify(gzip)
const toBrotli = promisify(brotliCompress)

/** How much work a text is worth: once and for all, or each time that it is another. */
export type Effort = 'once' | 'often'

/** Brotli's next better two take 30 and 70 times as long for a tenth less. */
const BROTLI: Readonly<Record<Effort, number>> = { once: 9, often: 5 }
const GZIP: Readonly<Record<Effort, number>> = { once: 9, often: 6 }

/** Compresses in a thread: one megabyte of JSON takes 30 ms `once`, and 8 `often`. */
export const compress = (
  body: Buffer,
  coding: Exclude<Coding, 'identity'>,
  effort: Effort = 'once',
): Promise<Buffer> =>
  coding === 'gzip'
    ? toGzip(body, { level: GZIP[effort] })
    : toBrotli(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI[effort],
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      })

/** Whether bytes of this type get smaller. */
export const isText = (type: string): boolean =>
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript)\b)/.test(type)

/** A name of the bytes that is as good as they are: 128 bits of their digest. */
export const digestOf = (body: Buffer | string): string =>
  createHash('sha256').update(body).digest('base64url').slice(0, 22)

/** The strong tag of one coding of a document: each has other bytes. */
export const etagOf = (digest: string, coding: Coding): string =>
  coding === 'identity' ? `"${digest}"` : `"${digest}-${coding}"`

/** RFC 9110, section 13.1.2: whether the client has these bytes; caches on the way may have made the tag a weak one. */
export function hasTag({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean {
  const known = headers['if-none-match']
  if (known === undefined) return false
  return known.split(',').some((tag) => {
    const text = tag.trim()
    return text === '*' || text.replace(/^W\//, '') === etag
  })
}

/** The `Vary` of an answer that has codings. @param others fields that it depends on as well */
export const varyOf = (others?: string): string =>
  others === undefined ? 'accept-encoding' : `${others}, accept-encoding`

interface Kept {
  readonly made: Promise<Buffer>
  /** Zero until it is made. */
  bytes: number
}

const MAX_KEPT_BYTES = 8 * 1024 * 1024
const kept = new Map<string, Kept>()
let keptBytes = 0

function drop(name: string, { bytes }: Kept): void {
  kept.delete(name)
  keptBytes -= bytes
}

/** Compresses what is often the same, and keeps it. The oldest go where there is no room. */
export function compressKept(
  body: Buffer,
  coding: Exclude<Coding, 'identity'>,
  digest: string,
): Promise<Buffer> {
  const name = `${coding} ${digest}`
  const known = kept.get(name)
  if (known) return known.made
  const made = compress(body, coding, 'often')
  const entry: Kept = { made, bytes: 0 }
  kept.set(name, entry)
  made.then(
    ({ length }) => {
      if (kept.get(name) !== entry) return
      entry.bytes = length
      keptBytes += length
      for (const [oldest, other] of kept) {
        if (keptBytes <= MAX_KEPT_BYTES) break
        drop(oldest, other)
      }
    },
    () => drop(name, entry),
  )
  return made
}
