import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { isCallersHeader, pickRequestHeaders, pickResponseHeaders } from '../../../src/egress/headers.ts'
import { cites } from '../../requirements.ts'

test(
  cites(
    'egress:headers:allowed',
    'sends what is allowed in lower case and sorted, with defaults that the caller can override',
  ),
  () => {
    expect(
      pickRequestHeaders(
        { 'Content-Type': 'application/json', 'User-Agent': 'mine/1' },
        { 'notion-version': '2022-06-28' },
      ),
    ).toEqual([
      ['accept', '*/*'],
      ['accept-encoding', 'identity'],
      ['content-type', 'application/json'],
      ['notion-version', '2022-06-28'],
      ['user-agent', 'mine/1'],
    ])
    expect(
      pickRequestHeaders({ 'Notion-Version': '2025-09-03' }, { 'notion-version': '2022-06-28' }),
    ).toContainEqual(['notion-version', '2025-09-03'])
  },
)

test('what a bare request sends is by its own provider, and nothing of it is left on the next', () => {
  const [one, other] = [{ 'notion-version': '2022-06-28' }, { accept: 'text/plain' }]
  const bare = pickRequestHeaders({}, one)
  expect(pickRequestHeaders({}, other)).toContainEqual(['accept', 'text/plain'])
  expect(pickRequestHeaders({ 'notion-version': '2025-09-03' }, one)).toContainEqual([
    'notion-version',
    '2025-09-03',
  ])
  expect(pickRequestHeaders({}, one)).toEqual(bare)
  expect(bare).toContainEqual(['notion-version', '2022-06-28'])
})

const MAY_BE_SENT =
  'accept accept-language content-language content-type if-match if-modified-since if-none-match if-unmodified-since prefer ' +
  'user-agent anthropic-beta anthropic-version notion-version openai-beta stripe-version ' +
  'traceparent tracestate x-github-api-version'

test.each(MAY_BE_SENT.split(' '))('sends %s as the caller gave it', (name) => {
  expect(pickRequestHeaders({ [name]: 'mine' })).toContainEqual([name, 'mine'])
  expect(isCallersHeader(name)).toBe(true)
})

test('takes 8 KiB of names and values, and not a byte more', () => {
  const bytes = (count: number) => ({ accept: 'a'.repeat(count - 'accept'.length) })
  expect(pickRequestHeaders(bytes(8192))).toHaveLength(3)
  expect(() => pickRequestHeaders(bytes(8193))).toThrow('all headers together may have 8192 bytes')
})

test.each([
  ['accept ', { 'accept ': 'a' }, 'it is not a valid header name'],
  ['', { '': 'a' }, 'it is not a valid header name'],
  ['accept', { Accept: 'a', accept: 'b' }, 'it is given twice'],
  ['accept', { accept: 'Ā' }, 'its value may hold visible Latin-1 characters only'],
  ['accept', { accept: 'a ' }, 'its value begins or ends with a space'],
  ['authorization', { authorization: 'a' }, 'the gateway adds the credential'],
  ['cookie', { cookie: 'a' }, 'the gateway adds the credential and keeps no session'],
  ['idempotency-key', { 'idempotency-key': 'a' }, 'the gateway sends its own and names it in the answer'],
  ['host', { host: 'a' }, 'the URL names the host'],
  ['range', { range: 'a' }, 'answers are only taken whole'],
  ['accept-encoding', { 'accept-encoding': 'a' }, 'answers are only taken unencoded'],
  ['content-length', { 'content-length': '1' }, 'the gateway counts the body'],
] as [string, Record<string, string>, string][])('says of %j in %j why: %s', (name, headers, why) => {
  expect(() => pickRequestHeaders(headers)).toThrow(
    `Leave out the request header ${JSON.stringify(name)}: ${why}.`,
  )
})

test('quotes no more than 64 characters of a name, and lists what may be sent', () => {
  const thrown = (() => {
    try {
      return pickRequestHeaders({ ['x'.repeat(65)]: 'a' })
    } catch (error) {
      return error
    }
  })()
  expect(thrown).toMatchObject({
    code: 'header_forbidden',
    reason: 'request_header',
    message: expect.stringContaining(`"${'x'.repeat(64)}"`),
    extras: { header: 'x'.repeat(64), allowed: MAY_BE_SENT.split(' ') },
  })
})

describe('refuses by name', () => {
  const refused = (headers: Record<string, string>): unknown => {
    try {
      return pickRequestHeaders(headers)
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      return { code: thrown.code, header: thrown.extras['header'] }
    }
  }
  test.each(
    (
      'authorization proxy-authorization cookie host range if-range connection keep-alive te trailer upgrade expect ' +
      'transfer-encoding content-length content-encoding accept-encoding forwarded via x-forwarded-for x-forwarded-host ' +
      'x-real-ip x-http-method-override x-method-override x-original-url x-rewrite-url idempotency-key x-api-key ' +
      'openai-organization openai-project stripe-account x-custom proxy-connection sec-fetch-site origin referer __proto__'
    ).split(' '),
  )('%s', (name) => {
    const given = JSON.parse(`{${JSON.stringify(name)}: "x"}`) as Record<string, string>
    expect(refused(given)).toEqual({ code: 'header_forbidden', header: name })
    if (/^[a-z]/.test(name)) expect(refused({ [name.toUpperCase()]: 'x' })).toMatchObject({ header: name })
  })

  test.each(['constructor', '__proto__', 'x-custom'])('%s, with a reason in words', (name) => {
    const given = JSON.parse(`{${JSON.stringify(name)}: "x"}`) as Record<string, string>
    expect(() => pickRequestHeaders(given)).toThrow(
      `Leave out the request header "${name}": it is not on the list of headers that may be sent.`,
    )
  })

  test.each([
    ['a line break', { accept: 'a\r\nx: y' }],
    ['a NUL', { accept: 'a\u0000' }],
    ['a character beyond Latin-1', { accept: 'Ā' }],
    ['a space around the value', { accept: ' a' }],
    ['the same name twice', { accept: 'a', Accept: 'b' }],
    ['a space in the name', { 'accept ': 'a' }],
    ['more than 8 KiB in all', { accept: 'a'.repeat(5000), 'user-agent': 'b'.repeat(4000) }],
  ] as [string, Record<string, string>][])('%s', (_what, headers) => {
    expect(refused(headers)).toMatchObject({ code: 'header_forbidden' })
  })
})

test(
  cites(
    'egress:headers:response',
    'passes on what describes a response, and nothing that sets state, asks for a credential or came as a trailer',
  ),
  () => {
    expect(
      pickResponseHeaders([
        { name: 'content-type', value: 'text/plain' },
        { name: 'link', value: '<a>; rel=next' },
        { name: 'link', value: '<b>; rel=last' },
        { name: 'location', value: 'http://127.0.0.1/' },
        { name: 'x-ratelimit-remaining', value: '7' },
        { name: 'anthropic-ratelimit-requests-remaining', value: '8' },
        { name: 'ratelimit', value: '"default";r=1' },
        { name: 'set-cookie', value: 'a=b' },
        { name: 'www-authenticate', value: 'Bearer' },
        { name: 'x-echo', value: 'no' },
        { name: 'etag', value: '"late"', trailer: true },
      ]),
    ).toEqual({
      'content-type': 'text/plain',
      link: '<a>; rel=next, <b>; rel=last',
      location: 'http://127.0.0.1/',
      'x-ratelimit-remaining': '7',
      'anthropic-ratelimit-requests-remaining': '8',
      ratelimit: '"default";r=1',
    })
  },
)
