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

/** A name that was not found within two seconds is asked for again. */
const expectAccepted = (gateway: TestGateway) =>
  expect.poll(() => verify(gateway, 'ada@good.com')).toMatchObject({ decision: 'accept' })

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
    await expectAccepted(await start(`${dead.address},${alive.address}`))
    const failing = await dnsServer()
    failing.set('good.com', { rcode: 2 })
    await expectAccepted(await start(`${failing.address},${alive.address}`))
  })

  it('believes one server that there is no such name', async () => {
    for (let tries = 1; ; tries++) {
      const [first, second] = [await dnsServer(), await dnsServer()]
      const gateway = await start(`${first.address},${second.address}`)
      // Loads the lists, and asks nothing.
      await verify(gateway, 'ada..x@good.com')
      const at = performance.now()
      const answer = await verify(gateway, 'ada@gone.com')
      // Whoever waited for longer may have asked the second one because the first was late: another pair tells.
      if (performance.now() - at >= 800 && tries < 30) continue
      expect(answer).toMatchObject({ decision: 'reject' })
      expect(second.queries).toEqual([])
      break
    }
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
