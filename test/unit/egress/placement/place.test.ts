import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { CredentialSettings, Placement } from '../../../../schemas/credential-settings.ts'
import { readParts } from '../../../../src/egress/placement/parts.ts'
import { placeSecrets } from '../../../../src/egress/placement/place.ts'
import type { EgressRequest } from '../../../../src/egress/ports.ts'
import { prepareRequest } from '../../../../src/egress/request.ts'

const SECRET = 'k3y/+ =&ü"'
const rules = { ports: [443], defaultHeaders: {} }

function place(
  placements: readonly Placement[],
  asked: Partial<EgressRequest> & { secret?: string; parts?: Record<string, string> } = {},
  limits: CredentialSettings['limits'] = {},
) {
  const { secret, parts, ...request } = asked
  const prepared = prepareRequest(
    { url: 'https://api.example.com/v1/things?a=1', method: 'POST', headers: {}, ...request },
    { ...rules, placements, limits },
  )
  const given = parts ? { parts } : { secret: secret ?? SECRET }
  const placed = placeSecrets(prepared, placements, readParts(given)).use((value) => value)
  const headers = Object.fromEntries(placed.headers)
  const usual = new Set(['accept', 'accept-encoding', 'user-agent'])
  return {
    target: placed.target ?? '/v1/things?a=1',
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !usual.has(name))),
    body: placed.body?.toString(),
  }
}
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('a secret goes into', () => {
  it.each<[string, Placement[], Parameters<typeof place>[1], object]>([
    [
      'a header with a scheme of any word',
      [{ in: 'header', name: 'authorization', scheme: 'GenieKey' }],
      {},
      { headers: { authorization: `GenieKey ${SECRET}` } },
    ],
    ['a header of its own', [{ in: 'header', name: 'x-key' }], {}, { headers: { 'x-key': SECRET } }],
    [
      'two headers, a part in each',
      [
        { in: 'header', name: 'dd-api-key', part: 'api_key' },
        { in: 'header', name: 'dd-application-key', part: 'application_key' },
      ],
      { parts: { api_key: 'one-secret', application_key: 'another-secret' } },
      { headers: { 'dd-api-key': 'one-secret', 'dd-application-key': 'another-secret' } },
    ],
    [
      'Basic, user and password put together and encoded',
      [{ in: 'header', name: 'authorization', scheme: 'Basic' }],
      { parts: { user: 'ü', password: 'p:w' } },
      { headers: { authorization: `Basic ${Buffer.from('ü:p:w').toString('base64')}` } },
    ],
    [
      'Basic, a key in the place of the user',
      [{ in: 'header', name: 'authorization', scheme: 'Basic' }],
      { parts: { user: 'sk_live_1' } },
      { headers: { authorization: `Basic ${Buffer.from('sk_live_1:').toString('base64')}` } },
    ],
    [
      'a query parameter, encoded, behind those of the caller',
      [{ in: 'query', name: 'key' }],
      {},
      { target: '/v1/things?a=1&key=k3y%2F%2B%20%3D%26%C3%BC%22' },
    ],
    [
      'the first query parameter',
      [{ in: 'query', name: 'key' }],
      { url: 'https://api.example.com/v1' },
      { target: '/v1?key=k3y%2F%2B%20%3D%26%C3%BC%22' },
    ],
    [
      'the first segment of the path, behind a prefix',
      [{ in: 'path', at: 0, prefix: 'bot' }],
      { secret: '123:ABC-def_', url: 'https://api.example.com/sendMessage?a=1' },
      { target: '/bot123:ABC-def_/sendMessage?a=1' },
    ],
    [
      'the last segment of the path',
      [{ in: 'path', at: 2 }],
      { secret: 'abcdefgh', url: 'https://api.example.com/webhooks/7' },
      { target: '/webhooks/7/abcdefgh' },
    ],
    [
      'the last segment of a path that ends with a slash',
      [{ in: 'path', at: 2 }],
      { secret: 'abcdefgh', url: 'https://api.example.com/webhooks/7/' },
      { target: '/webhooks/7/abcdefgh/' },
    ],
    [
      'the only segment of the path',
      [{ in: 'path', at: 0 }],
      { secret: 'abcdefgh', url: 'https://api.example.com/' },
      { target: '/abcdefgh' },
    ],
    [
      'a member of a JSON body, the rest of which stays as it is',
      [{ in: 'json', pointer: '/api_key' }],
      { headers: json, body: ' { "big": 12345678901234567890.10 } ' },
      {
        headers: json,
        body: ` {"api_key":${JSON.stringify(SECRET)}, "big": 12345678901234567890.10 } `,
      },
    ],
    [
      'an inner member of a JSON body',
      [{ in: 'json', pointer: '/auth/key' }],
      { headers: json, body: '{"other":["auth",{"auth":{}}],"auth":{"user":1}}' },
      {
        headers: json,
        body: `{"other":["auth",{"auth":{}}],"auth":{"key":${JSON.stringify(SECRET)},"user":1}}`,
      },
    ],
    [
      'an inner member that brings the object around it',
      [{ in: 'json', pointer: '/a/b/c' }],
      { headers: json, body: '{"a":{}}' },
      { headers: json, body: `{"a":{"b":{"c":${JSON.stringify(SECRET)}}}}` },
    ],
    [
      'a JSON body that there was not',
      [{ in: 'json', pointer: '/key' }],
      {},
      { headers: json, body: `{"key":${JSON.stringify(SECRET)}}` },
    ],
    [
      'a field of a form',
      [{ in: 'form', name: 'token' }],
      { headers: form, body: 'a=1' },
      { headers: form, body: 'a=1&token=k3y%2F%2B%20%3D%26%C3%BC%22' },
    ],
    [
      'a form that there was not',
      [{ in: 'form', name: 'token' }],
      { secret: 'abcdefgh' },
      { headers: form, body: 'token=abcdefgh' },
    ],
    [
      'cookies, all in one header',
      [
        { in: 'cookie', name: 'sid', part: 'sid' },
        { in: 'cookie', name: 'csrf', part: 'csrf' },
      ],
      { parts: { sid: 'abcdefgh', csrf: 'ijklmnop' } },
      { headers: { cookie: 'sid=abcdefgh; csrf=ijklmnop' } },
    ],
  ])('%s', (_, placements, asked, wanted) => {
    expect(place(placements, asked)).toMatchObject(wanted)
  })

  it('a query parameter, a field or a JSON member that reads back as the secret, whatever it is', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 8, maxLength: 40 })
      .filter((one) => one.isWellFormed())
    fc.assert(
      fc.property(text, (secret) => {
        const query = place([{ in: 'query', name: 'key' }], { secret }).target
        expect(new URL(query, 'https://api.example.com').searchParams.get('key')).toBe(secret)
        const field = place([{ in: 'form', name: 'key' }], { secret }).body
        expect(new URLSearchParams(field).get('key')).toBe(secret)
        const member = place([{ in: 'json', pointer: '/a/key' }], {
          secret,
          headers: json,
          body: '{"a":{"b":"}"},"c":[{}]}',
        }).body
        expect(JSON.parse(member ?? '')).toEqual({ a: { key: secret, b: '}' }, c: [{}] })
      }),
      { numRuns: 200 },
    )
  })

  it('the object of the pointer, whatever else is called like it', () => {
    const body = '{"b":{"auth":{"a":1}},"auth":{"b":{"auth":{}}},"x":"\\"auth\\":{"}'
    const sent = place([{ in: 'json', pointer: '/auth/key' }], {
      headers: json,
      body,
      secret: 'abcdefgh',
    }).body
    expect(JSON.parse(sent ?? '')).toEqual({
      b: { auth: { a: 1 } },
      auth: { key: 'abcdefgh', b: { auth: {} } },
      x: '"auth":{',
    })
  })
})

