// Replicas that tell each other of limits through Redis, and through their database while it is away.
import { inspect } from 'node:util'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openRedisRates, orElse, type RedisRates } from '../../src/store/redis/rates.ts'
import type { RateCount } from '../../src/store/ports.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { times } from '../support/store.ts'

const count = (name: string, used: number, leftMs = 60_000) => ({ name, used, leftMs })
/** Some of the minute has passed meanwhile. */
const told = (name: string, used: number) => ({ name, used, leftMs: expect.any(Number) as number })

let redis: TestRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

describe('counts in Redis', () => {
  const said: string[] = []
  const log = {
    info: (words: string) => void said.push(words),
    warn: (fields: unknown, words: string) => void said.push(words, inspect(fields)),
  } as never
  const opened: RedisRates[] = []
  const open = (bootId: string) => {
    const rates = openRedisRates({ url: redis.url, bootId, log })
    opened.push(rates)
    return rates
  }
  let one: RedisRates
  let two: RedisRates
  beforeAll(async () => {
    one = open('boot-1')
    two = open('boot-2')
    for (const rates of [one, two])
      await vi.waitFor(async () => expect(await isUp(rates)).toBe(true), { timeout: 15_000 })
  })
  afterAll(() => Promise.all(opened.map((rates) => rates.close())))
  const isUp = (rates: RedisRates) =>
    rates.exchange([count('up', 1, 1)]).then(
      () => true,
      () => false,
    )

  it('are the newest of each process, and those of the others that are open are told', async () => {
    expect(await one.exchange([count('a', 3), count('b', 1)])).toEqual([])
    expect(await one.exchange([count('a', 5)])).toEqual([])
    const [heard, ...others] = await two.exchange([count('c', 1), count('a', 2)])
    expect(heard).toEqual(told('a', 5))
    expect(heard!.leftMs).toBeGreaterThan(0)
    expect(heard!.leftMs).toBeLessThanOrEqual(60_000)
    expect(others).toEqual([])
    expect(await one.exchange([count('a', 6)])).toEqual([told('a', 2)])
  })

  it('of a window that has closed are told to nobody', async () => {
    await one.exchange(times(50, (i) => count(`old ${i}`, 1, 1)))
    await expect.poll(() => two.exchange([count('old 7', 1)])).toEqual([])
    // Nor does a longer window of one process keep a closed one of another.
    await one.exchange([count('mixed', 9, 1)])
    await expect.poll(() => two.exchange([count('mixed', 1)])).toEqual([])
    expect(await one.exchange([count('mixed', 9)])).toEqual([told('mixed', 1)])
  })

  it('are told by many at once, two thousand of them', async () => {
    const names = times(2000, (i) => `many ${i}`)
    const exchangeAll = () =>
      Promise.all(
        times(10, (i) => (i % 2 === 0 ? one : two).exchange(names.map((name) => count(name, i + 1)))),
      )
    // Whoever waits for half a second asks the database; a machine that is busy with other tests may take that long once.
    await vi.waitFor(exchangeAll, { timeout: 15_000 })
    expect(await one.exchange([count('many 7', 1), count('many 1999', 1)])).toHaveLength(2)
  })

  it('are asked of the database while it is away, which is said once, without its password', async () => {
    const asked: string[] = []
    const database = async (counts: readonly RateCount[]) => {
      asked.push(...counts.map(({ name }) => name))
      return []
    }
    const exchange = orElse(one.exchange, database)
    await exchange([count('d', 1)])
    expect(asked).toEqual([])
    await redis.stop()
    for (const name of ['e', 'f', 'g']) await exchange([count(name, 1)])
    expect(asked).toEqual(['e', 'f', 'g'])
    await expect.poll(() => said.filter((words) => words.startsWith('Redis does not answer'))).toHaveLength(2)
    await redis.start()
    await expect.poll(() => isUp(one)).toBe(true)
    asked.length = 0
    await exchange([count('h', 1)])
    expect(asked).toEqual([])
    await expect.poll(() => said.filter((words) => words === 'Redis answers again')).toHaveLength(2)
    expect(said.join('\n')).not.toContain(redis.password)
  })
})

describe('two gateways on one Redis', () => {
  const LIMIT = 40
  let world: World
  let one: TestGateway
  let two: TestGateway
  beforeAll(async () => {
    world = await createWorld({
      engine: 'postgres',
      env: { GATEWAY_RATE_LIMIT: String(LIMIT), GATEWAY_REDIS_URL: redis.url },
    })
    one = await startTestGateway({ world })
    two = await startTestGateway({ world })
  })
  afterAll(async () => {
    await Promise.all([one.close(), two.close()])
    await world.close()
  })

  it('have one limit', async () => {
    const statusAt = async (gateway: TestGateway) => (await gateway.rest('GET', '/v1/credits')).status
    for (let i = 0; i < 30; i++) expect(await statusAt(one)).toBe(200)
    let answered = 0
    while ((await statusAt(two)) === 200) {
      answered++
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    expect(answered).toBeGreaterThan(0)
    expect(answered).toBeLessThan(25)
    const client = await createClient({ url: redis.url }).connect()
    expect((await client.keys('{agent-gateway}:rates:*')).length).toBeGreaterThan(0)
    // Nobody's address or key is there.
    expect((await client.keys('*')).join('\n')).not.toMatch(/127\.0\.0\.1|agw_|key_/)
    client.destroy()
  })
})
