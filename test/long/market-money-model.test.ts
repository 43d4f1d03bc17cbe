// Random calls, failures, refunds, price changes, payouts, crashes and reorganisations: at every moment the ledger sums to zero and
// balances are their entries; when all is quiet, every account on the chain holds what the ledger says.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import { newId } from '../../src/lib/ids.ts'
import { createLogger } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import { startTestChain } from '../support/chain.ts'
import { marketLedgerFaults } from '../support/market-money.ts'
import { addressOf, NETWORK, openMarketWorld } from '../support/market-world.ts'
import { ModelChain, type Mood } from '../support/model-chain.ts'
import { createPlace, ENGINES, type Place, receiptFor } from '../support/store.ts'

const MINUTE = 60_000
const FLOAT = 3_000n
const SELLERS = 3
type World = Awaited<ReturnType<typeof openMarketWorld>>

type Step =
  | { do: 'sell'; seller: number; isDelivered: boolean }
  | { do: 'price'; price: number; bps: number }
  | { do: 'policy'; returnsFee: boolean }
  | { do: 'refund'; which: number; part: number; bySeller: boolean }
  | { do: 'pay' | 'crash' | 'round' | 'race' }
  | { do: 'mood'; moods: Mood[] }
  | { do: 'wait'; minutes: number }
  | { do: 'mempool'; isMined: boolean }
  | { do: 'reorg'; blocks: number; comesBack: boolean }

const seller = fc.nat(SELLERS - 1)
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('sell' as const), seller, isDelivered: fc.boolean() }),
  },
  fc.record({
    do: fc.constant('price' as const),
    price: fc.integer({ min: 1, max: 3000 }),
    bps: fc.nat(10_000),
  }),
  fc.record({ do: fc.constant('policy' as const), returnsFee: fc.boolean() }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      which: fc.nat(20),
      part: fc.integer({ min: 1, max: 4 }),
      bySeller: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('pay' as const, 'crash' as const, 'round' as const, 'race' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('mood' as const),
      moods: fc.array(fc.constantFrom<Mood>('ok', 'lost', 'pending', 'refused', 'crash'), { maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 5, 32) }),
  },
  fc.record({ do: fc.constant('mempool' as const), isMined: fc.boolean() }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reorg' as const),
      blocks: fc.integer({ min: 1, max: 4 }),
      comesBack: fc.boolean(),
    }),
  },
)

/** What is refused is refused in words; anything else is a fault. */
async function allowed(work: Promise<unknown>): Promise<void> {
  await work.catch((thrown: unknown) => {
    if (!(thrown instanceof GatewayError) || thrown.code === 'internal') throw thrown
  })
}

const sumOf = (rows: readonly Record<string, unknown>[]) => BigInt(String(rows[0]?.['sum'] ?? 0))

/** Every account on the chain holds what the ledger says. */
async function agree(
  place: Place,
  world: World,
  sellers: readonly string[],
  balanceOf: (address: string) => Promise<bigint>,
  float: bigint,
) {
  const [cash] = await world.store().marketBalancesOf('cash')
  expect(await balanceOf(world.treasury)).toBe(float - BigInt(cash?.balance ?? 0))
  for (const id of sellers) {
    const paid = await place.query(
      `SELECT COALESCE(sum(amount), 0) AS sum FROM market_payouts WHERE state = 'settled' AND seller_id = '${id}'`,
    )
    expect(await balanceOf(addressOf(id))).toBe(sumOf(paid))
  }
  for (const { payer } of world.sold) {
    const back = await place.query(
      `SELECT COALESCE(sum(CAST(amount AS BIGINT)), 0) AS sum FROM refunds WHERE state = 'settled' AND payer = '${payer}'`,
    )
    expect(await balanceOf(payer)).toBe(sumOf(back))
  }
}

const openRows = (place: Place) =>
  place.query(`SELECT id FROM market_payouts WHERE state IN ('recorded', 'submitted')
    UNION ALL SELECT id FROM refunds WHERE state IN ('recorded', 'submitted')`)

