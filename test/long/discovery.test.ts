// Discovery against catalogues that behave, dawdle, lie and die: the answers stay there, marked, and nothing is fetched
// that is not public.
import { createServer, type Server } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/http'
import {
  type DiscoveryExtension,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
  withBazaar,
} from '@x402/extensions'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DiscoveryItem, DiscoveryListPage, DiscoverySearchPage } from '../../schemas/discovery.ts'
import { DiscoveryListPage as ListPage, DiscoverySearchPage as SearchPage } from '../../schemas/discovery.ts'
import { acceptV2, itemOf, pageOf } from '../support/catalogue.ts'
import {
  createClient,
  createWorld,
  ENGINES,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
  type World,
} from '../support/gateway.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import { cites } from '../requirements.ts'

const OTHER_HOST = 'catalogue.example.org'
/** How long a first answer waits for its catalogues. */
const FIRST_WAIT_MS = 4_000
const TEN_MINUTES_MS = 10 * 60 * 1000
/** What pays our own tools: no chain is asked anything here. */
const PAID = {
  GATEWAY_RPC_8453: 'http://127.0.0.1:1',
  GATEWAY_RPC_84532: 'http://127.0.0.1:1',
  GATEWAY_PAY_TO: '0x00000000000000000000000000000000ca5cade5',
}

let world: World | undefined
let gw: TestGateway | undefined
let other: TestUpstream | undefined
let plain: Server | undefined
const clock = { now: Date.now() }
afterEach(async () => {
  vi.restoreAllMocks()
  await gw?.close()
  await world?.close()
  await other?.close()
  await new Promise<void>((resolve) => (plain ? plain.close(() => resolve()) : resolve()))
  gw = world = other = plain = undefined
})

/** Two catalogues: the world's upstream, and one on a name of its own. */
async function setUp(options: Parameters<typeof createWorld>[0] = {}) {
  clock.now = Date.now()
  world = await createWorld(options)
  world.dns.set(OTHER_HOST, { A: ['127.0.0.1'] })
  other = await startUpstream(await world.ca.leaf(OTHER_HOST))
  return { world, other, otherUrl: `https://${OTHER_HOST}:${other.port}` }
}

