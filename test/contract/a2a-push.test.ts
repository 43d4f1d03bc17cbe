// Push notifications of A2A through the whole gateway, with a receiver of its own: what may be asked for, what is sent, and to whom.
import fc from 'fast-check'
import { compactVerify, createRemoteJWKSet, decodeProtectedHeader } from 'jose'
import { StreamResponse } from '@a2a-js/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { A2aExtension } from '../../src/doors/a2a/extension.ts'
import { verifies } from '../requirements.ts'
import { type Answer, bearer, message, type RpcBody, rest, rpc } from '../support/a2a-door.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { openNotification } from '../support/receive-notification.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

/** Work that ends with a question, with a result of some size, or when it is called off. */
const extension: A2aExtension = {
  unversionedCard: 'v1',
  workFor({ message: { messageId } }) {
    const [kind, size = ''] = messageId.split(' ')
    if (!/^(ask|end|hold|say)$/.test(kind ?? '')) return undefined
    return {
      reply: kind === 'say' ? 'message' : 'task',
      async run({ accepted, signal }) {
        await accepted(null)
        if (kind === 'ask') return { kind: 'ended', state: 'TASK_STATE_INPUT_REQUIRED' }
        if (kind === 'hold') {
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          return { kind: 'ended', state: 'TASK_STATE_FAILED' }
        }
        const parts = [{ text: 'x'.repeat(Number(size) || 1) }]
        return { kind: 'ended', state: 'TASK_STATE_COMPLETED', artifacts: [{ artifactId: 'a', parts }] }
      },
    }
  },
}

let gw: TestGateway
let moved = 0
/** Each test has a receiver of its own. */
let hook: string
let path: string
let tests = 0
beforeEach(() => {
  path = `/hook-${++tests}`
  hook = gw.url(path)
  seen = 0
})
beforeAll(async () => {
  gw = await startTestGateway({
    now: () => Date.now() + moved,
    extend: { a2a: extension },
    names: ['inside.example.com', 'mixed.example.com', 'moving.example.com'],
  })
})
afterAll(() => gw.close())
afterEach(() => {
  gw.upstream.respond((_request, res) => res.writeHead(204).end())
})

const door = {
  get url() {
    return gw.baseUrl
  },
}
const send = async (kind: string, more: Record<string, unknown> = {}, headers = {}) =>
  (
    await rpc(
      door,
      'SendMessage',
      {
        message: { ...message({}), messageId: kind, ...(more['message'] as object) },
        configuration: more['configuration'],
      },
      headers,
    )
  ).body
const taskOf = async (kind: string, config?: object, headers = {}) =>
  (await send(kind, { configuration: { taskPushNotificationConfig: config } }, headers)).result.task
const create = (taskId: string, config: object, headers = {}) =>
  rpc(door, 'CreateTaskPushNotificationConfig', { taskId, ...config }, headers)

/** Time passes, and something happens: what is due now is looked for. */
async function later(ms: number): Promise<void> {
  moved += ms
  await send('end')
}

let seen = 0
const arrived = () => gw.upstream.requests.filter(({ target }) => target.startsWith(path)).slice(seen)
/** The notifications that came since the last look, once there are as many. */
async function received(count = 1): Promise<readonly ReceivedRequest[]> {
  await vi.waitFor(() => expect(arrived().length).toBeGreaterThanOrEqual(count), {
    timeout: 60_000,
    interval: 10,
  })
  const all = arrived()
  seen += all.length
  return all
}
/** Nothing came since the last look, and the gateway had the time to tell more. */
async function nothingMore(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(arrived()).toEqual([])
}
const headersOf = ({ headers }: ReceivedRequest) => Object.fromEntries(headers)
const stateIn = (request: ReceivedRequest) => bodyOf(request).task.status.state
const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(body.toString()) as Answer

