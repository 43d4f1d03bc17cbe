import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  bearer,
  CAPABILITY,
  type DoorUnderTest,
  KEY_A,
  KEY_B,
  message,
  rpc,
  sendTask,
  startA2aDoor,
} from '../support/a2a-door.ts'
import { verifies } from '../requirements.ts'
import { mistyped } from '../support/mistyped.ts'

let door: DoorUnderTest
beforeAll(async () => {
  door = await startA2aDoor({ fixtures: true })
})
afterAll(() => door.close())

const echo = (text: string) => ({ skill: 'echo', input: { text } })
const code = async (method: string, params: unknown, headers = {}) =>
  (await rpc(door, method, params, headers)).body.error?.code

describe('sending', () => {
  verifies(
    ['CORE-SEND-001', 'DM-TASK-001', 'DM-STATUS-001', 'DM-ART-001', 'CORE-EXECUTION-MODE-001'],
    'answers with the completed task and its result as an artifact',
    async () => {
      const task = await sendTask(door, echo('hello'))
      expect(task).toMatchObject({
        id: expect.stringMatching(/^task_[0-9a-z]{35}$/),
        contextId: expect.any(String),
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [
          {
            artifactId: expect.any(String),
            name: 'echo',
            parts: [{ data: { text: 'hello' }, mediaType: 'application/json' }],
          },
        ],
      })
    },
  )

  test('answers a tool that keeps nothing with a message, and stores no task', async () => {
    const before = door.memory.rows.size
    const { body } = await rpc(door, 'SendMessage', {
      message: message({ skill: 'shout', input: { text: 'hello' } }),
    })
    expect(body.result.message.parts).toEqual([{ data: { text: 'HELLO' }, mediaType: 'application/json' }])
    expect(door.memory.rows.size).toBe(before)
  })

  test('gives the result as text to a client that takes only text', async () => {
    const task = await sendTask(
      door,
      echo('hi'),
      {},
      { configuration: { acceptedOutputModes: ['text/plain'] } },
    )
    expect(task.artifacts![0]!.parts).toEqual([{ text: '{"text":"hi"}', mediaType: 'text/plain' }])
  })

  verifies(
    ['CORE-EXECUTION-MODE-001'],
    'a blocking send also ends when the task waits for input',
    async () => {
      const task = await sendTask(
        door,
        {},
        {},
        { message: message({}, { messageId: 'tck-input-required-1' }) },
      )
      expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    },
  )

  verifies('CORE-SEND-002', 'refuses a message to a task that has ended', async () => {
    const { id } = await sendTask(door, echo('x'))
    expect(await code('SendMessage', { message: message(echo('y'), { taskId: id }) })).toBe(-32004)
  })

  verifies('CORE-SEND-003', 'refuses content of a media type that no skill takes', async () => {
    const parts = [{ raw: 'aGk=', mediaType: 'image/png' }]
    expect(await code('SendMessage', { message: { ...message({}), parts } })).toBe(-32005)
  })

  verifies('CORE-CAP-001', 'refuses push notifications in every form', async () => {
    const { id } = await sendTask(door, echo('x'))
    const wanted = { configuration: { taskPushNotificationConfig: { url: 'https://example.com' } } }
    expect(await code('SendMessage', { message: message(echo('x')), ...wanted })).toBe(-32003)
    for (const method of ['Create', 'Get', 'Delete'])
      expect(
        await code(`${method}TaskPushNotificationConfig`, { taskId: id, id: '1', url: 'https://a.b' }),
      ).toBe(-32003)
    expect(await code('ListTaskPushNotificationConfigs', { taskId: id })).toBe(-32003)
  })

  const message0 = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }
  const broken: [string, unknown, string][] = [
    ['no message', {}, 'message'],
    ['no id', { message: { ...message0, messageId: undefined } }, 'message.messageId'],
    ['an empty id', { message: { ...message0, messageId: '' } }, 'message.messageId'],
    ['no parts', { message: { ...message0, parts: [] } }, 'message.parts'],
    ['a part without content', { message: { ...message0, parts: [{}] } }, 'message.parts[0]'],
    [
      'a part with two contents',
      { message: { ...message0, parts: [{ text: 'x', data: {} }] } },
      'message.parts[0]',
    ],
    ['a role of 0.3', { message: { ...message0, role: 'user' } }, 'message.role'],
    ['an unknown role', { message: { ...message0, role: 'ROLE_UNSPECIFIED' } }, 'message.role'],
    ['a text that is a number', { message: { ...message0, parts: [{ text: 7 }] } }, 'message.parts[0].text'],
    [
      'a negative historyLength',
      { message: message0, configuration: { historyLength: -1 } },
      'configuration.historyLength',
    ],
  ]
  for (const [what, params, field] of broken)
    verifies(
      ['CORE-ERR-002', 'DM-MSG-002', 'DM-PART-001', 'DM-SERIAL-004'],
      `refuses ${what} and names the field`,
      async () => {
        const { body } = await rpc(door, 'SendMessage', params)
        expect(body.error.code).toBe(-32602)
        expect(body.error.data).toContainEqual({
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [expect.objectContaining({ field })],
        })
      },
    )

  verifies('DM-SERIAL-005', 'ignores fields that nobody knows, at every level', async () => {
    const params = {
      message: { ...message0, future: 1, parts: [{ data: echo('x'), future: 2 }] },
      configuration: { future: 3 },
      future: 4,
    }
    expect((await rpc(door, 'SendMessage', params)).body.result.task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    )
  })

  verifies(['CORE-ERR-001'], 'refuses bad input before there is a task, naming each field', async () => {
    const before = door.memory.rows.size
    const { body } = await rpc(door, 'SendMessage', {
      message: message({ skill: 'echo', input: { text: 7 } }),
    })
    expect(body.error.code).toBe(-32602)
    expect(body.error.data).toMatchObject([
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INPUT_WRONG_TYPE' },
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'text' }] },
      {
        '@type': 'type.googleapis.com/google.protobuf.Struct',
        value: { code: 'input_wrong_type', status: 400 },
      },
    ])
    expect(door.memory.rows.size).toBe(before)
  })

  test('a failure of the work is a failed task with the problem document', async () => {
    const task = await sendTask(door, { skill: 'fail', input: { how: 'business' } })
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: {
        parts: [
          { data: { code: 'intent_unknown', repair: { try: 'demo' } } },
          { text: 'Ask for something else.' },
        ],
      },
    })
    expect(task.artifacts).toBeUndefined()
  })

  test('what a driver says reaches neither the client nor the store', async () => {
    const task = await sendTask(door, { skill: 'fail', input: { how: 'crash' } })
    expect(task.status.message!.parts[0]!.data).toMatchObject({ code: 'internal', status: 500 })
    expect(JSON.stringify(task) + JSON.stringify([...door.memory.rows.values()])).not.toContain('hunter2')
  })

  test('a failure of the store is an error without its words', async () => {
    door.memory.failSaves = true
    const { status, body } = await rpc(door, 'SendMessage', { message: message(echo('x')) })
    door.memory.failSaves = false
    expect(status).toBe(500)
    expect(body.error.code).toBe(-32603)
    expect(JSON.stringify(body)).not.toContain('disk full')
  })
})

