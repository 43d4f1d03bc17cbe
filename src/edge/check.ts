// Tells an operator what it takes to have a host served: the record that should be there, what each resolver sees, and why
// it is not enough. Asking notes that this account wants to serve the host; publishing the record is the consent.
import type { EdgeCheck } from '../../schemas/edge.ts'
import { ResolveError } from '../egress/ports.ts'
import { parseTarget, SANDBOX_HOST } from '../egress/target.ts'
import { GatewayError } from '../core/errors.ts'
import { toTimestampOrNull } from '../lib/timestamp.ts'
import { consentName, type Consents, type Inquiry, isPublicSuffix } from './consent.ts'
import type { ConsentVerdict, EdgeParts } from './ports.ts'
import { accountToken, formatRecord, showRecord } from './consent-record.ts'

export type CheckParts = Pick<
  EdgeParts,
  'resolver' | 'addresses' | 'tokenKey' | 'edgeName' | 'egressPorts' | 'allowSandboxName' | 'baseUrl' | 'now'
> & { readonly store: Pick<EdgeParts['store'], 'saveEdgeHost'> }

const RESOLVE_MS = 5_000
/** All that the edge forwards. */
const METHOD = 'POST'

/**
 * @returns a function of the account that asks and the host, which may carry a port that the operator allows
 * @throws {GatewayError} target_invalid, target_blocked
 */
export function createEdgeCheck(parts: CheckParts, consents: Pick<Consents, 'inquire'>) {
  return async (accountId: string, given: string): Promise<EdgeCheck> => {
    const target = parseTarget(`https://${given}/`, {
      ports: parts.egressPorts,
      allowSandboxName: parts.allowSandboxName,
    })
    if (!target.ok) throw new GatewayError(target.code, target.detail, { reason: target.reason })
    // The record is of the name: a port is nothing that DNS knows.
    const { host } = target
    const token = accountToken(parts.tokenKey, accountId, host)
    // The token is made before anybody is asked: a record that is there already names it.
    if (!isPublicSuffix(host)) await parts.store.saveEdgeHost({ token, host, accountId, now: parts.now() })
    const expected = formatRecord(parts.edgeName, token)
    const [inquiry, reachable] = await Promise.all([consents.inquire(host, expected), reach(host)])
    const verdict = verdictFor(accountId, host, inquiry.verdict)
    return {
      host: given,
      authorized: verdict.ok,
      name: consentName(host),
      expected,
      found: inquiry.answers.map(toFound),
      refusal: verdict.ok ? null : verdict.refusal,
      detail: verdict.ok ? nextStep(given, reachable) : verdict.detail,
      paths: verdict.ok ? [...verdict.consent.paths] : [],
      methods: verdict.ok ? [...verdict.consent.methods] : [],
      expires_at: verdict.ok ? toTimestampOrNull(verdict.consent.until) : null,
      reachable,
    }
  }

  async function reach(host: string): Promise<EdgeCheck['reachable']> {
    // It has no name in any DNS.
    if (parts.allowSandboxName && host === SANDBOX_HOST) return { ok: true, reason: null }
    try {
      for (const address of await parts.resolver.resolve(host, RESOLVE_MS)) {
        const verdict = parts.addresses.classify(address)
        if (!verdict.ok) return { ok: false, reason: verdict.reason }
      }
      return { ok: true, reason: null }
    } catch (thrown) {
      if (!(thrown instanceof ResolveError)) throw thrown
      return { ok: false, reason: thrown.reason }
    }
  }

  function nextStep(given: string, reachable: EdgeCheck['reachable']): string {
    return reachable.ok
      ? `Transactions sent to ${parts.baseUrl}/edge/${given}/ are forwarded, at the expense of this account.`
      : `The record consents, but calls are refused: the host does not lead to public addresses (${reachable.reason}).`
  }
}

/** A consent for somebody is not yet one for this account. */
function verdictFor(accountId: string, host: string, verdict: ConsentVerdict): ConsentVerdict {
  if (!verdict.ok) return verdict
  if (verdict.accountId !== accountId)
    return {
      ok: false,
      refusal: 'wrong_account',
      detail: `The acct of the record at ${consentName(host)} is not that of your account. Publish the expected record in its place.`,
    }
  if (!verdict.consent.methods.includes(METHOD))
    return {
      ok: false,
      refusal: 'method_not_covered',
      detail: `The record at ${consentName(host)} does not allow ${METHOD}, which is all that the edge forwards. Add it to methods, or leave methods out.`,
    }
  return verdict
}

function toFound({ resolver, answer }: Inquiry['answers'][number]): EdgeCheck['found'][number] {
  return {
    resolver,
    status: answer.status,
    records: answer.status === 'found' ? answer.records.map(showRecord) : [],
    ttl_seconds: answer.status === 'failed' ? null : answer.ttlSeconds,
  }
}
