// Refusals in words for whoever prepares, decides or executes: which kind of conflict it is, and what to do
// next. Nothing of a permit, a body or a header is quoted.
import { type ErrorCode, GatewayError } from '../core/errors.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { Permit } from '../store/ports.ts'
import type { ApproverRefusal } from './approval.ts'
import type { Part } from './binding.ts'
import type { MandateRefusal } from './mandate-scope.ts'
import type { Terms } from './mandates.ts'

const RETRY_PENDING_SECONDS = 5

/** @returns 409 state_conflict; the mandate names a credential that was revoked */
export const credentialRevoked = () =>
  new GatewayError(
    'state_conflict',
    'This credential was revoked. Store a new one, then write a mandate for it.',
  )

/** @returns 409 state_conflict; the credential is being replaced, and the same call works again in a moment */
export const credentialBusy = () =>
  new GatewayError('state_conflict', 'The credential is being replaced right now. Try again.')

/** @returns 409 state_conflict; `max` permits of the account wait for a person already */
export const tooManyPending = (max: number) =>
  new GatewayError(
    'state_conflict',
    `${max} permits of your account wait for approval: approve or refuse some of them first.`,
    { reason: 'too_many_pending' },
  )

/** @returns 404, the same for a mandate of another account as for none */
export const mandateNotFound = () =>
  new GatewayError(
    'mandate_not_found',
    'There is no mandate of this id on your account. gateway.actions.mandates.list lists yours.',
  )

/** The same terms are the same mandate, and that one was ended for good. */
export const mandateRevoked = (mandateId: string) =>
  new GatewayError(
    'state_conflict',
    'These terms are a mandate that was revoked, and revoked it stays. Write other terms, for example another `expires_at`.',
    { reason: 'mandate_revoked', extras: { mandate_id: mandateId } },
  )

/** @returns 404, the same for a permit of another account as for none */
export const permitNotFound = () =>
  new GatewayError(
    'permit_not_found',
    'There is no permit of this id on your account. gateway.actions.permits.list lists yours.',
  )

const MANDATE_WORDS: Readonly<Record<MandateRefusal, string>> = {
  missing: 'a permit is only given under a mandate',
  not_found: 'there is no mandate of this id on your account',
  revoked: 'this mandate was revoked, and the same terms stay revoked: write other terms',
  expired: 'this mandate has expired',
  used_up: 'its limit of calls or credits is reached, or held by permits that may still be executed',
  credential: 'this mandate is for another credential',
  host: 'this mandate does not cover the host',
  path: 'this mandate does not cover the path',
  method: 'this mandate does not cover the method',
}

/** @param terms of the mandate that did not do, where there is one */
export function mandateRequired(refused: MandateRefusal, terms?: Terms): GatewayError {
  return new GatewayError(
    'mandate_required',
    `No permit was prepared: ${MANDATE_WORDS[refused]}. Send a \`mandate\` in full, or the \`mandate_id\` of a stored one, ` +
      'that covers this very request.',
    { reason: `mandate_${refused}`, extras: { refused, ...(terms && { mandate: coverageOf(terms) }) } },
  )
}

/** The terms of a mandate, for whoever has to write another. */
const coverageOf = (terms: Terms) => ({
  credential_id: terms.credentialId,
  host: terms.host,
  path_prefix: terms.pathPrefix,
  methods: [...terms.methods],
  max_calls: terms.maxCalls,
  max_credits: terms.maxCredits,
  expires_at: toTimestamp(terms.expiresAt),
})

/** @returns 401 permit_invalid; the text was not signed here, or was cut or changed */
export const permitInvalid = () =>
  new GatewayError(
    'permit_invalid',
    'This is not a permit of this gateway, or not all of it. Send `permit` exactly as the preparation answered it.',
  )

/** The kinds of conflict that keep a permit from being executed. */
export type Conflict = 'replay' | 'state' | 'binding'

const conflict = (
  code: ErrorCode,
  kind: Conflict,
  permitId: string,
  detail: string,
  extras: Readonly<Record<string, unknown>> = {},
) =>
  new GatewayError(code, detail, {
    reason: typeof extras['why'] === 'string' ? extras['why'] : code,
    extras: { conflict: kind, permit_id: permitId, ...extras },
  })

/** Names the first attempt whatever is asked for now. */
export const permitUsed = (permit: Pick<Permit, 'id' | 'attemptId'>) =>
  conflict(
    'permit_used',
    'replay',
    permit.id,
    'This permit was executed before, by the attempt in `attempt_id`; it is good for one execution. Nothing was sent now. ' +
      'Find out how that attempt ended before you ask the operator for another permit.',
    permit.attemptId === null ? {} : { attempt_id: permit.attemptId },
  )

