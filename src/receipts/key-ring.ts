// The published signing keys as this process knows them: which documents are ours, and which key was revoked.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { toCanonicalJson } from '../lib/canonical-json.ts'
import { isObject } from '../lib/json.ts'
import type { PublishedKey } from '../store/ports.ts'
import { findInvalidity } from './validity.ts'

type Payload = Readonly<Record<string, unknown>>

export interface KeyRing {
  /** Replaces what is known; keys of other purposes are passed over. */
  load(keys: readonly PublishedKey[]): void
  find(kid: string): PublishedKey | undefined
  /**
   * The payload of a document that a published key signed, while that key proves it; undefined for anything else.
   * @param typ one of JWS_TYPES: a document of another kind is none
   */
  verifyOwn(jws: string, typ: string): Payload | undefined
}

export function createKeyRing(): KeyRing {
  let ring = new Map<string, { readonly key: PublishedKey; readonly publicKey: KeyObject }>()

  return {
    load(keys) {
      const signing = keys.filter(({ purpose }) => purpose === 'sign')
      ring = new Map(
        signing.map((key) => [
          key.kid,
          { key, publicKey: ring.get(key.kid)?.publicKey ?? importPublic(key.jwk) },
        ]),
      )
    },
    find: (kid) => ring.get(kid)?.key,

    verifyOwn(jws, typ) {
      const [head, body, signature, ...rest] = jws.split('.')
      if (!head || !body || !signature || rest.length > 0) return undefined
      const known = ring.get(kidOf(head))
      // One spelling: a head with other members is not ours, whatever its signature.
      if (!known || head !== encode({ alg: 'EdDSA', kid: known.key.kid, typ })) return undefined
      const bytes = Buffer.from(signature, 'base64url')
      if (!verify(null, Buffer.from(`${head}.${body}`), known.publicKey, bytes)) return undefined
      const payload = JSON.parse(decode(body)) as Payload
      return findInvalidity(known.key, payload) ? undefined : payload
    },
  }
}

/** Base64url of the RFC 8785 form: what is signed, head and body. */
export const encode = (document: unknown) => Buffer.from(toCanonicalJson(document)).toString('base64url')
const decode = (part: string) => Buffer.from(part, 'base64url').toString('utf8')

function kidOf(head: string): string {
  try {
    const parsed: unknown = JSON.parse(decode(head))
    return isObject(parsed) ? String(parsed['kid']) : ''
  } catch {
    return ''
  }
}

function importPublic(jwk: string): KeyObject {
  const { kty, crv, x } = JSON.parse(jwk) as Record<string, unknown>
  return createPublicKey({ key: { kty, crv, x } as import('node:crypto').JsonWebKey, format: 'jwk' })
}
