// Action permits, as the rest of the gateway sees them.
import { credentialNotFound } from '../egress/refusals.ts'
import { checkSubset } from '../egress/scope.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import type { OpenActions, PermitHolder } from './ports.ts'
import type { PermitState } from '../../schemas/actions.ts'
import type { Permit } from '../store/ports.ts'
import { deciderOf, findApproverRefusal, readRule } from './approval.ts'
import { digestFacts, openEvidence, sealEvidence } from './evidence.ts'
import { createAsk } from './ask.ts'
import { createExecute } from './execute.ts'
import { createFindShown } from './find-shown.ts'
import { findRevocation, isPast, readDependencies } from './revocation-check.ts'
import { findTermsProblem, normaliseTerms, type Terms } from './mandates.ts'
import { type ActionParts, PERMIT_TTL_MS } from './ports.ts'
import { createPrepare, invalidTerms } from './prepare.ts'
import { createPermitWaits } from './permit-waits.ts'
import { createPreparedPermits } from './prepared-permit-cache.ts'
import {
  alreadyDecided,
  approvalRefused,
  credentialRevoked,
  evidenceNotKept,
  mandateNotFound,
  mandateRevoked,
  permitExpired,
  permitNotFound,
  permitRevoked,
} from './refusals.ts'
import { readFacts, readSummary } from './summary.ts'
import { untilDecided, type Wait } from './until-decided.ts'
import { toActionStats, toMandateRecord, toPermitRecord, toPermitStanding } from './wire.ts'

