import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inspectTransaction } from '../../../src/edge/inspect.ts'
import type { HeaderPairs } from '../../../src/edge/headers.ts'
import { newToken } from '../../../src/tokens.ts'

interface Given {
  readonly path?: string
  readonly headers?: HeaderPairs
  readonly body?: string | Buffer
}
const HOST = 'shop.example.com'
const JSON_BODY: HeaderPairs = [['content-type', 'application/json']]
const inspect = ({ path = '/v1/x', headers = [], body = '' }: Given) =>
  inspectTransaction({ method: 'POST', host: HOST, path, headers, body: Buffer.from(body) })
const encode = (value: unknown, encoding: BufferEncoding = 'base64') =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(encoding)

const v2 = { x402Version: 2, accepted: { scheme: 'exact', network: 'eip155:8453' }, payload: {} }
const v1 = { x402Version: 1, scheme: 'exact', network: 'base', payload: {} }
const of = (url: unknown) => encode({ ...v2, resource: { url } })
const mcp = (params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

describe('blocks', () => {
  it.each<[string, string, Given]>([
    ['JSON that is none', 'json_invalid', { headers: JSON_BODY, body: '{"a":' }],
    ['white space as JSON', 'json_invalid', { headers: JSON_BODY, body: ' ' }],
    [
      'JSON of another charset',
      'json_invalid',
      { headers: JSON_BODY, body: Buffer.from('{"a":"é"}', 'latin1') },
    ],
    [
      'JSON of a derived type',
      'json_invalid',
      { headers: [['content-type', 'application/ld+json; a=b']], body: 'x' },
    ],
    [
      'JSON behind a second type',
      'json_invalid',
      { headers: [['content-type', 'text/plain'], ...JSON_BODY], body: 'x' },
    ],
    ['deep JSON', 'json_too_deep', { headers: JSON_BODY, body: '['.repeat(33) + ']'.repeat(33) }],
    ['a member twice', 'json_repeated_member', { headers: JSON_BODY, body: '{"amount":1,"amount":100}' }],
    [
      'Idempotency-Key twice',
      'payment_header_repeated',
      {
        headers: [
          ['idempotency-key', 'a'],
          ['idempotency-key', 'b'],
        ],
      },
    ],
    [
      'Idempotency-Key twice the same',
      'payment_header_repeated',
      {
        headers: [
          ['idempotency-key', 'a'],
          ['idempotency-key', 'a'],
        ],
      },
    ],
    [
      'Authorization twice',
      'payment_header_repeated',
      {
        headers: [
          ['authorization', 'Bearer a'],
          ['authorization', 'Bearer b'],
        ],
      },
    ],
    [
      'a payment twice',
      'payment_header_repeated',
      {
        headers: [
          ['payment-signature', encode(v2)],
          ['payment-signature', encode(v2)],
        ],
      },
    ],
    [
      'one payment of each version',
      'payment_repeated',
      {
        headers: [
          ['payment-signature', encode(v2)],
          ['x-payment', encode(v1)],
        ],
      },
    ],
    [
      'a payment in a header and one in the message',
      'payment_repeated',
      {
        headers: [...JSON_BODY, ['payment-signature', encode(v2)]],
        body: mcp({ _meta: { 'x402/payment': v2 } }),
      },
    ],
    [
      'a payment that is not base64',
      'payment_unreadable',
      { headers: [['payment-signature', '{"x402Version":2}']] },
    ],
    ['a payment that is not JSON', 'payment_unreadable', { headers: [['x-payment', encode('x')]] }],
    ['a payment that is no object', 'payment_unreadable', { headers: [['x-payment', encode([])]] }],
    ['an empty payment', 'payment_unreadable', { headers: [['payment-signature', '']] }],
    [
      'a payment that is not UTF-8',
      'payment_unreadable',
      { headers: [['x-payment', Buffer.from('{"a":"\xff"}', 'latin1').toString('base64')]] },
    ],
    [
      'a payment with a member twice',
      'payment_unreadable',
      { headers: [['payment-signature', encode('{"x402Version":2,"x402Version":2}')]] },
    ],
    [
      'a payment for another host',
      'payment_other_host',
      { headers: [['payment-signature', of('https://bank.example/v1/x')]] },
    ],
    [
      'a payment for a host that begins alike',
      'payment_other_host',
      { headers: [['payment-signature', of(`https://${HOST}.evil.example/`)]] },
    ],
    [
      'a payment for the host as a user name',
      'payment_other_host',
      { headers: [['payment-signature', of(`https://${HOST}@evil.example/`)]] },
    ],
    [
      'a payment for another host, without a scheme',
      'payment_other_host',
      { headers: [['payment-signature', of('//evil.example/')]] },
    ],
    [
      'a payment of v1 for another host',
      'payment_other_host',
      { headers: [['x-payment', encode({ ...v1, resource: 'http://evil.example/' })]] },
    ],
    [
      'an accepted offer of another host',
      'payment_other_host',
      {
        headers: [['payment-signature', encode({ ...v2, accepted: { resource: 'https://evil.example/' } })]],
      },
    ],
    [
      'a payment for another host in the message',
      'payment_other_host',
      {
        headers: JSON_BODY,
        body: mcp({
          message: {
            metadata: { 'x402.payment.payload': { ...v2, resource: { url: 'https://evil.example' } } },
          },
        }),
      },
    ],
    [
      'payments of x402 and MPP',
      'payments_of_several_protocols',
      {
        headers: [
          ['payment-signature', encode(v2)],
          ['authorization', `Payment ${encode({ challenge: {} })}`],
        ],
      },
    ],
    [
      'payments of x402 and ACP',
      'payments_of_several_protocols',
      { headers: [...JSON_BODY, ['x-payment', encode(v1)]], body: '{"payment_data":{"instrument":{}}}' },
    ],
    [
      'payments of UCP and ACP',
      'payments_of_several_protocols',
      { headers: JSON_BODY, body: '{"payment":{"instruments":[{"id":"1"}]},"payment_data":{}}' },
    ],
    [
      'a key that the message contradicts',
      'idempotency_conflict',
      {
        headers: [...JSON_BODY, ['idempotency-key', 'a']],
        body: mcp({ arguments: { meta: { 'idempotency-key': 'b' } } }),
      },
    ],
    ['a path in a header', 'route_overridden', { headers: [['x-original-url', '/admin']] }],
    ['another path in a header', 'route_overridden', { headers: [['x-rewrite-url', '/admin']] }],
    ['a method in a header', 'route_overridden', { headers: [['x-http-method-override', 'DELETE']] }],
    ['the same with an underscore', 'route_overridden', { headers: [['x_http_method_override', 'DELETE']] }],
    ['a payment with an underscore', 'payment_header_disguised', { headers: [['x_payment', 'eyJ9']] }],
    ['a key with an underscore', 'payment_header_disguised', { headers: [['idempotency_key', 'k']] }],
    ['a token of the gateway in the body', 'gateway_token', { body: `token=${newToken('sk')}` }],
    ['a token of the gateway in the address', 'gateway_token', { path: `/v1?key=${newToken('cap')}` }],
  ])('%s', (_, rule, given) => {
    const { findings } = inspect(given)
    expect(findings.filter(({ blocks }) => blocks).map((finding) => finding.rule)).toContain(rule)
  })
})

describe('lets pass', () => {
  it.each<[string, Given, readonly string[]]>([
    ['nothing at all', {}, []],
    ['JSON as deep as allowed', { headers: JSON_BODY, body: '['.repeat(32) + ']'.repeat(32) }, []],
    ['what is not said to be JSON', { headers: [['content-type', 'text/plain']], body: '{"a":1,"a":' }, []],
    [
      'a type that only sounds alike',
      { headers: [['content-type', 'application/json-seq']], body: '\x1e{}' },
      [],
    ],
    ['JSON with no body', { headers: JSON_BODY }, ['json_empty']],
    [
      'an encoded body',
      { headers: [...JSON_BODY, ['content-encoding', 'gzip']], body: Buffer.from([31, 139, 8]) },
      ['body_encoded'],
    ],
    [
      'a body in its own encoding',
      { headers: [...JSON_BODY, ['content-encoding', 'identity']], body: '{}' },
      [],
    ],
    ['a payment for this host', { headers: [['payment-signature', of(`https://${HOST}/v1/x?y`)]] }, []],
    [
      'a payment for this host at another port',
      { headers: [['payment-signature', of(`https://${HOST}:8443/`)]] },
      [],
    ],
    ['a payment for a path', { headers: [['payment-signature', of('/v1/x')]] }, []],
    ['a payment for what is no web address', { headers: [['payment-signature', of('mcp://tool/buy')]] }, []],
    ['a payment for something that is no text', { headers: [['payment-signature', of(7)]] }, []],
    ['a payment without a resource', { headers: [['payment-signature', encode(v2)]] }, []],
    [
      'a payment in base64url without padding',
      { headers: [['x-payment', encode({ ...v1, a: '>>>???' }, 'base64url')]] },
      [],
    ],
    [
      'a payment of another version than its header',
      { headers: [['x-payment', encode(v2)]] },
      ['payment_version'],
    ],
    [
      'a credential of MPP',
      { headers: [['authorization', `Payment ${encode({ challenge: {} }, 'base64url')}`]] },
      [],
    ],
    [
      'a credential of MPP that does not decode',
      { headers: [['authorization', 'Payment a b']] },
      ['payment_unreadable'],
    ],
    [
      'the same key in header and message',
      {
        headers: [...JSON_BODY, ['idempotency-key', '"a"']],
        body: mcp({ arguments: { meta: { idempotency_key: 'a' } } }),
      },
      [],
    ],
    [
      'a type twice',
      {
        headers: [
          ['content-type', 'text/plain'],
          ['content-type', 'text/html'],
        ],
      },
      ['header_repeated'],
    ],
    [
      'other headers twice',
      {
        headers: [
          ['accept', 'a'],
          ['accept', 'b'],
        ],
      },
      [],
    ],
    ['words about tokens', { body: 'agw_ and agw_sk_' }, []],
  ])('%s', (_, given, rules) => {
    const { findings } = inspect(given)
    expect(findings.map(({ rule, blocks }) => (blocks ? `blocks ${rule}` : rule))).toEqual(rules)
  })
})

describe('recognises', () => {
  it.each<[string, Given, readonly string[]]>([
    ['x402 by its header', { headers: [['payment-signature', encode(v2)]] }, ['x402']],
    ['x402 inside MCP', { headers: JSON_BODY, body: mcp({ _meta: { 'x402/payment': v2 } }) }, ['x402']],
    ['MPP by its scheme', { headers: [['authorization', `payment ${encode({})}`]] }, ['mpp']],
    [
      'MPP inside MCP',
      { headers: JSON_BODY, body: mcp({ _meta: { 'org.paymentauth/credential': {} } }) },
      ['mpp'],
    ],
    ['no protocol in a bearer token', { headers: [['authorization', 'Bearer payment']] }, []],
    ['UCP by its agent', { headers: [['ucp-agent', 'profile="https://a.example"']] }, ['ucp']],
    ['UCP by its path', { path: '/checkout-sessions/1/complete?a=/checkout_sessions' }, ['ucp']],
    ['UCP by its payment', { headers: JSON_BODY, body: '{"payment":{"instruments":[{}]}}' }, ['ucp']],
    [
      'no payment where there is no instrument',
      { headers: JSON_BODY, body: '{"payment":{"instruments":[]}}' },
      [],
    ],
    ['ACP by its path', { path: '/checkout_sessions/1/complete' }, ['acp']],
    ['ACP by its payment', { headers: JSON_BODY, body: '{"payment_data":{}}' }, ['acp']],
    [
      'a delegated payment of ACP',
      { headers: JSON_BODY, body: '{"payment_method":{},"allowance":{}}' },
      ['acp'],
    ],
    [
      'AP2 by its extension',
      { headers: [['x-a2a-extensions', 'https://github.com/google-agentic-commerce/ap2/v1']] },
      ['ap2'],
    ],
    [
      'AP2 by its mandate',
      { headers: JSON_BODY, body: '{"parts":[{"data":{"ap2.mandates.PaymentMandate":{}}}]}' },
      ['ap2'],
    ],
    [
      'AP2 beside a payment of UCP, which it authorizes',
      { headers: JSON_BODY, body: '{"payment":{"instruments":[{}]},"ap2":{"checkout_mandate":"a~b"}}' },
      ['ucp', 'ap2'],
    ],
  ])('%s', (_, given, protocols) => {
    const inspection = inspect(given)
    expect(inspection.protocols).toEqual(protocols)
    expect(inspection.findings).toEqual([])
  })
})

describe('notes', () => {
  const authorization = { from: '0x1', to: `0x${'ab'.repeat(20)}`, value: '100', nonce: '0x2' }
  const accepted = { ...v2.accepted, amount: '100', payTo: authorization.to }
  const paid = (change: object) =>
    inspect({
      headers: [
        [
          'payment-signature',
          encode({ ...v2, accepted, payload: { authorization: { ...authorization, ...change } } }),
        ],
      ],
    }).findings.map(({ rule, blocks }) => [rule, blocks])

  it('what the detection of /v1/inspect finds to contradict itself', () => {
    expect(paid({})).toEqual([])
    expect(paid({ to: `0x${'cd'.repeat(20)}` })).toEqual([['contradicts_payee', false]])
    expect(paid({ value: '99' })).toEqual([['contradicts_amount', false]])
  })

  it('a header of MCP that names another tool than the body, and a digest of another body', () => {
    const rules = (headers: HeaderPairs) =>
      inspect({ headers: [...JSON_BODY, ...headers], body: mcp({ name: 'read' }) }).findings.map(
        ({ rule }) => rule,
      )
    expect(rules([['mcp-name', 'read']])).toEqual([])
    expect(rules([['mcp-name', 'drain']])).toEqual(['contradicts_header_body'])
    expect(rules([['content-digest', `sha-256=:${'A'.repeat(43)}=:`]])).toEqual(['contradicts_digest'])
  })
})

describe('whatever comes', () => {
  it('throws nothing, and quotes nothing of it', () => {
    const secret = 'quoted-nowhere'
    const names = [
      'payment-signature',
      'x-payment',
      'authorization',
      'idempotency-key',
      'content-type',
      'x-original-url',
    ]
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'Payment ',
        'application/json',
        encode({ ...v2, [secret]: secret }),
        `{"${secret}":1,"${secret}":2}`,
      ),
      fc.jsonValue().map((value) => JSON.stringify({ params: value, payment: value, payment_data: value })),
    )
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom(...names),
            fc.oneof(
              text,
              text.map((value) => value + secret),
            ),
          ),
          { maxLength: 6 },
        ),
        text,
        (headers, body) => {
          const inspection = inspect({
            headers: [...JSON_BODY, ...headers],
            body: body + secret,
            path: `/${secret}`,
          })
          expect(JSON.stringify(inspection)).not.toContain(secret)
        },
      ),
    )
  })
})
