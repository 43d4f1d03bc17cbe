// UCP: the rules of its own.
import { reason, type Reason } from '../policy/reasons.ts'
import type { Stated } from '../protocol.ts'
import type { UcpFacts } from './facts.ts'

/** An event of an order that nobody signed may be anybody's (signatures.md, When Signatures Apply). */
export function judgeUcp({ layer, facts: { signature } }: Stated<UcpFacts>): Reason[] {
  if (layer.stage !== 'webhook' || signature?.value != null) return []
  return [
    reason('SIGNED_MEMBER_MISSING', signature?.at ?? '/headers', {
      message: 'A webhook of UCP needs Signature-Input and Signature, and there is none.',
    }),
  ]
}
