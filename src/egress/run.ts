// One attempt from the debit to its end: resolve, open the credential, send once, end (endings.ts). What fails before a
// request byte left is refunded; everything after that is charged and never resent. Who may ask and who pays is decided
// before: by forward.ts for requests with a credential, by src/edge for a merchant's.
import type { Alerts } from '../core/alerts.ts'
import type { Fault } from '../lib/fault-points.ts'
import { LogField, type Logger } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import type { SealedCredential, Store } from '../store/ports.ts'
import type { AttemptLedger } from './attempts.ts'
import { createEndings, type Endings } from './endings.ts'
import { GatewayError } from '../core/errors.ts'
import type { AnswerSearch } from './kinds/answer-search.ts'
import type { Kinds, SignedRequest } from './kinds/index.ts'
import type { OpenedCredential, OpenedCredentials } from './opened-credential-cache.ts'
import type { Completed, Paid } from './paid.ts'
import { type PlacedRequest, placementsOf, placeSecrets } from './placement/place.ts'
import {
  type OutboundRequest,
  ResolveError,
  type Resolver,
  type Sender,
  type SendFailure,
  type SendResult,
} from './ports.ts'
import type { Providers } from './providers/index.ts'
import {
  certificateExpired,
  credentialUnavailable,
  DNS_WORDS,
  targetBlocked,
  unreachable,
  Unsent,
} from './refusals.ts'
import type { PreparedRequest } from './request.ts'
import { CertificateExpired } from './reach/tls-identity.ts'
import type { Reach } from './reach/private-targets.ts'
import type { Revocations, Watched } from './revocations.ts'
import { SANDBOX_ADDRESS, SANDBOX_HOST } from './target.ts'
import { findLateWithdrawal } from './withdrawal.ts'