async function start(
  sources: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<TestGateway> {
  const ports = `443,${world!.upstream.port}`
  gw = await startTestGateway({
    world: {
      ...world!,
      env: {
        ...world!.env,
        ...PAID,
        GATEWAY_EGRESS_PORTS: ports,
        GATEWAY_DISCOVERY_SOURCES: sources.join(','),
        ...env,
      },
    },
    now: () => clock.now,
  })
  return gw
}

const list = async (query = ''): Promise<DiscoveryListPage> =>
  ListPage.parse((await gw!.rest('GET', `/discovery/resources${query}`, undefined, '')).body)
const search = async (query: string): Promise<DiscoverySearchPage> =>
  SearchPage.parse((await gw!.rest('GET', `/discovery/search?query=${query}`, undefined, '')).body)
const foreign = ({ items }: DiscoveryListPage) => items.filter(({ sources }) => sources[0]!.source !== 'own')
const serve = (upstream: TestUpstream, items: readonly unknown[]) =>
  upstream.respond(({ target }, res) => {
    res.writeHead(200, { 'content-type': 'application/json' }).end(pageOf(items, target))
  })
/** Until it is so: what happens behind the answers has no event that a caller could wait for. */
async function until<T>(look: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look()
    if (isSo(value)) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
}
/** A first answer waits for its catalogues for four seconds; here they are all read before anything is looked at. */
const allRead = () => until(list, ({ sources }) => sources.every(({ state }) => state !== 'pending'))

describe('our own paid tools', () => {
  it('are listed without any source, as they would be paid', async () => {
    await setUp()
    await start([])
    const { items, pagination, partialResults, sources } = await list()
    expect({ partialResults, sources }).toEqual({ partialResults: false, sources: [] })
    expect(pagination).toMatchObject({ limit: 20, offset: 0, total: items.length, cursor: null })
    const fetching = items.find(({ resource }) => resource.endsWith('/v1/tools/web.fetch'))
    expect(fetching).toMatchObject({
      resource: `${gw!.baseUrl}/v1/tools/web.fetch`,
      type: 'http',
      method: 'POST',
      x402Version: 2,
      accepts: [{ scheme: 'exact', network: 'eip155:8453', amount: '1000', payTo: PAID.GATEWAY_PAY_TO }],
      sources: [{ source: 'own', same_terms: true }],
      liveness: { state: 'alive' },
      price_history: [{ accepts: [{ amount: '1000' }] }],
    })
    const test = items.find(({ resource }) => resource.endsWith('/testnet'))
    expect(test?.accepts).toMatchObject([{ network: 'eip155:84532' }])
    expect(items.some(({ resource }) => resource.endsWith('/v1/credits/purchase'))).toBe(false)
    const unpaid = await gw!.rest('POST', '/v1/tools/web.fetch', { url: 'https://api.example.com/' })
    expect([402, 503]).toContain(unpaid.status)
  })
})

describe('a stock client of the protocol', () => {
  it(
    cites(
      'x402:discovery:client',
      'lists and searches here, and finds what our listings say about their input in order',
    ),
    async () => {
      await setUp()
      serve(world!.upstream, [itemOf({ resource: 'https://a.example.com/', serviceName: 'Weather' })])
      await start([world!.url('')])
      await allRead()
      const client = withBazaar(new HTTPFacilitatorClient({ url: gw!.baseUrl })).extensions.bazaar
      const page = await client.listResources({ type: 'http', network: 'eip155:8453', limit: 100, offset: 0 })
      expect(page).toMatchObject({ x402Version: 2, pagination: { limit: 100, offset: 0 } })
      expect(page.items.map(({ resource }) => resource)).toContain('https://a.example.com/')
      const found = await client.search({ query: 'weather', type: 'http', limit: 1 })
      expect(found.resources.map(({ resource }) => resource)).toEqual(['https://a.example.com/'])

      const ours = page.items.filter(({ resource }) => resource.startsWith(gw!.baseUrl))
      expect(ours.length).toBeGreaterThan(0)
      for (const { extensions } of ours) {
        const bazaar = extensions!['bazaar'] as Record<string, unknown>
        expect(validateDiscoveryExtensionSpec(bazaar)).toEqual({ valid: true })
        expect(validateDiscoveryExtension(bazaar as unknown as DiscoveryExtension)).toEqual({ valid: true })
      }
    },
  )
})

describe('catalogues', () => {
  it(
    cites(
      'x402:discovery:pages',
      'are one list: each resource once, with who lists it, and every page of it once',
    ),
    async () => {
      const { otherUrl } = await setUp()
      const items = Array.from({ length: 120 }, (_, i) =>
        itemOf({ resource: `https://r${i}.example.com/`, lastUpdated: '2026-11-02T00:00:00Z' }),
      )
      serve(world!.upstream, items)
      serve(other!, [
        itemOf({
          resource: 'https://R0.example.com:443',
          lastUpdated: '2026-11-03T00:00:00Z',
          accepts: [acceptV2({ amount: '9' })],
        }),
        itemOf({ resource: 'https://only.example.com/' }),
      ])
      await start([world!.url(''), otherUrl])
      await allRead()

      const seen: DiscoveryItem[] = []
      let cursor: string | null = null
      do {
        const page: DiscoveryListPage = await list(`?type=http&limit=50${cursor ? `&cursor=${cursor}` : ''}`)
        seen.push(...page.items)
        cursor = page.pagination.cursor
        expect(page).toMatchObject({
          partialResults: false,
          pagination: { total: 121 + own(page.pagination.total) },
        })
      } while (cursor !== null)
      // What one address of ours sells at several prices is listed once for each.
      const urls = seen.map(
        ({ resource, method, accepts }) => `${method} ${resource} ${accepts[0]!['amount']}`,
      )
      expect(new Set(urls).size).toBe(urls.length)
      expect(foreign({ items: seen } as DiscoveryListPage)).toHaveLength(121)

      const both = seen.find(({ resource }) => resource === 'https://r0.example.com/')!
      expect(both).toMatchObject({
        accepts: [{ amount: '9' }],
        sources: [
          { source: world!.url(''), same_terms: false },
          { source: otherUrl, same_terms: true },
        ],
      })
      // Pages by offset say the same.
      const byOffset = [...(await list('?limit=100')).items, ...(await list('?limit=100&offset=100')).items]
      expect(byOffset.map(({ resource }) => resource).sort()).toEqual(
        seen.map(({ resource }) => resource).sort(),
      )
    },
  )

  const own = (total: number) => total - 121

  it('are asked once for many callers, and anew when what they said is old', async () => {
    await setUp()
    serve(world!.upstream, [itemOf({ resource: 'https://r.example.com/' })])
    await start([world!.url('')])
    await Promise.all(Array.from({ length: 16 }, () => list()))
    await allRead()
    clock.now += TEN_MINUTES_MS - 1000
    await list()
    expect(catalogueReads()).toBe(1)
    clock.now += 2000
    await until(list, () => catalogueReads() === 2)
  })

  const catalogueReads = () =>
    world!.upstream.requests.filter(({ target }) => target.startsWith('/discovery/')).length

  it('that die leave what they said last, marked; and block nobody', async () => {
    const { otherUrl } = await setUp()
    serve(world!.upstream, [itemOf({ resource: 'https://a.example.com/' })])
    serve(other!, [itemOf({ resource: 'https://b.example.com/' })])
    await start([world!.url(''), otherUrl])
    expect(foreign(await allRead())).toHaveLength(2)

    other!.respond((_request, res) => void res.destroy())
    clock.now += TEN_MINUTES_MS + 1000
    const page = await until(list, ({ sources }) => sources[1]!.state === 'stale')
    expect(foreign(page)).toHaveLength(2)
    expect(page.partialResults).toBe(true)
    expect(page.sources).toMatchObject([
      { state: 'ok', entries: 1 },
      { state: 'stale', detail: 'unreachable', entries: 1 },
    ])
    expect(await search('example')).toMatchObject({ partialResults: true })

    serve(other!, [itemOf({ resource: 'https://b.example.com/' })])
    clock.now += 61_000
    await until(list, ({ sources }) => sources[1]!.state === 'ok')
  })

  it('that do not answer in time leave the others to be shown', async () => {
    const { otherUrl } = await setUp()
    serve(world!.upstream, [itemOf({ resource: 'https://a.example.com/' })])
    const held: (() => void)[] = []
    other!.respond(({ target }, res) => void held.push(() => res.end(pageOf([itemOf()], target))))
    await start([world!.url(''), otherUrl])
    // The wait of a first answer is over when this test says so; every other timer runs.
    const waits: (() => void)[] = []
    const { setTimeout: real } = globalThis
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((done: () => void, ms: number, ...given: []) =>
      // Connections that undici keeps have a timer of the same length, and an argument for it.
      ms === FIRST_WAIT_MS && given.length === 0
        ? void waits.push(done)
        : real(done, ms, ...given)) as typeof real)
    const page = await until(
      async () => {
        const asked = list()
        for (;;) {
          if (held.length > 0) for (const end of waits.splice(0)) end()
          const page = await Promise.race([asked, new Promise<void>((resolve) => setImmediate(resolve))])
          if (page) return page
        }
      },
      (shown) => foreign(shown).length > 0,
    )
    vi.restoreAllMocks()
    expect(foreign(page).map(({ resource }) => resource)).toEqual(['https://a.example.com/'])
    expect(page).toMatchObject({ partialResults: true, sources: [{ state: 'ok' }, { state: 'pending' }] })
    for (const release of held) release()
    await until(list, (next) => foreign(next).length === 2)
  })

  it.each<[string, string | Buffer, object]>([
    ['text', 'hello', { state: 'failing', detail: 'malformed' }],
    [
      'a page of ten million bytes',
      Buffer.alloc(10_000_000, 0x20),
      { state: 'failing', detail: 'too_large' },
    ],
    ['JSON that is nested without end', '['.repeat(100_000), { state: 'failing', detail: 'malformed' }],
    [
      'an entry that is nested without end',
      `{"items":[{"resource":${'['.repeat(5_000)}${']'.repeat(5_000)}}]}`,
      { state: 'ok', dropped: 1, dropped_for: { too_deep: 1 }, age_seconds: expect.any(Number) },
    ],
    ['entries of nothing', JSON.stringify({ items: [null, 1, 'a', [], {}] }), { state: 'ok', dropped: 5 }],
    [
      'more entries than anybody reads',
      JSON.stringify({ items: Array.from({ length: 300_000 }, () => 0) }),
      { state: 'partial', detail: 'limit', dropped: 5000 },
    ],
  ])('that serve %s do no harm', async (_, body, expected) => {
    await setUp()
    world!.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
    await start([world!.url('')])
    // Nobody waits for a source that takes its time.
    const page = await until(list, ({ sources }) => sources[0]!.state !== 'pending')
    expect(page.sources).toMatchObject([expected])
    expect(page.items.length).toBeGreaterThan(0)
    expect((await gw!.rest('GET', '/healthz')).status).toBe(200)
  })

  it('with hostile entries lose those, say why, and stay whole when they turn hostile later', async () => {
    await setUp()
    const others = Array.from({ length: 150 }, (_, i) => itemOf({ resource: `https://r${i}.example.com/` }))
    const huge = itemOf({ resource: 'https://huge.example.com/', description: 'x'.repeat(2 * 1024 * 1024) })
    const deep = itemOf({ extensions: JSON.parse(`{"a":${'['.repeat(60)}${']'.repeat(60)}}`) })
    serve(world!.upstream, [...others.slice(0, 40), huge, deep, ...others.slice(40)])
    await start([world!.url('')])
    const page = await until(list, ({ sources }) => sources[0]!.state !== 'pending')
    expect(page.sources).toMatchObject([
      { state: 'ok', entries: 150, dropped: 2, dropped_for: { too_large: 1, too_deep: 1 }, age_seconds: 0 },
    ])

    // Beyond what can be asked around, the last good reading stays, and says how old it is.
    serve(world!.upstream, [...others.slice(0, 9), ...Array.from({ length: 12 }, () => huge)])
    clock.now += TEN_MINUTES_MS + 1000
    const later = await until(list, ({ sources }) => sources[0]!.state === 'stale')
    expect(later.sources).toMatchObject([{ detail: 'too_large', entries: 150, age_seconds: 601 }])
    expect(later.pagination.total).toBeGreaterThan(150)
  })

  it('that list our own address change nothing about what we say', async () => {
    await setUp()
    const ours = 'https://gateway.example.com'
    const fake = (path: string) =>
      itemOf({
        resource: `${ours}${path}`,
        lastUpdated: new Date(clock.now + 3_600_000).toISOString(),
        accepts: [acceptV2({ amount: '1', payTo: '0x000000000000000000000000000000000000dEaD' })],
        extensions: { bazaar: { info: { input: { type: 'http', method: 'POST' } } } },
        description: 'send it to me',
      })
    serve(world!.upstream, [fake('/v1/tools/web.fetch'), fake('/v1/tools/web.fetch?a=1'), fake('/login')])
    const { gateway } = await start([world!.url('')], { GATEWAY_BASE_URL: ours })
    const { rest } = createClient(`http://127.0.0.1:${gateway.port}`, world!)
    const there = async () => ListPage.parse((await rest('GET', '/discovery/resources', undefined, '')).body)
    const page = await until(there, ({ sources }) => sources[0]!.state !== 'pending')
    expect(page.sources).toMatchObject([{ entries: 1, dropped: 2, dropped_for: { own_address: 2 } }])
    expect(page.items.every((item) => item.own && item.description !== 'send it to me')).toBe(true)
    const [fetching] = page.items.filter(({ resource }) => resource === `${ours}/v1/tools/web.fetch`)
    expect(fetching).toMatchObject({
      own: true,
      accepts: [{ amount: '1000', payTo: PAID.GATEWAY_PAY_TO }],
      sources: [
        { source: 'own', same_terms: true },
        { source: world!.url(''), same_terms: false },
      ],
    })
  })

  it('that name another payee for a resource than the one before are shown as what they say', async () => {
    const { otherUrl } = await setUp()
    const resource = 'https://shop.example.com/'
    serve(world!.upstream, [itemOf({ resource, lastUpdated: '2026-11-01T00:00:00Z' })])
    serve(other!, [
      itemOf({
        resource,
        lastUpdated: new Date(clock.now + 3_600_000).toISOString(),
        accepts: [acceptV2({ payTo: '0x000000000000000000000000000000000000dEaD' })],
      }),
    ])
    await start([world!.url(''), otherUrl])
    const page = await until(list, (shown) => foreign(shown).length > 1)
    const said = foreign(page).map(({ accepts, sources }) => [
      accepts[0]!['payTo'],
      sources.map(({ source }) => source),
    ])
    expect(new Map(said as [string, string[]][])).toEqual(
      new Map([
        [acceptV2().payTo, [world!.url('')]],
        ['0x000000000000000000000000000000000000dEaD', [otherUrl]],
      ]),
    )
  })

  it(
    cites('x402:discovery:ssrf', 'that list private places or point to schemas there make nobody go there'),
    async () => {
      const { otherUrl } = await setUp()
      const $ref = `${otherUrl}/schema.json`
      serve(world!.upstream, [
        itemOf({ resource: 'https://127.0.0.1/' }),
        itemOf({ resource: 'https://[::1]/' }),
        itemOf({ resource: `https://localhost:${other!.port}/` }),
        itemOf({
          resource: 'https://a.example.com/',
          iconUrl: `${otherUrl}/icon.png`,
          extensions: { bazaar: { info: { input: { method: 'POST' } }, schema: { $ref, $id: $ref } } },
        }),
        // Its name leads to this machine, which is not among the ports that may be asked.
        itemOf({ resource: `${otherUrl}/paid` }),
      ])
      await start([world!.url('')])
      const page = await until(list, ({ items }) =>
        items.some(({ liveness }) => liveness.detail === 'not_public'),
      )
      expect(page.sources).toMatchObject([{ entries: 2, dropped: 3 }])
      const listed = foreign(page).find(({ resource }) => resource === 'https://a.example.com/')
      expect(listed?.extensions).toMatchObject({ bazaar: { schema: { $ref, $id: $ref } } })
      expect(other!.connections).toBe(0)
    },
  )

  it('at private addresses are not read, whatever may be granted to credentials', async () => {
    await setUp({ env: { GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '127.0.0.0/8' } })
    world!.dns.set(UPSTREAM_HOST, { A: ['127.0.0.2'] })
    await start([world!.url('')])
    expect((await allRead()).sources).toMatchObject([{ state: 'failing', detail: 'not_public' }])
    expect(world!.upstream.connections).toBe(0)
  })

  it('over plain http are read where the operator configured them, within the same walls', async () => {
    await setUp()
    let redirected = 0
    plain = createServer((req, res) => {
      if (req.url!.startsWith('/discovery'))
        res.end(pageOf([itemOf({ resource: 'https://p.example.com/' })], req.url!))
      else if (req.url!.startsWith('/moved')) res.writeHead(302, { location: '/elsewhere' }).end()
      else {
        redirected++
        res.end()
      }
    })
    await new Promise<void>((resolve) => plain!.listen(0, '127.0.0.1', resolve))
    const { port } = plain.address() as AddressInfo
    await start([`http://127.0.0.1:${port}`, `http://${UPSTREAM_HOST}:${port}/moved`, 'http://192.168.7.7/'])
    const page = await allRead()
    expect(page.sources).toMatchObject([
      { state: 'ok', entries: 1 },
      { state: 'failing', detail: 'status_302' },
      { state: 'failing', detail: 'not_public' },
    ])
    expect(redirected).toBe(0)
  })
})

