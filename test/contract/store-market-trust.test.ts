// What is counted of each service; on every engine.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ServiceOutcome, ServiceRef, Store } from '../../src/store/ports.ts'
import { saleOf, sell, sold } from '../support/market-money.ts'
import { newSeller, PAYOUT, registration } from '../support/market-sellers.ts'
import { createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

const A_DAY_MS = 24 * 3600 * 1000
const DAY = Math.floor(NOW / A_DAY_MS)
const KEY: ServiceRef = { sellerId: 'acme', serviceId: 'quotes', environment: 'live' }

const paid = (over: Partial<Extract<ServiceOutcome, { kind: 'settled' }>> = {}): ServiceOutcome => ({
  ...KEY,
  kind: 'settled',
  claimId: '',
  at: NOW,
  payer: '0xa',
  amount: 1000,
  latencyMs: 120,
  isSelf: false,
  ...over,
})

describe.each(ENGINES)('figures of services in %s', (engine) => {
  let place: Place
  let store: Store
  beforeEach(async () => {
    place = await createPlace(engine, 'market-trust')
    store = await place.open('boot-1')
  })
  afterEach(() => place.remove())

  const record = async (outcomes: readonly ServiceOutcome[], to = store) =>
    to.recordServiceOutcomes({
      outcomes: await sold(store, 'boot-1', outcomes),
      now: Math.max(...outcomes.map(({ at }) => at)),
    })
  const standing = (key = KEY) => store.findServiceStanding(key)

  it('count calls, payers and payers that came again, in whatever batches they come', async () => {
    await record([paid(), paid({ payer: '0xb' })])
    expect(await standing()).toMatchObject({ settled: 2, volume: 2000, payers: 2, repeatPayers: 0 })
    await record([paid({ at: NOW + 5 })])
    await record([paid({ payer: '0xc' }), paid({ payer: '0xc' }), paid()])
    expect(await standing()).toMatchObject({ settled: 6, volume: 6000, payers: 3, repeatPayers: 2 })
  })

  it('count what the seller pays itself apart from everything else', async () => {
    await record([paid(), ...times(5, () => paid({ payer: '0xself', isSelf: true }))])
    expect(await standing()).toMatchObject({
      settled: 1,
      payers: 1,
      repeatPayers: 0,
      excluded: { self: { payers: 1, calls: 5, volume: 5000 }, funded: { payers: 0 }, ring: { payers: 0 } },
    })
  })

  it('keep live and test money apart', async () => {
    await record([paid(), paid({ environment: 'test', amount: 7 })])
    expect(await standing()).toMatchObject({ settled: 1, volume: 1000 })
    expect(await standing({ ...KEY, environment: 'test' })).toMatchObject({ settled: 1, volume: 7 })
  })

  it('tell the days of a service, with failures by kind, refunds, looks and latencies', async () => {
    await record([
      paid({ latencyMs: 50 }),
      paid({ latencyMs: 51 }),
      paid({ latencyMs: 10_000_000, at: NOW + A_DAY_MS }),
      ...(['unreachable', 'timeout', 'status', 'answer', 'schema', 'schema'] as const).map((kind) => ({
        ...KEY,
        kind,
        at: NOW,
      })),
      { ...KEY, kind: 'refunded', amount: 400, at: NOW },
      { ...KEY, kind: 'up', at: NOW },
      { ...KEY, kind: 'down', at: NOW + 1 },
    ])
    const [first, second] = await store.listServiceDays({ ...KEY, sinceDay: DAY })
    expect(first).toMatchObject({
      day: DAY,
      settled: 2,
      volume: 2000,
      failures: { unreachable: 1, timeout: 1, status: 1, answer: 1, schema: 2 },
      refunds: 1,
      refunded: 400,
      probesUp: 1,
      probesDown: 1,
    })
    expect(first?.latencies.slice(0, 3)).toEqual([1, 1, 0])
    expect(second).toMatchObject({ day: DAY + 1, settled: 1 })
    expect(second?.latencies.at(-1)).toBe(1)
    const [sum, none] = await store.sumServiceDays({
      keys: [KEY, { ...KEY, serviceId: 'other' }],
      sinceDay: DAY,
    })
    expect(sum).toMatchObject({ settled: 3, volume: 3000, failures: { schema: 2 } })
    expect(none).toBeUndefined()
    const [later] = await store.sumServiceDays({ keys: [KEY], sinceDay: DAY + 1 })
    expect(later).toMatchObject({ settled: 1, refunds: 0 })
    expect(await standing()).toMatchObject({ probedAt: NOW + 1 })
  })

  it('lose nothing when many processes count at once', async () => {
    const other = await place.open('boot-2').catch(() => store)
    await Promise.all(
      times(30, (n) =>
        record(
          times(6, (m) =>
            paid({ serviceId: `s${(n + m) % 3}`, payer: `0x${(n * m) % 5}`, at: NOW + n, isSelf: false }),
          ),
          n % 2 === 0 ? store : other,
        ),
      ),
    )
    const all = await Promise.all(times(3, (n) => standing({ ...KEY, serviceId: `s${n}` })))
    expect(all.reduce((sum, one) => sum + (one?.settled ?? 0), 0)).toBe(180)
    const rows = await place.query('SELECT service_id, calls FROM market_payers')
    expect(rows.reduce((sum, { calls }) => sum + Number(calls), 0)).toBe(180)
    for (const [n, one] of all.entries())
      expect(one?.payers).toBe(rows.filter(({ service_id }) => service_id === `s${n}`).length)
  })

  it('list what changed since a moment, page by page', async () => {
    for (const n of times(5, (m) => m))
      await record([paid({ serviceId: `s${n}`, at: NOW + Math.floor(n / 2) })])
    const first = await store.listServiceStandings({ since: NOW, limit: 3 })
    expect(first.map(({ serviceId }) => serviceId)).toEqual(['s0', 's1', 's2'])
    const last = first.at(-1)
    const rest = await store.listServiceStandings({ since: NOW, limit: 3, ...(last && { after: last }) })
    expect(rest.map(({ serviceId }) => serviceId)).toEqual(['s3', 's4'])
    expect(await store.listServiceStandings({ since: NOW + 2, limit: 9 })).toHaveLength(1)
  })

  it('take an excluded payer and its ratings out of what counts, once', async () => {
    await record([
      paid(),
      paid({ payer: '0xb' }),
      paid({ payer: '0xb' }),
      paid({ payer: '0xb', serviceId: 'more' }),
    ])
    const service = { sellerId: 'acme', serviceId: 'quotes' }
    const input = { claimId: 'clm_1', ...service, payer: '0xb', rating: 5, words: 'good', createdAt: NOW }
    expect(await store.addRating(input)).toMatchObject({ isCounted: true })
    expect(await store.addRating({ ...input, rating: 1 })).toBeUndefined()
    expect(await standing()).toMatchObject({ payers: 2, repeatPayers: 1, ratings: 1, ratingSum: 5 })

    const excluding = { sellerId: 'acme', payer: '0xb', exclusion: 'ring', now: NOW + 1 } as const
    expect(await store.excludePayer(excluding)).toBe(2)
    expect(await store.excludePayer(excluding)).toBe(0)
    expect(await standing()).toMatchObject({
      settled: 1,
      volume: 1000,
      payers: 1,
      repeatPayers: 0,
      ratings: 0,
      ratingSum: 0,
      changedAt: NOW + 1,
      excluded: { ring: { payers: 1, calls: 2, volume: 2000 } },
    })
    await record([paid({ payer: '0xb', at: NOW + 2 })])
    expect(await standing()).toMatchObject({ settled: 1, excluded: { ring: { payers: 1, calls: 3 } } })
    expect(await store.addRating({ ...input, claimId: 'clm_2' })).toMatchObject({ isCounted: false })
    expect(await standing()).toMatchObject({ ratings: 0 })
    expect(await store.listRatings({ sellerId: 'acme', serviceId: 'quotes', limit: 9 })).toHaveLength(2)
  })

  it('name payers that nobody has looked up, and those that one wallet funded', async () => {
    await record([
      ...['0xa', '0xb', '0xc'].map((payer) => paid({ payer })),
      paid({ sellerId: 'other', payer: '0xa' }),
    ])
    expect(await store.listUncheckedPayers(9)).toEqual([
      { payer: '0xa', sellerIds: ['acme', 'other'], paid: 2000 },
      { payer: '0xb', sellerIds: ['acme'], paid: 1000 },
      { payer: '0xc', sellerIds: ['acme'], paid: 1000 },
    ])
    const from = (funder: string) => [{ funder, block: 7, transactionHash: '0x1' }]
    await store.noteFunders({ payer: '0xa', funders: from('0xf'), now: NOW })
    await store.noteFunders({ payer: '0xb', funders: from('0xf'), now: NOW })
    expect(await store.listUncheckedPayers(9)).toEqual([{ payer: '0xc', sellerIds: ['acme'], paid: 1000 }])
    expect(await store.listFunders('0xa')).toEqual([{ payer: '0xa', ...from('0xf')[0] }])
    expect(await store.listPayersFundedBy({ funder: '0xf', sellerId: 'acme', limit: 9 })).toEqual([
      '0xa',
      '0xb',
    ])
    expect(await store.listPayersFundedBy({ funder: '0xf', sellerId: 'other', limit: 9 })).toEqual(['0xa'])
    await record([paid({ payer: '0xa', at: NOW + 8 * A_DAY_MS })])
    expect((await store.listUncheckedPayers(9)).map(({ payer }) => payer)).toEqual(['0xa', '0xc'])
  })

  it("keep every address that was ever the seller's, and the score of its own challenge", async () => {
    for (const address of ['0x2', '0x1', '0x2'])
      await store.noteSellerAddress({ sellerId: 'acme', address, now: NOW })
    expect(await store.listSellerAddresses('acme')).toEqual(['0x1', '0x2'])
    await store.noteChallengeScore({ ...KEY, score: 88, now: NOW })
    expect(await standing()).toMatchObject({ challengeScore: 88 })
    await store.noteChallengeScore({ ...KEY, score: null, now: NOW })
    expect(await standing()).toMatchObject({ challengeScore: null })
  })

  it('read what changed of sellers and proofs page by page, and the paid calls of a service with their transactions', async () => {
    for (const [n, id] of ['acme', 'beta'].entries())
      await store.createSeller(
        registration(newSeller(id, { createdAt: NOW + n, updatedAt: NOW + n }), Buffer.alloc(32, n + 1)),
      )
    const sellers = await store.listSellersSince({ updatedAt: 0, limit: 1 })
    expect(sellers.map(({ id }) => id)).toEqual(['acme'])
    const next = await store.listSellersSince({ updatedAt: NOW, after: 'acme', limit: 9 })
    expect(next.map(({ id }) => id)).toEqual(['beta'])

    const host = 'api.example.com'
    await store.claimHost({ sellerId: 'acme', host, challenge: 'c', limit: 2, now: NOW })
    expect(await store.listProofsSince({ checkedAt: 0, limit: 9 })).toEqual([])
    await store.proveHost({
      sellerId: 'acme',
      host,
      method: 'dns',
      signature: { kind: 'eip191', text: '0xab', address: PAYOUT },
      event: { id: 'evt_1', type: 'host.proven', data: {} },
      now: NOW + 1,
    })
    expect(await store.listProofsSince({ checkedAt: 0, limit: 9 })).toMatchObject([
      { sellerId: 'acme', host, method: 'dns', provenAt: NOW + 1, checkedAt: NOW + 1 },
    ])

    const of = { sellerId: 'acme', serviceId: 'weather', network: 'eip155:84532', limit: 9 }
    const claims = [await sell(store, 'boot-1', saleOf('acme')), await sell(store, 'boot-1', saleOf('acme'))]
    await sell(store, 'boot-1', saleOf('beta'))
    const sales = await store.listServiceSales(of)
    expect(sales.map(({ claimId }) => claimId)).toEqual(
      claims
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    )
    expect(sales[0]).toMatchObject({ amount: 1000, route: 'GET /', exclusion: null })
    expect(sales[0]?.transaction).toMatch(/^0x/)
    const [newest] = sales
    expect(await store.listServiceSales({ ...of, before: newest?.claimId ?? '' })).toHaveLength(1)
    expect(await store.listServiceSales({ ...of, network: 'eip155:8453' })).toEqual([])
  })
})
