// The socket is asked whom it is connected to: what was asked for proves nothing.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import { dial, isVetted } from '../../../src/egress/adapters/dial.ts'
import { cites } from '../../requirements.ts'

describe('a peer', () => {
  it.each<[string | undefined, readonly string[], boolean]>([
    ['93.184.216.34', ['93.184.216.34'], true],
    ['93.184.216.34', ['198.51.100.1', '93.184.216.34'], true],
    ['93.184.216.34', ['93.184.216.35'], false],
    ['2606:2800:220:1::1', ['2606:2800:0220:0001:0:0:0:1'], true],
    ['2606:2800:220:1::1', ['2606:2800:220:1::2'], false],
    ['93.184.216.34', [], false],
    [undefined, ['93.184.216.34'], false],
    [undefined, [], false],
    [undefined, ['undefined'], false],
  ])(cites('egress:dial:unknown', '%s of %j is vetted: %s'), (address, vetted, isOne) => {
    expect(isVetted(address, vetted)).toBe(isOne)
  })
})

describe('a connection', () => {
  const server = createServer()
  let greeted: Buffer[]
  let port: number
  beforeEach(async () => {
    greeted = []
    server.removeAllListeners('connection')
    server.on('connection', (socket) => {
      socket
        .on('error', () => {})
        .on('data', (bytes) => {
          greeted.push(bytes)
          socket.end('no TLS here')
        })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterEach(async () => {
    server.close()
    await once(server, 'close')
  })
  const dialTo = (
    addresses: readonly string[],
    reach = createAddressPolicy(['127.0.0.1/32', '0.0.0.0/32']),
  ) =>
    dial({
      host: 'api.example.com',
      port,
      addresses,
      reach,
      secureContext: createSecureContext(),
      signal: AbortSignal.timeout(10_000),
    })

  it(
    cites(
      'egress:dial:peer',
      'whose peer is not the address that was vetted is closed before a byte is sent',
    ),
    async () => {
      // The kernel takes the unspecified address for its own host, so the peer is 127.0.0.1.
      expect(await dialTo(['0.0.0.0'])).toEqual({ ok: false, reason: 'address_mismatch' })
      expect(greeted).toEqual([])
    },
  )

  it('is not even begun where one of the addresses is private, whoever vetted it', async () => {
    const everything = ['127.0.0.1', '93.184.216.34']
    expect(await dialTo(everything, createAddressPolicy([]))).toEqual({
      ok: false,
      reason: 'address_refused',
    })
    expect(greeted).toEqual([])
  })

  it('whose peer is the address that was vetted gets a TLS greeting', async () => {
    expect(await dialTo(['127.0.0.1'])).toEqual({ ok: false, reason: 'tls_failed' })
    expect(greeted[0]?.[0]).toBe(0x16)
  })
})
