// UCP: what the policy has to know of it.
import type { ProtocolPolicy } from '../protocol.ts'
import type { UcpFacts } from './facts.ts'

export const policy: ProtocolPolicy<UcpFacts> = {
  pricedStages: new Set(['checkout.complete']),
  credentialKind: 'payment_token',
  listAddresses: ({ facts }) => [facts.profile],
}
