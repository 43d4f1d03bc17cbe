// The egress policy in words, and what it says of the requests that went out lately and of those that it refused.
import { isObject } from '../lib/json.ts'
import { checkPolicy, type EgressPolicy, egressPolicyDocument } from '../egress/policy.ts'
import type { Store } from '../store/ports.ts'
import type { Judged, PastDecision, PolicyKind } from './ports.ts'
import { listed, say } from './statements.ts'

/** Events of the audit log that are looked through for hosts that were denied. */
const LOOKED_THROUGH = 500

export const egressPolicy: PolicyKind<EgressPolicy> = {
  name: 'egress',
  document: egressPolicyDocument,
  explain: ({ paused, denied_hosts }) => [
    say(paused ? 'egress_paused' : 'egress_open'),
    denied_hosts.length > 0 ? say('hosts_denied', { list: listed(denied_hosts) }) : say('no_host_denied'),
  ],
  async past(store, accountId, limit) {
    const [{ items }, denied] = await Promise.all([
      store.listAttempts({ accountId }, { limit }),
      deniedBefore(store, accountId),
    ])
    const sent = items.map(({ createdAt, method, host }) => toDecision(createdAt, `${method} ${host}`, host))
    const decisions = [...sent, ...denied].toSorted((a, b) => b.at - a.at).slice(0, limit)
    return { decisions, gaps: ['refused_before', 'other_accounts', 'minted'] }
  },
}

/** A host of an attempt may name its port; the policy names none. */
const toDecision = (at: number, what: string, host: string): PastDecision<EgressPolicy> => ({
  at,
  what,
  judge: (policy) => judge(policy, host.replace(/:\d+$/, '')),
})

function judge(policy: EgressPolicy, host: string): Judged {
  const verdict = checkPolicy(policy, host)
  return verdict.ok ? { verdict: 'allow', reasons: [] } : { verdict: 'deny', reasons: [verdict.reason] }
}

/** Hosts that were asked for and denied by this policy, as the audit log has them. */
async function deniedBefore(store: Store, accountId: string): Promise<PastDecision<EgressPolicy>[]> {
  const newest = await store.getAuditChain(accountId)
  if (!newest) return []
  const events = await store.listAuditEvents({
    chain: accountId,
    after: Math.max(0, newest.seq - LOOKED_THROUGH),
    upTo: newest.seq,
    limit: LOOKED_THROUGH,
  })
  return events.flatMap(({ body }) => {
    const event: unknown = JSON.parse(body)
    if (!isObject(event) || event['event'] !== 'target.refused' || !isObject(event['detail'])) return []
    const { reason, host } = event['detail']
    if (reason !== 'denied_host' || typeof host !== 'string') return []
    return [toDecision(Date.parse(String(event['at'])), host, host)]
  })
}
