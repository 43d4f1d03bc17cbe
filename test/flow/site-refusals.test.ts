// What a person sees where a program gets a problem document: a price, a mistyped address, a method that is not taken.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
beforeAll(async () => {
  gw = await startTestGateway()
})
afterAll(() => gw?.close())

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'user-agent': 'Mozilla/5.0' }
const open = (path: string, headers: Record<string, string> = {}) =>
  fetch(gw.baseUrl + path, { headers: { ...BROWSER, ...headers }, redirect: 'manual' })

describe('a price', () => {
  it('is a page of the site: what is sold, for how much, and where one tries it', async () => {
    const answer = await open('/p/gateway/feed-digest/')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([402, 'text/html; charset=utf-8'])
    const html = await answer.text()
    expect(html).toContain('<h1>This is sold by the call</h1>')
    expect(html).toContain('0.100000 USDC')
    expect(html).toContain('href="/marketplace/gateway/feed-digest"')
    expect(html).toContain('test money')
    expect(answer.headers.get('payment-required')).toBeTruthy()
    expect(answer.headers.get('content-security-policy')).toContain("trusted-types 'none'")
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('is in Arabic for who reads Arabic first', async () => {
    const html = await (await open('/p/gateway/feed-digest/', { 'accept-language': 'ar-EG,en;q=0.5' })).text()
    expect(html).toContain('<html lang="ar" dir="rtl">')
    expect(html).toContain('href="/ar/marketplace/gateway/feed-digest"')
  })

  it('names the page of the tool that is sold', async () => {
    const answer = await fetch(`${gw.baseUrl}/v1/tools/web.fetch`, {
      method: 'POST',
      headers: { ...BROWSER, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://example.com/' }),
    })
    expect(answer.status).toBe(402)
    expect(await answer.text()).toContain('href="/tools/gateway.web.fetch"')
  })

  it.each([
    ['a browser that asks for JSON', { accept: 'application/json' }],
    ['a program that takes HTML', { 'user-agent': 'curl/8' }],
  ])('is the document for %s', async (_, headers) => {
    const answer = await open('/p/gateway/feed-digest/', headers)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    await answer.arrayBuffer()
  })
})

describe('a page that is not there', () => {
  it.each([
    ['/catalog', '/catalogue'],
    ['/market-place', '/marketplace'],
    ['/doc', '/docs'],
    ['/docs/web_fetch', '/docs/web-fetch'],
    ['/docs/payment', '/docs/payments'],
    ['/tools/gateway.web.fetch2', '/tools/gateway.web.fetch'],
    ['/tools/web-fetch', '/tools/gateway.web.fetch'],
    ['/problems/permit-used', '/problems/permit_used'],
    ['/ar/refrence', '/ar/reference'],
    ['/swagger/mcp', '/docs/mcp'],
  ])('%s leads to %s', async (typed, meant) => {
    const answer = await open(typed)
    expect(answer.status).toBe(404)
    const html = await answer.text()
    expect(html).toContain(`href="${meant}"`)
    // Tools that are not there have a page of their own.
    if (typed.startsWith('/tools/')) return
    expect(html).toContain(typed.startsWith('/ar/') ? 'action="/ar/catalogue"' : 'action="/catalogue"')
  })

  it.each(['/zzzzqqqq', '/%F0%9F%92%A5', `/${'x'.repeat(6000)}`, '/%22%3E%3Cscript%3Ealert(1)%3C/script%3E'])(
    'says so of %.20s, without its words',
    async (path) => {
      const answer = await open(path)
      expect(answer.status).toBe(404)
      expect(await answer.text()).not.toContain('<script>alert')
    },
  )
})

describe('other refusals', () => {
  it('say in words that an address takes another method', async () => {
    const answer = await open('/v1/execute')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    const html = await answer.text()
    expect(html).toContain('<h1>This address is called in another way</h1>')
    expect(html).toContain('It takes POST, OPTIONS.')
  })

  it('are documents for programs', async () => {
    const answer = await fetch(`${gw.baseUrl}/v1/execute`)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    await answer.arrayBuffer()
  })

  it('say what to do where a form comes from elsewhere', async () => {
    const answer = await fetch(`${gw.baseUrl}/test`, {
      method: 'POST',
      headers: {
        ...BROWSER,
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'cross-site',
        origin: 'https://evil.example',
      },
      body: 'x=1',
    })
    expect(answer.status).toBe(403)
    await answer.arrayBuffer()
  })
})
