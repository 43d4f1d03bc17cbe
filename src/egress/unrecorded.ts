// One request that somebody else keeps the record of: a paid call of the market has its claim. No attempt, no debit, no receipt; else
// it goes out like any other: the operator's policy, the credential's own scope, vetted addresses, one request, the leak gate.
import { GatewayError } from '../core/errors.ts'
import { LogField, type Logger } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import type { SealedCredential, Store } from '../store/ports.ts'
import { applyPolicy } from './reserve.ts'
import { type HeaderPairs, pickRequestHeaders, pickResponseHeaders } from './headers.ts'
import type { Kinds } from './kinds/index.ts'
import { refuseTokenEndpoint } from './kinds/token-url.ts'
import type { OpenedCredential, OpenedCredentials } from './opened-credential-cache.ts'
import { type PlacedRequest, placementsOf, placeSecrets } from './placement/place.ts'
import { checkRoom } from './placement/room.ts'
import type { EgressPolicy } from './policy.ts'
import { ResolveError, type Resolver, type Sender, type SendResult } from './ports.ts'
import type { Providers } from './providers/index.ts'
import type { Reach } from './reach/private-targets.ts'
import { credentialUnavailable, DNS_WORDS, providerGone, targetBlocked, unreachable } from './refusals.ts'
import { judgeRequest, personRequired } from './rules/judge.ts'
import { checkScopes, type PreparedRequest } from './request.ts'
import { parseTarget, SANDBOX_ADDRESS, SANDBOX_HOST } from './target.ts'
import { findLateWithdrawal, findWithdrawal } from './withdrawal.ts'

export interface UnrecordedRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** Names in `headers` beside those that any caller may send. */
  readonly listedHeaders: readonly string[]
  readonly body: Buffer | undefined
  /** The value of Idempotency-Key; undefined for none. */
  readonly idempotencyKey: string | undefined
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /** Of the account whose request this is; null: none goes along. */
  readonly credential: { readonly id: string; readonly accountId: string } | null
  /** Name of whoever the connections belong to where no credential goes along: no credential ever travels on one. */
  readonly partition: string
}

export type UnrecordedResult =
  | {
      readonly ok: true
      readonly status: number
      /** Those that may be passed on. */
      readonly headers: Readonly<Record<string, string>>
      readonly body: Buffer
    }
  /** The answer held the credential, or could not be searched for it. */
  | { readonly ok: false; readonly phase: 'withheld'; readonly status: number; readonly reason: string }
  | Exclude<SendResult, { ok: true }>

export interface Unrecorded {
  /**
   * @throws {GatewayError} where nothing was sent: target_invalid, target_blocked, egress_paused, scope_denied, credential_unavailable,
   * upstream_unreachable
   */
  send(asked: UnrecordedRequest): Promise<UnrecordedResult>
}

export interface UnrecordedParts {
  readonly open: OpenedCredentials['open']
  readonly store: Pick<Store, 'getCredential'>
  readonly providers: Providers
  readonly resolver: Resolver
  readonly sender: Sender
  readonly reach: Reach
  readonly kinds: Pick<Kinds, 'ready' | 'sign' | 'answered'>
  readonly readPolicy: () => Promise<EgressPolicy>
  readonly egressPorts: readonly number[]
  readonly allowSandboxName: boolean
  readonly now: () => number
  readonly log: Logger
}

export function createUnrecorded(parts: UnrecordedParts): Unrecorded {
  const { reach, kinds, now } = parts

  return {
    async send(asked) {
      const startedAt = now()
      const left = () => Math.max(1, asked.timeoutMs - (now() - startedAt))
      const credential = asked.credential && (await findCredential(parts, asked.credential))
      const request = prepare(parts, asked, credential ?? undefined)
      applyPolicy(await parts.readPolicy(), request)
      const findLate = findLateWithdrawal(
        now,
        credential
          ? () => findWithdrawal(parts.store, { credentialGone: listedGone }, credential)
          : undefined,
      )
      const addresses = await resolve(parts, request, credential ?? undefined, left())
      const opened = credential && (await open(parts, credential, left()))
      const { message, signature } = await place(parts, request, credential, opened, asked.idempotencyKey)
      const result = await parts.sender.send({
        method: request.method,
        url: request.target.url,
        addresses,
        reach: reach(request.target, credential ?? undefined),
        ...message,
        tls: opened?.tls,
        partition: partitionOf(asked, credential, opened),
        timeoutMs: left(),
        maxResponseBytes: request.maxResponseBytes,
        findWithdrawal: findLate,
      })
      if (!result.ok && result.phase === 'before_send' && result.withdrawal) throw result.withdrawal
      if (!result.ok) return result
      const { response } = result
      const { status } = response
      if (credential && opened) {
        const search = kinds.answered(credential, opened, { status, signature, since: startedAt })
        const verdict = await search.gate.inspect(response)
        if (!verdict.ok) {
          parts.log.warn(
            { event: `response_${verdict.reason}`, credential: credential.id, host: request.target.host },
            'security: an answer was withheld: it holds the credential, or could not be searched for it',
          )
          return { ok: false, phase: 'withheld', status, reason: verdict.reason }
        }
      }
      return { ok: true, status, headers: pickResponseHeaders(response.headers), body: response.body }
    },
  }
}

