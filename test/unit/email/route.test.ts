// Where mail goes, from what DNS says: every answer of it, and what is remembered for how long.
import { describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import type { DnsAnswer, MailDns, MailRoute } from '../../../src/email/ports.ts'
import { createMailRoutes } from '../../../src/email/route.ts'

type Mx = DnsAnswer<{ exchange: string; priority: number }>
type Addresses = DnsAnswer<string>
const PUBLIC = '93.184.216.34'
const PRIVATE = '10.0.0.1'
const NO_NAME = { status: 'no_name', ttlSeconds: 900 } as const
const NO_DATA = { status: 'no_data', ttlSeconds: 30 } as const
const SLOW = { status: 'failed', reason: 'timeout' } as const
const BROKEN = { status: 'failed', reason: 'failure' } as const
const found = (...records: string[]): Addresses => ({ status: 'found', records, ttlSeconds: 900 })
const mx = (...exchanges: string[]): Mx => ({
  status: 'found',
  records: exchanges.map((exchange, i) => ({ exchange, priority: (exchanges.length - i) * 10 })),
  ttlSeconds: 120,
})

interface Zone {
  readonly mx?: Mx
  readonly a?: Addresses
  readonly aaaa?: Addresses
  readonly txt?: DnsAnswer<string>
}

function setUp(zones: Readonly<Record<string, Zone>>, wait?: Promise<void>) {
  const clock = { now: 1_000_000 }
  const asked: string[] = []
  const dns: MailDns = {
    async mx(domain) {
      asked.push(`${domain} MX`)
      await wait
      const zone = zones[domain]
      return zone ? (zone.mx ?? NO_DATA) : NO_NAME
    },
    async txt(domain) {
      asked.push(`${domain} TXT`)
      return zones[domain]?.txt ?? NO_DATA
    },
    async addresses(host, family) {
      asked.push(`${host} ${family}`)
      const zone = zones[host]
      return zone ? ((family === 4 ? zone.a : zone.aaaa) ?? NO_DATA) : NO_NAME
    },
  }
  const routes = createMailRoutes({
    dns,
    addresses: createAddressPolicy([]),
    now: () => clock.now,
    elapsedMs: () => 0,
  })
  return { routes, asked, clock, zones }
}

describe('a route', () => {
  it.each<[string, Zone, MailRoute]>([
    [
      'through a host',
      { mx: mx('mx.ok.com') },
      { status: 'mx', hosts: [{ host: 'mx.ok.com', priority: 10 }], ttlSeconds: 120 },
    ],
    [
      'through the second host where the best is gone',
      { mx: mx('mx.ok.com', 'mx.gone.com') },
      {
        status: 'mx',
        hosts: [
          { host: 'mx.gone.com', priority: 10 },
          { host: 'mx.ok.com', priority: 20 },
        ],
        ttlSeconds: 120,
      },
    ],
    ['no name', { mx: NO_NAME }, { status: 'no_domain', ttlSeconds: 60 }],
    ['null MX', { mx: mx('') }, { status: 'null_mx', ttlSeconds: 120 }],
    [
      'null MX beside a real one',
      { mx: mx('', 'mx.ok.com') },
      { status: 'mx', hosts: [{ host: 'mx.ok.com', priority: 10 }], ttlSeconds: 120 },
    ],
    [
      'its own address',
      { a: found(PRIVATE, PUBLIC) },
      { status: 'implicit', addresses: [PUBLIC], sendsNoMail: false, ttlSeconds: 30 },
    ],
    [
      'its own IPv6 address',
      { aaaa: found('2606:4700::1') },
      { status: 'implicit', addresses: ['2606:4700::1'], sendsNoMail: false, ttlSeconds: 30 },
    ],
    ['nothing at all', {}, { status: 'no_route', ttlSeconds: 30 }],
    [
      'only private addresses',
      { a: found(PRIVATE), aaaa: found('::1') },
      { status: 'unreachable', hosts: [], ttlSeconds: 30 },
    ],
    [
      'an address as host',
      { mx: mx(PUBLIC) },
      { status: 'unreachable', hosts: [{ host: PUBLIC, priority: 10 }], ttlSeconds: 60 },
    ],
    [
      'a local host',
      { mx: mx('localhost') },
      { status: 'unreachable', hosts: [{ host: 'localhost', priority: 10 }], ttlSeconds: 60 },
    ],
    [
      'a host at a private address',
      { mx: mx('mx.private.com') },
      { status: 'unreachable', hosts: [{ host: 'mx.private.com', priority: 10 }], ttlSeconds: 30 },
    ],
    [
      'a host that does not exist',
      { mx: mx('mx.gone.com') },
      { status: 'unreachable', hosts: [{ host: 'mx.gone.com', priority: 10 }], ttlSeconds: 60 },
    ],
    ['no answer', { mx: SLOW }, { status: 'unknown', reason: 'timeout' }],
    ['a failure', { mx: BROKEN }, { status: 'unknown', reason: 'failure' }],
    ['no answer about its own address', { a: SLOW }, { status: 'unknown', reason: 'timeout' }],
    [
      'a private IPv4 address and no answer about IPv6',
      { a: found(PRIVATE), aaaa: SLOW },
      { status: 'unknown', reason: 'timeout' },
    ],
    [
      'no answer about IPv4, but a public IPv6 address',
      { a: BROKEN, aaaa: found('2606:4700::1') },
      { status: 'implicit', addresses: ['2606:4700::1'], sendsNoMail: false, ttlSeconds: 30 },
    ],
    ['a host nobody knows of', { mx: mx('mx.broken.com') }, { status: 'unknown', reason: 'failure' }],
    [
      'a private host and one nobody knows of',
      { mx: mx('mx.broken.com', 'mx.private.com') },
      { status: 'unknown', reason: 'failure' },
    ],
  ])('of %s', async (_what, zone, expected) => {
    const { routes } = setUp({
      'asked.com': zone,
      'mx.ok.com': { a: found(PUBLIC) },
      'mx.private.com': { a: found(PRIVATE) },
      'mx.broken.com': { a: BROKEN, aaaa: BROKEN },
    })
    expect(await routes.find('asked.com')).toEqual(expected)
  })

  it('is not denied to a domain with more hosts than are looked at', async () => {
    const hosts = Array.from({ length: 12 }, (_, i) => `mx${i}.gone.com`)
    const { routes } = setUp({ 'asked.com': { mx: mx(...hosts) } })
    expect(await routes.find('asked.com')).toEqual({ status: 'unknown', reason: 'failure' })
  })

  it.each(['127.0.0.1', '93.184.216.34', '2606:2800:220:1::1', 'localhost', 'mail.local', 'mx.internal'])(
    'is not through %s, whatever DNS says about that name, and it is not asked',
    async (host) => {
      const { routes, asked } = setUp({ 'asked.com': { mx: mx(host) }, [host]: { a: found(PUBLIC) } })
      expect(await routes.find('asked.com')).toMatchObject({ status: 'unreachable' })
      expect(asked).toEqual(['asked.com MX'])
    },
  )

  it('is through the host of the lowest number, and of its equals the first by name', async () => {
    const records = [
      { exchange: 'a.ok.com', priority: 30 },
      { exchange: 'z.ok.com', priority: 5 },
      { exchange: 'y.ok.com', priority: 5 },
    ]
    const { routes, asked } = setUp({
      'asked.com': { mx: { status: 'found', records, ttlSeconds: 60 } },
      'y.ok.com': { a: found(PUBLIC) },
    })
    const route = await routes.find('asked.com')
    expect(route).toMatchObject({
      hosts: [
        { host: 'y.ok.com', priority: 5 },
        { host: 'z.ok.com', priority: 5 },
        { host: 'a.ok.com', priority: 30 },
      ],
    })
    expect(asked).toEqual(['asked.com MX', 'y.ok.com 4'])
  })

  it('costs two questions where the best host is reachable', async () => {
    const { routes, asked } = setUp({
      'asked.com': { mx: mx('b.ok.com', 'a.ok.com') },
      'a.ok.com': { a: found(PUBLIC) },
    })
    await routes.find('asked.com')
    expect(asked).toEqual(['asked.com MX', 'a.ok.com 4'])
  })
})

describe('what was learned', () => {
  it('holds for its TTL, and what is left of that is said', async () => {
    const { routes, asked, clock } = setUp({
      'asked.com': { mx: mx('mx.ok.com') },
      'mx.ok.com': { a: found(PUBLIC) },
    })
    expect(routes.recall('asked.com')).toBeUndefined()
    await routes.find('asked.com')
    clock.now += 100_500
    expect(routes.recall('asked.com')).toMatchObject({ status: 'mx', ttlSeconds: 20 })
    expect(await routes.find('asked.com')).toMatchObject({ ttlSeconds: 20 })
    clock.now += 19_500
    expect(routes.recall('asked.com')).toBeUndefined()
    await routes.find('asked.com')
    // The host was known for longer.
    expect(asked).toEqual(['asked.com MX', 'mx.ok.com 4', 'asked.com MX'])
  })

  it('holds for five minutes at most, and one where there is nothing', async () => {
    const long = { ...mx('mx.ok.com'), ttlSeconds: 86_400 } as Mx
    const { routes } = setUp({ 'asked.com': { mx: long }, 'mx.ok.com': { a: found(PUBLIC) } })
    expect(await routes.find('asked.com')).toMatchObject({ ttlSeconds: 300 })
    expect(await routes.find('gone.com')).toMatchObject({ ttlSeconds: 60 })
  })

  it('holds no longer than the address of the host that it leads to', async () => {
    const short = { ...found(PUBLIC), ttlSeconds: 7 } as Addresses
    const { routes } = setUp({
      'first.com': { mx: mx('mx.ok.com') },
      'second.com': { mx: mx('mx.ok.com', 'mx.gone.com') },
      'mx.ok.com': { a: short },
    })
    expect(await routes.find('first.com')).toMatchObject({ status: 'mx', ttlSeconds: 7 })
    expect(await routes.find('second.com')).toMatchObject({ status: 'mx', ttlSeconds: 7 })
  })

  it('is forgotten at once where DNS was in doubt or says zero', async () => {
    const { routes, asked } = setUp({
      'slow.com': { mx: SLOW },
      'zero.com': { mx: { ...mx('mx.ok.com'), ttlSeconds: 0 } as Mx },
      'mx.ok.com': { a: found(PUBLIC) },
    })
    for (const domain of ['slow.com', 'slow.com', 'zero.com', 'zero.com']) await routes.find(domain)
    expect(asked.filter((each) => each.endsWith('MX'))).toHaveLength(4)
  })

  it('is asked for once by however many', async () => {
    const gate = Promise.withResolvers<void>()
    const { routes, asked } = setUp(
      { 'asked.com': { mx: mx('mx.ok.com') }, 'mx.ok.com': { a: found(PUBLIC) } },
      gate.promise,
    )
    const all = Array.from({ length: 100 }, () => routes.find('asked.com'))
    gate.resolve()
    expect(new Set((await Promise.all(all)).map((route) => route.status))).toEqual(new Set(['mx']))
    expect(asked).toEqual(['asked.com MX', 'mx.ok.com 4'])
  })
})