describe('contexts and follow-ups', () => {
  verifies(
    ['CORE-MULTI-001', 'CORE-MULTI-001a', 'CORE-MULTI-003'],
    'gives every task an id and a context',
    async () => {
      const [first, second] = [await sendTask(door, echo('1')), await sendTask(door, echo('2'))]
      expect(first.contextId).not.toBe('')
      expect(new Set([first.id, second.id, first.contextId, second.contextId]).size).toBe(4)
    },
  )

  verifies('CORE-MULTI-002', "takes a client's own context over", async () => {
    const { body } = await rpc(door, 'SendMessage', { message: message(echo('x'), { contextId: 'mine' }) })
    expect(body.result.task.contextId).toBe('mine')
  })

  verifies('CORE-MULTI-002a', 'refuses a context id that is too long instead of replacing it', async () => {
    const contextId = 'c'.repeat(257)
    expect(await code('SendMessage', { message: message(echo('x'), { contextId }) })).toBe(-32602)
    const { body } = await rpc(door, 'SendMessage', {
      message: message(echo('x'), { contextId: 'c'.repeat(256) }),
    })
    expect(body.result.task.contextId).toHaveLength(256)
  })

  verifies('CORE-MULTI-004', 'does not find an unknown task to follow up', async () => {
    expect(await code('SendMessage', { message: message(echo('x'), { taskId: 'task_unknown' }) })).toBe(
      -32001,
    )
  })

  const waiting = () =>
    sendTask(door, {}, {}, { message: message({}, { messageId: 'tck-input-required-2' }) })

  verifies(
    ['CORE-MULTI-005', 'CORE-HIST-004', 'CORE-HIST-005', 'CORE-HIST-006'],
    'a follow-up goes on with its task, in its context, and the history holds both messages in order',
    async () => {
      const { id, contextId } = await waiting()
      const { body } = await rpc(door, 'SendMessage', { message: message({ more: 1 }, { taskId: id }) })
      expect(body.result.task).toMatchObject({ id, contextId, status: { state: 'TASK_STATE_COMPLETED' } })
      expect(body.result.task.history!.map(({ parts }) => parts[0]!.data)).toEqual([{}, { more: 1 }])
    },
  )

  verifies('CORE-MULTI-006', "refuses a follow-up that names another task's context", async () => {
    const { id } = await waiting()
    const mixed = message({}, { taskId: id, contextId: 'other' })
    expect(await code('SendMessage', { message: mixed })).toBe(-32602)
  })

  test('of two follow-ups at once only one is taken', async () => {
    const { id } = await waiting()
    const both = await Promise.all(
      [1, 2].map((n) => rpc(door, 'SendMessage', { message: message({ n }, { taskId: id }) })),
    )
    expect(both.filter(({ body }) => body.result).length).toBe(1)
  })
})

