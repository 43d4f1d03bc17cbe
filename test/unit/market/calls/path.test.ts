import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTarget } from '../../../../src/egress/target.ts'
import { encodeSegment, readPath } from '../../../../src/market/calls/path.ts'
import { matchRoute } from '../../../../src/market/calls/routes.ts'
import { isSellerDocument, readAddress } from '../../../../src/doors/market/index.ts'
import { routeOf } from '../../../support/market-seller.ts'

describe('the path below a service', () => {
  it.each<[string, readonly string[]]>([
    ['/', []],
    ['/quotes', ['quotes']],
    ['/quotes/ACME', ['quotes', 'ACME']],
    ['/a%20b/c', ['a b', 'c']],
    ['/caf%C3%A9', ['café']],
    ['/v1.2/x..y', ['v1.2', 'x..y']],
  ])('%s is read', (path, values) => {
    expect(readPath(path)?.map(({ value }) => value)).toEqual(values)
  })

  it.each([
    '',
    'quotes',
    '//',
    '/a//b',
    '/a/',
    '/.',
    '/..',
    '/a/../b',
    '/%2e%2E/b',
    '/.%2e',
    '/a%2Fb',
    '/a%5Cb',
    '/a\\b',
    '/a;v=1',
    '/a%3Bb',
    '/a%00',
    '/a%0d%0aHost:%20x',
    '/a%7f',
    '/a%252e',
    '/a%3fb',
    '/a%23b',
    '/a%',
    '/a%4',
    '/a%zz',
    '/a%C0%AE',
    '/a%ED%A0%80',
    '/a%E2%80%AEb',
    '/café',
    '/a b',
    '/a"b',
    '/a<b',
    `/${'a'.repeat(512)}`,
    `/${'a/'.repeat(20)}a`,
  ])('%j is refused', (path) => {
    expect(readPath(path)).toBeUndefined()
  })

  it('is written so that it is read as the same, and taken as a target', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (text) => {
        if (!text.isWellFormed()) return
        const read = readPath(`/${encodeSegment(text)}`)
        if (read) expect(read.map(({ value }) => value)).toEqual([text])
      }),
    )
    for (const text of ['ACME', 'a b', 'é', "it's (1)*!", 'a+b', 'a=b&c', 'a,b', 'a:b@c', '~'])
      expect(parseTarget(`https://example.com/${encodeSegment(text)}`, { ports: [443] }), text).toMatchObject(
        { ok: true },
      )
  })
})

describe('an address below /p/', () => {
  it.each([
    ['/p/acme/weather', { seller: 'acme', serviceId: 'weather', testnet: false, path: '/' }],
    ['/p/acme/weather/', { seller: 'acme', serviceId: 'weather', testnet: false, path: '/' }],
    ['/p/acme/weather/x/y', { seller: 'acme', serviceId: 'weather', testnet: false, path: '/x/y' }],
    ['/p/testnet/acme/weather', { seller: 'acme', serviceId: 'weather', testnet: true, path: '/' }],
    // What follows is judged as a path below the service, never as another service.
    [
      '/p/acme/weather/../../other/x',
      { seller: 'acme', serviceId: 'weather', testnet: false, path: '/../../other/x' },
    ],
  ])('%s names a service', (path, address) => {
    expect(readAddress(path)).toEqual(address)
  })

  it.each([
    '/p/',
    '/p/acme',
    '/p/acme/',
    '/p//acme/weather',
    '/p/Acme/weather',
    '/p/acme/Weather',
    '/p/acme%2Fweather/',
    '/p/%61cme/weather',
    '/p/acme/wea%74her',
    '/p/acme/weather;x',
    '/p/acme/weather.json',
    '/p/./acme/weather',
    '/p/../p/acme/weather',
    '/p/testnet/testnet/weather/x',
    '/p/testnet/acme',
    '/p/аcme/weather',
    `/p/${'a'.repeat(41)}/weather`,
  ])('%s names none', (path) => {
    expect(readAddress(path)).toBeUndefined()
  })

  it('of a document of a seller is no service', () => {
    expect(isSellerDocument('/p/acme/openapi.json')).toBe(true)
    expect(isSellerDocument('/p/acme/weather/openapi.json')).toBe(false)
  })
})

describe('the route of a call', () => {
  const routes = [
    routeOf({ path: '/' }),
    routeOf({ path: '/quotes/{symbol}' }),
    routeOf({ path: '/quotes/all', priceAtomic: '9' }),
    routeOf({ path: '/quotes/{symbol}', method: 'DELETE' }),
  ]
  const match = (method: string | undefined, path: string) => matchRoute(routes, method, readPath(path) ?? [])

  it('without parameters comes before one with them', () => {
    expect(match('GET', '/quotes/all')).toMatchObject({ ok: true, route: { priceAtomic: '9' }, params: {} })
    expect(match('GET', '/quotes/ACME')).toMatchObject({
      ok: true,
      params: { symbol: 'ACME' },
      path: '/quotes/ACME',
    })
    expect(match('GET', '/quotes/a%20b')).toMatchObject({
      ok: true,
      params: { symbol: 'a b' },
      path: '/quotes/a%20b',
    })
  })

  it('is spelled as the listing spells it', () => {
    for (const path of ['/Quotes/ACME', '/%71uotes/ACME', '/quotes', '/quotes/a/b'])
      expect(match('GET', path)).toEqual({ ok: false, allow: [] })
  })

  it('of another method is not taken for it; HEAD asks for what GET gives', () => {
    expect(match('POST', '/quotes/ACME')).toEqual({ ok: false, allow: ['GET', 'DELETE'] })
    expect(match('HEAD', '/')).toMatchObject({ ok: true, route: { method: 'GET' } })
    expect(match(undefined, '/')).toMatchObject({ ok: true })
    expect(match(undefined, '/quotes/ACME')).toMatchObject({ ok: false })
  })
})
