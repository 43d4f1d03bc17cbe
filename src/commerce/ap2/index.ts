// AP2: mandates, as SD-JWT chains (0.2) and as data parts of A2A messages (0.1).
import type { Protocol } from '../protocol.ts'
import { bindAp2 } from './bind.ts'
import { type Ap2Sights, detectAp2 } from './detect.ts'
import type { Ap2Facts } from './facts.ts'
import { policy } from './policy.ts'
import { readAp2, summariseAp2 } from './read.ts'
import { ap2V01 } from './score-v01.ts'
import { ap2Chain } from './score.ts'
import { listSignedOfAp2 } from './signed.ts'

export const ap2: Protocol<Ap2Facts, Ap2Sights> = {
  name: 'ap2',
  role: 'mandate',
  covers: {
    versions: ['0.1', '0.2'],
    transports: ['sd-jwt', 'a2a'],
    stages: ['intent', 'cart', 'checkout', 'payment'],
  },
  detect: detectAp2,
  read: readAp2,
  summarise: summariseAp2,
  bind: bindAp2,
  listSigned: listSignedOfAp2,
  score: {
    rubrics: [ap2Chain, ap2V01],
    choose: ({ layer, facts }) => ((facts.version ?? layer.version) === '0.1' ? ap2V01 : ap2Chain),
  },
  policy,
}
