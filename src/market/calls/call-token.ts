// The header by which a seller's host knows that a request is ours and for which claim: a compact JWS under the keys of
// `/.well-known/jwks.json`, good for a minute, for one method and target, and for one body.
import { createHash, createHmac, type KeyObject } from 'node:crypto'
import { JWS_TYPES } from '../../receipts/types.ts'
import type { Signer } from '../../receipts/ports.ts'
import type { UpstreamRequest } from './ports.ts'

export const CALL_HEADER = 'agent-gateway-call'
const LIFETIME_SECONDS = 60

export interface CallTokenParts {
  readonly signer: Signer
  readonly baseUrl: string
  readonly now: () => number
}

/** The payer is a pseudonym, and neither the query nor the body is in it: only their digests. */
export function signCall({ signer, baseUrl, now }: CallTokenParts, request: UpstreamRequest): string {
  const iat = Math.floor(now() / 1000)
  return signer.sign(JWS_TYPES.call, {
    iss: baseUrl,
    aud: request.version.document.origin,
    iat,
    exp: iat + LIFETIME_SECONDS,
    jti: request.claimId,
    seller: request.sold.sellerId,
    service_id: request.sold.serviceId,
    listing_version: request.version.version,
    method: request.route.method,
    target_sha256: createHash('sha256').update(request.target).digest('base64url'),
    body_sha256: createHash('sha256')
      .update(request.body ?? '')
      .digest('base64url'),
    amount: String(request.amountAtomic),
    network: request.network,
    payer: request.payer,
  })
}

/** The same payer is the same text for one seller, and another text for another: sellers cannot put their buyers together. */
export const pseudonymOf = (key: KeyObject, sellerId: string, payer: string): string =>
  createHmac('sha256', key).update(`market payer ${sellerId} ${payer}`).digest('base64url').slice(0, 22)
