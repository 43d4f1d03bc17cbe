// The main job over A2A, with the server in a process of its own and the official clients: an operator stores a credential
// and issues a capability, an agent calls a real HTTPS upstream with it, and the secret is seen by the upstream alone.
import { SendMessageRequest, Task, TaskState } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import {
  ClientFactory as OldClientFactory,
  JsonRpcTransportFactory as OldJsonRpc,
} from '@a2a-js/sdk-0.3/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, UPSTREAM_HOST, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'

const SECRET = 'upstream secret/with+awkward="chars"'

let world: World
let gateway: GatewayProcess
const seen: string[] = []
beforeAll(async () => {
  world = await createWorld()
  gateway = await startGatewayProcess(world)
})
afterAll(async () => {
  await gateway.stop('SIGTERM')
  await world.close()
})

/** A client's fetch that carries a token and keeps what came back. */
function recordingFetch(token: string): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${token}`)
    const answer = await fetch(input, { ...init, headers })
    seen.push(await answer.clone().text())
    return answer
  }
}

type Ask = (skill: string, input: Record<string, unknown>) => Promise<Record<string, unknown>>
type Data = Record<string, unknown>

async function modern(binding: 'JSONRPC' | 'HTTP+JSON', token: string): Promise<Ask> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [
      new JsonRpcTransportFactory({ fetchImpl: recordingFetch(token) }),
      new RestTransportFactory({ fetchImpl: recordingFetch(token) }),
    ],
    preferredTransports: [binding],
  })
  const client = await new ClientFactory(options).createFromUrl(gateway.baseUrl)
  return async (skill, input) => {
    const message = { messageId: skill, role: 'ROLE_USER', parts: [{ data: { skill, input } }] }
    const reply = await client.sendMessage(SendMessageRequest.fromJSON({ message }))
    if ('parts' in reply) return reply.parts[0]!.content!.value as Data
    expect((reply as Task).status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    return (reply as Task).artifacts[0]!.parts[0]!.content!.value as Data
  }
}

async function old(token: string): Promise<Ask> {
  const factory = new OldClientFactory({
    transports: [new OldJsonRpc({ fetchImpl: recordingFetch(token) })],
    preferredTransports: ['JSONRPC'],
  } as ConstructorParameters<typeof OldClientFactory>[0])
  const client = await factory.createFromUrl(gateway.baseUrl)
  return async (skill, input) => {
    const reply = await client.sendMessage({
      message: {
        kind: 'message',
        messageId: skill,
        role: 'user',
        parts: [{ kind: 'data', data: { skill, input } }],
      },
    })
    const part = reply.kind === 'task' ? reply.artifacts?.[0]?.parts[0] : reply.parts[0]
    return (part as { data: Data }).data
  }
}

describe.each([
  ['1.0, JSON-RPC', (token: string) => modern('JSONRPC', token)],
  ['1.0, HTTP+JSON', (token: string) => modern('HTTP+JSON', token)],
  ['0.3', old],
])('over A2A %s', (_, connect) => {
  it('an operator stores a credential and issues a capability, and an agent calls the API with it', async () => {
    const asOperator = await connect(world.operatorKey)
    const credential = await asOperator('egress-credentials-create', {
      provider: 'custom',
      secret: SECRET,
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/v1'],
      methods: ['GET', 'POST'],
    })
    expect(credential).toMatchObject({ provider: 'custom', version: 1 })
    const issued = await asOperator('egress-capabilities-issue', {
      credential_id: credential['credential_id'],
      methods: ['POST'],
    })
    const capability = issued['capability'] as string
    expect(capability).toMatch(/^agw_cap_/)

    const asAgent = await connect(capability)
    const reply = await asAgent('egress-fetch', {
      method: 'POST',
      url: world.url('/v1/orders'),
      headers: { 'content-type': 'application/json' },
      body: '{"item":1}',
    })
    expect(reply).toMatchObject({ upstream: { status: 200, body: '{"ok":true}' }, credits: { charged: 1 } })
    const received = world.upstream.requests.at(-1)!
    expect(received.headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
    expect(received.body.toString()).toBe('{"item":1}')

    const attempt = await asAgent('egress-attempts-get', { attempt_id: reply['attempt_id'] })
    expect(attempt).toMatchObject({ state: 'settled', outcome: 'delivered' })
    const balance = await asAgent('credits-balance', {})
    expect(balance).toHaveProperty('balance', (reply['credits'] as { balance: number }).balance)
  })
})

it('the capability may come as an argument where no header can carry it', async () => {
  const { capability } = await gateway.grant({ secret: SECRET })
  const ask = await modern('JSONRPC', 'no-token-of-ours')
  const reply = await ask('egress-fetch', { capability, method: 'GET', url: world.url('/v1/things') })
  expect(reply).toMatchObject({ upstream: { status: 200 } })
})

it('without a service key the operator skills are refused, and nothing is stored', async () => {
  const ask = await modern('JSONRPC', 'no-token-of-ours')
  const input = {
    provider: 'custom',
    secret: SECRET,
    hosts: [UPSTREAM_HOST],
    path_prefixes: ['/'],
    methods: ['GET'],
  }
  await expect(ask('egress-credentials-create', input)).rejects.toThrow()
  expect(seen.at(-1)).toContain('key_required')
})

it('no client ever received the secret', () => {
  expect(seen.length).toBeGreaterThan(15)
  expect(seen.join('\n')).not.toContain('awkward')
})