describe('a configuration', () => {
  interface Shown {
    readonly configs?: readonly object[]
    readonly error?: unknown
  }
  type Ops = Record<'get' | 'remove', (taskId: string, id: string) => Promise<Shown>> & {
    create(taskId: string, config: object): Promise<Shown>
    list(taskId: string): Promise<Shown>
  }
  const code = (body: RpcBody): Shown => (body.error ? { error: body.error.code } : (body.result as Shown))
  const bindings: Record<string, Ops> = {
    'JSON-RPC 1.0': {
      create: async (taskId, config) => code((await create(taskId, config)).body),
      get: async (taskId, id) =>
        code((await rpc(door, 'GetTaskPushNotificationConfig', { taskId, id })).body),
      list: async (taskId) => code((await rpc(door, 'ListTaskPushNotificationConfigs', { taskId })).body),
      remove: async (taskId, id) =>
        code((await rpc(door, 'DeleteTaskPushNotificationConfig', { taskId, id })).body),
    },
    'HTTP+JSON': {
      create: async (id, config) =>
        (await rest(door, 'POST', `/tasks/${id}/pushNotificationConfigs`, config)).body,
      get: async (id, config) => {
        const { body } = await rest(door, 'GET', `/tasks/${id}/pushNotificationConfigs/${config}`)
        return body.error ? { error: body.error.status === 'NOT_FOUND' ? -32001 : body.error } : body
      },
      list: async (id) => (await rest(door, 'GET', `/tasks/${id}/pushNotificationConfigs`)).body,
      remove: async (id, config) =>
        (await rest(door, 'DELETE', `/tasks/${id}/pushNotificationConfigs/${config}`)).body,
    },
  }

  describe.each(Object.entries(bindings))('over %s', (_name, op) => {
    verifies(
      ['PUSH-CREATE-001', 'PUSH-CREATE-002', 'PUSH-GET-001', 'PUSH-LIST-001'],
      'is made, read and listed, and what is secret is shown to nobody again',
      async () => {
        const { id: taskId } = await taskOf('ask')
        const config = {
          id: 'mine',
          url: hook,
          token: 'tok-secret',
          authentication: { scheme: 'Bearer', credentials: 'cred-secret' },
        }
        const shown = { id: 'mine', taskId, url: hook, authentication: { scheme: 'Bearer' } }
        const made = await op.create(taskId, config)
        expect(made).toMatchObject(shown)
        expect(await op.get(taskId, 'mine')).toMatchObject(shown)
        const listed = await op.list(taskId)
        expect(listed.configs).toMatchObject([shown])
        expect(JSON.stringify([made, listed])).not.toMatch(/secret/)
      },
    )
    verifies(
      ['PUSH-GET-002', 'PUSH-DEL-001', 'PUSH-DEL-002'],
      'is gone once it is deleted, however often',
      async () => {
        const { id: taskId } = await taskOf('end')
        await op.create(taskId, { id: 'gone', url: hook })
        for (const _time of [1, 2]) expect((await op.remove(taskId, 'gone'))?.error).toBeUndefined()
        expect(await op.get(taskId, 'gone')).toEqual({ error: -32001 })
        expect(await op.get(taskId, 'never')).toEqual({ error: -32001 })
        expect((await op.list(taskId)).configs ?? []).toEqual([])
      },
    )
  })
})

