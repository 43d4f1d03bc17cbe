// The evidence of one transaction that the gateway passed on: who allowed it, what was found in it, where it went, what
// came back. Digests and words, nothing of the transaction itself.
import type { AddressClass } from '../../schemas/web-fetch.ts'
import { createAddressPolicy } from '../egress/address.ts'
import type { Completed } from '../egress/paid.ts'
import { SANDBOX_HOST } from '../egress/target.ts'
import { newId } from '../lib/ids.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Attempt } from '../store/model.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { Consent, EdgeParts, Inspection } from './ports.ts'

export const EDGE_TOOL = 'gateway.edge.forward'

export interface EvidenceFacts {
  readonly requestId: string
  readonly attempt: Attempt
  /** The digest of the buyer's body as it was sent on, in the form of RFC 9530. */
  readonly bodyDigest: string
  readonly consent: Consent
  readonly inspection: Inspection
  readonly completed: Completed
  /** Milliseconds since the epoch. */
  readonly times: { readonly startedAt: number; readonly consentedAt: number; readonly sentAt: number }
}

/** @returns compact JWS (typ gw-evidence+jws) */
export function signEvidence(
  { signer, baseUrl, edgeName, now }: Pick<EdgeParts, 'signer' | 'baseUrl' | 'edgeName' | 'now'>,
  { requestId, attempt, bodyDigest, consent, inspection, completed, times }: EvidenceFacts,
): string {
  const endedAt = now()
  const id = newId('evd', endedAt)
  const { findings, protocols } = inspection
  return signer.sign(JWS_TYPES.evidence, {
    iss: baseUrl,
    iat: Math.floor(endedAt / 1000),
    jti: id,
    evidence_id: id,
    tool: EDGE_TOOL,
    request_id: requestId,
    attempt_id: attempt.id,
    receipt_id: completed.receipt.id,
    host: attempt.host,
    method: attempt.method,
    address_class: classOf(attempt.host, completed.addresses),
    consent: {
      gw: edgeName,
      acct: consent.accountToken,
      record_digest: consent.recordDigest,
    },
    inspection: {
      protocols,
      verdict: findings.length === 0 ? 'clean' : 'noted',
      findings: [...new Set(findings.map(({ rule }) => rule))],
    },
    request_digest: attempt.requestDigest,
    request_content_digest: bodyDigest,
    idempotency_key_added: attempt.idempotencyKey !== null,
    upstream_status: completed.response.status,
    response_bytes: completed.response.body.length,
    response_content_digest: completed.contentDigest,
    response_digest: completed.responseDigest,
    started_at: toTimestamp(times.startedAt),
    ended_at: toTimestamp(endedAt),
    timings_ms: {
      consent: times.consentedAt - times.startedAt,
      reserve: times.sentAt - times.consentedAt,
      exchange: endedAt - times.sentAt,
      total: endedAt - times.startedAt,
    },
  })
}

const strict = createAddressPolicy([])
function classOf(host: string, addresses: readonly string[]): AddressClass {
  if (host === SANDBOX_HOST) return 'sandbox'
  return addresses.every((address) => strict.classify(address).ok) ? 'public' : 'opened_private'
}
