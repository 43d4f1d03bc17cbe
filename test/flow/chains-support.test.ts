// The chain that other suites stand on: what it says must be what the real token does.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  requirementsOf,
  signPayment,
  signPaymentV1,
  startTestChain,
  type TestChain,
} from '../support/chain.ts'

describe.each([8453, 84532])('a test chain %i', (chainId) => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await startTestChain(chainId)
  })
  afterAll(() => chain.close())

  it('answers for its chain id with funded payers', async () => {
    expect(Number(await chain.rpc('eth_chainId'))).toBe(chainId)
    expect(await chain.usdcOf(chain.payers[0]!.address)).toBe(1_000_000_000n)
    expect(await chain.transfersTo(chain.payTo)).toBe(0)
  })

  it('moves money once for a signed payment, whoever submits it', async () => {
    const before = await chain.usdcOf(chain.payTo)
    const payload = await signPayment({ account: chain.payers[1]!, requirements: requirementsOf(chain) })
    await chain.preempt(payload)
    expect((await chain.usdcOf(chain.payTo)) - before).toBe(1000n)
    expect(await chain.transfersTo(chain.payTo)).toBe(1)
    await expect(chain.preempt(payload)).rejects.toThrow()
  })

  it('refuses a canceled authorization', async () => {
    const payload = await signPayment({ account: chain.payers[2]!, requirements: requirementsOf(chain) })
    const { authorization } = payload.payload as { authorization: { nonce: string } }
    await chain.cancelAuthorization(chain.payers[2]!, authorization.nonce)
    await expect(chain.preempt(payload)).rejects.toThrow()
  })

  it('drains and funds a payer', async () => {
    const payer = chain.payers[3]!
    await chain.drain(payer)
    expect(await chain.usdcOf(payer.address)).toBe(0n)
    await chain.fund(payer.address, 7n)
    expect(await chain.usdcOf(payer.address)).toBe(7n)
  })

  it('forgets a block in a reorganisation', async () => {
    const payload = await signPayment({ account: chain.payers[4]!, requirements: requirementsOf(chain) })
    const before = await chain.usdcOf(chain.payTo)
    await chain.preempt(payload)
    await chain.reorg(1)
    expect(await chain.usdcOf(chain.payTo)).toBe(before)
  })

  it('signs for v1 under the name of v1', async () => {
    const payload = await signPaymentV1({ account: chain.payers[0]!, requirements: requirementsOf(chain) })
    expect(payload.network).toBe(chainId === 8453 ? 'base' : 'base-sepolia')
  })
})
