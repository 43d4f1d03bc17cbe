// How long a payment has to live, by the blocks of its network.
import { expect, it } from 'vitest'
import { KNOWN_NETWORKS } from '../../../src/core/networks.ts'
import { inclusionSeconds, settleSeconds } from '../../../src/payments/inclusion.ts'

it.each([
  // network | left at the broadcast | left when it is taken
  ['eip155:8453', 4, 6],
  ['eip155:84532', 4, 6],
  ['eip155:42161', 2, 6],
  ['eip155:1', 24, 26],
  // Nothing is known of it.
  ['eip155:59144', 24, 26],
  // Its facilitator judges it.
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 0, 6],
])('on %s it is %i s when it is sent, and %i s when it is taken', (network, sent, taken) => {
  expect([inclusionSeconds(network), settleSeconds(network)]).toEqual([sent, taken])
})

it('knows how fast the chains are that money is pinned on', () => {
  const slow = KNOWN_NETWORKS.filter(({ network }) => inclusionSeconds(network) >= 24)
  expect(slow.map(({ name }) => name)).toEqual(['Ethereum'])
})