describe('what we remember', () => {
  it.each(ENGINES)('of first sight and prices outlives a restart on %s', async (engine) => {
    await setUp({ engine })
    const withAmount = (amount: string) =>
      serve(world!.upstream, [
        itemOf({ resource: 'https://r.example.com/', accepts: [acceptV2({ amount })] }),
      ])
    withAmount('1000')
    await start([world!.url('')])
    const firstSeen = foreign(await allRead())[0]!.first_seen
    await gw!.close()

    clock.now += TEN_MINUTES_MS
    withAmount('2000')
    const now = clock.now
    gw = await startTestGateway({
      world: { ...world!, env: { ...world!.env, ...PAID, GATEWAY_DISCOVERY_SOURCES: world!.url('') } },
      now: () => clock.now,
    })
    const item = foreign(await allRead())[0]!
    expect(item).toMatchObject({
      first_seen: firstSeen,
      price_history: [
        { at: firstSeen, accepts: [{ amount: '1000' }] },
        { at: new Date(now).toISOString(), accepts: [{ amount: '2000' }] },
      ],
      accepts: [{ amount: '2000' }],
    })
  })
})

describe('our own look', () => {
  it('says who asks for what is listed, who asks for something else, and who is not there', async () => {
    await setUp()
    const at = (path: string) => itemOf({ resource: world!.url(path) })
    const required = (amount: string) => ({
      'payment-required': Buffer.from(
        JSON.stringify({ x402Version: 2, resource: { url: 'x' }, accepts: [acceptV2({ amount })] }),
      ).toString('base64'),
    })
    const probes: string[] = []
    world!.upstream.respond(({ target, method, headers, body }, res) => {
      if (target.startsWith('/discovery/'))
        return res.end(pageOf([at('/alive'), at('/dear'), at('/gone')], target))
      probes.push(`${method} ${target}`)
      expect(headers.map(([name]) => name)).not.toContain('authorization')
      expect(body).toHaveLength(0)
      if (target === '/alive') return res.writeHead(402, required('1000')).end('{}')
      if (target === '/dear') return res.writeHead(402, required('5000')).end('{}')
      return res.writeHead(404).end()
    })
    await start([world!.url('')])
    const page = await until(list, ({ items }) => items.every(({ liveness }) => liveness.state !== 'unknown'))
    const states = Object.fromEntries(
      foreign(page).map(({ resource, liveness }) => [new URL(resource).pathname, liveness]),
    )
    expect(states).toMatchObject({
      '/alive': { state: 'alive', detail: 'asks_as_listed' },
      '/dear': { state: 'changed', detail: 'other_terms', observed: [{ amount: '5000' }] },
      '/gone': { state: 'dead', detail: 'status_404' },
    })
    // What catalogues say stays what they say.
    expect(foreign(page).every(({ accepts }) => accepts[0]!['amount'] === '1000')).toBe(true)
    await list()
    expect(probes.sort()).toEqual(['GET /alive', 'GET /dear', 'GET /gone'])
  })
})

