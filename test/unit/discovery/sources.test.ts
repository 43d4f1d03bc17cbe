import { describe, expect, it } from 'vitest'
import { type CatalogueReading, nameSource, readCatalogue } from '../../../src/discovery/catalogue.ts'
import { readEntry } from '../../../src/discovery/entry.ts'
import { FACILITATOR_SOURCE, mergeListings, OWN_SOURCE } from '../../../src/discovery/merge.ts'
import { impostorOf } from '../../../src/discovery/own-listings.ts'
import type { Outbound, OutboundResult } from '../../../src/discovery/outbound.ts'
import { createSources, REFRESH_MS } from '../../../src/discovery/sources.ts'
import { acceptV2, itemOf, pageOf } from '../../support/catalogue.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
const SOURCE = 'https://catalogue.example.com'

const answer = (body: string | Buffer, status = 200): OutboundResult => ({
  ok: true,
  response: { status, statusText: '', headers: [], body: Buffer.from(body) },
})
const entriesOf = (...items: unknown[]) =>
  items.map((item) => {
    const verdict = readEntry(item, NOW)
    if (!verdict.ok) throw new Error(verdict.reason)
    return verdict.entry
  })
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => itemOf({ resource: `https://api.example.com/${i}` }))

async function read(
  respond: (url: string, count: number) => OutboundResult,
  limits: Partial<Parameters<typeof readCatalogue>[3] & object> = {},
  tick = 0,
) {
  let now = NOW
  const urls: string[] = []
  const outbound: Outbound = {
    async get({ url }) {
      urls.push(url)
      now += tick
      return respond(url, urls.length)
    },
  }
  const reading = await readCatalogue(
    SOURCE,
    { outbound, isImpostor: () => false, now: () => now },
    new AbortController().signal,
    {
      pages: 5,
      smallPages: 40,
      entries: 1000,
      pageBytes: 1000,
      pageMs: 1000,
      totalMs: 5000,
      ...limits,
    },
  )
  return { ...reading, dropped: Object.fromEntries(reading.dropped), urls }
}

describe('reading a catalogue', () => {
  it('goes through its pages', async () => {
    const { entries, dropped, end, urls } = await read((url) => answer(pageOf(many(250), url)))
    expect({ count: entries.length, dropped, end }).toEqual({ count: 250, dropped: {}, end: 'complete' })
    expect(urls).toEqual(
      [0, 100, 200].map((offset) => `${SOURCE}/discovery/resources?limit=100&offset=${offset}`),
    )
  })

  it('counts what is not valid and what is repeated', async () => {
    const items = [itemOf(), itemOf(), null, itemOf({ resource: 'https://127.0.0.1/' }), { resource: 1 }]
    const { entries, dropped } = await read((url) => answer(pageOf(items, url)))
    expect({ count: entries.length, dropped }).toEqual({
      count: 1,
      dropped: { repeated: 1, shape: 1, not_public: 1, resource: 1 },
    })
  })

  it.each<[string, (url: string, count: number) => OutboundResult, string, number]>([
    ['a name that does not resolve', () => ({ ok: false, reason: 'name_unresolved' }), 'name_unresolved', 0],
    ['an answer of 500', () => answer('{}', 500), 'status_500', 0],
    ['a redirect', () => answer('', 302), 'status_302', 0],
    ['text', () => answer('hello'), 'malformed', 0],
    ['JSON without a list', () => answer('{"items":{}}'), 'malformed', 0],
    ['a list without an object', () => answer('[]'), 'malformed', 0],
    [
      'a page that is nested too deeply around its list',
      () => answer(`{"items":[],"x":${'['.repeat(50)}${']'.repeat(50)}}`),
      'malformed',
      0,
    ],
    ['a page that breaks off', () => answer(`{"items":[${JSON.stringify(itemOf())}`), 'malformed', 0],
    [
      'a later page that fails',
      (url, count) => (count < 3 ? answer(pageOf(many(250), url)) : { ok: false, reason: 'timeout' }),
      'timeout',
      200,
    ],
  ])('ends with %s', async (_, respond, end, count) => {
    const reading = await read(respond)
    expect({ end: reading.end, count: reading.entries.length }).toEqual({ end, count })
  })

  it('reads no more entries than it may, whatever the catalogue has', async () => {
    const million = Array.from({ length: 1_000_000 }, () => null)
    const huge = JSON.stringify({ items: [...many(3), ...million] })
    const reading = await read(() => answer(huge), { entries: 5 })
    expect(reading).toMatchObject({ end: 'limit', dropped: { shape: 2 } })
    expect(reading.entries).toHaveLength(3)
    expect(reading.urls).toHaveLength(1)
  })

  it('stops at a catalogue that always gives the same page', async () => {
    const page = JSON.stringify({ items: many(100), pagination: { total: 100_000 } })
    const { end, entries, urls } = await read(() => answer(page))
    expect({ end, count: entries.length, pages: urls.length }).toEqual({
      end: 'complete',
      count: 100,
      pages: 2,
    })
  })

  it('stops after so many pages, and after so much time', async () => {
    const endless = (_url: string, count: number) =>
      answer(
        JSON.stringify({
          items: many(100).map((item, i) => ({ ...item, resource: `https://api.example.com/${count}/${i}` })),
        }),
      )
    expect(await read(endless, { entries: 10_000 })).toMatchObject({ end: 'limit', urls: { length: 5 } })
    expect(await read(endless, { entries: 10_000 }, 2000)).toMatchObject({
      end: 'timeout',
      urls: { length: 3 },
    })
  })

  it('is named without the query, which may hold a key', () => {
    expect(nameSource('https://catalogue.example.com/x402/?key=secret')).toBe(
      'https://catalogue.example.com/x402',
    )
  })
})

