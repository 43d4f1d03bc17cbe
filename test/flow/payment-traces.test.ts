// A payment is a credential: after it went through every door, good, used and wrong, no row, file, log line or refusal holds it.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PaymentRequired } from '../../schemas/x402.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let chain: TestChain
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(8453)
  gw = await startTestGateway({ env: { ...chain.env, GATEWAY_LOG_LEVEL: 'debug' } })
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

const CREDITS = { credits: 1 }
const signatures: string[] = []
const answers: string[] = []

async function sign(offer?: unknown) {
  const parsed = offer === undefined ? undefined : PaymentRequired.parse(offer)
  const payment = await signPayment({
    account: chain.payers[0]!,
    requirements: parsed?.accepts[0] ?? requirementsOf(chain),
    ...(parsed && { resource: parsed.resource, extensions: parsed.extensions ?? {} }),
  })
  signatures.push((payment.payload['signature'] as string).slice(2))
  return payment
}

async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(gw.baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${gw.operatorKey}`,
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  answers.push(text)
  // Tests read what they expect out of it; a wrong shape fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as any }
}
const mcp = (meta: object) =>
  send(
    '/mcp',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'gateway.credits.purchase', arguments: CREDITS, _meta: meta },
    },
    { 'mcp-protocol-version': '2025-11-25' },
  )
const a2a = (message: object, metadata?: object) =>
  send(
    '/a2a',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message }, metadata },
    },
    { 'a2a-version': '1.0' },
  )
const submitted = (payment: unknown) => ({
  'x402.payment.status': 'payment-submitted',
  'x402.payment.payload': payment,
})

async function readAll(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true })
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'latin1'))
  return (await Promise.all(texts)).join('\n')
}

it('leaves no signature anywhere', async () => {
  // REST: good, used again, and to the wrong address.
  const challenge = await send('/v1/credits/purchase', CREDITS)
  const required = Buffer.from(challenge.headers.get('payment-required')!, 'base64').toString()
  const payment = await sign(JSON.parse(required))
  const header = { 'payment-signature': toHeader(payment) }
  expect((await send('/v1/credits/purchase', CREDITS, header)).status).toBe(200)
  expect((await send('/v1/credits/purchase', CREDITS, header)).status).toBe(409)
  await send('/v1/tools/web.fetch', { url: 'https://nobody.example/' }, header)
  await send('/v1/credits/purchase', { credits: 1, payment }, header)

  // MCP.
  const asked = await mcp({})
  const paid = await mcp({ 'x402/payment': await sign(asked.body.result.structuredContent) })
  expect(paid.body.result.isError ?? false).toBe(false)
  await mcp({ 'x402/payment': { ...(await sign()), x402Version: 7 } })

  // A2A: in the message, beside it, in a task that waits, and where nobody looks for it.
  const parts = [{ data: { skill: 'credits-purchase', input: CREDITS } }]
  const { task } = (await a2a({ parts })).body.result
  const offer = task.status.message.metadata['x402.payment.required']
  const good = await sign(offer)
  const cheap = { ...good, accepted: { ...good.accepted, amount: '7' } }
  const wrong = await a2a({ taskId: task.id, parts: [{ text: 'Here.' }], metadata: submitted(cheap) })
  expect(wrong.body.result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  const done = await a2a({
    taskId: task.id,
    parts: [{ text: 'Here.' }, { data: { 'x402.payment.payload': await sign(offer) } }],
    metadata: submitted(await sign(offer)),
  })
  expect(['TASK_STATE_COMPLETED', undefined]).toContain(done.body.result?.task.status.state)
  await a2a({ parts }, submitted(toHeader(await sign(offer))))

  // The facilitator.
  const requirements = requirementsOf(chain)
  for (const path of ['/verify', '/settle', '/settle'])
    await send(path, { x402Version: 2, paymentPayload: await sign(), paymentRequirements: requirements })

  const left = { store: await readAll(gw.dataDir), log: gw.log(), answers: answers.join('\n') }
  expect(left.store).toContain('clm_')
  for (const [place, text] of Object.entries(left))
    for (const signature of signatures)
      for (const spelling of [signature, Buffer.from(signature).toString('base64').slice(4, 60)])
        expect(text.includes(spelling), `${place}: ${signature.slice(0, 10)}`).toBe(false)
})
