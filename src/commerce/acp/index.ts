// ACP: carts, checkout, feeds, delegated payment and authentication, over REST, MCP and A2A, its answers, and its order webhooks.
import { CHECKOUT_STAGES } from '../checkout.ts'
import type { Protocol } from '../protocol.ts'
import { bindAcp } from './bind.ts'
import { type AcpSights, detectAcp } from './detect.ts'
import type { AcpFacts } from './facts.ts'
import { policy } from './policy.ts'
import { readAcp, summariseAcp } from './read.ts'
import { acpRequest, acpWebhook } from './score.ts'
import { listSignedAcp } from './signed.ts'

export const acp: Protocol<AcpFacts, AcpSights> = {
  name: 'acp',
  role: 'checkout',
  covers: {
    versions: ['2025-09-29', '2025-12-12', '2026-01-16', '2026-01-30', '2026-04-17'],
    transports: ['rest', 'mcp', 'a2a', 'webhook'],
    stages: [
      ...CHECKOUT_STAGES,
      'feed.create',
      'feed.get',
      'feed.update',
      'authentication.create',
      'authentication.authenticate',
      'authentication.get',
      'delegate',
      'webhook',
      'discovery',
      'result',
      'error',
    ],
  },
  detect: detectAcp,
  read: readAcp,
  summarise: summariseAcp,
  bind: bindAcp,
  listSigned: listSignedAcp,
  score: {
    rubrics: [acpRequest, acpWebhook],
    choose: ({ facts }) => (facts.operation === 'webhook' ? acpWebhook : acpRequest),
  },
  policy,
}
