// What the gateway attests of one transaction that it passed on: who allowed it, what was found in it, where it went, what
// came back. Digests and words, nothing of the transaction itself.
import type { AddressClass } from '../../schemas/web-fetch.ts'
import { createAddressPolicy } from '../egress/address.ts'
import type { Completed } from '../egress/run.ts'
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
  readonly consent: Consent
  readonly inspection: Inspection
  readonly completed: Completed
  /** Milliseconds since the epoch. */
  readonly times: { readonly startedAt: number; readonly consentedAt: number; readonly sentAt: number }
}

/** @returns compact JWS (typ gw-evidence+jws) */
export function signEvidence(
  { signer, baseUrl, edgeName, now }: Pick<EdgeParts, 'signer' | 'baseUrl' | 'edgeName' | 'now'>,
  { requestId, attempt, consent, inspection, completed, times }: EvidenceFacts,
): string {
  const endedAt = now()
  const id = newId('evd', endedAt)
  const { findings, protocols } = inspection
  // Members stand in the order of RFC 8785, so that nothing is left to be sorted.
  return signer.sign(JWS_TYPES.evidence, {
    address_class: classOf(attempt.host, completed.addresses),
    attempt_id: attempt.id,
    consent: {
      acct: consent.accountToken,
      gw: edgeName,
      record_digest: consent.recordDigest,
    },
    ended_at: toTimestamp(endedAt),
    evidence_id: id,
    host: attempt.host,
    iat: Math.floor(endedAt / 1000),
    idempotency_key_added: attempt.idempotencyKey !== null,
    inspection: {
      findings: rulesOf(findings),
      protocols,
      verdict: findings.length === 0 ? 'clean' : 'noted',
    },
    iss: baseUrl,
    jti: id,
    method: attempt.method,
    receipt_id: completed.receipt.id,
    request_digest: attempt.requestDigest,
    request_id: requestId,
    response_bytes: completed.response.body.length,
    response_content_digest: completed.contentDigest,
    response_digest: completed.responseDigest,
    started_at: toTimestamp(times.startedAt),
    timings_ms: {
      consent: times.consentedAt - times.startedAt,
      exchange: endedAt - times.sentAt,
      reserve: times.sentAt - times.consentedAt,
      total: endedAt - times.startedAt,
    },
    tool: EDGE_TOOL,
    upstream_status: completed.response.status,
  })
}

/** Most transactions are clean. */
const rulesOf = (findings: Inspection['findings']): readonly string[] =>
  findings.length === 0 ? [] : [...new Set(findings.map(({ rule }) => rule))]

const strict = createAddressPolicy([])
/** Of one answer of the DNS, which is used for as long as it is remembered. */
const classes = new WeakMap<readonly string[], AddressClass>()

function classOf(host: string, addresses: readonly string[]): AddressClass {
  if (host === SANDBOX_HOST) return 'sandbox'
  let known = classes.get(addresses)
  if (known === undefined) {
    known = addresses.every((address) => strict.classify(address).ok) ? 'public' : 'opened_private'
    classes.set(addresses, known)
  }
  return known
}
