// The address where pages of the site get a payment in test money: for them alone, a few times a minute, in a sandbox alone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRestHarness, type Harness } from '../support/door-harness.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const PATH = '/site/test-payment'
const page = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }

let gw: TestGateway
beforeAll(async () => {
  gw = await startTestGateway({ env: { GATEWAY_RATE_LIMIT: '' } })
})
afterAll(() => gw?.close())

async function challenge(): Promise<unknown> {
  const response = await fetch(`${gw.baseUrl}/v1/tools/web.fetch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"url":"https://sandbox.agent-gateway.test/article"}',
  })
  expect(response.status).toBe(402)
  return JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString())
}

const ask = (body: unknown, headers: Record<string, string> = page, url = gw.baseUrl) =>
  fetch(url + PATH, { method: 'POST', headers, body: JSON.stringify(body) })

describe('a payment in test money', () => {
  it('answers the challenge of a 402, and says nothing of the key', async () => {
    const response = await ask({ payment_required: await challenge() })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    const { payment_signature, payer, ...others } = JSON.parse(text) as Record<string, string>
    expect(others).toEqual({})
    const payment = JSON.parse(Buffer.from(payment_signature ?? '', 'base64').toString())
    expect(payment).toMatchObject({ x402Version: 2, accepted: { amount: '1000' } })
    expect(payment.payload.authorization.from).toBe(payer)
  })

  it.each([
    ['a program', { 'content-type': 'application/json' }],
    ['a page of another site', { ...page, 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { ...page, 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
    ['an address that was typed', { ...page, 'sec-fetch-site': 'none' }],
    [
      'another origin, as browsers of old say it',
      { 'content-type': 'application/json', origin: 'http://localhost:1' },
    ],
  ])('is refused to %s', async (_, headers: Record<string, string>) => {
    const response = await ask({ payment_required: await challenge() }, headers)
    expect(await response.json()).toMatchObject({ status: 403, code: 'origin_denied' })
  })

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'input_invalid'],
    [
      'no ways to pay',
      { payment_required: { x402Version: 2, resource: { url: 'x' }, accepts: [] } },
      'input_invalid',
    ],
    ['a list', [], 'input_invalid'],
    ['more than a challenge', { payment_required: 'x'.repeat(40_000) }, 'body_too_large'],
  ])('is refused for %s', async (_, body, code) => {
    expect(await (await ask(body)).json()).toMatchObject({ code })
  })

  it('is given to one address so often in a minute, and then says when again', async () => {
    const required = { payment_required: await challenge() }
    let refused: Response | undefined
    for (let times = 0; times < 25 && refused === undefined; times++) {
      const response = await ask(required)
      if (response.status === 429) refused = response
    }
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused?.json()).toMatchObject({ code: 'rate_limited' })
  })
})

describe('a gateway without a test wallet', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startRestHarness()
  })
  afterAll(() => harness?.close())

  it('has no such address', async () => {
    const response = await ask({}, page, harness.baseUrl)
    expect(await response.json()).toMatchObject({ status: 404, code: 'not_found' })
  })
})
