// Nothing of an inspection or a test reaches out: every way to the network is closed while they run, and says so when tried.
import dgram from 'node:dgram'
import dns from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCommerce } from '../../../src/commerce/index.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { wire } from '../../support/commerce.ts'

const commerce = createCommerce({
  documents: { read: async ({ initial }) => ({ value: initial }) },
  log: createLogger('silent'),
  now: () => 1_790_000_030_000,
})

const tried: string[] = []
const close = (where: object, name: string) =>
  vi.spyOn(where as Record<string, () => void>, name).mockImplementation(() => {
    tried.push(name)
    throw new Error(`${name} was used`)
  })

beforeEach(() => {
  tried.length = 0
  close(net.Socket.prototype, 'connect')
  close(net, 'connect')
  close(tls, 'connect')
  close(http, 'request')
  close(https, 'request')
  close(dgram.Socket.prototype, 'send')
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveTxt', 'resolveAny']) {
    close(dns, name)
    close(dns.promises, name)
    close(dns.Resolver.prototype, name === 'lookup' ? 'resolve' : name)
  }
  vi.stubGlobal('fetch', () => {
    tried.push('fetch')
    throw new Error('fetch was used')
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe('inspection and test', () => {
  it('reach for no socket and no name', async () => {
    const sources = [...Object.values(SAMPLES), ...Object.values(KINDS).map(({ source }) => source)]
    for (const source of sources) {
      const transaction = wire(source)
      await commerce.inspect(transaction, undefined)
      commerce.test(transaction, {})
    }
    await commerce.inspect(
      { target: 'https://api.example.com/', body: { jku: 'https://keys.example.com/jwks.json' } },
      undefined,
    )
    expect(tried).toEqual([])
  })

  it('would be seen if they did', () => {
    expect(() => dns.lookup('shop.example', () => undefined)).toThrow('was used')
    expect(() => net.connect(443, 'shop.example')).toThrow('was used')
    expect(tried).toEqual(['lookup', 'connect'])
  })
})
