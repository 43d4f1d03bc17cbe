// Redirects of a source on the wire: real HTTPS servers, a real name server, the gateway's own way out. However an answer leads on,
// it leads nowhere that the address itself could not have led.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RedirectRule } from '../../schemas/sources.ts'
import { analyses } from '../../src/outcomes/analyses.ts'
import type { Reading } from '../../src/outcomes/reading.ts'
import { createGather } from '../../src/outcomes/sources/gather.ts'
import { createReader } from '../../src/outcomes/sources/reader.ts'
import { startSources, type TestSources } from '../support/sources.ts'

const HOST = 'example.com'
const WWW = 'www.example.com'
const OTHER = 'other.example.net'
let world: TestSources
let routes: Record<string, (res: ServerResponse) => void>
let gather: ReturnType<typeof createGather>

beforeAll(async () => {
  world = await startSources(HOST, WWW, OTHER)
  world.upstream.respond((request, res) => {
    const route = routes[`${request.servername}${request.target}`] ?? routes[request.target]
    if (route) route(res)
    else res.writeHead(404).end()
  })
})
afterAll(() => world?.close())
beforeEach(() => {
  routes = {}
  Object.assign(world.policy, { denied_hosts: [], paused: false })
  gather = createGather({ reader: createReader(world.parts), rules: world.parts.rules, now: Date.now })
})

const page = (res: ServerResponse) =>
  void res
    .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=1' })
    .end('<title>Tea</title><p>Green tea is steeped for three minutes at eighty degrees.')
const feed = (res: ServerResponse) =>
  void res
    .writeHead(200, { 'content-type': 'application/rss+xml' })
    .end('<rss version="2.0"><channel><title>F</title><item><title>One</title></item></channel></rss>')
/** The three ways in which an answer leads on, each with the reading that it is for. */
const WAYS = {
  http: [
    'page',
    (to: string) => (res: ServerResponse) =>
      void res.writeHead(301, { location: to, 'set-cookie': 'a=1' }).end(),
  ],
  meta_refresh: [
    'page',
    (to: string) => (res: ServerResponse) =>
      void res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<meta http-equiv="refresh" content="0;url=${to}">`),
  ],
  feed_link: [
    'feed',
    (to: string) => (res: ServerResponse) =>
      void res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<!doctype html><html><head><link rel=alternate type=application/rss+xml href="${to}"></head><body>News`,
        ),
  ],
} as const
type Kind = keyof typeof WAYS
const KINDS = Object.keys(WAYS) as Kind[]

async function read(kind: Kind, to: string, { redirects = 'any' as RedirectRule, maxAgeSeconds = 0 } = {}) {
  const [wanted, leads] = WAYS[kind]
  routes['/start'] = leads(to)
  const { coverage } = await gather<unknown>(
    [{ url: world.url('/start'), fallbacks: [] }],
    { wanted, maxAgeSeconds, redirects, signal: new AbortController().signal },
    async (input): Promise<Reading<unknown>> =>
      wanted === 'feed' ? analyses.feed(input) : analyses.page(input),
  )
  return coverage.sources[0]!
}

