// Digests that receipts and permits carry: over the exact bytes, so that anyone who has them can compute the same.
import { hash } from 'node:crypto'
import { digestCanonical } from '../lib/canonical-json.ts'
import type { HeaderPairs } from './headers.ts'

/** RFC 9530 form. */
export function digestContent(body: Buffer | undefined): string {
  return body === undefined ? NO_CONTENT : formatDigest(body)
}

const formatDigest = (body: Buffer) => `sha-256=:${hash('sha256', body, 'base64')}:`
/** Most requests have no body. */
const NO_CONTENT = formatDigest(Buffer.alloc(0))

// Members stand in the order of RFC 8785, so that nothing is left to be sorted.

/** base64url SHA-256 over the RFC 8785 form of the request. `headers`: what is sent, without credential and key. */
export function digestRequest(request: {
  readonly method: string
  /** The canonical URL. */
  readonly url: string
  readonly headers: HeaderPairs
  readonly body: Buffer | undefined
  /** Null where no credential goes with it. */
  readonly credentialId: string | null
  readonly secretVersion: number | null
}): string {
  return digestCanonical({
    content_digest: digestContent(request.body),
    credential_id: request.credentialId,
    headers: inOrder(request.headers),
    method: request.method,
    secret_version: request.secretVersion,
    url: request.url,
    v: 1,
  })
}

/**
 * base64url SHA-256 over the RFC 8785 form of what was passed on: status, released headers, body bytes.
 * @param contentDigest of the body, for who has it already
 */
export function digestResponse(
  response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: Buffer
  },
  contentDigest: string = digestContent(response.body),
): string {
  return digestCanonical({
    content_digest: contentDigest,
    headers: inOrder(Object.entries(response.headers)),
    status: response.status,
    v: 1,
  })
}

/** By name; repeated ones as they came. Most come in order, and a sort would take a copy of them. */
function inOrder(pairs: HeaderPairs): HeaderPairs {
  for (let i = 1; i < pairs.length; i++)
    if (pairs[i - 1]![0] > pairs[i]![0]) return pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return pairs
}
