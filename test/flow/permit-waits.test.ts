// Whoever holds a permit hears of the approval at once, at every door, and the time that the permit then has is theirs: with a key, with the
// permit alone, in a call that waits, in a stream, as a task. Order is what is tested; no test measures time.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { message, readEvents, rpc, post } from '../support/a2a-door.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
let actions: ActionsClient
beforeAll(async () => {
  gw = await startTestGateway()
  actions = await createActionsClient(gw, gw.url)
})
afterAll(() => gw?.close())
afterEach(() => gw.upstream.respond((_request, res) => void res.end('{"ok":true}')))

const ask = () => actions.prepare(actions.request(), actions.mandate({ requires_approval: true }))
const decide = (permitId: string, decision: 'approve' | 'refuse' = 'approve') =>
  gw.rest('POST', `/v1/actions/permits/${permitId}/${decision}`)
const execute = (permit: string, more: Body = {}, init: RequestInit = {}) =>
  fetch(`${gw.baseUrl}/v1/actions/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ permit, request: actions.request(), ...more }),
    ...init,
  })
const standing = (permit: string, seconds: number) =>
  gw.rest('POST', '/v1/actions/permits/wait', { permit, wait_seconds: seconds }, '')
const get = (permitId: string, seconds: number, token?: string) =>
  gw.rest('GET', `/v1/actions/permits/${permitId}?wait_seconds=${seconds}`, undefined, token)
/** Calls that wait have begun when the gateway holds so many. */
const waiting = (calls: number) =>
  vi.waitFor(() => expect(gw.services.actions.waiting).toBe(calls), { timeout: 60_000 })
const noneWaits = () => waiting(0)
afterEach(noneWaits)

describe('a call that waits for people', () => {
  it('is answered when they approve, with the key and with the permit alone', async () => {
    const { permit, permit_id } = await ask()
    const order: string[] = []
    const note = (name: string) => (answer: { body: Body }) =>
      void order.push(`${name} ${answer.body['state']}`)
    const answers = Promise.all([
      get(permit_id, 60).then(note('key')),
      standing(permit, 60).then(note('permit')),
    ])
    await waiting(2)
    expect(order).toEqual([])
    await decide(permit_id)
    await answers
    expect(order.toSorted()).toEqual(['key ready', 'permit ready'])
    // Whoever asks later does not wait.
    const late = await standing(permit, 300)
    expect(late.body).toEqual({
      permit_id,
      state: 'ready',
      approvals: 1,
      expires_at: expect.any(String),
      decided_at: expect.any(String),
      attempt_id: null,
    })
  })

  it('is answered when they refuse, and when the mandate is revoked', async () => {
    const [refused, revoked] = await Promise.all([ask(), ask()])
    const answers = [refused, revoked].map(({ permit }) => standing(permit, 60))
    await waiting(2)
    await decide(refused.permit_id, 'refuse')
    expect((await answers[0])?.body.state).toBe('refused')
    await gw.rest('POST', `/v1/actions/mandates/${revoked.mandate_id}/revoke`)
    expect((await answers[1])?.body.state).toBe('revoked')
  })

  it('says that it still waits when its own time is over, and asks for nothing else', async () => {
    const { permit, permit_id } = await ask()
    const answers = await Promise.all([standing(permit, 1), get(permit_id, 1), standing(permit, 0)])
    expect(answers.map(({ body }) => body.state)).toEqual(Array.from(answers, () => 'pending_approval'))
    expect((await standing(permit, 301)).body.code).toBe('input_invalid')
    expect((await get(permit_id, -1)).status).toBe(400)
  })

  it('sends the request of the permit as soon as it may', async () => {
    const { permit, permit_id } = await ask()
    const sent = gw.upstream.requests.length
    const executing = execute(permit, { wait_seconds: 60 })
    await waiting(1)
    expect(gw.upstream.requests.length).toBe(sent)
    await decide(permit_id)
    const answer = await executing
    expect([answer.status, ((await answer.json()) as Body)['permit_id']]).toEqual([200, permit_id])
    expect(gw.upstream.requests.length).toBe(sent + 1)
  })

  it('sends nothing for a caller who is gone, and the permit is still good', async () => {
    const { permit, permit_id } = await ask()
    const sent = gw.upstream.requests.length
    const gone = new AbortController()
    const executing = execute(permit, { wait_seconds: 60 }, { signal: gone.signal })
    await waiting(1)
    gone.abort()
    await expect(executing).rejects.toThrow()
    await noneWaits()
    await decide(permit_id)
    expect(gw.upstream.requests.length).toBe(sent)
    expect((await execute(permit, { wait_seconds: 60 })).status).toBe(200)
  })

  it('sends once, however many wait with the same permit', async () => {
    const { permit, permit_id } = await ask()
    const sent = gw.upstream.requests.length
    const all = Array.from({ length: 8 }, () => execute(permit, { wait_seconds: 60 }))
    await waiting(8)
    const ninth = await execute(permit, { wait_seconds: 60 })
    expect([ninth.status, ((await ninth.json()) as Body)['code'], ninth.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '5',
    ])
    await decide(permit_id)
    const statuses = (await Promise.all(all)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
    expect(gw.upstream.requests.length).toBe(sent + 1)
  })

  it('tells nobody of another account, and nobody who changed a byte of the permit', async () => {
    const { permit, permit_id } = await ask()
    const { key } = (await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })).body
    const strangers = await get(permit_id, 60, key)
    expect([strangers.status, strangers.body.code]).toEqual([404, 'permit_not_found'])
    const [head, payload, signature = ''] = permit.split('.')
    const turned = `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    for (const forged of [turned, `${head}.${payload}.`, permit_id, 'x'.repeat(4000)])
      expect((await standing(forged, 60)).body.code).toBe('permit_invalid')
  })
})

