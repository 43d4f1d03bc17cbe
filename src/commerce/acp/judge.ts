// ACP: the rules of its own.
import { reason, type Reason } from '../policy/reasons.ts'
import type { Stated } from '../protocol.ts'
import type { AcpFacts } from './facts.ts'

/** An event of an order that nobody signed may be anybody's. */
export function judgeAcp({ layer, facts, reading: { message } }: Stated<AcpFacts>): Reason[] {
  if (facts.operation !== 'webhook' || facts.merchantSignature?.isWellFormed === true) return []
  // Somebody passes it on, or shows its body alone: that is for a person to look at.
  const isAtReceiver = layer.evidence.some(({ at }) => at === '/target')
  const wasShown = message.headers.some(({ name }) => name !== 'content-type')
  const { merchantSignature: signature } = facts
  return [
    reason(
      signature === null ? 'SIGNED_MEMBER_MISSING' : 'SIGNED_MEMBER_MALFORMED',
      signature?.at ?? '/headers',
      {
        ...(!(isAtReceiver && wasShown) && { severity: 'review' as const }),
        message:
          signature === null
            ? 'A webhook of ACP needs Merchant-Signature, and there is none.'
            : 'Merchant-Signature is not `t=<seconds>,v1=<64 hex digits>`.',
      },
    ),
  ]
}