describe('a notification', () => {
  verifies(
    ['PUSH-DELIVER-001', 'PUSH-DELIVER-002', 'PUSH-DELIVER-003'],
    'tells the end of a task once, as a StreamResponse, with what proves its sender',
    async () => {
      const task = await taskOf('end', {
        url: hook,
        token: 'tok-1',
        authentication: { scheme: 'Bearer', credentials: 'cred-1' },
      })
      const [first, ...others] = await received()
      expect(others).toEqual([])
      expect(first).toMatchObject({ method: 'POST', target: path })
      expect(headersOf(first!)).toMatchObject({
        'content-type': 'application/a2a+json',
        'a2a-version': '1.0',
        authorization: 'Bearer cred-1',
        'x-a2a-notification-token': 'tok-1',
        'a2a-notification-token': 'tok-1',
      })
      const content = StreamResponse.fromJSON(bodyOf(first!))
      expect(content.payload).toMatchObject({ $case: 'task', value: { id: task.id } })
      expect(StreamResponse.toJSON(content)).toEqual(bodyOf(first!))
      expect(bodyOf(first!).task).toEqual({ ...task, history: undefined })
      await nothingMore()
    },
  )

  it('is signed over its body, by a key that its header leads to, for this receiver and task', async () => {
    const task = await taskOf('end', { id: 'sig', url: hook })
    const [notification] = await received()
    const [head, empty, signature] = headersOf(notification!)['a2a-notification-signature']!.split('.')
    expect(empty).toBe('')
    const jws = (body: Buffer) => `${head}.${body.toString('base64url')}.${signature}`
    const header = decodeProtectedHeader(jws(notification!.body))
    expect(header).toEqual({
      alg: 'EdDSA',
      typ: 'gw-push+jws',
      kid: expect.any(String),
      jku: `${gw.baseUrl}/.well-known/jwks.json`,
      iss: gw.baseUrl,
      aud: new URL(hook).origin,
      sub: task.id,
      jti: expect.stringContaining(task.id),
      iat: expect.any(Number),
    })
    const keys = createRemoteJWKSet(new URL(header.jku!))
    await compactVerify(jws(notification!.body), keys)
    const asReceived = (url: string) =>
      new Request(url, {
        method: 'POST',
        headers: headersOf(notification!),
        body: new Uint8Array(notification!.body),
      })
    expect(await openNotification(asReceived(hook), gw.baseUrl)).toEqual(bodyOf(notification!))
    await expect(openNotification(asReceived('https://other.example/'), gw.baseUrl)).rejects.toThrow(
      'meant for somebody else',
    )
    const forged = Buffer.from(notification!.body.toString().replace('COMPLETED', 'CANCELED'))
    await expect(compactVerify(jws(forged), keys)).rejects.toThrow('signature verification failed')
  })

  it('tells each state that a task comes to, and what is deleted is told nothing', async () => {
    const { id: taskId } = await taskOf('ask', { id: 'a', url: hook })
    expect(stateIn((await received())[0]!)).toBe('TASK_STATE_INPUT_REQUIRED')
    await create(taskId, { id: 'b', url: `${hook}/other` })
    await nothingMore()
    await rpc(door, 'DeleteTaskPushNotificationConfig', { taskId, id: 'a' })
    await send('end', { message: { taskId } })
    const [last] = await received()
    expect(last!.target).toBe(`${path}/other`)
    expect(stateIn(last!)).toBe('TASK_STATE_COMPLETED')
    await nothingMore()
  })

  it('tells the end of a task that had ended before anybody asked, and is off for messages', async () => {
    const { id } = await taskOf('end')
    await create(id, { url: hook })
    expect(bodyOf((await received())[0]!).task.id).toBe(id)
    const { result } = await send('say', { configuration: { taskPushNotificationConfig: { url: hook } } })
    expect(result).toHaveProperty('message')
    await nothingMore()
  })

  it('is told of a task that is canceled while it works', async () => {
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook } }
    const { result } = await send('hold', { configuration })
    expect(result.task.status.state).toBe('TASK_STATE_WORKING')
    await nothingMore()
    await rest(door, 'POST', `/tasks/${result.task.id}:cancel`, {})
    expect(stateIn((await received())[0]!)).toBe('TASK_STATE_CANCELED')
  })

  it('of a large task says that it ended, and is the task itself for clients of 0.3', async () => {
    const { id } = await taskOf('end 300000', { url: hook })
    expect(bodyOf((await received())[0]!)).toEqual({
      statusUpdate: { taskId: id, contextId: expect.any(String), status: expect.any(Object) },
    })
    const legacy = { 'a2a-version': '0.3' }
    const parts = [{ kind: 'text', text: 'go' }]
    const { body } = await rpc(
      door,
      'message/send',
      {
        message: { kind: 'message', messageId: 'end', role: 'user', parts },
        configuration: {
          pushNotificationConfig: { url: hook, authentication: { schemes: ['Basic'], credentials: 'YTpi' } },
        },
      },
      legacy,
    )
    const [told] = await received()
    expect(headersOf(told!)).toMatchObject({ 'a2a-version': '0.3', authorization: 'Basic YTpi' })
    const taskId = (body.result as unknown as { id: string }).id
    expect(bodyOf(told!)).toMatchObject({ kind: 'task', id: taskId, status: { state: 'completed' } })

    const call = async (method: string, params: object) =>
      (await rpc(door, `tasks/pushNotificationConfig/${method}`, params, legacy)).body
    const pushNotificationConfig = { url: `${hook}/third` }
    expect((await call('set', { taskId, pushNotificationConfig })).result).toEqual({
      taskId,
      pushNotificationConfig: { ...pushNotificationConfig, id: taskId },
    })
    await received()
    expect((await call('get', { id: taskId, pushNotificationConfigId: taskId })).result).toMatchObject({
      pushNotificationConfig,
    })
    expect((await call('list', { id: taskId })).result).toHaveLength(1)
    await call('delete', { id: taskId, pushNotificationConfigId: taskId })
    expect((await call('list', { id: taskId })).result).toEqual([])
    const warned = vi.spyOn(console, 'warn')
    for (const [wrong, pointer] of [
      [undefined, ''],
      ['https://a.example/', ''],
      [{ url: 7 }, '/url'],
      [{ url: hook, authentication: { schemes: { length: 2 } } }, '/authentication/schemes'],
      [{ url: hook, authentication: 'Bearer' }, '/authentication'],
    ] as const) {
      const { error } = await call('set', { taskId, pushNotificationConfig: wrong })
      expect(error.code).toBe(-32602)
      expect(JSON.stringify(error)).toContain(`"pointer":"/pushNotificationConfig${pointer}"`)
    }
    const authentication = { schemes: ['Basic', 'forged\nline'], credentials: 'YTpi' }
    await call('set', { taskId, pushNotificationConfig: { url: hook, authentication } })
    expect(headersOf((await received())[0]!)['authorization']).toBe('Basic YTpi')
    expect(warned).not.toHaveBeenCalled()
  })

  it('is sent again, later and later, until it is taken; then never again', async () => {
    const answers = [500, 302, 200]
    gw.upstream.respond((_request, res) =>
      res.writeHead(answers.shift() ?? 204, { location: `${hook}/elsewhere` }).end(),
    )
    await taskOf('end', { url: hook })
    const tries: readonly ReceivedRequest[] = [...(await received())]
    await nothingMore()
    await later(5_000)
    const [second] = await received()
    await nothingMore()
    await later(30_000)
    const [third] = await received()
    await later(3600_000)
    await nothingMore()
    // A redirect is an answer, and nobody follows it.
    expect([...tries, second!, third!].map(({ target }) => target)).toEqual([path, path, path])
    const bodies = new Set([...tries, second!, third!].map(({ body }) => body.toString()))
    expect(bodies.size).toBe(1)
  })
})