describe('reading', () => {
  verifies('CORE-GET-001', 'reads a task as it was answered', async () => {
    const sent = await sendTask(door, echo('x'))
    expect((await rpc(door, 'GetTask', { id: sent.id })).body.result).toEqual(sent)
  })

  verifies('CORE-GET-002', 'does not find an unknown task', async () => {
    expect(await code('GetTask', { id: 'task_unknown' })).toBe(-32001)
  })

  verifies(
    ['CORE-HIST-001', 'CORE-HIST-002', 'CORE-HIST-003'],
    'a history is as long as asked for at most',
    async () => {
      const { id } = await sendTask(
        door,
        {},
        {},
        { message: message({}, { messageId: 'tck-input-required-3' }) },
      )
      await rpc(door, 'SendMessage', { message: message({ more: 1 }, { taskId: id }) })
      const lengthFor = async (historyLength?: number) =>
        (await rpc(door, 'GetTask', { id, historyLength })).body.result.history?.length ?? 0
      expect([await lengthFor(), await lengthFor(0), await lengthFor(1), await lengthFor(5)]).toEqual([
        2, 0, 1, 2,
      ])
      const newest = (await rpc(door, 'GetTask', { id, historyLength: 1 })).body.result.history!
      expect(newest[0]!.parts[0]!.data).toEqual({ more: 1 })
      const sent = await sendTask(door, echo('x'), {}, { configuration: { historyLength: 0 } })
      expect(sent.history).toBeUndefined()
      expect(await code('GetTask', { id, historyLength: -1 })).toBe(-32602)
    },
  )

  verifies(
    ['CORE-LIST-001', 'AUTH-SCOPE-001', 'AUTH-SCOPE-002', 'AUTH-SCOPE-003'],
    "nobody sees, lists, cancels or follows up another caller's task",
    async () => {
      const mine = await sendTask(door, echo('mine'), bearer(KEY_A))
      const params = { id: mine.id }
      for (const headers of [bearer(KEY_B), bearer(CAPABILITY), {}]) {
        const { body: unknown } = await rpc(door, 'GetTask', { id: mistyped(mine.id) }, headers)
        const { body } = await rpc(door, 'GetTask', params, headers)
        expect(body.error).toEqual(unknown.error)
        expect(await code('CancelTask', params, headers)).toBe(-32001)
        expect(await code('SubscribeToTask', params, headers)).toBe(-32001)
        const followUp = { message: message(echo('x'), { taskId: mine.id }) }
        expect(await code('SendMessage', followUp, headers)).toBe(-32001)
        const { tasks } = (await rpc(door, 'ListTasks', {}, headers)).body.result
        expect(tasks.map(({ id }) => id)).not.toContain(mine.id)
      }
      const { tasks } = (await rpc(door, 'ListTasks', {}, bearer(KEY_A))).body.result
      expect(tasks.map(({ id }) => id)).toContain(mine.id)
    },
  )

  test('who holds the id of an anonymous task may read it, and nobody can list it', async () => {
    const { id } = await sendTask(door, echo('x'))
    expect((await rpc(door, 'GetTask', { id }, bearer(KEY_A))).body.result.id).toBe(id)
    expect((await rpc(door, 'ListTasks', {})).body.result).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 0,
      totalSize: 0,
    })
  })

  verifies('AUTH-SERVER-002', 'a token that is not valid is refused on every operation', async () => {
    const { id } = await sendTask(door, echo('x'))
    const wrong = bearer(mistyped(KEY_A))
    const operations: [string, unknown][] = [
      ['SendMessage', { message: message(echo('x')) }],
      ['SendStreamingMessage', { message: message(echo('x')) }],
      ['GetTask', { id }],
      ['ListTasks', {}],
      ['CancelTask', { id }],
      ['SubscribeToTask', { id }],
    ]
    for (const [method, params] of operations) {
      const { status, headers, body } = await rpc(door, method, params, wrong)
      expect({ method, status, code: body.error.code }).toEqual({ method, status: 401, code: -32000 })
      expect(headers.get('www-authenticate')).toContain('Bearer')
    }
  })

  verifies(
    ['CORE-LIST-002', 'CORE-LIST-003', 'CORE-LIST-004'],
    'reads a list page by page, newest first, until the cursor is empty',
    async () => {
      const owner = bearer(KEY_B)
      const sent: string[] = []
      for (const n of [1, 2, 3, 4, 5]) {
        sent.unshift((await sendTask(door, echo(`${n}`), owner)).id)
        // Tasks of one millisecond have no order.
        const now = Date.now()
        while (Date.now() === now) await new Promise((resolve) => setImmediate(resolve))
      }
      const seen: string[] = []
      let pageToken = ''
      do {
        const { result } = (await rpc(door, 'ListTasks', { pageSize: 2, pageToken }, owner)).body
        expect(result.tasks.length).toBeLessThanOrEqual(2)
        expect(result.totalSize).toBe(5)
        seen.push(...result.tasks.map(({ id }) => id))
        pageToken = result.nextPageToken
      } while (pageToken !== '')
      expect(seen).toEqual(sent)
    },
  )

  verifies('CORE-LIST-005', 'leaves artifacts out of a list unless they are asked for', async () => {
    const owner = bearer(CAPABILITY)
    await sendTask(door, echo('x'), owner)
    const [without] = (await rpc(door, 'ListTasks', {}, owner)).body.result.tasks
    const [withThem] = (await rpc(door, 'ListTasks', { includeArtifacts: true }, owner)).body.result.tasks
    expect(without).not.toHaveProperty('artifacts')
    expect(withThem!.artifacts).toHaveLength(1)
  })

  for (const params of [
    { pageSize: 0 },
    { pageSize: 101 },
    { pageToken: 'no such token!' },
    { status: 'TASK_STATE_DREAMING' },
    { historyLength: -1 },
    { statusTimestampAfter: 'yesterday' },
  ])
    verifies('CORE-ERR-002', `refuses a list with ${JSON.stringify(params)}`, async () => {
      expect(await code('ListTasks', params, bearer(KEY_A))).toBe(-32602)
    })
})

