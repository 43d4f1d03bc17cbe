// x402 over A2A, in every binding and version, with a gate that decides by the signature's word.
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { SendMessageRequest, Task, TaskState } from '@a2a-js/sdk'
import { ClientFactory as OldClientFactory } from '@a2a-js/sdk-0.3/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { WireMessage, WireTask } from '../../src/doors/a2a/wire.ts'
import { PaymentRequired } from '../../schemas/x402.ts'
import {
  bearer,
  type DoorUnderTest,
  KEY_A,
  KEY_B,
  message,
  post,
  readEvents,
  rest,
  rpc,
  startA2aDoor,
} from '../support/a2a-door.ts'
import {
  acceptsV1,
  createFakeGate,
  type FakeGate,
  type Fate,
  paidTool,
  payment,
  paymentV1,
  TRANSACTION,
} from '../support/paid-door.ts'
import { cites } from '../requirements.ts'

const V02 = 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2'
const V01 = 'https://github.com/google-a2a/a2a-x402/v0.1'
const WAITING_MS = 5 * 60_000
const OUTPUT = { text: 'hi', receipt: { receipt_id: 'rcp_1' } }

let gate: FakeGate
let door: DoorUnderTest
let now: number
beforeEach(async () => {
  now = Date.now()
  gate = createFakeGate()
  door = await startA2aDoor({ tools: [paidTool], gate, now: () => now })
})
afterEach(() => door.close())

const BUY = { skill: 'buy', input: { text: 'hi' } }
const stateOf = (task: WireTask) => task.status.state
const metadataOf = (task: WireTask) => task.status.message!.metadata!
const textOf = ({ parts }: WireMessage) => parts.map(({ text }) => text ?? '').join('\n')
/** What a buyer sends to a waiting task. */
const paying = (fate: Fate, taskId: string, more: Record<string, unknown> = {}) => ({
  messageId: `pay-${fate}`,
  role: 'ROLE_USER',
  taskId,
  parts: [{ text: 'Here is the payment.' }],
  metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment(fate) },
  ...more,
})
const send = async (given: unknown, headers: Record<string, string> = {}) =>
  (await rpc(door, 'SendMessage', { message: given }, headers)).body
const sendForTask = async (given: unknown, headers: Record<string, string> = {}): Promise<WireTask> => {
  const body = await send(given, headers)
  expect(body.error).toBeUndefined()
  return body.result.task
}
const ask = (data: unknown = BUY, headers: Record<string, string> = {}) => sendForTask(message(data), headers)
const read = async (id: string) => (await rpc(door, 'GetTask', { id })).body.result as unknown as WireTask

describe('an unpaid call', () => {
  test(
    cites(
      'x402:a2a:challenge',
      'is a task that waits for its payment and says how to pay, to programs and to people',
    ),
    async () => {
      const task = await ask()
      expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED')
      expect(task.artifacts).toBeUndefined()
      const metadata = metadataOf(task)
      expect(metadata['x402.payment.status']).toBe('payment-required')
      const required = PaymentRequired.parse(metadata['x402.payment.required'])
      expect(required).toEqual(metadata['x402.payment.required'])
      expect(required.resource.url).toBe('a2a://skill/buy')
      expect(metadata['gateway.quote']).toBe('quote of a2a://skill/buy')
      expect(textOf(task.status.message!)).toMatch(
        /0\.001 USD .* on Base Sepolia \(eip155:84532\).*payment-submitted/,
      )
      expect(task.status.message!.extensions).toEqual([V02, V01])
      expect(gate.worked()).toBe(0)
      expect(await read(task.id)).toEqual(task)
    },
  )

  test('shows nothing of what the task remembers', async () => {
    const task = await ask()
    expect(JSON.stringify(door.memory.rows.get(task.id))).toContain('gateway.waiting')
    expect(JSON.stringify([task, await read(task.id)])).not.toContain('gateway.waiting')
    const { body } = await rpc(door, 'ListTasks', {}, bearer(KEY_A))
    expect(JSON.stringify(body)).not.toContain('gateway.waiting')
  })

  test('is kept for five minutes and not longer', async () => {
    const task = await ask()
    expect(door.memory.rows.get(task.id)!.expiresAt).toBe(now + WAITING_MS)
    now += WAITING_MS
    expect((await send(paying('good', task.id))).error.code).toBe(-32001)
    expect(gate.worked()).toBe(0)
  })

  test('is asked again, with a price of its own time, by a follow-up without payment', async () => {
    const task = await ask()
    now += WAITING_MS - 1
    const again = await sendForTask(message(BUY, { taskId: task.id }))
    expect(again.id).toBe(task.id)
    expect(stateOf(again)).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(metadataOf(again)['x402.payment.status']).toBe('payment-required')
    expect(door.memory.rows.get(task.id)!.expiresAt).toBe(now + WAITING_MS)
  })

  test('is refused before any price when its input is wrong', async () => {
    const body = await send(message({ skill: 'buy', input: { text: 7 } }))
    expect(body.error).toMatchObject({ code: -32602 })
    expect(gate.calls).toEqual([])
    expect(door.memory.rows.size).toBe(0)
  })

  test('needs no payment where this very call is free', async () => {
    const task = await ask({ skill: 'buy', input: { text: 'free' } })
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
    expect(task.status.message).toBeUndefined()
    expect(gate.calls).toEqual([])
  })

  test('comes as one task that ends the stream', async () => {
    const response = await post(door, {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: message(BUY) },
    })
    const events = []
    for await (const event of readEvents(response)) events.push(event.result)
    expect(events).toHaveLength(1)
    expect(stateOf(events[0]!.task)).toBe('TASK_STATE_INPUT_REQUIRED')
  })

  test('answers at once when nobody waits', async () => {
    const { body } = await rpc(door, 'SendMessage', {
      message: message(BUY),
      configuration: { returnImmediately: true },
    })
    expect(stateOf(body.result.task)).toBe('TASK_STATE_INPUT_REQUIRED')
  })
})

