import { declareDiscoveryExtension, extractDiscoveryInfo } from '@x402/extensions/bazaar'
import { describe, expect, it, vi } from 'vitest'
import { readSale } from '../../../src/discovery/bazaar-extension.ts'
import { isRouteTemplate } from '../../../src/discovery/fields.ts'
import { acceptV2 } from '../../support/catalogue.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
const PUBLIC = 'https://shop.example.com/weather'
const declared = declareDiscoveryExtension({
  input: { city: 'Rome' },
  inputSchema: { properties: { city: { type: 'string' } }, required: ['city'] },
  output: { example: { sky: 'blue' } },
})['bazaar']!
/** As the resource server of the protocol completes it with the method of the route. */
const GET = { ...declared, info: { ...declared.info, input: { ...declared.info.input, method: 'GET' } } }
const TOOL = declareDiscoveryExtension({
  toolName: 'forecast',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
})['bazaar']

const sell = (bazaar: unknown = GET, resource: object = {}) =>
  readSale({ bazaar, resource: { url: PUBLIC, ...resource }, requirements: acceptV2() }, NOW)
const reasonOf = (verdict: ReturnType<typeof readSale>) => (verdict.ok ? undefined : verdict.reason)
const withInput = (over: object, schema: unknown = true) => ({
  info: { input: { ...GET.info.input, ...over } },
  schema: { allOf: [schema] },
})

describe('a settled sale', () => {
  it('is read into what a catalogue would list, with the terms that were paid', () => {
    const verdict = sell(GET, {
      description: 'Weather',
      mimeType: 'application/json',
      serviceName: 'Skies',
      tags: ['sky'],
    })
    if (!verdict.ok) throw new Error(verdict.reason)
    expect(verdict.entry).toMatchObject({
      key: `GET ${PUBLIC}`,
      resource: PUBLIC,
      type: 'http',
      method: 'GET',
      x402Version: 2,
      accepts: [acceptV2()],
      lastUpdated: '2026-11-21T12:00:00.000Z',
      description: 'Weather',
      serviceName: 'Skies',
      tags: ['sky'],
      extensions: { bazaar: GET },
    })
  })

  it('finds the same resource and tool as the reference does', () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    for (const [bazaar, url] of [
      [GET, `${PUBLIC}?city=Oslo`],
      [{ ...GET, routeTemplate: '/users/:id' }, 'https://shop.example.com/users/7'],
      [{ ...GET, routeTemplate: '/users/%252e%252e/a' }, 'https://shop.example.com/users/7'],
      [TOOL, 'https://shop.example.com/mcp'],
    ] as const) {
      const reference = extractDiscoveryInfo(
        {
          x402Version: 2,
          resource: { url },
          accepted: acceptV2(),
          payload: {},
          extensions: { bazaar },
        } as never,
        acceptV2() as never,
      ) as { resourceUrl: string; toolName?: string; method?: string }
      const verdict = sell(bazaar, { url })
      if (!verdict.ok) throw new Error(verdict.reason)
      expect(verdict.entry.resource).toBe(reference.resourceUrl)
      expect(verdict.entry.method).toBe(reference.method ?? null)
      if (reference.toolName) expect(verdict.entry.key).toBe(`MCP ${url} ${reference.toolName}`)
    }
  })

  it('of several tools at one address is several listings', () => {
    const keys = ['a', 'b'].map((toolName) => {
      const verdict = sell(declareDiscoveryExtension({ toolName, inputSchema: { type: 'object' } })['bazaar'])
      return verdict.ok ? verdict.entry.key : verdict.reason
    })
    expect(keys).toEqual([`MCP ${PUBLIC} a`, `MCP ${PUBLIC} b`])
  })

  it.each<[string, unknown, object, RegExp]>([
    [
      'info that is not as its schema says',
      withInput({ method: 'GET' }, { properties: { input: { required: ['none'] } } }),
      {},
      /does not match/,
    ],
    [
      'a schema that points to the metadata service',
      { ...GET, schema: { $ref: 'http://169.254.169.254/' } },
      {},
      /nothing outside/,
    ],
    ['a schema that never ends', { ...GET, schema: { $ref: '#' } }, {}, /too much work/],
    ['no schema', { info: GET.info }, {}, /nothing outside/],
    ['no info', { schema: {} }, {}, /info\.input is missing/],
    ['text', 'bazaar', {}, /no object/],
    ['more than a listing holds', { ...GET, more: 'x'.repeat(9_000) }, {}, /longer than/],
    ['another type', withInput({ type: 'smtp' }), {}, /must be http or mcp/],
    ['another method', withInput({ method: 'BREW' }), {}, /method/],
    ['a body that a GET does not have', withInput({ bodyType: 'json' }), {}, /bodyType/],
    ['a tool without a name', withInput({ type: 'mcp', inputSchema: {} }), {}, /toolName/],
    ['plain http', GET, { url: 'http://shop.example.com/' }, /no https/],
    ['this machine', GET, { url: 'https://127.0.0.1/' }, /no https/],
    ['this machine by name', GET, { url: 'https://localhost/' }, /no https/],
    ['the metadata service', GET, { url: 'https://169.254.169.254/latest' }, /no https/],
    ['an address of version 6', GET, { url: 'https://[::1]/' }, /no https/],
    ['a user name', GET, { url: 'https://shop.example.com@evil.example.com/' }, /no https/],
    ['an address of MCP alone', GET, { url: 'mcp://tool/forecast' }, /no https/],
    ['nothing', GET, { url: undefined }, /no https/],
  ])('with %s is not listed, and its seller is told why', (_, bazaar, resource, reason) => {
    expect(reasonOf(sell(bazaar, resource))).toMatch(reason)
  })

  it('is listed without a name, tags or an icon that are not as they should be', () => {
    const verdict = sell(GET, {
      serviceName: 'n'.repeat(33),
      tags: [1, 'ok', 'é'],
      iconUrl: 'https://127.0.0.1/i.png',
    })
    if (!verdict.ok) throw new Error(verdict.reason)
    const { serviceName, tags, iconUrl } = verdict.entry
    expect({ serviceName, tags, iconUrl }).toEqual({
      serviceName: undefined,
      tags: ['ok'],
      iconUrl: undefined,
    })
  })

  it.each([
    ['/users/:id', 'https://shop.example.com/users/:id'],
    ['/users/:id/orders', PUBLIC],
    ['/admin/panel', PUBLIC],
    ['/users/../admin', PUBLIC],
    ['/users/%2e%2e/admin', PUBLIC],
    ['/users/%25252e%25252e/x', PUBLIC],
    ['https://evil.example.com/', PUBLIC],
    ['/a%3a%2f%2fb', PUBLIC],
    [7, PUBLIC],
  ])('with the template %s is listed as %s', (routeTemplate, resource) => {
    const url = resource === PUBLIC ? PUBLIC : 'https://shop.example.com/users/7'
    const verdict = sell({ ...GET, routeTemplate }, { url })
    expect(verdict).toMatchObject({ ok: true, entry: { resource } })
    if (resource !== PUBLIC && verdict.ok) expect(verdict.item['probe']).toBe(url)
  })

  it('judges a template behind escapes of escapes', () => {
    expect(['/a/:b', '/a%20b', '/%252e%252e', '/%2525252525252e', '/%zz'].map(isRouteTemplate)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