/** What a stream tells, one event after the other. */
async function* readStandings(response: Response): AsyncGenerator<Body> {
  if (!response.body) return
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1]
      text = text.slice(end + 2)
      if (data !== undefined) yield JSON.parse(data) as Body
    }
  }
}

describe('a stream of one permit', () => {
  const events = (permitId: string, token: string, headers: Record<string, string> = {}) =>
    fetch(`${gw.baseUrl}/v1/actions/permits/${permitId}/events`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })

  it.each(['key', 'permit'] as const)(
    'tells whoever has the %s how it stands, each change, and ends',
    async (by) => {
      const { permit, permit_id } = await actions.prepare(
        actions.request(),
        actions.mandate({ requires_approval: true }),
      )
      const response = await events(permit_id, by === 'key' ? gw.operatorKey : permit)
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      const heard: unknown[] = []
      for await (const event of readStandings(response)) {
        heard.push([event['state'], event['approvals']])
        expect(JSON.stringify(event)).not.toContain('127.0.0.1')
        if (heard.length === 1) await decide(permit_id)
      }
      expect(heard).toEqual([
        ['pending_approval', 0],
        ['ready', 1],
      ])
      const again = await events(permit_id, permit, { 'last-event-id': 'ready-1' })
      expect(again.status).toBe(204)
      // Whoever lost the line before that is told.
      const late = await events(permit_id, permit, { 'last-event-id': 'pending_approval-0' })
      expect(await late.text()).toContain('"state":"ready"')
    },
  )

  it('is for nobody else', async () => {
    const [{ permit, permit_id }, other] = await Promise.all([ask(), ask()])
    const { key } = (await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })).body
    const statusOf = async (id: string, token: string) => (await events(id, token)).status
    expect(await statusOf(permit_id, key)).toBe(404)
    expect(await statusOf(permit_id, other.permit)).toBe(404)
    expect(await statusOf(permit_id, `${permit}x`)).toBe(401)
    expect(await statusOf(permit_id, 'agw_sk_wrong')).toBe(401)
    const bare = await fetch(`${gw.baseUrl}/v1/actions/permits/${permit_id}/events`)
    expect([bare.status, bare.headers.get('content-type')]).toEqual([401, 'application/problem+json'])
    const { capability } = await gw.grant()
    expect(await statusOf(permit_id, capability)).toBe(401)
    const seller = await gw.rest('POST', '/v1/keys', { label: 'sells', role: 'seller' })
    expect(await statusOf(permit_id, seller.body.key)).toBe(401)
  })

  it('leaves nothing behind when the line is lost', async () => {
    const { permit, permit_id } = await ask()
    const gone = new AbortController()
    await fetch(`${gw.baseUrl}/v1/actions/permits/${permit_id}/events`, {
      headers: { authorization: `Bearer ${permit}` },
      signal: gone.signal,
    })
    await waiting(1)
    gone.abort()
    await noneWaits()
  })
})

