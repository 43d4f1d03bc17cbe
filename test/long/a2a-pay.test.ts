// The official A2A clients with a payer of stock x402 parts: each buys a web fetch on a real chain, and copies buy nothing.
import { SendMessageRequest, Task, TaskState } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { ClientFactory as OldClientFactory } from '@a2a-js/sdk-0.3/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PaymentPayloadV2 } from '../../schemas/x402.ts'
import type { WireTask } from '../../src/doors/a2a/wire.ts'
import { message, rpc } from '../support/a2a-door.ts'
import { createBuyer } from '../support/buyer.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { reply, startFacilitator } from '../support/facilitator-server.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { exactKind } from '../support/payment-fakes.ts'

const PRICE = 1000n
let chain: TestChain
let gateway: TestGateway
beforeAll(async () => {
  chain = await startTestChain(84532)
  gateway = await startTestGateway({ env: chain.env })
})
afterAll(async () => {
  await gateway?.close()
  await chain?.close()
})

const buy = (path: string) => ({ skill: 'web-fetch', input: { url: gateway.url(path), testnet: true } })
const paymentMessage = (taskId: string, payment: unknown) => ({
  messageId: `pay-${taskId}`,
  role: 'ROLE_USER',
  taskId,
  parts: [{ text: 'Paid.' }],
  metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment },
})
const required = (task: {
  status?: { message?: { metadata?: Readonly<Record<string, unknown>> | undefined } | undefined } | undefined
}) => task.status!.message!.metadata!['x402.payment.required']

interface Client {
  ask(data: unknown): Promise<{ id: string; required: unknown }>
  pay(id: string, payment: unknown): Promise<{ state: string; receipts: unknown; output: unknown }>
}

const connectV1 = (binding: string) => async (): Promise<Client> => {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
    preferredTransports: [binding],
  })
  const client = await new ClientFactory(options).createFromUrl(gateway.baseUrl)
  const send = async (given: unknown) =>
    (await client.sendMessage(SendMessageRequest.fromJSON({ message: given }))) as Task
  return {
    async ask(data) {
      const task = await send(message(data))
      expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
      return { id: task.id, required: required(task) }
    },
    async pay(id, payment) {
      const task = Task.toJSON(await send(paymentMessage(id, payment))) as WireTask
      return {
        state: task.status.state.replace('TASK_STATE_', '').toLowerCase(),
        receipts: task.status.message?.metadata?.['x402.payment.receipts'],
        output: task.artifacts?.[0]!.parts[0]!.data,
      }
    },
  }
}
async function connectV03(): Promise<Client> {
  const client = await new OldClientFactory().createFromUrl(gateway.baseUrl)
  let count = 0
  const send = async (given: { parts: object[]; taskId?: string; metadata?: Record<string, unknown> }) => {
    const messageId = `old-${++count}`
    const full = { kind: 'message', role: 'user', messageId, ...given }
    const task = await client.sendMessage({ message: full as never })
    if (task.kind !== 'task') throw new Error('no task')
    return task
  }
  return {
    async ask(data) {
      const task = await send({ parts: [{ kind: 'data', data }] })
      expect(task.status.state).toBe('input-required')
      return { id: task.id, required: required(task) }
    },
    async pay(taskId, payment) {
      const { metadata } = paymentMessage(taskId, payment)
      const task = await send({ taskId, metadata, parts: [{ kind: 'text', text: 'Paid.' }] })
      const part = task.artifacts?.[0]!.parts[0]
      return {
        state: task.status.state,
        receipts: task.status.message?.metadata?.['x402.payment.receipts'],
        output: part?.kind === 'data' ? part.data : undefined,
      }
    },
  }
}

const clients = [
  ['1.0 over JSON-RPC', connectV1('JSONRPC')],
  ['1.0 over HTTP+JSON', connectV1('HTTP+JSON')],
  ['0.3', connectV03],
] as const

describe.each(clients)('the client of %s', (name, connect) => {
  it('sees the price, pays exactly it, gets the page and a receipt', async () => {
    const index = clients.findIndex(([other]) => other === name)
    const client = await connect()
    const before = await chain.usdcOf(chain.payTo)
    const asked = gateway.upstream.requests.length

    const task = await client.ask(buy(`/page-${index}`))
    expect(gateway.upstream.requests).toHaveLength(asked)
    const paid = await client.pay(task.id, await createBuyer(chain.payers[index]!)(task.required))
    expect(paid.state).toBe('completed')
    expect(paid.receipts).toMatchObject([
      {
        success: true,
        network: 'eip155:84532',
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string,
      },
    ])
    const { receipt } = paid.output as { receipt: { url: string } }
    const stored = await gateway.rest('GET', new URL(receipt.url).pathname, undefined, '')
    expect(Object.keys(receipt)).toEqual(['receipt_id', 'url'])
    expect(stored.body.jws).toMatch(/^eyJ/)
    expect(gateway.upstream.requests).toHaveLength(asked + 1)
    expect(await chain.usdcOf(chain.payTo)).toBe(before + PRICE)
  })
})

