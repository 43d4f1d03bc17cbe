// Digests that receipts and permits carry: over the exact bytes, so that anyone who has them can compute the same.
import { hash } from 'node:crypto'
import { toCanonicalJson } from '../receipts/types.ts'
import type { HeaderPairs } from './headers.ts'

const NOTHING = Buffer.alloc(0)

/** RFC 9530 form. */
export function digestContent(body: Buffer | undefined): string {
  return `sha-256=:${hash('sha256', body ?? NOTHING, 'base64')}:`
}

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
  const headers = request.headers.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return digestJson({
    v: 1,
    method: request.method,
    url: request.url,
    headers,
    content_digest: digestContent(request.body),
    credential_id: request.credentialId,
    secret_version: request.secretVersion,
  })
}

/** base64url SHA-256 over the RFC 8785 form of what was passed on: status, released headers, body bytes. */
export function digestResponse(response: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}): string {
  return digestJson({
    v: 1,
    status: response.status,
    headers: Object.entries(response.headers).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    content_digest: digestContent(response.body),
  })
}

function digestJson(value: unknown): string {
  return hash('sha256', toCanonicalJson(value), 'base64url')
}
