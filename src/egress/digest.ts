// Digests that receipts and permits carry: over the exact bytes, so that anyone who has them can compute the same.
import { createHash, hash } from 'node:crypto'
import { digestCanonical } from '../lib/canonical-json.ts'
import type { Scheduler } from '../lib/scheduler.ts'
import type { HeaderPairs } from './headers.ts'

/** RFC 9530 form of the SHA-256; no body and an empty one are the same content. */
export const digestContent = (body: Buffer | undefined): string =>
  `sha-256=:${hash('sha256', body ?? '', 'base64')}:`

/** A seventh of a millisecond. */
const PIECE_BYTES = 256 * 1024

/** The same for a long body, a piece at each of its turns. */
export async function digestLongContent(body: Buffer, turns: Scheduler): Promise<string> {
  const digest = createHash('sha256')
  for (let start = 0; start < body.length; start += PIECE_BYTES) {
    await turns.turn()
    digest.update(body.subarray(start, start + PIECE_BYTES))
  }
  return `sha-256=:${digest.digest('base64')}:`
}

/**
 * base64url SHA-256 over the RFC 8785 form of the request, which is made in that order. `headers`: what is sent, without credential and
 * key.
 */
export function digestRequest(request: {
  readonly method: string
  /** The canonical URL. */
  readonly url: string
  readonly headers: HeaderPairs
  readonly body?: Buffer | undefined
  /** Of the body, where the caller made it already. */
  readonly contentDigest?: string | undefined
  /** Null where no credential goes with it. */
  readonly credentialId: string | null
  readonly secretVersion: number | null
}): string {
  return digestCanonical({
    content_digest: request.contentDigest ?? digestContent(request.body),
    credential_id: request.credentialId,
    headers: sortByName(request.headers),
    method: request.method,
    secret_version: request.secretVersion,
    url: request.url,
    v: 1,
  })
}

/** base64url SHA-256 over the RFC 8785 form of what was passed on: status, released headers, digest of the body. */
export function digestResponse(response: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Digest of the body, in the form that `digestContent` gives it. */
  readonly contentDigest: string
}): string {
  return digestCanonical({
    content_digest: response.contentDigest,
    headers: sortByName(Object.entries(response.headers)),
    status: response.status,
    v: 1,
  })
}

/** Repeated names stay in the order in which they came. Those of a request were sorted when they were picked. */
const sortByName = (pairs: HeaderPairs): HeaderPairs =>
  areSorted(pairs) ? pairs : pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

const areSorted = (pairs: HeaderPairs) =>
  pairs.every(([name], i) => i === 0 || (pairs[i - 1]?.[0] ?? '') <= name)
