// x402, versions 1 and 2: payments over HTTP 402, MCP and A2A.
import type { Protocol } from '../protocol.ts'
import { bindX402 } from './bind.ts'
import { detectX402 } from './detect.ts'
import type { X402Facts } from './facts.ts'
import { policy } from './policy.ts'
import { readX402, summariseX402 } from './read.ts'
import { listSignedOfX402 } from './signed.ts'
import { x402Challenge, x402Settlement } from './score-server.ts'
import { x402Payment } from './score.ts'

const RUBRICS = { payment: x402Payment, challenge: x402Challenge, settlement: x402Settlement }

export const x402: Protocol<X402Facts, undefined> = {
  name: 'x402',
  role: 'payment',
  covers: {
    versions: ['1', '2'],
    transports: ['http', 'mcp', 'a2a'],
    stages: ['challenge', 'payment', 'settlement', 'discovery'],
  },
  detect: detectX402,
  read: readX402,
  summarise: summariseX402,
  bind: bindX402,
  listSigned: listSignedOfX402,
  score: { rubrics: Object.values(RUBRICS), choose: ({ facts }) => RUBRICS[facts.stage] },
  policy,
}
