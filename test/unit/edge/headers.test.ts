import { describe, expect, it } from 'vitest'
import { type HeaderPairs, headersToBuyer, headersToMerchant, joinPairs } from '../../../src/edge/headers.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { newToken, PERMIT_HEADER_END } from '../../../src/lib/tokens.ts'

const HOP = { client: '198.51.100.7', baseUrl: 'https://gw.example.net', name: 'gw.example.net' }
/** What is added to every request. */
const ADDED: HeaderPairs = [
  ['forwarded', 'for=198.51.100.7;host="gw.example.net";proto=https'],
  ['via', '1.1 gw.example.net'],
]
const toMerchant = (headers: HeaderPairs, hop = HOP) => {
  const passed = headersToMerchant(headers, hop)
  expect(passed.slice(-ADDED.length).map(([name]) => name)).toEqual(['forwarded', 'via'])
  return passed.slice(0, -ADDED.length)
}
function refusalOf(headers: HeaderPairs): GatewayError {
  try {
    headersToMerchant(headers, HOP)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
  }
  throw new Error('was not refused')
}

describe('to the merchant', () => {
  it.each<[string, HeaderPairs]>([
    ['a payment of x402 v2', [['payment-signature', 'eyJ4NDAyVmVyc2lvbiI6Mn0=']]],
    ['a payment of x402 v1', [['x-payment', 'eyJ4NDAyVmVyc2lvbiI6MX0=']]],
    ['a credential of MPP', [['authorization', 'Payment eyJjaGFsbGVuZ2UiOnt9fQ']]],
    ['a bearer token of the merchant', [['authorization', 'Bearer merchants-own']]],
    ['Basic credentials of the merchant', [['authorization', 'Basic dXNlcjpwYXNzd29yZA==']]],
    [
      'what ACP sends',
      [
        ['api-version', '2026-04-17'],
        ['idempotency-key', 'k'],
        ['request-id', 'r'],
        ['timestamp', '2026-11-21T00:00:00Z'],
      ],
    ],
    [
      'a message signature and what it covers',
      [
        ['ucp-agent', 'profile="https://agent.example/p"'],
        ['content-digest', 'sha-256=:X:'],
        ['signature-input', 'sig1=("@method" "@authority")'],
        ['signature', 'sig1=:AA==:'],
      ],
    ],
    ['extensions of A2A', [['x-a2a-extensions', 'https://github.com/google-agentic-commerce/ap2/tree/v0.1']]],
    ['the trace', [['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01']]],
    [
      'an encoded body and what may come back',
      [
        ['content-encoding', 'gzip'],
        ['accept-encoding', 'br, gzip'],
      ],
    ],
    [
      'repeated ones in their order',
      [
        ['accept', 'text/html'],
        ['x-a', '1'],
        ['accept', 'application/json'],
        ['x-a', ''],
      ],
    ],
    ['bytes that are not ASCII', [['x-name', 'caf\u00c3\u00a9 \u0080\u009f']]],
    ['the way it came', [['via', '1.1 proxy.example, 2 other']]],
  ])('passes %s untouched', (_, headers) => {
    expect(toMerchant(headers)).toEqual(headers)
  })

  it.each<[string, HeaderPairs]>([
    [
      'Connection and what it names',
      [
        ['Connection', 'close, X-Hop'],
        ['x-hop', '1'],
        ['X-HOP', '2'],
      ],
    ],
    [
      'Connection that is there twice',
      [
        ['connection', 'x-a'],
        ['Connection', ' x-b ,'],
        ['x-a', '1'],
        ['x-b', '2'],
      ],
    ],
    ['Keep-Alive', [['Keep-Alive', 'timeout=5']]],
    [
      'Proxy-*',
      [
        ['Proxy-Authorization', 'Basic eA=='],
        ['Proxy-Connection', 'keep-alive'],
        ['proxy-anything', '1'],
      ],
    ],
    [
      'TE and Trailer',
      [
        ['TE', 'trailers'],
        ['Trailer', 'X-T'],
      ],
    ],
    [
      'the framing of this hop',
      [
        ['Transfer-Encoding', 'chunked'],
        ['Content-Length', '3'],
      ],
    ],
    [
      'Upgrade',
      [
        ['Upgrade', 'h2c'],
        ['HTTP2-Settings', 'AA'],
      ],
    ],
    ['Expect', [['Expect', '100-continue']]],
    [
      'what some servers read as one of these',
      [
        ['X_Forwarded_For', '10.0.0.1'],
        ['x_gateway_receipt', 'forged'],
        ['X-Real_IP', '10.0.0.1'],
        ['Transfer_Encoding', 'chunked'],
        ['content_length', '0'],
      ],
    ],
    ['the host of the gateway', [['Host', 'gw.example.net']]],
    [
      'cookies',
      [
        ['Cookie', 'a=b'],
        ['cookie', 'c=d'],
        ['Cookie2', '$Version=1'],
      ],
    ],
    [
      'what is meant for the gateway',
      [
        ['X-Gateway-Quote', 'q'],
        ['x-gateway-anything', '1'],
      ],
    ],
    [
      'where others say it came from',
      [
        ['Forwarded', 'for=10.0.0.1'],
        ['X-Forwarded-For', '10.0.0.1'],
        ['X-Forwarded-Host', 'bank.example'],
        ['x-forwarded-anything', '1'],
        ['X-Real-IP', '10.0.0.1'],
      ],
    ],
  ])('leaves out %s', (_, headers) => {
    expect(toMerchant([['x-before', '1'], ...headers, ['x-behind', '2']])).toEqual([
      ['x-before', '1'],
      ['x-behind', '2'],
    ])
  })

  it.each<[string, Partial<typeof HOP>, string]>([
    ['IPv4', {}, 'for=198.51.100.7;host="gw.example.net";proto=https'],
    ['IPv4 in IPv6', { client: '::ffff:198.51.100.7' }, 'for=198.51.100.7;host="gw.example.net";proto=https'],
    ['IPv6', { client: '2001:db8::7' }, 'for="[2001:db8::7]";host="gw.example.net";proto=https'],
    ['no address', { client: 'evil";for=10.0.0.1' }, 'for=unknown;host="gw.example.net";proto=https'],
    ['a port', { baseUrl: 'http://127.0.0.1:8402' }, 'for=198.51.100.7;host="127.0.0.1:8402";proto=http'],
  ])('says itself where it came from: %s', (_, hop, forwarded) => {
    expect(headersToMerchant([], { ...HOP, ...hop })).toContainEqual(['forwarded', forwarded])
  })

  it.each<[string, HeaderPairs, string]>([
    ['a service key as a bearer token', [['Authorization', `Bearer ${newToken('sk')}`]], 'authorization'],
    ['a capability in its own header', [['X-Gateway-Capability', newToken('cap')]], 'x-gateway-capability'],
    ['an email key in any header', [['x-anything', `key=${newToken('ek')};`]], 'x-anything'],
    [
      'a permit, which is as good as its execution',
      [['X-Permit', `${'A'.repeat(20)}${PERMIT_HEADER_END}.e30.c2ln`]],
      'x-permit',
    ],
    ['one in a cookie', [['Cookie', `t=${newToken('sk')}`]], 'cookie'],
    [
      'one in a header that ends here',
      [
        ['Connection', 'x-t'],
        ['X-T', newToken('sk')],
      ],
      'x-t',
    ],
    [
      'one as the password of Basic credentials',
      [['authorization', `Basic ${Buffer.from(`x:${newToken('sk')}`).toString('base64')}`]],
      'authorization',
    ],
    ['one as the name of a header', [[newToken('sk'), '1']], '…'],
    ['what authenticates a connection', [['authorization', 'NTLM TlRMTVNTUAAB']], 'authorization'],
    ['a line break', [['x-a', 'b\r\nx-c: d']], 'x-a'],
    ['a NUL', [['x-a', 'b\0']], 'x-a'],
    ['DEL', [['x-a', '\x7f']], 'x-a'],
    ['a name that is none', [['x a', '1']], 'x a'],
  ])('refuses %s', (_, headers, header) => {
    const { code, extras, message } = refusalOf(headers)
    expect({ code, header: extras['header'] }).toEqual({ code: 'header_forbidden', header })
    expect(message).not.toMatch(/agw_/)
  })

  it('refuses a request that came through this gateway before, and passes one through a namesake on', () => {
    for (const via of ['1.1 gw.example.net', '1.0 a, HTTP/1.1 GW.example.net (x)'])
      expect(refusalOf([['Via', via]])).toMatchObject({ code: 'target_blocked', reason: 'circular' })
    expect(toMerchant([['via', '1.1 gw.example.net.evil']])).toHaveLength(1)
  })

  it('takes 16 KiB of what is sent on, and not one byte more', () => {
    const added = headersToMerchant([], HOP).reduce(
      (sum, [name, value]) => sum + name.length + value.length + 4,
      0,
    )
    const room = 16 * 1024 - added - 'x-a'.length - 4
    expect(toMerchant([['x-a', 'b'.repeat(room)]])).toHaveLength(1)
    expect(refusalOf([['x-a', 'b'.repeat(room + 1)]]).code).toBe('headers_too_large')
  })
})

