import { hash } from 'node:crypto'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/edge/inspect.ts'
import type { HeaderPairs } from '../../../src/edge/headers.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { wire } from '../../support/commerce.ts'
import { newToken, PERMIT_HEADER_END } from '../../../src/lib/tokens.ts'

interface Given {
  readonly path?: string
  readonly headers?: HeaderPairs
  readonly body?: string | Buffer
}
const HOST = 'shop.example.com'
const JSON_BODY: HeaderPairs = [['content-type', 'application/json']]
const inspect = ({ path = '/v1/x', headers = [], body = '' }: Given) =>
  inspectTransaction(
    { method: 'POST', host: HOST, path, headers, body: Buffer.from(body) },
    { policy: toPolicy({ default: {}, accounts: {} }, undefined), now: 0 },
  )
const encode = (value: unknown, encoding: BufferEncoding = 'base64') =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(encoding)

const payload = {
  signature: `0x${'2c81f0'.repeat(21)}1b1b`,
  authorization: {
    from: '0x27b1fdb04752bbc536007a920d24acb045561c26',
    to: '0xde709f2102306220921060314715629080e2fb77',
    value: '25000',
    validAfter: '0',
    validBefore: '120',
    nonce: `0x${'7c1d4a9e03b85f62'.repeat(4)}`,
  },
}
const accepted = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '25000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0xde709f2102306220921060314715629080e2fb77',
}
const v2 = { x402Version: 2, accepted, payload }
const v1 = { x402Version: 1, scheme: 'exact', network: 'base', payload }
/** What a payment that is cut short for a test does not say, and the cap that a policy lacks which nobody wrote. */
const UNSAID: ReadonlySet<string> = new Set([
  'AMOUNT_MISSING',
  'POLICY_INPUT_MISSING',
  'WINDOW_MISSING',
  'POLICY_AMOUNT_CAP_UNSET',
])
const of = (url: unknown) => encode({ ...v2, resource: { url } })
const mcp = (params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

describe('blocks', () => {
  it.each<[string, string, Given]>([
    ['JSON that is none', 'MALFORMED', { headers: JSON_BODY, body: '{"a":' }],
    ['white space as JSON', 'MALFORMED', { headers: JSON_BODY, body: ' ' }],
    [
      'JSON of another charset',
      'MALFORMED',
      { headers: JSON_BODY, body: Buffer.from('{"a":"é"}', 'latin1') },
    ],
    [
      'JSON of a derived type',
      'MALFORMED',
      { headers: [['content-type', 'application/ld+json; a=b']], body: 'x' },
    ],
    [
      'JSON behind a second type',
      'MALFORMED',
      { headers: [['content-type', 'text/plain'], ...JSON_BODY], body: 'x' },
    ],
    ['deep JSON', 'MALFORMED', { headers: JSON_BODY, body: '['.repeat(33) + ']'.repeat(33) }],
    ['a member twice', 'DETECT-CONFLICT', { headers: JSON_BODY, body: '{"amount":1,"amount":100}' }],
    [
      'Idempotency-Key twice',
      'HEADER_CONFLICT',
      {
        headers: [
          ['idempotency-key', 'a'],
          ['idempotency-key', 'b'],
        ],
      },
    ],
    [
      'Idempotency-Key twice the same',
      'HEADER_CONFLICT',
      {
        headers: [
          ['idempotency-key', 'a'],
          ['idempotency-key', 'a'],
        ],
      },
    ],
    [
      'Authorization twice',
      'HEADER_CONFLICT',
      {
        headers: [
          ['authorization', 'Bearer a'],
          ['authorization', 'Bearer b'],
        ],
      },
    ],
    [
      'a payment twice',
      'DUPLICATE_PAYMENT',
      {
        headers: [
          ['payment-signature', encode(v2)],
          ['payment-signature', encode(v2)],
        ],
      },
    ],
    [
      'one payment of each version',
      'DUPLICATE_PAYMENT',
      {
        headers: [
          ['payment-signature', encode(v2)],
          ['x-payment', encode(v1)],
        ],
      },
    ],
    [
      'a payment in a header and one in the message',
      'DUPLICATE_PAYMENT',
      {
        headers: [...JSON_BODY, ['payment-signature', encode(v2)]],
        body: mcp({ _meta: { 'x402/payment': v2 } }),
      },
    ],
    ['a payment that is not base64', 'MALFORMED', { headers: [['payment-signature', '{"x402Version":2}']] }],
    ['a payment that is not JSON', 'MALFORMED', { headers: [['x-payment', encode('x')]] }],
    ['a payment that is no object', 'MALFORMED', { headers: [['x-payment', encode([])]] }],
    ['an empty payment', 'MALFORMED', { headers: [['payment-signature', '']] }],
    [
      'a payment that is not UTF-8',
      'MALFORMED',
      { headers: [['x-payment', Buffer.from('{"a":"\xff"}', 'latin1').toString('base64')]] },
    ],
    [
      'a payment with a member twice',
      'DUPLICATE_PAYMENT',
      { headers: [['payment-signature', encode('{"x402Version":2,"x402Version":2}')]] },
    ],
    [
      'a payment for another host',
      'BINDING_HOST',
      { headers: [['payment-signature', of('https://bank.example/v1/x')]] },
    ],
    [
      'a payment for a host that begins alike',
      'BINDING_HOST',
      { headers: [['payment-signature', of(`https://${HOST}.evil.example/`)]] },
    ],
    [
      'a payment for the host as a user name',
      'BINDING_HOST',
      { headers: [['payment-signature', of(`https://${HOST}@evil.example/`)]] },
    ],
    [
      'a payment for another host, without a scheme',
      'BINDING_HOST',
      { headers: [['payment-signature', of('//evil.example/')]] },
    ],
    [
      'a payment of v1 for another host',
      'BINDING_HOST',
      { headers: [['x-payment', encode({ ...v1, resource: 'http://evil.example/' })]] },
    ],
    [
      'an accepted offer of another host',
      'BINDING_HOST',
      {
        headers: [['payment-signature', encode({ ...v2, accepted: { resource: 'https://evil.example/' } })]],
      },
    ],
    [
      'a payment for another host in the message',
      'BINDING_HOST',
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
      'DETECT-CONFLICT',
      {
        headers: [
          ['payment-signature', encode(v2)],
          ['authorization', `Payment ${encode({ challenge: {} })}`],
        ],
      },
    ],
    [
      'payments of x402 and ACP',
      'DETECT-CONFLICT',
      { headers: [...JSON_BODY, ['x-payment', encode(v1)]], body: '{"payment_data":{"instrument":{}}}' },
    ],
    [
      'payments of UCP and ACP',
      'DETECT-CONFLICT',
      { headers: JSON_BODY, body: '{"payment":{"instruments":[{"id":"1"}]},"payment_data":{}}' },
    ],
    [
      'a key that the message contradicts',
      'HEADER_BODY_MISMATCH',
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
    ['a payment of v2 in the header of v1', 'VERSION_CONFLICT', { headers: [['x-payment', encode(v2)]] }],
    [
      'a credential of MPP that does not decode',
      'MALFORMED',
      { headers: [['authorization', 'Payment a b']] },
    ],
    [
      'a type twice',
      'HEADER_CONFLICT',
      {
        headers: [
          ['content-type', 'text/plain'],
          ['content-type', 'text/html'],
        ],
      },
    ],
    [
      'a digest of another body',
      'BINDING_DIGEST',
      { headers: [...JSON_BODY, ['content-digest', `sha-256=:${'A'.repeat(43)}=:`]], body: '{}' },
    ],
    [
      'a payment for this host at another port',
      'BINDING_RESOURCE',
      { headers: [['payment-signature', of(`https://${HOST}:8443/v1/x`)]] },
    ],
    [
      'a permit in the body',
      'SECRET_IN_BODY',
      { body: `permit=${'A'.repeat(20)}${PERMIT_HEADER_END}.e30.c2ln` },
    ],
    ['a token of the gateway in the body', 'SECRET_IN_BODY', { body: `token=${newToken('sk')}` }],
    ['a token of the gateway in the address', 'SECRET_IN_URL', { path: `/v1?key=${newToken('cap')}` }],
  ])('%s', (_, rule, given) => {
    const { findings } = inspect(given)
    expect(findings.filter(({ blocks }) => blocks).map((finding) => finding.rule)).toContain(rule)
  })

  it.each<[string, string]>([
    ['a token as a value', JSON.stringify({ note: ['é', newToken('ek')] })],
    ['a token as a name', JSON.stringify({ [newToken('cap')]: 1 })],
    ['a permit', JSON.stringify({ note: `${'A'.repeat(20)}${PERMIT_HEADER_END}.e30.c2ln` })],
    ['a token behind a mark of UTF-8', `\ufeff${JSON.stringify(newToken('sk'))}`],
  ])('%s of this gateway in a JSON body, and says whose it is', (_what, body) => {
    const found = inspect({ headers: JSON_BODY, body }).findings.find(({ rule }) => rule === 'SECRET_IN_BODY')
    expect(found).toMatchObject({ blocks: true })
    expect(found!.detail).toContain('of this gateway')
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
      'a body in its own encoding',
      { headers: [...JSON_BODY, ['content-encoding', 'identity']], body: '{}' },
      [],
    ],
    ['a payment for this resource', { headers: [['payment-signature', of(`https://${HOST}/v1/x`)]] }, []],
    [
      'a payment for this resource with another query',
      { headers: [['payment-signature', of(`https://${HOST}/v1/x?y`)]] },
      ['BINDING_RESOURCE'],
    ],
    [
      'a payment for this resource under another port, where a proxy ends TLS',
      { headers: [['payment-signature', of(`http://${HOST}:3000/v1/x`)]] },
      ['INSECURE_SCHEME', 'BINDING_RESOURCE', 'PRIVATE_TARGET'],
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
      'a credential of MPP',
      { headers: [['authorization', `Payment ${encode({ challenge: {} }, 'base64url')}`]] },
      [],
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
      'a list of signatures in two fields',
      {
        headers: [
          ['signature', 'a=:AA==:'],
          ['signature', 'b=:AA==:'],
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
    const others = findings.filter(({ rule }) => !UNSAID.has(rule))
    expect(others.map(({ rule, blocks }) => (blocks ? `blocks ${rule}` : rule))).toEqual(rules)
  })
})

describe('a body with a Content-Encoding', () => {
  const order = JSON.stringify({ item: 'tea', amount: 1, note: 'x'.repeat(200) })
  const secret = JSON.stringify({ token: newToken('sk') })
  const permit = JSON.stringify({ permit: `${'A'.repeat(20)}${PERMIT_HEADER_END}.e30.c2ln` })
  const coded = (coding: string, body: Buffer, type = 'application/json'): Given => ({
    headers: [
      ['content-type', type],
      ['content-encoding', coding],
    ],
    body,
  })
  const digestOf = (bytes: Buffer | string) => `sha-256=:${hash('sha256', bytes, 'base64')}:`
  const CODINGS: readonly (readonly [string, (body: string) => Buffer])[] = [
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['identity', (body) => Buffer.from(body)],
  ]

  it.each<readonly [string, (body: string) => Buffer]>(CODINGS)(
    'is read as what it stands for: %s',
    (coding, encodeWith) => {
      expect(inspect(coded(coding, encodeWith(order))).findings).toEqual([])
      for (const [body, rule] of [
        ['{"a":', 'MALFORMED'],
        ['{"amount":1,"amount":9}', 'DETECT-CONFLICT'],
        [secret, 'SECRET_IN_BODY'],
        [permit, 'SECRET_IN_BODY'],
      ] as const)
        expect(inspect(coded(coding, encodeWith(body))).findings).toMatchObject([{ rule, blocks: true }])
    },
  )

  it('is no larger than a body without one', () => {
    const fill = (bytes: number) => gzipSync(`"${' '.repeat(bytes - 2)}"`)
    expect(inspect(coded('gzip', fill(256 * 1024))).findings).toEqual([])
    for (const size of [256 * 1024 + 1, 8 * 1024 * 1024])
      expect(inspect(coded('gzip', fill(size))).findings).toMatchObject([{ rule: 'OVERSIZE', blocks: true }])
  })

  it.each<[string, string, Buffer]>([
    ['what is none of it', 'gzip', Buffer.from(order)],
    ['what lost its end', 'gzip', gzipSync(order).subarray(0, -9)],
    ['a coding that nobody knows', 'zip', gzipSync(order)],
    ['the name of something else', 'constructor', gzipSync(order)],
    ['two codings', 'gzip, br', brotliCompressSync(gzipSync(order))],
    ['two codings of which it has one', 'gzip, gzip', gzipSync(order)],
  ])('is blocked where it says JSON and cannot be read: %s', (_, coding, body) => {
    expect(inspect(coded(coding, body)).findings).toMatchObject([{ rule: 'MALFORMED', blocks: true }])
    expect(inspect(coded(coding, body, 'application/octet-stream')).findings).toEqual([
      { rule: 'body_encoded', blocks: false, detail: expect.any(String) },
    ])
  })

  it('has its digest taken as it was sent', () => {
    const body = gzipSync(order)
    const { headers = [] } = coded('gzip', body)
    const rulesOf = (digest: string) =>
      inspect({ headers: [...headers, ['content-digest', digest]], body }).findings.map(({ rule }) => rule)
    expect(rulesOf(digestOf(body))).toEqual([])
    expect(rulesOf(digestOf(order))).toEqual(['BINDING_DIGEST'])
  })

  it.each<[string, Buffer, string]>([
    ['JSON behind a byte order mark', Buffer.from('\ufeff{"a":1}'), 'application/json'],
    ['bytes that are no text', Buffer.from([0, 255, 254, 1]), 'application/octet-stream'],
  ])('or none: its digest is that of the bytes: %s', (_, body, type) => {
    const rulesOf = (digest: string) =>
      inspect({
        headers: [
          ['content-type', type],
          ['content-digest', digest],
        ],
        body,
      }).findings.map(({ rule }) => rule)
    expect(rulesOf(digestOf(body))).toEqual([])
    expect(rulesOf(digestOf('another'))).toEqual(['BINDING_DIGEST'])
  })
})

it('says one thing once, in the words that tell what to change', () => {
  const { findings } = inspect({ headers: [['x-payment', '%%%']], path: `/v1?key=${newToken('sk')}` })
  expect(findings).toEqual([
    { rule: 'SECRET_IN_URL', blocks: true, detail: expect.stringContaining('no merchant may see') },
    { rule: 'MALFORMED', blocks: true, detail: expect.stringContaining('x-payment as base64') },
  ])
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
      {
        headers: JSON_BODY,
        body: JSON.stringify({
          payment: { instruments: [{}] },
          ...(wire(SAMPLES['ap2-checkout']!).body as object),
        }),
      },
      ['ucp', 'ap2'],
    ],
  ])('%s', (_, given, protocols) => {
    const inspection = inspect(given)
    expect(inspection.protocols).toEqual(protocols)
    expect(inspection.findings.filter(({ blocks }) => blocks)).toEqual([])
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
