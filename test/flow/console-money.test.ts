// Money as the console shows it: revenue by day, tool and payer, credits, settlement, moderation and payouts; and who may see which.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { addAccount, newClaim, settling, submission } from '../support/store.ts'

let gateway: TestGateway
let owner: TestPerson
let stranger: TestPerson
beforeAll(async () => {
  gateway = await startTestGateway()
  owner = await signIn(gateway)
  stranger = await signIn(gateway, { accountId: await addAccount(gateway.store, 100) })
})
afterAll(() => gateway?.close())

const BOOT = 'boot-of-the-test'
const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
async function pay(at: number, over: Parameters<typeof newClaim>[0] = {}): Promise<void> {
  const claim = newClaim({
    id: newId('clm', at),
    createdAt: at,
    network: 'eip155:8453',
    asset: USDC,
    ...over,
  })
  await gateway.store.claimPayment({ claim, bootId: BOOT })
  await gateway.store.submitClaim(submission(claim.id, BOOT))
  await gateway.store.settleClaim({ ...settling(claim.id), now: at })
}

interface Money {
  readonly revenue: {
    readonly paid: string
    readonly payments: number
    readonly left_out: number
    readonly days: readonly { readonly date: string; readonly paid: string }[]
    readonly tools: readonly { readonly tool: string; readonly paid: string }[]
    readonly payers: readonly { readonly payer: string; readonly payments: number }[]
  } | null
  readonly credits: { readonly added: number; readonly days: readonly unknown[] }
}

describe('revenue', () => {
  it('is added up by day, tool and payer, test money and other assets apart from it', async () => {
    const now = Date.now()
    const [one, two] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
    await pay(now, { payer: one, amount: '1500' })
    await pay(now - 86_400_000, { payer: one, amount: '500' })
    await pay(now, { payer: two, amount: '3000', tool: '<b>tool' })
    await pay(now, { origin: 'settle', tool: 'settle', amount: '70000' })
    await pay(now, { network: 'eip155:84532', asset: newClaim().asset, amount: '900' })
    await pay(now, { asset: `0x${'cc'.repeat(20)}`, amount: '80000' })
    await pay(now - 40 * 86_400_000, { payer: one, amount: '600000' })
    // In a sandbox all of it is test money, and none is taken for real.
    expect((await owner.data<Money>('/console/money?money=real')).revenue?.payments).toBe(0)
    const { revenue } = await owner.data<Money>('/console/money')
    expect(revenue).toMatchObject({ paid: '5900', payments: 4, left_out: 1 })
    expect(revenue?.days).toHaveLength(30)
    expect(revenue?.days.at(-1)?.paid).toBe('5400')
    expect(revenue?.days.at(-2)?.paid).toBe('500')
    expect(revenue?.tools).toMatchObject([
      { tool: '<b>tool', paid: '3000' },
      { tool: 'gateway.web.fetch', paid: '2900' },
    ])
    expect(revenue?.payers.slice(0, 2)).toMatchObject([
      { payer: two, payments: 1 },
      { payer: one, payments: 2 },
    ])
    const page = await (await owner.get('/console/money')).text()
    expect(page).toContain('&lt;b>tool')
    expect((await owner.data<Money>('/console/money?period=90')).revenue?.paid).toBe('605900')
  })

  it('is the operator’s of the installation; others see what their own credits were for', async () => {
    const seen = await stranger.data<Money>('/console/money')
    expect(seen.revenue).toBeNull()
    const page = await (await stranger.get('/console/money')).text()
    expect(page).not.toContain('gateway.web.fetch')
    for (const path of ['settlement', 'moderation', 'payouts'])
      expect([path, (await stranger.get(`/console/${path}`)).status]).toEqual([path, 403])
  })
})

describe('the ledger of credits', () => {
  it('is of one account, narrowed by kind, and grows by a grant that is made once', async () => {
    interface Ledger {
      readonly balance: number
      readonly ledger: readonly { readonly amount: number; readonly reference: string }[]
    }
    const grant = { _action: 'grant', amount: '25', reference: '=invoice 7', account_id: stranger.accountId }
    for (const _ of ['first', 'again'])
      expect((await owner.post('/console/ledger', grant)).headers.get('location')).toBe(
        '/console/ledger?done=granted',
      )
    const seen = await stranger.data<Ledger>('/console/ledger?kind=grant')
    expect(seen.balance).toBe(125)
    expect(seen.ledger.filter(({ reference }) => reference === '=invoice 7')).toMatchObject([{ amount: 25 }])
    expect((await owner.data<Ledger>('/console/ledger')).ledger.some(({ amount }) => amount === 25)).toBe(
      false,
    )
    expect((await stranger.data<Ledger>('/console/ledger?kind=egress')).ledger).toEqual([])
    const file = await (await stranger.post('/console/ledger', { _action: 'export', format: 'csv' })).text()
    expect(file).toContain(",25,grant,'=invoice 7,")
    // Whoever is not of the first account gives nobody credits.
    expect((await stranger.post('/console/ledger', grant)).status).toBe(403)
    expect((await owner.post('/console/ledger', { ...grant, amount: 'many' })).status).toBe(400)
  })
})

describe('settlement, moderation and payouts', () => {
  it('are shown where nothing has happened yet', async () => {
    for (const path of ['settlement', 'moderation', 'payouts'])
      expect([path, (await owner.get(`/ar/console/${path}`)).status]).toEqual([path, 200])
    const proof = await owner.post('/console/payouts', { _action: 'verify' })
    expect(proof.status).toBe(200)
  })

  it('decides about a seller in the words of the tool, and keeps what was typed where it refuses', async () => {
    const refused = await owner.post('/console/moderation', {
      _action: 'decide',
      seller: 'nobody-here',
      decision: 'suspend',
      reason: 'a "reason" <b>',
    })
    expect(refused.status).toBe(404)
    expect(await refused.text()).toContain('value="a &quot;reason&quot; &lt;b>"')
  })

  it('pays sellers on the word of somebody who has just shown that it is them', async () => {
    const run = () => owner.post('/console/payouts', { _action: 'run', minimum: '2.5' })
    expect((await run()).headers.get('location')).toBe('/console/payouts?done=done')
    const odd = await owner.post('/console/payouts', { _action: 'run', minimum: 'all' })
    expect(odd.status).toBe(400)
    await gateway.store.freshenSession({ id: owner.sessionId, now: Date.now() - 6 * 60_000 })
    const stale = await run()
    expect([stale.status, await stale.text()]).toEqual([403, expect.stringContaining('value="2.5"')])
    await gateway.store.freshenSession({ id: owner.sessionId, now: Date.now() })
  })
})
