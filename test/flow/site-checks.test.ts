// The pages on which one checks something before relying on it: a transaction, the gateway, what others sell.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DiscoveryItem, DiscoveryListPage, DiscoverySearchPage } from '../../schemas/discovery.ts'
import type { MarketService } from '../../schemas/market.ts'
import { createHealth } from '../../src/app/health.ts'
import { createCommerce } from '../../src/commerce/index.ts'
import { createRecentCalls } from '../../src/core/recent-calls.ts'
import { createLogger } from '../../src/lib/log.ts'
import type { Status } from '../../src/doors/site/status.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const HOSTILE = `<script>alert(1)</script><img src=x onerror=alert(1)>\u202Egpj.exe${'w'.repeat(10_000)}`

/** A service as the market has it, as far as a badge is drawn from it. */
const sold = (service_id: string, challenge_score: number | null) =>
  ({
    seller: 'tea',
    service_id,
    name: HOSTILE,
    stats: { challenge_score, computed_at: '2026-11-20T08:00:00.000Z' },
  }) as unknown as MarketService

/** Everything that an operator knows and a stranger need not. */
const HEALTH: Parameters<typeof createHealth>[0] = {
  config: { mode: 'production' },
  store: {
    engine: 'postgres',
    health: async () => ({ ok: true, latencyMs: 1.25, detail: 'postgres://private-store' }),
    countOpenClaims: async () => ({ pending: 41, unknown: 42 }),
  },
  resolver: { state: () => ({ state: 'ok', detail: 'private-resolver answers', age_ms: 5 }) },
  router: {
    states: () => [
      {
        id: 'facilitator.example',
        url: 'https://private-facilitator.example/with-a-key',
        state: 'failing',
        detail: 'private-detail',
        age_ms: 10,
        kinds: [
          { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
          { x402Version: 1, scheme: 'exact', network: 'eip155:8453' },
        ],
        latency_ms: 20.5,
        breaker: 'open',
        settlers: [
          {
            address: '0xprivateaccount',
            network: 'eip155:8453',
            state: 'stuck',
            waiting: 43,
            oldest_ms: 1,
            gas_wei: '4444444',
            settlements_left: 45,
          },
        ],
      },
    ],
  },
  chains: new Map([
    [
      'eip155:8453',
      {
        state: () => ({
          state: 'ok',
          detail: 'private-node',
          age_ms: 1,
          latest_block: '38123456',
          takes_payments: true,
        }),
      },
    ],
  ]),
  analyser: { load: () => ({ processes: 46, busy: 47, waiting: 48 }) },
  startedAt: 0,
  now: Date.now,
}

const asked: unknown[] = []
/** A resource that a stranger describes. */
const foundItem = (over: Partial<DiscoveryItem> = {}): DiscoveryItem => ({
  resource: "https://api.example/a';touch$IFS/tmp/x;'?q=`id`",
  type: 'http',
  x402Version: 2,
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '10500',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: HOSTILE,
    },
    { scheme: HOSTILE, network: HOSTILE, amount: HOSTILE, asset: HOSTILE, payTo: HOSTILE },
  ],
  lastUpdated: '2026-11-01T00:00:00.000Z',
  description: HOSTILE,
  serviceName: HOSTILE,
  tags: [HOSTILE],
  iconUrl: 'javascript:alert(1)',
  own: false,
  method: HOSTILE,
  sources: [{ source: HOSTILE, fetched_at: NOW, last_updated: NOW, same_terms: false }],
  fetched_at: NOW,
  first_seen: NOW,
  price_history: [],
  liveness: { state: 'changed', checked_at: NOW, detail: 'terms' },
  settled: [
    {
      network: 'eip155:8453',
      payTo: '0x1',
      payers: 3,
      settlements: 1234,
      first_settled: NOW,
      last_settled: NOW,
      verified: true,
    },
  ],
  ...over,
})
const NOW = '2026-11-23T07:00:00.000Z'
const ABOUT = {
  x402Version: 2 as const,
  partialResults: true,
  sources: [
    {
      source: HOSTILE,
      state: 'failing' as const,
      detail: HOSTILE,
      fetched_at: null,
      age_seconds: null,
      entries: 0,
      dropped: 0,
      dropped_for: {},
    },
  ],
  notice: '',
}
const listOf = ({ limit }: { limit: number }): DiscoveryListPage => ({
  ...ABOUT,
  items: [foundItem(), foundItem({ resource: 'javascript:alert(1)', type: 'mcp', settled: [] })],
  pagination: { limit, offset: 0, total: 40, cursor: 'next"><script>' },
})
const searchOf = ({ limit }: { limit: number }): DiscoverySearchPage => ({
  ...ABOUT,
  resources: [],
  pagination: { limit, cursor: null },
})