/** @returns 409 permit_pending with `retry_after_seconds`; the permit is not used up */
export const permitPending = (permitId: string) =>
  conflict(
    'permit_pending',
    'state',
    permitId,
    'A person has to approve this permit first. It was not used up: send the same call again later, or with `wait_seconds`, which waits ' +
      'for them and then sends.',
    { retry_after_seconds: RETRY_PENDING_SECONDS },
  )

/** @returns 409 permit_refused; a person said no, which is for good */
export const permitRefused = (permitId: string) =>
  conflict(
    'permit_refused',
    'state',
    permitId,
    'The operator refused this action. Ask them why before you ask for another permit.',
  )

/** @returns 409 permit_expired; nothing was sent */
export const permitExpired = (permitId: string) =>
  conflict(
    'permit_expired',
    'state',
    permitId,
    'This permit has expired and nothing was sent. Ask the operator for a new one.',
  )

export type RevokedBy = 'mandate_revoked' | 'credential_revoked' | 'credential_rotated'

const REVOKED_WORDS: Readonly<Record<RevokedBy, string>> = {
  mandate_revoked: 'its mandate was revoked',
  credential_revoked: 'its credential was revoked',
  credential_rotated: 'the secret of its credential was replaced',
}

/** @returns 409 permit_revoked with `why`: what was revoked or replaced under the permit */
export const permitRevoked = (permitId: string, why: RevokedBy) =>
  conflict(
    'permit_revoked',
    'state',
    permitId,
    `This permit no longer holds: ${REVOKED_WORDS[why]}. Nothing was sent. Ask the operator for a new one.`,
    { why },
  )

/** @param also why the request could not be sent under any permit */
export const permitMismatch = (permitId: string, differs: readonly Part[], also?: string) =>
  conflict(
    'permit_mismatch',
    'binding',
    permitId,
    `This is not the request that the permit is for: what differs is ${differs.join(', ')}. Nothing was sent and the permit ` +
      `was not used up: send exactly the request it was prepared for.${also === undefined ? '' : ` (${also})`}`,
    { differs: [...differs] },
  )

const APPROVER_WORDS: Readonly<Record<ApproverRefusal | 'repeated' | 'not_member', string>> = {
  assistant: 'An assistant does not approve what people have to read: open the inbox of the console',
  person_required:
    'This permit is approved by people who signed in, and a service key is not a person: open the inbox of the console. A key may refuse it',
  prepared_it:
    'You prepared this permit, or a key or an assistant of yours did, and its rule asks for somebody else. Ask another person of the account',
  fresh_sign_in: 'Show again that it is you, with your passkey, and approve within five minutes',
  repeated:
    'You have approved this permit already, and its rule asks for two people. Ask another person of the account',
  not_member: 'You are not one of those any more who may approve for this account. Ask an owner',
}

/** @returns 403; the permit waits on for somebody who may */
export const approvalRefused = (permitId: string, why: keyof typeof APPROVER_WORDS) =>
  new GatewayError(
    why === 'fresh_sign_in' ? 'fresh_sign_in_required' : 'approval_refused',
    `${APPROVER_WORDS[why]}. It was not approved and still waits.`,
    { reason: why, extras: { permit_id: permitId, why } },
  )

/** @returns 404; nobody had to approve it, nobody has yet, or an earlier release forgot what was approved */
export const evidenceNotKept = ({ state }: Pick<Permit, 'state'>) =>
  new GatewayError(
    'not_found',
    state === 'pending_approval'
      ? 'This permit still waits: what it would send is its `summary`.'
      : 'No approved request is kept of this permit: nobody approved it, an earlier release did not keep it, or the account had no room for more.',
    { reason: 'evidence_not_kept' },
  )

/** Answers whoever decides after somebody else did, or after the permit's time. */
export function alreadyDecided(permit: Permit): GatewayError {
  const extras = {
    permit_id: permit.id,
    state: permit.state,
    decided_at: permit.decidedAt === null ? null : toTimestamp(permit.decidedAt),
    decided_by: permit.decidedBy,
  }
  const detail =
    permit.decidedAt === null
      ? 'This permit needed no approval: there is nothing to decide. To end it before it is executed, revoke its mandate.'
      : permit.state === 'refused'
        ? 'This permit was refused before; a decision is made once. To allow the request after all, prepare another permit.'
        : 'This permit was approved before; a decision is made once. To end it before it is executed, revoke its mandate.'
  return new GatewayError('state_conflict', detail, { reason: 'permit_decided', extras })
}
