// Two gateways on one database: a caller who goes from one to the other has one limit.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

const LIMIT = 40

let world: World
let one: TestGateway
let two: TestGateway
beforeAll(async () => {
  world = await createWorld({ engine: 'postgres', env: { GATEWAY_RATE_LIMIT: String(LIMIT) } })
  one = await startTestGateway({ world })
  two = await startTestGateway({ world })
})
afterAll(async () => {
  await Promise.all([one.close(), two.close()])
  await world.close()
})

it('is told at the second that most of the limit is used up at the first', async () => {
  const statusAt = async (gateway: TestGateway) => (await gateway.rest('GET', '/v1/credits')).status
  for (let i = 0; i < 30; i++) expect(await statusAt(one)).toBe(200)
  // The second hears of it after its first call; then there are ten more, less those until then.
  let answered = 0
  while ((await statusAt(two)) === 200) {
    answered++
    await sleep(500)
  }
  expect(answered).toBeGreaterThan(0)
  expect(answered).toBeLessThan(25)
  expect(await statusAt(one)).toBe(200)
})
