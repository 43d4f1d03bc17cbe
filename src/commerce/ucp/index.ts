// UCP: catalogue, carts, checkout and orders of a business, over REST, MCP, A2A and embedded pages, and its answers.
import { CHECKOUT_STAGES } from '../checkout.ts'
import type { Protocol } from '../protocol.ts'
import { bindUcp } from './bind.ts'
import { detectUcp, type UcpSights } from './detect.ts'
import type { UcpFacts } from './facts.ts'
import { policy } from './policy.ts'
import { readUcp, summariseUcp } from './read.ts'
import { ucpRequest } from './score.ts'
import { listSignedUcp } from './signed.ts'

export const ucp: Protocol<UcpFacts, UcpSights> = {
  name: 'ucp',
  role: 'checkout',
  covers: {
    versions: ['2026-01-11', '2026-01-23', '2026-04-08', '2026-08-25'],
    transports: ['rest', 'mcp', 'a2a', 'embedded'],
    stages: [
      ...CHECKOUT_STAGES,
      'order.get',
      'catalog',
      'discovery',
      'embedded',
      'webhook',
      'result',
      'error',
    ],
  },
  detect: detectUcp,
  read: readUcp,
  summarise: summariseUcp,
  bind: bindUcp,
  listSigned: listSignedUcp,
  score: { rubrics: [ucpRequest], choose: () => ucpRequest },
  policy,
}
