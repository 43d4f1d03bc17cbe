// What is kept of a source, how long it is served, and what its head says about that.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CachedAnswer, createSourceCache, isFresh } from '../../../src/outcomes/sources/cache.ts'
import { readFreshness } from '../../../src/outcomes/sources/freshness.ts'

const START = 1_790_000_000_000
const headersOf = (headers: Record<string, string>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }))
const freshnessOf = (headers: Record<string, string>, status = 200) =>
  readFreshness({ status, headers: headersOf(headers) })

const answer = (over: Partial<CachedAnswer> = {}): CachedAnswer => ({
  status: 200,
  contentType: 'text/html',
  contentLanguage: null,
  etag: null,
  lastModified: null,
  body: Buffer.from('hello'),
  isCut: false,
  sha256: '0'.repeat(64),
  retrievedAt: START,
  freshness: freshnessOf({}),
  ...over,
})

describe('what the head of an answer says', () => {
  it.each<[boolean, Record<string, string>, number?]>([
    [true, {}],
    [true, { 'cache-control': 'public, max-age=300' }],
    [true, { 'cache-control': 'no-cache' }],
    [true, { vary: 'Accept-Encoding, Accept' }],
    [false, { 'cache-control': 'no-store' }],
    [false, { 'cache-control': 'max-age=60, No-Store' }],
    [false, { 'cache-control': 'private' }],
    [false, { 'cache-control': 'private="x-user", max-age=60' }],
    [false, { vary: '*' }],
    [false, { vary: 'Accept, *' }],
    [false, { 'set-cookie': 'id=1' }],
    [false, { 'www-authenticate': 'Basic' }],
    [false, {}, 404],
    [false, {}, 203],
  ])('it may be kept: %s for %j %s', (isStorable, headers, status) => {
    expect(freshnessOf(headers, status).isStorable).toBe(isStorable)
  })

  it.each<[number | null, Record<string, string>]>([
    [null, {}],
    [null, { 'cache-control': 'public' }],
    [300, { 'cache-control': 'max-age=300' }],
    [30, { 'cache-control': 'max-age=300, s-maxage=30' }],
    [10, { 'cache-control': 'max-age="10"' }],
    [10, { 'cache-control': 'max-age=10, max-age=99' }],
    [0, { 'cache-control': 'max-age=soon' }],
    [0, { 'cache-control': 'max-age=60, no-cache' }],
    [0, { pragma: 'no-cache' }],
    [null, { pragma: 'no-cache', 'cache-control': 'public' }],
    [45, { expires: 'Wed, 23 Sep 2026 10:00:45 GMT', date: 'Wed, 23 Sep 2026 10:00:00 GMT' }],
    [0, { expires: 'Wed, 23 Sep 2026 09:00:00 GMT', date: 'Wed, 23 Sep 2026 10:00:00 GMT' }],
    [0, { expires: '0', date: 'Wed, 23 Sep 2026 10:00:00 GMT' }],
    [5, { expires: '0', 'cache-control': 'max-age=5' }],
    [2 ** 31, { 'cache-control': `max-age=${'9'.repeat(40)}` }],
  ])('its lifetime is %s for %j', (lifetimeSeconds, headers) => {
    expect(freshnessOf(headers).lifetimeSeconds).toBe(lifetimeSeconds)
  })

  it.each([
    ['17', 17],
    ['-3', 0],
    ['now', 0],
    ['', 0],
  ])('Age %j is %i seconds', (age, seconds) => {
    expect(freshnessOf({ age }).ageSeconds).toBe(seconds)
  })

  it('is read from anything that stands in a header', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (cacheControl, expires) => {
        const { lifetimeSeconds } = freshnessOf({ 'cache-control': cacheControl, expires, age: expires })
        expect(lifetimeSeconds === null || lifetimeSeconds >= 0).toBe(true)
      }),
    )
  })
})

