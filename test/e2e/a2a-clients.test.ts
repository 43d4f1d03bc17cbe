// The official clients, as their users would set them up, against the door on a real listener.
import { ListTasksRequest, SendMessageRequest, StreamResponse, Task, TaskState } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import { ClientFactory as OldClientFactory } from '@a2a-js/sdk-0.3/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DoorUnderTest, KEY_A, message, startA2aDoor } from '../support/a2a-door.ts'

let door: DoorUnderTest
beforeEach(async () => {
  door = await startA2aDoor()
})
afterEach(() => door.close())

const fetchWithKey: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('authorization', `Bearer ${KEY_A}`)
  return fetch(input, { ...init, headers })
}

for (const binding of ['JSONRPC', 'HTTP+JSON'] as const)
  describe(`the client of 1.0 over ${binding}`, () => {
    const connect = async () => {
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [
          new JsonRpcTransportFactory({ fetchImpl: fetchWithKey }),
          new RestTransportFactory({ fetchImpl: fetchWithKey }),
        ],
        preferredTransports: [binding],
      })
      return new ClientFactory(options).createFromUrl(door.url)
    }
    const request = (data: unknown, configuration = {}) =>
      SendMessageRequest.fromJSON({ message: message(data), configuration })

    test('sends, reads, lists and gets results', async () => {
      const client = await connect()
      const task = (await client.sendMessage(request({ skill: 'echo', input: { text: 'hi' } }))) as Task
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
      expect(task.artifacts[0]!.parts[0]!.content).toEqual({ $case: 'data', value: { text: 'hi' } })
      const read = await client.getTask({ tenant: '', id: task.id })
      expect(Task.toJSON(read)).toEqual(Task.toJSON(task))
      const list = await client.listTasks(ListTasksRequest.fromJSON({ pageSize: 10 }))
      expect(list.tasks.map(({ id }) => id)).toEqual([task.id])
    })

    test('is told what it can do when it just says hello', async () => {
      const client = await connect()
      const hello = { messageId: 'h', role: 'ROLE_USER', parts: [{ text: 'Hello, what can you do?' }] }
      const answer = await client.sendMessage(SendMessageRequest.fromJSON({ message: hello }))
      expect(JSON.stringify(answer)).toContain(
        '{\\"skill\\":\\"echo\\",\\"input\\":{\\"text\\":\\"hello\\"}}',
      )
    })

    test('streams, subscribes and cancels', async () => {
      const client = await connect()
      const stream = client.sendMessageStream(request({ skill: 'wait', input: {} }))
      const first = (await stream.next()).value as StreamResponse
      const { id } = (StreamResponse.toJSON(first) as { task: { id: string } }).task
      const subscription = client.resubscribeTask({ tenant: '', id })
      expect((await subscription.next()).value?.payload?.$case).toBe('task')
      await door.begun
      const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined })
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
      let last: StreamResponse | undefined
      for await (const event of subscription) last = event
      expect(last?.payload).toMatchObject({
        $case: 'statusUpdate',
        value: { status: { state: TaskState.TASK_STATE_CANCELED } },
      })
    })

    test('meets the errors of A2A as their classes', async () => {
      const client = await connect()
      await expect(client.getTask({ tenant: '', id: 'none' })).rejects.toBeInstanceOf(TaskNotFoundError)
      const task = (await client.sendMessage(request({ skill: 'echo', input: { text: 'x' } }))) as Task
      await expect(
        client.cancelTask({ tenant: '', id: task.id, metadata: undefined }),
      ).rejects.toBeInstanceOf(TaskNotCancelableError)
      await expect(client.resubscribeTask({ tenant: '', id: task.id }).next()).rejects.toBeInstanceOf(
        UnsupportedOperationError,
      )
    })
  })

describe('the client of 0.3', () => {
  const connect = () => new OldClientFactory().createFromUrl(door.url)
  const say = (data: Record<string, unknown>) => ({
    message: {
      kind: 'message' as const,
      messageId: 'old',
      role: 'user' as const,
      parts: [{ kind: 'data' as const, data }],
    },
  })

  test('sends, reads and gets results', async () => {
    const client = await connect()
    const task = await client.sendMessage(say({ skill: 'echo', input: { text: 'hi' } }))
    expect(task).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
      artifacts: [{ name: 'echo', parts: [{ kind: 'data', data: { text: 'hi' } }] }],
    })
    if (task.kind !== 'task') throw new Error('no task')
    expect(await client.getTask({ id: task.id })).toEqual(task)
  })

  test('streams', async () => {
    const client = await connect()
    const kinds: string[] = []
    const stream = client.sendMessageStream(say({ skill: 'wait', input: {} }))
    for await (const event of stream) {
      kinds.push(event.kind)
      if (kinds.length === 1) door.release()
    }
    expect(kinds[0]).toBe('task')
    expect(kinds.slice(-2)).toEqual(['artifact-update', 'status-update'])
  })

  test('is told what was wrong', async () => {
    const client = await connect()
    await expect(client.sendMessage(say({ skill: 'echo', input: {} }))).rejects.toThrow(/\/text/)
    await expect(client.getTask({ id: 'none' })).rejects.toThrow()
  })
})
