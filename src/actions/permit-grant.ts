// A permit as the word on which a request goes out: exactly this request, under the credential as it was, once.
import { ATTEMPT_COST } from '../egress/wire.ts'
import type { Grant } from '../egress/grant.ts'
import { budgetSpent } from '../egress/limits/budgets.ts'
import { checkScopes } from '../egress/request.ts'
import type { ErrorCode, GatewayError } from '../core/errors.ts'
import type { EgressRequest } from '../egress/ports.ts'
import type { Permit, Store } from '../store/ports.ts'
import { bindRequest, type BoundRequest, findDifferences, isBoundUrl, type Part } from './binding.ts'
import { isPast } from './revocation-check.ts'
import type { PreparedPermit } from './prepared-permit-cache.ts'
import {
  permitExpired,
  permitMismatch,
  permitPending,
  permitRefused,
  permitRevoked,
  permitUsed,
} from './refusals.ts'

/** The price of one execution, in credits: it is one attempt. */
export const EXECUTION_COST = ATTEMPT_COST

/** @returns why a permit in this state cannot be executed; undefined where it can */
export function findConflict(permit: Permit, now: number): GatewayError | undefined {
  if (permit.state === 'executed') return permitUsed(permit)
  if (permit.state === 'refused') return permitRefused(permit.id)
  if (isPast(permit, now)) return permitExpired(permit.id)
  return permit.state === 'pending_approval' ? permitPending(permit.id) : undefined
}

export type PermitGrant = Grant & { readonly permitId: string }

/** @param bound of the permit whose hash is the row's: only asked for where the request is another */
export const permitGrant = (
  store: Pick<Store, 'reserveAction' | 'getMandate'>,
  permit: PreparedPermit,
  bound: () => BoundRequest,
): PermitGrant => ({
  kind: 'action',
  accountId: permit.accountId,
  credentialId: permit.credentialId,
  capabilityId: null,
  permitId: permit.id,
  isBudgeted: false,
  keyScope: permit.id,
  check({ request, credential, provider, digest }) {
    if (credential.version !== permit.credentialVersion) throw permitRevoked(permit.id, 'credential_rotated')
    if (digest !== permit.requestDigest)
      throw permitMismatch(permit.id, findDifferences(bound(), bindRequest(request, digest)))
    checkScopes(request, { credential, provider })
  },
  unsendable(asked, error) {
    const differs = differencesOf(bound(), asked, error.code)
    return differs.length === 0 ? error : permitMismatch(permit.id, differs, error.message)
  },
  credentialGone: () => permitRevoked(permit.id, 'credential_revoked'),
  credentialReplaced: () => permitRevoked(permit.id, 'credential_rotated'),
  async findWithdrawal() {
    const mandate = await store.getMandate(permit.mandateId, permit.accountId)
    return !mandate || mandate.revokedAt !== null ? permitRevoked(permit.id, 'mandate_revoked') : undefined
  },
  async reserve(reservation) {
    const reserved = await store.reserveAction(reservation)
    if (reserved.ok || reserved.reason === 'credits' || reserved.reason === 'repeated') return reserved
    switch (reserved.reason) {
      case 'credential_gone':
      case 'credential_changed':
        return { ok: false, reason: reserved.reason }
      case 'budget':
        return { ok: false, reason: 'refused', error: budgetSpent(reserved.budget, reservation.now) }
      case 'mandate_gone':
        return { ok: false, reason: 'refused', error: permitRevoked(permit.id, 'mandate_revoked') }
      case 'permit': {
        const found = reserved.permit && findConflict(reserved.permit, reservation.now)
        return { ok: false, reason: 'refused', error: found ?? permitExpired(permit.id) }
      }
    }
  },
})

/** A request that cannot be made canonical has no digest, but it is not the bound one either: in which part? */
const UNSENDABLE: Readonly<Partial<Record<ErrorCode, Part>>> = {
  target_invalid: 'url',
  target_blocked: 'url',
  header_forbidden: 'headers',
  input_invalid: 'body',
  body_too_large: 'body',
}

function differencesOf(bound: BoundRequest, asked: EgressRequest, code: ErrorCode): Part[] {
  const part = UNSENDABLE[code]
  if (part === undefined) return []
  const isOtherUrl = !isBoundUrl(bound, asked.url)
  // The very address may have become one that the operator does not allow any more: that is no mismatch.
  if (part === 'url' && !isOtherUrl) return []
  const found = new Set<Part>([part])
  if (bound.method !== asked.method) found.add('method')
  if (isOtherUrl) found.add('url')
  return (['method', 'url', 'headers', 'body'] as const).filter((each) => found.has(each))
}
