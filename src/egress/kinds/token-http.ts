// One request to a token endpoint, through the same gates as every other: policy, one resolution, addresses that the credential may reach, pinned, sent once,
// no redirect.
import type { Secret } from '../../lib/secret.ts'
import type { SealedCredential } from '../../store/ports.ts'
import type { HeaderPairs } from '../headers.ts'
import type { PolicyVerdict } from '../policy.ts'
import {
  type OutboundRequest,
  ResolveError,
  type Resolver,
  type Sender,
  type SendResult,
  type TlsIdentity,
} from '../ports.ts'
import type { Reach } from '../reach/private-targets.ts'
import type { ConfirmClaim } from './claim.ts'
import { ExchangeFailed } from './failure.ts'
import type { AskTokenEndpoint, MintingKind } from './kind.ts'

export const EXCHANGE_MS = 10_000
/** With an answer that is not waited for, a new refresh token is lost for good. Whoever asked for a token has a clock of their own. */
export const REFRESH_EXCHANGE_MS = 45_000
const MAX_ANSWER_BYTES = 64 * 1024

export interface Exchanging {
  /** What the credential brings to the handshake. */
  readonly tls: TlsIdentity | undefined
  /** For everything that is done for one answer. */
  readonly timeoutMs: number
  readonly confirm: ConfirmClaim
}

export const exchangeMsOf = ({ type }: MintingKind): number =>
  type === 'oauth2_refresh_token' ? REFRESH_EXCHANGE_MS : EXCHANGE_MS

export interface TokenHttpParts {
  readonly resolver: Resolver
  readonly sender: Sender
  readonly reach: Reach
  readonly checkHost: (host: string) => Promise<PolicyVerdict>
  readonly now: () => number
}

/** @returns asks for tokens of this credential, over connections that serve nothing else */
export function createTokenHttp(
  parts: TokenHttpParts,
  credential: Pick<SealedCredential, 'id' | 'version' | 'settings' | 'scope'>,
  { tls: identity, timeoutMs: wholeMs, confirm }: Exchanging,
): AskTokenEndpoint {
  const { resolver, sender, reach, checkHost, now } = parts
  return async ({ method, url, headers, body }) => {
    const host = url.hostname
    const began = now()
    const leftMs = () => wholeMs - (now() - began)
    const verdict = await checkHost(host)
    if (!verdict.ok)
      throw new ExchangeFailed({ host, reason: verdict.reason === 'paused' ? 'paused' : 'blocked' })
    const found = await resolveAll(resolver, host, leftMs())
    if (found.length === 0) throw new ExchangeFailed({ host, reason: 'unreachable' })
    const policy = reach({ host, port: url.port === '' ? 443 : Number(url.port) }, credential)
    if (!found.every((address) => policy.classify(address).ok))
      throw new ExchangeFailed({ host, reason: 'blocked' })
    // Another replica may be about to ask with the same refresh token, which is taken once.
    await confirm()
    const timeoutMs = leftMs()
    if (timeoutMs <= 0) throw new ExchangeFailed({ host, reason: 'unreachable' })
    const tls = identity && isForTokens(credential, host) ? identity : undefined
    const result = await send(sender, {
      method,
      url,
      addresses: found,
      reach: policy,
      headers: headers as Secret<HeaderPairs>,
      body: body?.use((text) => Buffer.from(text)),
      tls,
      partition: `${credential.id} tokens${tls ? ` v${credential.version}` : ''}`,
      timeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
    })
    if (result.ok) return result.response
    const { phase } = result
    // Who hung up may do so for any reason.
    if (phase === 'before_send' && result.tls !== undefined && result.tls !== 'closed')
      throw new ExchangeFailed({ host, reason: 'handshake', tls: result.tls })
    throw new ExchangeFailed({
      host,
      reason: phase === 'before_send' ? 'unreachable' : phase === 'after_send' ? 'no_answer' : 'malformed',
      status: phase === 'response' ? result.status : undefined,
    })
  }
}

/**
 * What a credential brings to the handshake is for its own hosts. A token endpoint elsewhere has a public certificate, and is nobody
 * to show a client certificate to, unless the operator says so.
 */
const isForTokens = ({ settings, scope }: Pick<SealedCredential, 'settings' | 'scope'>, host: string) =>
  settings.tls?.token_endpoint ?? scope.hosts.some((entry) => entry.replace(/:\d+$/, '') === host)

/** Nobody knows how far a sender came that fails in a way of its own: a refresh token may be spent. */
async function send(sender: Sender, request: OutboundRequest): Promise<SendResult> {
  try {
    return await sender.send(request)
  } catch (thrown) {
    throw new ExchangeFailed({ host: request.url.hostname, reason: 'no_answer' }, thrown)
  }
}

async function resolveAll(resolver: Resolver, host: string, withinMs: number): Promise<readonly string[]> {
  try {
    return await resolver.resolve(host, Math.max(1, withinMs))
  } catch (thrown) {
    if (thrown instanceof ResolveError) throw new ExchangeFailed({ host, reason: 'unreachable' }, thrown)
    throw thrown
  }
}
