// Digests that a caller can recompute from what was returned, with nothing but SHA-256 and an RFC 8785 library.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** Lower-case hex SHA-256 of the text in UTF-8. */
export const digestText = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

/** Lower-case hex SHA-256. */
export const digestBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Lower-case hex SHA-256 of the value as canonical JSON (RFC 8785). */
export function digestJson(value: unknown): string {
  const canonical = canonicalize(value)
  if (canonical === undefined) throw new TypeError('not a JSON value')
  return digestText(canonical)
}