describe('a payment for a waiting task', () => {
  test(
    cites(
      'x402:a2a:completed',
      'needs no input, completes the task with the released bytes and the receipts',
    ),
    async () => {
      const { id } = await ask()
      const task = await sendForTask(paying('good', id))
      expect(task.id).toBe(id)
      expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
      expect(task.artifacts!.map(({ name, parts }) => [name, parts])).toEqual([
        ['buy', [{ data: OUTPUT, mediaType: 'application/json' }]],
      ])
      expect(metadataOf(task)).toMatchObject({
        'x402.payment.status': 'payment-completed',
        'x402.payment.receipts': [{ success: true, transaction: TRANSACTION, network: 'eip155:84532' }],
      })
      expect(await read(id)).toEqual(task)
    },
  )

  test('may repeat the input', async () => {
    const { id } = await ask()
    const task = await sendForTask(paying('good', id, { parts: [{ data: BUY }] }))
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
  })

  test.each([
    ['another input', { skill: 'buy', input: { text: 'ho' } }],
    ['another skill', { skill: 'echo', input: { text: 'hi' } }],
  ])('is refused with %s, and the task waits on', async (_, data) => {
    const { id } = await ask()
    const body = await send(paying('good', id, { parts: [{ data }] }))
    expect(JSON.stringify(body.error)).toContain('input_conflict')
    expect(gate.calls).toHaveLength(1)
    expect(stateOf(await sendForTask(paying('good', id)))).toBe('TASK_STATE_COMPLETED')
  })

  test('gets text, byte for byte as stored, where the first message asked for text', async () => {
    const configuration = { acceptedOutputModes: ['text/plain'] }
    const { body } = await rpc(door, 'SendMessage', { message: message(BUY), configuration })
    const task = await sendForTask(paying('good', body.result.task.id))
    expect(task.artifacts![0]!.parts).toEqual([
      { text: '{ "text":"hi","receipt":{"receipt_id":"rcp_1"}}', mediaType: 'text/plain' },
    ])
  })

  test('repeats the input where it held what is not kept', async () => {
    const secret = { skill: 'buy', input: { text: 'hi', email: 'canary@example.com' } }
    const task = await ask(secret)
    expect(textOf(task.status.message!)).toContain('Repeat skill and input')
    const refused = await send(paying('good', task.id))
    expect(JSON.stringify(refused.error)).toContain('input_missing_field')
    const paid = await sendForTask(paying('good', task.id, { parts: [{ data: secret }] }))
    expect(stateOf(paid)).toBe('TASK_STATE_COMPLETED')
    expect(JSON.stringify([...door.memory.rows.values()])).not.toContain('canary')
  })

  test('shows how it goes in a stream, and the result only at its end', async () => {
    const { id } = await ask()
    const response = await post(door, {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: paying('good', id) },
    })
    const seen: string[] = []
    for await (const { result } of readEvents(response)) {
      if (result.artifactUpdate) seen.push('artifact')
      const status = result.task?.status ?? result.statusUpdate?.status
      if (status) seen.push(`${status.state} ${String(status.message?.metadata?.['x402.payment.status'])}`)
    }
    expect(seen).toEqual([
      'TASK_STATE_WORKING payment-submitted',
      'TASK_STATE_WORKING payment-verified',
      'artifact',
      'TASK_STATE_COMPLETED payment-completed',
    ])
  })

  test('that is not accepted leaves the task waiting, with the reason and a fresh price', async () => {
    const { id } = await ask()
    const task = await sendForTask(paying('bad', id))
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(metadataOf(task)).toMatchObject({
      'x402.payment.status': 'payment-failed',
      'x402.payment.error': 'INVALID_SIGNATURE',
      'x402.payment.required': { x402Version: 2, error: 'invalid_exact_evm_payload_signature' },
    })
    expect(task.status.message!.parts[0]!.data).toMatchObject({ code: 'payment_rejected' })
    expect(gate.worked()).toBe(0)
    expect(stateOf(await sendForTask(paying('good', id)))).toBe('TASK_STATE_COMPLETED')
  })

  test(
    cites('x402:a2a:failed', 'that does not settle releases nothing, and the next one tells of both'),
    async () => {
      const { id } = await ask()
      const task = await sendForTask(paying('unsettled', id))
      expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED')
      expect(task.artifacts).toBeUndefined()
      const failed = { success: false, errorReason: 'invalid_transaction_state', transaction: '' }
      expect(metadataOf(task)).toMatchObject({
        'x402.payment.status': 'payment-failed',
        'x402.payment.error': 'SETTLEMENT_FAILED',
        'x402.payment.receipts': [failed],
      })
      const paid = await sendForTask(paying('good', id))
      expect(metadataOf(paid)['x402.payment.receipts']).toMatchObject([failed, { success: true }])
    },
  )

  test.each([
    ['used', 'payment_claimed', 'DUPLICATE_NONCE'],
    ['unavailable', 'payments_unavailable', 'PAYMENTS_UNAVAILABLE'],
  ] as const)('that is %s leaves the task waiting at the same price', async (fate, code, error) => {
    const first = await ask()
    const task = await sendForTask(paying(fate, first.id))
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(task.status.message!.parts[0]!.data).toMatchObject({ code })
    expect(metadataOf(task)).toMatchObject({
      'x402.payment.status': 'payment-failed',
      'x402.payment.error': error,
      'x402.payment.required': metadataOf(first)['x402.payment.required'],
    })
    expect(stateOf(await sendForTask(paying('good', first.id)))).toBe('TASK_STATE_COMPLETED')
  })

  test('is not charged when the work fails', async () => {
    const { id } = await ask({ skill: 'buy', input: { text: 'fail' } })
    const task = await sendForTask(paying('good', id))
    expect(stateOf(task)).toBe('TASK_STATE_FAILED')
    expect(metadataOf(task)['x402.payment.status']).toBe('payment-failed')
    expect(task.status.message!.parts[0]!.data).toMatchObject({ code: 'upstream_unreachable' })
  })

  test(cites('x402:a2a:declined', 'may be declined: the task is canceled and nothing is done'), async () => {
    const { id } = await ask()
    const metadata = { 'x402.payment.status': 'payment-rejected' }
    const task = await sendForTask(message({}, { taskId: id, parts: [{ text: 'Too dear.' }], metadata }))
    expect(stateOf(task)).toBe('TASK_STATE_CANCELED')
    expect(metadataOf(task)['x402.payment.status']).toBe('payment-rejected')
    expect(gate.calls).toHaveLength(1)
  })

  test.each([
    ['missing', undefined, 'payment_invalid'],
    ['a number', 7, 'payment_invalid'],
    ['larger than 64 KiB', { ...payment('good'), pad: 'x'.repeat(64 * 1024) }, 'payment_invalid'],
  ])('is refused when it is %s', async (_, payload, code) => {
    const { id } = await ask()
    const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload }
    const body = await send(paying('good', id, { metadata }))
    expect(JSON.stringify(body.error)).toContain(code)
    expect(gate.calls).toHaveLength(1)
    expect(stateOf(await read(id))).toBe('TASK_STATE_INPUT_REQUIRED')
  })

  test('belongs to whoever holds the id of an anonymous task, and to the owner of an owned one', async () => {
    const anonymous = await ask()
    expect(stateOf(await sendForTask(paying('good', anonymous.id), bearer(KEY_B)))).toBe(
      'TASK_STATE_COMPLETED',
    )
    const owned = await ask(BUY, bearer(KEY_A))
    expect((await send(paying('good', owned.id), bearer(KEY_B))).error.code).toBe(-32001)
    expect((await send(paying('good', owned.id))).error.code).toBe(-32001)
    expect(stateOf(await sendForTask(paying('good', owned.id), bearer(KEY_A)))).toBe('TASK_STATE_COMPLETED')
    const { body } = await rpc(door, 'ListTasks', {}, bearer(KEY_A))
    expect(body.result.tasks.map(({ id }) => id)).toEqual([owned.id])
  })
})

