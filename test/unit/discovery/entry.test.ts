import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanText, copyData } from '../../../src/discovery/data.ts'
import { normaliseUrl, readEntry } from '../../../src/discovery/entry.ts'
import { isRouteTemplate } from '../../../src/discovery/fields.ts'
import { acceptV1, acceptV2, itemOf } from '../../support/catalogue.ts'

const FETCHED = Date.parse('2026-11-21T12:00:00.000Z')
const read = (item: unknown) => readEntry(item, FETCHED)
const entryOf = (item: unknown) => {
  const verdict = read(item)
  if (!verdict.ok) throw new Error(verdict.reason)
  return verdict.entry
}

describe('an entry of a catalogue', () => {
  it('is taken member by member', () => {
    const entry = entryOf(
      itemOf({
        description: 'Weather\u0000 for\u202e you',
        serviceName: 'Weather',
        tags: ['weather', 'x'.repeat(33), 'forecast'],
        iconUrl: 'https://cdn.example.com/icon.png',
        mimeType: 'application/json',
        surprise: 'dropped',
      }),
    )
    expect(entry).toMatchObject({
      key: 'GET https://api.example.com/weather',
      resource: 'https://api.example.com/weather',
      type: 'http',
      method: null,
      description: 'Weather for you',
      serviceName: 'Weather',
      tags: ['weather', 'forecast'],
      iconUrl: 'https://cdn.example.com/icon.png',
      lastUpdated: '2026-11-01T00:00:00.000Z',
      terms: [{ scheme: 'exact', network: 'eip155:8453', amount: '1000' }],
    })
    expect(entry).not.toHaveProperty('surprise')
  })

  it('of v1 keeps its form, and is compared by its CAIP-2 network', () => {
    const entry = entryOf(itemOf({ x402Version: 1, accepts: [acceptV1()] }))
    expect(entry.accepts[0]).toMatchObject({ maxAmountRequired: '1000', network: 'base' })
    expect(entry.terms[0]).toMatchObject({ amount: '1000', network: 'eip155:8453' })
    expect(entry).toMatchObject({ method: 'POST', description: 'v1 text' })
  })

  it('takes its method from bazaar, and its tool from MCP', () => {
    const bazaar = (input: object) => ({ extensions: { bazaar: { info: { input } } } })
    expect(entryOf(itemOf(bazaar({ type: 'http', method: 'post' }))).key).toBe(
      'POST https://api.example.com/weather',
    )
    expect(entryOf(itemOf(bazaar({ type: 'http', method: 'BREW' }))).method).toBeNull()
    expect(entryOf(itemOf({ type: 'mcp', ...bazaar({ type: 'mcp', toolName: 'now' }) })).key).toBe(
      'MCP https://api.example.com/weather now',
    )
  })

  it.each<[string, unknown, string]>([
    ['nothing', null, 'shape'],
    ['a list', [], 'shape'],
    ['no address', itemOf({ resource: undefined }), 'resource'],
    ['plain http', itemOf({ resource: 'http://api.example.com/' }), 'resource'],
    ['a script', itemOf({ resource: 'javascript:alert(1)' }), 'resource'],
    ['credentials', itemOf({ resource: 'https://user:pw@api.example.com/' }), 'resource'],
    ['empty credentials', itemOf({ resource: 'https://@api.example.com/' }), 'resource'],
    ['a fragment', itemOf({ resource: 'https://api.example.com/#a' }), 'resource'],
    ['a space', itemOf({ resource: 'https://api.example.com/a b' }), 'resource'],
    ['an endless address', itemOf({ resource: `https://api.example.com/${'a'.repeat(2048)}` }), 'resource'],
    ['this machine', itemOf({ resource: 'https://localhost/' }), 'not_public'],
    ['a loopback address', itemOf({ resource: 'https://127.0.0.1/' }), 'not_public'],
    ['a loopback address in disguise', itemOf({ resource: 'https://0x7f.1/' }), 'not_public'],
    ['an address in place of a name', itemOf({ resource: 'https://8.8.8.8/' }), 'not_public'],
    ['a metadata address', itemOf({ resource: 'https://169.254.169.254/latest' }), 'not_public'],
    ['a private IPv6 address', itemOf({ resource: 'https://[fd00::1]/' }), 'not_public'],
    ['a name of the local network', itemOf({ resource: 'https://printer.lan/' }), 'not_public'],
    ['a version to come', itemOf({ x402Version: 3 }), 'version'],
    ['a version in words', itemOf({ x402Version: '2' }), 'version'],
    ['no way to pay', itemOf({ accepts: [] }), 'accepts'],
    ['ways to pay that are none', itemOf({ accepts: [acceptV1(), 7, null, {}] }), 'accepts'],
    ['an amount with a fraction', itemOf({ accepts: [acceptV2({ amount: '1.5' })] }), 'accepts'],
    ['a payee with a line break', itemOf({ accepts: [acceptV2({ payTo: 'a\nb' })] }), 'accepts'],
  ])('is refused with %s', (_, item, reason) => {
    expect(read(item)).toEqual({ ok: false, reason })
  })

  it('takes a path with an at sign', () => {
    expect(read(itemOf({ resource: 'https://api.example.com/@name' })).ok).toBe(true)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a name of control characters', { serviceName: 'a\u0007' }, 'serviceName'],
    ['a name beyond 32 characters', { serviceName: 'a'.repeat(33) }, 'serviceName'],
    ['a name outside ASCII', { serviceName: 'Wétter' }, 'serviceName'],
    ['an icon on this machine', { iconUrl: 'http://127.0.0.1/x.png' }, 'iconUrl'],
    ['an icon in the address itself', { iconUrl: 'data:image/png;base64,AA' }, 'iconUrl'],
    ['tags that are text', { tags: 'weather' }, 'tags'],
    ['a type that is none', { mimeType: 'text/html\r\nx: y' }, 'mimeType'],
    ['a description of nothing', { description: '\u200b\u0000' }, 'description'],
    ['an extension that is a mountain', { extensions: { bazaar: { a: 'x'.repeat(9000) } } }, 'extensions'],
    ['an extension without an end', { extensions: { bazaar: nested(40) } }, 'extensions'],
  ])('leaves out %s', (_, over, member) => {
    expect(entryOf(itemOf(over))[member as 'tags']).toBeUndefined()
  })

  it('passes schemas on as they are, references included, and resolves none', () => {
    const schema = { $ref: 'https://127.0.0.1/schema.json', $id: 'https://evil.example.com/' }
    const entry = entryOf(itemOf({ extensions: { bazaar: { info: {}, schema } } }))
    expect(entry.extensions).toEqual({ bazaar: { info: {}, schema } })
  })

  it('keeps a route template that stays in its path, and no other', () => {
    const withTemplate = (routeTemplate: string) =>
      entryOf(itemOf({ extensions: { bazaar: { routeTemplate } } })).extensions?.['bazaar']
    expect(withTemplate('/weather/:city')).toEqual({ routeTemplate: '/weather/:city' })
    for (const bad of ['weather', '/../admin', '/%2e%2e/admin', '/a%3A%2F%2Fb', '/a b', '/%zz'])
      expect(withTemplate(bad), bad).toEqual({})
  })

  it('reaches no prototype', () => {
    const item = JSON.parse(
      '{"__proto__":{"type":"mcp"},"resource":"https://api.example.com/weather","x402Version":2,"accepts":[' +
        JSON.stringify(acceptV2()) +
        '],"extensions":{"__proto__":{"polluted":1},"constructor":{"a":1},"ok":{"__proto__":{"polluted":1},"b":2}}}',
    )
    const entry = entryOf(item)
    expect(entry.type).toBe('http')
    expect(entry.extensions).toEqual({ ok: { b: 2 } })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.getPrototypeOf(entry.extensions!['ok'])).toBe(Object.prototype)
  })

  it.each<[string, unknown, string]>([
    ['ISO text', '2026-11-20T01:02:03Z', '2026-11-20T01:02:03.000Z'],
    ['seconds', 1_763_600_000, '2025-11-20T00:53:20.000Z'],
    ['milliseconds', 1_763_600_000_000, '2025-11-20T00:53:20.000Z'],
    ['a time to come', '2027-01-01T00:00:00Z', '2026-11-21T12:00:00.000Z'],
    ['no time', 'soon', '2026-11-21T12:00:00.000Z'],
    ['a number beyond time', 1e300, '2026-11-21T12:00:00.000Z'],
  ])('reads %s as its last update', (_, lastUpdated, expected) => {
    expect(entryOf(itemOf({ lastUpdated })).lastUpdated).toBe(expected)
  })

  it('is read or refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (junk) => {
        expect(typeof read(junk).ok).toBe('boolean')
        const around = read(
          itemOf({
            description: junk,
            tags: junk,
            extensions: { bazaar: junk },
            lastUpdated: junk,
            type: junk,
          }),
        )
        expect(around.ok).toBe(true)
      }),
    )
  })
})

