// AWS Signature Version 4, in headers, over the exact bytes that leave; S3 and what is compatible with it included.
import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from 'node:crypto'
import type { KindOf } from '../../../schemas/credential-kinds.ts'
import { GatewayError } from '../../core/errors.ts'
import { Secret } from '../../lib/secret.ts'
import type { SecretParts } from '../ports.ts'
import type { DerivedKeys, RequestToSign, Signature } from './kind.ts'
import { readPart } from './key-parts.ts'

/** Loading it takes tens of milliseconds of every start, and most gateways never sign. */
const loadSigner = () => import('@smithy/signature-v4')

/** Their path is signed as it is on the wire; every other service signs it escaped once more. */
const S3_SERVICES = new Set(['s3', 's3-object-lambda', 's3-outposts', 's3express'])
/**
 * Stands for the digest of a body that is sent in chunks with its checksum behind them, and is signed in its place: what AWS's programs send over
 * TLS by themselves. S3 reads the chunks by it, so that no digest could replace it.
 */
const UNSIGNED_CHUNKS = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
/** @param name in lower case */
export const isUnsignedChunks = (name: string, value: string): boolean =>
  name === 'x-amz-content-sha256' && value === UNSIGNED_CHUNKS

/** What is added by the signature, in this order on the wire. */
const ADDED = ['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token', 'authorization'] as const

/**
 * Parts: `access_key_id`, `secret_access_key`, and `session_token` where there is one.
 * @param now milliseconds since the epoch; AWS refuses what is off by more than five to fifteen minutes
 * @throws {GatewayError} target_invalid where the query could be read in two ways
 */
export async function signSigv4(
  kind: KindOf<'aws_sigv4'>,
  parts: SecretParts,
  request: RequestToSign,
  now: number,
): Promise<Signature> {
  const isS3 = S3_SERVICES.has(kind.service)
  const sessionToken = parts.has('session_token') ? readPart(parts, 'session_token') : undefined
  const { clearCredentialCache, SignatureV4 } = await loadSigner()
  const signer = new SignatureV4({
    region: kind.region,
    service: kind.service,
    sha256: Sha256,
    uriEscapePath: !isS3,
    applyChecksum: isS3,
    credentials: {
      accessKeyId: readPart(parts, 'access_key_id'),
      secretAccessKey: readPart(parts, 'secret_access_key'),
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
  })
  try {
    const signed = await signer.sign(
      {
        method: request.method,
        protocol: 'https:',
        hostname: request.url.hostname,
        path: isS3 ? toS3Path(request.url.pathname) : request.url.pathname,
        query: readQuery(request.url.search),
        headers: { host: request.url.host, ...headersToSign(request) },
        body: request.body,
      },
      { signingDate: new Date(now) },
    )
    const headers = ADDED.flatMap((name) => {
      const value = signed.headers[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    const value = /Signature=([0-9a-f]{64})$/.exec(signed.headers['authorization'] ?? '')?.[1]
    if (value === undefined) throw new Error('sigv4: the request was not signed')
    // Whoever reads the signature of a request whose body is not covered can send the request with another body.
    const opensOthers = request.headers.some(([name, text]) => isUnsignedChunks(name, text))
    return { headers, value, encoding: 'hex', opensOthers, derived: deriveKeys(kind, parts, now) }
  } finally {
    // It would keep keys that were derived from the secret, and the session token, for as long as the process lives.
    clearCredentialCache()
  }
}

/** The keys of the day, of the region, of the service, and the one that signs. */
function deriveKeys({ region, service }: KindOf<'aws_sigv4'>, parts: SecretParts, now: number): DerivedKeys {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '')
  return {
    day,
    keys() {
      const keys: Secret<string>[] = []
      let key = Buffer.from(`AWS4${readPart(parts, 'secret_access_key')}`)
      for (const word of [day, region, service, 'aws4_request']) {
        key = createHmac('sha256', createSecretKey(key)).update(word).digest()
        keys.push(new Secret(key.toString('latin1')))
      }
      return keys
    },
  }
}

/** A caller's own `x-amz-*` and the type of the body; other headers may be rewritten on their way. */
function headersToSign({ headers }: RequestToSign): Record<string, string> {
  return Object.fromEntries(
    headers.filter(
      ([name, value]) =>
        name === 'content-type' ||
        isUnsignedChunks(name, value) ||
        (name.startsWith('x-amz-') && !ADDED.some((added) => added === name)),
    ),
  )
}

/** S3 decodes the path and encodes it again in its own way before it compares. */
const toS3Path = (pathname: string) =>
  pathname
    .split('/')
    .map((segment) => escapeLikeAws(decodeURIComponent(segment)))
    .join('/')

const escapeLikeAws = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

function readQuery(search: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (const pair of search.slice(1).split('&')) {
    if (pair === '') continue
    if (pair.includes('+'))
      throw new GatewayError(
        'target_invalid',
        'Write %20 for a space and %2B for a plus in the query: a signed request must not be read in two ways.',
        { reason: 'query_not_canonical' },
      )
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    const before = query[name]
    query[name] = before === undefined ? value : [before, value].flat()
  }
  return query
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new GatewayError(
      'target_invalid',
      'Write the query in UTF-8, percent-encoded: what is signed has to be text.',
      { reason: 'query_not_canonical' },
    )
  }
}

/** SHA-256 and HMAC of Node behind the face that the signer asks for; a key object costs a quarter of what bytes cost as a key. */
class Sha256 {
  readonly #hash: Hash | Hmac
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', createSecretKey(toBytes(secret)))
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(toBytes(data))
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {
    throw new Error('sha256: made anew for each digest')
  }
}

function toBytes(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data)
}