describe('over MCP', () => {
  it('a call that waits reports progress, and goes on when it is approved', async () => {
    const client = new Client({ name: 'waits', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gw.baseUrl}/mcp`)))
    const { permit, permit_id } = await ask()
    const heard: [message: string, done: number, total: number | undefined][] = []
    const result = await client.callTool(
      {
        name: 'gateway.actions.execute',
        arguments: { permit, request: actions.request(), wait_seconds: 60 },
      },
      {
        onprogress({ message = '', progress, total }) {
          heard.push([message, progress, total])
          if (heard.length === 1) void decide(permit_id)
        },
      },
    )
    expect(heard).toEqual([
      ['Waits for a person to approve the permit', 0, 60],
      ['The permit is decided', 60, 60],
    ])
    expect(result.structuredContent).toMatchObject({ permit_id, upstream: { status: 200 } })
    await client.close()
  })
})

describe('over A2A', () => {
  const asTask = (permit: string) => ({
    message: message({
      skill: 'actions-execute',
      input: { permit, request: actions.request(), wait_seconds: 60 },
    }),
  })
  const door = {
    get url() {
      return gw.baseUrl
    },
  }
  const stateOf = async (id: string) => (await rpc(door, 'GetTask', { id })).body.result.status?.state

  it('a task is auth-required while people are asked, and ends by itself', async () => {
    const { permit, permit_id } = await ask()
    const { task } = (await rpc(door, 'SendMessage', asTask(permit))).body.result
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    expect(JSON.stringify(task)).not.toContain(permit)
    expect(await stateOf(task.id)).toBe('TASK_STATE_AUTH_REQUIRED')
    await decide(permit_id)
    await vi.waitFor(async () => expect(await stateOf(task.id)).toBe('TASK_STATE_COMPLETED'), {
      timeout: 60_000,
    })
    expect((await actions.permitOf(permit_id))['state']).toBe('executed')
  })

  it('a stream of it goes on past the question, and whoever subscribes hears the rest', async () => {
    const { permit, permit_id } = await ask()
    const streamed = await post(door, {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: asTask(permit),
    })
    const states: string[] = []
    let subscribed: Promise<string[]> | undefined
    const statesIn = async (response: Response) => {
      const heard: string[] = []
      for await (const { result } of readEvents(response)) {
        const { state } = result.task?.status ?? result.statusUpdate?.status ?? {}
        if (state === undefined || state === heard.at(-1)) continue
        heard.push(state)
        if (heard.length === 1) await decide(permit_id)
      }
      return heard
    }
    for await (const { result } of readEvents(streamed)) {
      const { state } = result.task?.status ?? result.statusUpdate?.status ?? {}
      if (state === undefined || state === states.at(-1)) continue
      states.push(state)
      if (state !== 'TASK_STATE_AUTH_REQUIRED') continue
      const id = result.statusUpdate?.taskId ?? result.task?.id
      subscribed = statesIn(
        await post(door, { jsonrpc: '2.0', id: 2, method: 'SubscribeToTask', params: { id } }),
      )
    }
    const rest = ['TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']
    expect(states).toEqual(['TASK_STATE_WORKING', ...rest])
    expect(await subscribed).toEqual(rest)
  })

  it('pushes that it waits, and how it ended', async () => {
    const pushed: string[] = []
    gw.upstream.respond((request, res) => {
      if (request.target === '/told') pushed.push(JSON.parse(request.body.toString()).task.status.state)
      res.end('{"ok":true}')
    })
    const { permit, permit_id } = await ask()
    const configuration = { taskPushNotificationConfig: { url: gw.url('/told') } }
    await rpc(door, 'SendMessage', { ...asTask(permit), configuration })
    await vi.waitFor(() => expect(pushed).toEqual(['TASK_STATE_AUTH_REQUIRED']), { timeout: 60_000 })
    await decide(permit_id)
    await vi.waitFor(() => expect(pushed.at(-1)).toBe('TASK_STATE_COMPLETED'), { timeout: 60_000 })
  })

  it('a task that is canceled while it waits sends nothing', async () => {
    const { permit, permit_id } = await ask()
    const sent = gw.upstream.requests.length
    const { task } = (await rpc(door, 'SendMessage', asTask(permit))).body.result
    const { result } = (await rpc(door, 'CancelTask', { id: task.id })).body
    expect(result.status?.state).toBe('TASK_STATE_CANCELED')
    await decide(permit_id)
    expect(gw.upstream.requests.length).toBe(sent)
  })
})

// The last of all: it ends the gateway of this file.
describe('a gateway that stops', () => {
  it('answers whoever waits with what it knows, and ends their streams', async () => {
    const { permit, permit_id } = await ask()
    const answer = standing(permit, 300)
    const stream = await fetch(`${gw.baseUrl}/v1/actions/permits/${permit_id}/events`, {
      headers: { authorization: `Bearer ${permit}` },
    })
    await waiting(2)
    await gw.gateway.close(5000)
    expect((await answer).body.state).toBe('pending_approval')
    expect(await stream.text()).toContain('event: end\ndata: {"why":"draining"}')
  })
})
