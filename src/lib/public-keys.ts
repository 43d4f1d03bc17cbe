// Public keys as node:crypto takes them. To make one of a JWK costs half as much as the check that it is made for, and whoever signs
// something signs more of it with the same key, so the newest are kept: by all of their text, so that none answers for another.
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { keepNewest } from './keep-newest.ts'

const MAX_KEPT = 256
/** RSA of 8192 bits. Whatever is longer is made anew each time. */
const MAX_KEPT_CHARS = 1536

const kept = new Map<string, KeyObject>()

/**
 * @param jwk public members alone
 * @throws where it is no public key
 */
export function toPublicKey(jwk: JsonWebKey): KeyObject {
  const text = JSON.stringify(jwk)
  const known = kept.get(text)
  if (known !== undefined) return known
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  if (text.length > MAX_KEPT_CHARS) return key
  kept.set(text, key)
  keepNewest(kept, MAX_KEPT)
  return key
}
