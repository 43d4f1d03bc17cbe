// Spend windows on every engine: what counts, what is over, what rolls out, and that no race lets more through.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SpendPeriod } from '../../schemas/commerce.ts'
import type { SpendInput, Store } from '../../src/store/ports.ts'
import { createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe.each(ENGINES)('spend windows in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'spend_windows')
    store = await place.open()
  })
  afterAll(() => place.remove())

  type Given = Partial<Omit<SpendInput, 'payment'>> & { payment?: Partial<SpendInput['payment']> }
  /** An account of its own: payments of `amount` against an hour of 100, unless said otherwise. */
  function account(max = '100', period: SpendPeriod = 'hour') {
    const accountId = `acct_${randomUUID()}`
    const windows = [{ scope: `${accountId} all`, period, per: 'all' as const, max }]
    const input = (amount: string, { payment, ...given }: Given = {}): SpendInput => ({
      accountId,
      now: NOW,
      counts: [{ scope: `${accountId} all`, amount }],
      windows,
      maxCounted: 1000,
      ...given,
      payment: { id: randomUUID(), content: 'c', keptMs: DAY, ...payment },
    })
    return {
      accountId,
      input,
      count: (amount: string, given?: Given) => store.countSpend(input(amount, given)),
      judge: (amount: string, given?: Given) => store.judgeSpend(input(amount, given)),
    }
  }
  const spentOf = ({ windows }: { windows: readonly { spent: string }[] }) =>
    windows.map(({ spent }) => spent)

  it('let a payment through up to the cap and not one unit over; what is over counts nothing', async () => {
    const { count, judge } = account()
    expect(await judge('100')).toMatchObject({ outcome: 'fits', windows: [{ spent: '0', freesAt: null }] })
    expect(await judge('101')).toMatchObject({ outcome: 'over', windows: [{ isOver: true, freesAt: null }] })
    expect(await count('60')).toMatchObject({ outcome: 'counted', countedAt: NOW })
    expect(await count('41')).toMatchObject({ outcome: 'over', countedAt: null, windows: [{ spent: '60' }] })
    expect(await judge('41')).toMatchObject({ outcome: 'over', windows: [{ spent: '60' }] })
    expect(await count('40')).toMatchObject({
      outcome: 'counted',
      windows: [{ spent: '100', isOver: false }],
    })
    expect(await count('1')).toMatchObject({ outcome: 'over' })
    expect(await count('0')).toMatchObject({ outcome: 'counted' })
  })

  it.each([
    ['64 payments at once', 64, '10', 10],
    ['64 payments at once that each take all', 64, '100', 1],
  ])('hold %s, and exactly as many pass as the cap has room for', async (_what, n, amount, passing) => {
    const other = engine === 'postgres' ? await place.open() : store
    const { input, judge } = account()
    const bystander = account()
    const results = await Promise.all(
      times(n, (i) => (i % 2 === 0 ? store : other).countSpend(input(amount))),
    )
    expect(results.filter(({ outcome }) => outcome === 'counted')).toHaveLength(passing)
    expect(results.filter(({ outcome }) => outcome === 'over')).toHaveLength(n - passing)
    expect(spentOf(await judge('0'))).toEqual(['100'])
    expect(await bystander.count('100')).toMatchObject({ outcome: 'counted' })
    if (other !== store) await other.close()
  })

  it('count one payment once, however often and from wherever it comes', async () => {
    const { count, judge, input } = account()
    const same: Given = { payment: { id: randomUUID() } }
    const results = await Promise.all(times(32, () => store.countSpend(input('60', same))))
    expect(results.filter(({ outcome }) => outcome === 'counted')).toHaveLength(1)
    expect(results.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(31)
    expect(await judge('60', same)).toMatchObject({
      outcome: 'repeated',
      countedAt: NOW,
      windows: [{ spent: '60' }],
    })
    expect(await count('60', { ...same, now: NOW + 5 })).toMatchObject({
      outcome: 'repeated',
      countedAt: NOW,
    })
  })

  it('know a payment whose content is another, and count nothing of it', async () => {
    const { count, judge } = account()
    const id = randomUUID()
    await count('10', { payment: { id } })
    const other: Given = { payment: { id, content: 'another' } }
    expect(await judge('10', other)).toMatchObject({ outcome: 'replayed', windows: [{ spent: '10' }] })
    expect(await count('10', other)).toMatchObject({ outcome: 'replayed', countedAt: null })
    expect(await judge('0')).toMatchObject({ windows: [{ spent: '10' }] })
  })

  it('forget who a payment is when the time of its id is over: then it is another', async () => {
    const { count } = account()
    const same = (now: number): Given => ({ now, payment: { id: 'k', keptMs: HOUR } })
    expect(await count('10', same(NOW))).toMatchObject({ outcome: 'counted' })
    expect(await count('10', same(NOW + HOUR - 1))).toMatchObject({ outcome: 'repeated' })
    expect(await count('10', same(NOW + HOUR))).toMatchObject({ outcome: 'counted', countedAt: NOW + HOUR })
  })

  it('know a payment under an id whose time was over by the content that it has now', async () => {
    const { count, judge } = account()
    const id = randomUUID()
    await count('10', { payment: { id } })
    const later = (content: string): Given => ({ payment: { id, content }, now: NOW + DAY })
    expect(await count('10', later('another'))).toMatchObject({ outcome: 'counted' })
    expect(await judge('10', later('another'))).toMatchObject({ outcome: 'repeated' })
    expect(await judge('10', later('c'))).toMatchObject({ outcome: 'replayed' })
  })

  it('roll: an amount leaves a window length after it came, to the millisecond', async () => {
    const { count, judge } = account()
    await count('60')
    await count('40', { now: NOW + 10 * MINUTE })
    expect(await judge('1', { now: NOW + HOUR - 1 })).toMatchObject({
      outcome: 'over',
      windows: [{ freesAt: NOW + HOUR }],
    })
    expect(await judge('60', { now: NOW + HOUR })).toMatchObject({
      outcome: 'fits',
      windows: [{ spent: '40', freesAt: NOW + HOUR + 10 * MINUTE }],
    })
    expect(await judge('61', { now: NOW + HOUR })).toMatchObject({
      outcome: 'over',
      windows: [{ freesAt: NOW + HOUR + 10 * MINUTE }],
    })
    expect(spentOf(await judge('0', { now: NOW + 2 * HOUR }))).toEqual(['0'])
  })

  it('never let more than the cap through in any stretch of that length, whatever comes when', async () => {
    const { count } = account()
    const passed: { at: number; amount: number }[] = []
    let [at, seed] = [NOW, 7]
    for (let i = 0; i < 120; i++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      at += seed % (9 * MINUTE)
      const amount = 1 + (seed % 40)
      if ((await count(String(amount), { now: at })).outcome === 'counted') passed.push({ at, amount })
    }
    expect(passed.length).toBeGreaterThan(30)
    const most = Math.max(
      ...passed.map(({ at: end }) =>
        passed.reduce((sum, one) => sum + (one.at <= end && one.at > end - HOUR ? one.amount : 0), 0),
      ),
    )
    expect(most).toBeLessThanOrEqual(100)
    expect(most).toBeGreaterThan(80)
  })

  it('hold where a clock is behind or jumps ahead', async () => {
    const { count, judge } = account()
    await count('60', { now: NOW + 30 * MINUTE })
    expect(await count('41', { now: NOW })).toMatchObject({ outcome: 'over' })
    expect(await count('40', { now: NOW })).toMatchObject({ outcome: 'counted' })
    // The row that came with the older clock stands where the newest stood.
    expect(spentOf(await judge('0', { now: NOW + HOUR + 10 * MINUTE }))).toEqual(['100'])
    expect(spentOf(await judge('0', { now: NOW + 31 * MINUTE }))).toEqual(['100'])
  })

  it('are held all together: what one refuses counts on none', async () => {
    const { accountId, judge, count } = account()
    const scopes = [`${accountId} all`, `${accountId} payee`, `${accountId} mandate`]
    const [all, payee, mandate] = scopes as [string, string, string]
    const counts = [all, payee].map((scope) => ({ scope, amount: '30' }))
    const windows = [
      { scope: all, period: 'day' as const, per: 'all' as const, max: '100' },
      { scope: payee, period: 'hour' as const, per: 'counterparty' as const, max: '50' },
      { scope: mandate, period: 'hour' as const, per: 'mandate' as const, max: '1' },
    ]
    expect(await count('30', { counts, windows })).toMatchObject({ outcome: 'counted' })
    const refused = await count('30', { counts, windows })
    expect(refused.outcome).toBe('over')
    expect(refused.windows.map(({ isOver, spent }) => [isOver, spent])).toEqual([
      [false, '30'],
      [true, '30'],
      [false, '0'],
    ])
    expect(spentOf(await judge('0', { windows }))).toEqual(['30', '30', '0'])
    // An hour later the payee's hour is free, and the day still holds the first.
    expect(await count('30', { counts, windows, now: NOW + HOUR })).toMatchObject({ outcome: 'counted' })
    expect(spentOf(await judge('0', { windows, now: NOW + HOUR }))).toEqual(['60', '30', '0'])
  })

  it('see what was counted before they were written', async () => {
    const { count, judge } = account()
    await count('60', { windows: [] })
    expect(await judge('41')).toMatchObject({ outcome: 'over', windows: [{ spent: '60' }] })
  })

  it('count amounts that no number holds, exactly', async () => {
    const most = '9'.repeat(78)
    const { count, judge } = account(most)
    expect(await count(String(BigInt(most) - 1n))).toMatchObject({ outcome: 'counted' })
    expect(await judge('2')).toMatchObject({ outcome: 'over' })
    expect(await count('1')).toMatchObject({ outcome: 'counted', windows: [{ spent: most }] })
  })

  it('count of a stream what was not counted of it, and nothing of a whole that is smaller', async () => {
    const { count } = account()
    const upTo = (whole: string): Given => ({ payment: { id: 'channel', upTo: whole } })
    expect(await count('10', upTo('10'))).toMatchObject({ outcome: 'counted', windows: [{ spent: '10' }] })
    expect(await count('70', upTo('70'))).toMatchObject({ outcome: 'counted', windows: [{ spent: '70' }] })
    expect(await count('70', upTo('70'))).toMatchObject({ outcome: 'repeated', windows: [{ spent: '70' }] })
    expect(await count('50', upTo('50'))).toMatchObject({ outcome: 'repeated', windows: [{ spent: '70' }] })
    expect(await count('101', upTo('101'))).toMatchObject({ outcome: 'over', windows: [{ spent: '70' }] })
  })

  it('keep few rows of a stream that grows with every call, and let no more of it through', async () => {
    const { accountId, count, judge } = account('1000')
    const at = (ms: number, whole: number): Given => ({
      now: NOW + ms,
      payment: { id: `${accountId} channel`, upTo: String(whole) },
    })
    // Five calls a second for a minute.
    for (let i = 1; i <= 300; i++) expect((await count('1', at(i * 200, i))).outcome).toBe('counted')
    const rows = await place.query(`SELECT total FROM spend_totals WHERE scope = '${accountId} all'`)
    expect(rows.length).toBeLessThanOrEqual(7)
    const spentAt = async (ms: number) => Number(spentOf(await judge('0', { now: NOW + ms }))[0])
    expect(await spentAt(60_000)).toBe(300)
    // Each amount leaves when it is an hour old or at most ten seconds later, never before.
    for (const later of [1000, 15_000, 30_100, 59_900]) {
      const young = 300 - Math.floor(later / 200)
      expect(await spentAt(HOUR + later)).toBeGreaterThanOrEqual(young)
      expect(await spentAt(HOUR + later)).toBeLessThanOrEqual(Math.min(300, young + 50))
    }
    expect(await spentAt(HOUR + 60_000)).toBe(0)
    expect(await count('700', { now: NOW + 60_000 })).toMatchObject({ outcome: 'counted' })
    expect(await count('1', { now: NOW + 60_000 })).toMatchObject({ outcome: 'over' })
  })

  it('keep so many payments of an account: older ones than a day give way, younger ones do not', async () => {
    const { accountId, count } = account('1000')
    const few = (now: number): Given => ({ now, maxCounted: 3 })
    for (let i = 0; i < 3; i++) expect((await count('1', few(NOW))).outcome).toBe('counted')
    expect(await count('1', few(NOW))).toMatchObject({ outcome: 'full', countedAt: null })
    expect(await count('1', few(NOW + DAY))).toMatchObject({ outcome: 'counted' })
    const rows = await place.query(
      `SELECT counted, (SELECT count(*) FROM spend_counted c WHERE c.account_id = a.account_id) AS n
       FROM spend_accounts a WHERE account_id = '${accountId}'`,
    )
    expect(rows.map(({ counted, n }) => [Number(counted), Number(n)])).toEqual([[1, 1]])
  })

  it('are swept: totals when no window reaches them, payments after 30 days', async () => {
    const { accountId, count, judge } = account('100', 'day')
    const rows = async (table: string, column: string) =>
      (await place.query(`SELECT 1 AS one FROM ${table} WHERE ${column} LIKE '${accountId}%'`)).length
    await count('60', { payment: { id: 'once', keptMs: 30 * DAY } })
    await store.sweep(NOW + DAY - 1)
    expect(spentOf(await judge('0', { now: NOW + DAY - 1 }))).toEqual(['60'])
    await count('40', { now: NOW + 3 * DAY })
    await store.sweep(NOW + 3 * DAY)
    expect(await rows('spend_totals', 'scope')).toBe(1)
    expect(await rows('spend_counted', 'account_id')).toBe(2)
    // What is left adds up as before.
    expect(spentOf(await judge('0', { now: NOW + 3 * DAY }))).toEqual(['40'])
    expect(
      await judge('60', { now: NOW + 29 * DAY, payment: { id: 'once', keptMs: 30 * DAY } }),
    ).toMatchObject({ outcome: 'repeated' })
    await store.sweep(NOW + 30 * DAY)
    expect(await rows('spend_counted', 'account_id')).toBe(1)
    await store.sweep(NOW + 40 * DAY)
    expect(await rows('spend_totals', 'scope')).toBe(0)
    expect(await rows('spend_counted', 'account_id')).toBe(0)
    expect(await count('100', { now: NOW + 40 * DAY })).toMatchObject({ outcome: 'counted' })
  })
})
