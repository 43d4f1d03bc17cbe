// The marketplace's listing, member by member as the specification has it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SellingStep } from '../../src/documents/market.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const PAY_TO = '0x1111111111111111111111111111111111111111'

let gw: TestGateway
beforeAll(async () => {
  gw = await startTestGateway({ env: { GATEWAY_PAY_TO: PAY_TO } })
})
afterAll(() => gw?.close())

const list = async (query = '') =>
  (await gw.rest('GET', `/v1/marketplace/services${query}`, undefined, '')).body

/** The members of the specification, in its order. */
const MEMBERS =
  'seller service_id name description price route_pricing platform_fee allocation payout_destination payout_mode endpoint ' +
  'allowed_methods input_schema capabilities availability status unavailable_reason max_requests_per_minute created_at ' +
  'authentication curl discovery'

describe('GET /v1/marketplace/services', () => {
  it('says at its top what the specification says', async () => {
    const page = await list()
    expect(page).toMatchObject({
      currency: 'USDC',
      network: 'eip155:8453',
      buyer_account_required: false,
      seller_onboarding: `${gw.baseUrl}/marketplace/sell`,
    })
    expect(Object.keys(page).slice(0, 5)).toEqual([
      'services',
      'currency',
      'network',
      'buyer_account_required',
      'seller_onboarding',
    ])
  })

  it('lists the feed digest with every member of the specification', async () => {
    const [service] = (await list()).services
    expect(Object.keys(service).slice(0, 22)).toEqual(MEMBERS.split(' '))
    const policy = { bps: 300, fixed_atomic: 0, minimum_atomic: 0, rounding: 'ceil_to_atomic_unit' }
    expect(service).toMatchObject({
      seller: 'gateway',
      service_id: 'feed-digest',
      price: { amount_atomic: '100000', currency: 'USDC', decimals: 6 },
      route_pricing: [],
      platform_fee: policy,
      payout_destination: PAY_TO,
      payout_mode: 'same_owner_retained',
      endpoint: `${gw.baseUrl}/p/gateway/feed-digest/`,
      allowed_methods: ['GET'],
      capabilities: ['paid-http-api', 'signed-receipt', 'idempotent-payment'],
      availability: 'available',
      status: 'active',
      unavailable_reason: null,
      max_requests_per_minute: 30,
      created_at: null,
    })
    expect(service.price).toEqual({ amount_atomic: '100000', currency: 'USDC', decimals: 6 })
    expect(service.platform_fee).toEqual(policy)
    expect(service.allocation).toEqual({
      gross_atomic: '100000',
      platform_fee_atomic: '3000',
      seller_proceeds_atomic: '97000',
      policy,
    })
    expect(service.input_schema).toMatchObject({
      type: 'object',
      properties: { limit: { type: 'integer', minimum: 1, maximum: 30, default: 10 } },
      additionalProperties: false,
    })
    expect(service.input_schema.required).toBeUndefined()
    for (const text of [service.name, service.description, service.authentication, service.discovery])
      expect(text).toEqual(expect.any(String))
  })

  it('says plainly that the same digest costs 2000 at /v1/execute', async () => {
    const [service] = (await list()).services
    expect(service.notes).toContain('The same digest costs 2000 atomic units at /v1/execute.')
    expect(service.words_of_seller).toBe(false)
  })

  it('is not sent again to who has it', async () => {
    const url = `${gw.baseUrl}/v1/marketplace/services`
    const first = await fetch(url)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    const again = await fetch(url, { headers: { 'if-none-match': `"other", W/${etag}` } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    const other = await fetch(`${url}?limit=1`, { headers: { 'if-none-match': etag } })
    expect(other.status).toBe(200)
  })

  it('needs no key, and finds by words', async () => {
    expect((await list('?q=feed&limit=10')).services).toHaveLength(1)
  })

  it('names an address for sellers that answers people with a page and programs with addresses', async () => {
    const { seller_onboarding } = await list()
    const page = await fetch(seller_onboarding, { headers: { accept: 'text/html,*/*' } })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('POST ' + gw.baseUrl + '/v1/marketplace/sellers')
    const api = await fetch(seller_onboarding)
    expect(api.headers.get('content-type')).toBe('application/json')
    expect(await api.json()).toMatchObject({
      register: { method: 'POST', url: `${gw.baseUrl}/v1/marketplace/sellers` },
    })
  })

  it('shows sellers with each step a body that its address takes', async () => {
    const { seller_onboarding } = await list()
    const { steps } = (await (await fetch(seller_onboarding)).json()) as { steps: SellingStep[] }
    const page = await (await fetch(seller_onboarding, { headers: { accept: 'text/html' } })).text()
    const { body } = await gw.rest('POST', new URL(steps[0]!.url).pathname, steps[0]!.body, '')
    expect(body).toMatchObject({ seller: 'acme-weather', key: expect.stringMatching(/^agw_sk_/) })
    const sent = steps.slice(1).filter((step) => step.method === 'POST')
    expect(sent).toHaveLength(4)
    for (const step of sent) {
      expect(page).toContain(JSON.stringify(step.body).replaceAll('"', '&quot;'))
      const answer = await gw.rest('POST', new URL(step.url).pathname, step.body, body.key)
      // Nobody is there in this test: what matters is that nothing is wrong with the request.
      expect([400, 401, 405], `${step.url} ${answer.text}`).not.toContain(answer.status)
    }
  })

  it('has a command that runs when pasted, and names that very endpoint', async () => {
    const [service] = (await list()).services
    expect(service.curl).toBe(`curl -sS -i '${gw.baseUrl}/p/gateway/feed-digest/?limit=5'`)
    const { stdout } = await promisify(execFile)('sh', ['-c', service.curl])
    expect(stdout).toMatch(/^HTTP\/1\.1 \d{3}/)
  })
})

describe('what is sold on the market', () => {
  const endpoint = () => `${gw.baseUrl}/p/gateway/feed-digest/`

  it('stands in discovery and in /.well-known/x402 as ours', async () => {
    const { items } = (await gw.rest('GET', '/discovery/resources?limit=100', undefined, '')).body
    expect(items.find(({ resource }: { resource: string }) => resource === endpoint())).toMatchObject({
      own: true,
      method: 'GET',
      accepts: [{ network: 'eip155:8453', amount: '100000', payTo: PAY_TO }],
      extensions: { marketplace: { seller: 'gateway', service_id: 'feed-digest', words_of_seller: false } },
    })
    const { resources } = (await gw.rest('GET', '/discovery/search?query=digest%20feed', undefined, '')).body
    expect(resources.map(({ resource }: { resource: string }) => resource)).toContain(endpoint())
    expect((await gw.rest('GET', '/.well-known/x402')).body.resources).toContain(endpoint())
  })

  it('has an OpenAPI document and an llms.txt for each seller, and neither for nobody', async () => {
    const { body } = await gw.rest('GET', '/p/gateway/openapi.json', undefined, '')
    expect(body).toMatchObject({
      openapi: '3.1.0',
      servers: [{ url: gw.baseUrl }],
    })
    expect(body.paths['/p/gateway/feed-digest/'].get).toMatchObject({
      parameters: [{ name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 30 } }],
      'x-payment-info': {
        price: { mode: 'fixed', amount: '0.100000', currency: 'USD' },
        protocols: [{ x402: {} }],
      },
    })
    const llms = await gw.rest('GET', '/p/gateway/llms.txt')
    expect([llms.status, llms.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(llms.text).toContain(`\`GET ${endpoint()}\`: 0.100000 USDC`)
    for (const name of ['openapi.json', 'llms.txt'])
      expect(await gw.rest('GET', `/p/nobody/${name}`)).toMatchObject({
        status: 404,
        body: { code: 'seller_not_found' },
      })
  })
})
