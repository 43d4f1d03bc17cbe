// UCP: the rules of its own.
import { reason, type Reason } from '../policy/reasons.ts'
import type { Stated } from '../protocol.ts'
import type { UcpFacts } from './facts.ts'

/**
 * An event of an order that nobody signed may be anybody's; a signature that leaves out where the request goes or what it carries
 * holds for any other (signatures.md, When Signatures Apply, REST Request Signing).
 */
export function judgeUcp({ layer, facts: { signature }, reading: { message } }: Stated<UcpFacts>): Reason[] {
  if (layer.stage === 'webhook' && signature?.value == null)
    return [
      reason('SIGNED_MEMBER_MISSING', signature?.at ?? '/headers', {
        message: 'A webhook of UCP needs Signature-Input and Signature, and there is none.',
      }),
    ]
  // Answers are signed over their status.
  if (signature === null || signature.components.includes('@status')) return []
  const needed = [
    '@method',
    '@authority',
    '@path',
    ...(message.body.kind === 'absent' ? [] : ['content-digest']),
  ]
  const missing = needed.filter((component) => !signature.components.includes(component))
  return missing.length === 0
    ? []
    : [
        reason('SIGNED_MEMBER_MISSING', signature.at, {
          severity: 'review',
          message: `The signature does not cover ${missing.join(', ')}.`,
        }),
      ]
}