describe('what is stored', () => {
  test('inputs that are secret or personal by name are redacted, tokens wherever they stand', async () => {
    const task = await sendTask(
      door,
      { skill: 'echo', input: { text: `my key is ${KEY_A}`, email: 'jo@example.com', secret: 'hunter3' } },
      bearer(KEY_A),
      {},
    )
    const stored = door.memory.rows.get(task.id)!.json
    expect(task.artifacts![0]!.parts[0]!.data).toEqual({ text: `my key is ${KEY_A}` })
    for (const canary of [KEY_A, 'jo@example.com', 'hunter3']) expect(stored).not.toContain(canary)
  })

  test('a token that a result shows once is answered, and not stored', async () => {
    const task = await sendTask(door, { skill: 'issue', input: {} }, bearer(KEY_A))
    expect(task.artifacts![0]!.parts[0]!.data).toEqual({ capability: CAPABILITY })
    expect(door.memory.rows.get(task.id)!.json).not.toContain(CAPABILITY)
  })

  test('results are kept for a day, waiting tasks for five minutes', async () => {
    const done = await sendTask(door, echo('x'))
    const waiting = await sendTask(
      door,
      {},
      {},
      { message: message({}, { messageId: 'tck-input-required-4' }) },
    )
    const lifetime = (id: string) => {
      const row = door.memory.rows.get(id)!
      return row.expiresAt - row.updatedAt
    }
    expect([lifetime(done.id), lifetime(waiting.id)]).toEqual([24 * 3_600_000, 300_000])
  })

  test('a task past its time is not found', async () => {
    const { id } = await sendTask(door, echo('x'))
    door.memory.rows.set(id, { ...door.memory.rows.get(id)!, expiresAt: Date.now() })
    expect(await code('GetTask', { id })).toBe(-32001)
  })
})
