// What a visitor is shown of a paid call, against answers as the gateway gives them.
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  callPaid,
  decimal,
  type CallStep,
  type PaidCall,
} from '../../../src/doors/site/browser/lib/paid-call.ts'

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const required = {
  x402Version: 2,
  resource: { url: 'http://127.0.0.1:8402/v1/tools/web.fetch', description: 'Eine Seite für 0,1 Cent' },
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '1000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: '0x00000000000000000000000000000000cA5cAde5',
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    },
  ],
  extensions: { 'offer-receipt': { info: { challenge: 'c'.repeat(32) } } },
}
const receipt = { receipt_id: 'rcp_1', url: 'http://127.0.0.1:8402/v1/receipts/rcp_1', jws: 'a.b.c' }
const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })
const problem = (status: number, code: string, extras = {}) =>
  new Response(JSON.stringify({ status, code, title: 'Title', detail: 'What to do.', ...extras }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  })
const priced = () => json(402, { code: 'payment_required' }, { 'payment-required': base64(required) })
const signed = () => json(200, { payment_signature: 'p'.repeat(900), payer: '0xpayer' })
const settlement = { success: true, transaction: '0xtx', network: 'eip155:8453', payer: '0xpayer' }
const delivered = () => json(200, { ok: true, receipt }, { 'payment-response': base64(settlement) })

const call: PaidCall = {
  api: 'http://127.0.0.1:8402',
  method: 'POST',
  path: '/v1/tools/web.fetch',
  body: { url: 'https://sandbox.agent-gateway.test/article' },
  wallet: '/site/test-payment',
}

afterEach(() => vi.restoreAllMocks())

/** Answers in their order, and what was asked. */
async function run(answers: readonly (Response | Error)[], change: Partial<PaidCall> = {}) {
  const rest = [...answers]
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => {
    const next = rest.shift()
    return next instanceof Response
      ? Promise.resolve(next)
      : Promise.reject(next ?? new Error('asked too often'))
  })
  const steps: CallStep[] = []
  const outcome = await callPaid({ ...call, ...change }, (step) => steps.push(step))
  const asked = fetched.mock.calls.map(([url, init]) => ({ url, ...init }))
  return { steps, outcome, asked, names: steps.map(({ name }) => name) }
}

describe('a paid call', () => {
  it('is asked, priced, paid and answered, and each step is told', async () => {
    const { steps, names, outcome, asked } = await run([priced(), signed(), delivered()])
    expect(names).toEqual(['asked', 'priced', 'paid', 'answered'])
    expect(outcome).toMatchObject({ ok: true, status: 200, receipt, settlement: { transaction: '0xtx' } })
    expect(steps[1]).toMatchObject({
      price: {
        amount: '0.001',
        network: 'eip155:8453',
        pay_to: required.accepts[0]?.payTo,
        description: 'Eine Seite für 0,1 Cent',
      },
    })
    expect(asked.map(({ url }) => url)).toEqual([
      'http://127.0.0.1:8402/v1/tools/web.fetch',
      '/site/test-payment',
      'http://127.0.0.1:8402/v1/tools/web.fetch',
    ])
    // The wallet is given the whole challenge, and the very same request is sent again.
    expect(JSON.parse(String(asked[1]?.body))).toEqual({ payment_required: required })
    expect(asked[2]?.body).toBe(asked[0]?.body)
    expect(asked[2]?.headers).toMatchObject({ 'payment-signature': 'p'.repeat(900) })
  })

  it('shows payments and challenges by their first characters', async () => {
    const { steps } = await run([priced(), signed(), delivered()])
    const shown = JSON.stringify(steps)
    expect(shown).toContain('payment-signature')
    expect(shown).not.toContain('p'.repeat(80))
    expect(shown).not.toContain(base64(required).slice(0, 80))
  })

  it('ends with the price where there is no wallet', async () => {
    const { names, outcome, asked } = await run([priced()], { wallet: undefined })
    expect(names).toEqual(['asked', 'priced'])
    expect(outcome).toMatchObject({ ok: false, status: 402, price: { amount: '0.001' } })
    expect(asked).toHaveLength(1)
  })

  it('is over after one answer where it costs nothing', async () => {
    const { names, outcome } = await run([json(200, { ok: true, receipt: null })])
    expect(names).toEqual(['asked', 'answered'])
    expect(outcome).toMatchObject({ ok: true, price: undefined, receipt: undefined, settlement: undefined })
  })
})

describe('a call that fails', () => {
  it.each<[string, (Response | Error)[], object]>([
    [
      'with the problem of the tool',
      [problem(403, 'target_blocked')],
      { status: 403, problem: { code: 'target_blocked', detail: 'What to do.' } },
    ],
    [
      'with the problem of the wallet',
      [priced(), problem(429, 'rate_limited', { retry_after_seconds: 7 })],
      { status: 429, problem: { code: 'rate_limited', retry_after_seconds: 7 } },
    ],
    [
      'with a payment that was not taken',
      [priced(), signed(), problem(402, 'payment_rejected')],
      { status: 402, problem: { code: 'payment_rejected' } },
    ],
    [
      'without an answer',
      [new TypeError('fetch failed')],
      { status: 0, problem: { code: 'unreachable', detail: 'fetch failed' } },
    ],
    [
      'with a 402 for credits, which names no payment',
      [problem(402, 'credits_required')],
      { status: 402, problem: { code: 'credits_required' } },
    ],
    ['with a challenge that is none', [json(402, {}, { 'payment-required': 'bm9uZQ==' })], { status: 402 }],
    [
      'with a page of something in between',
      [new Response('<h1>Bad gateway</h1>', { status: 502 })],
      { status: 502, problem: { code: '502', detail: '<h1>Bad gateway</h1>' } },
    ],
  ])('ends %s', async (_, answers, expected) => {
    const { outcome } = await run(answers)
    expect(outcome).toMatchObject({ ok: false, ...expected })
  })

  it('throws what it was stopped with, and nothing else', async () => {
    const stop = AbortSignal.abort(new Error('gone'))
    await expect(run([new Error('aborted')], { signal: stop })).rejects.toThrow('gone')
  })
})

it.each([
  ['1000', '0.001'],
  ['1', '0.000001'],
  ['1000000', '1'],
  ['12340000', '12.34'],
  ['0', '0'],
])('writes %s atomic units as %s', (atomic, shown) => expect(decimal(atomic)).toBe(shown))
