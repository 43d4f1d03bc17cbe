// The pricing document, quotes and preflights, to the field tables of the specification, over REST on a real gateway.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { URL_ALIASES, WEB_FETCH } from '../../schemas/web-fetch.ts'
import { toCanonicalJson } from '../../src/lib/canonical-json.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { createClient, startTestGateway, type TestGateway } from '../support/gateway.ts'

const ASSET = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const TEST_ASSET = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

let gw: TestGateway
beforeAll(async () => {
  gw = await startTestGateway()
})
afterAll(() => gw?.close())

describe('GET /v1/pricing', () => {
  it('has the fields of the table, and no other', async () => {
    const { status, body } = await gw.rest('GET', '/v1/pricing', undefined, '')
    expect(status).toBe(200)
    const { tools, quote_request, paid_flow, ...top } = body
    expect(top).toEqual({
      version: '5.1.0',
      currency: 'USDC',
      decimals: 6,
      free_tools: ['gateway.capabilities', 'gateway.preflight', 'gateway.pricing.quote'],
      preflight_endpoint: `${gw.baseUrl}/v1/preflight`,
      quote_endpoint: `${gw.baseUrl}/v1/pricing/quote`,
      quote_ttl_seconds: 300,
    })
    expect(quote_request).toMatchObject({ method: 'POST', url_aliases: [...URL_ALIASES] })
    expect(paid_flow).toMatchObject({ endpoint: `${gw.baseUrl}/v1/tools/web.fetch` })
    expect(Object.keys(tools)).toEqual([WEB_FETCH])
    const { formula, legacy_margin_semantics, economics, ...tool } = tools[WEB_FETCH]
    expect(formula).toMatch(
      /fixed customer price must cover.*direct-cost budgets.*minimum contribution margin/i,
    )
    expect(legacy_margin_semantics).toMatch(/markup.*before infrastructure and payment costs.*not profit/i)
    expect(tool).toEqual({
      available: true,
      payment_environment: 'production',
      maximum_upstream_cost_usd_micros: 0,
      gateway_margin_usd_micros: 1000,
      customer_price_usd_micros: 1000,
      amount_atomic: '1000',
      network: 'eip155:8453',
      asset: ASSET,
      payment_rails: [
        {
          id: 'x402:eip155:8453:exact',
          provider: 'x402',
          environment: 'production',
          network: 'eip155:8453',
          asset: ASSET,
          configured: true,
        },
      ],
      testnet: {
        environment: 'test',
        revenue: false,
        network: 'eip155:84532',
        asset: TEST_ASSET,
        amount_atomic: '1000',
        configured: true,
        rail: 'x402:eip155:84532:exact',
      },
    })
    expect(economics).toEqual({
      basis: expect.any(String),
      configured: true,
      available: true,
      rejection_reason: null,
      customer_price_usd_micros: 1000,
      provider_cost_usd_micros: 0,
      provider_cost_basis: expect.any(String),
      infrastructure_cost_budget_usd_micros: 100,
      payment_cost_budget_usd_micros: 0,
      minimum_contribution_bps: 2000,
      minimum_price_usd_micros: 125,
      estimated_contribution_usd_micros: 900,
      estimated_contribution_margin_bps: 9000,
      actual_infrastructure_cost_usd_micros: null,
      actual_payment_cost_usd_micros: null,
      gross_profit_usd_micros: null,
      net_profit_usd_micros: null,
    })
  })

  it('shows the seven shapes, and each of them is quoted when sent unchanged', async () => {
    const { shapes } = (await gw.rest('GET', '/v1/pricing', undefined, '')).body.quote_request
    expect(shapes).toHaveLength(7)
    const quoted = await Promise.all(
      shapes.map((shape: unknown) => gw.rest('POST', '/v1/pricing/quote', shape, '')),
    )
    expect(quoted.map(({ status }) => status)).toEqual(shapes.map(() => 200))
    expect(new Set(quoted.map(({ body }) => body.request_digest)).size).toBe(1)
  })
})