describe('a payment whose settlement is not known', () => {
  const undecided = async () => {
    const { id } = await ask()
    return sendForTask(paying('unknown', id))
  }

  test(
    cites('x402:a2a:undecided', 'leaves the task at work, names the claim, and invites no other payment'),
    async () => {
      const task = await undecided()
      expect(stateOf(task)).toBe('TASK_STATE_WORKING')
      expect(task.artifacts).toBeUndefined()
      expect(metadataOf(task)).toEqual({ 'x402.payment.status': 'payment-submitted' })
      expect(task.status.message!.parts[0]!.data).toMatchObject({
        code: 'settlement_unknown',
        claim_id: 'pay_1',
      })
      expect(await read(task.id)).toEqual(task)
      expect(JSON.stringify(task)).not.toContain('gateway.undecided')
    },
  )

  test('completes the task, for whoever reads it, once it was settled', async () => {
    const { id } = await undecided()
    gate.decide('settled')
    const tasks = await Promise.all([read(id), read(id)])
    const task = tasks[0]
    expect(tasks[1]).toEqual(task)
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
    expect(task.artifacts![0]!.parts).toEqual([{ data: OUTPUT, mediaType: 'application/json' }])
    expect(metadataOf(task)).toMatchObject({
      'x402.payment.status': 'payment-completed',
      'x402.payment.receipts': [{ success: true, transaction: TRANSACTION }],
    })
    expect(gate.worked()).toBe(1)
  })

  test('fails the task once it is known that it was not settled', async () => {
    const { id } = await undecided()
    gate.decide('failed')
    const task = await read(id)
    expect(stateOf(task)).toBe('TASK_STATE_FAILED')
    expect(task.artifacts).toBeUndefined()
    expect(metadataOf(task)).toMatchObject({
      'x402.payment.status': 'payment-failed',
      'x402.payment.receipts': [{ success: false, errorReason: 'expired', transaction: '' }],
    })
  })

  test('completes the task without a result that is not kept any longer', async () => {
    const { id } = await undecided()
    gate.decide('result gone')
    const task = await read(id)
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
    expect(task.artifacts).toBeUndefined()
    expect(metadataOf(task)['x402.payment.receipts']).toMatchObject([{ success: true, payer: '0x1' }])
  })

  test('shows its text where the first message asked for text, and to its owner in the list', async () => {
    const configuration = { acceptedOutputModes: ['text/plain'] }
    const asked = await rpc(door, 'SendMessage', { message: message(BUY), configuration }, bearer(KEY_A))
    await sendForTask(paying('unknown', asked.body.result.task.id), bearer(KEY_A))
    gate.decide('settled')
    const { body } = await rpc(door, 'ListTasks', { includeArtifacts: true }, bearer(KEY_A))
    expect(body.result.tasks[0]!.artifacts![0]!.parts[0]!.text).toBe(
      '{ "text":"hi","receipt":{"receipt_id":"rcp_1"}}',
    )
  })

  test('can be read while nobody can tell, and says nothing of why', async () => {
    const task = await undecided()
    gate.decide('chain down')
    expect(await read(task.id)).toEqual(task)
    expect(door.lines.join('')).toContain('the payment of an a2a task cannot be read')
    gate.decide('settled')
    expect(stateOf(await read(task.id))).toBe('TASK_STATE_COMPLETED')
  })

  test('is decided after a restart as well', async () => {
    const { id } = await undecided()
    gate.decide('settled')
    const other = await startA2aDoor({ tools: [paidTool], gate, memory: door.memory })
    try {
      const task = (await rpc(other, 'GetTask', { id })).body.result as unknown as WireTask
      expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
    } finally {
      await other.close()
    }
  })

  test('keeps a stream open until it is decided', async () => {
    const { id } = await ask()
    const params = { message: paying('unknown', id) }
    const response = await post(door, { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params })
    const seen: string[] = []
    for await (const { result } of readEvents(response)) {
      if (result.artifactUpdate) seen.push('artifact')
      const status = result.task?.status ?? result.statusUpdate?.status
      if (status) seen.push(`${status.state} ${String(status.message?.metadata?.['x402.payment.status'])}`)
      if (status?.message?.parts[0]?.data) gate.decide('settled')
    }
    expect(seen).toEqual([
      'TASK_STATE_WORKING payment-submitted',
      'TASK_STATE_WORKING payment-verified',
      'TASK_STATE_WORKING payment-submitted',
      'artifact',
      'TASK_STATE_COMPLETED payment-completed',
    ])
  })

  test('cannot be canceled, nor paid for again', async () => {
    const { id } = await undecided()
    expect((await rpc(door, 'CancelTask', { id })).body.error.code).toBe(-32002)
    gate.decide('settled')
    expect(stateOf(await sendForTask(paying('good', id)))).toBe('TASK_STATE_COMPLETED')
    expect(gate.worked()).toBe(1)
  })
})

