// Pages of money with something on them that a small gateway has not: services of strangers that wait, runs, a proof that fails, gas that ends.
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import type { AnyConsolePage, ConsoleContext } from '../../../src/doors/console/ports.ts'
import { page as moderation } from '../../../src/doors/console/pages/moderation.tsx'
import { page as payouts } from '../../../src/doors/console/pages/payouts.tsx'
import { page as settlement } from '../../../src/doors/console/pages/settlement.tsx'

const context = (language: 'en' | 'ar', role = 'owner') =>
  ({
    name: 'console',
    language,
    direction: language === 'ar' ? 'rtl' : 'ltr',
    path: '/console/x',
    csrf: 'token',
    refused: undefined,
    isSandbox: false,
    href: (to: string) => to,
    needScript: () => {},
    signedIn: { role, admin: true, accountId: 'acct_1' },
  }) as unknown as ConsoleContext
const draw = ({ View }: AnyConsolePage, data: unknown, language: 'en' | 'ar' = 'en', role?: string) =>
  renderToString(<View data={data} page={context(language, role)} />)

const HOSTILE = '<script>alert(1)</script>\u202Egpj.exe'
const service = {
  seller: 'acme',
  service_id: 'weather',
  version: 3,
  state: 'pending',
  checked_version: 2,
  name: HOSTILE,
  description: HOSTILE,
  origin: 'https://api.example.com',
  base_path: '/v2',
  routes: [{ method: 'GET', path: '/x', summary: HOSTILE, price_atomic: '1500' }],
  max_requests_per_minute: 60,
  has_credential: true,
  refund_policy: HOSTILE,
  terms_url: 'javascript:alert(1)',
  updated_at: '2026-11-23T10:00:00.000Z',
}

describe('a service that waits', () => {
  it.each(['en', 'ar'] as const)('is a stranger’s text and nothing else (%s)', (language) => {
    const html = draw(moderation, { services: [service], done: false }, language)
    expect(html).toContain('&lt;script>')
    expect(html).not.toContain('<script')
    expect(html).toContain('U+202E')
    expect(html).not.toContain('href="javascript')
    expect(html).toContain('0.0015')
    expect(html).toContain('value="approve"')
  })

  it('is decided by nobody who only reads', () => {
    expect(draw(moderation, { services: [service], done: false }, 'en', 'auditor')).not.toContain('<button')
  })
})

const overview = {
  account: `0x${'ab'.repeat(20)}`,
  networks: [
    {
      network: 'eip155:8453',
      held_atomic: '1000000',
      cash_atomic: '5000000',
      fees_atomic: '30000',
      owed_atomic: '4000000',
      retained_atomic: '0',
      under_way_atomic: '-500000',
    },
  ],
  batches: [
    {
      batch_id: 'pbt_1',
      network: 'eip155:8453',
      period: '2026-11',
      minimum_atomic: '1000000',
      created_at: '2026-11-23T10:00:00.000Z',
      finished_at: null,
      paid: 2,
      paid_atomic: '3000000',
      under_way: 1,
      failed: 0,
    },
  ],
  kept: [
    { seller: 'acme', network: 'eip155:8453', reason: 'below_minimum', since: '2026-11-23T10:00:00.000Z' },
  ],
}
const proof = {
  ok: false,
  payouts: [
    {
      payout_id: 'pay_1',
      seller: 'acme',
      network: 'eip155:8453',
      amount_atomic: '2500000',
      transaction: null,
      chain: 'missing',
      receipt: 'invalid',
    },
  ],
  ledger: [
    {
      network: 'eip155:8453',
      sum_atomic: '-1',
      under_way_atomic: '0',
      transit_atomic: '0',
      unbalanced_accounts: 1,
      ok: false,
    },
  ],
  next: null,
}

describe('payouts', () => {
  it('say what is short, what goes on and what does not fit', () => {
    const html = draw(payouts, { overview, payouts: [], next: null, proof, run: 'running' })
    for (const words of [
      'The account holds less than it owes.',
      'Going on',
      'below_minimum',
      'Something does not fit',
      'Not on its chain',
      'Not valid',
      '-0.000001',
      'The run goes on.',
    ])
      expect(html).toContain(words)
  })

  it('claim no proof of payouts where there was none', () => {
    const data = { overview, payouts: [], next: null, run: null }
    const html = draw(payouts, { ...data, proof: { ok: true, payouts: [], ledger: [], next: null } })
    expect(html).toContain('nobody was paid yet.')
    expect(html).not.toContain('newest 0')
  })

  it('offer nothing to press to whoever only reads, and no run where no key pays out', () => {
    const data = { overview, payouts: [], next: null, proof: null, run: null }
    expect(draw(payouts, data, 'en', 'approver')).not.toContain('<button')
    const without = { ...data, overview: { ...overview, account: null } }
    expect(draw(payouts, without)).not.toContain('value="run"')
  })
})

describe('settlement', () => {
  it('says which account runs out of gas, and which chain takes nothing', () => {
    const settler = {
      address: `0x${'cd'.repeat(20)}`,
      network: 'eip155:8453',
      state: 'low_on_gas',
      waiting: 2,
      oldest_ms: 90_000,
      gas_wei: '1234567000000000',
      settlements_left: 12,
    }
    const data = {
      upstreams: [
        {
          id: 'local',
          url: null,
          state: 'failing',
          detail: 'does not answer',
          age_ms: 1500,
          kinds: [{ network: 'eip155:8453' }, { network: 'base' }],
          latency_ms: null,
          breaker: 'open',
          settlers: [settler],
        },
      ],
      chains: [
        { network: 'eip155:8453', state: 'ok', detail: 'answers', age_ms: null, takes_payments: false },
      ],
      payments: { pending: 1, unknown: 2 },
    }
    const html = draw(settlement, data)
    for (const words of [
      'Low on gas',
      '0.001234',
      '2 min',
      'Not taken',
      'Open: nobody is sent there',
      '2 unknown',
    ])
      expect(html).toContain(words)
    expect(draw(settlement, data, 'ar')).toContain('الوقود منخفض')
  })
})
