// Rows as the documents callers see: the state a permit is really in, which nobody writes down when time or a revocation
// changes it.
import type { HttpMethod } from '../../schemas/http.ts'
import type {
  ActionStats,
  MandateRecord,
  PermitDecision,
  PermitRecord,
  PermitStanding,
  PermitState,
} from '../../schemas/actions.ts'
import { toTimestamp, toTimestampOrNull } from '../lib/timestamp.ts'
import type { ActionCounts, Decision, Mandate, Permit } from '../store/ports.ts'
import type { z } from 'zod'
import { readRule } from './approval.ts'
import { findRevocation, type PermitDependencies, isOpen, isPast } from './revocation-check.ts'
import { readSummary } from './summary.ts'

/** A mandate as callers see it: times in ISO 8601, what is used beside what is allowed. */
export const toMandateRecord = (mandate: Mandate): MandateRecord => ({
  mandate_id: mandate.id,
  digest: mandate.digest,
  purpose: mandate.purpose,
  credential_id: mandate.credentialId,
  host: mandate.host,
  path_prefix: mandate.pathPrefix,
  methods: [...mandate.methods] as z.infer<typeof HttpMethod>[],
  max_calls: mandate.maxCalls,
  max_credits: mandate.maxCredits,
  requires_approval: mandate.requiresApproval,
  approval: mandate.approval,
  expires_at: toTimestamp(mandate.expiresAt),
  calls: mandate.calls,
  credits: mandate.credits,
  created_at: toTimestamp(mandate.createdAt),
  revoked_at: toTimestampOrNull(mandate.revokedAt),
})

/** The state that callers are shown: an open permit whose time is over is expired, one whose grounds are gone is revoked. */
export function stateOf(permit: Permit, dependencies: PermitDependencies, now: number): PermitState {
  if (!isOpen(permit)) return permit.state
  if (isPast(permit, now)) return 'expired'
  return findRevocation(permit, dependencies) === undefined ? permit.state : 'revoked'
}

/** @param as `listed` leaves longer bodies out of the summary, since a page holds many of them */
export function toPermitRecord(
  permit: Permit,
  dependencies: PermitDependencies,
  decisions: readonly Decision[],
  now: number,
  as: 'whole' | 'listed',
): PermitRecord {
  const state = stateOf(permit, dependencies, now)
  return {
    permit_id: permit.id,
    mandate_id: permit.mandateId,
    credential_id: permit.credentialId,
    credential_version: permit.credentialVersion,
    state,
    method: permit.method,
    host: permit.host,
    request_digest: permit.requestDigest,
    summary: state === 'pending_approval' && permit.summary !== null ? readSummary(permit.summary, as) : null,
    created_at: toTimestamp(permit.createdAt),
    expires_at: toTimestamp(permit.expiresAt),
    decided_at: toTimestampOrNull(permit.decidedAt),
    decided_by: permit.decidedBy,
    attempt_id: permit.attemptId,
    prepared_by: toPreparer(permit),
    approval: permit.approval === null ? null : readRule(permit),
    decisions: decisions.map(toDecision),
    evidence_kept: permit.evidenceBytes !== null,
  }
}

/** What the holder of a permit is told: nothing of the people who decide. */
export const toPermitStanding = (
  permit: Permit,
  dependencies: PermitDependencies,
  decisions: readonly Decision[],
  now: number,
): PermitStanding => ({
  permit_id: permit.id,
  state: stateOf(permit, dependencies, now),
  approvals: decisions.filter(({ decision }) => decision === 'approve').length,
  expires_at: toTimestamp(permit.expiresAt),
  decided_at: toTimestampOrNull(permit.decidedAt),
  attempt_id: permit.attemptId,
})

/** @returns null for what a release prepared that did not write it down */
export const toPreparer = (permit: Permit): PermitRecord['prepared_by'] =>
  permit.preparedKind === null || permit.preparedBy === null
    ? null
    : {
        kind: permit.preparedKind,
        id: permit.preparedBy,
        person_id: permit.preparedPerson,
        address: permit.preparedAddress,
      }

const toDecision = ({
  decision,
  kind,
  id,
  method,
  sessionId,
  address,
  decidedAt,
}: Decision): PermitDecision => ({
  decision,
  kind,
  id,
  method,
  session_id: sessionId,
  address,
  at: toTimestamp(decidedAt),
})

/** @param scope `account` or `installation`: the counts are of that one */
export const toActionStats = (counts: ActionCounts, scope: ActionStats['scope']): ActionStats => ({
  scope,
  permits: {
    prepared: counts.permitsPrepared,
    approved: counts.permitsApproved,
    refused: counts.permitsRefused,
  },
  executions: {
    started: counts.executions,
    settled: counts.settled,
    ambiguous: counts.ambiguous,
    refunded: counts.refunded,
    in_flight: counts.executions - counts.settled - counts.ambiguous - counts.refunded,
  },
  credits: {
    charged: counts.creditsCharged,
    refunded: counts.creditsRefunded,
    net: counts.creditsCharged - counts.creditsRefunded,
  },
})
