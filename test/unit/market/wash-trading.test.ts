// Buyers that a seller made up, on a chain in memory and a real store.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWashTrading } from '../../../src/market/trust/wash-trading.ts'
import type { ServiceOutcome, Store } from '../../../src/store/ports.ts'
import { sold } from '../../support/market-money.ts'
import { newSeller, PAYOUT, registration } from '../../support/market-sellers.ts'
import { createPlace, log, NOW, type Place, times } from '../../support/store.ts'

const KEY = { sellerId: 'acme', serviceId: 'quotes', environment: 'live' } as const
const address = (n: number) => `0x${String(n).padStart(40, '0')}`
const GATEWAY = address(7)
const [EXCHANGE, BOSS] = [address(8), address(9)]

let place: Place
let store: Store
let transfers: Map<string, { from: string; amount: bigint }[]>
let isDown: boolean
beforeEach(async () => {
  place = await createPlace('sqlite', 'wash')
  store = await place.open('boot-1')
  await store.createSeller(registration(newSeller('acme'), Buffer.alloc(32, 1)))
  transfers = new Map()
  isDown = false
})
afterEach(() => place.remove())

const pay = async (...payers: string[]) => {
  const calls = payers.map((payer): ServiceOutcome => ({
    ...KEY,
    kind: 'settled',
    claimId: '',
    at: NOW,
    payer,
    amount: 10,
    latencyMs: 1,
    isSelf: false,
  }))
  await store.recordServiceOutcomes({ outcomes: await sold(store, 'boot-1', calls), now: NOW })
}
const send = (amount: bigint, from: string, ...to: string[]) => {
  for (const account of to) transfers.set(account, [...(transfers.get(account) ?? []), { from, amount }])
}
const fund = (from: string, ...to: string[]) => send(100n, from, ...to)
const check = () =>
  createWashTrading({
    store,
    transfers: {
      async incoming(account) {
        if (isDown) throw new Error('no chain')
        return (transfers.get(account) ?? []).map((one) => ({ ...one, block: 1, transactionHash: '0x1' }))
      },
    },
    ownAddresses: [GATEWAY],
    readRules: async () => ({ sharedFunders: [EXCHANGE.toUpperCase().replace('0X', '0x')], ringSize: 10 }),
    now: () => NOW,
    log,
  }).check()
const standing = () => store.findServiceStanding(KEY)

describe('wash trading', () => {
  it('by ten wallets that one wallet funded counts for nothing, and nine are still buyers', async () => {
    const wallets = times(10, (n) => address(100 + n))
    fund(BOSS, ...wallets)
    await pay(...wallets.slice(0, 9), ...wallets.slice(0, 9), address(50))
    expect(await check()).toBe(0)
    expect(await standing()).toMatchObject({ payers: 10, repeatPayers: 9, settled: 19 })
    await pay(...wallets.slice(9))
    expect(await check()).toBe(10)
    expect(await standing()).toMatchObject({
      payers: 1,
      repeatPayers: 0,
      settled: 1,
      excluded: { ring: { payers: 10, calls: 19, volume: 190 } },
    })
    // Those that come later are of the same ring.
    fund(BOSS, address(200))
    await pay(address(200))
    await check()
    expect(await standing()).toMatchObject({ payers: 1, excluded: { ring: { payers: 11 } } })
  })

  it('by wallets that the seller funded, directly or by way of one, counts for nothing', async () => {
    fund(PAYOUT, address(100), address(60))
    fund(address(60), address(101))
    await pay(address(100), address(101), address(102))
    await check()
    expect(await standing()).toMatchObject({ payers: 1, excluded: { funded: { payers: 2 } } })
  })

  it('by an address that was the seller’s before it changed it counts for nothing', async () => {
    await store.noteSellerAddress({ sellerId: 'acme', address: address(100), now: NOW })
    await pay(address(100))
    await check()
    expect(await standing()).toMatchObject({ payers: 0, excluded: { self: { payers: 1 } } })
  })

  it('is not what buyers do whom an exchange, the token itself or a refund of ours gave money', async () => {
    const buyers = times(12, (n) => address(100 + n))
    for (const everybody of [EXCHANGE, address(0), GATEWAY]) fund(everybody, ...buyers)
    await pay(...buyers)
    expect(await check()).toBe(0)
    expect(await standing()).toMatchObject({ payers: 12 })
  })

  it('is not what somebody else makes of a competitor’s buyers with dust', async () => {
    const buyers = times(12, (n) => address(100 + n))
    send(9n, BOSS, ...buyers)
    await pay(...buyers)
    expect(await check()).toBe(0)
    expect(await standing()).toMatchObject({ payers: 12 })
  })

  it('is looked for again when the chain answers', async () => {
    fund(PAYOUT, address(100))
    await pay(address(100))
    isDown = true
    expect(await check()).toBe(0)
    isDown = false
    expect(await check()).toBe(1)
  })
})
