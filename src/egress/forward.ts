// A request under a stored credential: what it is, who lets it out, who pays. What happens then is run.ts.
import type { KeyObject } from 'node:crypto'
import type { EgressReply } from '../../schemas/egress.ts'
import { GatewayError } from '../core/errors.ts'
import type { Fault } from '../lib/fault-points.ts'
import { newId } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import type { CreditsRequired } from '../core/charging.ts'
import type { KeyClaim, KeyRecord, Repeated, SealedCredential, Store } from '../store/ports.ts'
import type { Attempt, AttemptKind } from '../store/model.ts'
import { digestRequest } from './digest.ts'
import { namesDropped, pickResponseHeaders } from './headers.ts'
import type { Answer } from './idempotency/answer.ts'
import { createKeyedCalls, type KeyedCall } from './idempotency/keyed-call.ts'
import { replay } from './idempotency/replay.ts'
import { refuseTokenEndpoint } from './kinds/token-url.ts'
import { newAttempt } from './new-attempt.ts'
import type { Paid } from './paid.ts'
import { placementsOf } from './placement/place.ts'
import { checkPolicy, type EgressPolicy } from './policy.ts'
import type { Approval, EgressRequest, OutboundResponse } from './ports.ts'
import type { Provider, Providers } from './providers/index.ts'
import { egressPaused, keysNotShared, providerGone, targetBlocked } from './refusals.ts'
import { isSafeMethod, prepareRequest, type PreparedRequest } from './request.ts'
import type { Runner } from './run.ts'
import type { Signer } from '../receipts/ports.ts'
import { toReceipt } from '../receipts/types.ts'
import { ATTEMPT_COST } from './wire.ts'

export interface ForwardParts {
  readonly providers: Providers
  readonly store: Pick<Store, 'getCredential' | 'getReceipt' | 'keepReplayReceipt'>
  readonly signer: Signer
  readonly log: Logger
  readonly runner: Runner
  readonly readPolicy: () => Promise<EgressPolicy>
  /** Key of the Idempotency-Key values that this installation hands out. */
  readonly idempotencyKey: KeyObject
  /** Key of what follows from the keys of callers; undefined where it is another one than the other replicas have. */
  readonly callerKeys: KeyObject | undefined
  readonly ports: readonly number[]
  readonly allowSandboxName: boolean
  readonly creditsRequired: CreditsRequired
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly fault: Fault
}

/** The rows that a grant writes, all of them in one transaction with its own use. */
export interface Reservation {
  readonly attempt: Attempt
  readonly bootId: string
  readonly transactionId: string
  readonly cost: number
  /** Whether the capability or the credential has a budget. */
  readonly isBudgeted: boolean
  readonly now: number
  /** The caller's key, where it gave one: claimed with the rest, and unclaimed with it. */
  readonly once?: KeyClaim | undefined
}

export type GrantOutcome =
  | { readonly ok: true; readonly balance: number }
  | { readonly ok: false; readonly reason: 'credits'; readonly balance: number }
  | Repeated
  | { readonly ok: false; readonly reason: 'credential_gone' | 'credential_changed' }
  /** The grant itself does not hold any more. */
  | { readonly ok: false; readonly reason: 'refused'; readonly error: GatewayError }

/** The word on which a request goes out with a credential: a capability's, or a permit's. */
export interface Grant {
  readonly kind: Exclude<AttemptKind, 'edge'>
  readonly accountId: string
  readonly credentialId: string
  readonly capabilityId: string | null
  readonly permitId: string | null
  /** Who approved the permit, where people had to. */
  readonly approvals?: readonly Approval[]
  /** Whether it counts on budgets of its own, beside the credential's. */
  readonly isBudgeted: boolean
  /** The id that a caller's idempotency key is unique under. */
  readonly keyScope: string
  /** @throws {GatewayError} where it does not cover this request under this credential as both stand now */
  check(asked: CheckedRequest): void
  /** Words for its holder about a request that nobody could send (`target_invalid` and so on); left out: the error itself. */
  unsendable?(asked: EgressRequest, error: GatewayError): GatewayError
  /** Words for its holder when the credential behind it was revoked. */
  credentialGone(): GatewayError
  /** Debit, use and attempt in one transaction; nothing changes unless all of it holds. */
  reserve(reservation: Reservation): Promise<GrantOutcome>
}