describe('a kept answer', () => {
  it.each([
    ['served to the second', 30_000, 30, true],
    ['too old a millisecond later', 30_001, 30, false],
    ['never served to who asks for none', 0, 0, false],
    ['served at once', 0, 1, true],
  ] as const)('is %s', (_, elapsedMs, maxAgeSeconds, expected) => {
    expect(isFresh(answer(), maxAgeSeconds, START + elapsedMs)).toBe(expected)
  })

  it('counts the age it came with', () => {
    const aged = answer({ freshness: freshnessOf({ age: '20' }) })
    expect(isFresh(aged, 30, START + 10_000)).toBe(true)
    expect(isFresh(aged, 30, START + 10_001)).toBe(false)
  })

  it('is not served beyond the lifetime that its source gave it', () => {
    const short = answer({ freshness: freshnessOf({ 'cache-control': 'max-age=5' }) })
    expect(isFresh(short, 60, START + 4_999)).toBe(true)
    expect(isFresh(short, 60, START + 5_000)).toBe(false)
    expect(isFresh(answer({ freshness: freshnessOf({ 'cache-control': 'no-cache' }) }), 60, START)).toBe(
      false,
    )
  })
})

describe('the cache', () => {
  const clocked = (limits?: { maxBytes: number; maxEntries: number }) => {
    const clock = { at: START }
    return { clock, cache: createSourceCache(() => clock.at, limits) }
  }

  it('forgets after a minute what cannot be asked about, and keeps what has a validator for some minutes', () => {
    const { clock, cache } = clocked()
    cache.put('plain', answer())
    cache.put('tagged', answer({ etag: '"1"' }))
    cache.put('dated', answer({ lastModified: 'Wed, 23 Sep 2026 10:00:00 GMT' }))
    clock.at += 60_000
    expect(cache.find('plain')).toBeDefined()
    clock.at += 1
    expect(cache.find('plain')).toBeUndefined()
    expect(cache.find('tagged')).toBeDefined()
    expect(cache.find('dated')).toBeDefined()
    clock.at += 300_000
    expect(cache.find('tagged')).toBeUndefined()
    expect(cache.find('dated')).toBeUndefined()
    expect([cache.size, cache.bytes]).toEqual([0, 0])
  })

  it('does not take what may not be kept, or is old already', () => {
    const { cache } = clocked()
    cache.put('cookie', answer({ freshness: freshnessOf({ 'set-cookie': 'a=1' }) }))
    cache.put('old', answer({ freshness: freshnessOf({ age: '61' }) }))
    cache.put('over', answer({ freshness: freshnessOf({ 'cache-control': 'max-age=0' }) }))
    expect(cache.size).toBe(0)
  })

  it('forgets what was there where the next answer may not be kept', () => {
    const { cache } = clocked()
    cache.put('a', answer())
    cache.put('a', answer({ freshness: freshnessOf({ 'cache-control': 'no-store' }) }))
    expect(cache.find('a')).toBeUndefined()
  })

  it('makes room by what was used least recently', () => {
    const { cache } = clocked({ maxBytes: 10_000, maxEntries: 3 })
    for (const key of ['a', 'b', 'c']) cache.put(key, answer())
    cache.find('a')
    cache.put('d', answer())
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.find(key))).toEqual(['a', 'c', 'd'])
  })

  it('never holds more than it may, whatever is put in', () => {
    const limits = { maxBytes: 20_000, maxEntries: 8 }
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            key: fc.constantFrom(...'abcdefghijkl'),
            size: fc.integer({ min: 0, max: 25_000 }),
            passesMs: fc.integer({ min: 0, max: 90_000 }),
            isTagged: fc.boolean(),
            isDropped: fc.boolean(),
          }),
        ),
        (steps) => {
          const { clock, cache } = clocked(limits)
          for (const { key, size, passesMs, isTagged, isDropped } of steps) {
            clock.at += passesMs
            if (isDropped) cache.drop(key)
            else
              cache.put(
                key,
                answer({ body: Buffer.alloc(size), etag: isTagged ? '"t"' : null, retrievedAt: clock.at }),
              )
            expect(cache.bytes).toBeLessThanOrEqual(limits.maxBytes)
            expect(cache.size).toBeLessThanOrEqual(limits.maxEntries)
          }
          for (const key of 'abcdefghijkl') cache.drop(key)
          expect([cache.size, cache.bytes]).toEqual([0, 0])
        },
      ),
    )
  })
})
