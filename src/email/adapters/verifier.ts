// Asks the operator's verifier whether a mailbox exists: POST {"email"} -> {"result": "deliverable" | "undeliverable" |
// "unknown"}. Over the path of every outbound request: the name resolved once, each address classified, the vetted ones
// dialled, no redirect. Whatever goes wrong is `unknown`.
import type { AddressPolicy } from '../../egress/address.ts'
import type { Resolver, Sender } from '../../egress/ports.ts'
import { parseTarget } from '../../egress/target.ts'
import { Secret } from '../../lib/secret.ts'
import type { MailboxVerifier } from '../ports.ts'

const TIMEOUT_MS = 1_500
const MAX_ANSWER_BYTES = 16 * 1024

export interface VerifierParts {
  /** https; on any port, since the operator named it. */
  readonly url: string
  readonly resolver: Resolver
  readonly sender: Pick<Sender, 'send'>
  readonly policy: AddressPolicy
  /** Whether the operator lets requests to this host out. */
  readonly checkHost: (host: string) => Promise<{ readonly ok: boolean }>
}

/** Never throws. */
export function createMailboxVerifier(parts: VerifierParts): MailboxVerifier {
  const { url: text, resolver, sender, policy } = parts
  const target = parseTarget(text, { ports: [Number(new URL(text).port || 443)] })

  async function ask(address: string, signal: AbortSignal): Promise<unknown> {
    if (!target.ok || !(await parts.checkHost(target.host)).ok) return undefined
    const addresses = await resolver.resolve(target.host, TIMEOUT_MS)
    if (addresses.length === 0 || !addresses.every((each) => policy.classify(each).ok)) return undefined
    const sent = await sender.send({
      method: 'POST',
      url: target.url,
      addresses,
      headers: new Secret<readonly (readonly [string, string])[]>([
        ['content-type', 'application/json'],
        ['accept', 'application/json'],
        ['accept-encoding', 'identity'],
        ['user-agent', 'agent-gateway-email/1'],
      ]),
      body: Buffer.from(JSON.stringify({ email: address })),
      partition: 'mailbox-verifier',
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    })
    if (!sent.ok || sent.response.status !== 200) return undefined
    return JSON.parse(sent.response.body.toString('utf8'))
  }

  return {
    async verify(address, signal) {
      try {
        const answer = await ask(address, signal)
        const result =
          typeof answer === 'object' && answer !== null && 'result' in answer ? answer.result : null
        return result === 'deliverable' || result === 'undeliverable' ? result : 'unknown'
      } catch {
        return 'unknown'
      }
    },
  }
}
