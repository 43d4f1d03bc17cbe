// Keys and their days where there is more than one process, where one is killed, and where a day ends.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, startTestGateway, type World } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { awayFromMidnight } from '../support/midnight.ts'

const open: { close(): Promise<void> }[] = []
beforeEach(() => awayFromMidnight())
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

async function createMailWorld(options: Parameters<typeof createWorld>[0]): Promise<World> {
  const world = await createWorld(options)
  open.push(world)
  world.dns.set('good.com', { MX: [[10, 'mx.good.com']], ttl: 60 })
  world.dns.set('mx.good.com', { A: ['93.184.216.34'], ttl: 60 })
  return world
}
type Client = Pick<Awaited<ReturnType<typeof startTestGateway>>, 'rest'>
const freeKey = async (gateway: Client): Promise<string> => {
  const made = await gateway.rest('POST', '/v1/keys/free', {}, '')
  expect(made.status).toBe(201)
  return made.body.key
}
const verify = async (gateway: Client, key: string): Promise<number> =>
  (await gateway.rest('POST', '/v1/verify', { email: 'ada@good.com' }, key)).status

describe('two gateways on one database', () => {
  it('take each other’s keys, and together grant one day of it, to the last address', async () => {
    const world = await createMailWorld({ engine: 'postgres', env: { GATEWAY_EMAIL_DAILY_QUOTA: '64' } })
    const gateways = [await startTestGateway({ world }), await startTestGateway({ world })] as const
    open.push(...gateways)
    const key = await freeKey(gateways[0])
    const all = await Promise.all(Array.from({ length: 120 }, (_, i) => verify(gateways[i % 2]!, key)))
    const rest: number[] = []
    // What one of them still holds for the key is had there.
    for (const gateway of gateways)
      for (let status = 0; status !== 429; rest.push(status)) status = await verify(gateway, key)
    const granted = [...all, ...rest].filter((status) => status === 200)
    expect(granted).toHaveLength(64)
    expect(new Set([...all, ...rest])).toEqual(new Set([200, 429]))
  })
})

describe.each(ENGINES)('a gateway that is killed (%s)', (engine) => {
  it('has lost no key that it gave out, and grants no address of the day twice', async () => {
    const world = await createMailWorld({ engine, env: { GATEWAY_EMAIL_DAILY_QUOTA: '40' } })
    const before = await startGatewayProcess(world)
    const keys = await Promise.all(Array.from({ length: 10 }, () => freeKey(before)))
    const used = await Promise.all(Array.from({ length: 30 }, () => verify(before, keys[0]!)))
    expect(used).toEqual(Array(30).fill(200))
    await before.stop('SIGKILL')

    const after = await startGatewayProcess(world)
    open.push({ close: () => after.stop() })
    for (const key of keys.slice(1)) expect(await verify(after, key)).toBe(200)
    const left = await Promise.all(Array.from({ length: 20 }, () => verify(after, keys[0]!)))
    const granted = left.filter((status) => status === 200).length
    expect(granted).toBeLessThanOrEqual(10)
    // A portion is a sixteenth of what was left when it was taken.
    expect(granted).toBeGreaterThanOrEqual(8)
  })
})

describe('the end of a day', () => {
  it('is midnight UTC by the clock of the gateway, and says how far it is', async () => {
    const clock = { now: Date.parse('2026-11-21T23:59:50.000Z') }
    const world = await createMailWorld({ env: { GATEWAY_EMAIL_DAILY_QUOTA: '3' } })
    const gateway = await startTestGateway({ world, now: () => clock.now })
    open.push(gateway)
    const key = await freeKey(gateway)
    for (let i = 0; i < 3; i++) expect(await verify(gateway, key)).toBe(200)
    const refused = await gateway.rest('POST', '/v1/verify', { email: 'ada@good.com' }, key)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    clock.now += 9_999
    expect(await verify(gateway, key)).toBe(429)
    clock.now += 1
    const anew = await gateway.rest('POST', '/v1/verify', { email: 'ada@good.com' }, key)
    expect([anew.status, anew.headers.get('ratelimit')]).toEqual([200, '"daily";r=2;t=86400'])
  })
})
