import { describe, expect, it } from 'vitest'
import { createGuard } from '../../../src/doors/mcp/guard.ts'
import { GatewayError } from '../../../src/core/errors.ts'

const guard = createGuard(
  {
    baseUrl: 'https://gateway.example.com',
    siteUrl: 'https://www.example.com',
    mcpUrl: 'https://mcp.example.com/mcp',
  },
  '192.0.2.7',
)

function verdict(host: string | undefined, origin?: string): string {
  try {
    guard.check(host, origin)
    return 'accepted'
  } catch (thrown) {
    return thrown instanceof GatewayError ? `${thrown.code} ${thrown.reason}` : 'a bug'
  }
}

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
      createGuard(addresses, listenHost).check(host, undefined)
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