describe('a payment with the first message', () => {
  const first = (fate: Fate) => {
    const { messageId: _id, taskId: _task, ...rest } = paying(fate, '')
    return { ...rest, messageId: `first-${fate}`, parts: [{ data: BUY }] }
  }

  test('completes the task in one call', async () => {
    const task = await sendForTask(first('good'))
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED')
    expect(task.artifacts![0]!.parts[0]!.data).toEqual(OUTPUT)
    expect(gate.calls).toHaveLength(1)
  })

  test('that has a stored result gets it, in a task of its own sender', async () => {
    const task = await sendForTask(first('again'), bearer(KEY_A))
    expect(task.artifacts![0]!.parts[0]!.data).toEqual(OUTPUT)
    expect(gate.worked()).toBe(0)
    expect(door.memory.rows.get(task.id)!.owner).toBe('acct_a')
  })

  test('is asked for anew when it is not accepted', async () => {
    const task = await sendForTask(first('bad'))
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(metadataOf(task)['x402.payment.status']).toBe('payment-failed')
    expect(stateOf(await sendForTask(paying('good', task.id)))).toBe('TASK_STATE_COMPLETED')
  })

  test('that was used before is refused with the claim, and leaves no task', async () => {
    const body = await send(first('used'))
    expect(JSON.stringify(body.error)).toContain('"claim_id":"pay_1"')
    expect(door.memory.rows.size).toBe(0)
  })

  test('may be in the metadata of the request', async () => {
    const { metadata, ...rest } = first('good')
    const { body } = await rpc(door, 'SendMessage', { message: rest, metadata })
    expect(stateOf(body.result.task)).toBe('TASK_STATE_COMPLETED')
  })
})

