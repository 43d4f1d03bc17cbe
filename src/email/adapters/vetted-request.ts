// Asks a server that the operator named, over the path of every outbound request: the name resolved once, each address
// classified, the vetted ones dialled, no redirect followed by itself.
import type { AddressPolicy } from '../../egress/address.ts'
import type { OutboundResponse, Resolver, Sender } from '../../egress/ports.ts'
import { parseTarget } from '../../egress/target.ts'
import { Secret } from '../../lib/secret.ts'

export interface VettedParts {
  readonly resolver: Resolver
  readonly sender: Pick<Sender, 'send'>
  readonly policy: AddressPolicy
  /** Whether the operator lets requests to this host out. */
  readonly checkHost: (host: string) => Promise<{ readonly ok: boolean }>
}

export interface VettedRequest {
  readonly method: 'GET' | 'POST'
  /** https; on any port, since the operator named it. */
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer | undefined
  readonly partition: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  readonly signal?: AbortSignal
}

/** @returns undefined where it may not be asked, or did not answer whole and in time */
export async function sendVetted(
  { resolver, sender, policy, checkHost }: VettedParts,
  { url: text, headers, ...request }: VettedRequest,
): Promise<OutboundResponse | undefined> {
  const target = parseTarget(text, { ports: [Number(new URL(text).port || 443)] })
  if (!target.ok || !(await checkHost(target.host)).ok) return undefined
  const addresses = await resolver.resolve(target.host, request.timeoutMs)
  if (addresses.length === 0 || !addresses.every((each) => policy.classify(each).ok)) return undefined
  const sent = await sender.send({
    ...request,
    url: target.url,
    addresses,
    headers: new Secret<readonly (readonly [string, string])[]>([
      ...headers,
      ['accept-encoding', 'identity'],
      ['user-agent', 'agent-gateway-email/1'],
    ]),
  })
  return sent.ok ? sent.response : undefined
}
