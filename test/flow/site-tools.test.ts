// The pages of tools and capabilities and the catalogue: everything that the registry has is there, in both languages and every form.
import { z } from 'zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/core/registry.ts'
import { free } from '../../src/core/price.ts'
import { toolDefiner } from '../../src/core/registry.ts'
import { descriptors } from '../../src/outcomes/descriptors.ts'
import { tools } from '../../tools/index.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

const HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1)'

const hostile = toolDefiner<object>()({
  name: 'gateway.hostile',
  title: HOSTILE,
  toolset: 'web',
  summary: `${HOSTILE} Never ${HOSTILE}`,
  input: z.strictObject({ '"><script>': z.string().default(HOSTILE).describe(HOSTILE) }),
  output: z.strictObject({ ok: z.literal(HOSTILE).describe('x'.repeat(10_000)) }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/hostile', operationId: 'hostile' },
  errors: [],
  examples: [{ title: HOSTILE, input: { '"><script>': HOSTILE } }],
  handle: async () => ({ ok: HOSTILE }) as const,
})

let gateway: Harness
beforeAll(async () => {
  gateway = await startRestHarness({ tools: [...tools, hostile] })
})
afterAll(() => gateway?.close())

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const json = { accept: 'application/json' }
const get = (path: string, headers: Record<string, string> = browser) =>
  fetch(gateway.baseUrl + path, { headers, redirect: 'manual' })

const { tools: entries } = createRegistry(tools)

describe('the page of a tool', () => {
  it('is there for every tool of the registry, with its price and each of its errors, in both languages', async () => {
    for (const { tool } of entries)
      for (const prefix of ['', '/ar']) {
        const response = await get(`${prefix}/tools/${tool.name}`)
        const html = await response.text()
        expect([tool.name, response.status]).toEqual([tool.name, 200])
        expect(html).toContain('<h1>')
        for (const code of tool.errors) expect(html).toContain(`/problems/${code}"`)
        expect(html).toMatch(tool.price.kind === 'free' ? /class="tag">(?:free|مجاني)</ : /class="tag money"/)
        for (const { id } of tool.skills) expect(html).toContain(id)
        expect(html.replaceAll(/<pre.*?<\/pre>/gs, '')).not.toMatch(
          />undefined<|="undefined"|\[object Object\]|>NaN</,
        )
      }
  })

  it('is data for a program: what the registry says, and the calls that run as pasted', async () => {
    const fetched = (await (await get('/tools/gateway.web.fetch', json)).json()) as Record<string, unknown>
    expect(fetched).toMatchObject({
      name: 'gateway.web.fetch',
      portable_name: 'gateway_web_fetch',
      caller: 'anyone',
      price: { kind: 'x402', amount: '0.001000', currency: 'USDC', words: '0.001000 USDC' },
      limits: { max_body_bytes: 65_536, max_duration_ms: 30_000, per_minute: { address: null, token: null } },
      routes: [{ method: 'POST', path: '/v1/tools/web.fetch' }, { path: '/v1/tools/web.fetch/testnet' }],
      is_always_paid: true,
      input_schema: { required: ['url'] },
      example: { has_placeholder: false, is_paid: true, token_variable: null },
      goals: [{ name: 'pay-for-a-web-page' }],
    })
    expect(JSON.stringify(fetched)).toContain(`curl -sS ${gateway.baseUrl}/v1/tools/web.fetch`)
  })

  it('has one address that counts, in whatever spelling it was asked for', async () => {
    const html = await (await get('/tools/gateway_web_fetch')).text()
    expect(html).toContain('/ar/tools/gateway.web.fetch"')
    expect(html).not.toContain('/ar/tools/gateway_web_fetch"')
  })

  it('shows the example that was chosen, and the first where there is none of that number', async () => {
    const html = async (number: string) =>
      (await (await get(`/tools/gateway.web.fetch?example=${number}`)).text()).replaceAll(
        /<\/?span[^>]*>/g,
        '',
      )
    expect(await html('2')).toContain('&quot;testnet&quot;: true')
    for (const number of ['0', '-1', '99', 'x', '1e9', '__proto__'])
      expect(await html(number)).toContain('&quot;mode&quot;: &quot;text&quot;')
  })

  it.each([
    ['gateway.web.fech', 'gateway.web.fetch'],
    ['web-fetch', 'gateway.web.fetch'],
    ['Gateway_Inspekt', 'gateway.inspect'],
    ['receipt', 'gateway.receipts.get'],
  ])('says for %s that it may be %s', async (wanted, meant) => {
    const page = await get(`/tools/${wanted}`)
    expect(page.status).toBe(404)
    expect(await page.text()).toContain(`href="/tools/${meant}"`)
    const problem = await get(`/tools/${wanted}`, json)
    expect(problem.headers.get('content-type')).toBe('application/problem+json')
    expect(await problem.json()).toMatchObject({ status: 404, code: 'tool_not_found', wanted })
  })

  it.each(['__proto__', 'constructor', '%3Cscript%3E', '%E2%80%AEgpj', 'x'.repeat(4000), 'a%2Fb'])(
    'is not there for %s, and shows it as text',
    async (name) => {
      const page = await get(`/tools/${name}`)
      const html = await page.text()
      expect(page.status).toBe(404)
      expect(html).not.toMatch(/<script>|\u202E/)
      expect(html.length).toBeLessThan(50_000)
    },
  )

  it('shows hostile words of a registry as words', async () => {
    for (const path of ['/tools/gateway.hostile', '/ar/tools/gateway.hostile', '/catalogue?q=hostile']) {
      const html = await (await get(path)).text()
      expect(html).toContain('&lt;img src=x')
      expect(html).not.toMatch(/<script>|<img|href="javascript|onerror="/)
    }
  })
})

describe('the page of a capability', () => {
  const ids = [...descriptors.map(({ id }) => id), 'gateway.web.fetch']

  it.each(ids)('of %s has the facts of its descriptor in both languages', async (id) => {
    const descriptor = (await (await get(`/v1/capabilities/${id}`, json)).json()) as Record<string, unknown>
    const page = (await (await get(`/capabilities/${id}`, json)).json()) as Record<string, unknown>
    expect(page).toMatchObject(descriptor)
    for (const prefix of ['', '/ar']) {
      const response = await get(`${prefix}/capabilities/${id}`)
      const html = (await response.text()).replaceAll(/<[^>]+>/g, '').replaceAll('&quot;', '"')
      expect(response.status).toBe(200)
      for (const name of ['name', 'description', 'when_to_use', 'latency_note'] as const)
        expect(html).toContain(String(descriptor[name]).replaceAll('`', ''))
      for (const words of descriptor['limitations'] as string[])
        expect(html).toContain(words.replaceAll('`', ''))
    }
  })

  it('is not there for another name, and says which there are', async () => {
    const page = await get('/capabilities/web-extracton')
    expect(page.status).toBe(404)
    expect(await page.text()).toContain('href="/capabilities/web-extraction"')
    expect((await get('/capabilities/__proto__')).status).toBe(404)
  })
})

interface List {
  counts: { tools: number; capabilities: number }
  results: { name: string; kind: string; caller: string; price: { kind: string } }[]
  nearest: { name: string }[]
}
const list = async (query: string): Promise<List> =>
  (await (await get(`/catalogue${query}`, json)).json()) as List

describe('the catalogue', () => {
  it('has everything, with a link to its page', async () => {
    const html = await (await get('/catalogue')).text()
    for (const { tool } of entries) expect(html).toContain(`href="/tools/${tool.name}"`)
    for (const { id } of descriptors) expect(html).toContain(`href="/capabilities/${id}"`)
    const { counts, results } = await list('')
    expect(counts).toEqual({ tools: tools.length + 1, capabilities: descriptors.length + 1 })
    expect(results.length).toBe(counts.tools + counts.capabilities)
  })

  it.each([
    ['read a receipt', 'gateway.receipts.get'],
    ['compare prices of products', 'product-offers'],
    ['issue a capability', 'gateway.egress.capabilities.issue'],
    ['قارن أسعار', 'product-offers'],
    ['web.fetch', 'gateway.web.fetch'],
  ])('finds for `%s` first of all %s', async (words, name) => {
    const { results } = await list(`?q=${encodeURIComponent(words)}`)
    expect(results.slice(0, 3).map((row) => row.name)).toContain(name)
  })

  it('filters by who may call, by price and by protocol, alone and together', async () => {
    const anyone = await list('?who=anyone')
    const key = await list('?who=key')
    expect(anyone.results.every(({ caller }) => caller === 'anyone')).toBe(true)
    expect(key.results.some(({ caller }) => caller === 'operator')).toBe(true)
    expect(anyone.results.length + key.results.length).toBe((await list('')).results.length)
    expect((await list('?price=paid&who=anyone')).results.every(({ price }) => price.kind === 'x402')).toBe(
      true,
    )
    expect((await list('?door=mcp')).results.map(({ name }) => name)).not.toContain('gateway.edge.forward')
    expect((await list('?who=nonsense&price=&door=__proto__')).results.length).toBe(
      (await list('')).results.length,
    )
  })

  it('says what may have been meant where nothing is found, and shows the words as text', async () => {
    expect((await list('?q=recipts')).nearest.map(({ name }) => name)).toContain('gateway.receipts.get')
    const html = await (await get(`/catalogue?q=${encodeURIComponent('zzzz"><b>\u202Eqqqq')}`)).text()
    expect(html).toContain('Nothing matches')
    expect(html).not.toMatch(/<b>|\u202E(?!qqqq")/)
  })

  it('works as a form without a script', async () => {
    const html = await (await get('/ar/catalogue?q=receipt&who=anyone')).text()
    expect(html).toMatch(/<form[^>]*action="\/ar\/catalogue"[^>]*method="get"/)
    expect(html).toContain('value="receipt"')
    expect(html).toMatch(/<option[^>]*selected[^>]*value="anyone"|<option[^>]*value="anyone"[^>]*selected/)
    expect(html).toContain('href="/ar/tools/gateway.receipts.get"')
  })
})
