// ACP: checkout and delegated payment, over REST and MCP, and its order webhooks.
import type { Protocol } from '../protocol.ts'
import { type AcpSights, detectAcp } from './detect.ts'
import type { AcpFacts } from './facts.ts'
import { policy } from './policy.ts'
import { readAcp, summariseAcp } from './read.ts'
import { acpRequest, acpWebhook } from './score.ts'

export const acp: Protocol<AcpFacts, AcpSights> = {
  name: 'acp',
  role: 'checkout',
  covers: {
    versions: ['2025-09-29', '2025-12-12', '2026-01-16', '2026-01-30', '2026-04-17'],
    transports: ['rest', 'mcp', 'webhook'],
    stages: [
      'checkout.create',
      'checkout.get',
      'checkout.update',
      'checkout.complete',
      'checkout.cancel',
      'delegate',
      'webhook',
    ],
  },
  detect: detectAcp,
  read: readAcp,
  summarise: summariseAcp,
  /** A message of ACP has no two statements that have to agree. */
  bind: () => [],
  score: {
    rubrics: [acpRequest, acpWebhook],
    choose: ({ facts }) => (facts.operation === 'webhook' ? acpWebhook : acpRequest),
  },
  policy,
}
