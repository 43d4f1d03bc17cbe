// What somebody pays with in a message of UCP: each instrument that brings its credential along.
import { member } from '../decode/value.ts'
import type { Stated } from '../protocol.ts'
import type { SignedStatement } from '../signed-members.ts'
import type { UcpFacts } from './facts.ts'

/** None of instruments that the business keeps, which bring no credential. */
export function listSignedUcp({ layer, facts: { instruments } }: Stated<UcpFacts>): SignedStatement[] {
  if (layer.stage !== 'checkout.complete') return []
  return instruments.flatMap(({ value, at }): SignedStatement[] => {
    const credential = member(value, 'credential')
    if (credential === undefined) return []
    const isNetwork = member(credential, 'type') === 'network_token'
    return [{ kind: isNetwork ? 'card-token-network' : 'card-token-instrument', value, at }]
  })
}
