// UCP: the rules of its own.
import { member, pickList } from '../decode/value.ts'
import type { Found, JsonObject } from '../ports.ts'
import { reason, type Reason } from '../policy/reasons.ts'
import type { Stated } from '../protocol.ts'
import type { UcpFacts } from './facts.ts'

/** Rules of UCP that no other protocol has. */
export const judgeUcp = (stated: Stated<UcpFacts>): Reason[] => [
  ...judgeSignature(stated),
  ...judgeTotals(stated.layer.document),
]

/** A total that is not the sum of its lines is for the buyer: no agent may complete such a checkout (checkout, Verification). */
function judgeTotals(document: Found<JsonObject> | undefined): Reason[] {
  const lines = pickList(document ?? null, 'totals').map(({ value, at }) => ({
    at,
    type: member(value, 'type'),
    amount: member(value, 'amount'),
  }))
  const total = lines.find(({ type }) => type === 'total')
  const parts = lines.filter(({ type }) => type !== 'total')
  if (total === undefined || parts.length === 0) return []
  // Releases before 2026-04 write discounts without a sign, and those of items both in the subtotal and apart.
  const sumOf = (skipped: string | undefined) =>
    parts.reduce((sum, { type, amount }) => sum + (type === skipped ? 0 : signed(type, amount)), 0)
  if ([sumOf(undefined), sumOf('items_discount')].includes(Number(total.amount))) return []
  return [
    reason('BINDING_AMOUNT', total.at, {
      severity: 'review',
      message: 'The total is not the sum of what stands beside it: ask the buyer.',
    }),
  ]
}

/** NaN where it is no amount, which is the sum of nothing. */
const signed = (type: unknown, amount: unknown): number => {
  if (typeof amount !== 'number') return Number.NaN
  return type === 'discount' || type === 'items_discount' ? -Math.abs(amount) : amount
}

/**
 * An event of an order that nobody signed may be anybody's; a signature that leaves out where the request goes or what it carries
 * holds for any other (signatures.md, When Signatures Apply, REST Request Signing).
 */
function judgeSignature({ layer, facts: { signature }, reading: { message } }: Stated<UcpFacts>): Reason[] {
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
