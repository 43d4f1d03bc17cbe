// One attempt from the debit to its end: resolve, send once, gate, receipt. What fails before a request byte left is
// refunded; everything after that is charged and never resent. Who may ask and who pays is decided before (forward.ts
// for requests with a credential, src/edge for a merchant's).
import type { ProviderId } from '../../schemas/egress.ts'
import { GatewayError } from '../core/errors.ts'
import { type Fault, noFault } from '../lib/fault-points.ts'
import { LogField, type Logger } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import type { SealedCredential, Store, StoredReceipt } from '../store/ports.ts'
import type { Attempt } from '../store/model.ts'
import type { AddressPolicy } from './address.ts'
import type { AttemptLedger } from './attempts.ts'
import { digestContent, digestResponse } from './digest.ts'
import type { OpenedCredential, OpenedCredentials } from './opened-credential-cache.ts'
import { type OutboundResponse, ResolveError, type Resolver, type Sender, type SendFailure } from './ports.ts'
import { providers } from './providers.ts'
import {
  ambiguousWords,
  charged,
  credentialUnavailable,
  DNS_WORDS,
  RESPONSE_WORDS,
  SEND_WORDS,
  targetBlocked,
  unreachable,
  Unsent,
} from './refusals.ts'
import type { PreparedRequest } from './request.ts'
import { SANDBOX_HOST } from './target.ts'
import { toReceipt } from './wire.ts'