describe.each(ENGINES)('money of the market in %s', (engine) => {
  let place: Place
  let runs = 0
  beforeAll(async () => void (place = await createPlace(engine, 'market-model')))
  afterAll(() => place.remove())

  it('is neither made nor lost over a model of a chain, whatever happens in which order', async () => {
    const clock = { at: Date.UTC(2026, 5, 1) }
    const model = new ModelChain(NETWORK, () => clock.at)
    const world = await openMarketWorld(place, {
      chain: model.chain(),
      upstream: model.upstream(),
      pay: async (to, value) => model.mint(to, value),
      now: () => clock.at,
    })
    model.mint(world.treasury, FLOAT)
    clock.at += 60 * MINUTE
    const everybody: string[] = []

    async function takeBack(gone: readonly string[], comesBack: boolean): Promise<void> {
      for (const sale of world.sold.splice(0)) {
        if (!gone.includes(sale.transaction)) {
          world.sold.push(sale)
          continue
        }
        const store = world.store()
        const claim = await store.getClaim(sale.claimId)
        const receiptId = claim?.receiptId ?? ''
        await store.reopenClaim({ id: sale.claimId, receiptId, now: clock.at })
        if (comesBack) {
          const transaction = model.mint(world.treasury, sale.amount)
          const receipt = receiptFor('')
          await store.resettleClaim({
            id: sale.claimId,
            receiptId,
            receipt,
            transaction,
            block: undefined,
            now: clock.at,
          })
          world.sold.push({ ...sale, transaction })
        } else {
          await store.reverseClaim({ id: sale.claimId, reason: 'reorganised', now: clock.at })
          // Its refunds are looked at in the end all the same.
          world.sold.push({ ...sale, transaction: 'gone' })
        }
      }
    }

    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (sequence) => {
        const sellers = Array.from({ length: SELLERS }, (_, i) => `m${++runs}-${i}`)
        everybody.push(...sellers)
        let [price, bps] = [1000, 300]
        for (const step of sequence) {
          switch (step.do) {
            case 'sell':
              await world.sell(sellers[step.seller] ?? '', BigInt(price), bps, step.isDelivered)
              break
            case 'price':
              ;({ price, bps } = step)
              break
            case 'policy':
              world.setReturnsFee(step.returnsFee)
              break
            case 'refund': {
              const sale = world.sold.at(-1 - step.which)
              if (!sale) break
              const part = (sale.amount * BigInt(step.part)) / 4n
              await allowed(
                world.refund(sale.claimId, part > 0n ? part : 1n, step.bySeller ? sale.sellerId : undefined),
              )
              break
            }
            case 'pay':
              await world.payOut()
              break
            case 'race':
              await Promise.all([world.payOut(), world.round(), world.payOut(), world.round()])
              break
            case 'crash':
              await world.crash()
              break
            case 'round':
              await world.round()
              break
            case 'mood':
              model.moods = [...step.moods]
              break
            case 'wait':
              clock.at += step.minutes * MINUTE
              break
            case 'mempool':
              model.empty(step.isMined)
              break
            case 'reorg':
              await takeBack(model.reorg(step.blocks), step.comesBack)
              break
          }
          expect(await marketLedgerFaults(place)).toEqual([])
        }
        model.moods = []
        model.empty(true)
        for (let i = 0; i < 4; i++) {
          await world.round()
          clock.at += 32 * MINUTE
        }
        await world.round()
        expect(await openRows(place)).toEqual([])
        expect(await marketLedgerFaults(place)).toEqual([])
        await agree(place, world, everybody, async (address) => model.balanceOf(address), FLOAT)
      }),
      { numRuns: engine === 'sqlite' ? 60 : 25 },
    )
  }, 1_200_000)

  it('is neither made nor lost over a real token on a development chain', async () => {
    const chain = await startTestChain(8453)
    const network = { network: NETWORK, rpcUrl: async () => chain.rpcUrl, now: Date.now }
    const log = createLogger('silent')
    const own = await createPlace(engine, 'market-real')
    const node = createChain({ ...network, now: Date.now })
    const upstream = createLocalUpstream({
      chains: [network],
      settlerKeys: async () => chain.settlerKeys.map((key) => new Secret<string>(key)),
      fault: noFault,
      now: Date.now,
      log,
    })
    try {
      const world = await openMarketWorld(own, {
        chain: node,
        upstream,
        pay: async (to, value) => {
          await chain.fund(to, value)
          return newId('txn')
        },
        now: Date.now,
      })
      await chain.fund(world.treasury, FLOAT)
      const everybody: string[] = []
      const real = steps.filter((step) => !['mood', 'wait', 'mempool', 'reorg'].includes(step.do))
      await fc.assert(
        fc.asyncProperty(fc.array(real, { minLength: 10, maxLength: 25 }), async (sequence) => {
          const sellers = Array.from({ length: SELLERS }, (_, i) => `r${++runs}-${i}`)
          everybody.push(...sellers)
          let [price, bps] = [1000, 300]
          for (const step of sequence) {
            if (step.do === 'sell')
              await world.sell(sellers[step.seller] ?? '', BigInt(price), bps, step.isDelivered)
            else if (step.do === 'price') ({ price, bps } = step)
            else if (step.do === 'policy') world.setReturnsFee(step.returnsFee)
            else if (step.do === 'refund') {
              const sale = world.sold.at(-1 - step.which)
              const part = sale ? (sale.amount * BigInt(step.part)) / 4n : 0n
              if (sale && part > 0n)
                await allowed(world.refund(sale.claimId, part, step.bySeller ? sale.sellerId : undefined))
            } else if (step.do === 'pay') await world.payOut()
            else if (step.do === 'race') await Promise.all([world.payOut(), world.round(), world.payOut()])
            else if (step.do === 'crash') await world.crash()
            else await world.round()
            expect(await marketLedgerFaults(own)).toEqual([])
          }
          await world.round()
          await world.payOut()
          expect(await openRows(own)).toEqual([])
          await agree(own, world, everybody, chain.usdcOf, FLOAT)
        }),
        { numRuns: 3, endOnFailure: true },
      )
    } finally {
      await own.remove()
      await upstream.close()
      await node.close()
      await chain.close()
    }
  }, 1_200_000)
})
