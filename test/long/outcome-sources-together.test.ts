// Several sources of one outcome on the wire: a slow one, fallbacks, a cache, and what is refused or not charged.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { neverGone } from '../../src/core/priced-run.ts'
import type { Execution } from '../../schemas/outcome.ts'
import { Coverage } from '../../schemas/sources.ts'
import type { WebExtractionResult } from '../../schemas/web-extraction.ts'
import type { PageInput, Reading } from '../../src/outcomes/reading.ts'
import { createGather } from '../../src/outcomes/sources/gather.ts'
import { createReader } from '../../src/outcomes/sources/reader.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createTestOutcomes } from '../support/outcomes.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'
import { startSources, type TestSources } from '../support/sources.ts'

const HOSTS = ['one.example.com', 'two.example.com', 'three.example.com']
const page = (title: string, words = title) =>
  `<html><head><title>${title}</title></head><body><main><h1>${title}</h1><p>This page says some sentences about ${words}, ` +
  'so that there is a text to be found in it, and not only a heading.</p></main></body></html>'
const html = (res: ServerResponse, body: string, headers: Record<string, string> = {}) =>
  res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)

let world: TestSources
let pages: Map<string, (res: ServerResponse) => void>
beforeAll(async () => {
  world = await startSources(...HOSTS)
})
afterAll(() => world?.close())
beforeEach(() => {
  pages = new Map()
  world.upstream.respond(({ target, headers }, res) => {
    const host = headers.find(([name]) => name === 'host')![1].split(':')[0]!
    const respond =
      pages.get(host) ?? pages.get(target) ?? (() => html(res, page(`Page ${target} of ${host}`)))
    respond(res)
  })
})

const outcomes = () => createTestOutcomes(world.parts)
const execute = (input: Record<string, unknown>, given = outcomes()): Promise<Execution> =>
  given.plan(input).run({ signal: neverGone })
const extract = async (sources: unknown, more: Record<string, unknown> = {}, given = outcomes()) =>
  (await execute({ capability: 'web-extraction', sources, ...more }, given)).result as WebExtractionResult

describe('a slow source', () => {
  it('keeps its own deadline, and the others are read long before', async () => {
    const analysed: string[] = []
    const seen = Promise.withResolvers<void>()
    const held: ServerResponse[] = []
    pages.set('two.example.com', (res) => void held.push(res))
    const analyse = async ({ url }: PageInput): Promise<Reading<string>> => {
      analysed.push(new URL(url).hostname)
      if (analysed.length === 2) seen.resolve()
      return { ok: true, format: 'html', charset: null, textSha256: null, value: url }
    }
    const gather = createGather({
      rules: world.parts.rules,
      reader: createReader(world.parts),
      now: Date.now,
      // The others have as long to be looked up, connected to and read.
      limits: { addressMs: 10_000, sourceMs: 20_000 },
    })
    const gathering = gather(
      HOSTS.map((host) => ({ url: world.url('/', host), fallbacks: [] })),
      { wanted: 'page', maxAgeSeconds: 0, redirects: 'same_site', signal: new AbortController().signal },
      analyse,
    )
    await seen.promise
    expect(analysed.toSorted()).toEqual(['one.example.com', 'three.example.com'])
    const { coverage, usable } = await gathering
    expect(coverage).toMatchObject({ asked: 3, usable: 2, failed: 1, complete: false })
    expect(coverage.sources.map(({ reason }) => reason)).toEqual([null, 'timeout', null])
    expect(coverage.sources[1]!.attempts[0]).toMatchObject({ ok: false, http_status: null })
    expect(usable.map(({ source }) => source)).toEqual([0, 2])
    expect(held).toHaveLength(1)
  })
})

