// What somebody agreed to in a message of ACP: the bounds of a delegated card, and the token that completes a checkout.
import { pick, pickObject } from '../decode/value.ts'
import type { Stated } from '../protocol.ts'
import type { SignedKind, SignedStatement } from '../signed-members.ts'
import type { AcpFacts } from './facts.ts'

/** None in answers, and none in an order that is paid for later. */
export function listSignedAcp({ layer, facts: { operation, answer } }: Stated<AcpFacts>): SignedStatement[] {
  const document = layer.document ?? null
  if (document === null || answer !== null || layer.isUndecodable) return []
  const state = (kind: SignedKind, name: string): SignedStatement => {
    const found = pick(document, ...name.split('/'))
    return { kind, value: found?.value, at: found?.at ?? `${document.at}/${name}` }
  }
  if (operation === 'delegate') return [state('card-token-allowance', 'allowance')]
  const data = pickObject(document, 'payment_data')
  if (operation !== 'complete' || data === null) return []
  const instrument = pickObject(data, 'instrument')
  if (instrument !== null)
    // The binding to MCP writes the token into the instrument itself.
    return pick(instrument, 'credential') === null && pick(instrument, 'token') !== null
      ? [state('card-token-2025', 'payment_data/instrument')]
      : [state('card-token', 'payment_data/instrument')]
  return pick(data, 'purchase_order_number') === null ? [state('card-token-2025', 'payment_data')] : []
}