describe.each(KINDS)('a source that leads on by %s', (kind) => {
  it('is read where it leads to, with nothing of the first answer', async () => {
    routes[`${WWW}/end`] = kind === 'feed_link' ? feed : page
    const to = world.url('/end', WWW)
    const before = world.upstream.requests.length
    const source = await read(kind, to, { redirects: 'same_site' })
    expect(source).toMatchObject({ ok: true, retrieved: { url: to } })
    expect(source.attempts[0]!.redirects).toEqual([
      { url: world.url('/start'), http_status: kind === 'http' ? 301 : 200, to, kind },
    ])
    const [, second] = world.upstream.requests.slice(before)
    const headers = Object.fromEntries(second!.headers)
    expect(headers).toMatchObject({ host: new URL(to).host })
    expect(Object.keys(headers)).toEqual(expect.not.arrayContaining(['cookie', 'referer', 'authorization']))
  })

  it.each([
    ['10.1.2.3', 'A'],
    ['169.254.169.254', 'A'],
    ['::ffff:10.0.0.1', 'AAAA'],
    ['fd00::1', 'AAAA'],
  ])('is not read at a name that leads to %s', async (address, type) => {
    world.dns.set(`inside.${HOST}`, { [type]: [address] })
    const before = world.upstream.connections
    const source = await read(kind, world.url('/secret', `inside.${HOST}`))
    expect(source).toMatchObject({ ok: false, reason: 'target_blocked', retrieved: null })
    expect(source.attempts[0]!.redirects).toHaveLength(1)
    expect(world.upstream.connections - before).toBeLessThanOrEqual(1)
  })

  it('is not read at a name that led to a public address a moment ago', async () => {
    let asked = 0
    // The name of the first address itself: its second look-up is the one that counts.
    world.dns.set('turning.example.net', (type) =>
      type === 'A' ? { A: [asked++ === 0 ? '127.0.0.1' : '10.0.0.1'] } : {},
    )
    const url = world.url('/secret', 'turning.example.net')
    const first = await createReader(world.parts).read(url, {
      wanted: 'page',
      maxAgeSeconds: 0,
      timeoutMs: 5000,
      signal: new AbortController().signal,
    })
    expect(first).toMatchObject({ ok: false, reason: 'tls_failed' })
    expect(await read(kind, url)).toMatchObject({ reason: 'target_blocked' })
    expect(asked).toBe(2)
  })

  it('is not read at what the operator denies', async () => {
    world.policy.denied_hosts.push(OTHER)
    routes[`${OTHER}/end`] = page
    expect(await read(kind, world.url('/end', OTHER))).toMatchObject({
      ok: false,
      reason: 'target_blocked',
    })
  })

  it.each([
    ['a port that is not open', () => `https://${HOST}:1/`],
    ['an address of digits', () => `https://127.0.0.1:${world.upstream.port}/`],
    ['a local name', () => 'https://localhost/'],
    ['plain HTTP', () => `http://${HOST}:${world.upstream.port}/end`],
    ['a user name', () => `https://a:b@${HOST}:${world.upstream.port}/end`],
    ['a file', () => 'file:///etc/passwd'],
  ])('is not read at %s', async (_, to) => {
    routes['/end'] = page
    const before = world.upstream.requests.length
    const source = await read(kind, to())
    // A refresh that leads nowhere leaves the page as it is, and that has no text.
    expect(source).toMatchObject({ ok: false, retrieved: null })
    expect(world.upstream.requests).toHaveLength(before + 1)
    expect(JSON.stringify(source)).not.toContain('a:b@')
  })

  it('is not read on another site unless the buyer allows that', async () => {
    routes[`${OTHER}/end`] = kind === 'feed_link' ? feed : page
    const to = world.url('/end', OTHER)
    expect(await read(kind, to, { redirects: 'same_site' })).toMatchObject({ ok: false })
    expect(await read(kind, to)).toMatchObject({ ok: true, retrieved: { url: to } })
  })
})

it('is asked for again where a kept answer does not do, and each address is kept for itself', async () => {
  routes[`${WWW}/end`] = (res) =>
    void res
      .writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'max-age=60' })
      .end('Kept for a minute.')
  const to = world.url('/end', WWW)
  const first = await read('http', to, { maxAgeSeconds: 60 })
  const before = world.upstream.requests.length
  const second = await read('http', to, { maxAgeSeconds: 60 })
  expect([first.retrieved!.cache, second.retrieved!.cache]).toEqual(['miss', 'hit'])
  // A redirect is never kept: where it leads may change.
  expect(world.upstream.requests.slice(before).map(({ target }) => target)).toEqual(['/start'])
})
