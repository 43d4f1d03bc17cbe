// The parts of a request that a permit is bound to, so that a request that differs can be told where. The digest of
// the whole (egress/digest.ts) decides; the parts only explain.
import { hash } from 'node:crypto'
import { digestContent } from '../egress/digest.ts'
import type { PreparedRequest } from '../egress/request.ts'
import { digestCanonical } from '../lib/canonical-json.ts'

/** The binding as it stands in a permit. */
export interface BoundRequest {
  readonly method: string
  readonly host: string
  /** base64url SHA-256 over the canonical request, the credential by id and version. */
  readonly digest: string
  /** base64url SHA-256 of the canonical URL. */
  readonly url_digest: string
  /** base64url SHA-256 over the RFC 8785 form of the sorted header pairs, without credential and Idempotency-Key. */
  readonly headers_digest: string
  /** RFC 9530 form. */
  readonly content_digest: string
}

export type Part = 'method' | 'url' | 'headers' | 'body'

/** The request as its permit names it: method, host, digest of the whole and digests of its parts. */
export function bindRequest(
  { method, target, headers, body }: Pick<PreparedRequest, 'method' | 'target' | 'headers' | 'body'>,
  digest: string,
): BoundRequest {
  return {
    method,
    host: target.host,
    digest,
    url_digest: digestText(target.url.href),
    headers_digest: digestCanonical(headers.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    content_digest: digestContent(body),
  }
}

/** The parts in which a request is not the bound one, in a fixed order. */
export function findDifferences(bound: BoundRequest, asked: BoundRequest): Part[] {
  const parts: readonly (readonly [Part, boolean])[] = [
    ['method', bound.method !== asked.method],
    ['url', bound.url_digest !== asked.url_digest],
    ['headers', bound.headers_digest !== asked.headers_digest],
    ['body', bound.content_digest !== asked.content_digest],
  ]
  return parts.filter(([, differs]) => differs).map(([part]) => part)
}

/** Whether a URL that could not be made canonical is the bound one, letter for letter. */
export const isBoundUrl = (bound: BoundRequest, url: string): boolean =>
  digestText(url) === bound.url_digest || digestText(`${url}/`) === bound.url_digest

const digestText = (text: string) => hash('sha256', text, 'base64url')
