// A request of an unmodified program that waits for people, as a permit that nobody holds: it stands in the inbox like every other, and is
// used up by the very request that waits for it. Whoever made it gets no token, so that it is good for nothing else.
import { GatewayError } from '../core/errors.ts'
import { digestRequest } from '../egress/digest.ts'
import { findApprovals } from '../egress/attempts.ts'
import type { CheckedRequest } from '../egress/grant.ts'
import type { ApprovedRequest, AskPeople, HeldRequest } from '../egress/relay/ask.ts'
import { newId } from '../lib/ids.ts'
import { must } from '../lib/must.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { HttpMethod } from '../../schemas/http.ts'
import type { Mandate, NewPermit, Permit } from '../store/ports.ts'
import type { z } from 'zod'
import { ruleFor } from './approval.ts'
import { normaliseTerms } from './mandates.ts'
import { newPermit, type Preparer } from './new-permit.ts'
import { EXECUTION_COST } from './permit-grant.ts'
import type { PermitWaits } from './permit-waits.ts'
import { type ActionParts, MAX_PENDING_PERMITS, PERMIT_TTL_MS } from './ports.ts'
import { createQuestions } from './questions.ts'
import { credentialBusy, tooManyPending } from './refusals.ts'
import { findRevocation, isPast, readDependencies } from './revocation-check.ts'
import { untilDecided } from './until-decided.ts'

/** A mandate is bounded by calls or credits; these are bounded by the capability. */
const MAX_CALLS = 1_000_000
/** A question waits so long before people are told of it. */
const TELL_AFTER_MS = 2_000

