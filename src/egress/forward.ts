// The story of one attempt: check, pay, resolve, send once, gate, receipt. What is refused before the debit costs
// nothing; what fails before a request byte left is refunded; everything after that is charged and never resent.
import { createHmac, type KeyObject } from 'node:crypto'
import type { EgressReply, ProviderId } from '../../schemas/egress.ts'
import { GatewayError } from '../errors.ts'
import type { Fault } from '../fault.ts'
import { newId } from '../ids.ts'
import { LogField, type Logger } from '../log.ts'
import { Secret } from '../secret.ts'
import type { EgressRequest, Purchases } from '../services.ts'
import type { Attempt, Capability, SealedCredential, Store } from '../store/ports.ts'
import type { AddressPolicy } from './address.ts'
import type { AttemptLedger } from './attempts.ts'
import { digestRequest, digestResponse } from './digest.ts'
import { pickResponseHeaders } from './headers.ts'
import type { OpenedCredential } from './opened.ts'
import { checkPolicy, type EgressPolicy } from './policy.ts'
import { type OutboundResponse, ResolveError, type Resolver, type Sender, type SendFailure } from './ports.ts'
import { providers } from './providers.ts'
import {
  ambiguousWords,
  capabilityGone,
  charged,
  credentialGone,
  credentialUnavailable,
  DNS_WORDS,
  egressPaused,
  RESPONSE_WORDS,
  SEND_WORDS,
  targetBlocked,
  unreachable,
  Unsent,
} from './refusals.ts'
import { checkScopes, isSafeMethod, prepareRequest, type PreparedRequest } from './request.ts'
import { SANDBOX_HOST } from './target.ts'
import { ATTEMPT_COST, toReceipt } from './wire.ts'