describe('the configured sources', () => {
  const reading = (
    items: readonly unknown[],
    end: CatalogueReading['end'] = 'complete',
  ): CatalogueReading => ({
    entries: entriesOf(...items),
    dropped: new Map(),
    end,
  })

  function setUp(answers: (url: string) => Promise<CatalogueReading>, urls = [SOURCE]) {
    const clock = { now: NOW }
    const reads: string[] = []
    const sources = createSources({
      urls,
      read: (url) => {
        reads.push(url)
        return answers(url)
      },
      onRead: async () => {},
      now: () => clock.now,
    })
    return { sources, reads, clock }
  }

  it('are read once for many callers, and again only when they are old', async () => {
    const { sources, reads, clock } = setUp(async () => reading([itemOf()]))
    expect(sources.states()).toMatchObject([{ state: 'pending', fetched_at: null }])
    await Promise.all([sources.refresh(), sources.refresh(), sources.refresh()])
    clock.now += REFRESH_MS - 1
    await sources.refresh()
    expect(reads).toHaveLength(1)
    clock.now += 1
    await sources.refresh()
    expect(reads).toHaveLength(2)
    expect(sources.states()).toMatchObject([{ state: 'ok', entries: 1 }])
  })

  it('keep what they said when they do not answer any more, marked as stale', async () => {
    let isDead = false
    const { sources, clock } = setUp(async () => (isDead ? reading([], 'unreachable') : reading([itemOf()])))
    await sources.refresh()
    isDead = true
    clock.now += REFRESH_MS
    await sources.refresh()
    expect(sources.listings()).toMatchObject([{ fetchedAt: NOW, entries: [{ type: 'http' }] }])
    expect(sources.states()).toMatchObject([
      { state: 'stale', detail: 'unreachable', fetched_at: '2026-11-21T12:00:00.000Z' },
    ])
    isDead = false
    clock.now += 60_000
    await sources.refresh()
    expect(sources.states()).toMatchObject([{ state: 'ok', detail: 'complete' }])
  })

  it('keep the whole of before over a part of now, and a part over nothing', async () => {
    const answers = [
      reading([itemOf()], 'timeout'),
      reading([itemOf(), itemOf({ resource: 'https://api.example.com/2' })]),
      reading([itemOf()], 'timeout'),
    ]
    const { sources, clock } = setUp(async () => answers.shift()!)
    const counts: number[] = []
    for (let i = 0; i < 3; i++) {
      await sources.refresh()
      clock.now += REFRESH_MS
      counts.push(sources.listings()[0]!.entries.length)
    }
    expect(counts).toEqual([1, 2, 2])
  })

  it('do not wait for each other', async () => {
    const slow = Promise.withResolvers<CatalogueReading>()
    const read = Promise.withResolvers<void>()
    const sources = createSources({
      urls: ['https://slow.example.com', 'https://fast.example.com'],
      read: (url) => (url.includes('slow') ? slow.promise : Promise.resolve(reading([itemOf()]))),
      onRead: async () => read.resolve(),
      now: () => NOW,
    })
    const refreshed = sources.refresh()
    await read.promise
    expect(sources.states()).toMatchObject([{ state: 'pending' }, { state: 'ok' }])
    expect(sources.listings()).toHaveLength(1)
    slow.resolve(reading([], 'timeout'))
    await refreshed
    expect(sources.states()[0]).toMatchObject({ state: 'failing', detail: 'timeout' })
  })
})

