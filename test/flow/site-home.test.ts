// The first page: its data, its form without a script, the lines that connect, and the address where pages of the site get a payment in
// test money: for them alone, a few times a minute, in a sandbox alone.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRestHarness, type Harness } from '../support/door-harness.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { finish } from '../support/process.ts'

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

interface HomeJson {
  readonly environment: string
  readonly mcp_url: string
  readonly try: { readonly paid: { readonly body: unknown; readonly is_test_money: boolean } }
  readonly connect: readonly {
    readonly id: string
    readonly lines: readonly { readonly where: string; readonly text: string }[]
  }[]
}
const homeOf = async (url: string) =>
  (await (await fetch(url, { headers: { accept: 'application/json' } })).json()) as HomeJson
const linesOf = ({ connect }: HomeJson, id: string) => connect.find((way) => way.id === id)?.lines ?? []

describe('the lines that connect', () => {
  it('run in curl as they are pasted', async () => {
    const lines = linesOf(await homeOf(gw.baseUrl), 'curl')
    expect(lines.map(({ where }) => where)).toEqual(['REST', 'MCP'])
    for (const { where, text } of lines) {
      const { stdout } = await finish('sh', ['-c', text])
      expect(stdout, where).toContain('Sencha, first harvest')
    }
  })

  it('run in the official A2A client as they are pasted', async () => {
    const [card, program] = linesOf(await homeOf(gw.baseUrl), 'a2a')
    expect((await fetch(card?.text ?? '')).status).toBe(200)
    const { stdout } = await finish(process.execPath, ['--input-type=module', '-e', program?.text ?? ''])
    expect(stdout).toContain('Sencha, first harvest')
  })

  it('name an address that the official MCP client connects to', async () => {
    const [file] = linesOf(await homeOf(gw.baseUrl), 'cursor')
    const { mcpServers } = JSON.parse(file?.text ?? '') as { mcpServers: Record<string, { url: string }> }
    const client = new Client({ name: 'newcomer', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(mcpServers['agent-gateway']?.url ?? '')))
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('gateway_web_fetch')
    await client.close()
  })
})

describe('the form of the first page', () => {
  const send = (headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' }) =>
    fetch(gw.baseUrl, {
      method: 'POST',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: '',
    })

  it('runs the free sample, and its answer is not kept for others', async () => {
    const answer = await send()
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await answer.text()).toContain('Sencha, first harvest')
    const page = await (await fetch(gw.baseUrl, { headers: { accept: 'text/html' } })).text()
    expect(page).toContain('id="try"')
    expect(page).not.toContain('Sencha, first harvest')
  })

  it('is for this site alone', async () => {
    expect((await send({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })
})

describe('a page that is asked for at an address of digits', () => {
  const at = (host: string, path: string, accept: string) =>
    fetch(`http://${host}:${gw.gateway.port}${path}`, { headers: { accept }, redirect: 'manual' })

  it.each(['127.0.0.1', '[::1]'])('is at localhost, where passkeys can be: %s', async (host) => {
    const answer = await at(host, '/ar/catalogue?q=tea', 'text/html,*/*;q=0.8')
    expect([answer.status, answer.headers.get('location')]).toEqual([
      302,
      `http://localhost:${gw.gateway.port}/ar/catalogue?q=tea`,
    ])
  })

  it('is answered to programs, as the API is', async () => {
    for (const [path, accept] of [
      ['/', 'application/json'],
      ['/docs', '*/*'],
      ['/healthz', 'text/html'],
      ['/openapi.json', 'text/html'],
    ] as const)
      expect([path, (await at('127.0.0.1', path, accept)).status]).toEqual([path, 200])
  })
})

describe('a gateway in production', () => {
  let production: TestGateway
  beforeAll(async () => {
    production = await startTestGateway({
      env: { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example.com' },
    })
  })
  afterAll(() => production?.close())

  it('pays for nobody: the free sample is run, and the paid call is of a page on the internet', async () => {
    const port = `http://127.0.0.1:${production.gateway.port}`
    expect(await homeOf(port)).toMatchObject({
      environment: 'production',
      mcp_url: 'https://gateway.example.com/mcp',
      try: { paid: { body: { url: 'https://example.com/' }, is_test_money: false } },
    })
    const html = await (await fetch(port, { headers: { accept: 'text/html' } })).text()
    expect(html).toContain('Run the free sample')
    expect(html).not.toContain('test-payment')
    const refused = await ask({ payment_required: await challenge() }, page, port)
    expect(await refused.json()).toMatchObject({ status: 404, code: 'not_found' })
  })
})

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
