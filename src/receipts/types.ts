// The kinds of signed documents and how anyone verifies one offline. A document's kind is its `typ` header: a verifier
// that expects a receipt never accepts a quote, however valid its signature.
import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose'
import type { SignedReceipt } from '../../schemas/receipt.ts'
import { isObject } from '../lib/json.ts'
import { encode } from './key-ring.ts'
import { findInvalidity, type Invalidity, toMoment } from './validity.ts'

export { ATTESTATIONS, JWS_TYPES, type JwsType } from './kinds.ts'

export type JwsVerdict =
  | { readonly ok: true; readonly kid: string; readonly payload: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false
      readonly reason:
        | 'malformed'
        | 'wrong_type'
        | 'wrong_algorithm'
        | 'unknown_key'
        | 'bad_signature'
        | 'not_canonical'
        | Invalidity
    }

/** The published keys: a JWKS, and beside it the keys that were revoked, without their public halves. */
export interface KeyDocument {
  readonly keys: readonly object[]
  readonly revoked_keys?: readonly object[] | undefined
}

/**
 * Needs nothing but the published keys (`/.well-known/gateway-egress-key.json`).
 * @param expectedTyp one of JWS_TYPES
 */
export async function verifyJws(jws: string, jwks: KeyDocument, expectedTyp: string): Promise<JwsVerdict> {
  let header: ReturnType<typeof decodeProtectedHeader>
  try {
    header = decodeProtectedHeader(jws)
  } catch {
    return { ok: false, reason: 'malformed' }
  }
  if (header.typ !== expectedTyp) return { ok: false, reason: 'wrong_type' }
  if (header.alg !== 'EdDSA') return { ok: false, reason: 'wrong_algorithm' }
  const isItsKey = (named: object) => 'kid' in named && named.kid === header.kid
  if (jwks.revoked_keys?.some(isItsKey)) return { ok: false, reason: 'key_revoked' }
  const key = (jwks.keys as readonly (JWK & PublishedValidity)[]).find(
    ({ kid, kty, crv, use }) =>
      kid === header.kid && kty === 'OKP' && crv === 'Ed25519' && (use === undefined || use === 'sig'),
  )
  if (key?.kid === undefined) return { ok: false, reason: 'unknown_key' }

  let bytes: Uint8Array
  try {
    const { kty, crv, x } = key
    const imported = await importJWK({ kty, crv, x } as JWK, 'EdDSA')
    ;({ payload: bytes } = await compactVerify(jws, imported, { algorithms: ['EdDSA'] }))
  } catch {
    return { ok: false, reason: 'bad_signature' }
  }
  try {
    const payload: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (!isObject(payload)) return { ok: false, reason: 'malformed' }
    // Decoders pass over white space, and over bits that no byte holds: the same document would then have many spellings.
    const [head, body, signature = ''] = jws.split('.')
    const isSpeltAsSigned = Buffer.from(signature, 'base64url').toString('base64url') === signature
    if (head !== encode(header) || body !== encode(payload) || !isSpeltAsSigned)
      return { ok: false, reason: 'not_canonical' }
    const invalidity = findInvalidity(
      { retiredAt: toMoment(key.retired_at), revokedAt: toMoment(key.revoked_at) },
      payload,
    )
    return invalidity ? { ok: false, reason: invalidity } : { ok: true, kid: key.kid, payload }
  } catch {
    return { ok: false, reason: 'malformed' }
  }
}

/** RFC 3339 moments, as the key document writes them. */
interface PublishedValidity {
  readonly retired_at?: unknown
  readonly revoked_at?: unknown
}
/** Reads what a document says without judging it; for showing one that was stored by ourselves. */
export function decodeJws(jws: string): {
  header: Readonly<Record<string, unknown>>
  payload: Readonly<Record<string, unknown>>
} {
  const [header, payload] = jws.split('.').map((part) => Buffer.from(part, 'base64url').toString('utf8'))
  return { header: JSON.parse(header ?? '{}'), payload: JSON.parse(payload ?? '{}') }
}

/** A stored receipt as answers show it. */
export const toReceipt = (baseUrl: string, receipt: { id: string; jws: string }): SignedReceipt => ({
  receipt_id: receipt.id,
  url: `${baseUrl}/v1/receipts/${receipt.id}`,
  jws: receipt.jws,
})
