// A request that a person has to see first: it waits here, before anything is taken or sent, until they have decided.
import { GatewayError } from '../../core/errors.ts'
import type { CredentialCapability, Store } from '../../store/ports.ts'
import { capabilityGrant } from '../capability-grant.ts'
import type { CheckedRequest, Grant } from '../grant.ts'
import type { Approval } from '../ports.ts'
import { checkScopes, MAX_REQUEST_BYTES } from '../request.ts'
import { judgeRequest } from '../rules/judge.ts'
import { spelled } from './headers.ts'

const ASK_MS = 5 * 60_000

/** A request that waits, and for how long. */
export interface HeldRequest {
  readonly checked: CheckedRequest
  readonly capability: CredentialCapability
  /** The rule that wants a person asked; undefined where the credential does for every request. */
  readonly rule: string | undefined
  readonly waitMs: number
  /** Aborts when the program is gone. */
  readonly signal: AbortSignal
}

/** The yes of people to exactly one request. */
export interface ApprovedRequest {
  readonly permitId: string
  readonly approvals: readonly Approval[]
  /** Whether this is the request that they saw, with the credential as it was. */
  isFor(checked: CheckedRequest): boolean
  /** Writes down which attempt it was used by. Never rejects: the attempt is made by then. */
  used(attemptId: string): Promise<void>
}

export interface AskPeople {
  /**
   * Shows the request to the people of the account, and waits.
   * @throws {GatewayError} scope_denied where they refuse or nobody decides; credits_required; state_conflict where too many wait;
   * rate_limited; draining
   */
  (held: HeldRequest): Promise<ApprovedRequest>
}

/**
 * @param prepare the request as it stands now; undefined where its credential is gone
 * @returns undefined where nobody has to be asked
 * @throws {GatewayError} as `AskPeople`, scope_denied where it is denied, and body_too_large where nobody could read it all
 */
export async function askIfRuled(
  ask: AskPeople,
  {
    prepare,
    capability,
    isWhole,
    signal,
  }: {
    readonly prepare: () => Promise<CheckedRequest | undefined>
    readonly capability: CredentialCapability
    /** Whether all of the body is here. */
    readonly isWhole: boolean
    readonly signal: AbortSignal
  },
): Promise<ApprovedRequest | undefined> {
  const checked = await prepare()
  if (!checked) return undefined
  const { request, credential, provider } = checked
  checkScopes(request, { capability, credential, provider })
  const { decision, rule } = judgeRequest(request, { capability, credential })
  if (decision === 'allow') return undefined
  if (!isWhole || (request.body?.length ?? 0) > MAX_REQUEST_BYTES)
    throw new GatewayError(
      'body_too_large',
      `A person approves this request first, and reads what is in it: its body may have ${MAX_REQUEST_BYTES} bytes. Nothing was sent or charged.`,
      { extras: { max_bytes: MAX_REQUEST_BYTES } },
    )
  const isEncoded = request.headers.some(
    ([name, value]) => spelled(name) === 'content-encoding' && !/^(?:identity)?$/i.test(value.trim()),
  )
  if (isEncoded)
    throw new GatewayError(
      'header_forbidden',
      'A person approves this request first, and reads what is in it: send its body without Content-Encoding. Nothing was sent or charged.',
      { reason: 'encoded_body', extras: { header: 'content-encoding' } },
    )
  return ask({ checked, capability, rule, waitMs: credential.settings.ask_ms ?? ASK_MS, signal })
}

/**
 * The capability's word, once people have said theirs: everything but their being asked is checked as ever.
 * @param capability as it stands after they decided
 */
export function approvedGrant(
  store: Pick<Store, 'reserveAttempt' | 'listStanding'>,
  capability: CredentialCapability,
  approved: ApprovedRequest,
): Grant {
  const grant = capabilityGrant(store, capability)
  return {
    ...grant,
    approvals: approved.approvals,
    check(checked) {
      const { request, credential, provider } = checked
      checkScopes(request, { capability, credential, provider })
      judgeRequest(request, { capability, credential })
      if (!approved.isFor(checked)) throw changedWhileAsked()
    },
    credentialReplaced: changedWhileAsked,
    async reserve(reservation) {
      const reserved = await grant.reserve(reservation)
      if (reserved.ok) await approved.used(reservation.attempt.id)
      return reserved
    },
  }
}

const changedWhileAsked = () =>
  new GatewayError(
    'state_conflict',
    'The credential was changed while a person decided about this request. Nothing was sent: send it again.',
    { reason: 'changed_while_asked' },
  )
