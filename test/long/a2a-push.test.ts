// Push notifications when processes die, and over replicas: what a client waits for arrives, and once where nobody died.
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { bearer, message, rpc } from '../support/a2a-door.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

const stateIn = ({ body }: ReceivedRequest) => JSON.parse(body.toString()).task.status.state as string
const idIn = ({ headers }: ReceivedRequest) => {
  const [head = ''] = Object.fromEntries(headers)['a2a-notification-signature']!.split('.')
  return JSON.parse(Buffer.from(head, 'base64url').toString()).jti as string
}

/** A call of an API as a task, whose end is told. */
async function begin(gw: { baseUrl: string }, world: World, capability: string, path: string): Promise<void> {
  const data = { skill: 'egress-fetch', input: { method: 'GET', url: world.url(path) } }
  const taskPushNotificationConfig = { url: world.url('/hook'), token: 'tok' }
  const params = {
    message: message(data),
    configuration: { returnImmediately: true, taskPushNotificationConfig },
  }
  const { body } = await rpc({ url: gw.baseUrl }, 'SendMessage', params, bearer(capability))
  expect(body.error).toBeUndefined()
}

describe('a gateway that is killed', () => {
  let world: World
  let gw: GatewayProcess
  const hooks = () => world.upstream.requests.filter(({ target }) => target === '/hook')
  afterEach(async () => {
    await gw.stop()
    await world.close()
  })

  it('in the midst of the work tells, when it is back, that the work was cut off', async () => {
    world = await createWorld()
    world.upstream.respond(({ target }, res) => {
      if (target === '/hook') res.writeHead(204).end()
    })
    gw = await startGatewayProcess(world)
    const { capability } = await gw.grant()
    await begin(gw, world, capability, '/never')
    await vi.waitFor(() => expect(world.upstream.requests.map(({ target }) => target)).toContain('/never'), {
      timeout: 60_000,
    })
    expect(hooks()).toEqual([])
    await gw.stop('SIGKILL')
    gw = await startGatewayProcess(world)
    await vi.waitFor(() => expect(hooks()).toHaveLength(1), { timeout: 60_000 })
    expect(stateIn(hooks()[0]!)).toBe('TASK_STATE_FAILED')
  })

  it('while it tells tells again when it is back, and a receiver sees that it is the same', async () => {
    world = await createWorld()
    let isTaken = false
    world.upstream.respond(({ target }, res) => {
      if (target !== '/hook') res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
      else if (isTaken) res.writeHead(204).end()
    })
    gw = await startGatewayProcess(world)
    const { capability } = await gw.grant()
    await begin(gw, world, capability, '/data')
    await vi.waitFor(() => expect(hooks()).toHaveLength(1), { timeout: 60_000 })
    await gw.stop('SIGKILL')
    isTaken = true
    gw = await startGatewayProcess(world)
    await vi.waitFor(() => expect(hooks()).toHaveLength(2), { timeout: 60_000 })
    expect(new Set(hooks().map(idIn)).size).toBe(1)
    expect(hooks().map(stateIn)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED'])
    expect(Object.fromEntries(hooks()[1]!.headers)['x-a2a-notification-token']).toBe('tok')
  })
})

describe('two replicas', () => {
  let world: World
  let gateways: TestGateway[] = []
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()))
    await world?.close()
  })

  it('tell each client once, whichever of them did the work', async () => {
    const env = { GATEWAY_BASE_URL: 'http://gateway.example:8402' }
    world = await createWorld({ engine: 'postgres', env, nameTtlSeconds: 60 })
    gateways = [await startTestGateway({ world }), await startTestGateway({ world })]
    const doors = gateways.map(({ gateway }) => ({ baseUrl: `http://127.0.0.1:${gateway.port}` }))
    const answer = await fetch(`${doors[0]!.baseUrl}/v1/egress/credentials`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.operatorKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        provider: 'custom',
        label: 't',
        secret: 'upstream-secret-1',
        hosts: ['api.example.com'],
        path_prefixes: ['/'],
        methods: ['GET'],
      }),
    })
    const { credential_id } = (await answer.json()) as { credential_id: string }
    const issued = await fetch(`${doors[0]!.baseUrl}/v1/egress/capabilities`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.operatorKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ credential_id }),
    })
    const { capability } = (await issued.json()) as { capability: string }
    const count = 24
    await Promise.all(
      Array.from({ length: count }, (_, i) => begin(doors[i % 2]!, world, capability, '/data')),
    )
    const hooks = () => world.upstream.requests.filter(({ target }) => target === '/hook')
    await vi.waitFor(() => expect(hooks().length).toBeGreaterThanOrEqual(count), { timeout: 60_000 })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(hooks()).toHaveLength(count)
    expect(new Set(hooks().map(idIn)).size).toBe(count)
  })
})
