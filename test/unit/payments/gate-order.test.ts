// What happens after what to a payment: the chain's word, the claim, the work; and what a copy changes in between.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ChainProbe } from '../../../src/payments/chain-ports.ts'
import { callOf, type OpenGate, openGate, present, refusalOf } from '../../support/payment-gate.ts'

let open: OpenGate
beforeAll(async () => void (open = await openGate()))
beforeEach(() => open.reset())
afterEach(() => void vi.restoreAllMocks())
afterAll(() => open.close())

const GOOD: ChainProbe = { nonceUsed: false, balance: null, payerHasCode: false, revert: null }
const work = vi.fn(async () => ({ text: 'hello', receipt: null }))
beforeEach(() => void work.mockClear())

describe('a payment', () => {
  it('is claimed when the chain has found it good, and whoever will settle gets ready while the work is done', async () => {
    const chain = Promise.withResolvers<ChainProbe>()
    open.world.probe = chain.promise
    const done = Promise.withResolvers<void>()
    const bought = open.gate.run(
      callOf({
        payment: present(await open.sign()),
        async work() {
          await done.promise
          return work()
        },
      }),
    )
    await expect.poll(() => open.world.probes).toBe(1)
    expect([await open.states(), open.world.prepared]).toEqual([[], 0])
    chain.resolve(GOOD)
    await expect.poll(() => open.world.prepared).toBe(1)
    expect([await open.states(), open.world.settles]).toEqual([['claimed'], 0])
    done.resolve()
    expect((await bought).replayed).toBe(false)
    expect([await open.states(), open.world.prepared]).toEqual([['settled'], 1])
  })
})

describe('a payment whose claim is given back between two looks at it', () => {
  /** The gate finds none, the verifier one. */
  async function changeBetweenLooks(times: number): Promise<void> {
    const { claimId } = await open.gate.run(callOf({ payment: present(await open.sign()) }))
    const claim = await open.store.getClaim(claimId)
    const find = vi.spyOn(open.store, 'findClaim')
    for (let look = 0; look < times; look++)
      find.mockResolvedValueOnce(undefined).mockResolvedValueOnce(claim).mockResolvedValueOnce(undefined)
  }

  it('is paid: nobody tells its buyer to sign another', async () => {
    await changeBetweenLooks(1)
    const payment = present(await open.sign())
    expect((await open.gate.run(callOf({ payment, work }))).replayed).toBe(false)
    expect(work).toHaveBeenCalledTimes(1)
  })

  it('is refused when that happens again', async () => {
    await changeBetweenLooks(2)
    const error = await refusalOf(open.gate.run(callOf({ payment: present(await open.sign()), work })))
    expect([error.code, error.extras['check']]).toEqual(['payment_rejected', 'claim'])
    expect(work).not.toHaveBeenCalled()
  })
})
