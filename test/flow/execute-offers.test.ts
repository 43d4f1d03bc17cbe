// What a buyer sees of the paid outcomes before paying: the price, the words and the example of the very job that was asked
// for, a quote of that request and no other, and the same at every door and in the list of what is sold.
import { createHash } from 'node:crypto'
import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DiscoveryListPage } from '../../schemas/discovery.ts'
import type { PaymentRequired } from '../../schemas/x402.ts'
import { toCanonicalJson } from '../../src/lib/canonical-json.ts'
import { descriptors } from '../../src/outcomes/descriptors.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { message, rpc } from '../support/a2a-door.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { fromHeader } from '../support/rest-buyer.ts'

const PRICES = { 'web-extraction': '3000', 'product-offers': '6000', 'feed-digest': '2000' } as const
const paid = descriptors.filter(({ amountAtomic }) => amountAtomic > 0n)
const cases = paid.map((facts) => [facts.id as keyof typeof PRICES, facts] as const)

let gw: TestGateway
beforeAll(async () => {
  // The sample is analysed by a process of its own, which has its turn with everything else on the machine.
  const analyses = { budgetMs: 60_000, maxWaitMs: 60_000, startMs: 60_000 }
  gw = await startTestGateway({ times: { reading: { sources: { sourceMs: 60_000 }, analyses } } })
})
afterAll(() => gw?.close())

async function ask(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${gw.baseUrl}/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const required = response.headers.get('payment-required')
  return {
    status: response.status,
    quote: response.headers.get('x-gateway-quote'),
    required: required === null ? undefined : fromHeader<PaymentRequired>(required),
    // oxlint-disable-next-line typescript/no-explicit-any -- a wrong shape fails the test
    body: (await response.json()) as any,
  }
}
const bazaarOf = (required: PaymentRequired | undefined) =>
  (required!.extensions!['bazaar'] as { info: { input: Record<string, unknown> } }).info.input

it('has exactly the three that the specification prices', () => {
  expect(Object.fromEntries(paid.map(({ id, amountAtomic }) => [id, amountAtomic.toString()]))).toEqual(
    PRICES,
  )
})

