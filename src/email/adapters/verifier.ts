// Asks the operator's verifier whether a mailbox exists: POST {"email"} -> {"result": "deliverable" | "undeliverable" |
// "unknown"}. Whatever goes wrong is `unknown`.
import type { MailboxVerifier } from '../ports.ts'
import { sendVetted, type VettedParts } from './vetted-request.ts'

const TIMEOUT_MS = 1_500
const MAX_ANSWER_BYTES = 16 * 1024

export interface VerifierParts extends VettedParts {
  /** https; on any port, since the operator named it. */
  readonly url: string
}

/** Never throws. */
export function createMailboxVerifier(parts: VerifierParts): MailboxVerifier {
  async function ask(address: string, signal: AbortSignal): Promise<unknown> {
    const response = await sendVetted(parts, {
      method: 'POST',
      url: parts.url,
      headers: [
        ['content-type', 'application/json'],
        ['accept', 'application/json'],
      ],
      body: Buffer.from(JSON.stringify({ email: address })),
      partition: 'mailbox-verifier',
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    })
    return response?.status === 200 ? JSON.parse(response.body.toString('utf8')) : undefined
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