describe('a copy of the payment', () => {
  test('that comes while the first is at work gets the same task, and nothing is done twice', async () => {
    const { id } = await ask()
    const release = gate.hold()
    const both = [sendForTask(paying('good', id)), sendForTask(paying('good', id))]
    while (gate.calls.length < 2) await new Promise((resolve) => setImmediate(resolve))
    const { body } = await rpc(door, 'SendMessage', {
      message: paying('good', id),
      configuration: { returnImmediately: true },
    })
    expect(stateOf(body.result.task)).toBe('TASK_STATE_WORKING')
    release()
    const [one, other] = await Promise.all(both)
    expect(stateOf(one!)).toBe('TASK_STATE_COMPLETED')
    expect(other).toEqual(one)
    expect(gate.worked()).toBe(1)
    expect(gate.calls).toHaveLength(2)
  })

  test('that comes after the end gets the same task', async () => {
    const { id } = await ask()
    const paid = await sendForTask(paying('good', id))
    expect(await sendForTask(paying('good', id))).toEqual(paid)
    expect(gate.worked()).toBe(1)
  })

  test('follows the first one in a stream', async () => {
    const { id } = await ask()
    const paid = await sendForTask(paying('good', id))
    const params = { message: paying('good', id) }
    const response = await post(door, { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params })
    const events = []
    for await (const event of readEvents(response)) events.push(event.result)
    expect(events).toEqual([{ task: paid }])
  })

  test('gets another replica to wait for the one that is at work', async () => {
    const replica = await startA2aDoor({
      tools: [paidTool],
      gate: createFakeGate(),
      memory: door.memory,
      store: { ...door.memory.store, engine: 'postgres' },
    })
    try {
      const { id } = await ask()
      const release = gate.hold()
      const first = sendForTask(paying('good', id))
      while (gate.calls.length < 2) await new Promise((resolve) => setImmediate(resolve))
      const second = rpc(replica, 'SendMessage', { message: paying('good', id) })
      release()
      expect((await second).body.result.task).toEqual(await first)
    } finally {
      await replica.close()
    }
  })

  test('of anything but a payment does not reopen an ended task', async () => {
    const { id } = await ask()
    await sendForTask(paying('good', id))
    expect((await send(message(BUY, { taskId: id }))).error.code).toBe(-32004)
  })

  test('cannot reopen a task that never was about money', async () => {
    const echo = await ask({ skill: 'echo', input: { text: 'hi' } })
    expect((await send(paying('good', echo.id))).error.code).toBe(-32004)
  })
})

