// A payment is looked at while the chain goes on: a node may have no answer for a block that it just left behind.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChain } from '../../../src/payments/adapters/chain.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { ChainError } from '../../../src/payments/chain-ports.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { type ChainProxy, type Interception, startChainProxy } from '../../support/chain-proxy.ts'

const network = createNetworks([84532]).all[0]!
const authorization = {
  from: `0x${'aa'.repeat(20)}`,
  to: `0x${'bb'.repeat(20)}`,
  value: 1000n,
  validAfter: 0n,
  validBefore: 2_000_000_000n,
  nonce: `0x${'cc'.repeat(32)}`,
}
const OUT_OF_RANGE = { error: { code: -32602, message: 'block height is 862 but requested was 861' } }

let node: ChainProxy
let asked: number
beforeAll(async () => {
  node = await startChainProxy('http://127.0.0.1:1')
})
afterAll(() => node.close())
beforeEach(() => {
  node.reset()
  asked = 0
  node.on('eth_chainId', () => ({ result: '0x14a34' }))
  node.on('eth_getCode', () => ({ result: '0x' }))
})

/** @param answers to the simulated transfer, one after the other; the last one stays */
async function probe(...answers: Interception[]) {
  node.on('eth_call', () => answers[Math.min(asked++, answers.length - 1)]!)
  const chain = createChain({ network, rpcUrl: async () => node.url, now: () => 0 })
  try {
    return await chain.probe(authorization, new Secret(`0x${'dd'.repeat(65)}`))
  } finally {
    await chain.close()
  }
}

describe('a probe', () => {
  it('is asked again when the node took its next block meanwhile', async () => {
    expect(await probe(OUT_OF_RANGE, { result: '0x' })).toMatchObject({ payerHasCode: false, revert: null })
    expect(asked).toBe(2)
  })

  it('is given up when the node refuses it again', async () => {
    const thrown = await probe(OUT_OF_RANGE).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ChainError)
    expect(thrown).toMatchObject({ reason: 'refused' })
    expect(asked).toBe(2)
  })

  it('is asked once where the answer makes no sense', async () => {
    const thrown = await probe({ result: '0x01' }).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ reason: 'malformed' })
    expect(asked).toBe(1)
  })
})
