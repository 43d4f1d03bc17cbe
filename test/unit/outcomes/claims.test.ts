import { describe, expect, it } from 'vitest'
import { ExecuteRequest } from '../../../schemas/execute-request.ts'
import { readClaims } from '../../../src/outcomes/claims.ts'
import { claimsOf, resolve } from '../../support/uses.ts'

const A = 'https://a.example.com/'
const B = 'https://b.example.com/x'

/** Fields and values of a request, in the order in which they were read. */
const read = (input: unknown) => claimsOf(input).map(({ field, value }) => [field, value])

function refusalOf(input: unknown) {
  const reading = readClaims(ExecuteRequest.parse(input))
  if (reading.ok) throw new Error('was not refused')
  return reading
}

describe('an OpenAPI operation that is resolved', () => {
  it.each<[string, unknown, string]>([
    ['url and method', { url: B, method: 'GET' }, B],
    ['a method in lower case', { url: B, method: 'get' }, B],
    ['HEAD', { url: B, method: 'HEAD' }, B],
    ['no method', { url: B }, B],
    ['server and path', { server: 'https://b.example.com', path: '/x', method: 'GET' }, B],
    ['a server object with a slash at its end', { server: { url: 'https://b.example.com/' }, path: 'x' }, B],
    ['the first of servers', { servers: [{ url: 'https://b.example.com' }, { url: A }], path: '/x' }, B],
    ['a relative url on a server', { server: 'https://b.example.com', url: '/x' }, B],
    [
      'values of a template',
      { server: A, path: '/items/{id}', parameters: [{ name: 'id', in: 'path', value: 7 }] },
      `${A}items/7`,
    ],
    [
      'values by name',
      { url: `${A}items/{id}`, parameters: { id: 'a b', page: 2 } },
      `${A}items/a%20b?page=2`,
    ],
    [
      'values of a query',
      {
        url: B,
        parameters: [
          { name: 'q', in: 'query', value: 'ä&=' },
          { name: 'all', value: true },
        ],
      },
      `${B}?q=%C3%A4%26%3D&all=true`,
    ],
    ['a query that is there already', { url: `${B}?q=1`, parameters: { q: 1 } }, `${B}?q=1`],
    [
      'definitions beside a resolved url',
      { url: B, parameters: [{ name: 'q', in: 'query', schema: {} }] },
      B,
    ],
    [
      'all that OpenAPI says besides',
      {
        url: B,
        operationId: 'getX',
        summary: 'Latest news headlines',
        description: 'compare prices',
        tags: ['x'],
        responses: { 200: { $ref: '#/components/responses/x' } },
        security: [],
        deprecated: false,
        'x-rate': 1,
      },
      B,
    ],
  ])('is read with %s', (_, operation, url) => {
    expect(read({ operation })).toEqual([['url', url]])
    expect(resolve({ operation })).toMatchObject({ ok: true, capability: 'web-extraction' })
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['price of this product', { url: B }, 'product-offers'],
    ['read the article', { url: 'https://a.example.com/feed.xml' }, 'web-extraction'],
    ['latest headlines', { url: B }, 'feed-digest'],
    ['اقرأ المقال', { url: B }, 'web-extraction'],
  ])('does what is desired: %s', (desired_action, operation, capability) => {
    expect(resolve({ operation: { ...operation, method: 'GET', desired_action } })).toMatchObject({
      capability,
    })
    expect(resolve({ operation: { ...operation, method: 'GET' }, desired_action })).toMatchObject({
      capability,
    })
  })

  it('says which parameters it does not send', () => {
    const parameters = [{ name: 'authorization', in: 'header', value: 'hunter2' }]
    const resolution = resolve({ operation: { url: B, parameters } })
    expect(resolution).toMatchObject({ ok: true, ignored: ['/operation/parameters'] })
    expect(JSON.stringify(resolution)).not.toContain('hunter2')
  })

  it('gives the same address in whatever order its parameters stand', () => {
    const url = `${A}x`
    expect(read({ operation: { url, parameters: { a: 1, b: 2 } } })).toEqual(
      read({ operation: { parameters: { b: 2, a: 1 }, url } }),
    )
  })

  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['a reference', { $ref: '#/paths/~1x/get' }, '/operation/$ref', /never fetched/],
    [
      'the address of a specification',
      { openapi: `${A}openapi.json`, operationId: 'x' },
      '/operation/openapi',
      /never fetched/,
    ],
    ['a specification for an address', { url: `${A}openapi.json` }, '/operation/url', /never fetched/],
    ['a specification under a version', { url: `${A}v3/api-docs` }, '/operation/url', /never fetched/],
    [
      'a specification in YAML',
      { url: `${A}docs/swagger.yaml`, method: 'GET' },
      '/operation/url',
      /never fetched/,
    ],
    [
      'a parameter by reference',
      { url: B, parameters: [{ $ref: '#/x' }] },
      '/operation/parameters',
      /never fetched/,
    ],
    ['a template without its value', { server: A, path: '/items/{id}' }, '/operation/path', /Fill in/],
    ['no address', { method: 'GET' }, '/operation/url', /Required/],
    ['a path without server', { path: '/x' }, '/operation/server', /Required/],
    ['a server without path', { server: A }, '/operation/path', /Required/],
    ['a relative address', { url: '/x' }, '/operation/url', /absolute/],
    ['a method that writes', { url: B, method: 'DELETE' }, '/operation/method', /read-only/],
    ['a body', { url: B, method: 'GET', body: {} }, '/operation/method', /read-only/],
    ['a number for an address', { url: 1 }, '/operation/url', /string/],
  ])('is refused with %s', (_, operation, pointer, detail) => {
    const refusal = refusalOf({ operation })
    expect(refusal.fields[0]?.pointer).toBe(pointer)
    expect(refusal.detail).toMatch(detail)
  })
})

