// The worked example of CONTRIBUTING, as a person who follows it gets it: one file, one line in the list, and every door and
// document knows the tool.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tools } from '../../tools/index.ts'
import { signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { sendRpc } from '../support/json-rpc.ts'
import { createRestBuyer, fromHeader } from '../support/rest-buyer.ts'
import { at, type Json } from '../support/tree.ts'
import { weatherAdvice } from '../weather-advice.ts'
import type { PaymentRequired } from '../../schemas/x402.ts'

/** Whoever tries the example in `tools/` has it in the list already. */
const others = tools.filter(({ name }) => name !== weatherAdvice.name)

let chain: TestChain
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(84532)
  gw = await startTestGateway({ env: chain.env, tools: [...others, weatherAdvice] })
})
afterAll(async () => {
  await gw?.close()
  await chain?.close()
})

const PATH = '/v1/weather/advice'
const INPUT = { celsius: 3, rain_percent: 80 }
const ADVICE = { advice: 'Wear a coat.', umbrella: true }
const RECEIPT = { receipt_id: expect.stringMatching(/^rcp_/) as string, url: expect.any(String) as string }

const rpc = async (path: string, method: string, params: Json, headers: Record<string, string>) =>
  at((await sendRpc(gw.baseUrl + path, method, params, headers)) as Json, 'result')
const mcp = (meta: Json = {}) =>
  rpc(
    '/mcp',
    'tools/call',
    { name: 'gateway_weather_advice', arguments: INPUT, _meta: meta },
    { 'mcp-protocol-version': '2025-11-25' },
  )
const a2a = (message: Json) =>
  rpc(
    '/a2a',
    'SendMessage',
    { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } },
    { 'a2a-version': '1.0' },
  )
const signed = ({ accepts, resource }: PaymentRequired) => {
  const [requirements] = accepts
  if (!requirements) throw new Error('nothing is accepted')
  return signPayment({ account: chain.payers[0]!, requirements, resource })
}

describe('the worked example', () => {
  it('stands in CONTRIBUTING as it is compiled here', async () => {
    const file = await readFile(new URL('../weather-advice.ts', import.meta.url), 'utf8')
    const page = await readFile(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8')
    expect(page).toContain('```ts\n' + file + '```')
  })

  it('asks for 0.001 USDC over REST and answers what was paid for, with a receipt', async () => {
    const buyer = createRestBuyer(gw.baseUrl, chain.payers[0]!)
    const unpaid = await buyer.send(PATH, INPUT)
    expect(unpaid).toMatchObject({ status: 402, body: { code: 'payment_required' } })
    const required = fromHeader<PaymentRequired>(unpaid.headers.get('payment-required'))
    expect(required.accepts).toMatchObject([{ amount: '1000', network: 'eip155:84532' }])
    const paid = await buyer.send(PATH, INPUT, { 'payment-signature': toHeader(await signed(required)) })
    expect(paid).toMatchObject({ status: 200, body: { ...ADVICE, receipt: RECEIPT } })
  })

  it('sells no answer for the payment of another question', async () => {
    const buyer = createRestBuyer(gw.baseUrl, chain.payers[0]!)
    const headers = await buyer.sign(await buyer.send(PATH, INPUT))
    expect((await buyer.send(PATH, INPUT, headers)).status).toBe(200)
    expect(await buyer.send(PATH, { celsius: 30 }, headers)).toMatchObject({
      status: 409,
      body: { code: 'payment_claimed' },
    })
  })

  it('is sold over MCP', async () => {
    const unpaid = await mcp()
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
    const required = at(unpaid, 'structuredContent') as unknown as PaymentRequired
    const paid = await mcp({ 'x402/payment': await signed(required) })
    expect(paid).toMatchObject({ structuredContent: { ...ADVICE, receipt: RECEIPT } })
  })

  it('is sold over A2A', async () => {
    const parts = [{ data: { skill: 'weather-advice', input: INPUT } }]
    const asked = await a2a({ parts })
    expect(at(asked, 'task', 'status', 'state')).toBe('TASK_STATE_INPUT_REQUIRED')
    const metadata = at(asked, 'task', 'status', 'message', 'metadata') as Json
    const payload = await signed(metadata['x402.payment.required'] as PaymentRequired)
    const paid = await a2a({
      taskId: at(asked, 'task', 'id'),
      parts: [{ text: 'Here is the payment.' }],
      metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload },
    })
    expect(at(paid, 'task', 'status', 'state')).toBe('TASK_STATE_COMPLETED')
    expect(JSON.stringify(at(paid, 'task', 'artifacts'))).toContain('Wear a coat.')
  })

  it.each([
    ['/openapi.json', '"/v1/weather/advice"'],
    ['/agent.txt', 'POST /v1/weather/advice 0.001000 USDC'],
    ['/llms-full.txt', 'HTTP: POST /v1/weather/advice | MCP: gateway_weather_advice | A2A: weather-advice'],
    ['/v1/protocols', '"gateway.weather.advice"'],
    ['/.well-known/agent-card.json', '"weather-advice"'],
    ['/discovery/resources?limit=100', '/v1/weather/advice'],
    ['/schemas/gateway_weather_advice.json', '"umbrella"'],
  ])('is in %s, which nobody wrote by hand', async (path, words) => {
    const response = await fetch(gw.baseUrl + path)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(words)
  })
})
