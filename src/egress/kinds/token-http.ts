// One request to a token endpoint, through the same gates as every other: policy, one resolution, addresses that the credential may reach, pinned, sent once,
// no redirect.
import type { Secret } from '../../lib/secret.ts'
import type { SealedCredential } from '../../store/ports.ts'
import type { HeaderPairs } from '../headers.ts'
import type { PolicyVerdict } from '../policy.ts'
import { ResolveError, type Resolver, type Sender, type TlsIdentity } from '../ports.ts'
import type { Reach } from '../reach/private-targets.ts'
import { ExchangeFailed } from './failure.ts'
import type { AskTokenEndpoint } from './kind.ts'

export const EXCHANGE_MS = 10_000
const MAX_ANSWER_BYTES = 64 * 1024

export interface TokenHttpParts {
  readonly resolver: Resolver
  readonly sender: Sender
  readonly reach: Reach
  readonly checkHost: (host: string) => Promise<PolicyVerdict>
  readonly now: () => number
}

/**
 * @param identity what the credential brings to the handshake
 * @returns asks for tokens of this credential, over connections that serve nothing else
 */
export function createTokenHttp(
  parts: TokenHttpParts,
  credential: Pick<SealedCredential, 'id' | 'version' | 'settings' | 'scope'>,
  identity: TlsIdentity | undefined,
): AskTokenEndpoint {
  const { resolver, sender, reach, checkHost, now } = parts
  return async ({ method, url, headers, body }) => {
    const host = url.hostname
    // Whoever asks has claimed the exchange for a time, and all that is done here counts.
    const began = now()
    const leftMs = () => EXCHANGE_MS - (now() - began)
    const verdict = await checkHost(host)
    if (!verdict.ok)
      throw new ExchangeFailed({ host, reason: verdict.reason === 'paused' ? 'paused' : 'blocked' })
    const found = await resolveAll(resolver, host, leftMs())
    if (found.length === 0) throw new ExchangeFailed({ host, reason: 'unreachable' })
    const policy = reach({ host, port: url.port === '' ? 443 : Number(url.port) }, credential)
    if (!found.every((address) => policy.classify(address).ok))
      throw new ExchangeFailed({ host, reason: 'blocked' })
    // Another replica may be about to ask with the same refresh token, which is taken once.
    const timeoutMs = leftMs()
    if (timeoutMs <= 0) throw new ExchangeFailed({ host, reason: 'unreachable' })
    const tls = identity && isForTokens(credential, host) ? identity : undefined
    const result = await sender.send({
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

async function resolveAll(resolver: Resolver, host: string, withinMs: number): Promise<readonly string[]> {
  try {
    return await resolver.resolve(host, Math.max(1, withinMs))
  } catch (thrown) {
    if (thrown instanceof ResolveError) throw new ExchangeFailed({ host, reason: 'unreachable' }, thrown)
    throw thrown
  }
}