async function findCredential(
  { store, log }: UnrecordedParts,
  { id, accountId }: { readonly id: string; readonly accountId: string },
): Promise<SealedCredential> {
  const credential = await store.getCredential(id, accountId)
  if (credential && credential.revokedAt === null) return credential
  log.warn({ credential: id, [LogField.account]: accountId }, 'a listing names a credential that is gone')
  throw listedGone()
}

const listedGone = () =>
  new GatewayError('credential_unavailable', 'The credential was revoked. Nothing was sent.', {
    reason: 'credential_gone',
  })

function prepare(
  parts: UnrecordedParts,
  asked: UnrecordedRequest,
  credential: SealedCredential | undefined,
): PreparedRequest {
  const verdict = parseTarget(asked.url, {
    ports: parts.egressPorts,
    allowSandboxName: parts.allowSandboxName,
  })
  if (!verdict.ok) throw new GatewayError(verdict.code, verdict.detail, { reason: verdict.reason })
  const provider = credential && parts.providers.get(credential.provider)
  if (credential && !provider) throw providerGone(credential.provider)
  const { limits = {} } = credential?.settings ?? {}
  const request: PreparedRequest = {
    target: verdict,
    method: asked.method,
    headers: pickRequestHeaders(asked.headers, provider?.version_headers, asked.listedHeaders),
    body: asked.body,
    timeoutMs: Math.min(asked.timeoutMs, limits.timeout_ms ?? asked.timeoutMs),
    maxResponseBytes: Math.min(asked.maxResponseBytes, limits.max_response_bytes ?? asked.maxResponseBytes),
  }
  if (credential && provider) {
    checkRoom(request, placementsOf(credential))
    checkScopes(request, { credential, provider })
    const { decision, rule } = judgeRequest(request, { credential })
    if (decision === 'ask') throw personRequired(rule)
    refuseTokenEndpoint(credential.settings, request.target.url)
  }
  return request
}

/** One resolution; one address that may not be reached refuses the whole answer. */
async function resolve(
  { resolver, reach, allowSandboxName }: UnrecordedParts,
  { target }: PreparedRequest,
  credential: SealedCredential | undefined,
  timeoutMs: number,
): Promise<readonly string[]> {
  if (allowSandboxName && target.host === SANDBOX_HOST) return [SANDBOX_ADDRESS]
  const addresses = await resolver.resolve(target.host, timeoutMs).catch((thrown: unknown) => {
    throw thrown instanceof ResolveError ? unreachable(DNS_WORDS[thrown.reason]) : thrown
  })
  if (addresses.length === 0) throw unreachable(DNS_WORDS.not_found)
  const policy = reach(target, credential)
  for (const address of addresses) {
    const verdict = policy.classify(address)
    if (!verdict.ok) throw targetBlocked(verdict.reason)
  }
  return addresses
}

async function open(
  { open: openSealed, kinds }: UnrecordedParts,
  credential: SealedCredential,
  withinMs: number,
): Promise<OpenedCredential> {
  try {
    return await kinds.ready(credential, await openSealed(credential), withinMs)
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : credentialUnavailable(cause)
  }
}

/** The message with the secrets where the credential has them, and over all of it the signature, where the credential signs. */
async function place(
  { kinds }: UnrecordedParts,
  { method, target, headers, body }: PreparedRequest,
  credential: SealedCredential | null,
  opened: OpenedCredential | null,
  key: string | undefined,
) {
  const addKey = ({ headers: placed, ...rest }: PlacedRequest): PlacedRequest => ({
    ...rest,
    headers: key === undefined ? placed : [...placed, ['idempotency-key', key] as const],
  })
  if (!credential || !opened)
    return { message: toMessage(addKey({ target: undefined, headers, body })), signature: undefined }
  try {
    const placed = placeSecrets({ target, headers, body }, placementsOf(credential), opened.parts).use(addKey)
    const signed = await kinds.sign(credential, opened, { ...placed, method, url: target.url })
    const isElsewhere = signed.url.href !== target.url.href
    const wire = isElsewhere ? signed.url.pathname + signed.url.search : placed.target
    return {
      message: toMessage({ target: wire, headers: signed.headers, body: signed.body }),
      signature: signed.signature,
    }
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : credentialUnavailable(cause)
  }
}

const toMessage = ({ target, headers, body }: PlacedRequest) => ({
  target: target === undefined ? undefined : new Secret(target),
  headers: new Secret<HeaderPairs>(headers),
  body,
})

/** A connection that was made with a client certificate is not used any more once that is replaced. */
const partitionOf = (
  { partition }: UnrecordedRequest,
  credential: SealedCredential | null,
  opened: OpenedCredential | null,
) => {
  if (!credential) return partition
  return opened?.tls ? `${credential.id} v${credential.version}` : credential.id
}
