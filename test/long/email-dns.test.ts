// DNS at its worst: nobody there, answers that cannot be read, two servers of which one is dead.
import { afterEach, describe, expect, it } from 'vitest'
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

const GOOD = { 'good.com': { MX: [[10, 'mx.good.com']] as const }, 'mx.good.com': { A: ['93.184.216.34'] } }

async function start(servers: string): Promise<TestGateway> {
  const gateway = await startTestGateway({ env: { GATEWAY_DNS_SERVERS: servers } })
  open.push(gateway)
  return gateway
}
async function dnsServer(options?: { tcp?: boolean }): Promise<TestDnsServer> {
  const server = await startDnsServer(GOOD, options)
  open.push(server)
  return server
}
const verify = async (gateway: TestGateway, email: string) =>
  (await gateway.rest('POST', '/v1/verify', { email })).body

describe('email verification', () => {
  it('reviews everything while no DNS server is there, and still rejects what is wrong by itself', async () => {
    const dead = await startDnsServer()
    await dead.close()
    const gateway = await start(dead.address)
    expect(await verify(gateway, 'ada@good.com')).toMatchObject({
      decision: 'review',
      reasons: ['dns_failure'],
      cache_ttl_seconds: 0,
    })
    expect(await verify(gateway, 'ada..x@good.com')).toMatchObject({ decision: 'reject' })
    expect(await verify(gateway, 'ada@mailinator.com')).toMatchObject({ decision: 'reject' })
  })

  it('asks the second server where the first is dead, refuses or fails', async () => {
    const dead = await startDnsServer()
    await dead.close()
    const alive = await dnsServer()
    expect(await verify(await start(`${dead.address},${alive.address}`), 'ada@good.com')).toMatchObject({
      decision: 'accept',
    })
    const failing = await dnsServer()
    failing.set('good.com', { rcode: 2 })
    expect(await verify(await start(`${failing.address},${alive.address}`), 'ada@good.com')).toMatchObject({
      decision: 'accept',
    })
  })

  it('believes one server that there is no such name', async () => {
    const [first, second] = [await dnsServer(), await dnsServer()]
    const gateway = await start(`${first.address},${second.address}`)
    expect(await verify(gateway, 'ada@gone.com')).toMatchObject({ decision: 'reject' })
    expect(second.queries).toEqual([])
  })

  it('does not guess at an answer that was cut and cannot be had whole', async () => {
    const server = await dnsServer({ tcp: false })
    server.set('big.com', { MX: Array.from({ length: 60 }, (_, i) => [i, 'mx.good.com'] as const) })
    expect(await verify(await start(server.address), 'ada@big.com')).toMatchObject({
      decision: 'review',
      reasons: ['dns_failure'],
    })
  })
})
