// Preparing a permit: the request is judged as a fetch judges it, a mandate has to cover it and pays its share, and what
// comes out is signed. Nothing is sent and nothing debited.
import type { MandateTerms } from '../../schemas/actions.ts'
import { credentialNotFound } from '../egress/refusals.ts'
import { checkScopes } from '../egress/request.ts'
import type { CheckedRequest } from '../egress/grant.ts'
import { judgeRequest } from '../egress/rules/judge.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Actions } from './ports.ts'
import type { Mandate } from '../store/ports.ts'
import { partyOf, ruleFor } from './approval.ts'
import { checkMandate } from './mandate-scope.ts'
import { findTermsProblem, normaliseTerms, type Terms } from './mandates.ts'
import { newPermit, type Preparer } from './new-permit.ts'
import { lifetimeOf } from './permits.ts'
import { type ActionParts, MAX_PENDING_PERMITS } from './ports.ts'
import type { PreparedPermits } from './prepared-permit-cache.ts'
import { credentialBusy, credentialRevoked, mandateRequired, tooManyPending } from './refusals.ts'
import { EXECUTION_COST } from './permit-grant.ts'

type PrepareInput = Parameters<Actions['prepare']>[1]
type By = Parameters<Actions['prepare']>[0]

const MAX_TRIES = 4

/** The tool `gateway.actions.prepare`: one request is judged under a mandate and signed; nothing is sent. */
export function createPrepare(
  parts: ActionParts & { readonly preparedPermits: Pick<PreparedPermits, 'keep'> },
): Actions['prepare'] {
  const { store, forward, now, preparedPermits } = parts

  return async (by, input) => {
    if (input.mandate !== undefined && input.mandate_id !== undefined)
      throw new GatewayError('input_conflict', 'Send either `mandate` or `mandate_id`, not both.')
    const terms = input.mandate && readTerms(input.mandate)
    // A credential that is replaced meanwhile is read again: the permit names its version.
    for (let tries = MAX_TRIES; tries > 0; tries--) {
      const prepared = await tryOnce(by, input, terms)
      if (prepared) return prepared
    }
    throw credentialBusy()
  }

  function readTerms(given: MandateTerms): Terms {
    const terms = normaliseTerms(given)
    const problem = findTermsProblem(terms, {
      ports: parts.egressPorts,
      allowSandboxName: parts.allowSandboxName,
      now: now(),
    })
    if (problem) throw invalidTerms({ ...problem, pointer: `/mandate${problem.pointer}` })
    return terms
  }

  /** @returns undefined when the credential was replaced in between */
  async function tryOnce(by: By, input: PrepareInput, terms: Terms | undefined) {
    const { accountId } = by
    const checked = await forward.prepare(input.request, input.credential_id, accountId)
    if (terms === undefined && input.mandate_id === undefined) throw mandateRequired('missing')
    if (!checked) throw await noCredential(accountId, input.credential_id)
    checkScopes(checked.request, checked)
    const mandate = await findMandate(accountId, checked, terms, input.mandate_id)

    const rule = ruleFor(mandate, checked.credential, judgeRequest(checked.request, checked).decision)
    const preparer = await preparerOf(by, rule !== undefined)
    const at = now()
    const { jws, permit } = newPermit(parts, {
      accountId,
      checked,
      mandate,
      rule,
      preparer,
      at,
      lifetime: lifetimeOf(mandate, rule !== undefined, at),
    })
    const result = await store.preparePermit({
      permit,
      needsBalance: EXECUTION_COST,
      maxPending: MAX_PENDING_PERMITS,
      now: at,
    })
    if (result.ok) {
      if (!rule) preparedPermits.keep(permit)
      else parts.onApproval?.(permit)
      return {
        permit: jws,
        permit_id: permit.id,
        mandate_id: mandate.id,
        request_digest: permit.requestDigest,
        state: rule ? ('pending_approval' as const) : ('ready' as const),
        expires_at: toTimestamp(permit.expiresAt),
      }
    }
    switch (result.reason) {
      case 'credential_changed':
        return undefined
      case 'credential_gone':
        throw credentialRevoked()
      case 'too_many_pending':
        throw tooManyPending(MAX_PENDING_PERMITS)
      case 'mandate_used_up':
        throw mandateRequired('used_up', mandate)
      case 'mandate_gone':
        throw mandateRequired(mandate.expiresAt <= now() ? 'expired' : 'revoked', mandate)
      case 'credits':
        throw await parts.creditsRequired({
          accountId,
          balance: result.balance,
          need: EXECUTION_COST,
          what: `A permit is prepared free of charge, but its execution costs ${EXECUTION_COST} credit`,
        })
    }
  }

  async function noCredential(accountId: string, credentialId: string): Promise<GatewayError> {
    const credential = await store.getCredential(credentialId, accountId)
    return credential ? credentialRevoked() : credentialNotFound()
  }

  /** @throws {GatewayError} mandate_required where it does not cover the request; used up is said by the store */
  async function findMandate(
    accountId: string,
    checked: CheckedRequest,
    terms: Terms | undefined,
    mandateId: string | undefined,
  ): Promise<Mandate> {
    const { request, credential } = checked
    const judge = (mandate: Parameters<typeof checkMandate>[0]) => {
      const { host, port, path } = request.target
      for (const { method } of [request, ...(request.otherMethods ?? [])]) {
        const asked = { host, port, path, method, credentialId: credential.id }
        const verdict = checkMandate(mandate, asked, now())
        if (!verdict.ok) throw mandateRequired(verdict.reason, mandate)
      }
    }
    // Terms that do not cover the request are not worth a row.
    if (terms) judge({ ...terms, revokedAt: null })
    const createdAt = now()
    const mandate = terms
      ? await store.insertMandate({ ...terms, id: newId('mdt', createdAt), accountId, createdAt })
      : mandateId && (await store.getMandate(mandateId, accountId))
    if (!mandate) throw mandateRequired('not_found')
    judge(mandate)
    return mandate
  }

  /** @param isDecided whether somebody will decide: who made a key is only asked then */
  async function preparerOf(by: By, isDecided: boolean): Promise<Preparer> {
    const { kind, id } = partyOf(by)
    const person = by.session?.personId ?? by.connection?.personId
    const preparedPerson = person ?? ((isDecided && (await store.findPersonBehind(id))) || null)
    return { preparedKind: kind, preparedBy: id, preparedPerson, preparedAddress: by.address }
  }
}

/** @returns 400 input_invalid for one member of the terms; `pointer` is a JSON pointer into the input */
export const invalidTerms = ({ pointer, message }: { pointer: string; message: string }) =>
  new GatewayError('input_invalid', `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })
