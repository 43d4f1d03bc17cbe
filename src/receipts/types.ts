// The kinds of signed documents and how anyone verifies one offline. A document's kind is its `typ` header: a verifier
// that expects a receipt never accepts a quote, however valid its signature.
import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose'
import type { SignedReceipt } from '../../schemas/receipt.ts'
import { toCanonicalJson } from '../lib/canonical-json.ts'
import { isObject } from '../lib/json.ts'
import { findInvalidity, type Invalidity } from './validity.ts'

export const JWS_TYPES = {
  receipt: 'gw-receipt+jws',
  permit: 'gw-permit+jws',
  quote: 'gw-quote+jws',
  offer: 'gw-offer+jws',
  evidence: 'gw-evidence+jws',
  /** SignedReceipt of the x402 extension `offer-receipt`: who paid for which resource, nothing else. */
  x402Receipt: 'gw-x402-receipt+jws',
  topUp: 'gw-top-up+jws',
  mcpSession: 'gw-mcp-session+jws',
  /** Goes along with a market call to the seller's host: who asks, for which claim. */
  call: 'agw-call+jws',
  /** A push notification of A2A: the body is the payload, and the header says for whom it is. */
  push: 'gw-push+jws',
  /** The newest place of a chain of the audit log. */
  auditHead: 'gw-audit-head+jws',
} as const
export type JwsType = (typeof JWS_TYPES)[keyof typeof JWS_TYPES]

/** Documents that others are handed: each says in `environment` whether it was made in a sandbox. */
export const ATTESTATIONS: ReadonlySet<string> = new Set<JwsType>([
  JWS_TYPES.receipt,
  JWS_TYPES.permit,
  JWS_TYPES.quote,
  JWS_TYPES.offer,
  JWS_TYPES.evidence,
  JWS_TYPES.x402Receipt,
  JWS_TYPES.auditHead,
  JWS_TYPES.call,
])

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
  const text = Buffer.from(bytes).toString('utf8')
  try {
    const payload: unknown = JSON.parse(text)
    if (!isObject(payload)) return { ok: false, reason: 'malformed' }
    if (toCanonicalJson(payload) !== text) return { ok: false, reason: 'not_canonical' }
    const invalidity = findInvalidity(
      { retiredAt: toMillis(key.retired_at), revokedAt: toMillis(key.revoked_at) },
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
/** A moment that cannot be read is the earliest there is: a key of unknown validity proves nothing younger. */
const toMillis = (moment: unknown): number | null =>
  moment === undefined || moment === null ? null : Date.parse(String(moment)) || 0

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
