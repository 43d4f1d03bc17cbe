// Lists that people narrow by what they look for, and the sums that charts are drawn from: of one account, page by page, on every engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { AttemptSearch, Store } from '../../src/store/ports.ts'
import type { Attempt } from '../../src/store/model.ts'
import {
  addAccount,
  addCapability,
  addSetting,
  createPlace,
  ending,
  ENGINES,
  newClaim,
  NOW,
  type Place,
  reservation,
  type Setting,
  settling,
  submission,
  times,
} from '../support/store.ts'
import { addMember, newConnection, termsOn } from '../support/connections.ts'
import { edgeCall } from '../support/store-actions.ts'

const BOOT = 'boot-1'
const DAY = 86_400_000

describe.each(ENGINES)('searches in %s', (engine) => {
  let place: Place
  let store: Store
  let setting: Setting
  beforeAll(async () => {
    place = await createPlace(engine, 'searches')
    store = await place.open(BOOT)
    setting = await addSetting(store, 10_000)
  })
  afterAll(() => place.remove())

  /** An attempt of its own millisecond, so that their order is known. */
  async function reserve(over: Partial<Attempt> = {}, of = setting): Promise<Attempt> {
    const at = over.createdAt ?? NOW + ++ticks
    const input = reservation(of, BOOT, { id: newId('att', at), createdAt: at, ...over })
    expect(await store.reserveAttempt(input)).toMatchObject({ ok: true })
    return input.attempt
  }
  let ticks = 0
  const find = async (filter: Partial<AttemptSearch>, limit = 100) => {
    const { items } = await store.searchAttempts({ accountId: setting.accountId, ...filter }, { limit })
    return items.map(({ id }) => id)
  }

  it('finds attempts by each fact and by several, newest first, and nobody else’s', async () => {
    const stranger = await addSetting(store, 10)
    await reserve({}, stranger)
    const child = await addCapability(store, setting.credential, {
      parentId: setting.capability.id,
      rootId: setting.capability.id,
    })
    const plain = await reserve()
    const other = await reserve({ host: 'other.example.com', method: 'GET' })
    const below = await reserve({ capabilityId: child.id }, { ...setting, capability: child })
    const edge = edgeCall(setting.accountId, BOOT, {
      id: newId('att', NOW + ++ticks),
      createdAt: NOW + ticks,
    })
    await store.reserveEdgeCall(edge)
    for (const { id } of [plain, below]) await store.markSending({ id, bootId: BOOT, now: NOW })
    await store.finishAttempt(ending(plain, BOOT))
    await store.finishAttempt(ending(below, BOOT, 'ambiguous'))
    await store.refundAttempt({
      id: other.id,
      bootId: BOOT,
      outcome: 'dns_refused',
      transactionId: newId('txn', NOW),
      now: NOW,
    })

    expect(await find({})).toEqual([edge.attempt.id, below.id, other.id, plain.id])
    expect(await find({ state: 'settled' })).toEqual([plain.id])
    expect(await find({ state: 'ambiguous' })).toEqual([below.id])
    expect(await find({ state: 'refunded' })).toEqual([other.id])
    expect(await find({ state: 'reserved' })).toEqual([edge.attempt.id])
    expect(await find({ kind: 'edge' })).toEqual([edge.attempt.id])
    expect(await find({ host: 'other.example.com' })).toEqual([other.id])
    expect(await find({ method: 'GET', kind: 'fetch' })).toEqual([other.id])
    expect(await find({ credentialId: setting.credential.id })).toEqual([below.id, other.id, plain.id])
    expect(await find({ capabilityId: child.id })).toEqual([below.id])
    expect(await find({ capabilityId: child.id, state: 'settled' })).toEqual([])
    expect(await find({ belowCapabilityId: setting.capability.id })).toEqual([below.id, other.id, plain.id])
    expect(await find({ belowCapabilityId: child.id })).toEqual([below.id])
    expect(await find({ since: other.createdAt, until: edge.attempt.createdAt })).toEqual([
      below.id,
      other.id,
    ])
    expect(await find({ capabilityId: stranger.capability.id })).toEqual([])
    expect(await find({ belowCapabilityId: stranger.capability.id })).toEqual([])
  })

  it('looks at so many attempts at once, and goes on from there', async () => {
    const own = await addSetting(store, 1000)
    const made: Attempt[] = []
    for (const i of times(30, (i) => i))
      made.push(await reserve({ host: i % 10 === 0 ? 'rare.example.com' : 'api.example.com' }, own))
    const pages: string[][] = []
    let before: string | undefined
    do {
      const page = await store.searchAttempts(
        { accountId: own.accountId, host: 'rare.example.com' },
        { limit: 2, before, lookAt: 8 },
      )
      pages.push(page.items.map(({ id }) => id))
      before = page.next ?? undefined
    } while (before !== undefined)
    const rare = made.filter(({ host }) => host === 'rare.example.com').map(({ id }) => id)
    expect(pages.flat()).toEqual(rare.toReversed())
    expect(pages).toHaveLength(4)
    // Nothing is left out where all fit, and where nothing is asked for nothing is looked through.
    const all = await store.searchAttempts({ accountId: own.accountId }, { limit: 30, lookAt: 3 })
    expect([all.items.length, all.next]).toEqual([30, null])
  })

  it('finds payments by each fact, and adds up what settled by day, price and payer', async () => {
    const start = Math.floor(NOW / DAY) * DAY + 40 * DAY
    const payer = `0x${'a1'.repeat(20)}`
    const pay = async (at: number, over: Parameters<typeof newClaim>[0] = {}, isPaid = true) => {
      const claim = newClaim({ id: newId('clm', at), createdAt: at, payer, ...over })
      await store.claimPayment({ claim, bootId: BOOT })
      if (!isPaid) return claim.id
      await store.submitClaim(submission(claim.id, BOOT))
      await store.settleClaim({ ...settling(claim.id), now: at })
      return claim.id
    }
    const one = await pay(start + 1)
    const two = await pay(start + 2)
    const dear = await pay(start + 3, {
      amount: '123456789012345678901234567890',
      tool: 'gateway.pages.read',
    })
    const payTo = `0x${'c3'.repeat(20)}`
    const settle = await pay(start + 4, { origin: 'settle', tool: 'settle', network: 'eip155:8453', payTo })
    const next = await pay(start + DAY, { payer: `0x${'b2'.repeat(20)}` })
    const open = await pay(start + DAY + 1, {}, false)
    const search = async (filter: Parameters<Store['searchClaims']>[0]) =>
      (await store.searchClaims(filter, { limit: 100 })).items.map(({ id }) => id)
    expect(await search({ since: start })).toEqual([open, next, settle, dear, two, one])
    expect(await search({ since: start, state: 'claimed' })).toEqual([open])
    expect(await search({ origin: 'settle' })).toEqual([settle])
    expect(await search({ network: 'eip155:8453' })).toEqual([settle])
    expect(await search({ tool: 'gateway.pages.read' })).toEqual([dear])
    expect(await search({ payer, state: 'settled', until: start + 3 })).toEqual([two, one])
    expect(
      await search({ since: start, payTo: payTo.toUpperCase().replace('0X', '0x'), origin: 'settle' }),
    ).toEqual([settle])
    expect(await search({ since: start, payTo: '0xelse' })).toEqual([])
    expect(await search({ resource: 'https://nobody.example/' })).toEqual([])
    expect(await search({ since: start, minAmount: '1001' })).toEqual([dear])
    expect(await search({ since: start, minAmount: '1000', maxAmount: '99999' })).toEqual([
      open,
      next,
      settle,
      two,
      one,
    ])
    expect(await search({ since: start, maxAmount: '999' })).toEqual([])
    const failed = await pay(start + DAY + 2, {}, false)
    await store.submitClaim(submission(failed, BOOT))
    await store.moveClaim({ id: failed, to: 'failed', reason: 'x', transaction: null, now: start + DAY + 2 })
    expect(await search({ since: start, state: 'failed' })).toEqual([failed])
    expect(await search({ since: start, state: 'failed', payer, tool: 'gateway.web.fetch' })).toEqual([
      failed,
    ])
    expect(await search({ since: start, state: 'failed', payer: `0x${'b2'.repeat(20)}` })).toEqual([])
    const revenue = await store.sumRevenue(start, start + DAY)
    expect(revenue.settled.toSorted((a, b) => a.amount.length - b.amount.length)).toEqual([
      {
        network: 'eip155:84532',
        asset: newClaim().asset,
        tool: 'gateway.web.fetch',
        amount: '1000',
        count: 2,
      },
      {
        network: 'eip155:84532',
        asset: newClaim().asset,
        tool: 'gateway.pages.read',
        amount: '123456789012345678901234567890',
        count: 1,
      },
    ])
    expect(revenue.refunded).toEqual([])
    const day = start / DAY
    const common = { network: 'eip155:84532', asset: newClaim().asset }
    const sums = await store.sumClaims(start, start + 2 * DAY)
    expect(sums.toSorted((a, b) => a.day - b.day || a.amount.length - b.amount.length)).toEqual([
      { ...common, day, tool: 'gateway.web.fetch', payer, amount: '1000', count: 2 },
      {
        ...common,
        day,
        tool: 'gateway.pages.read',
        payer,
        amount: '123456789012345678901234567890',
        count: 1,
      },
      {
        ...common,
        day: day + 1,
        tool: 'gateway.web.fetch',
        payer: `0x${'b2'.repeat(20)}`,
        amount: '1000',
        count: 1,
      },
    ])
    expect(await store.sumRefunds(start, start + 2 * DAY)).toEqual([])
  })

  it('finds movements of credits by kind, and adds them up by day', async () => {
    const accountId = await addAccount(store, 0)
    const start = Math.floor(NOW / DAY) * DAY + 10 * DAY
    const move = (amount: number, at: number, reference: string) =>
      store.grant({ accountId, amount, reference, transactionId: newId('txn', at), now: at })
    await move(5, start, 'one')
    await move(7, start + 5, 'two')
    await move(11, start + DAY, 'three')
    const attempt = edgeCall(accountId, BOOT)
    await store.reserveEdgeCall({
      ...attempt,
      transactionId: newId('txn', start + DAY + 3),
      now: start + DAY + 3,
    })
    const amounts = async (filter: Omit<Parameters<Store['searchLedger']>[0], 'accountId'>) =>
      (await store.searchLedger({ accountId, ...filter }, { limit: 10 })).items.map(({ amount }) => amount)
    expect(await amounts({})).toEqual([-1, 11, 7, 5])
    expect(await amounts({ kind: 'grant' })).toEqual([11, 7, 5])
    expect(await amounts({ since: start + 5, until: start + DAY })).toEqual([7])
    const day = start / DAY
    expect(await store.sumLedger({ accountId, since: start, until: start + 2 * DAY })).toEqual([
      { day, kind: 'grant', added: 12, taken: 0, count: 2 },
      { day: day + 1, kind: 'edge', added: 0, taken: 1, count: 1 },
      { day: day + 1, kind: 'grant', added: 11, taken: 0, count: 1 },
    ])
  })

  it('lists tasks of an account and of whoever holds a capability of it, and of nobody else', async () => {
    const own = await addSetting(store, 1)
    const stranger = await addSetting(store, 1)
    const save = async (owner: string | null, updatedAt: number, state = 'TASK_STATE_COMPLETED') => {
      const id = newId('task', NOW)
      await store.saveTask({
        id,
        contextId: 'ctx',
        owner,
        state,
        revision: 1,
        json: '{}',
        updatedAt,
        expiresAt: NOW + DAY,
      })
      return id
    }
    const mine = await save(own.accountId, NOW + 1)
    const agents = await save(own.capability.id, NOW + 2, 'TASK_STATE_WORKING')
    const older = await save(own.capability.id, NOW)
    const others = await save(stranger.capability.id, NOW + 3)
    const nobodys = await save(null, NOW + 4)
    const { accountId } = own
    const list = (filter: { state?: string } = {}, page = { limit: 10 }) =>
      store.listTasksOfAccount({ accountId, ...filter }, page)
    expect((await list()).items.map(({ id }) => id)).toEqual([agents, mine, older])
    expect((await list({ state: 'TASK_STATE_WORKING' })).items.map(({ id }) => id)).toEqual([agents])
    const first = await list({}, { limit: 2 })
    expect(first.items.map(({ id }) => id)).toEqual([agents, mine])
    const second = await store.listTasksOfAccount({ accountId }, { limit: 2, before: first.next ?? '' })
    expect([second.items.map(({ id }) => id), second.next]).toEqual([[older], null])
    expect(await store.getTaskOfAccount(agents, accountId)).toMatchObject({
      id: agents,
      owner: own.capability.id,
    })
    for (const id of [others, nobodys, 'task_none'])
      expect(await store.getTaskOfAccount(id, accountId)).toBeUndefined()
  })

  it('knows the assistant that a capability is of, for its account alone', async () => {
    const own = await addSetting(store, 1)
    const { accountId } = own
    const connection = newConnection(accountId, await addMember(store, accountId))
    await store.openConnection({ connection, terms: termsOn([own.credential]) })
    const [part] = await store.findParts(connection.capabilityId)
    const named = { id: connection.id, clientName: connection.clientName }
    for (const id of [connection.capabilityId, part?.id ?? ''])
      expect(await store.findConnectionOfCapability(id, accountId)).toEqual(named)
    expect(await store.findConnectionOfCapability(connection.capabilityId, 'acct_other')).toBeUndefined()
    expect(await store.findConnectionOfCapability(own.capability.id, accountId)).toBeUndefined()
  })

  it('names the block of a payment where a chain showed it', async () => {
    const block = { number: 17, hash: `0x${'1b'.repeat(32)}` }
    const ids = []
    for (const shown of [block, undefined]) {
      const claim = newClaim()
      await store.claimPayment({ claim, bootId: BOOT })
      await store.submitClaim(submission(claim.id, BOOT))
      await store.settleClaim({ ...settling(claim.id), block: shown })
      ids.push(claim.id)
    }
    expect(await Promise.all(ids.map((id) => store.getClaimBlock(id)))).toEqual([block, undefined])
  })

  it('lists the hosts that an account asked to serve', async () => {
    const accountId = await addAccount(store, 0)
    await store.saveEdgeHost({ token: `t1-${accountId}`, host: 'shop.example.com', accountId, now: NOW })
    await store.saveEdgeHost({ token: `t2-${accountId}`, host: 'api.example.com', accountId, now: NOW + 1 })
    await store
      .saveEdgeHost({ token: `t3-${accountId}`, host: 'other.example.com', accountId: 'acct_none', now: NOW })
      .catch(() => {})
    expect(await store.listEdgeHosts(accountId)).toEqual([
      { host: 'api.example.com', createdAt: NOW + 1 },
      { host: 'shop.example.com', createdAt: NOW },
    ])
  })
})