test('a task whose gateway stopped while it was paid for invites no second payment', async () => {
  const { id } = await ask()
  const release = gate.hold()
  const first = sendForTask(paying('good', id))
  while (gate.calls.length < 2) await new Promise((resolve) => setImmediate(resolve))
  const other = await startA2aDoor({ tools: [paidTool], gate: createFakeGate(), memory: door.memory })
  try {
    const task = (await rpc(other, 'GetTask', { id })).body.result as unknown as WireTask
    expect(stateOf(task)).toBe('TASK_STATE_FAILED')
    expect(metadataOf(task)['x402.payment.status']).toBe('payment-submitted')
    expect(textOf(task.status.message!)).toContain('the skill payments-get')
  } finally {
    release()
    await first
    await other.close()
  }
})

describe('canceling', () => {
  test('is possible while a task waits', async () => {
    const { id } = await ask()
    const { body } = await rpc(door, 'CancelTask', { id })
    expect(stateOf(body.result as unknown as WireTask)).toBe('TASK_STATE_CANCELED')
    expect((await send(paying('good', id))).error).toBeDefined()
    expect(gate.worked()).toBe(0)
  })

  test(cites('x402:a2a:cancel', 'is refused from the moment that money may move'), async () => {
    const { id } = await ask()
    const release = gate.hold('after work')
    const paid = sendForTask(paying('good', id))
    while (gate.worked() < 1) await new Promise((resolve) => setImmediate(resolve))
    expect((await rpc(door, 'CancelTask', { id })).body.error.code).toBe(-32002)
    release()
    expect(stateOf(await paid)).toBe('TASK_STATE_COMPLETED')
  })

  test('is refused as well when the payment came with the first message', async () => {
    const release = gate.hold('after work')
    const { messageId: _id, taskId: _task, ...rest } = paying('good', '')
    const configuration = { returnImmediately: true }
    const given = { message: { ...rest, messageId: 'first', parts: [{ data: BUY }] }, configuration }
    const { id } = (await rpc(door, 'SendMessage', given)).body.result.task
    while (gate.worked() < 1) await new Promise((resolve) => setImmediate(resolve))
    expect((await rpc(door, 'CancelTask', { id })).body.error.code).toBe(-32002)
    release()
  })
})

describe('secrets', () => {
  test(
    cites('x402:a2a:secret', 'no payment is stored, shown or logged, wherever it stands in the message'),
    async () => {
      const { id } = await ask()
      for (const fate of ['bad', 'unsettled', 'used', 'good'] as const)
        await sendForTask(
          paying(fate, id, { parts: [{ text: `{"payload":${JSON.stringify(payment(fate))}}` }] }),
        )
      const task = await read(id)
      expect(JSON.stringify([...door.memory.rows.values(), task])).not.toContain('canary')
      const shown = task.history!.slice(1).map(({ metadata }) => metadata!['x402.payment.payload'])
      expect(shown).toEqual(Array(4).fill('[redacted]'))
      expect(door.lines.join('')).not.toContain('canary')
    },
  )
})