describe('to the buyer', () => {
  const url = new URL('https://shop.example.com/v1/orders')
  const toBuyer = (headers: HeaderPairs) =>
    headersToBuyer(
      headers.map(([name, value]) => ({ name, value })),
      url,
    )

  it.each<[string, HeaderPairs]>([
    [
      'the challenges of x402, MPP and HTTP',
      [
        ['payment-required', 'eyJ4NDAyVmVyc2lvbiI6Mn0='],
        ['www-authenticate', 'Payment id="a", realm="shop"'],
        ['www-authenticate', 'Bearer'],
        ['cache-control', 'no-store'],
      ],
    ],
    [
      'their receipts',
      [
        ['payment-response', 'eyJ9'],
        ['x-payment-response', 'eyJ9'],
        ['payment-receipt', 'eyJ9'],
        ['extension-responses', 'eyJ9'],
      ],
    ],
    [
      'what ACP and UCP answer',
      [
        ['idempotency-key', 'k'],
        ['idempotent-replayed', 'true'],
        ['request-id', 'r'],
        ['signature', 'sig1=:AA==:'],
        ['signature-input', 'sig1=()'],
      ],
    ],
    [
      'a content coding',
      [
        ['content-encoding', 'gzip'],
        ['vary', 'accept-encoding'],
      ],
    ],
    ['its own content security policy', [['content-security-policy', "default-src 'none'"]]],
    ['an absolute reference', [['location', 'https://pay.example/x?y=1#z']]],
    ['a reference to an app', [['location', 'wallet:pay?a=1']]],
    [
      'limits',
      [
        ['retry-after', '5'],
        ['ratelimit', '"default";r=1;t=5'],
      ],
    ],
  ])('passes %s untouched', (_, headers) => {
    expect(toBuyer(headers)).toEqual(headers)
  })

  it.each<[string, HeaderPairs]>([
    [
      'cookies',
      [
        ['set-cookie', 'a=b'],
        ['set-cookie', 'c=d'],
        ['set-cookie2', 'e=f'],
      ],
    ],
    [
      'what belongs to the connection',
      [
        ['connection', 'close, x-hop'],
        ['x-hop', '1'],
        ['keep-alive', 'timeout=5'],
      ],
    ],
    [
      'framing',
      [
        ['content-length', '3'],
        ['transfer-encoding', 'chunked'],
        ['trailer', 'x-t'],
      ],
    ],
    [
      'what a browser keeps for an origin',
      [
        ['strict-transport-security', 'max-age=1'],
        ['alt-svc', 'h3=":443"'],
      ],
    ],
    [
      'what empties or takes over an origin',
      [
        ['clear-site-data', '"*"'],
        ['service-worker-allowed', '/'],
      ],
    ],
    [
      'what speaks for the gateway',
      [
        ['x-gateway-receipt', 'forged'],
        ['x-gateway-attempt', 'att_1'],
        // Each is the same variable to a framework that keeps headers as such.
        ['x_gateway_receipt', 'forged'],
        ['x_gateway-receipt', 'forged'],
        ['x-gateway_receipt', 'forged'],
        ['X_Gateway_Receipt', 'forged'],
        ['x.gateway.receipt', 'forged'],
        ['x--gateway--receipt', 'forged'],
        ['x_gateway', 'forged'],
        ['x-request-id', 'r'],
      ],
    ],
    [
      'what a web server before the gateway obeys',
      [
        ['x-accel-redirect', '/edge/other.example.com/pay'],
        ['x-accel-buffering', 'yes'],
        ['x-sendfile', '/etc/passwd'],
        ['x-lighttpd-send-file', '/etc/passwd'],
        ['x-lighttpd-send-tempfile', '/etc/passwd'],
        ['x-reproxy-url', 'http://127.0.0.1:9000/'],
        ['x-reproxy-file', '/etc/passwd'],
      ],
    ],
    ['what moves a page on', [['refresh', '0; url=/v1/credits']]],
    ['a proxy that asks for a password', [['proxy-authenticate', 'Basic']]],
    [
      'what cannot be put on the wire',
      [
        ['x-a', 'b\nset-cookie: c'],
        ['x a', '1'],
      ],
    ],
  ])('leaves out %s', (_, headers) => {
    expect(toBuyer([['x-before', '1'], ...headers, ['x-behind', '2']])).toEqual([
      ['x-before', '1'],
      ['x-behind', '2'],
    ])
  })

  it('leaves out trailers', () => {
    const headers = [
      { name: 'x-a', value: '1' },
      { name: 'x-b', value: '2', trailer: true },
    ]
    expect(headersToBuyer(headers, url)).toEqual([['x-a', '1']])
  })

  it.each<[string, string]>([
    ['/v1/credits/purchase', 'https://shop.example.com/v1/credits/purchase'],
    ['next', 'https://shop.example.com/v1/next'],
    ['?a=1', 'https://shop.example.com/v1/orders?a=1'],
    ['//other.example/x', 'https://other.example/x'],
    ['\\\\other.example\\x', 'https://other.example/x'],
    ['', 'https://shop.example.com/v1/orders'],
    // Relative to whoever is at https, and to no one else.
    ['https:/edge/other.example/x', 'https://shop.example.com/edge/other.example/x'],
    ['HTTPS:x', 'https://shop.example.com/v1/x'],
    ['https:', 'https://shop.example.com/v1/orders'],
    ['https:\\x', 'https://shop.example.com/x'],
    [' \t/x', 'https://shop.example.com/x'],
    ['/\t/other.example/x', 'https://other.example/x'],
  ])('makes the reference %j one to the merchant', (location, absolute) => {
    expect(
      toBuyer([
        ['location', location],
        ['content-location', location],
      ]),
    ).toEqual([
      ['location', absolute],
      ['content-location', absolute],
    ])
  })
})

describe('joinPairs', () => {
  it('makes one list of what is repeated, whatever its name', () => {
    expect(
      joinPairs([
        ['a', '1'],
        ['constructor', 'x'],
        ['a', '2'],
      ]),
    ).toEqual({ a: '1, 2', constructor: 'x' })
  })

  it('forgets none: what it leaves out, no digest would attest', () => {
    const joined = joinPairs([
      ['__proto__', '1'],
      ['__proto__', '2'],
    ])
    expect(Object.entries(joined)).toEqual([['__proto__', '1, 2']])
  })
})
