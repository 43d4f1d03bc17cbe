// A capability as the word on which a request goes out: scope, uses, ancestors.
import type { CredentialCapability, Store } from '../store/ports.ts'
import type { Grant } from './grant.ts'
import { budgetSpent } from './limits/budgets.ts'
import { capabilityGone, credentialGone } from './refusals.ts'
import { checkScopes } from './request.ts'
import { judgeRequest, personRequired } from './rules/judge.ts'

/** The word of a capability: its own uses are counted in the transaction that reserves the attempt. */
export const capabilityGrant = (
  store: Pick<Store, 'reserveAttempt' | 'listStanding'>,
  capability: CredentialCapability,
): Grant => ({
  kind: 'fetch',
  accountId: capability.accountId,
  credentialId: capability.credentialId,
  capabilityId: capability.id,
  permitId: null,
  isBudgeted: capability.isBudgeted,
  keyScope: capability.rootId,
  check({ request, credential, provider }) {
    checkScopes(request, { capability, credential, provider })
    const { decision, rule } = judgeRequest(request, { capability, credential })
    if (decision === 'ask') throw personRequired(rule)
  },
  credentialGone,
  async findWithdrawal() {
    const [standing] = await store.listStanding([capability.id])
    return standing === undefined ? capabilityGone('capability_gone') : undefined
  },
  async reserve(reservation) {
    const reserved = await store.reserveAttempt(reservation)
    if (reserved.ok || reserved.reason === 'credits' || reserved.reason === 'repeated') return reserved
    if (reserved.reason === 'budget')
      return { ok: false, reason: 'refused', error: budgetSpent(reserved.budget, reservation.now) }
    const { reason } = reserved
    return reason === 'credential_gone' || reason === 'credential_changed'
      ? { ok: false, reason }
      : { ok: false, reason: 'refused', error: capabilityGone(reason) }
  },
})