describe('a request without room is refused in words, before anything is charged:', () => {
  const post = { headers: json, method: 'POST' }
  const limits = { max_request_bytes: 10 * 1024 * 1024 }
  it.each<[string, Placement, Partial<EgressRequest>, string]>([
    [
      'the parameter is there',
      { in: 'query', name: 'key' },
      { url: 'https://api.example.com/?key=mine' },
      'Leave the query parameter "key" out: the gateway adds the credential in it.',
    ],
    ...['?Key=1', '?%6Bey=1', '?a=1;key=2', '?key[]=1', '?key', '?+key=1', '?k%65y%5B0%5D=2'].map(
      (query): [string, Placement, Partial<EgressRequest>, string] => [
        `the parameter is there as ${query}`,
        { in: 'query', name: 'key' },
        { url: `https://api.example.com/${query}` },
        'Leave the query parameter "key" out',
      ],
    ),
    [
      'the path ends before the segment',
      { in: 'path', at: 2 },
      { url: 'https://api.example.com/webhooks' },
      'as segment 3 of the path: give the 2 before it',
    ],
    [
      'the path ends before the segment, with a slash',
      { in: 'path', at: 2 },
      { url: 'https://api.example.com/webhooks/' },
      'as segment 3 of the path: give the 2 before it',
    ],
    [
      'the path is a slash alone',
      { in: 'path', at: 1 },
      { url: 'https://api.example.com/' },
      'as segment 2 of the path: give the 1 before it',
    ],
    ['a GET has no body', { in: 'json', pointer: '/key' }, { method: 'GET' }, 'use POST'],
    [
      'the body is no JSON',
      { in: 'json', pointer: '/key' },
      { ...post, body: 'key=1' },
      'send a JSON object',
    ],
    ['the body is a list', { in: 'json', pointer: '/key' }, { ...post, body: '[]' }, 'send a JSON object'],
    [
      'the member is there',
      { in: 'json', pointer: '/key' },
      { ...post, body: '{"key":1}' },
      'leave /key out: the gateway adds the credential there',
    ],
    [
      'the member is there under an escape',
      { in: 'json', pointer: '/key' },
      { ...post, body: '{"\\u006bey":1}' },
      'leave /key out',
    ],
    [
      'the member is there with a letter that folds to one of it',
      { in: 'json', pointer: '/api_secret' },
      { ...post, body: '{"api_\u017fecret":1}' },
      'leave /api_secret out',
    ],
    ...['{"auth":{"KEY":1}}', '{"AUTH":{"key":1}}', '{"auth":{"a":1},"Auth":{"key":1}}'].map(
      (body): [string, Placement, Partial<EgressRequest>, string] => [
        `the member is there as ${body}`,
        { in: 'json', pointer: '/auth/key' },
        { ...post, body },
        'leave /auth/key out',
      ],
    ),
    [
      'what holds the member is there twice',
      { in: 'json', pointer: '/auth/key' },
      { ...post, body: '{"auth":{"key":"mine"},"auth":{}}' },
      'name each member once',
    ],
    [
      'the body is nested without end',
      { in: 'json', pointer: '/key' },
      { ...post, body: `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}` },
      'nested at most 512 deep',
    ],
    [
      'what holds the member is a text',
      { in: 'json', pointer: '/auth/key' },
      { ...post, body: '{"auth":"mine"}' },
      'has to be an object',
    ],
    ...[Array.from({ length: 30_000 }, (_, i) => `"${i}":1`).join(), `"a":[${'{},'.repeat(30_000)}0]`].map(
      (members): [string, Placement, Partial<EgressRequest>, string] => [
        `the body has too much in it: ${members.slice(0, 10)}…`,
        { in: 'json', pointer: '/key' },
        { ...post, body: `{${members}}` },
        'to the JSON body: send at most 30000 members, objects and lists',
      ],
    ),
    [
      'the body says that it is something else',
      { in: 'json', pointer: '/key' },
      { headers: { 'content-type': 'text/plain' }, body: '{}' },
      'send it as content-type application/json',
    ],
    [
      'the field is there',
      { in: 'form', name: 'token' },
      { headers: form, body: 'a=1&%74oken=2' },
      'leave the field token out',
    ],
    ['a form is of other bytes', { in: 'form', name: 'token' }, { headers: form, body: 'a\r\nb' }, 'no form'],
    ...['%&', '&', ';', 'a=1&'].map((field): [string, Placement, Partial<EgressRequest>, string] => [
      `a form has ${field} too often`,
      { in: 'form', name: 'token' },
      { headers: form, body: field.repeat(30_000) },
      'send at most 30000 fields',
    ]),
    [
      'a form is longer than what is searched',
      { in: 'form', name: 'token' },
      { headers: form, body: 'a'.repeat(1024 * 1024 + 1) },
      'to the form: send at most 1048576 bytes',
    ],
  ])('%s', (_, placement, asked, words) => {
    expect(() => place([placement], asked, limits)).toThrow(words)
  })

  it('JSON of two secrets is parsed once before it is charged, and not at all when they go in', () => {
    const placements = ['/client_id', '/auth/secret'].map((pointer) => ({ in: 'json', pointer }) as const)
    const parse = vi.spyOn(JSON, 'parse')
    try {
      const { body } = place(placements, { headers: json, body: '{"auth":{"a":1}}', secret: 'abcdefgh' })
      expect(body).toBe('{"client_id":"abcdefgh","auth":{"secret":"abcdefgh","a":1}}')
      expect(parse.mock.calls.filter(([text]) => text.startsWith('{'))).toHaveLength(1)
    } finally {
      parse.mockRestore()
    }
  })

  it('but for one that has as many fields as are searched', () => {
    const body = 'a=1&'.repeat(29_999)
    expect(place([{ in: 'form', name: 'token' }], { headers: form, body, secret: 'abcdefgh' }).body).toBe(
      `${body}&token=abcdefgh`,
    )
  })
})
