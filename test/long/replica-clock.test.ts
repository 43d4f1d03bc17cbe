// Two replicas on one database, of which the machine of the second is a day ahead: what it frees, opens or sweeps away by that would be everybody's.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

const DAY = 24 * 60 * 60_000
let world: World
let one: TestGateway
let ahead: TestGateway
beforeAll(async () => {
  world = await createWorld({ engine: 'postgres' })
  one = await startTestGateway({ world })
  ahead = await startTestGateway({ world, wall: () => Date.now() + DAY + 60_000 })
})
afterAll(async () => {
  await Promise.all([one?.close(), ahead?.close()])
  await world?.close()
})

it('the second goes by the clock of the database, and says so', async () => {
  expect(ahead.log()).toContain('the time here was not that of the database')
  const { capability } = await one.grant()
  const { body } = await ahead.fetch(capability, { url: one.url('/a') })
  const { created_at } = (await one.rest('GET', `/v1/egress/attempts/${body.attempt_id}`)).body
  expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000)
})

it('a key that was used is used at the second, too', async () => {
  const { capability } = await one.grant()
  const asked = { url: one.url('/orders'), method: 'POST', body: '{}', idempotency_key: 'order-of-today' }
  const first = await one.fetch(capability, asked)
  expect(first.status).toBe(200)
  const sent = one.upstream.requests.length
  expect((await ahead.fetch(capability, asked)).body).toMatchObject({
    replayed: true,
    attempt_id: first.body.attempt_id,
  })
  expect(one.upstream.requests.length).toBe(sent)
})

it('a capability of a minute opens there, and a budget of an hour is one', async () => {
  const { capability } = await one.grant({
    capability: { ttl_seconds: 60, budgets: [{ unit: 'calls', limit: 2, per: 'hour' }] },
  })
  const asked = { url: one.url('/b') }
  expect((await one.fetch(capability, asked)).status).toBe(200)
  expect((await ahead.fetch(capability, asked)).status).toBe(200)
  for (const gateway of [ahead, one]) expect((await gateway.fetch(capability, asked)).status).toBe(429)
})
