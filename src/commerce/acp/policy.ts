// ACP: what the policy has to know of it.
import type { ProtocolPolicy } from '../protocol.ts'
import type { AcpFacts } from './facts.ts'

export const policy: ProtocolPolicy<AcpFacts> = {
  pricedStages: new Set(['delegate', 'checkout.complete']),
  credentialKind: 'payment_token',
  /** A delegated payment is the one message that a card is sent in by its own number. */
  findCard: ({ layer: { document }, facts }) =>
    document !== undefined && facts.operation === 'delegate' ? `${document.at}/payment_method/` : undefined,
  needsWindow: ({ facts }) => facts.operation === 'delegate',
  demandsKey: ({ facts: { operation } }) =>
    operation === 'get' || operation === 'webhook'
      ? undefined
      : 'ACP demands an Idempotency-Key on every POST, and there is none.',
}