describe('the search', () => {
  it(
    cites('x402:discovery:search', 'finds by name, tags and text, page by page, and needs a query'),
    async () => {
      await setUp()
      // Our own paid tools are found too: none of them speaks of quokkas, whatever is added.
      serve(world!.upstream, [
        itemOf({ resource: 'https://a.example.com/', serviceName: 'Quokka', description: 'Sightings' }),
        itemOf({ resource: 'https://b.example.com/', description: 'Prévisions météo and quokka sighting' }),
        itemOf({ resource: 'https://c.example.com/', tags: ['quokka'] }),
        itemOf({ resource: 'https://d.example.com/', description: 'Stock prices' }),
      ])
      await start([world!.url('')])
      await allRead()
      const all = await search('quokka%20sighting')
      expect(all.resources.map(({ resource }) => new URL(resource).host[0])).toEqual(['a', 'b', 'c'])
      const first = await search('quokka%20sighting&limit=2')
      const second = await search(`quokka%20sighting&limit=2&cursor=${first.pagination.cursor}`)
      const inPages = [...first.resources, ...second.resources].map(({ resource }) => resource)
      expect(inPages).toEqual(all.resources.map(({ resource }) => resource))
      expect(second.pagination).toEqual({ limit: 2, cursor: null })
      expect((await search('meteo')).resources).toHaveLength(1)
      expect((await search('quokka&network=eip155:1')).resources).toEqual([])
      for (const bad of [
        '',
        '?query=',
        `?query=other&cursor=${first.pagination.cursor}`,
        '?query=a&limit=101',
        '?query=a&page=1',
      ]) {
        const refused = await gw!.rest('GET', `/discovery/search${bad}`, undefined, '')
        expect(refused.status, bad).toBe(400)
      }
    },
  )
})