/** Mandates and permits of an account, and their one execution (contract, section 7). */
export function createActions(parts: ActionParts): OpenActions {
  const { store, now } = parts
  const preparedPermits = createPreparedPermits()
  const waits = createPermitWaits(parts)
  const findShown = createFindShown(parts)

  async function surroundings(permit: Permit) {
    const [dependencies, decisions] = await Promise.all([
      readDependencies(store, permit.accountId, [permit]),
      store.listDecisions([permit.id]),
    ])
    return { dependencies: dependencies(permit), decisions }
  }

  async function show(permit: Permit) {
    const { dependencies, decisions } = await surroundings(permit)
    return toPermitRecord(permit, dependencies, decisions, now(), 'whole')
  }

  async function standingOf(permit: Permit) {
    const { dependencies, decisions } = await surroundings(permit)
    return toPermitStanding(permit, dependencies, decisions, now())
  }

  /** Shows the permit as `read` says, after it was decided where somebody waits for that. */
  async function after<R extends { readonly state: PermitState }>(
    permit: Permit,
    wait: Wait | undefined,
    read: (permit: Permit) => Promise<R>,
  ): Promise<R> {
    let shown = await read(permit)
    if (wait === undefined || shown.state !== 'pending_approval') return shown
    await untilDecided(waits, permit, wait, async () => {
      shown = await read(await find(permit.accountId, permit.id))
      return shown.state === 'pending_approval'
    })
    return shown
  }

  const holderOf = (whose: PermitHolder) =>
    'permit' in whose ? findShown(whose.permit) : find(whose.accountId, whose.permitId)

  async function find(accountId: string, permitId: string): Promise<Permit> {
    const permit = await store.getPermit(permitId)
    if (permit?.accountId !== accountId) throw permitNotFound()
    return permit
  }

  /** Whether a mandate stored ahead can be of use at all. */
  async function checkTerms(accountId: string, terms: Terms): Promise<void> {
    const problem =
      findTermsProblem(terms, {
        ports: parts.egressPorts,
        allowSandboxName: parts.allowSandboxName,
        now: now(),
      }) ?? (terms.expiresAt <= now() ? { pointer: '/expires_at', message: 'is in the past' } : undefined)
    if (problem) throw invalidTerms(problem)
    const credential = await store.getCredential(terms.credentialId, accountId)
    if (!credential) throw credentialNotFound()
    if (credential.revokedAt !== null) throw credentialRevoked()
    const { scope } = credential
    const wanted = {
      hosts: [terms.host],
      path_prefixes: [terms.pathPrefix],
      methods: terms.methods as typeof scope.methods,
    }
    const verdict = checkSubset(wanted, scope)
    if (verdict.ok) return
    throw new GatewayError(
      'scope_denied',
      `The credential does not cover ${verdict.value} in ${verdict.field}. Ask for less: what it covers is in \`scope\`.`,
      { reason: `subset_${verdict.field}`, extras: { refused_by: 'credential', scope } },
    )
  }

  return {
    async storeMandate(accountId, given) {
      const terms = normaliseTerms(given)
      await checkTerms(accountId, terms)
      const createdAt = now()
      const id = newId('mdt', createdAt)
      const stored = await store.insertMandate({ ...terms, id, accountId, createdAt })
      // A mandate is stored to be used, so one that was revoked is refused.
      if (stored.revokedAt !== null) throw mandateRevoked(stored.id)
      return toMandateRecord(stored)
    },

    async listMandates(accountId, page) {
      const { items, next } = await store.listMandates(accountId, page)
      return { items: items.map(toMandateRecord), next }
    },

    async revokeMandate(accountId, mandateId) {
      const revoked = await store.revokeMandate({ id: mandateId, accountId, now: now() })
      if (!revoked) throw mandateNotFound()
      waits.lookNow()
      return toMandateRecord(revoked)
    },

    prepare: createPrepare({ ...parts, preparedPermits }),

    getPermit: async (accountId, permitId, wait) => after(await find(accountId, permitId), wait, show),

    standing: async (jws, wait) => after(await findShown(jws), wait, standingOf),

    async follow(whose, news) {
      const permit = await holderOf(whose)
      const { id: permitId, accountId } = permit
      const end = waits.enter(permit, { news })
      return {
        permitId,
        get isOpen() {
          return !waits.isClosed
        },
        read: async () => standingOf(await find(accountId, permitId)),
        end,
      }
    },

    get waiting() {
      return waits.count
    },

    endWaits: () => waits.close(),

    async listPermits(accountId, { state }, page) {
      const at = now()
      const { items, next } = await store.listPermits({ accountId, state, now: at }, page)
      const [dependencies, decisions] = await Promise.all([
        readDependencies(store, accountId, items),
        store.listDecisions(items.map(({ id }) => id)),
      ])
      const records = items.map((permit) =>
        toPermitRecord(
          permit,
          dependencies(permit),
          decisions.filter(({ permitId }) => permitId === permit.id),
          at,
          'listed',
        ),
      )
      // Time and revocations change a state without a row: what was asked for is the state as it is shown.
      return { items: records.filter((record) => state === undefined || record.state === state), next }
    },

    async decide(by, permitId, decision) {
      const { accountId } = by
      const permit = await find(accountId, permitId)
      const at = now()
      // A permit that could not be executed any more is not worth a yes; a no is always taken.
      if (permit.state === 'pending_approval' && decision === 'approve') {
        const dependencies = await readDependencies(store, accountId, [permit])
        const why = findRevocation(permit, dependencies(permit))
        if (why !== undefined) throw permitRevoked(permitId, why)
        const refusal = isPast(permit, at) ? undefined : findApproverRefusal(permit, by, at)
        if (refusal !== undefined) throw approvalRefused(permitId, refusal)
      }
      const decided = await store.decidePermit({
        id: permitId,
        accountId,
        decision,
        by: deciderOf(by),
        people: readRule(permit).people,
        evidence: permit.summary === null ? null : sealEvidence(parts.evidenceKey, permit, permit.summary),
        expiresAt: at + PERMIT_TTL_MS,
        now: at,
      })
      if (!decided) throw permitNotFound()
      if (decided.changed) {
        waits.changed(permitId)
        parts.onApproval?.(decided.permit)
        return show(decided.permit)
      }
      if (decided.reason !== undefined) throw approvalRefused(permitId, decided.reason)
      throw isPast(decided.permit, at) && decided.permit.decidedAt === null
        ? permitExpired(permitId)
        : alreadyDecided(decided.permit)
    },

    async evidence(accountId, permitId) {
      const permit = await find(accountId, permitId)
      const sealed = permit.evidenceBytes === null ? undefined : await store.getEvidence(permitId)
      if (!sealed) throw evidenceNotKept(permit)
      const json = openEvidence(parts.evidenceKey, permit, sealed)
      const digest = digestFacts(readFacts(json))
      if (digest !== permit.requestDigest) throw new Error('what is kept is not what the permit was for')
      const { decisions, prepared_by } = await show(permit)
      const request = readSummary(json, 'whole')
      return { permit_id: permitId, request_digest: digest, request, prepared_by, decisions }
    },

    ask: createAsk({ ...parts, waits }),

    execute: createExecute({ ...parts, preparedPermits, waits, findShown }),

    async stats(accountId) {
      const counts = await store.countActions(accountId)
      return toActionStats(counts, accountId === undefined ? 'installation' : 'account')
    },
  }
}