describe('the extensions', () => {
  test(cites('x402:a2a:extension', 'are both declared on the card, and neither is required'), async () => {
    const card = (await (await fetch(`${door.url}/.well-known/agent-card.json`)).json()) as {
      capabilities: { extensions: { uri: string; required?: boolean; description: string }[] }
      skills: { id: string; description: string }[]
    }
    const { extensions } = card.capabilities
    for (const uri of [V02, V01]) {
      const found = extensions.find((extension) => extension.uri === uri)!
      expect(found.required ?? false).toBe(false)
      expect(found.description).toMatch(/x402/)
    }
    expect(card.skills.find(({ id }) => id === 'buy')!.description).toContain('0.001000 USDC')
  })

  test.each([
    ['a2a-extensions', ['a2a-extensions']],
    ['x-a2a-extensions', ['a2a-extensions', 'x-a2a-extensions']],
  ])(cites('x402:a2a:echo', 'asked for with %s are echoed where the client looks'), async (asked, echoed) => {
    for (const { headers } of [
      await rpc(door, 'SendMessage', { message: message(BUY) }, { [asked]: `${V01}, ${V02}` }),
      await rest(door, 'POST', '/message:send', { message: message(BUY) }, { [asked]: `${V01}, ${V02}` }),
    ])
      for (const name of echoed) expect(headers.get(name)).toBe(`${V02}, ${V01}`)
  })
})

describe('v0.1, activated alone', () => {
  const ACTIVE = { 'x-a2a-extensions': V01 }
  const payingV1 = (fate: Fate, taskId: string, times?: Parameters<typeof paymentV1>[1]) =>
    paying(fate, taskId, {
      metadata: {
        'x402.payment.status': 'payment-submitted',
        'x402.payment.payload': paymentV1(fate, times),
      },
    })
  const settledV1 = { success: true, transaction: TRANSACTION, network: 'base-sepolia', payer: '0x1' }

  test(cites('x402:a2a:v01', 'has the objects of x402 v1, from the price to the receipt'), async () => {
    const task = await ask(BUY, ACTIVE)
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(metadataOf(task)).toMatchObject({
      'x402.payment.status': 'payment-required',
      'x402.payment.required': { x402Version: 1, accepts: acceptsV1 },
    })
    expect(task.status.message!.extensions).toEqual([V01])
    expect(await read(task.id)).toEqual(task)
    const paid = await sendForTask(payingV1('good', task.id), ACTIVE)
    expect(stateOf(paid)).toBe('TASK_STATE_COMPLETED')
    expect(metadataOf(paid)).toEqual({
      'x402.payment.status': 'payment-completed',
      'x402.payment.receipts': [settledV1],
    })
    expect(paid.status.message!.extensions).toEqual([V01])
  })

  test.each([
    ['v0.2 alone', { 'x-a2a-extensions': V02 }],
    ['both', { 'a2a-extensions': `${V01},${V02}` }],
    ['none', {}],
  ])('is not spoken to who activates %s', async (_, headers) => {
    const task = await ask(BUY, headers)
    expect(metadataOf(task)['x402.payment.required']).toMatchObject({ x402Version: 2 })
  })

  test('is spoken over HTTP+JSON as well', async () => {
    const { body } = await rest(
      door,
      'POST',
      '/message:send',
      { message: message(BUY) },
      { 'a2a-extensions': V01 },
    )
    const { task } = body as unknown as { task: WireTask }
    expect(metadataOf(task)['x402.payment.required']).toMatchObject({ x402Version: 1 })
  })

  test('is what its task stays in, whatever a later message activates no more', async () => {
    const task = await ask(BUY, ACTIVE)
    const failed = await sendForTask(payingV1('unsettled', task.id))
    const refusal = {
      success: false,
      errorReason: 'invalid_transaction_state',
      transaction: '',
      network: 'base-sepolia',
    }
    expect(metadataOf(failed)).toMatchObject({
      'x402.payment.status': 'payment-failed',
      'x402.payment.required': { x402Version: 1 },
      'x402.payment.receipts': [refusal],
    })
    const paid = await sendForTask(payingV1('good', task.id))
    expect(metadataOf(paid)['x402.payment.receipts']).toEqual([refusal, settledV1])
  })

  test('gives way to v0.2 when that is activated, with every receipt so far', async () => {
    const task = await ask(BUY, ACTIVE)
    await sendForTask(payingV1('unsettled', task.id), ACTIVE)
    const paid = await sendForTask(paying('good', task.id), { 'x-a2a-extensions': V02 })
    expect(metadataOf(paid)['x402.payment.receipts']).toMatchObject([
      { success: false, network: 'eip155:84532' },
      { success: true, network: 'eip155:84532' },
    ])
  })

  test('tells the receipt of a settlement that was decided late', async () => {
    const task = await ask(BUY, ACTIVE)
    const pending = await sendForTask(payingV1('unknown', task.id), ACTIVE)
    expect(stateOf(pending)).toBe('TASK_STATE_WORKING')
    gate.decide('settled')
    const ended = await read(task.id)
    expect(stateOf(ended)).toBe('TASK_STATE_COMPLETED')
    expect(metadataOf(ended)['x402.payment.receipts']).toEqual([settledV1])
    expect(ended.status.message!.extensions).toEqual([V01])
  })

  test('takes the whole numbers that its published client sends as times', async () => {
    const task = await ask(BUY, ACTIVE)
    await sendForTask(payingV1('good', task.id, { validAfter: 0, validBefore: 1_900_000_000 }), ACTIVE)
    const [, call] = gate.calls
    expect(call!.payment!.form).toBe('object')
    expect(call!.payment!.value.use((value: unknown) => value)).toMatchObject({
      payload: { authorization: { validAfter: '0', validBefore: '1900000000' } },
    })
  })

  test.each([[-1], [1.5], [2 ** 53], [null], [[1]]])(
    'leaves the time %j for what it is',
    async (validBefore) => {
      const task = await ask(BUY, ACTIVE)
      await sendForTask(payingV1('good', task.id, { validAfter: '0', validBefore }), ACTIVE)
      expect(gate.calls[1]!.payment!.value.use((value: unknown) => value)).toMatchObject({
        payload: { authorization: { validBefore } },
      })
    },
  )
})

