import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { checkHead, createGuard, type GuardParts } from '../../../src/doors/http/guard.ts'
import { GatewayError } from '../../../src/core/errors.ts'

const addresses = {
  baseUrl: 'https://gateway.example.com',
  siteUrl: 'https://www.example.com',
  mcpUrl: 'https://mcp.example.com/mcp',
}
const guardOf = (config: Partial<GuardParts['config']> = {}) =>
  createGuard({ config: { mode: 'sandbox', host: '192.0.2.7', allowedOrigins: [], ...config }, addresses })
const guard = guardOf()

const requestOf = (headers: Record<string, string | undefined>, url = '/') =>
  ({ url, headers, rawHeaders: Object.entries(headers).flat() }) as unknown as IncomingMessage

function verdictOf(check: () => void): string {
  try {
    check()
    return 'accepted'
  } catch (thrown) {
    return thrown instanceof GatewayError ? `${thrown.code} ${thrown.reason ?? ''}`.trim() : 'a bug'
  }
}

const verdict = (host: string | undefined, origin?: string): string =>
  verdictOf(() =>
    guard.check(requestOf({ ...(host !== undefined && { host }), ...(origin !== undefined && { origin }) })),
  )

describe('the Host header', () => {
  it.each([
    ['localhost'],
    ['localhost:8402'],
    ['127.0.0.1:1'],
    ['[::1]:8402'],
    ['gateway.example.com'],
    ['GATEWAY.example.com:443'],
    ['mcp.example.com'],
    ['192.0.2.7:8402'],
  ])('may be %s', (host) => {
    expect(verdict(host)).toBe('accepted')
    // The second time it is remembered, which must not change the answer.
    expect(verdict(host)).toBe('accepted')
  })

  it.each([
    [undefined],
    [''],
    ['evil.example'],
    ['127.0.0.1.evil.example'],
    ['localhost.evil.example'],
    ['gateway.example.com.evil.example'],
    ['evil.example@localhost'],
    ['localhost@evil.example'],
    ['localhost/evil'],
    ['localhost:port'],
    ['127.0.0.2'],
  ])('may not be %s', (host) => {
    expect(verdict(host)).toBe('origin_denied host')
  })
})

describe('the address it listens on', () => {
  const addresses = { baseUrl: 'http://[::1]', siteUrl: 'http://[::1]', mcpUrl: 'http://[::1]' }
  const isAccepted = (listenHost: string, host: string) => {
    try {
      createGuard({ config: { mode: 'sandbox', host: listenHost, allowedOrigins: [] }, addresses }).check(
        requestOf({ host }),
      )
      return true
    } catch {
      return false
    }
  }

  it.each([
    ['192.0.2.7', '192.0.2.7:8402', true],
    ['2001:db8::7', '[2001:db8::7]:8402', true],
    // Browsers take 0.0.0.0 to loopback, so a page could name it.
    ['0.0.0.0', '0.0.0.0:8402', false],
    ['::', '[::]:8402', false],
  ])('%s lets Host be %s: %s', (listenHost, host, expected) => {
    expect(isAccepted(listenHost, host)).toBe(expected)
  })
})

describe('the Origin header', () => {
  it.each([[undefined], ['http://localhost:3000'], ['http://[::1]'], ['https://www.example.com']])(
    'may be %s',
    (origin) => {
      expect(verdict('localhost', origin)).toBe('accepted')
    },
  )

  it.each([
    ['null'],
    [''],
    ['https://evil.example'],
    ['https://localhost.evil.example'],
    ['file://'],
    ['chrome-extension://localhost'],
    ['ftp://localhost'],
    ['localhost'],
  ])('may not be "%s"', (origin) => {
    expect(verdict('localhost', origin)).toBe('origin_denied origin')
  })
})

describe('production', () => {
  const [evil, page] = ['https://evil.example', 'https://page.example']
  it.each([
    ['any Host, as probes use one of their own', [], 'evil.example', undefined, 'accepted'],
    ['the page of any origin', [], 'gateway.example.com', evil, 'accepted'],
    ['a page without an origin', [], 'gateway.example.com', 'null', 'accepted'],
    ['the page that is named', [page], 'gateway.example.com', page, 'accepted'],
    ['its own page', [page], 'gateway.example.com', 'https://www.example.com', 'accepted'],
    ['no other where one is named', [page], 'gateway.example.com', evil, 'origin_denied origin'],
    ['every one where all are named', [page, '*'], 'gateway.example.com', evil, 'accepted'],
  ])('takes %s', (_, allowedOrigins, host, origin, expected) => {
    const production = guardOf({ mode: 'production', allowedOrigins })
    expect(verdictOf(() => production.check(requestOf({ host, ...(origin && { origin }) })))).toBe(expected)
  })

  it('checks the Host of the door that asks for it', () => {
    const { check } = guardOf({ mode: 'production' })
    expect(verdictOf(() => check(requestOf({ host: 'evil.example' }), 'mcp'))).toBe('origin_denied host')
    expect(verdictOf(() => check(requestOf({ host: 'mcp.example.com', origin: evil }), 'mcp'))).toBe(
      'accepted',
    )
  })
})

it.each([
  ['a sandbox', guard],
  [
    'production where origins are named',
    guardOf({ mode: 'production', allowedOrigins: ['https://a.example'] }),
  ],
])('%s takes a program whatever its Origin says, and a page under no other Host', (name, { check }) => {
  const asked = (host: string) => requestOf({ host, origin: 'https://api.openai.com' })
  expect(verdictOf(() => check(asked('localhost'), 'program'))).toBe('accepted')
  expect(verdictOf(() => check(asked('localhost')))).toBe('origin_denied origin')
  if (name === 'a sandbox')
    expect(verdictOf(() => check(asked('evil.example'), 'program'))).toBe('origin_denied host')
})

it('a sandbox takes the pages that its operator names, and all where that is said', () => {
  const request = requestOf({ host: 'localhost', origin: 'chrome-extension://abcdef' })
  expect(verdictOf(() => guard.check(request))).toBe('origin_denied origin')
  for (const allowedOrigins of [['chrome-extension://abcdef'], ['*']])
    expect(verdictOf(() => guardOf({ allowedOrigins }).check(request))).toBe('accepted')
})

describe('a head that can be read in two ways', () => {
  const check = (rawHeaders: string[], url = '/', host = 'localhost:8402') =>
    verdictOf(() => checkHead({ url, headers: { host }, rawHeaders }))

  it.each([
    ['Host', 'host'],
    ['Authorization', 'AUTHORIZATION'],
    ['X-Gateway-Capability', 'x-gateway-capability'],
    ['Idempotency-Key', 'Idempotency-Key'],
  ])('has %s twice', (one, other) => {
    expect(check([one, 'a', 'accept', '*/*', other, 'a'])).toBe('request_invalid')
    expect(check([one, 'a', 'accept', '*/*', 'x-other', 'a'])).toBe('accepted')
  })

  it('may repeat what is a list', () => {
    expect(check(['Accept', 'a', 'Accept', 'b', 'Cookie', 'a', 'Cookie', 'b'])).toBe('accepted')
  })

  it.each([
    ['http://localhost:8402/healthz', 'accepted'],
    ['HTTP://LOCALHOST:8402', 'accepted'],
    ['http://evil.example/healthz', 'request_invalid'],
    ['https://localhost/healthz', 'request_invalid'],
    ['http://localhost:8402@evil.example/', 'request_invalid'],
    ['http:///healthz', 'request_invalid'],
    ['/http://evil.example/', 'accepted'],
  ])('and the target %s is %s', (url, expected) => {
    expect(check([], url)).toBe(expected)
  })
})