describe('one resource', () => {
  it.each([
    ['https://API.example.com:443/a', 'https://api.example.com/a'],
    ['https://api.example.com./a', 'https://api.example.com/a'],
    ['https://api.example.com', 'https://api.example.com/'],
    ['https://api.example.com/a/../b', 'https://api.example.com/b'],
    ['https://api.example.com/%7euser/%2f', 'https://api.example.com/~user/%2F'],
    ['https://api.example.com/?b=%41', 'https://api.example.com/?b=A'],
  ])('is spelled %s or %s', (a, b) => {
    expect(normaliseUrl(a)).toBe(normaliseUrl(b))
  })

  it.each([
    ['https://api.example.com/a', 'https://api.example.com/a/'],
    ['https://api.example.com/a', 'https://api.example.com/A'],
    ['https://api.example.com/a', 'https://api.example.com:8443/a'],
    ['https://api.example.com/a%2Fb', 'https://api.example.com/a/b'],
    ['https://api.example.com/?a', 'https://api.example.com/?b'],
  ])('is not both %s and %s', (a, b) => {
    expect(normaliseUrl(a)).not.toBe(normaliseUrl(b))
  })

  it('has one normal spelling', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
        expect(normaliseUrl(normaliseUrl(url))).toBe(normaliseUrl(url))
      }),
    )
  })
})