export function createAsk(parts: ActionParts & { readonly waits: PermitWaits }): AskPeople {
  const { store, waits, log, now } = parts
  const questions = createQuestions(now)

  return async (held) => {
    const { rootId, accountId } = held.capability
    const leave = questions.enter(rootId, accountId)
    try {
      return await ask(held)
    } finally {
      leave()
    }
  }

  async function ask(held: HeldRequest): Promise<ApprovedRequest> {
    const permit = await prepare(held)
    const row = await decided(permit, held)
    if (row.state !== 'ready') throw refusalOf(row, held)
    return {
      permitId: permit.id,
      approvals: must(await findApprovals(store, permit.id), 'the approvals of a permit that was approved'),
      isFor: (checked) => digestShown(checked) === permit.requestDigest,
      async used(attemptId) {
        try {
          await store.usePermit({ id: permit.id, attemptId, now: now() })
        } catch (err) {
          log.warn({ err }, 'an approved request went out, and its permit could not be written down as used')
        }
      },
    }
  }

  async function prepare(held: HeldRequest): Promise<NewPermit> {
    const { checked, capability, waitMs } = held
    const { accountId } = capability
    const at = now()
    const mandate = await mandateFor(held, at)
    const expiresAt = Math.min(at + waitMs, mandate.expiresAt)
    const { permit } = newPermit(parts, {
      // People are shown every header, and what is kept of it is what they saw.
      checked: { ...checked, digest: digestShown(checked) },
      accountId,
      mandate,
      rule: ruleFor(mandate, checked.credential, 'ask'),
      preparer: await preparerOf(capability),
      at,
      lifetime: { expiresAt, latest: expiresAt + PERMIT_TTL_MS },
      // The program's own goes out, or none.
      addsKey: false,
    })
    const result = await store.preparePermit({
      permit,
      needsBalance: EXECUTION_COST,
      maxPending: MAX_PENDING_PERMITS,
      now: at,
    })
    if (result.ok) {
      return permit
    }
    switch (result.reason) {
      case 'credits':
        throw await parts.creditsRequired({
          accountId,
          balance: result.balance,
          need: EXECUTION_COST,
          what: `One attempt costs ${EXECUTION_COST} credit`,
        })
      case 'too_many_pending':
        throw tooManyPending(MAX_PENDING_PERMITS)
      case 'credential_gone':
      case 'credential_changed':
        throw credentialBusy()
      case 'mandate_gone':
      case 'mandate_used_up':
        throw notAsked()
    }
  }

  /** An assistant, and whoever connected it; else the capability, of which nobody knows in whose hands it is. */
  async function preparerOf({ id, accountId }: HeldRequest['capability']): Promise<Preparer> {
    const connection = await store.findConnectionOfCapability(id, accountId)
    return {
      preparedKind: connection ? 'connection' : 'capability',
      preparedBy: connection?.id ?? id,
      preparedPerson: (connection && (await store.findPersonBehind(connection.id))) ?? null,
      preparedAddress: null,
    }
  }

  /** What the rule says, as the mandate of all requests of this capability that it asks about. */
  async function mandateFor({ checked, capability, rule }: HeldRequest, at: number): Promise<Mandate> {
    const { request, credential } = checked
    const { host, port } = request.target
    const terms = normaliseTerms({
      purpose: rule === undefined ? 'Every request with this credential is approved' : `Rule: ${rule}`,
      credential_id: credential.id,
      host: port === 443 ? host : `${host}:${port}`,
      path_prefix: '/',
      methods: [request.method as z.infer<typeof HttpMethod>],
      max_calls: MAX_CALLS,
      requires_approval: true,
      expires_at: toTimestamp(capability.expiresAt),
    })
    const mandate = await store.insertMandate({
      ...terms,
      id: newId('mdt', at),
      accountId: capability.accountId,
      createdAt: at,
    })
    if (mandate.revokedAt !== null) throw notAsked()
    return mandate
  }

  /** @returns the permit once people have decided, or as it stands when the wait ends */
  async function decided(permit: NewPermit, { waitMs, signal }: HeldRequest): Promise<Permit | NewPermit> {
    let row: Permit | NewPermit = permit
    const wait = { seconds: Math.ceil(waitMs / 1000), signal: () => signal, report: () => {} }
    // Whoever hangs up at once is worth nobody's mail.
    const telling = setTimeout(() => parts.onApproval?.(permit), TELL_AFTER_MS).unref()
    try {
      const isPending = await untilDecided(waits, permit, wait, async () => {
        const read = await store.getPermit(permit.id)
        if (!read) return false
        row = read
        if (read.state !== 'pending_approval' || isPast(read, now())) return false
        const dependencies = await readDependencies(store, read.accountId, [read])
        return findRevocation(read, dependencies(read)) === undefined
      })
      if (isPending && waits.isClosed)
        throw new GatewayError(
          'draining',
          'The gateway is being stopped. Nothing was sent or charged: send this again.',
          {
            extras: { retry_after_seconds: 1 },
          },
        )
      return row
    } finally {
      clearTimeout(telling)
      // Nobody is to approve what nobody waits for any more.
      if (row.state === 'pending_approval') await store.withdrawPermit({ id: permit.id, now: now() })
    }
  }
}

/** Of everything that people see: the digest of an attempt leaves out what libraries count up at each try. */
const digestShown = ({ request, credential }: CheckedRequest): string =>
  digestRequest({
    method: request.method,
    url: request.target.url.href,
    headers: request.headers,
    body: request.body,
    credentialId: credential.id,
    secretVersion: credential.version,
  })

function refusalOf({ id, state }: Pick<Permit, 'id' | 'state'>, { waitMs }: HeldRequest): GatewayError {
  const isRefused = state === 'refused'
  return new GatewayError(
    'scope_denied',
    isRefused
      ? 'A person refused this request. Nothing was sent or charged. Ask the operator why before you send it again.'
      : `This request has to be approved by a person, and nobody did within ${Math.round(waitMs / 1000)} seconds. Nothing was sent or charged: ` +
          'tell the operator that it waits in the inbox of the console when you send it again.',
    {
      reason: isRefused ? 'refused_by_person' : 'nobody_decided',
      extras: { refused_by: 'person', permit_id: id },
    },
  )
}

const notAsked = () =>
  new GatewayError(
    'scope_denied',
    'People are not asked about such requests of this capability any more: the operator revoked the mandate. Nothing was sent or charged.',
    { reason: 'mandate_revoked', extras: { refused_by: 'person' } },
  )