describe.each(cases)('%s', (id, { example, description }) => {
  it('asks its own price on the production network, in its own words, with its own example', async () => {
    const { status, required, body } = await ask(example)
    expect(status).toBe(402)
    expect(required!.accepts).toMatchObject([{ network: 'eip155:8453', amount: PRICES[id], scheme: 'exact' }])
    expect(required!.resource).toMatchObject({ url: `${gw.baseUrl}/v1/execute`, description })
    expect(bazaarOf(required)).toMatchObject({ type: 'http', method: 'POST', body: example })
    expect(validateDiscoveryExtension(required!.extensions!['bazaar'] as never)).toEqual({ valid: true })
    // Stock clients send most of it back in a header.
    expect(JSON.stringify(required).length).toBeLessThan(4500)
    expect(body.accepts).toMatchObject([{ network: 'base', maxAmountRequired: PRICES[id], description }])
  })

  it('asks test money alone with `testnet`, and its example says so', async () => {
    const { required } = await ask({ ...example, testnet: true })
    expect(required!.accepts.map(({ network }) => network)).toEqual(['eip155:84532'])
    expect(bazaarOf(required)['body']).toEqual({ ...example, testnet: true })
  })

  it('keeps its challenge apart from those of the others, whatever was asked before', async () => {
    for (const [otherId, other] of cases) {
      const { required } = await ask(other.example)
      expect(required!.accepts[0]!.amount).toBe(PRICES[otherId])
      expect(bazaarOf(required)['body']).toEqual(other.example)
    }
  })

  it('signs a quote over the normalised request, good for 300 seconds', async () => {
    const { quote } = await ask(example)
    const keys = (await gw.rest('GET', '/.well-known/gateway-egress-key.json')).body
    const verdict = await verifyJws(quote!, keys, JWS_TYPES.quote)
    if (!verdict.ok) throw new Error(verdict.reason)
    const { payload } = verdict
    expect(payload).toMatchObject({
      tool: 'gateway_execute',
      amount_atomic: PRICES[id],
      network: 'eip155:8453',
    })
    expect(payload['request']).toMatchObject({ capability: id, network: 'eip155:8453' })
    expect(payload['request_digest']).toBe(
      createHash('sha256').update(toCanonicalJson(payload['request'])).digest('base64url'),
    )
    expect(Number(payload['exp']) - Number(payload['iat'])).toBe(300)
  })

  it('takes its quote back, and refuses that of another job', async () => {
    const { quote } = await ask(example)
    const again = await ask(example, { 'x-gateway-quote': quote! })
    expect(again).toMatchObject({ status: 402, quote })
    const [, other] = cases.find(([otherId]) => otherId !== id)!
    const wrong = await ask(other.example, { 'x-gateway-quote': quote! })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'quote_invalid' } })
    const testnet = await ask({ ...example, testnet: true }, { 'x-gateway-quote': quote! })
    expect(testnet.body.code).toBe('quote_invalid')
  })

  it('asks the same over MCP', async () => {
    const response = await fetch(`${gw.baseUrl}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'gateway_execute', arguments: example },
      }),
    })
    const { result } = (await response.json()) as {
      result: Record<string, PaymentRequired & { text: string }>
    }
    expect(result['isError']).toBe(true)
    expect(result['structuredContent']).toMatchObject({
      resource: { url: 'mcp://tool/gateway_execute', description },
      accepts: [{ amount: PRICES[id] }],
      extensions: { bazaar: { info: { input: { toolName: 'gateway_execute', example } } } },
    })
  })

  it('asks the same over A2A, for the skill alone where that is enough', async () => {
    const { capability: _named, ...input } = example
    const { body } = await rpc({ url: gw.baseUrl }, 'SendMessage', { message: message({ skill: id, input }) })
    expect(body.result.task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { metadata: { 'x402.payment.required': { accepts: [{ amount: PRICES[id] }] } } },
    })
  })

  it('has a free labelled sample', async () => {
    const { status, body } = await ask({ intent: 'demo', capability: id })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      capability: id,
      intent: { kind: 'demo' },
      result: { sample: true, coverage: { complete: true } },
      cost: { paid: false, amount_atomic: '0' },
      receipt: null,
    })
    expect(body.result.sample_notice).toMatch(/not live/)
  })
})

describe('over A2A', () => {
  const send = async (given: Record<string, unknown>) =>
    (await rpc({ url: gw.baseUrl }, 'SendMessage', { message: given })).body

  it.each<[string, Record<string, unknown>]>([
    ['no input', { parts: [{ data: { skill: 'feed-digest', input: {} } }] }],
    ['words as input', { parts: [{ data: { skill: 'feed-digest', input: 'the newest hardware stories' } }] }],
    ['words beside the name', { parts: [{ text: 'What is new?' }], metadata: { skill: 'feed-digest' } }],
  ])('feed-digest with %s is a feed digest', async (_, given) => {
    const { result } = await send({ messageId: 'm', role: 'ROLE_USER', ...given })
    const required = result.task.status.message!.metadata!['x402.payment.required'] as PaymentRequired
    expect(required.accepts[0]!.amount).toBe(PRICES['feed-digest'])
    expect(required.resource.description).toBe(paid.at(-1)!.description)
  })

  it.each([
    ['English', 'Give me the latest technology news headlines'],
    ['Arabic', 'أعطني آخر الأخبار التقنية'],
  ])('words alone are a request, in %s, where they say a job', async (_, text) => {
    const { result } = await send({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] })
    const required = result.task.status.message!.metadata!['x402.payment.required'] as PaymentRequired
    expect(required.accepts[0]!.amount).toBe(PRICES['feed-digest'])
  })

  it.each([
    ['English', 'Compare the prices of these products'],
    ['Arabic', 'قارن أسعار هذه المنتجات'],
  ])('words that leave the addresses out are told so, with a request that works, in %s', async (_, text) => {
    const { error } = await send({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] })
    expect(error.message).toContain('product-offers needs url')
    const details = error.data as { value?: { repair: { nearest: string; example: unknown } } }[]
    const { repair } = details.find(({ value }) => value !== undefined)!.value!
    const again = { data: { skill: repair.nearest, input: repair.example } }
    const { result } = await send({ messageId: 'm2', role: 'ROLE_USER', parts: [again] })
    const required = result.task.status.message!.metadata!['x402.payment.required'] as PaymentRequired
    expect(required.accepts[0]!.amount).toBe(PRICES['product-offers'])
  })

  it.each(['Hello, what can you do?', 'Write me a poem about tea', 'مرحبا، ماذا تستطيع أن تفعل؟'])(
    'any other words are answered with what there is: %s',
    async (text) => {
      const { result } = await send({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] })
      const [words] = result.message.parts as { text: string }[]
      expect(words!.text).toContain('{"skill":"feed-digest","input":')
    },
  )

  it('a skill that contradicts the input is a conflict', async () => {
    const data = { skill: 'feed-digest', input: { capability: 'web-extraction', url: 'https://a.example/' } }
    const text = JSON.stringify(await send(message(data)))
    expect(text).toContain('input_conflict')
    expect(text).not.toContain('x402.payment.required')
  })
})

describe('the list of what is sold', () => {
  it('holds each of them with its price, its words and its example', async () => {
    const page = (await gw.rest('GET', '/discovery/resources?limit=50', undefined, ''))
      .body as DiscoveryListPage
    const own = page.items.filter(({ resource }) => resource === `${gw.baseUrl}/v1/execute`)
    expect(own).toHaveLength(paid.length)
    for (const { description, amountAtomic, example } of paid) {
      const item = own.find((candidate) => candidate.description === description)!
      expect(item.accepts).toMatchObject([{ network: 'eip155:8453', amount: amountAtomic.toString() }])
      expect(validateDiscoveryExtension(item.extensions!['bazaar'] as never)).toEqual({ valid: true })
      expect(item.extensions).toMatchObject({
        bazaar: { info: { input: { method: 'POST', body: example } } },
      })
    }
    expect(new Set(own.map((item) => JSON.stringify(item.accepts))).size).toBe(paid.length)
  })

  it('is found by what it does', async () => {
    const query = encodeURIComponent('compare product offers')
    const { body } = await gw.rest('GET', `/discovery/search?query=${query}`, undefined, '')
    const [best] = body.resources ?? body.items
    expect(best.accepts[0].amount).toBe(PRICES['product-offers'])
  })
})
