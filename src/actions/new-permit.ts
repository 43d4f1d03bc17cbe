// A permit as it is made: its claims, signed, and its row, which knows it by the hash of those bytes.
import { type ApprovalRule, needsPeople } from '../../schemas/approval.ts'
import type { CheckedRequest } from '../egress/grant.ts'
import { newId } from '../lib/ids.ts'
import type { Signer } from '../receipts/ports.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Mandate, NewPermit } from '../store/ports.ts'
import { bindRequest } from './binding.ts'
import { EXECUTION_COST } from './permit-grant.ts'
import { hashPermit, type Lifetime, type PermitClaims, toSeconds } from './permits.ts'
import { writeSummary } from './summary.ts'

/** Who prepared a permit. */
export type Preparer = Pick<NewPermit, 'preparedKind' | 'preparedBy' | 'preparedPerson' | 'preparedAddress'>

export interface Making {
  readonly accountId: string
  readonly checked: CheckedRequest
  readonly mandate: Mandate
  /** Undefined where nobody is asked. */
  readonly rule: ApprovalRule | undefined
  readonly preparer: Preparer
  readonly at: number
  readonly lifetime: Lifetime
  /** Whether the gateway sends an idempotency key of its own with it; true where left out. */
  readonly addsKey?: boolean
}

/** @returns the compact JWS and the row; nothing is stored yet */
export function newPermit(
  { signer, baseUrl }: { readonly signer: Signer; readonly baseUrl: string },
  { accountId, checked, mandate, rule, preparer, at, lifetime, addsKey }: Making,
): { readonly jws: string; readonly permit: NewPermit } {
  const { request, credential, digest } = checked
  const { expiresAt, latest } = lifetime
  const id = newId('pmt', at)
  const claims: PermitClaims = {
    iss: baseUrl,
    aud: baseUrl,
    jti: id,
    iat: toSeconds(at),
    exp: toSeconds(latest),
    mandate_id: mandate.id,
    mandate_digest: mandate.digest,
    request: bindRequest(request, digest),
    credential_id: credential.id,
    credential_version: credential.version,
    max_cost: EXECUTION_COST,
    single_use: true,
    ...(rule && { approval: 'required' }),
  }
  const jws = signer.sign(JWS_TYPES.permit, { ...claims })
  const permit: NewPermit = {
    id,
    accountId,
    mandateId: mandate.id,
    credentialId: credential.id,
    credentialVersion: credential.version,
    state: rule ? 'pending_approval' : 'ready',
    tokenSha256: hashPermit(jws),
    requestDigest: digest,
    method: request.method,
    host: request.target.host,
    cost: EXECUTION_COST,
    summary: rule ? writeSummary(checked, mandate, addsKey) : null,
    createdAt: at,
    expiresAt,
    approval: rule && needsPeople(rule) ? JSON.stringify(rule) : null,
    ...preparer,
  }
  return { jws, permit }
}