describe('text and data of others', () => {
  it('is one printable line of bounded length', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.integer({ min: 1, max: 50 }),
        (text, max) => {
          const clean = cleanText(text, max)
          expect(clean ?? 'x').not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e\u200b]/u)
          expect([...(clean ?? '')].length).toBeLessThanOrEqual(max)
        },
      ),
    )
  })

  it('is copied whole or not at all', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const copy = copyData(value, 500)
        const isTidy = !/__proto__|constructor|prototype|\\u/.test(JSON.stringify(value))
        if (copy !== undefined && isTidy && /^[ -~]*$/.test(JSON.stringify(value)))
          expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
        expect(JSON.stringify(copy ?? null).length).toBeLessThan(10_000)
      }),
    )
    expect(copyData('x'.repeat(101), 100)).toBeUndefined()
    expect(copyData('x'.repeat(99), 100)).toBe('x'.repeat(99))
  })

  it('knows a route template from a way out', () => {
    expect(isRouteTemplate('/users/:id')).toBe(true)
    expect(isRouteTemplate(`/${'a'.repeat(600)}`)).toBe(false)
    expect(isRouteTemplate(7)).toBe(false)
  })
})

function nested(depth: number): unknown {
  return depth === 0 ? {} : { a: nested(depth - 1) }
}
