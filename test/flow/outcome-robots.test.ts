// What sites say about automatic readers, on the wire: which files are asked for, by which way, how often, and what is not read then.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Coverage, RobotsPolicy } from '../../schemas/sources.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { createTestOutcomes } from '../support/outcomes.ts'
import { startSources, type TestSources } from '../support/sources.ts'

const HOST = 'example.com'
const OTHER = 'other.example.net'
let world: TestSources
let routes: Record<string, (res: ServerResponse) => void>
let asked: string[]
let clock: number

beforeAll(async () => {
  world = await startSources(HOST, OTHER)
  world.upstream.respond((request, res) => {
    asked.push(`${request.servername}${request.target}`)
    const route = routes[`${request.servername}${request.target}`] ?? routes[request.target]
    if (route) route(res)
    else res.writeHead(404).end('<p>Not here')
  })
})
afterAll(() => world?.close())
beforeEach(() => {
  asked = []
  clock = Date.now()
  routes = {
    '/page': (res) =>
      void res
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<title>Tea</title><p>Green tea is steeped for three minutes at eighty degrees, no longer.'),
  }
})

const text = (body: string) => (res: ServerResponse) =>
  void res.writeHead(200, { 'content-type': 'text/plain' }).end(body)
const open = (robots: RobotsPolicy | undefined) =>
  createTestOutcomes({
    ...world.parts,
    targets: world.parts.targets,
    sender: world.parts.sender,
    now: () => clock,
    robots,
    // The site is in this process: its answers come, if late.
    robotsMs: 20_000,
    about: 'https://gw.example/reader',
  })

async function read(outcomes: ReturnType<typeof open>, path = '/page', redirects?: 'any'): Promise<Coverage> {
  try {
    const planned = outcomes.plan({
      capability: 'web-extraction',
      url: world.url(path),
      ...(redirects && { redirects }),
    })
    const execution = await planned.run({ signal: () => new AbortController().signal })
    return (execution.result as { coverage: Coverage }).coverage
  } catch (thrown) {
    // What throws is not charged.
    if (!(thrown instanceof GatewayError) || thrown.code !== 'sources_unusable') throw thrown
    return thrown.extras['coverage'] as Coverage
  }
}
const first = (coverage: Coverage) => coverage.sources[0]!.attempts[0]!

describe('a site', () => {
  it('is asked beside the page, once, by the name that it may speak of', async () => {
    routes['/robots.txt'] = text('User-agent: *\nDisallow: /private')
    const outcomes = open('obey')
    const before = world.upstream.requests.length
    expect(first(await read(outcomes))).toMatchObject({
      ok: true,
      robots: { policy: 'obey', robots_txt: 'allowed', names_us: false, directives: [] },
    })
    expect(asked.toSorted()).toEqual([
      `${HOST}/.well-known/tdmrep.json`,
      `${HOST}/page`,
      `${HOST}/robots.txt`,
    ])
    for (const { headers } of world.upstream.requests.slice(before))
      expect(Object.fromEntries(headers)['user-agent']).toBe('AgentGateway/5 (+https://gw.example/reader)')
    asked = []
    await read(outcomes)
    expect(asked).toEqual([`${HOST}/page`])
    clock += 24 * 60 * 60_000 + 1
    asked = []
    await read(outcomes)
    expect(asked).toHaveLength(3)
  })

  it('is not asked where the operator does not want it', async () => {
    const attempt = first(await read(open('off')))
    expect([attempt.ok, attempt.robots, asked]).toEqual([true, undefined, [`${HOST}/page`]])
  })

  it('that is down is asked again after minutes, not after a day', async () => {
    routes['/robots.txt'] = (res) => void res.writeHead(503).end()
    const outcomes = open('obey')
    expect(first(await read(outcomes))).toMatchObject({
      ok: false,
      reason: 'robots_disallowed',
      robots: { robots_txt: 'unavailable' },
    })
    delete routes['/robots.txt']
    expect(first(await read(outcomes)).ok).toBe(false)
    clock += 5 * 60_000 + 1
    expect(first(await read(outcomes)).ok).toBe(true)
  })

  it('that does not answer delays nobody whose policy does not wait for it', async () => {
    routes['/robots.txt'] = () => {}
    expect(first(await read(open('report')))).toMatchObject({
      ok: true,
      robots: { robots_txt: 'not_waited_for' },
    })
  })

  it('may redirect to its file, but to nothing that is not public', async () => {
    routes[`${HOST}/robots.txt`] = (res) =>
      void res.writeHead(301, { location: world.url('/rules', OTHER) }).end()
    routes[`${OTHER}/rules`] = text('User-agent: *\nDisallow: /')
    expect(first(await read(open('obey')))).toMatchObject({ reason: 'robots_disallowed' })
    world.dns.set('inside.example.net', { A: ['10.0.0.1'] })
    const connections = world.upstream.connections
    routes[`${HOST}/robots.txt`] = (res) =>
      void res.writeHead(301, { location: world.url('/rules', 'inside.example.net') }).end()
    expect(first(await read(open('obey')))).toMatchObject({ robots: { robots_txt: 'unavailable' } })
    expect(world.upstream.connections - connections).toBeLessThanOrEqual(3)
  })

  it('cannot make one page many requests: its second file is followed once', async () => {
    for (const path of [
      '/robots.txt',
      '/.well-known/tdmrep.json',
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => `/r${n}`),
    ])
      routes[path] = (res) => {
        const from = Number(/^\/r(\d)/.exec(path)?.[1] ?? 0)
        res.writeHead(302, { location: `/r${from + 1}` }).end()
      }
    expect(first(await read(open('obey'))).ok).toBe(true)
    // The page, robots.txt with five redirects, and tdmrep.json with one.
    expect(asked).toHaveLength(1 + 6 + 2)
  })

  it('is read in its first 500 KiB', async () => {
    const long = (padding: number) => text(`User-agent: *\n${'#'.repeat(padding)}\nDisallow: /`)
    routes['/robots.txt'] = long(499 * 1024)
    expect(first(await read(open('obey'))).reason).toBe('robots_disallowed')
    routes['/robots.txt'] = long(501 * 1024)
    expect(first(await read(open('obey'))).ok).toBe(true)
  })
})

