// RFC 8785: one text for one JSON value, so that whoever holds the value can compute the same digest and the same signature.
import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * RFC 8785 text of a JSON document: what is signed and what is hashed.
 * @throws {Error} for a value that JSON cannot say: NaN, a lone surrogate, a circle, undefined at the top
 */
export function toCanonicalJson(document: unknown): string {
  const text = canonicalize(document)
  if (text === undefined) throw new TypeError('not a JSON document')
  return text
}

/** base64url SHA-256 over the RFC 8785 text, in UTF-8. */
export const digestCanonical = (document: unknown): string =>
  hash('sha256', toCanonicalJson(document), 'base64url')
