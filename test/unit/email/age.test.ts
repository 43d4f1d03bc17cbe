// When a domain was registered: what answers and files say, and the two adapters, each against something local.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import type { OutboundRequest, SendResult } from '../../../src/egress/ports.ts'
import { createFileAges, createRdapAges } from '../../../src/email/adapters/domain-age.ts'
import { MAX_DATED_DOMAINS, readDatedDomains, readRegistration } from '../../../src/email/age.ts'

const AT = Date.parse('2026-11-01T10:00:00Z')
const events = (...list: unknown[]) => ({ objectClassName: 'domain', events: list })
const registration = (eventDate: unknown) => ({ eventAction: 'registration', eventDate })

describe('an RDAP answer', () => {
  it('says the day of the registration, among other events', () => {
    const changed = { eventAction: 'last changed', eventDate: '2026-11-20T00:00:00Z' }
    expect(readRegistration(events(null, changed, registration('2026-11-01T10:00:00Z')))).toBe(AT)
  })
  it.each([
    [undefined],
    [null],
    ['registration'],
    [{}],
    [{ events: 'registration' }],
    [events()],
    [events(registration('soon'))],
    [events(registration(20_261_101))],
    [events({ eventAction: 'expiration', eventDate: '2027-11-01T10:00:00Z' })],
  ])('may not say it: %j', (answer) => {
    expect(readRegistration(answer)).toBeUndefined()
  })
})

describe('a file of days', () => {
  it('has a domain and a day on each line, however they are parted', () => {
    const text =
      '# new\nacme.io 2026-11-01\r\nBücher.example,2026-11-01T10:00:00Z\n\nb.com;\t2026-11-02 # by hand\nno day\nx 2026-11-01\n'
    const { dates, ignored } = readDatedDomains(text)
    expect([...dates]).toEqual([
      ['acme.io', Date.parse('2026-11-01')],
      ['xn--bcher-kva.example', AT],
      ['b.com', Date.parse('2026-11-02')],
    ])
    expect(ignored).toBe(2)
  })
  it('is bounded', () => {
    const lines = Array.from({ length: MAX_DATED_DOMAINS + 1 }, (_, i) => `d${i}.com 2026-11-01`)
    expect(() => readDatedDomains(lines.join('\n'))).toThrow(RangeError)
  })

  it('is read again where it changed, keeps what it said where it broke, and tells of it once', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'ages-')), 'ages.txt')
    const clock = { now: 0 }
    const problems: string[] = []
    const ages = createFileAges({
      path,
      now: () => clock.now,
      report: (problem) => void problems.push(problem),
    })
    const at = (domain: string) => ages.registeredAt(domain)
    expect(await at('acme.io')).toBeUndefined()
    expect(problems).toHaveLength(1)
    await writeFile(path, 'acme.io 2026-11-01\n')
    expect(await at('acme.io')).toBeUndefined()
    clock.now += 30_000
    expect(await at('acme.io')).toBe(Date.parse('2026-11-01'))
    await writeFile(path, Buffer.alloc(17 * 1024 * 1024, 'x'))
    for (let i = 0; i < 2; i++) {
      clock.now += 30_000
      expect(await at('acme.io')).toBe(Date.parse('2026-11-01'))
    }
    expect(problems).toHaveLength(2)
  })
})

describe('an RDAP server', () => {
  type Answer = { status: number; body?: string; location?: string }
  function setUp(
    answer: (url: string) => Answer | undefined,
    addresses = ['93.184.216.34'],
    isAllowed = true,
  ) {
    const sent: OutboundRequest[] = []
    const clock = { now: 0 }
    const ages = createRdapAges({
      url: 'https://rdap.good.com/',
      now: () => clock.now,
      policy: createAddressPolicy([]),
      checkHost: async () => ({ ok: isAllowed }),
      resolver: { resolve: async () => addresses },
      sender: {
        async send(request): Promise<SendResult> {
          sent.push(request)
          const given = answer(request.url.href)
          if (!given) return { ok: false, phase: 'after_send', reason: 'timeout' }
          const headers = given.location === undefined ? [] : [{ name: 'location', value: given.location }]
          const body = Buffer.from(given.body ?? '')
          return { ok: true, response: { status: given.status, statusText: '', headers, body } }
        },
      },
    })
    return { clock, sent, ask: (domain: string) => ages.registeredAt(domain) }
  }
  const known: Answer = { status: 200, body: JSON.stringify(events(registration('2026-11-01T10:00:00Z'))) }

  it('is asked once a day for the domain alone', async () => {
    const { ask, clock, sent } = setUp(() => known)
    expect(await ask('acme.io')).toBe(AT)
    expect(await ask('acme.io')).toBe(AT)
    expect(sent.map(({ method, url, body }) => [method, url.href, body])).toEqual([
      ['GET', 'https://rdap.good.com/domain/acme.io', undefined],
    ])
    clock.now += 86_400_000
    await ask('acme.io')
    expect(sent).toHaveLength(2)
  })

  it('is asked once about a domain that many want to know of at once', async () => {
    const { ask, sent } = setUp(() => known)
    expect(new Set(await Promise.all(Array.from({ length: 100 }, () => ask('acme.io'))))).toEqual(
      new Set([AT]),
    )
    expect(sent).toHaveLength(1)
  })

  it('may send on to the registry, over https alone and not for ever', async () => {
    const toRegistry = setUp((url) =>
      url.includes('registry')
        ? known
        : { status: 302, location: 'https://registry.good.com/domain/acme.io' },
    )
    expect(await toRegistry.ask('acme.io')).toBe(AT)
    const plain = setUp(() => ({ status: 302, location: 'http://registry.good.com/domain/acme.io' }))
    expect(await plain.ask('acme.io')).toBeUndefined()
    expect(plain.sent).toHaveLength(1)
    const round = setUp((url) => ({ status: 302, location: url }))
    expect(await round.ask('acme.io')).toBeUndefined()
    expect(round.sent).toHaveLength(3)
  })

  it.each<[string, Answer | undefined, number]>([
    ['does not know it', { status: 404 }, 3_600_000],
    ['fails', { status: 500 }, 60_000],
    ['is silent', undefined, 60_000],
    ['answers nonsense', { status: 200, body: '<html>' }, 60_000],
    ['does not say when', { status: 200, body: '{}' }, 3_600_000],
  ])('that %s leaves it unknown, and is left alone for a while', async (_, answer, restMs) => {
    const { ask, clock, sent } = setUp(() => answer)
    expect(await ask('acme.io')).toBeUndefined()
    clock.now += restMs - 1
    await ask('acme.io')
    expect(sent).toHaveLength(1)
    clock.now += 1
    await ask('acme.io')
    expect(sent).toHaveLength(2)
  })

  it('that is on a private address, or that the operator lets nothing out to, is not asked', async () => {
    const inside = setUp(() => known, ['10.0.0.1'])
    const closed = setUp(() => known, undefined, false)
    expect([await inside.ask('acme.io'), await closed.ask('acme.io')]).toEqual([undefined, undefined])
    expect([...inside.sent, ...closed.sent]).toEqual([])
  })
})
