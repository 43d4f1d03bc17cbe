// A request under a stored credential: what it is, who lets it out, who pays. What happens then is run.ts.
import type { EgressReply } from '../../schemas/egress.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import { GatewayError } from '../core/errors.ts'
import type { Fault } from '../lib/fault-points.ts'
import type { Logger } from '../lib/log.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import type { Signer } from '../receipts/ports.ts'
import { toReceipt } from '../receipts/types.ts'
import type { Store } from '../store/ports.ts'
import { digestRequest } from './digest.ts'
import type { CheckedRequest, Grant } from './grant.ts'
import { namesDropped } from './headers.ts'
import type { Answer } from './idempotency/answer.ts'
import { replay } from './idempotency/replay.ts'
import { placementsOf } from './placement/place.ts'
import type { EgressRequest } from './ports.ts'
import type { Providers } from './providers/index.ts'
import { providerGone } from './refusals.ts'
import { isSafeMethod, prepareRequest } from './request.ts'
import { createReserve, type RepeatedCall, type ReserveParts } from './reserve.ts'
import type { Runner } from './run.ts'
import { ATTEMPT_COST } from './wire.ts'
import { againIfReplaced } from './withdrawal.ts'

export interface ForwardParts extends ReserveParts {
  readonly providers: Providers
  readonly store: Pick<Store, 'getCredential' | 'getReceipt' | 'keepReplayReceipt'>
  readonly signer: Signer
  readonly log: Logger
  readonly runner: Runner
  readonly ports: readonly number[]
  readonly allowSandboxName: boolean
  readonly baseUrl: string
  readonly fault: Fault
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

/** The story of one request with a credential: check, resolve, pin, reserve, open, send once, search for the secret, record. */
export function createForward(parts: ForwardParts): Forward {
  const { store, runner, ports, allowSandboxName, fault } = parts
  const reserve = createReserve(parts)

  return {
    prepare,
    send: (asked, grant, charge) => againIfReplaced(charge, () => attemptOnce(asked, grant, charge)),
  }

  async function attemptOnce(asked: EgressRequest, grant: Grant, charge: CreditCharge): Promise<EgressReply> {
    await fault.at('before_reserve')
    const key = asked.idempotency_key
    const reserved = await reserve({
      grant,
      prepare: () => prepareUnder(grant, asked),
      key: key === undefined ? undefined : { key, scope: grant.keyScope },
      addsKey: ({ method }) => !isSafeMethod(method),
    })
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
      upstream: toUpstream({ ...answer, headers: Object.fromEntries(answer.headers) }),
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
}

type Upstream = Omit<Answer, 'headers'> & { readonly headers: Readonly<Record<string, string>> }

/** The answer as callers see it: its body as text when it is text, byte for byte; else as base64. */
function toUpstream({ status, headers, dropped, body }: Upstream): EgressReply['upstream'] {
  const text = decodeUtf8(body)
  return {
    status,
    headers: { ...headers },
    ...(dropped.length > 0 && { dropped_headers: [...dropped] }),
    ...(text === undefined ? { body_base64: body.toString('base64') } : { body: text }),
  }
}
