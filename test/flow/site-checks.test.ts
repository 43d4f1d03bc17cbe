// The pages on which one checks something before relying on it: a transaction, the gateway, what others sell.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MarketService } from '../../schemas/market.ts'
import { createCommerce } from '../../src/commerce/index.ts'
import { createLogger } from '../../src/lib/log.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const HOSTILE = `<script>alert(1)</script><img src=x onerror=alert(1)>\u202Egpj.exe${'w'.repeat(10_000)}`

/** A service as the market has it, as far as a badge is drawn from it. */
const sold = (service_id: string, challenge_score: number | null) =>
  ({
    seller: 'tea',
    service_id,
    name: HOSTILE,
    stats: { challenge_score },
  }) as unknown as MarketService

let gateway: Harness
beforeAll(async () => {
  const log = createLogger('silent')
  gateway = await startRestHarness({
    services: {
      commerce: createCommerce({
        documents: { read: async ({ initial }) => ({ value: initial }) },
        log,
        now: Date.now,
      }),
    },
    marketplace: {
      sold: async () => [sold('good', 97), sold('bad', 12), sold('new', null)],
      ofSeller: () => Promise.reject(new Error('not asked')),
    },
  })
})
afterAll(() => gateway?.close())

const get = (path: string, headers: Record<string, string> = browser) =>
  fetch(gateway.baseUrl + path, { headers })
const send = (transaction: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.baseUrl}/test`, {
    method: 'POST',
    headers: { ...browser, ...headers },
    body: new URLSearchParams({ transaction }),
  })
const PAYMENT = `POST http://shop.example/pay HTTP/1.1
Content-Type: application/json
Authorization: Bearer sk_live_4eC39HqLyjWDarjtT1zdp7dc

{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"brew","arguments":{}}}`

describe('the page that tests a transaction', () => {
  it('reports without a script: score, findings, and each in its place', async () => {
    const response = await send(PAYMENT)
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(html).toContain('PLAIN_HTTP')
    const links = [...html.matchAll(/href="#(place-\d+)"/g)].map(([, id]) => id)
    expect(links.length).toBeGreaterThan(2)
    for (const id of links) expect(html).toContain(`id="${id}"`)
  })

  it('hides in the text what must not be shown, and leaves it in the field', async () => {
    const html = await (await send(PAYMENT)).text()
    const [, field = '', report = ''] = /<textarea[^>]*>([^]*?)<\/textarea>([^]*)/.exec(html) ?? []
    expect(field).toContain('sk_live_4eC39HqLyjWDarjtT1zdp7dc')
    expect(report.replaceAll(/data-props="[^"]*"/g, '')).not.toContain('sk_live')
    expect(report).toContain('[hidden: authorization]')
  })

  it('has a report for programs at the same address', async () => {
    const json = (await (await send(PAYMENT, { accept: 'application/json' })).json()) as Record<string, never>
    expect(json).toMatchObject({ tested: { test: { protocol: 'mcp' }, inspect: { forwarded: false } } })
  })

  it.each([
    ['', 'There is nothing to test yet'],
    ['hello', 'neither JSON, nor an HTTP message'],
    ['{"method":"POST","headers":{}}', 'needs a member'],
  ])('says what is wrong with %j', async (text, words) => {
    const response = await send(text)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(words)
  })

  it("shows the gateway's own refusal, and the way to its explanation", async () => {
    const response = await send(JSON.stringify({ target: 'https://a.example/', method: 'NO METHOD' }))
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('/problems/invalid_sample')
  })

  it('shows hostile text as text', async () => {
    const html = await (
      await send(JSON.stringify({ target: 'https://a.example/', body: { [HOSTILE]: HOSTILE } }))
    ).text()
    expect(html).not.toMatch(/<script>alert|<img src=x/)
    expect(html).toContain('U+202E')
  })

  it('takes no form of another site', async () => {
    expect((await send(PAYMENT, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  it.each(['x402', 'risky', 'mpp', 'ap2', 'ucp', 'acp', 'mcp'])(
    'has the sample %s, with its report',
    async (name) => {
      const response = await get(`/ar/test?sample=${name}`)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('id="finding-1"')
    },
  )
})

describe('a badge', () => {
  it.each([
    ['good', '97/100 ready'],
    ['bad', '12/100 not ready'],
    ['new', 'not tested yet'],
  ])('of a service shows what we computed: %s', async (service, words) => {
    const response = await get(`/badges/tea/${service}`)
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    expect(await response.text()).toContain(`payment challenge: ${words}`)
  })

  it('takes no score from its address, and is none of a service that nobody sells', async () => {
    expect(await (await get('/badges/tea/bad?score=100')).text()).toContain('12/100')
    expect((await get('/badges/tea/other', {})).status).toBe(404)
  })

  it('comes as lines to copy, with a name that is a stranger’s shown as text', async () => {
    const html = await (await get('/test?badge=tea/good')).text()
    expect(html).toContain(`[![Payment challenge, scored by ${new URL(gateway.baseUrl).host}](`)
    expect(html).not.toContain('<img src=x')
  })
})
