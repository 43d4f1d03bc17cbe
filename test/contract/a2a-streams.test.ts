import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Answer,
  bearer,
  type DoorUnderTest,
  KEY_A,
  message,
  post,
  readEvents,
  rpc,
  startA2aDoor,
} from '../support/a2a-door.ts'
import { verifies } from '../requirements.ts'

let door: DoorUnderTest
beforeEach(async () => {
  door = await startA2aDoor({ fixtures: true })
})
afterEach(() => door.close())

const wait = (input = {}) => message({ skill: 'wait', input })

/** The results of a stream, until it closes. */
async function* events(method: string, params: unknown, signal?: AbortSignal): AsyncGenerator<Answer> {
  const response = await fetch(`${door.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 's', method, params }),
    ...(signal ? { signal } : {}),
  })
  for await (const event of readEvents(response)) yield event.result
}
const collect = async (stream: AsyncGenerator<Answer>) => {
  const all: Answer[] = []
  for await (const event of stream) all.push(event)
  return all
}
const kinds = (all: readonly Answer[]) =>
  all.map((event) =>
    event.task
      ? `task ${event.task.status.state}`
      : event.statusUpdate
        ? `status ${event.statusUpdate.status.state}`
        : event.artifactUpdate
          ? 'artifact'
          : 'message',
  )
const LIFE = [
  'task TASK_STATE_WORKING',
  'status TASK_STATE_WORKING',
  'artifact',
  'status TASK_STATE_COMPLETED',
]

describe('a streaming message', () => {
  verifies(
    ['CORE-STREAM-001', 'CORE-STREAM-003', 'STREAM-ORDER-001', 'JSONRPC-SSE-001'],
    'starts with the task, tells progress and result in order, and closes at its end',
    async () => {
      const response = await post(door, {
        jsonrpc: '2.0',
        id: 7,
        method: 'SendStreamingMessage',
        params: { message: wait() },
      })
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      await door.begun
      door.release()
      const all: Answer[] = []
      for await (const event of readEvents(response)) {
        expect(event).toMatchObject({ jsonrpc: '2.0', id: 7 })
        all.push(event.result)
      }
      expect(kinds(all)).toEqual(LIFE)
      expect(all[1]!.statusUpdate.status.message!.parts[0]!.text).toBe('half way (1 of 2)')
      expect(all[2]!.artifactUpdate).toMatchObject({ taskId: all[0]!.task.id, lastChunk: true })
    },
  )

  verifies('CORE-STREAM-002', 'is exactly one message where there is no task', async () => {
    const shout = message({ skill: 'shout', input: { text: 'x' } })
    expect(kinds(await collect(events('SendStreamingMessage', { message: shout })))).toEqual(['message'])
    const hello = { messageId: 'h', role: 'ROLE_USER', parts: [{ text: 'Hello, what can you do?' }] }
    expect(kinds(await collect(events('SendStreamingMessage', { message: hello })))).toEqual(['message'])
  })

  test('sends an artifact in chunks and keeps it whole', async () => {
    const chunked = message({}, { messageId: 'tck-stream-artifact-chunked' })
    const all = await collect(events('SendStreamingMessage', { message: chunked }))
    expect(
      all.filter((event) => event.artifactUpdate).map(({ artifactUpdate }) => artifactUpdate.append),
    ).toEqual([undefined, true])
    const { result } = (await rpc(door, 'GetTask', { id: all[0]!.task.id })).body
    expect(result.artifacts!.map(({ parts }) => parts.map(({ text }) => text))).toEqual([
      ['chunk-1 ', 'chunk-2'],
    ])
  })

  verifies('JSONRPC-SSE-002', 'is refused as a plain answer, with the same codes', async () => {
    const call = (method: string, params: unknown) => rpc(door, method, params)
    const bad = await call('SendStreamingMessage', { message: message({ skill: 'echo', input: {} }) })
    expect(bad.headers.get('content-type')).toBe('application/json')
    expect(bad.body.error.code).toBe(-32602)
    const refused = await call('SendStreamingMessage', { message: message({ skill: 'fetch', input: {} }) })
    expect([refused.status, refused.body.error.code]).toEqual([401, -32000])
    expect(door.memory.rows.size).toBe(0)
  })

  test('goes on without its reader: a client that leaves does not end the work', async () => {
    const leaving = new AbortController()
    const stream = events('SendStreamingMessage', { message: wait() }, leaving.signal)
    const first = (await stream.next()).value as Answer
    leaving.abort()
    await stream.next().catch(() => {})
    door.release()
    await expect
      .poll(async () => (await rpc(door, 'GetTask', { id: first.task.id })).body.result.status!.state)
      .toBe('TASK_STATE_COMPLETED')
    expect(door.aborted()).toBe(false)
  })
})

describe('a send that does not wait', () => {
  verifies('CORE-EXECUTION-MODE-002', 'is answered while the work goes on', async () => {
    const { body } = await rpc(door, 'SendMessage', {
      message: wait(),
      configuration: { returnImmediately: true },
    })
    const { id, status } = body.result.task
    expect(status.state).toBe('TASK_STATE_WORKING')
    expect(door.memory.rows.get(id)).toMatchObject({ state: 'TASK_STATE_WORKING', revision: 1 })
    const subscription = events('SubscribeToTask', { id })
    await subscription.next()
    door.release()
    const rest = await collect(subscription)
    expect(kinds(rest).at(-1)).toBe('status TASK_STATE_COMPLETED')
    expect(door.memory.rows.get(id)).toMatchObject({ state: 'TASK_STATE_COMPLETED', revision: 2 })
  })

  test('is refused before there is a task, like one that waits', async () => {
    const { body } = await rpc(door, 'SendMessage', {
      message: message({ skill: 'echo', input: {} }),
      configuration: { returnImmediately: true },
    })
    expect(body.error.code).toBe(-32602)
  })

  test('a blocking send that takes long shows up in the list before it ends', async () => {
    const sending = rpc(door, 'SendMessage', { message: wait() }, bearer(KEY_A))
    const listed = async () => (await rpc(door, 'ListTasks', {}, bearer(KEY_A))).body.result.tasks
    await expect
      .poll(async () => (await listed()).map(({ status }) => status.state))
      .toEqual(['TASK_STATE_WORKING'])
    expect(JSON.stringify(await listed())).not.toContain('gateway.worker')
    door.release()
    expect((await sending).body.result.task.status.state).toBe('TASK_STATE_COMPLETED')
    expect((await listed()).map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED'])
  })
})

describe('subscribing', () => {
  const begin = async () => {
    const params = { message: wait(), configuration: { returnImmediately: true } }
    return (await rpc(door, 'SendMessage', params)).body.result.task.id
  }

  verifies(
    ['STREAM-SUB-001', 'STREAM-SUB-002', 'STREAM-ORDER-002', 'STREAM-ORDER-003', 'STREAM-ORDER-004'],
    'gives every subscriber the task and then the same events; one that leaves disturbs nobody',
    async () => {
      const id = await begin()
      const leaving = new AbortController()
      const streams = [
        events('SubscribeToTask', { id }),
        events('SubscribeToTask', { id }),
        events('SubscribeToTask', { id }, leaving.signal),
      ]
      for (const stream of streams) expect(((await stream.next()).value as Answer).task.id).toBe(id)
      leaving.abort()
      await streams[2]!.next().catch(() => {})
      door.release()
      const [first, second] = await Promise.all([collect(streams[0]!), collect(streams[1]!)])
      expect(kinds(first).slice(-2)).toEqual(['artifact', 'status TASK_STATE_COMPLETED'])
      expect(second).toEqual(first)
    },
  )

  verifies('STREAM-SUB-003', 'refuses a task that has ended', async () => {
    const { body } = await rpc(door, 'SendMessage', {
      message: message({ skill: 'echo', input: { text: 'x' } }),
    })
    const refused = await rpc(door, 'SubscribeToTask', { id: body.result.task.id })
    expect(refused.body.error.code).toBe(-32004)
  })

  verifies('STREAM-SUB-004', 'does not find an unknown task', async () => {
    expect((await rpc(door, 'SubscribeToTask', { id: 'task_unknown' })).body.error.code).toBe(-32001)
  })

  test('follows a task that waits for input to its end', async () => {
    const waiting = message({}, { messageId: 'tck-input-required-9' })
    const { id } = (await rpc(door, 'SendMessage', { message: waiting })).body.result.task
    const stream = events('SubscribeToTask', { id })
    expect(kinds([(await stream.next()).value as Answer])).toEqual(['task TASK_STATE_INPUT_REQUIRED'])
    await rpc(door, 'SendMessage', { message: message({}, { taskId: id }) })
    expect(kinds(await collect(stream)).at(-1)).toBe('status TASK_STATE_COMPLETED')
  })
})

test('clients that left leave room for others, and who has too many streams open is told', async () => {
  const waiting = message({}, { messageId: 'tck-input-required-9' })
  const { id } = (await rpc(door, 'SendMessage', { message: waiting })).body.result.task
  const open = (kind: number, { signal }: AbortController) => {
    if (kind === 2) return fetch(`${door.url}/a2a/rest/tasks/${id}:subscribe`, { method: 'POST', signal })
    const [version, method] = kind === 1 ? ['0.3', 'tasks/resubscribe'] : ['1.0', 'SubscribeToTask']
    return fetch(`${door.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': version },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id } }),
      signal,
    })
  }
  const typeOf = async (answer: Promise<Response>) => (await answer).headers.get('content-type')
  const clients = Array.from({ length: 100 }, () => new AbortController())
  const types = await Promise.all(clients.map((client, i) => typeOf(open(i % 3, client))))
  expect(new Set(types)).toEqual(new Set(['text/event-stream']))
  for (const kind of [0, 1, 2]) {
    const refused = await open(kind, new AbortController())
    expect(await refused.text()).toContain('At most 100 streams of yours')
  }
  for (const client of clients) client.abort()
  for (const kind of [0, 1, 2]) {
    const again = new AbortController()
    await expect.poll(() => typeOf(open(kind, again))).toBe('text/event-stream')
    again.abort()
  }
})