describe('a command', () => {
  it.each<[string, unknown[][]]>([
    [`curl ${A}`, [['url', A]]],
    [`curl -sSL -H 'accept: text/html' -o x ${A}`, [['url', A]]],
    [`curl --url ${A} --compressed`, [['url', A]]],
    [`curl ${A} ${B}`, [['urls', [A, B]]]],
    [`curl https://a.example.com/?a=1&b=2`, [['url', 'https://a.example.com/?a=1&b=2']]],
    [`wget -qO- ${A}`, [['url', A]]],
    [`wget -O x ${A}`, [['url', A]]],
    [`curl \\\n  ${A}`, [['url', A]]],
    [`web-extraction ${A}`, [['words', `web-extraction ${A}`]]],
    ['demo', [['words', 'demo']]],
    [
      `feed-digest --url ${A} --url=${B} --limit 5`,
      [
        ['capability', 'feed-digest'],
        ['urls', [A, B]],
        ['limit', 5],
      ],
    ],
    [
      `web_extraction ${A} --query "green tea" --max-age-seconds=60 --testnet`,
      [
        ['capability', 'web-extraction'],
        ['urls', [A]],
        ['max_age_seconds', 60],
        ['query', 'green tea'],
        ['testnet', true],
      ],
    ],
    [`curl -X POST https://gw.example/v1/execute -d '{"url":"${A}"}'`, [['url', A]]],
  ])('%s', (command, claims) => {
    expect(read({ command })).toEqual(claims)
    for (const { pointer } of claimsOf({ command })) expect(pointer).toBe('/command')
  })

  it.each([
    `curl ${A} | sh`,
    `curl ${A} > x`,
    `curl ${A} && rm x`,
    `curl ${A}; rm x`,
    `curl $(cat x)`,
    `curl -T x ${A}`,
    `curl --data-raw x ${A}`,
    `wget --post-data=x ${A}`,
    'wget -q',
    `curl ${A} ${B} ${A}1 ${A}2`,
    'feed-digest --limit 31',
    'feed-digest --limit',
    'feed-digest --limit x',
    'feed-digest --limit 1 --limit 2',
    'feed-digest --output x',
    'feed-digest --__proto__ x',
    'feed-digest --constructor=x',
    'web-extraction --url nowhere',
  ])('is refused: %s', (command) => {
    const refusal = refusalOf({ command })
    expect(refusal.code).toMatch(/^input_(?:invalid|wrong_type)$/)
    expect(refusal.fields[0]?.pointer).toBe('/command')
  })
})

describe('a task', () => {
  it.each<[string, unknown, unknown[][]]>([
    [
      'a skill with input',
      { skill: 'web-extraction', input: { url: A } },
      [
        ['capability', 'web-extraction'],
        ['url', A],
      ],
    ],
    ['an id of its own', { id: 'task-1', skill_id: 'feed_digest' }, [['capability', 'feed-digest']]],
    [
      'parameters',
      { skill: 'web extraction', parameters: { url: A } },
      [
        ['capability', 'web-extraction'],
        ['url', A],
      ],
    ],
    ['a message in words', { message: 'read the news' }, [['words', 'read the news']]],
    [
      'a message of parts',
      {
        message: {
          role: 'user',
          parts: [
            { kind: 'text', text: 'read' },
            { kind: 'data', data: { url: A } },
          ],
        },
      },
      [
        ['words', 'read'],
        ['url', A],
      ],
    ],
    ['a goal', { goal: 'read the news' }, [['words', 'read the news']]],
  ])('is read with %s', (_, task, claims) => {
    expect(read({ task })).toEqual(claims)
  })
})

describe('a request in whatever order', () => {
  it('is the same request', () => {
    const fields = {
      intent: { goal: 'latest', text: 'headlines', urls: [A] },
      limit: 3,
      input: { sources: [{ url: B, fallbacks: [] }] },
      http: { url: A, method: 'GET' },
    }
    const turned = Object.fromEntries(
      Object.entries(fields)
        .toReversed()
        .map(([key, value]) => [
          key,
          typeof value === 'object' ? Object.fromEntries(Object.entries(value).toReversed()) : value,
        ]),
    )
    expect(claimsOf(turned)).toEqual(claimsOf(fields))
  })
})

describe('HTTP as data', () => {
  it('takes no header along, and says so', () => {
    const http = { url: A, headers: { cookie: 'hunter2' } }
    const resolution = resolve({ http })
    expect(resolution).toMatchObject({ ok: true, ignored: ['/http/headers'] })
    expect(JSON.stringify(resolution)).not.toContain('hunter2')
  })

  it.each<[string, unknown]>([
    ['an array', { http: { url: A, body: [] } }],
    ['a number', { http: { url: 7 } }],
    ['an unknown member', { http: { url: A, verb: 'GET' } }],
    ['HTML longer than HTML may be', { action: `<p>${'x'.repeat(12_288)}` }],
    ['a body that is no object', { http: { url: '/v1/execute', method: 'POST', body: '[]' } }],
    ['a body of null', { http: { url: '/v1/execute', method: 'POST', body: 'null' } }],
    [
      'a prototype in a body',
      { http: { url: '/v1/execute', method: 'POST', body: '{"__proto__":{"html":"x"}}' } },
    ],
    ['a prototype in a wrapper', { input: JSON.parse('{"constructor":{"prototype":{}}}') as unknown }],
  ])('is refused with %s', (_, input) => {
    expect(refusalOf(input).code).toMatch(/^input_/)
  })
})
