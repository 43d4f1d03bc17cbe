// x402: which kinds of payment signed-members.ts is asked about.
import { pickObject } from '../decode/value.ts'
import type { Stated } from '../protocol.ts'
import type { SignedStatement } from '../signed-members.ts'
import type { X402Facts } from './facts.ts'
import { readX402Shape } from './shape.ts'

/** The payload of a payment, in the kind that its members say it is. */
export function listSignedOfX402({ layer: { stage, document } }: Stated<X402Facts>): SignedStatement[] {
  if (stage !== 'payment' || document === undefined) return []
  const payload = pickObject(document, 'payload')
  const { method } = readX402Shape(document.value)
  return payload !== null && method === 'eip3009'
    ? [{ kind: 'eip3009', value: payload.value, at: payload.at }]
    : []
}