describe('an extraction of several sources', () => {
  it('delivers what there is, and says of the rest what happened and what to send instead', async () => {
    pages.set('/moved', (res) => res.writeHead(301, { location: 'https://elsewhere.example.net/new' }).end())
    const result = await extract([
      world.url('/a'),
      { url: world.url('/moved', HOSTS[1]) },
      'https://nowhere.example.com/',
    ])
    expect(result.documents.map(({ source, url }) => [source, url])).toEqual([[0, world.url('/a')]])
    expect(result.coverage).toMatchObject({ asked: 3, usable: 1, failed: 2, complete: false })
    expect(result.coverage.sources[1]!.attempts[0]).toMatchObject({
      reason: 'redirected',
      http_status: 301,
      redirect_to: 'https://elsewhere.example.net/new',
    })
    expect(result.coverage.sources[2]).toMatchObject({ reason: 'name_not_found', retrieved: null })
    expect(Coverage.parse(result.coverage)).toEqual(result.coverage)
  })

  it('uses the fallback of a source that fails, and of one that has no content', async () => {
    pages.set('/gone', (res) => res.writeHead(410).end())
    pages.set('/empty', (res) => html(res, '<html><body></body></html>'))
    const result = await extract([
      { url: world.url('/gone'), fallbacks: [world.url('/copy-a')] },
      { url: world.url('/empty'), fallbacks: [world.url('/copy-b')] },
    ])
    expect(result.documents.map(({ url }) => url)).toEqual([world.url('/copy-a'), world.url('/copy-b')])
    expect(result.coverage).toMatchObject({ usable: 2, complete: true })
    expect(result.coverage.sources).toMatchObject([
      {
        requested: world.url('/gone'),
        fallback_used: true,
        attempts: [{ reason: 'http_status' }, { ok: true }],
      },
      {
        requested: world.url('/empty'),
        fallback_used: true,
        attempts: [{ reason: 'no_content' }, { ok: true }],
      },
    ])
  })

  it('reports an address that is none beside one that is', async () => {
    const result = await extract([`${world.url('/a')}`, { url: 'http://one.example.com/' }])
    expect(result.coverage.sources[1]).toMatchObject({
      ok: false,
      reason: 'target_invalid',
      attempts: [{ detail: expect.stringContaining('https://one.example.com/') }],
    })
  })

  it('is refused with its coverage when nothing is usable', async () => {
    pages.set('/x', (res) => res.writeHead(500).end())
    pages.set('/y', (res) => res.writeHead(404).end())
    const refused = extract([{ url: world.url('/x'), fallbacks: [world.url('/y')] }])
    await expect(refused).rejects.toMatchObject({
      code: 'sources_unusable',
      status: 502,
      extras: {
        coverage: {
          asked: 1,
          usable: 0,
          sources: [{ reason: 'http_status', attempts: [{ http_status: 500 }, { http_status: 404 }] }],
        },
      },
    })
  })

  it('is served out of what was read just now where its age is allowed, and says how old it is', async () => {
    const given = outcomes()
    const first = await extract([world.url('/cached')], { max_age_seconds: 60 }, given)
    const before = world.upstream.requests.length
    const second = await extract([world.url('/cached')], { max_age_seconds: 60 }, given)
    expect(world.upstream.requests).toHaveLength(before)
    const [miss, hit] = [first, second].map(({ coverage }) => coverage.sources[0]!.retrieved!)
    expect([miss!.cache, hit!.cache]).toEqual(['miss', 'hit'])
    expect(hit).toMatchObject({ retrieved_at: miss!.retrieved_at, source_sha256: miss!.source_sha256 })
    const third = await extract([world.url('/cached')], {}, given)
    expect(third.coverage.sources[0]!.retrieved!.cache).toBe('miss')
    expect(world.upstream.requests).toHaveLength(before + 1)
  })
})

describe('a gateway that sells outcomes', () => {
  let chain: TestChain
  let gw: TestGateway
  let buyer: ReturnType<typeof createRestBuyer>
  const PATH = '/v1/execute'
  beforeAll(async () => {
    chain = await startTestChain(8453)
    gw = await startTestGateway({ env: chain.env })
    buyer = createRestBuyer(gw.baseUrl, chain.payers[0]!)
  })
  afterAll(async () => {
    await gw?.close()
    await chain?.close()
  })
  beforeEach(() => {
    gw.upstream.respond(({ target }, res) => {
      if (target.startsWith('/fail')) res.writeHead(500).end()
      else html(res, page(target))
    })
  })

  it.each([
    ['target_invalid', 400, ['http://api.example.com/']],
    ['target_blocked', 403, ['https://127.0.0.1/', 'https://printer.local/']],
  ])('refuses sources that can never be read before it asks for money: %s', async (code, status, urls) => {
    const before = gw.upstream.connections
    const answer = await buyer.send(PATH, { capability: 'web-extraction', urls })
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.headers.get('payment-required')).toBeNull()
    expect(answer.body.sources).toHaveLength(urls.length)
    expect(gw.upstream.connections).toBe(before)
  })

  it('charges for one usable source, and nothing where none is', async () => {
    const payer = chain.payers[0]!.address
    const start = await chain.usdcOf(payer)
    const failed = await buyer.buy(PATH, { capability: 'web-extraction', urls: [gw.url('/fail')] })
    expect([failed.status, failed.body.code]).toEqual([502, 'sources_unusable'])
    expect(failed.body.coverage.sources[0]).toMatchObject({ reason: 'http_status' })
    expect(await chain.usdcOf(payer)).toBe(start)
    const partial = await buyer.buy(PATH, {
      capability: 'web-extraction',
      urls: [gw.url('/fail'), gw.url('/good')],
    })
    expect(partial.status, partial.text).toBe(200)
    expect(partial.body.result.coverage).toMatchObject({ asked: 2, usable: 1, complete: false })
    expect(await chain.usdcOf(payer)).toBe(start - 3000n)
  })

  it('finishes what was paid for before it closes', async () => {
    const other = await startTestGateway({ env: chain.env })
    const held = Promise.withResolvers<ServerResponse>()
    other.upstream.respond((_request, res) => held.resolve(res))
    const buying = createRestBuyer(other.baseUrl, chain.payers[1]!).buy(PATH, {
      capability: 'web-extraction',
      urls: [other.url('/slow')],
    })
    const res = await held.promise
    // It has the time that it has in production: the process that reads the page has yet to start.
    const closing = other.gateway.close()
    html(res, page('Late'))
    expect((await buying).status).toBe(200)
    await closing
    await other.close()
  })
})
