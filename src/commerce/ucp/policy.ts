// UCP: what the policy has to know of it.
import type { ProtocolPolicy } from '../protocol.ts'
import type { UcpFacts } from './facts.ts'
import { judgeUcp } from './judge.ts'

export const policy: ProtocolPolicy<UcpFacts> = {
  pricedStages: new Set(['checkout.complete']),
  credentialKind: 'payment_token',
  describeSpend: ({ facts: { checkoutId } }) =>
    checkoutId === null ? {} : { mandate: `ucp ${checkoutId.value}` },
  judge: judgeUcp,
  listAddresses: ({ facts }) => [facts.profile, facts.openedUrl],
  /** Its binding to MCP asks for a key where a checkout ends; pages and their hosts tell calls apart by id. */
  isRisky: ({ layer: { transport, stage } }) => {
    if (transport === 'embedded') return false
    return transport === 'mcp' ? /\.(?:complete|cancel)$/.test(stage) : undefined
  },
}
