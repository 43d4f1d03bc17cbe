// Two replicas on one PostgreSQL: people decide at one of them, and whoever waits at the other hears of it.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type ActionsClient, createActionsClient } from '../support/actions.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'

let world: World
let here: TestGateway
let there: TestGateway
let actions: ActionsClient
beforeAll(async () => {
  world = await createWorld({ engine: 'postgres' })
  here = await startTestGateway({ world })
  there = await startTestGateway({ world })
  actions = await createActionsClient(here, here.url)
})
afterAll(async () => {
  await here?.close()
  await there?.close()
  await world?.close()
})

it('a decision of another replica is heard by calls, streams and executions', async () => {
  const { permit, permit_id } = await actions.prepare(
    actions.request(),
    actions.mandate({ requires_approval: true }),
  )
  const stream = await fetch(`${there.baseUrl}/v1/actions/permits/${permit_id}/events`, {
    headers: { authorization: `Bearer ${permit}` },
  })
  const waiting = there.rest('POST', '/v1/actions/permits/wait', { permit, wait_seconds: 60 }, '')
  const executing = there.rest(
    'POST',
    '/v1/actions/execute',
    { permit, request: actions.request(), wait_seconds: 60 },
    '',
  )
  await vi.waitFor(() => expect(there.services.actions.waiting).toBe(3), { timeout: 60_000 })
  await here.rest('POST', `/v1/actions/permits/${permit_id}/approve`)
  expect((await waiting).body.permit_id).toBe(permit_id)
  expect((await executing).status).toBe(200)
  expect(await stream.text()).toMatch(/"state":"(?:ready|executed)"/)
  expect(there.services.actions.waiting).toBe(0)
})