describe('POST /v1/pricing/quote', () => {
  const quote = (body: unknown) => gw.rest('POST', '/v1/pricing/quote', body, '')

  it('answers a signed quote that says all that its answer says', async () => {
    const { status, body } = await quote({
      uri: 'https://a.example.com/p?q=1',
      method: 'HEAD',
      testnet: true,
    })
    expect(status).toBe(200)
    const keys = (await gw.rest('GET', '/.well-known/gateway-egress-key.json')).body
    const verdict = await verifyJws(body.quote, keys, JWS_TYPES.quote)
    const payload = verdict.ok ? verdict.payload : {}
    const request = {
      url: 'https://a.example.com/p?q=1',
      method: 'HEAD',
      timeout_ms: 8000,
      max_bytes: 131_072,
      mode: 'auto',
      network: 'eip155:84532',
    }
    const digest = createHash('sha256').update(toCanonicalJson(request)).digest('base64url')
    expect(payload).toMatchObject({
      quote_id: body.quote_id,
      tool: WEB_FETCH,
      request,
      request_digest: digest,
      ...body.terms,
      issued_at: body.issued_at,
      expires_at: body.expires_at,
    })
    expect(body).toMatchObject({
      valid_for_seconds: 300,
      tool: WEB_FETCH,
      request,
      request_digest: digest,
      terms: {
        scheme: 'exact',
        network: 'eip155:84532',
        asset: TEST_ASSET,
        amount_atomic: '1000',
        amount: '0.001000',
        currency: 'USDC',
        decimals: 6,
        environment: 'sandbox',
        testnet: true,
        revenue: false,
      },
      how_to_pay: {
        method: 'POST',
        url: `${gw.baseUrl}/v1/tools/web.fetch/testnet`,
        headers: { 'X-Gateway-Quote': body.quote },
      },
    })
    expect(Date.parse(body.expires_at) - Date.parse(body.issued_at)).toBe(300_000)
  })

  it('is what the fetch itself answers to, body and header as they are given', async () => {
    const { how_to_pay } = (await quote({ url: 'https://a.example.com/', testnet: true })).body
    const answer = await fetch(how_to_pay.url, {
      method: how_to_pay.method,
      headers: how_to_pay.headers,
      body: JSON.stringify(how_to_pay.body),
    })
    expect(answer.status).toBe(402)
    expect(answer.headers.get('x-gateway-quote')).toBe(how_to_pay.headers['X-Gateway-Quote'])
  })

  it('fits a header whatever the length of the URL, which the digest still covers', async () => {
    const { body } = await quote({ url: `https://a.example.com/?q=${'a'.repeat(6000)}` })
    expect(body.quote.length).toBeLessThan(4096)
    const payload = JSON.parse(Buffer.from(body.quote.split('.')[1], 'base64url').toString())
    expect(payload.request.url).toBeNull()
    expect(payload.request_digest).toBe(
      createHash('sha256').update(toCanonicalJson(body.request)).digest('base64url'),
    )
    const longest = await quote({ url: `https://a.example.com/?q=${'a'.repeat(2020)}` })
    expect(longest.body.quote.length).toBeLessThan(8192)
  })

  it.each<[string, Record<string, unknown>, number, string, string]>([
    ['no URL', {}, 400, 'input_missing_field', '/url'],
    ['another tool', { tool: 'gateway.x', input: {} }, 400, 'input_invalid', '/tool'],
    ['an unknown member', { url: 'https://a.example.com/', a: 1 }, 400, 'input_unknown_property', '/a'],
    [
      'an unknown member inside',
      { tool: WEB_FETCH, input: { url: 'https://a.example.com/', a: 1 } },
      400,
      'input_unknown_property',
      '/input/a',
    ],
    ['a method', { url: 'https://a.example.com/', method: 'POST' }, 400, 'input_invalid', '/method'],
    ['a time', { url: 'https://a.example.com/', timeout_ms: 10_001 }, 400, 'input_invalid', '/timeout_ms'],
    ['a type', { url: 'https://a.example.com/', max_bytes: '2048' }, 400, 'input_wrong_type', '/max_bytes'],
    ['a target', { arguments: { href: 'http://a.example.com/' } }, 400, 'target_invalid', '/arguments/href'],
  ])('refuses %s, naming the place', async (_, body, status, code, pointer) => {
    const answer = await quote(body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body.fields.map((field: { pointer: string }) => field.pointer)).toContain(pointer)
  })

  it('refuses a closed target, and contacts nobody for an open one', async () => {
    expect((await quote({ url: 'https://169.254.169.254/' })).body.code).toBe('target_blocked')
    const before = gw.dns.queries.length
    await quote({ url: gw.url('/') })
    expect([gw.upstream.connections, gw.dns.queries.length]).toEqual([0, before])
  })
})