describe('what is kept from the gateway', () => {
  it.each<[string, RobotsPolicy, string | null]>([
    ['User-agent: *\nDisallow: /', 'report', null],
    ['User-agent: *\nDisallow: /', 'obey_ai', null],
    ['User-agent: *\nDisallow: /', 'obey', 'robots_disallowed'],
    ['User-agent: AgentGateway\nDisallow: /', 'obey_ai', 'robots_disallowed'],
    ['User-agent: *\nContent-Signal: ai-input=no', 'obey_ai', 'use_reserved'],
  ])('%j under %s: %s', async (robots, policy, reason) => {
    routes['/robots.txt'] = text(robots)
    const coverage = await read(open(policy))
    expect(first(coverage)).toMatchObject({ ok: reason === null, reason, robots: { policy } })
    expect(coverage.usable).toBe(reason === null ? 1 : 0)
  })

  it.each<[string, Record<string, string>, string]>([
    ['a header', { 'x-robots-tag': 'noai' }, ''],
    ['a reservation', { 'tdm-reservation': '1', 'tdm-policy': 'https://example.com/terms' }, ''],
    ['the page', {}, '<meta name="robots" content="noai">'],
    ['the page by another protocol', {}, '<meta name="tdm-reservation" content="1">'],
  ])('by %s is not sold', async (_, headers, head) => {
    routes['/page'] = (res) =>
      void res
        .writeHead(200, { 'content-type': 'text/html', ...headers })
        .end(`<head>${head}</head><body><p>Words of a page that may not be used.`)
    expect(first(await read(open('obey_ai')))).toMatchObject({
      ok: false,
      reason: 'use_reserved',
      http_status: 200,
    })
    expect(first(await read(open('report')))).toMatchObject({ ok: true })
  })

  it('does not lead on either: the redirect of an address that is not to be read is not followed', async () => {
    routes['/robots.txt'] = text('User-agent: *\nDisallow: /go')
    routes['/go'] = (res) => void res.writeHead(302, { location: '/page' }).end()
    expect(first(await read(open('obey'), '/go'))).toMatchObject({ ok: false, reason: 'robots_disallowed' })
    expect(asked).not.toContain(`${HOST}/page`)
    expect(first(await read(open('report'), '/go'))).toMatchObject({ ok: true })
  })
})