let gateway: Harness
beforeAll(async () => {
  const log = createLogger('silent')
  const recent = createRecentCalls({ now: Date.now })
  recent.ended('gateway.inspect', 'rest', undefined, 3)
  recent.ended('gateway.web.fetch', 'mcp', 'payment_required', 3)
  recent.ended('gateway.egress.fetch', 'rest', 'scope_denied', 3)
  recent.ended('gateway.health', 'rest', undefined, 3)
  gateway = await startRestHarness({
    services: {
      discovery: {
        list: async (query) => {
          asked.push(query)
          return listOf(query)
        },
        search: async (query) => {
          asked.push(query)
          return searchOf(query)
        },
      },
      recentCalls: recent,
      health: createHealth(HEALTH),
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

  it('hides proofs in what it unfolds, too', async () => {
    const page = await (await get('/test?sample=x402')).text()
    const [, unfolded = ''] = /Decoded from([^]*)/.exec(page.replaceAll(/data-props="[^"]*"/g, '')) ?? []
    expect(unfolded).toContain('validBefore')
    expect(unfolded).toContain('[hidden: signature]')
    expect(unfolded).not.toContain('5e71c0a49b3fd286')
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
    ['good', '97/100 ready · 2026-11-20'],
    ['bad', '12/100 not ready · 2026-11-20'],
    ['new', 'not tested yet'],
  ])('of a service shows what we computed: %s', async (service, words) => {
    const response = await get(`/badges/tea/${service}`)
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    // The name stands in the picture, so that it is of no use on the page of another service.
    expect(await response.text()).toContain(`tea/${service} payment challenge: ${words}`)
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

describe('the state of the gateway', () => {
  const read = async () => (await get('/status', { accept: 'application/json' })).json() as Promise<Status>

  it('says of each part that it stands on how it does, and nothing that only its operator needs', async () => {
    const status = await read()
    expect(status).toMatchObject({
      status: 'degraded',
      mode: 'production',
      store: { state: 'ok', latency_ms: 1.25 },
      facilitators: [
        { id: 'facilitator.example', state: 'failing', networks: ['eip155:8453'], needs_attention: true },
      ],
      chains: [{ network: 'eip155:8453', latest_block: '38123456', takes_payments: true }],
    })
    const html = await (await get('/status')).text()
    for (const text of [JSON.stringify(status), html])
      expect(text).not.toMatch(/private|postgres|0xprivate|4444444|"4[1-8]"|versions|uptime/)
  })

  it('counts what anybody may call, neither calls under keys nor health checks', async () => {
    expect((await read()).last_hour).toMatchObject({
      delivered: 1,
      refused: 1,
      p50_ms: 5,
      tools: [{ tool: 'gateway.inspect' }, { tool: 'gateway.web.fetch' }],
      refusals: [{ code: 'payment_required', turn: 'payment', count: 1 }],
    })
    const html = await (await get('/ar/status')).text()
    expect(html).toContain('href="/ar/tools/gateway.web.fetch"')
    expect(html).not.toContain('scope_denied')
  })

  it('is read without a script, and offers to be read again', async () => {
    const html = await (await get('/status')).text()
    expect(html).toContain('Something is failing')
    expect(html).toMatch(/<a href="\/status"[^>]*>Refresh<\/a>/)
  })
})

describe('what can be paid with x402', () => {
  it('is shown as words of strangers: as text, with what is invisible named and what is long cut', async () => {
    const html = await (await get('/discovery')).text()
    expect(html).not.toMatch(/<script>|<img src=x|href="javascript/)
    expect(html).toContain('U+202E')
    expect(html).not.toContain('w'.repeat(400))
    expect(html).toContain('0.0105 USDC')
    expect(html).toContain('Asked for something else')
    expect(html).toContain('1,234')
  })

  it('has a command that a shell reads as one address, whatever the address holds', async () => {
    const html = await (await get('/discovery')).text()
    const [, command = ''] = /<code>(curl -i [^<]*)<\/code>/.exec(html) ?? []
    expect(command).toMatch(/^curl -i 'https:\/\/api\.example\/a%27;touch%24IFS\/tmp\/x;%27\?q=[^']*'$/)
    expect(html.match(/<code>curl/g)).toHaveLength(1)
  })

  it('is asked for by its address, and goes on with the same filters', async () => {
    asked.length = 0
    const html = await (
      await get(
        '/ar/discovery?type=http&network=eip155:8453&max=0.5&source=own&cursor=abc&limit=9999&payTo=x',
      )
    ).text()
    expect(asked).toEqual([
      { limit: 20, type: 'http', network: 'eip155:8453', maxUsdc: '0.5', source: 'own', cursor: 'abc' },
    ])
    expect(html).toContain(
      'href="/ar/discovery?type=http&amp;network=eip155%3A8453&amp;source=own&amp;max=0.5&amp;cursor=next%22%3E%3Cscript%3E"',
    )
    expect(html).toMatch(/<option value="http" selected>/)
  })

  it('says what to do where nothing fits, and leaves out what is no filter', async () => {
    asked.length = 0
    const html = await (await get('/discovery?q=%20tea%20&type=ftp&max=1e9')).text()
    expect(asked).toEqual([{ query: 'tea', limit: 20 }])
    expect(html).toContain('Nothing fits')
    expect(html).toContain('Clear all')
  })
})