describe('several listings of one resource', () => {
  const listing = (source: string, over: Record<string, unknown> = {}) => ({
    source,
    fetchedAt: NOW,
    entries: entriesOf(itemOf(over)),
  })

  it('are one entry: ours, else the newest, with every claim beside it', () => {
    const [merged, ...rest] = mergeListings(
      [
        listing('a', { lastUpdated: '2026-11-01T00:00:00Z' }),
        listing('b', {
          resource: 'https://API.example.com:443/weather',
          lastUpdated: '2026-11-02T00:00:00Z',
          accepts: [acceptV2({ amount: '2000' })],
        }),
        listing('c', { lastUpdated: '2026-11-01T12:00:00Z', accepts: [acceptV2({ amount: '2000' })] }),
      ],
      100,
    )
    expect(rest).toEqual([])
    expect(merged).toMatchObject({
      isOwn: false,
      entry: { terms: [{ amount: '2000' }] },
      claims: [
        { source: 'a', sameTerms: false },
        { source: 'b', sameTerms: true },
        { source: 'c', sameTerms: true },
      ],
    })
    const [own] = mergeListings(
      [
        listing(OWN_SOURCE),
        listing('b', { lastUpdated: '2026-11-20T00:00:00Z', accepts: [acceptV2({ amount: '1' })] }),
      ],
      100,
    )
    expect(own).toMatchObject({ isOwn: true, entry: { terms: [{ amount: '1000' }] } })
  })

  it.each<[string, readonly Record<string, unknown>[]]>([
    ['another payee', [acceptV2({ payTo: '0x000000000000000000000000000000000000dEaD', amount: '1' })]],
    ['its own payee beside the right one', [acceptV2({ amount: '1', payTo: '0xdead' }), acceptV2()]],
    ['the payee on another chain', [acceptV2({ network: 'eip155:84532' })]],
  ])('that name %s are two: neither speaks for the other, however new it says it is', (_, accepts) => {
    const known = listing('a', { lastUpdated: '2026-11-01T00:00:00Z' })
    const merged = mergeListings(
      [known, listing('b', { lastUpdated: '2026-11-20T00:00:00Z', accepts, description: 'a fake' })],
      100,
    )
    expect(merged).toMatchObject([
      { entry: { id: known.entries[0]!.id, terms: [{ amount: '1000' }] }, claims: [{ source: 'a' }] },
      { entry: { description: 'a fake' }, claims: [{ source: 'b' }] },
    ])
    expect(merged[1]!.entry.id).not.toBe(merged[0]!.entry.id)
  })

  it('keep the words of a catalogue over those of somebody who paid the same payee', () => {
    const [entry] = entriesOf(itemOf({ lastUpdated: '2026-11-20T00:00:00Z', description: 'paid for' }))
    const settled = {
      network: 'eip155:8453',
      payTo: 'x',
      settlements: 1,
      payers: 1,
      firstSettled: 1,
      lastSettled: 2,
    }
    const paid = { source: FACILITATOR_SOURCE, fetchedAt: NOW, entries: [{ ...entry!, settled }] }
    const known = listing('a', { lastUpdated: '2026-11-01T00:00:00Z', description: 'known' })
    expect(mergeListings([known, paid], 100)).toMatchObject([
      {
        entry: { description: 'known' },
        claims: [{ source: 'a' }, { source: 'facilitator' }],
        settled: [settled],
      },
    ])
  })

  it('are one where the second names some of the payees of the first', () => {
    const both = [acceptV2(), acceptV2({ network: 'eip155:137', payTo: '0xAbC' })]
    const some = [acceptV2({ network: 'eip155:137', payTo: '0xaBc' })]
    expect(
      mergeListings([listing('a', { accepts: both }), listing('b', { accepts: some })], 100),
    ).toHaveLength(1)
  })

  it('of ours are held against our own listing, whomever they name', () => {
    const merged = mergeListings(
      [listing(OWN_SOURCE), listing('b', { accepts: [acceptV2({ payTo: '0xdead' })] })],
      100,
    )
    expect(merged).toMatchObject([
      { isOwn: true, claims: [{ source: OWN_SOURCE }, { source: 'b', sameTerms: false }] },
    ])
  })

  it.each([
    ['https://gateway.example.com/v1/tools/web.fetch', false],
    ['https://GATEWAY.example.com.:443/v1/tools/web%2Efetch', false],
    ['https://gateway.example.com/v1/tools/web.fetch?to=me', true],
    ['https://gateway.example.com:8443/v1/tools/web.fetch', true],
    ['https://gateway.example.com/v1/other', true],
    ['https://gateway.example.com.org/v1/tools/web.fetch', false],
  ])('of our host are ours, or taken for no one: %s', (resource, isImpostor) => {
    const own = entriesOf(itemOf({ resource: 'https://gateway.example.com/v1/tools/web.fetch' }))
    const [entry] = entriesOf(itemOf({ resource }))
    expect(impostorOf(own, 'https://gateway.example.com')(entry!)).toBe(isImpostor)
  })

  it('differ by method, and are no more than may be', () => {
    const withMethod = (method: string) => ({ extensions: { bazaar: { info: { input: { method } } } } })
    const listings = [listing('a'), listing('b', withMethod('POST')), listing('c', withMethod('GET'))]
    expect(mergeListings(listings, 100)).toHaveLength(2)
    expect(mergeListings(listings, 1)).toHaveLength(1)
  })
})
