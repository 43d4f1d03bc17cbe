// MPP, the `Payment` HTTP authentication scheme, and the same over JSON-RPC.
import type { Protocol } from '../protocol.ts'
import { bindMpp } from './bind.ts'
import { detectMpp } from './detect.ts'
import type { MppFacts, MppSight } from './facts.ts'
import { policy } from './policy.ts'
import { readMpp, summariseMpp } from './read.ts'
import { listSignedOfMpp } from './signed.ts'
import { mppChallenge, mppPayment, mppReceipt } from './score.ts'

const RUBRICS = { payment: mppPayment, challenge: mppChallenge, settlement: mppReceipt }

export const mpp: Protocol<MppFacts, readonly MppSight[]> = {
  name: 'mpp',
  role: 'payment',
  covers: {
    versions: ['draft-httpauth-payment-00'],
    transports: ['http', 'mcp', 'jsonrpc'],
    stages: ['challenge', 'payment', 'settlement'],
  },
  detect: detectMpp,
  read: readMpp,
  summarise: summariseMpp,
  bind: bindMpp,
  listSigned: listSignedOfMpp,
  score: { rubrics: Object.values(RUBRICS), choose: ({ facts }) => RUBRICS[facts.stage] },
  policy,
}