describe('canceling', () => {
  const begin = async (input = {}) => {
    const params = { message: wait(input), configuration: { returnImmediately: true } }
    const { id } = (await rpc(door, 'SendMessage', params)).body.result.task
    await door.begun
    return id
  }

  verifies('CORE-CANCEL-001', 'stops the work, and every stream hears of it', async () => {
    const id = await begin()
    const stream = events('SubscribeToTask', { id })
    await stream.next()
    const { body } = await rpc(door, 'CancelTask', { id })
    expect(body.result.status!.state).toBe('TASK_STATE_CANCELED')
    expect(door.aborted()).toBe(true)
    expect(kinds(await collect(stream)).at(-1)).toBe('status TASK_STATE_CANCELED')
    expect(door.memory.rows.get(id)!.state).toBe('TASK_STATE_CANCELED')
  })

  test('work that ends well in spite of it stays completed', async () => {
    const id = await begin({ ignoreAbort: true })
    const canceling = rpc(door, 'CancelTask', { id })
    await expect.poll(() => door.aborted()).toBe(true)
    door.release()
    expect((await canceling).body.error.code).toBe(-32002)
    expect((await rpc(door, 'GetTask', { id })).body.result.status!.state).toBe('TASK_STATE_COMPLETED')
  })

  verifies('CORE-CANCEL-002', 'refuses a task that has ended', async () => {
    const id = await begin()
    await rpc(door, 'CancelTask', { id })
    expect((await rpc(door, 'CancelTask', { id })).body.error.code).toBe(-32002)
  })

  verifies('CORE-CANCEL-003', 'does not find an unknown task', async () => {
    expect((await rpc(door, 'CancelTask', { id: 'task_unknown' })).body.error.code).toBe(-32001)
  })

  test('a task that waits for input can be canceled', async () => {
    const waiting = message({}, { messageId: 'tck-input-required-8' })
    const { id } = (await rpc(door, 'SendMessage', { message: waiting })).body.result.task
    expect((await rpc(door, 'CancelTask', { id })).body.result.status!.state).toBe('TASK_STATE_CANCELED')
  })
})

describe('a restart', () => {
  test('keeps what was done, and ends what was being done with a clear message', async () => {
    const done = (
      await rpc(door, 'SendMessage', { message: message({ skill: 'echo', input: { text: 'kept' } }) })
    ).body.result.task
    const params = { message: wait(), configuration: { returnImmediately: true } }
    const { id } = (await rpc(door, 'SendMessage', params, bearer(KEY_A))).body.result.task
    // The old process never ends this one: its row stays as it is now.
    const next = await startA2aDoor({ memory: door.memory })
    try {
      expect((await rpc(next, 'GetTask', { id: done.id })).body.result).toEqual(done)
      const [listed] = (await rpc(next, 'ListTasks', {}, bearer(KEY_A))).body.result.tasks
      expect(listed).toMatchObject({ id, status: { state: 'TASK_STATE_FAILED' } })
      const { result } = (await rpc(next, 'GetTask', { id }, bearer(KEY_A))).body
      expect(result.status!.message!.parts[0]!.text).toMatch(/stopped while it worked/)
      expect((await rpc(next, 'CancelTask', { id }, bearer(KEY_A))).body.error.code).toBe(-32002)
    } finally {
      await next.close()
    }
  })
})