describe('who may be told, and where', () => {
  it.each([
    ['http://api.example.com/hook', 'target_invalid'],
    ['https://127.0.0.1/hook', 'target_blocked'],
    ['https://169.254.169.254/latest', 'target_blocked'],
    ['https://[::1]/hook', 'target_blocked'],
    ['https://0x7f.1/hook', 'target_blocked'],
    ['https://localhost/hook', 'target_blocked'],
    ['https://metadata.google.internal/', 'target_blocked'],
    ['https://api.example.com:22/hook', 'target_blocked'],
    ['https://user:pw@api.example.com/hook', 'target_invalid'],
    ['https://api.example.com/hook#a', 'target_invalid'],
    ['file:///etc/passwd', 'target_invalid'],
    ['', 'input_invalid'],
  ])('refuses %s before any work is done', async (url, code) => {
    const { id } = await taskOf('end')
    const asked = await create(id, { url })
    expect(JSON.stringify(asked.body.error)).toContain(`/problems/${code}`)
    const inline = await send('end', { configuration: { taskPushNotificationConfig: { url } } })
    expect(JSON.stringify(inline.error)).toContain(`/problems/${code}`)
    expect(inline.error).toMatchObject({
      message: expect.stringContaining('/configuration/taskPushNotificationConfig/url: '),
    })
    expect(inline.result).toBeUndefined()
  })

  it.each([
    [{ token: 'a\r\nx: y' }, '/token'],
    [{ authentication: { scheme: 'Bearer\n', credentials: 'x' } }, '/authentication/scheme'],
    [{ authentication: { scheme: 'Bearer', credentials: 'a\u0000b' } }, '/authentication/credentials'],
    [{ authentication: { credentials: 'x' } }, '/authentication/scheme'],
    [{ id: '../x' }, '/id'],
  ])('refuses %j, which fits no header', async (more, pointer) => {
    const { id } = await taskOf('end')
    const { body } = await create(id, { url: hook, ...more })
    expect(JSON.stringify(body.error)).toContain(`"pointer":"${pointer}"`)
  })

  it('sends no key of this gateway to anybody', async () => {
    const { id } = await taskOf('end')
    const key = gw.operatorKey
    for (const more of [
      { token: key },
      { authentication: { scheme: 'Bearer', credentials: key } },
      { url: `${hook}?k=${key}` },
    ]) {
      const { body } = await create(id, { url: hook, ...more })
      expect(body.error.message).toContain('a key of this gateway')
      expect(JSON.stringify(body)).not.toContain(key)
    }
  })

  it('dials no address that is not public, whatever the name led to before', async () => {
    gw.dns.set('inside.example.com', { A: ['10.0.0.7'] })
    gw.dns.set('mixed.example.com', { A: ['127.0.0.1', '169.254.169.254'] })
    const { port } = gw.upstream
    for (const name of ['inside', 'mixed'])
      await taskOf('end', { url: `https://${name}.example.com:${port}${path}` })
    // The name was good when it was asked for, and for the first try.
    gw.upstream.respond((_request, res) => res.writeHead(503).end())
    await taskOf('end', { url: `https://moving.example.com:${port}${path}/moving` })
    expect((await received()).map(({ target }) => target)).toEqual([`${path}/moving`])
    gw.dns.set('moving.example.com', { A: ['10.0.0.7'] })
    const asked = () => gw.dns.queries.filter(({ name }) => name === 'moving.example.com').length
    const before = asked()
    // When the next try is due is written down once the first is answered: time may have passed before that.
    await vi.waitFor(
      async () => {
        await later(5_000)
        expect(asked()).toBeGreaterThan(before)
      },
      { timeout: 60_000 },
    )
    await nothingMore()
  })

  it('answers whatever is asked for in either version without a failure of its own', async () => {
    const { id: taskId } = await taskOf('end')
    const any = fc.jsonValue({ maxDepth: 1 })
    const authentication = fc.oneof(any, fc.record({ scheme: any, schemes: any, credentials: any }))
    const config = fc.oneof(any, fc.record({ id: any, url: any, token: any, authentication }))
    const legacy = { 'a2a-version': '0.3' }
    await fc.assert(
      fc.asyncProperty(config, async (pushNotificationConfig) => {
        const method = 'tasks/pushNotificationConfig/set'
        const old = await rpc(door, method, { taskId, pushNotificationConfig }, legacy)
        const inline = { configuration: { taskPushNotificationConfig: pushNotificationConfig } }
        for (const { error } of [old.body, await send('end', inline)]) expect(error?.code).not.toBe(-32603)
        const path = `/tasks/${taskId}/pushNotificationConfigs`
        expect((await rest(door, 'POST', path, pushNotificationConfig)).status).toBeLessThan(500)
      }),
      { numRuns: 40 },
    )
  })

  it('lets nobody be told of the task of somebody else', async () => {
    const [mine, theirs] = [await gw.grant(), await gw.grant()].map(({ capability }) => bearer(capability))
    const input = { method: 'GET', url: gw.url('/data') }
    const own = { message: message({ skill: 'egress-fetch', input }) }
    const { id: taskId } = (await rpc(door, 'SendMessage', own, mine)).body.result.task
    await create(taskId, { id: 'own', url: `${hook}/mine` }, mine)
    expect((await received()).map(({ target }) => target)).toEqual([`${path}/mine`])
    const config = { id: 'own', taskId, url: `${hook}/theirs` }
    for (const [method, params] of [
      ['CreateTaskPushNotificationConfig', config],
      ['GetTaskPushNotificationConfig', config],
      ['ListTaskPushNotificationConfigs', { taskId }],
      ['DeleteTaskPushNotificationConfig', config],
    ] as const)
      for (const who of [theirs, {}])
        expect((await rpc(door, method, params, who)).body.error).toMatchObject({ code: -32001 })
    await nothingMore()
    expect((await rpc(door, 'ListTaskPushNotificationConfigs', { taskId }, mine)).body.result).toMatchObject({
      configs: [{ url: `${hook}/mine` }],
    })
  })

  it('keeps five of a task at most, and says what to do', async () => {
    const { id } = await taskOf('ask')
    for (let n = 0; n < 5; n++) expect((await create(id, { url: hook })).body.error).toBeUndefined()
    const { body } = await create(id, { url: hook })
    expect(body.error.message).toBe(
      'A task has 5 push notification configurations at most. Delete one first.',
    )
  })

  it('says on its card that it tells, and keeps no secret where it can be read', async () => {
    for (const version of ['1.0', '0.3']) {
      const headers = { 'a2a-version': version }
      const answer = await fetch(`${gw.baseUrl}/.well-known/agent-card.json`, { headers })
      const card = (await answer.json()) as { capabilities: object }
      expect(card.capabilities).toMatchObject({ pushNotifications: true })
    }
    expect(gw.log()).not.toMatch(/tok-|cred-/)
  })
})