export interface RunnerParts extends OpenedCredentials {
  readonly store: Pick<Store, 'markSending'>
  readonly attempts: AttemptLedger
  readonly resolver: Resolver
  readonly addresses: AddressPolicy
  readonly sender: Sender
  readonly allowSandboxName: boolean
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

/** An attempt that is paid for, and what is needed to end it. */
export interface Paid {
  readonly attempt: Attempt
  readonly request: PreparedRequest
  /** Its secret goes with the request; without one nothing is injected and nothing has to be looked for in the answer. */
  readonly credential: SealedCredential | undefined
  readonly balance: number
  /** Where it goes, when nobody had to be asked: then it is `sending` already. */
  readonly addresses: readonly string[] | undefined
  /** What of the upstream's headers the caller gets. */
  readonly pickHeaders: (received: OutboundResponse['headers']) => Record<string, string>
  /** An answer with a Content-Encoding is passed on as it came: only where nothing has to be looked for in it. */
  readonly acceptsEncoded?: boolean
}

/** An answer that may be released: it is settled and its receipt is stored. */
export interface Completed {
  readonly response: OutboundResponse
  /** Those that may be passed on. */
  readonly headers: Readonly<Record<string, string>>
  readonly receipt: StoredReceipt
  readonly balance: number
  readonly responseDigest: string
  /** Of the body alone. RFC 9530 form. */
  readonly contentDigest: string
  /** Those one of which it came from. */
  readonly addresses: readonly string[]
}

export interface Runner {
  /**
   * A name that is remembered, and leads nowhere but to public addresses, needs no step between the debit and `sending`:
   * both are one commit then. Anything else goes the long way, where a refusal is a row with a refund.
   */
  recall(request: PreparedRequest): Recalled | Promise<Recalled>
  /**
   * @throws {GatewayError} target_blocked, upstream_unreachable, credential_unavailable (all refunded), outcome_ambiguous,
   * secret_reflected, response_too_large, response_unacceptable (all charged)
   */
  run(paid: Paid): Promise<Completed>
}

type Recalled = readonly string[] | undefined

const SANDBOX_ADDRESS = '127.0.0.1'

export function createRunner(parts: RunnerParts): Runner {
  const { store, attempts, now, log } = parts
  // Nothing waits at the points of an attempt unless a fault was asked for.
  const fault = parts.fault === noFault ? undefined : parts.fault

  return {
    recall,
    async run(paid) {
      const addresses = paid.addresses ?? (await unsent(paid, () => resolveAndMark(paid)))
      const opened = recallOpened(paid) ?? (await unsent(paid, () => open(paid)))
      return await send(paid, addresses, opened)
    },
  }

  function recall({ target }: PreparedRequest): Recalled | Promise<Recalled> {
    const { host } = target
    // The sample site of the sandbox has no name in any DNS; its own sender knows where it listens.
    const isSandbox = parts.allowSandboxName && host === SANDBOX_HOST
    const addresses = isSandbox ? [SANDBOX_ADDRESS] : parts.resolver.recall?.(host)
    if (!addresses || addresses.length === 0) return undefined
    if (!isSandbox && !addresses.every((address) => parts.addresses.classify(address).ok)) return undefined
    return fault ? leaveResolved(fault, addresses) : addresses
  }

  async function leaveResolved(asked: Fault, addresses: Recalled): Promise<Recalled> {
    await asked.at('after_resolve')
    await asked.at('before_sending')
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
    if (fault) await leaveResolved(fault, addresses)
    if (!(await store.markSending({ id: attempt.id, bootId: parts.bootId, now: now() })))
      throw new Unsent('given_up', unreachable('the attempt was given up before it was sent'))
    return addresses
  }

  function recallOpened({ credential }: Paid): OpenedCredential | undefined {
    return credential && !fault ? parts.recallOpened(credential) : undefined
  }

  /** The opening of step 4: after `sending` is on disk, and only then. */
  async function open({ credential }: Paid): Promise<OpenedCredential | undefined> {
    if (fault) await fault.at('after_sending')
    if (!credential) return undefined
    let opened: OpenedCredential
    try {
      opened = await parts.open(credential)
    } catch (cause) {
      throw new Unsent('credential_unavailable', credentialUnavailable(cause))
    }
    if (fault) await fault.at('after_decrypt')
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
    opened: OpenedCredential | undefined,
  ): Promise<Completed> {
    const { attempt, request } = paid
    let result: Awaited<ReturnType<Sender['send']>>
    try {
      result = await parts.sender.send({
        method: request.method,
        url: request.target.url,
        addresses,
        headers: headersToSend(paid, opened?.secret),
        body: request.body,
        partition: paid.credential?.id ?? attempt.accountId,
        timeoutMs: Math.max(1, request.timeoutMs - (now() - attempt.createdAt)),
        maxResponseBytes: request.maxResponseBytes,
        acceptsEncoded: paid.acceptsEncoded,
      })
    } catch (thrown) {
      // Senders do not throw. If one does, nobody knows what left.
      log.error({ [LogField.attempt]: attempt.id, err: thrown }, 'the sender failed')
      result = { ok: false, phase: 'after_send', reason: 'reset' }
    }
    return await (result.ok ? deliver(paid, result.response, addresses, opened) : fail(paid, result))
  }

  async function deliver(
    paid: Paid,
    response: OutboundResponse,
    addresses: readonly string[],
    opened: OpenedCredential | undefined,
  ): Promise<Completed> {
    const { attempt, credential } = paid
    const verdict = opened ? opened.gate().inspect(response) : NOTHING_TO_LOOK_FOR
    const headers = paid.pickHeaders(response.headers)
    // What was withheld leaves no trace, not even a digest to guess against.
    const { status, body } = response
    const contentDigest = verdict.ok ? digestContent(body) : null
    const responseDigest =
      contentDigest === null ? null : digestResponse({ status, headers, body }, contentDigest)
    const { receipt, balance } = await finish(paid, {
      state: 'settled',
      outcome: verdict.ok ? 'delivered' : 'secret_reflected',
      upstreamStatus: status,
      responseDigest,
      gate: !opened ? 'not_run' : verdict.ok ? 'clean' : 'reflected',
    })
    if (!verdict.ok) {
      log.warn(
        {
          event: 'secret_reflected',
          [LogField.attempt]: attempt.id,
          credential: credential?.id,
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
        { balance, receipt: toReceipt(parts.baseUrl, receipt), upstream_status: status },
      )
    }
    if (fault) await fault.at('before_reply')
    return {
      response,
      headers,
      receipt,
      balance,
      responseDigest: responseDigest!,
      contentDigest: contentDigest!,
      addresses,
    }
  }

  async function fail(paid: Paid, failure: SendFailure): Promise<never> {
    const { attempt } = paid
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
        idempotency_honoured: idempotencyHonoured(paid),
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
    const { attempt } = paid
    try {
      if (fault) await fault.at('before_finish')
      const finished = await attempts.finish(attempt, ending)
      if (fault) await fault.at('after_finish')
      return finished
    } catch (cause) {
      log.error({ [LogField.attempt]: attempt.id, err: cause }, 'an ending could not be stored yet')
      throw charged(
        attempt,
        'outcome_ambiguous',
        'The request was sent, but its outcome could not be recorded. Look the attempt up before you send again.',
        {
          balance: paid.balance,
          idempotency_honoured: idempotencyHonoured(paid),
        },
      )
    }
  }
}

const NOTHING_TO_LOOK_FOR = { ok: true } as const

const idempotencyHonoured = ({ credential }: Paid) =>
  credential ? providers[credential.provider as ProviderId].idempotencyHonoured : 'unknown'

/** `scheme secret`, and the Idempotency-Key of unsafe methods. */
function headersToSend({ attempt, credential, request }: Paid, secret: Secret<string> | undefined) {
  const headers: (readonly [string, string])[] = [...request.headers]
  if (credential && secret) {
    const { header, scheme } = credential
    headers.push([header, secret.use((text) => (scheme === '' ? text : `${scheme} ${text}`))])
  }
  if (attempt.idempotencyKey !== null) headers.push(['idempotency-key', attempt.idempotencyKey])
  return new Secret<readonly (readonly [string, string])[]>(headers)
}
