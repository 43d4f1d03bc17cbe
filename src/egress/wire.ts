// Rows of the store as the documents callers see. One place, so that no route shows a column another one hides.
import type {
  AttemptRecord,
  CapabilityRecord,
  CredentialMetadata,
  IssuedCapability,
  ProviderId,
} from '../../schemas/egress.ts'
import type { Budget, Credential, NewCapability } from '../store/ports.ts'
import type { Attempt } from '../store/model.ts'
import { toBudgetState } from './limits/budgets.ts'
import { toTimestamp, toTimestampOrNull } from '../lib/timestamp.ts'

/** The price of one attempt, in credits (specification, Limits). */
export const ATTEMPT_COST = 1

/** A credential as callers see it: everything but the secret. */
export function toCredentialMetadata(credential: Credential, budgets: readonly Budget[]): CredentialMetadata {
  return {
    credential_id: credential.id,
    provider: credential.provider as ProviderId,
    label: credential.label,
    ...scopeOf(credential),
    header: credential.header,
    scheme: credential.scheme,
    settings: credential.settings,
    version: credential.version,
    budgets: budgets.map(toBudgetState),
    created_at: toTimestamp(credential.createdAt),
    rotated_at: toTimestampOrNull(credential.rotatedAt),
    edited_at: toTimestampOrNull(credential.editedAt),
    revoked_at: toTimestampOrNull(credential.revokedAt),
  }
}

/** A capability as lists show it: scope, uses and times, without its token. */
export function toCapabilityRecord(
  capability: NewCapability,
  budgets: readonly Budget[] = [],
): CapabilityRecord {
  return {
    capability_id: capability.id,
    credential_id: capability.credentialId,
    parent_id: capability.parentId,
    label: capability.label,
    ...scopeOf(capability),
    ...(capability.scope.rules && { rules: capability.scope.rules.map((list) => [...list]) }),
    max_uses: capability.maxUses,
    uses: capability.uses,
    budgets: budgets.map(toBudgetState),
    shows_balance: capability.showsBalance,
    created_at: toTimestamp(capability.createdAt),
    expires_at: toTimestamp(capability.expiresAt),
    revoked_at: toTimestampOrNull(capability.revokedAt),
  }
}

/** The record with its token, which is shown this once. */
export const toIssuedCapability = (
  capability: NewCapability,
  budgets: readonly Budget[],
  token: string,
): IssuedCapability => ({
  ...toCapabilityRecord(capability, budgets),
  capability: token,
})

/** An attempt as its account reads it: state, outcome, charge and receipt; times in ISO 8601. */
export function toAttemptRecord(attempt: Attempt): AttemptRecord {
  return {
    attempt_id: attempt.id,
    kind: attempt.kind,
    capability_id: attempt.capabilityId,
    permit_id: attempt.permitId,
    credential_id: attempt.credentialId,
    credential_version: attempt.credentialVersion,
    state: attempt.state,
    outcome: attempt.outcome,
    method: attempt.method,
    host: attempt.host,
    request_digest: attempt.requestDigest,
    idempotency_key: attempt.idempotencyKey,
    upstream_status: attempt.upstreamStatus,
    response_digest: attempt.responseDigest,
    credits_charged: attempt.state === 'refunded' ? 0 : ATTEMPT_COST,
    created_at: toTimestamp(attempt.createdAt),
    sending_at: toTimestampOrNull(attempt.sendingAt),
    finished_at: toTimestampOrNull(attempt.finishedAt),
    receipt_id: attempt.receiptId,
  }
}

const scopeOf = ({ scope }: { readonly scope: Credential['scope'] }) => ({
  hosts: [...scope.hosts],
  path_prefixes: [...scope.path_prefixes],
  methods: [...scope.methods],
})