describe('POST /v1/preflight', () => {
  const preflight = (body: unknown) => gw.rest('POST', '/v1/preflight', body, '')
  beforeEach(() => expect(gw.upstream.connections).toBe(0))
  afterAll(() => expect(gw.upstream.connections).toBe(0))

  it('resolves and classifies the target, and opens no connection to it', async () => {
    const { status, body } = await preflight({ command: `curl -I '${gw.url('/p')}'` })
    expect(status).toBe(200)
    expect(gw.dns.queries.some(({ name }) => name === 'api.example.com')).toBe(true)
    expect(body).toMatchObject({
      ok: true,
      ready: true,
      request: { url: gw.url('/p'), method: 'HEAD', network: 'eip155:8453' },
      target: {
        host: 'api.example.com',
        safe: true,
        resolved: true,
        address_class: 'opened_private',
        addresses: 1,
        contacted: false,
      },
      payment: {
        rail: 'x402:eip155:8453:exact',
        ready: true,
        network: 'eip155:8453',
        asset: ASSET,
        amount_atomic: '1000',
      },
      economics: { minimum_price_usd_micros: 125 },
      findings: [],
    })
    expect(gw.upstream.connections).toBe(0)
  })

  it('gives the next request, which has the same digest', async () => {
    const { body } = await preflight({ url: gw.url('/p'), mode: 'text', testnet: true })
    const quoted = await gw.rest('POST', '/v1/pricing/quote', body.next.body, '')
    expect(quoted.body.request_digest).toBe(body.request_digest)
    expect(body.next.url).toBe(`${gw.baseUrl}/v1/tools/web.fetch/testnet`)
  })

  it('knows the sample site of the sandbox', async () => {
    const { body } = await preflight({ url: 'https://sandbox.agent-gateway.test/' })
    expect(body).toMatchObject({ ready: true, target: { address_class: 'sandbox' } })
  })

  it.each<[string, string, object]>([
    [
      'a name that does not exist',
      'https://none.example.com/',
      { code: 'upstream_unreachable', reason: 'not_found' },
    ],
    [
      'a name that leads inside',
      'https://inside.example.com/',
      { code: 'target_blocked', reason: 'private' },
    ],
    [
      'a name that half leads inside',
      'https://half.example.com/',
      { code: 'target_blocked', reason: 'link_local' },
    ],
    ['an address', 'https://10.0.0.1/', { code: 'target_blocked', reason: 'ip_literal' }],
    ['a local name', 'https://localhost/', { code: 'target_blocked', reason: 'local_name' }],
    ['a closed port', 'https://a.example.com:22/', { code: 'target_blocked', reason: 'port_not_allowed' }],
  ])('%s is a finding, not an error', async (_, url, finding) => {
    gw.dns.set('inside.example.com', { A: ['10.0.0.1'] })
    gw.dns.set('half.example.com', { A: ['93.184.216.34', '169.254.169.254'] })
    const { status, body } = await preflight({ url })
    expect(status).toBe(200)
    expect(body).toMatchObject({ ok: true, ready: false, target: { safe: false, address_class: null } })
    expect(body.findings).toEqual([{ ...finding, detail: expect.any(String) }])
  })

  it('calls public addresses public', async () => {
    gw.dns.set('public.example.com', { A: ['93.184.216.34'], AAAA: ['2606:2800:220:1::1'] })
    const { body } = await preflight({ url: 'https://public.example.com/' })
    expect(body.target).toMatchObject({ safe: true, address_class: 'public', addresses: 2 })
  })

  it.each([
    [{ url: 'http://a.example.com/' }, 'target_invalid'],
    [{ url: 'https://a.example.com/', uri: 'https://b.example.com/' }, 'input_conflict'],
    [{}, 'input_missing_field'],
  ])('%j is refused with 400', async (input, code) => {
    const answer = await preflight(input)
    expect([answer.status, answer.body.code]).toEqual([400, code])
  })
})

describe('what a sandbox says of a fetch', () => {
  it('is marked in a quote as test money, for those who do not open its signature too', async () => {
    const { body } = await gw.rest('POST', '/v1/pricing/quote', { url: gw.url('/') }, '')
    expect(body.notice).toBe('SANDBOX: test money and test keys only')
  })

  it('never tells to leave a credential to the gateway, which sends none', async () => {
    const { status, body } = await gw.rest('POST', '/v1/preflight', { url: 'https://a:b@example.com/' }, '')
    expect([status, body.code]).toEqual([400, 'target_invalid'])
    expect(body.detail).toMatch(/Leave out user name and password/)
    expect(body.detail).not.toMatch(/adds the credential/)
  })
})

describe('a gateway that nobody can pay', () => {
  it('says so everywhere, instead of asking for money', async () => {
    const closed = await startTestGateway({
      env: { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example.com' },
    })
    const { rest } = createClient(`http://127.0.0.1:${closed.gateway.port}`, closed)
    try {
      const { tools } = (await rest('GET', '/v1/pricing')).body
      expect(tools[WEB_FETCH]).toMatchObject({ available: false, economics: { available: true } })
      expect(tools[WEB_FETCH].payment_rails[0].configured).toBe(false)
      expect(tools[WEB_FETCH].testnet.configured).toBe(false)
      const checked = (await rest('POST', '/v1/preflight', { url: closed.url('/') })).body
      expect(checked).toMatchObject({
        ready: false,
        target: { safe: true },
        payment: { ready: false, pay_to: null },
        findings: [{ code: 'payments_unavailable', reason: 'no_pay_to' }],
      })
      for (const path of ['/v1/pricing/quote', '/v1/tools/web.fetch']) {
        const answer = await rest('POST', path, { url: closed.url('/') })
        expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'payments_unavailable'])
      }
      const listed = (await rest('GET', '/v1/capabilities')).body.tools.at(-1)
      expect(listed).toMatchObject({ id: WEB_FETCH, available: false })
    } finally {
      await closed.close()
    }
  })
})
