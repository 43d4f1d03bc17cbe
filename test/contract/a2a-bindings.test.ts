import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import fc from 'fast-check'
import {
  bearer,
  CAPABILITY,
  type DoorUnderTest,
  KEY_A,
  message,
  post,
  readEvents,
  rest,
  rpc,
  type RpcBody,
  sendTask,
  startA2aDoor,
} from '../support/a2a-door.ts'
import { verifies } from '../requirements.ts'

let door: DoorUnderTest
beforeAll(async () => {
  door = await startA2aDoor({ fixtures: true })
})
afterAll(() => door.close())

const echo = (text = 'x') => ({ skill: 'echo', input: { text } })
const extension = () => `${door.url}/a2a/ext/skills/v1`
const json = async (response: Response) => (await response.json()) as RpcBody

describe('JSON-RPC', () => {
  const envelopes: [string, unknown, number][] = [
    ['no JSON', '{', -32700],
    ['an empty body', '', -32700],
    ['a batch', [], -32600],
    ['no jsonrpc member', { id: 1, method: 'GetTask', params: {} }, -32600],
    ['JSON-RPC 1.0', { jsonrpc: '1.0', id: 1, method: 'GetTask' }, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'GetTask' }, -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'Dream', params: {} }, -32601],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: [] }, -32602],
    ['JSON nested too deeply', '['.repeat(40) + ']'.repeat(40), -32600],
  ]
  for (const [what, body, code] of envelopes)
    verifies(['JSONRPC-FMT-001', 'JSONRPC-ERR-001'], `answers ${what} with ${code}`, async () => {
      const response = await post(door, body)
      expect(response.headers.get('content-type')).toBe('application/json')
      const answer = await json(response)
      expect(answer).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } })
      expect(answer).toHaveProperty('id')
    })

  const unknown: [string, string, string][] = [
    [
      '1.0',
      'Dream',
      'A2A 1.0 has no method `Dream`. Its methods are listed in section 9.4 of https://a2a-protocol.org/v1.0.0/specification.',
    ],
    ['1.0', 'toString', 'A2A 1.0 has no method `toString`. Its methods are listed in'],
    [
      '1.0',
      'message/send',
      'A2A 1.0 has no method `message/send`. It is one of 0.3: send it with `A2A-Version: 0.3`.',
    ],
    [
      '0.3',
      'tasks/dream',
      'A2A 0.3 has no method `tasks/dream`. Its methods are listed in section 7 of https://a2a-protocol.org/v0.3.0/specification.',
    ],
    [
      '0.3',
      'SendMessage',
      'A2A 0.3 has no method `SendMessage`. It is one of 1.0: send it with `A2A-Version: 1.0`.',
    ],
    ['1.0', 'x'.repeat(1000), `A2A 1.0 has no method \`${'x'.repeat(64)}\`.`],
  ]
  for (const [version, method, words] of unknown)
    test(`${version} names the unknown method ${method.slice(0, 16)} and says where the methods are`, async () => {
      const body = { jsonrpc: '2.0', id: 7, method, params: {} }
      const answer = await json(await post(door, body, { 'a2a-version': version }))
      expect(answer).toMatchObject({ id: 7, error: { code: -32601 } })
      expect(answer.error.message).toContain(words)
    })

  for (const id of ['a', 7, null])
    verifies('JSONRPC-FMT-001', `gives the id ${JSON.stringify(id)} back`, async () => {
      const body = { jsonrpc: '2.0', id, method: 'SendMessage', params: { message: message(echo()) } }
      expect((await json(await post(door, body))).id).toBe(id)
    })

  verifies('JSONRPC-FMT-002', 'takes and gives application/json, and refuses other types', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message(echo()) } }
    const good = await post(door, body, { 'content-type': 'application/json; charset=utf-8' })
    expect(good.headers.get('content-type')).toBe('application/json')
    expect((await json(good)).result.task).toBeDefined()
    const bad = await json(await post(door, body, { 'content-type': 'text/plain' }))
    expect(bad.error).toMatchObject({ code: -32005, data: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }, {}] })
  })

  verifies('JSONRPC-SVC-001', 'knows every operation by its name in 1.0', async () => {
    const { id } = await sendTask(door, echo(), bearer(KEY_A))
    const params = { id, message: message(echo()) }
    for (const method of ['SendMessage', 'GetTask', 'ListTasks', 'GetExtendedAgentCard'])
      expect((await rpc(door, method, params, bearer(KEY_A))).body).toHaveProperty('result')
    for (const method of ['CancelTask', 'SubscribeToTask'])
      expect((await rpc(door, method, params, bearer(KEY_A))).body.error.code).not.toBe(-32601)
  })

  verifies(
    ['JSONRPC-ERR-002', 'JSONRPC-ERR-003'],
    "gives A2A's errors their codes and an ErrorInfo",
    async () => {
      const { id } = await sendTask(door, echo())
      const cases: [string, unknown, number, string][] = [
        ['GetTask', { id: 'none' }, -32001, 'TASK_NOT_FOUND'],
        ['CancelTask', { id }, -32002, 'TASK_NOT_CANCELABLE'],
        ['GetTaskPushNotificationConfig', { taskId: id, id: 'x' }, -32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
        ['SubscribeToTask', { id }, -32004, 'UNSUPPORTED_OPERATION'],
      ]
      for (const [method, params, code, reason] of cases)
        expect((await rpc(door, method, params)).body.error).toMatchObject({
          code,
          data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }],
        })
    },
  )

  verifies('JSONRPC-SVC-002', 'echoes the extensions that it has, under both header names', async () => {
    for (const header of ['a2a-extensions', 'x-a2a-extensions']) {
      const asked = { [header]: `https://example.com/other, ${extension()}` }
      const { headers } = await rpc(door, 'SendMessage', { message: message(echo()) }, asked)
      expect(headers.get('a2a-extensions')).toBe(extension())
    }
    const { headers } = await rpc(door, 'SendMessage', { message: message(echo()) })
    expect(headers.get('a2a-extensions')).toBeNull()
  })

  test('a body that is too large is refused as JSON, before it is read', async () => {
    const response = await post(door, {
      jsonrpc: '2.0',
      id: 1,
      method: 'x',
      params: { x: 'x'.repeat(400_000) },
    })
    expect(response.status).toBe(413)
    expect((await json(response)).error.code).toBe(-32600)
  })

  test('other methods and addresses get a problem document', async () => {
    const get = await fetch(`${door.url}/a2a`)
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    const nowhere = await fetch(`${door.url}/a2a/nowhere`, { method: 'POST' })
    expect([nowhere.status, nowhere.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  })

  test('no JSON that a stranger can send makes it fail', async () => {
    const { id } = await sendTask(door, echo())
    const method = fc.constantFrom(
      'SendMessage',
      'SendStreamingMessage',
      'GetTask',
      'ListTasks',
      'CancelTask',
      'message/send',
    )
    const part = fc.oneof(
      fc.record({ text: fc.string() }),
      fc.record({ data: fc.jsonValue() }),
      fc.jsonValue(),
    )
    const params = fc.oneof(
      fc.jsonValue(),
      fc.record({
        id: fc.oneof(fc.constant(id), fc.jsonValue()),
        message: fc.record(
          {
            messageId: fc.oneof(fc.string(), fc.jsonValue()),
            role: fc.constantFrom('ROLE_USER', 'user', 3),
            parts: fc.oneof(fc.array(part), fc.jsonValue()),
            metadata: fc.jsonValue(),
            taskId: fc.oneof(fc.constant(id), fc.jsonValue()),
          },
          { requiredKeys: [] },
        ),
        configuration: fc.jsonValue(),
        metadata: fc.jsonValue(),
      }),
    )
    await fc.assert(
      fc.asyncProperty(method, params, fc.constantFrom('1.0', '0.3'), async (name, input, version) => {
        const body = { jsonrpc: '2.0', id: 1, method: name, params: input }
        const response = await post(door, body, { 'a2a-version': version })
        expect(response.status).toBeLessThan(500)
        const text = await response.text()
        expect(text).not.toMatch(/\n\s+at |node:internal|TypeError/)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('versions', () => {
  const legacy = (text: string) => ({
    messageId: 'v',
    role: 'user',
    kind: 'message',
    parts: [{ kind: 'text', text }],
  })
  const send = (method: string, params: unknown, headers: Record<string, string>, query = '') =>
    fetch(`${door.url}/a2a${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })

  verifies(
    ['VER-SERVER-001', 'VER-CLIENT-002'],
    'speaks the version that is asked for, whatever its patch',
    async () => {
      for (const version of ['1.0', '1.0.0', '1.0.7']) {
        const answer = await json(
          await send('SendMessage', { message: message(echo()) }, { 'a2a-version': version }),
        )
        expect(answer.result.task.status.state).toBe('TASK_STATE_COMPLETED')
      }
      const byQuery = await json(
        await send('SendMessage', { message: message(echo()) }, {}, '?A2A-Version=1.0'),
      )
      expect(byQuery.result.task).toBeDefined()
      const text = JSON.stringify(echo())
      const old = await json(await send('message/send', { message: legacy(text) }, { 'a2a-version': '0.3' }))
      expect(old.result).toMatchObject({ kind: 'task', status: { state: 'completed' } })
    },
  )

  verifies('VER-SERVER-002', 'refuses a version that it does not speak', async () => {
    for (const version of ['2.0', '0.9', '1.1', 'one'])
      expect((await json(await send('SendMessage', {}, { 'a2a-version': version }))).error).toMatchObject({
        code: -32009,
        data: [{ reason: 'VERSION_NOT_SUPPORTED' }],
      })
    const { status, body } = await rest(door, 'GET', '/tasks', undefined, { 'a2a-version': '2.0' })
    expect([status, body.error.details[0]!['reason']]).toEqual([400, 'VERSION_NOT_SUPPORTED'])
  })

  verifies('VER-SERVER-003', 'takes a request without a version for 0.3', async () => {
    const answer = await json(
      await send('message/send', { message: legacy(JSON.stringify(echo('old'))) }, {}),
    )
    expect(answer.result).toMatchObject({
      kind: 'task',
      artifacts: [{ parts: [{ kind: 'data', data: { text: 'old' } }] }],
    })
    expect((await json(await send('message/send', { message: legacy('hello') }, {}))).result).toMatchObject({
      kind: 'message',
      role: 'agent',
    })
    expect((await json(await send('no/such', {}, {}))).error.code).toBe(-32601)
  })

  test('a method of 1.0 is understood although something on the way dropped the header', async () => {
    const answer = await json(await send('SendMessage', { message: message(echo()) }, {}))
    expect(answer.result.task.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('0.3 refuses with the same reasons', async () => {
    const input = legacy(JSON.stringify({ skill: 'echo', input: {} }))
    const bad = await json(await send('message/send', { message: input }, {}))
    expect(bad.error).toMatchObject({ code: -32602 })
    expect(JSON.stringify(bad.error)).toContain('input_missing_field')
    const wanted = legacy(JSON.stringify({ skill: 'fetch', input: {} }))
    expect((await send('message/send', { message: wanted }, {})).status).toBe(401)
  })
})

describe('HTTP+JSON', () => {
  verifies(
    ['HTTP_JSON-URL-001', 'HTTP_JSON-URL-002', 'HTTP_JSON-SVC-001', 'HTTP_JSON-QP-001', 'BIND-EQUIV-001'],
    'has every operation at its path',
    async () => {
      const owner = bearer(KEY_A)
      const sent = await rest(door, 'POST', '/message:send', { message: message(echo()) }, owner)
      expect([sent.status, sent.headers.get('content-type')]).toEqual([200, 'application/a2a+json'])
      const { id } = sent.body.task
      expect((await rest(door, 'GET', `/tasks/${id}?historyLength=0`, undefined, owner)).body).toEqual({
        ...sent.body.task,
        history: undefined,
      })
      const list = await rest(door, 'GET', '/tasks?pageSize=1&includeArtifacts=true', undefined, owner)
      expect(list.body).toMatchObject({ tasks: [{ id, artifacts: [{}] }], pageSize: 1 })
      expect((await rest(door, 'POST', `/tasks/${id}:cancel`, {}, owner)).status).toBe(400)
      expect((await rest(door, 'POST', `/tasks/${id}:subscribe`, undefined, owner)).status).toBe(400)
      expect((await rest(door, 'GET', '/extendedAgentCard', undefined, owner)).status).toBe(200)
      expect((await rest(door, 'PUT', '/tasks')).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
      expect((await rest(door, 'GET', '/nowhere')).status).toBe(404)
    },
  )

  verifies('HTTP_JSON-SVC-001', 'takes JSON and A2A JSON, and refuses other types as A2A says', async () => {
    for (const [type, status] of [
      ['application/json', 200],
      ['application/a2a+json', 200],
      ['text/plain', 400],
    ] as const) {
      const body = { message: message(echo()) }
      const answer = await rest(door, 'POST', '/message:send', body, { 'content-type': type })
      expect(answer.status).toBe(status)
    }
  })

  verifies('HTTP_JSON-SVC-002', 'reads version and extensions from headers', async () => {
    const asked = { 'a2a-extensions': extension() }
    const { headers } = await rest(door, 'POST', '/message:send', { message: message(echo()) }, asked)
    expect(headers.get('a2a-extensions')).toBe(extension())
  })

  verifies('HTTP_JSON-SSE-001', 'streams the bare events', async () => {
    const response = await fetch(`${door.url}/a2a/rest/message:stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: message({}, { messageId: 'tck-stream-001' }) }),
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const all: string[] = []
    for await (const event of readEvents(response)) all.push(...Object.keys(event))
    expect(all).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate'])
  })

  verifies(
    ['HTTP_JSON-ERR-001', 'HTTP_JSON-ERR-002', 'HTTP_JSON-STATUS-001'],
    'gives errors as google.rpc.Status with the statuses of A2A',
    async () => {
      const { id } = await sendTask(door, echo())
      const cases: [string, string, number, string, string][] = [
        ['GET', '/tasks/none', 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
        ['POST', `/tasks/${id}:cancel`, 400, 'FAILED_PRECONDITION', 'TASK_NOT_CANCELABLE'],
        ['GET', `/tasks/${id}/pushNotificationConfigs`, 400, '', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
        ['GET', `/tasks/${id}:subscribe`, 400, '', 'UNSUPPORTED_OPERATION'],
      ]
      for (const [method, path, status, name, reason] of cases) {
        const answer = await rest(door, method, path)
        expect({ path, status: answer.status, code: answer.body.error.code }).toEqual({
          path,
          status,
          code: status,
        })
        if (name) expect(answer.body.error.status).toBe(name)
        expect(answer.body.error.details[0]).toMatchObject({ reason, domain: 'a2a-protocol.org' })
      }
    },
  )
})

describe('both bindings', () => {
  /** What remains equal when ids and times differ. */
  const shape = (task: unknown) =>
    JSON.stringify(task).replaceAll(
      /"(id|taskId|contextId|messageId|artifactId|timestamp)":"[^"]*"/g,
      '"$1":"…"',
    )

  verifies('BIND-EQUIV-002', 'give the same answer', async () => {
    const inputs = [
      echo('same'),
      { skill: 'fail', input: { how: 'business' } },
      { skill: 'beta', input: { n: 1 } },
    ]
    for (const input of inputs) {
      const one = (await rpc(door, 'SendMessage', { message: message(input) })).body.result
      const other = (await rest(door, 'POST', '/message:send', { message: message(input) })).body
      const plain = (text: string) => text.replaceAll(/req_[0-9a-z]+/g, 'req')
      expect(plain(shape(other))).toBe(plain(shape(one)))
    }
  })

  verifies('BIND-EQUIV-003', 'refuse for the same reason', async () => {
    for (const data of [{ skill: 'echo', input: {} }, { skill: 'nothing' }, { skill: 'fetch', input: {} }]) {
      const one = (await rpc(door, 'SendMessage', { message: message(data) })).body.error
      const other = (await rest(door, 'POST', '/message:send', { message: message(data) })).body.error
      expect(other.message).toBe(one.message)
      expect(other.details[0]).toEqual(one.data[0])
    }
  })

  verifies('BIND-EQUIV-004', 'take a capability in each of its places', async () => {
    const places: [unknown, Record<string, string>][] = [
      [{ skill: 'fetch', input: {} }, bearer(CAPABILITY)],
      [{ skill: 'fetch', input: {} }, { 'x-gateway-capability': CAPABILITY }],
      [{ skill: 'fetch', input: { capability: CAPABILITY } }, {}],
    ]
    for (const [data, headers] of places) {
      const one = (await rpc(door, 'SendMessage', { message: message(data) }, headers)).body.result.task
      const other = (await rest(door, 'POST', '/message:send', { message: message(data) }, headers)).body.task
      for (const task of [one, other]) expect(task.artifacts![0]!.parts[0]!.data).toEqual({ caller: 'cap_1' })
      expect(JSON.stringify([...door.memory.rows.values()])).not.toContain(CAPABILITY)
    }
  })

  test('a skill for operators needs a service key', async () => {
    const data = { skill: 'issue', input: {} }
    const refused = await rpc(door, 'SendMessage', { message: message(data) }, bearer(CAPABILITY))
    expect([refused.status, refused.body.error.data[0]!['reason']]).toEqual([401, 'KEY_REQUIRED'])
    expect((await sendTask(door, data, bearer(KEY_A))).status.state).toBe('TASK_STATE_COMPLETED')
  })

  verifies(
    ['DM-TASK-002', 'DM-MSG-001', 'DM-SERIAL-001', 'DM-SERIAL-002', 'DM-SERIAL-003'],
    'write names in camelCase, enumerations by name and times in UTC',
    async () => {
      const task = await sendTask(door, { skill: 'fail', input: { how: 'business' } })
      expect(task.status.state).toBe('TASK_STATE_FAILED')
      expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(task.status.message).toMatchObject({
        messageId: expect.any(String),
        taskId: task.id,
        role: 'ROLE_AGENT',
        parts: [{}, {}],
      })
      expect(task.history).toMatchObject([{ role: 'ROLE_USER', taskId: task.id, contextId: task.contextId }])
    },
  )
})

describe('limits', () => {
  test('a caller over the rate is told when to come back, and leaves no task', async () => {
    const limited = await startA2aDoor({ rateLimit: 1 })
    try {
      await sendTask(limited, echo())
      const before = limited.memory.rows.size
      const { status, headers, body } = await rpc(limited, 'SendMessage', { message: message(echo()) })
      expect([status, body.error.code, body.error.data[0]!['reason']]).toEqual([429, -32000, 'RATE_LIMITED'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(limited.memory.rows.size).toBe(before)
    } finally {
      await limited.close()
    }
  })
})

test('reading tasks is limited like calling skills', async () => {
  const limited = await startA2aDoor({ rateLimit: 2 })
  try {
    const ask = () => rpc(limited, 'ListTasks', {})
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
    const refused = await ask()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.body.error.code).toBe(-32000)
    const read = await rest(limited, 'GET', '/tasks/task_1')
    expect(read.status).toBe(429)
  } finally {
    await limited.close()
  }
})