describe('sixteen parallel copies of one payment, half of them for another task', () => {
  it('are one fetch, one transfer and one result; the rest shows the same task or names the claim', async () => {
    const ask = async () => {
      const { body } = await rpc({ url: gateway.baseUrl }, 'SendMessage', {
        message: message(buy('/copies')),
      })
      return body.result.task
    }
    const tasks = await Promise.all([ask(), ask()])
    const payment = await createBuyer(chain.payers[5]!)(required(tasks[0]!))
    const before = await chain.usdcOf(chain.payTo)
    const asked = gateway.upstream.requests.length
    const answers = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const given = { message: paymentMessage(tasks[i % 2]!.id, payment) }
        return (await rpc({ url: gateway.baseUrl }, 'SendMessage', given)).body
      }),
    )
    const ended = answers.map(({ result }) => result?.task).filter((task) => task !== undefined)
    const done = ended.filter(({ status }) => status.state === 'TASK_STATE_COMPLETED')
    expect(new Set(done.map(({ id }) => id)).size).toBe(1)
    expect(new Set(done.map((task) => JSON.stringify(task))).size).toBe(1)
    for (const task of ended.filter((other) => !done.includes(other))) {
      expect(task.artifacts).toBeUndefined()
      expect(task.status.message!.metadata!['x402.payment.error']).toBe('DUPLICATE_NONCE')
      expect(JSON.stringify(task)).toMatch(/"claim_id":"clm_/)
    }
    expect(ended).toHaveLength(16)
    expect(gateway.upstream.requests).toHaveLength(asked + 1)
    expect(await chain.usdcOf(chain.payTo)).toBe(before + PRICE)
    const { signature } = (payment as { payload: { signature: string } }).payload
    expect(gateway.log()).not.toContain(signature)
  })
})

describe('a payment that cannot be', () => {
  it('leaves the task waiting, says why, and the task can still be paid', async () => {
    const client = await connectV1('JSONRPC')()
    const task = await client.ask(buy('/drained'))
    const payer = chain.payers[6]!
    const payment = await createBuyer(payer)(task.required)
    await chain.drain(payer)
    const { body } = await rpc({ url: gateway.baseUrl }, 'SendMessage', {
      message: paymentMessage(task.id, payment),
    })
    expect(body.result.task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: {
        metadata: { 'x402.payment.status': 'payment-failed', 'x402.payment.error': 'INSUFFICIENT_FUNDS' },
      },
    })
    const paid = await client.pay(task.id, await createBuyer(chain.payers[7]!)(task.required))
    expect(paid.state).toBe('completed')
  })
})

describe('a facilitator that fails after it got the payment', () => {
  it('leaves the task at work until the chain tells, and then it completes with what was paid for', async () => {
    const facilitator = await startFacilitator({
      kinds: [exactKind('eip155:84532')],
      onSettle: reply('upstream error', 502),
    })
    const { GATEWAY_SETTLER_KEY_FILE: _ours, ...env } = chain.env
    const own = await startTestGateway({ env: { ...env, GATEWAY_FACILITATORS: facilitator.url } })
    try {
      const at = { url: own.baseUrl }
      const data = { skill: 'web-fetch', input: { url: own.url('/late'), testnet: true } }
      const { body: asked } = await rpc(at, 'SendMessage', { message: message(data) })
      const waiting = asked.result.task
      const payment = await createBuyer(chain.payers[8]!)(required(waiting))
      const before = await chain.usdcOf(chain.payTo)
      const { body: answer } = await rpc(at, 'SendMessage', { message: paymentMessage(waiting.id, payment) })
      const task = answer.result.task
      expect(task.status).toMatchObject({
        state: 'TASK_STATE_WORKING',
        message: { metadata: { 'x402.payment.status': 'payment-submitted' } },
      })
      expect(task.artifacts).toBeUndefined()
      expect(facilitator.to('/settle')).toHaveLength(1)
      expect(await chain.usdcOf(chain.payTo)).toBe(before)

      await chain.preempt(payment as unknown as PaymentPayloadV2)
      const { body: read } = await rpc(at, 'GetTask', { id: waiting.id })
      const ended = read.result as unknown as WireTask
      expect(ended.status).toMatchObject({
        state: 'TASK_STATE_COMPLETED',
        message: { metadata: { 'x402.payment.status': 'payment-completed' } },
      })
      expect(ended.artifacts![0]!.parts[0]!.data).toMatchObject({
        receipt: { receipt_id: expect.stringMatching(/^rcp_/) as string, url: expect.any(String) as string },
      })
      expect(await chain.usdcOf(chain.payTo)).toBe(before + PRICE)
      expect(own.upstream.requests).toHaveLength(1)
      expect(facilitator.to('/settle')).toHaveLength(1)
    } finally {
      await own.close()
      await facilitator.close()
    }
  })
})