export interface ForwardParts {
  readonly store: Store
  readonly attempts: AttemptLedger
  readonly readPolicy: () => Promise<EgressPolicy>
  readonly resolver: Resolver
  readonly addresses: AddressPolicy
  readonly sender: Sender
  readonly open: (credential: SealedCredential) => Promise<OpenedCredential>
  /** Key of the Idempotency-Key values that this installation hands out. */
  readonly idempotencyKey: KeyObject
  readonly ports: readonly number[]
  readonly allowSandboxName: boolean
  readonly creditsRequired: Purchases['creditsRequired']
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

/** An attempt that is paid for, and what is needed to end it. */
interface Paid {
  readonly attempt: Attempt
  readonly credential: SealedCredential
  readonly request: PreparedRequest
  readonly balance: number
  /** Where it goes, when nobody had to be asked: then it is `sending` already. */
  readonly addresses: readonly string[] | undefined
}

export function createForward(parts: ForwardParts) {
  const { store, attempts, fault, now, log } = parts

  return async function forward(asked: EgressRequest, capability: Capability): Promise<EgressReply> {
    await fault.at('before_reserve')
    const paid = await reserve(asked, capability)
    await fault.at('after_reserve')

    const addresses = paid.addresses ?? (await unsent(paid, () => resolveAndMark(paid)))
    const opened = await unsent(paid, () => open(paid))
    return send(paid, addresses, opened)
  }

  /** Steps 1 and 2. A credential that is replaced meanwhile is read again: the digest names its version. */
  async function reserve(asked: EgressRequest, capability: Capability): Promise<Paid> {
    for (let tries = 3; ; tries--) {
      const credential = await store.getCredential(capability.credentialId, capability.accountId)
      if (!credential || credential.revokedAt !== null) throw credentialGone()
      const provider = providers[credential.provider as ProviderId]
      const request = prepareRequest(asked, { ...parts, defaultHeaders: provider.versionHeaders })
      checkScopes(request, { capability, credential, provider: provider.id })
      applyPolicy(await parts.readPolicy(), request)

      const addresses = await recallAddresses(request)
      const attempt = newAttempt(request, capability, credential, addresses !== undefined)
      const reserved = await store.reserveAttempt({
        attempt,
        bootId: parts.bootId,
        transactionId: newId('txn', attempt.createdAt),
        cost: ATTEMPT_COST,
        now: attempt.createdAt,
      })
      if (reserved.ok) return { attempt, credential, request, balance: reserved.balance, addresses }
      if (reserved.reason === 'credits')
        throw await parts.creditsRequired({
          accountId: capability.accountId,
          balance: reserved.balance,
          need: ATTEMPT_COST,
          what: `One attempt costs ${ATTEMPT_COST} credit`,
        })
      if (reserved.reason === 'credential_gone') throw credentialGone()
      if (reserved.reason !== 'credential_changed') throw capabilityGone(reserved.reason)
      if (tries === 0)
        throw new GatewayError('state_conflict', 'The credential is being replaced right now. Try again.')
    }
  }

  function newAttempt(
    request: PreparedRequest,
    capability: Capability,
    credential: SealedCredential,
    isSending: boolean,
  ): Attempt {
    const createdAt = now()
    const id = newId('att', createdAt)
    return {
      id,
      accountId: capability.accountId,
      capabilityId: capability.id,
      credentialId: credential.id,
      credentialVersion: credential.version,
      state: isSending ? 'sending' : 'reserved',
      method: request.method,
      host: request.target.host,
      requestDigest: digestRequest({
        method: request.method,
        url: request.target.url.href,
        headers: request.headers,
        body: request.body,
        credentialId: credential.id,
        secretVersion: credential.version,
      }),
      idempotencyKey: isSafeMethod(request.method)
        ? null
        : createHmac('sha256', parts.idempotencyKey).update(id).digest('base64url'),
      createdAt,
      sendingAt: isSending ? createdAt : null,
      finishedAt: null,
      upstreamStatus: null,
      responseDigest: null,
      outcome: null,
      receiptId: null,
    }
  }

  /**
   * A name that is remembered, and leads nowhere but to public addresses, needs no step between the debit and `sending`:
   * both are one commit then. Anything else goes the long way, where a refusal is a row with a refund.
   */
  async function recallAddresses({ target }: PreparedRequest): Promise<readonly string[] | undefined> {
    const { host } = target
    // The sample site of the sandbox has no name in any DNS; its own sender knows where it listens.
    const isSandbox = parts.allowSandboxName && host === SANDBOX_HOST
    const addresses = isSandbox ? [SANDBOX_ADDRESS] : parts.resolver.recall?.(host)
    if (!addresses || addresses.length === 0) return undefined
    if (!isSandbox && !addresses.every((address) => parts.addresses.classify(address).ok)) return undefined
    await fault.at('after_resolve')
    await fault.at('before_sending')
    return addresses
  }

  /** Step 3. One resolution; one address that is not public refuses the whole answer. */
  async function resolveAndMark({ attempt, request }: Paid): Promise<readonly string[]> {
    const { host } = request.target
    let addresses: readonly string[]
    try {
      addresses = await parts.resolver.resolve(host, request.timeoutMs)
    } catch (thrown) {
      if (thrown instanceof ResolveError)
        throw new Unsent('dns_failed', unreachable(DNS_WORDS[thrown.reason]))
      throw thrown
    }
    for (const address of addresses) {
      const verdict = parts.addresses.classify(address)
      if (!verdict.ok) throw new Unsent('dns_refused', targetBlocked(verdict.reason))
    }
    if (addresses.length === 0) throw new Unsent('dns_failed', unreachable(DNS_WORDS.not_found))
    await fault.at('after_resolve')
    await fault.at('before_sending')
    if (!(await store.markSending({ id: attempt.id, bootId: parts.bootId, now: now() })))
      throw new Unsent('given_up', unreachable('the attempt was given up before it was sent'))
    return addresses
  }

  /** The opening of step 4: after `sending` is on disk, and only then. */
  async function open({ credential }: Paid): Promise<OpenedCredential> {
    await fault.at('after_sending')
    let opened: OpenedCredential
    try {
      opened = await parts.open(credential)
    } catch (cause) {
      throw new Unsent('credential_unavailable', credentialUnavailable(cause))
    }
    await fault.at('after_decrypt')
    return opened
  }

  /** Runs a step before which nothing left the gateway: whatever goes wrong in it, the credit goes back. */
  async function unsent<T>({ attempt }: Paid, step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (thrown) {
      const outcome = thrown instanceof Unsent ? thrown.outcome : 'failed'
      const error = thrown instanceof Unsent ? thrown.error : thrown
      await refund(attempt, outcome, error)
      throw error
    }
  }

  async function refund(attempt: Attempt, outcome: string, error: unknown): Promise<void> {
    try {
      const { balance } = await attempts.refund(attempt, outcome)
      if (error instanceof GatewayError)
        Object.assign(error.extras, { attempt_id: attempt.id, credits: { charged: 0, balance } })
    } catch (thrown) {
      // The refund is queued (attempts.ts); what the caller needs to know is why the attempt failed.
      log.error({ [LogField.attempt]: attempt.id, err: thrown }, 'a refund could not be stored yet')
      if (error instanceof GatewayError) Object.assign(error.extras, { attempt_id: attempt.id })
    }
  }

  /** Steps 4 to 6: one request, the gate, the receipt; then, and not before, the answer. */
  async function send(
    paid: Paid,
    addresses: readonly string[],
    opened: OpenedCredential,
  ): Promise<EgressReply> {
    const { attempt, credential, request } = paid
    let result: Awaited<ReturnType<Sender['send']>>
    try {
      result = await parts.sender.send({
        method: request.method,
        url: request.target.url,
        addresses,
        headers: injectHeaders(paid, opened.secret),
        body: request.body,
        partition: credential.id,
        timeoutMs: Math.max(1, request.timeoutMs - (now() - attempt.createdAt)),
        maxResponseBytes: request.maxResponseBytes,
      })
    } catch (thrown) {
      // Senders do not throw. If one does, nobody knows what left.
      log.error({ [LogField.attempt]: attempt.id, err: thrown }, 'the sender failed')
      result = { ok: false, phase: 'after_send', reason: 'reset' }
    }
    return result.ok ? deliver(paid, result.response, opened) : fail(paid, result)
  }

  async function deliver(
    paid: Paid,
    response: OutboundResponse,
    opened: OpenedCredential,
  ): Promise<EgressReply> {
    const { attempt, credential } = paid
    const verdict = opened.gate().inspect(response)
    const headers = pickResponseHeaders(response.headers)
    const { receipt, balance } = await finish(paid, {
      state: 'settled',
      outcome: verdict.ok ? 'delivered' : 'secret_reflected',
      upstreamStatus: response.status,
      // What was withheld leaves no trace, not even a digest to guess against.
      responseDigest: verdict.ok ? digestResponse({ ...response, headers }) : null,
      gate: verdict.ok ? 'clean' : 'reflected',
    })
    if (!verdict.ok) {
      log.warn(
        {
          event: 'secret_reflected',
          [LogField.attempt]: attempt.id,
          credential: credential.id,
          host: attempt.host,
          where: verdict.where,
          encoding: verdict.encoding,
        },
        'security: an upstream sent the credential back; its response was withheld',
      )
      throw charged(
        attempt,
        'secret_reflected',
        'The upstream answered, but its response contained the credential, so it was withheld. The request was ' +
          'carried out and charged: do not repeat it blindly.',
        { balance, receipt: toReceipt(parts.baseUrl, receipt), upstream_status: response.status },
      )
    }
    await fault.at('before_reply')
    return {
      attempt_id: attempt.id,
      upstream: { status: response.status, headers, ...bodyOf(response) },
      idempotency_key: attempt.idempotencyKey,
      credits: { charged: ATTEMPT_COST, balance },
      receipt: toReceipt(parts.baseUrl, receipt),
    }
  }

  async function fail(paid: Paid, failure: SendFailure): Promise<never> {
    const { attempt, credential } = paid
    if (failure.phase === 'before_send') {
      const error = unreachable(SEND_WORDS[failure.reason])
      await refund(attempt, failure.reason, error)
      throw error
    }
    const settled = failure.phase === 'response'
    const { receipt, balance } = await finish(paid, {
      state: settled ? 'settled' : 'ambiguous',
      outcome: settled ? `response_${failure.reason}` : `no_answer_${failure.reason}`,
      upstreamStatus: settled ? failure.status : null,
      responseDigest: null,
      gate: 'not_run',
    })
    const extras = { balance, receipt: toReceipt(parts.baseUrl, receipt) }
    if (!settled)
      throw charged(attempt, 'outcome_ambiguous', ambiguousWords(failure.reason), {
        ...extras,
        idempotency_honoured: providers[credential.provider as ProviderId].idempotencyHonoured,
      })
    throw charged(
      attempt,
      failure.reason === 'too_large' ? 'response_too_large' : 'response_unacceptable',
      `The upstream carried the request out (status ${failure.status}), but ${RESPONSE_WORDS[failure.reason]}.`,
      { ...extras, upstream_status: failure.status },
    )
  }

  /** If the ending cannot be stored, nothing is released: the caller learns that the outcome is not known here. */
  async function finish(paid: Paid, ending: Parameters<AttemptLedger['finish']>[1]) {
    const { attempt, credential } = paid
    try {
      await fault.at('before_finish')
      const finished = await attempts.finish(attempt, ending)
      await fault.at('after_finish')
      return finished
    } catch (cause) {
      log.error({ [LogField.attempt]: attempt.id, err: cause }, 'an ending could not be stored yet')
      throw charged(
        attempt,
        'outcome_ambiguous',
        'The request was sent, but its outcome could not be recorded. Look the attempt up before you send again.',
        {
          balance: paid.balance,
          idempotency_honoured: providers[credential.provider as ProviderId].idempotencyHonoured,
        },
      )
    }
  }
}

function applyPolicy(policy: EgressPolicy, { target }: PreparedRequest): void {
  const verdict = checkPolicy(policy, target.host)
  if (verdict.ok) return
  throw verdict.reason === 'paused' ? egressPaused() : targetBlocked('denied_host')
}

/** `scheme secret`, and the Idempotency-Key of unsafe methods, which is never the caller's own. */
function injectHeaders({ attempt, credential, request }: Paid, secret: Secret<string>) {
  const { header, scheme } = credential
  const value = secret.use((text) => (scheme === '' ? text : `${scheme} ${text}`))
  const headers: (readonly [string, string])[] = [...request.headers, [header, value]]
  if (attempt.idempotencyKey !== null) headers.push(['idempotency-key', attempt.idempotencyKey])
  return new Secret<readonly (readonly [string, string])[]>(headers)
}

const SANDBOX_ADDRESS = '127.0.0.1'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Text when it is text, byte for byte; else base64. */
function bodyOf({ body }: OutboundResponse): { body: string } | { body_base64: string } {
  try {
    return { body: utf8.decode(body) }
  } catch {
    return { body_base64: body.toString('base64') }
  }
}