test('what HTTP+JSON answers is not for caches', async () => {
  const sent = await rest(door, 'POST', '/message:send', { message: message(BUY) })
  const { headers, body } = await rest(door, 'GET', `/tasks/${sent.body.task.id}`)
  expect(stateOf(body as unknown as WireTask)).toBe('TASK_STATE_INPUT_REQUIRED')
  expect(headers.get('cache-control')).toBe('no-store')
})

describe('the official clients', () => {
  for (const binding of ['JSONRPC', 'HTTP+JSON'] as const)
    test(`of 1.0 over ${binding} see the price and pay`, async () => {
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
        preferredTransports: [binding],
      })
      const client = await new ClientFactory(options).createFromUrl(door.url)
      const asked = (await client.sendMessage(SendMessageRequest.fromJSON({ message: message(BUY) }))) as Task
      expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
      PaymentRequired.parse(asked.status!.message!.metadata!['x402.payment.required'])
      const paid = (await client.sendMessage(
        SendMessageRequest.fromJSON({ message: paying('good', asked.id) }),
      )) as Task
      expect(paid.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
      expect(paid.artifacts[0]!.parts[0]!.content).toEqual({ $case: 'data', value: OUTPUT })
    })

  test('of 0.3 see the price and pay', async () => {
    const client = await new OldClientFactory().createFromUrl(door.url)
    const asked = await client.sendMessage({
      message: { kind: 'message', messageId: 'old-1', role: 'user', parts: [{ kind: 'data', data: BUY }] },
    })
    if (asked.kind !== 'task') throw new Error('no task')
    expect(asked.status.state).toBe('input-required')
    PaymentRequired.parse(asked.status.message!.metadata!['x402.payment.required'])
    const paid = await client.sendMessage({
      message: {
        kind: 'message',
        messageId: 'old-2',
        role: 'user',
        taskId: asked.id,
        contextId: asked.contextId,
        parts: [{ kind: 'text', text: 'paid' }],
        metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment('good') },
      },
    })
    if (paid.kind !== 'task') throw new Error('no task')
    expect(paid.status.state).toBe('completed')
    expect(paid.status.message!.metadata!['x402.payment.receipts']).toMatchObject([{ success: true }])
    expect(paid.artifacts![0]!.parts[0]).toMatchObject({ kind: 'data', data: OUTPUT })
  })
})