/** A request as it would be sent, and the credential it would be sent with. */
export interface CheckedRequest {
  readonly request: PreparedRequest
  readonly credential: SealedCredential
  readonly provider: Provider
  /** Digest of everything that is sent, the credential by id and version. */
  readonly digest: string
}

export interface Forward {
  /** One attempt. @throws {GatewayError} as `Egress.fetch` */
  send(asked: EgressRequest, grant: Grant, charge: CreditCharge): Promise<EgressReply>
  /**
   * Says what `send` would put on the wire, without sending it.
   * @returns undefined where the account has no such credential, or no longer
   * @throws {GatewayError} target_invalid, header_forbidden, input_invalid, body_too_large, target_blocked
   */
  prepare(asked: EgressRequest, credentialId: string, accountId: string): Promise<CheckedRequest | undefined>
}

/** A call whose key is taken, and the record that says by what. */
interface RepeatedCall {
  readonly ok: false
  readonly keyed: KeyedCall
  readonly record: KeyRecord
}

/** The story of one request with a credential: check, resolve, pin, reserve, open, send once, search for the secret, record. */
export function createForward(parts: ForwardParts): Forward {
  const { store, runner, ports, allowSandboxName, fault } = parts
  const keyedCall = parts.callerKeys && createKeyedCalls(parts.callerKeys)

  return {
    prepare,
    async send(asked, grant, charge) {
      await fault.at('before_reserve')
      const reserved = await reserve(asked, grant)
      if (!reserved.ok) return await repeat(reserved, charge)
      const paid = reserved
      charge.taken(ATTEMPT_COST, paid.attempt.id)
      await fault.at('after_reserve')
      const { response, headers, receipt, balance, isAnswerKept } = await runner.run(paid, charge.tell)
      const { attempt } = paid
      return {
        attempt_id: attempt.id,
        upstream: toUpstream({ ...response, headers, dropped: namesDropped(response.headers, headers) }),
        idempotency_key: attempt.idempotencyKey,
        credits: { charged: ATTEMPT_COST, balance },
        receipt: toReceipt(parts.baseUrl, receipt),
        ...(paid.keyed && !isAnswerKept && { answer_kept: false }),
      }
    },
  }

  async function prepare(
    asked: EgressRequest,
    credentialId: string,
    accountId: string,
  ): Promise<CheckedRequest | undefined> {
    const credential = await store.getCredential(credentialId, accountId)
    if (!credential || credential.revokedAt !== null) return undefined
    const provider = parts.providers.get(credential.provider)
    if (!provider) throw providerGone(credential.provider)
    const { settings } = credential
    const request = prepareRequest(asked, {
      ports,
      allowSandboxName,
      defaultHeaders: provider.version_headers,
      allowEncodedSlash: settings.encoded_slash,
      listedHeaders: [...provider.request_headers, ...(settings.request_headers ?? [])],
      limits: settings.limits,
      placements: placementsOf(credential),
    })
    const digest = digestRequest({
      method: request.method,
      url: request.target.url.href,
      headers: request.headers,
      body: request.body,
      credentialId: credential.id,
      secretVersion: credential.version,
    })
    return { request, credential, provider, digest }
  }

  /** The answer of the first call under the key, or why there is none. Nothing was debited and nothing is sent. */
  async function repeat({ keyed, record }: RepeatedCall, charge: CreditCharge): Promise<EgressReply> {
    const { attempt, answer, receipt, balance } = await replay(parts, keyed, record)
    charge.repeated(attempt.id)
    return {
      attempt_id: attempt.id,
      upstream: toUpstream(answer),
      idempotency_key: attempt.idempotencyKey,
      credits: { charged: 0, balance },
      receipt,
      replayed: true,
    }
  }

  async function prepareUnder(grant: Grant, asked: EgressRequest): Promise<CheckedRequest | undefined> {
    try {
      return await prepare(asked, grant.credentialId, grant.accountId)
    } catch (thrown) {
      throw (thrown instanceof GatewayError && grant.unsendable?.(asked, thrown)) || thrown
    }
  }

  /** Steps 1 and 2. A credential that is replaced meanwhile is read again: the digest names its version. */
  async function reserve(
    asked: EgressRequest,
    grant: Grant,
  ): Promise<(Paid & { readonly ok: true }) | RepeatedCall> {
    const key = asked.idempotency_key
    const scope = key === undefined ? undefined : grant.keyScope
    if (key !== undefined && !keyedCall) throw keysNotShared()
    for (let tries = 3; ; tries--) {
      const checked = await prepareUnder(grant, asked)
      if (!checked) throw grant.credentialGone()
      const { request, credential } = checked
      grant.check(checked)
      refuseTokenEndpoint(credential.settings, request.target.url)
      applyPolicy(await parts.readPolicy(), request)

      const keyed =
        key === undefined || scope === undefined || !keyedCall
          ? undefined
          : keyedCall({ scope, key, request, credentialId: credential.id })
      const addresses = await runner.recall(request, credential)
      const attempt = newAttempt(parts, {
        kind: grant.kind,
        accountId: grant.accountId,
        capabilityId: grant.capabilityId,
        permitId: grant.permitId,
        credential,
        request,
        digest: checked.digest,
        addsKey: !isSafeMethod(request.method),
        upstreamKey: keyed?.upstreamKey,
        isSending: addresses !== undefined,
      })
      const reserved = await grant.reserve({
        attempt,
        bootId: parts.bootId,
        transactionId: newId('txn', attempt.createdAt),
        cost: ATTEMPT_COST,
        isBudgeted: grant.isBudgeted || credential.isBudgeted,
        now: attempt.createdAt,
        once: keyed?.claim,
      })
      if (reserved.ok)
        return {
          ok: true,
          attempt,
          credential,
          request,
          balance: reserved.balance,
          approvals: grant.approvals,
          keyed,
          addresses,
          pickHeaders: (received: OutboundResponse['headers']) =>
            pickResponseHeaders(received, [
              ...checked.provider.response_headers,
              ...(credential.settings.response_headers ?? []),
            ]),
        }
      if (reserved.reason === 'refused') throw reserved.error
      if (reserved.reason === 'repeated') {
        if (!keyed) throw new Error('only a call under a key is a repeat')
        return { ok: false, keyed, record: reserved.record }
      }
      if (reserved.reason === 'credits')
        throw await parts.creditsRequired({
          accountId: grant.accountId,
          balance: reserved.balance,
          need: ATTEMPT_COST,
          what: `One attempt costs ${ATTEMPT_COST} credit`,
        })
      if (reserved.reason === 'credential_gone') throw grant.credentialGone()
      if (tries === 0)
        throw new GatewayError('state_conflict', 'The credential is being replaced right now. Try again.')
    }
  }
}

/** @throws {GatewayError} egress_paused, target_blocked */
export function applyPolicy(policy: EgressPolicy, { target }: PreparedRequest): void {
  const verdict = checkPolicy(policy, target.host)
  if (verdict.ok) return
  throw verdict.reason === 'paused' ? egressPaused() : targetBlocked('denied_host')
}

/** The answer as callers see it: its body as text when it is text, byte for byte; else as base64. */
function toUpstream({ status, headers, dropped, body }: Answer): EgressReply['upstream'] {
  const text = decodeUtf8(body)
  return {
    status,
    headers: { ...headers },
    ...(dropped.length > 0 && { dropped_headers: [...dropped] }),
    ...(text === undefined ? { body_base64: body.toString('base64') } : { body: text }),
  }
}