export interface RunnerParts extends OpenedCredentials {
  readonly alerts?: Alerts | undefined
  readonly providers: Providers
  readonly store: Pick<Store, 'markSending'>
  readonly attempts: AttemptLedger
  readonly resolver: Resolver
  readonly reach: Reach
  readonly sender: Sender
  readonly kinds: Pick<Kinds, 'ready' | 'sign' | 'answered'>
  readonly revocations: Pick<Revocations, 'watchCall'>
  readonly allowSandboxName: boolean
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

export interface Runner {
  /** `begin` of the ledger of attempts: every reservation goes through it. */
  readonly begin: AttemptLedger['begin']
  /**
   * The addresses of the host where they are remembered and all of them may be reached. Nothing stands between the debit and
   * `sending` then, so both are one commit. Anything else goes the long way, where a refusal is a row with a refund.
   */
  recall(
    request: PreparedRequest,
    credential: SealedCredential | undefined,
  ): Promise<readonly string[] | undefined>
  /**
   * Ends the attempt, whatever happens.
   * @param tell told of the steps that may take long
   * @throws {GatewayError} target_blocked, upstream_unreachable, credential_unavailable (all refunded), outcome_ambiguous,
   * secret_reflected, response_too_large, response_unacceptable (all charged)
   */
  run(paid: Paid, tell?: (message: string) => void): Promise<Completed>
  /**
   * The steps before the sending, for who sends it otherwise: `sending` is on disk then and the secret is in its place.
   * @throws {GatewayError} target_blocked, upstream_unreachable, credential_unavailable (all refunded)
   */
  ready(paid: Paid): Promise<Ready>
}

/** A request that may be sent, once, and at once. */
export interface Ready extends Pick<
  OutboundRequest,
  'addresses' | 'reach' | 'tls' | 'partition' | 'findWithdrawal'
> {
  readonly message: Message
  /** Looks at the status of the answer. @returns what searches the answer; undefined where no credential went with it */
  answered(status: number): AnswerSearch | undefined
  /** What was opened for the request. */
  readonly opened: OpenedCredential | undefined
}

/** Sends a request that was checked: vetted addresses, one attempt on the wire, the leak gate over the answer. */
export function createRunner(parts: RunnerParts): Runner {
  const endings = createEndings(parts)

  return {
    begin: parts.attempts.begin,

    async recall({ target }, credential) {
      const addresses = recallReachable(parts, target, credential)
      if (addresses) await passResolved(parts.fault)
      return addresses
    },

    ready,

    async run(paid, tell) {
      const prepared = await ready(paid)
      tell?.('The request goes out; its answer is awaited')
      const watched = parts.revocations.watchCall(paid.attempt)
      const result = await sendOnce(parts, paid, prepared, watched.signal).finally(watched.leave)
      if (!result.ok) return await endings.fail(paid, failureOf(result, watched))
      tell?.('The answer is here, and is searched for the secret')
      const { response } = result
      const { addresses } = prepared
      return await endings.deliver(paid, { response, addresses, search: prepared.answered(response.status) })
    },
  }

  async function ready(paid: Paid): Promise<Ready> {
    const { credential, request } = paid
    const findWithdrawal = findLateWithdrawal(parts.now, paid.findWithdrawal)
    const addresses =
      paid.addresses ?? (await endings.refundOnFailure(paid, () => resolveAndMark(parts, paid)))
    const opened = await endings.refundOnFailure(paid, () => openCredential(parts, paid))
    const { message, signature } = await endings.refundOnFailure(paid, () => withSecrets(parts, paid, opened))
    const tls = opened?.tls
    return {
      addresses,
      reach: parts.reach(request.target, credential),
      message,
      opened,
      tls,
      partition: partitionOf(paid, tls),
      findWithdrawal,
      answered: (status) =>
        opened &&
        credential &&
        parts.kinds.answered(credential, opened, { status, signature, since: paid.attempt.createdAt }),
    }
  }
}

function recallReachable(
  parts: RunnerParts,
  target: PreparedRequest['target'],
  credential: SealedCredential | undefined,
): readonly string[] | undefined {
  const { host } = target
  // The sample site of the sandbox has no name in any DNS; its own sender knows where it listens.
  if (parts.allowSandboxName && host === SANDBOX_HOST) return [SANDBOX_ADDRESS]
  const addresses = parts.resolver.recall?.(host)
  if (!addresses || addresses.length === 0) return undefined
  const policy = parts.reach(target, credential)
  return addresses.every((address) => policy.classify(address).ok) ? addresses : undefined
}

async function passResolved(fault: Fault): Promise<void> {
  await fault.at('after_resolve')
  await fault.at('before_sending')
}

/** Step 3. One resolution; one address that may not be reached refuses the whole answer. */
async function resolveAndMark(
  parts: RunnerParts,
  { attempt, request, credential }: Paid,
): Promise<readonly string[]> {
  const addresses = await resolve(parts, request)
  if (addresses.length === 0) throw new Unsent('dns_failed', unreachable(DNS_WORDS.not_found))
  const policy = parts.reach(request.target, credential)
  for (const address of addresses) {
    const verdict = policy.classify(address)
    if (!verdict.ok) throw new Unsent('dns_refused', targetBlocked(verdict.reason))
  }
  await passResolved(parts.fault)
  if (!(await parts.store.markSending({ id: attempt.id, bootId: parts.bootId, now: parts.now() })))
    throw new Unsent('given_up', unreachable('the attempt was given up before it was sent'))
  return addresses
}

async function resolve(
  { resolver }: RunnerParts,
  { target, timeoutMs }: PreparedRequest,
): Promise<readonly string[]> {
  try {
    return await resolver.resolve(target.host, timeoutMs)
  } catch (thrown) {
    if (thrown instanceof ResolveError) throw new Unsent('dns_failed', unreachable(DNS_WORDS[thrown.reason]))
    throw thrown
  }
}

/** The opening of step 4: after `sending` is on disk, and only then. */
async function openCredential(
  parts: RunnerParts,
  { attempt, credential, request }: Paid,
): Promise<OpenedCredential | undefined> {
  await parts.fault.at('after_sending')
  if (!credential) return undefined
  let opened: OpenedCredential
  try {
    opened = await parts.open(credential)
  } catch (cause) {
    if (cause instanceof CertificateExpired)
      throw new Unsent('certificate_expired', certificateExpired(cause))
    throw new Unsent('credential_unavailable', credentialUnavailable(cause))
  }
  await parts.fault.at('after_decrypt')
  try {
    const leftMs = leftOf(request, parts.now() - attempt.createdAt)
    return await parts.kinds.ready(credential, opened, leftMs)
  } catch (cause) {
    throw new Unsent(
      'credential_unavailable',
      cause instanceof GatewayError ? cause : credentialUnavailable(cause),
    )
  }
}

/** A clock may be set while a call is under way: it ends no later for that than it was to. */
const leftOf = ({ timeoutMs }: PreparedRequest, passedMs: number) =>
  Math.max(1, timeoutMs - Math.max(0, passedMs))

/** Step 4: one request, by a sender that is given the vetted addresses and nothing else to dial. Never rejects. */
async function sendOnce(
  { sender, now, log }: RunnerParts,
  { attempt, request, acceptsEncoded }: Paid,
  { addresses, reach, message, tls, partition, findWithdrawal }: Ready,
  signal: AbortSignal,
): Promise<SendResult> {
  try {
    return await sender.send({
      method: request.method,
      url: request.target.url,
      addresses,
      reach,
      ...message,
      tls,
      partition,
      timeoutMs: leftOf(request, now() - attempt.createdAt),
      maxResponseBytes: request.maxResponseBytes,
      acceptsEncoded,
      signal,
      findWithdrawal,
    })
  } catch (thrown) {
    // Senders do not throw. If one does, nobody knows what left.
    log.error({ [LogField.attempt]: attempt.id, err: thrown }, 'the sender failed')
    return { ok: false, phase: 'after_send', reason: 'reset' }
  }
}

/** The sender knows that it was told to give up, and not why. Where the status of the answer is known, that says more. */
function failureOf(failure: SendFailure, { signal }: Watched): Parameters<Endings['fail']>[1] {
  const { phase } = failure
  return signal.aborted && phase !== 'response' ? { phase, reason: 'revoked' } : failure
}

/** A connection that was made with a client certificate is not used any more once that is replaced. */
function partitionOf({ attempt, credential }: Paid, tls: OutboundRequest['tls']): string {
  if (!credential) return attempt.accountId
  return tls ? `${credential.id} v${credential.version}` : credential.id
}

type Message = Pick<OutboundRequest, 'target' | 'headers' | 'body'>

/**
 * The request as it was checked, with the secrets where the credential has them, the Idempotency-Key of unsafe methods, and over all of it
 * the signature, where the credential signs.
 * @throws {Unsent} where they have no room, or the request cannot be signed
 */
async function withSecrets(
  { kinds }: RunnerParts,
  { attempt, credential, request }: Paid,
  opened: OpenedCredential | undefined,
): Promise<{ readonly message: Message } & Pick<SignedRequest, 'signature'>> {
  const { idempotencyKey } = attempt
  const addKey = ({ headers, ...placed }: PlacedRequest): PlacedRequest => ({
    ...placed,
    headers: idempotencyKey === null ? headers : [...headers, ['idempotency-key', idempotencyKey] as const],
  })
  const { method, target, headers, body } = request
  if (!credential || !opened)
    return { message: toMessage(addKey({ target: undefined, headers, body })), signature: undefined }
  try {
    const placed = placeSecrets(request, placementsOf(credential), opened.parts).use(addKey)
    const signed = await kinds.sign(credential, opened, { ...placed, method, url: target.url })
    const isElsewhere = signed.url.href !== target.url.href
    return {
      message: toMessage({
        target: isElsewhere ? signed.url.pathname + signed.url.search : placed.target,
        headers: signed.headers,
        body: signed.body,
      }),
      signature: signed.signature,
    }
  } catch (cause) {
    throw cause instanceof GatewayError
      ? new Unsent('request_unsignable', cause)
      : new Unsent('credential_unavailable', credentialUnavailable(cause))
  }
}

const toMessage = ({ target, headers, body }: PlacedRequest): Message => ({
  target: target === undefined ? undefined : new Secret(target),
  headers: new Secret(headers),
  body,
})
