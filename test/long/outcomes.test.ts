// Stock x402 buyers buy each paid outcome over HTTP, MCP and A2A from a gateway in sandbox mode, of the pages, shops and feeds
// that its own site serves over HTTPS. Every purchase is one transfer of exactly the price, and everything that came back is
// checked against what the site serves and what the chain says.
import { createHash } from 'node:crypto'
import { SendMessageRequest, Task } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { wrapAxiosWithPayment, x402Client as axiosClient } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import canonicalize from 'canonicalize'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FeedDigestResult } from '../../schemas/feed-digest.ts'
import { Execution } from '../../schemas/outcome.ts'
import type { ProductOffersResult } from '../../schemas/product-offers.ts'
import type { WebExtractionResult } from '../../schemas/web-extraction.ts'
import { samplePages } from '../../src/data/samples/index.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { message } from '../support/a2a-door.ts'
import { createBuyer } from '../support/buyer.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { createWorld, type World } from '../support/gateway.ts'
import { unguessableIdentifier } from '../support/identifiers.ts'
import { loadPublishedSchemas, type PublishedSchemas } from '../support/published-schemas.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'

const SITE = 'https://sandbox.agent-gateway.test'
const site = samplePages(SITE)

let chain: TestChain
let testnet: TestChain
let world: World
let gateway: GatewayProcess
let published: PublishedSchemas
beforeAll(async () => {
  ;[chain, testnet] = await Promise.all([startTestChain(8453), startTestChain(84532)])
  world = await createWorld({ env: { ...testnet.env, ...chain.env } })
  gateway = await startGatewayProcess(world)
  published = await loadPublishedSchemas(gateway.baseUrl)
})
afterAll(async () => {
  await gateway?.stop('SIGTERM')
  await world?.close()
  await Promise.all([chain?.close(), testnet?.close()])
})

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

interface Bought {
  readonly output: unknown
  readonly settlement: { readonly success: boolean; readonly transaction: string; readonly network: string }
}
type Input = Readonly<Record<string, unknown>>

const stockFetch = (account: PrivateKeyAccount) =>
  wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(account)))
const post = (input: Input) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(input),
})
const settlementOf = (header: string | null | undefined) =>
  decodePaymentResponseHeader(header!) as unknown as Bought['settlement']

async function overHttp(input: Input, account: PrivateKeyAccount): Promise<Bought> {
  const response = await stockFetch(account)(`${gateway.baseUrl}/v1/execute`, post(input))
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return { output: JSON.parse(text), settlement: settlementOf(response.headers.get('payment-response')) }
}

async function overAxios(input: Input, account: PrivateKeyAccount): Promise<Bought> {
  const client = new axiosClient().register('eip155:*', new ExactEvmScheme(account))
  const api = wrapAxiosWithPayment(axios.create({ adapter: 'http' }), client)
  const { data, headers } = await api.post(`${gateway.baseUrl}/v1/execute`, input)
  return { output: data, settlement: settlementOf(headers['payment-response'] as string) }
}

async function overMcp(input: Input, account: PrivateKeyAccount): Promise<Bought> {
  const client = new Client({ name: 'buyer', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.baseUrl}/mcp`)))
  try {
    const call = { name: 'gateway_execute', arguments: { ...input } }
    const challenge = await client.callTool(call)
    expect(challenge.isError).toBe(true)
    const payment = await createBuyer(account)(challenge.structuredContent)
    const paid = await client.callTool({ ...call, _meta: { 'x402/payment': payment } })
    expect(paid.isError, JSON.stringify(paid.structuredContent)).toBeFalsy()
    expect(JSON.parse((paid.content as { text: string }[])[0]!.text)).toEqual(paid.structuredContent)
    return {
      output: paid.structuredContent,
      settlement: paid._meta!['x402/payment-response'] as Bought['settlement'],
    }
  } finally {
    await client.close()
  }
}

/** The skill says the capability: the input need not. */
async function overA2a({ capability, ...input }: Input, account: PrivateKeyAccount): Promise<Bought> {
  const client = await new ClientFactory().createFromUrl(gateway.baseUrl)
  const send = async (given: unknown) =>
    (await client.sendMessage(SendMessageRequest.fromJSON({ message: given }))) as Task
  const waiting = await send(message({ skill: capability, input }))
  const required = waiting.status!.message!.metadata!['x402.payment.required']
  const payment = await createBuyer(account)(required)
  const paid = Task.toJSON(
    await send({
      messageId: `pay-${waiting.id}`,
      role: 'ROLE_USER',
      taskId: waiting.id,
      parts: [{ text: 'Paid.' }],
      metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment },
    }),
    // oxlint-disable-next-line typescript/no-explicit-any -- a wrong shape fails the test
  ) as any
  expect(paid.status.state, JSON.stringify(paid.status)).toBe('TASK_STATE_COMPLETED')
  return {
    output: paid.artifacts[0].parts[0].data,
    settlement: paid.status.message.metadata['x402.payment.receipts'][0],
  }
}

const doors = [
  ['@x402/fetch', overHttp],
  ['@x402/axios', overAxios],
  ['the MCP client', overMcp],
  ['the A2A client', overA2a],
] as const

interface Outcome {
  readonly price: bigint
  readonly input: Input
  readonly sources: readonly string[]
  check(result: never): void
}

const outcomes: Readonly<Record<string, Outcome>> = {
  'web-extraction': {
    price: 3000n,
    input: { urls: [`${SITE}/tea/one`, `${SITE}/tea/two`, `${SITE}/tea/cp1252`], query: 'bitter water' },
    sources: ['/tea/one', '/tea/two', '/tea/cp1252'],
    check({ documents, duplicates, passages }: WebExtractionResult) {
      expect(documents.map(({ document }) => document.title)).toEqual([
        'How green tea is steeped',
        'Steeping green tea, step by step',
        'Le thé vert, pas à pas',
      ])
      expect(documents[0]!.document).toMatchObject({ byline: 'Mina Sample', language: 'en' })
      // Over MCP and A2A a document is Markdown alone.
      const texts = documents.map(({ document: { text, markdown } }) => text ?? markdown)
      expect(texts[0]).toMatch(/seventy to eighty degrees[^]*drop/)
      expect(texts[0]).not.toMatch(/Newsletter|is invented/)
      expect(texts[2]).toContain('l’eau bouillante')
      expect(texts[2]).toContain('12,50 €')
      expect(duplicates.map((group) => group.documents)).toEqual([['d1', 'd2']])
      expect(passages[0]!.text).toMatch(/bitter/)
    },
  },
  'product-offers': {
    price: 6000n,
    input: { urls: [`${SITE}/shop/sencha-a`, `${SITE}/shop/sencha-b`, `${SITE}/shop/sencha-usd`] },
    sources: ['/shop/sencha-a', '/shop/sencha-b', '/shop/sencha-usd'],
    check({ products, groups, unranked }: ProductOffersResult) {
      expect(products.map(({ offers }) => offers[0]!.seller)).toEqual([
        'Example Tea Room',
        'Leaf and Kettle',
        'Overseas Leaves',
      ])
      expect(groups).toHaveLength(1)
      expect(groups[0]).toMatchObject({ currency: 'EUR' })
      expect(groups[0]!.entries.map(({ product, price }) => [product, price.amount])).toEqual([
        ['p2', '11.90'],
        ['p1', '12.50'],
      ])
      expect(unranked.map(({ product }) => product)).toEqual(['p3'])
    },
  },
  'feed-digest': {
    price: 2000n,
    input: { limit: 5 },
    sources: ['/feeds/hardware.xml', '/feeds/software.xml'],
    check({ feeds, entries, limit }: FeedDigestResult) {
      expect(limit).toBe(5)
      expect(feeds.map(({ format }) => format)).toEqual(['rss-2.0', 'atom-1.0'])
      expect(entries).toHaveLength(5)
      const shared = entries.filter(({ also_in }) => also_in.length > 0)
      expect(shared.map(({ title }) => title)).toEqual(['A kettle that reports its temperature over Matter'])
      const times = entries.map(({ published_at }) => Date.parse(published_at!))
      expect(times).toEqual([...times].sort((a, b) => b - a))
    },
  },
}

/** JSON Pointer, RFC 6901. */
const at = (value: unknown, pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (inner, key) => (inner as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      value,
    )

async function expectProof(output: unknown, outcome: Outcome, network: string): Promise<Execution> {
  expect(published.misfits(output)).toEqual([])
  const execution = Execution.parse(output)
  const { result, verification, cost, receipt, intent } = execution
  // The body as it came, not as parsed by our schema: a buyer has nothing else.
  const raw = output as { result: unknown; intent: { request: unknown } }
  expect(verification.result_sha256).toBe(sha256(canonicalize(raw.result)!))
  expect(verification.request_sha256).toBe(sha256(canonicalize(raw.intent.request)!))
  expect(intent.kind).toBe('capability')
  expect(verification.sources).toEqual(
    outcome.sources.map((path) => ({
      url: SITE + path,
      bytes: site.get(path)!.body.byteLength,
      sha256: sha256(site.get(path)!.body),
    })),
  )
  expect(verification.parts.length).toBeGreaterThan(0)
  for (const { pointer, sha256: digest } of verification.parts)
    expect(sha256(at(raw.result, pointer) as string), pointer).toBe(digest)
  expect(result).toMatchObject({ sample: false, coverage: { complete: true, failed: 0 } })
  outcome.check(result as never)

  expect(cost).toMatchObject({
    amount_atomic: outcome.price.toString(),
    paid: true,
    network,
    revenue: false,
    settlement: { scheme: 'exact', claim_id: expect.stringMatching(/^clm_/) },
  })
  const keys = (await gateway.rest('GET', '/.well-known/gateway-egress-key.json')).body
  const stored = await gateway.rest('GET', new URL(receipt!.url).pathname, undefined, '')
  // Over MCP and A2A the signature is read with the receipt.
  if (receipt!.jws !== undefined) expect(stored.body.jws).toBe(receipt!.jws)
  const verdict = await verifyJws(stored.body.jws, keys, JWS_TYPES.receipt)
  expect(verdict.ok).toBe(true)
  const { receipt: _own, ...answer } = output as Record<string, unknown>
  const asked = canonicalize({ ...intent.request, capability: execution.capability, network: cost.network })!
  expect(verdict.ok && verdict.payload).toMatchObject({
    result_sha256: sha256(JSON.stringify(answer)),
    request_digest: createHash('sha256').update(asked).digest('base64url'),
    amount: outcome.price.toString(),
    network,
    revenue: false,
    environment: 'sandbox',
  })
  return execution
}

describe.each(doors)('%s', (_door, buy) => {
  const payerOf = (index: number) => chain.payers[index]!

  it.each(Object.keys(outcomes))(
    'buys %s: exactly its price, and everything in it can be checked',
    async (id) => {
      const outcome = outcomes[id]!
      const payer = payerOf(Object.keys(outcomes).indexOf(id))
      const [from, to] = [await chain.usdcOf(payer.address), await chain.usdcOf(chain.payTo)]
      const { output, settlement } = await buy({ capability: id, ...outcome.input }, payer)
      expect(settlement).toMatchObject({ success: true, network: 'eip155:8453' })
      expect(settlement.transaction).toMatch(/^0x[0-9a-f]{64}$/)
      const execution = await expectProof(output, outcome, 'eip155:8453')
      expect(execution.capability).toBe(id)
      expect(await chain.usdcOf(payer.address)).toBe(from - outcome.price)
      expect(await chain.usdcOf(chain.payTo)).toBe(to + outcome.price)
    },
  )
})

describe('what is published', () => {
  const ids = ['extract-preview', ...Object.keys(outcomes)]

  it.each(ids)('describes the answer to the example of %s, sent unchanged, and its sample', async (id) => {
    const { example } = published.capabilities.find((each) => each.id === id)!
    for (const input of [example, { intent: 'demo', capability: id }]) {
      const response = await stockFetch(chain.payers[3]!)(`${gateway.baseUrl}/v1/execute`, post(input))
      const answer = (await response.json()) as Record<string, unknown>
      expect(response.status, JSON.stringify(answer)).toBe(200)
      expect(published.misfits(answer)).toEqual([])
      expect(published.misfits({ ...answer, capability: 'other' })).not.toEqual([])
      expect(published.misfits({ ...answer, result: {} })).toHaveLength(3)
    }
  })
})

describe('in Arabic', () => {
  it('a sentence with an address and a question buys the passage that answers it', async () => {
    const intent = `اقرأ هذه الصفحة ${SITE}/tea/ar، وأخبرني عن دَرَجة حرارة الماء`
    const { output } = await overHttp({ intent }, chain.payers[3]!)
    expect(published.misfits(output)).toEqual([])
    const execution = Execution.parse(output)
    expect(execution.intent).toMatchObject({
      capability: 'web-extraction',
      text: intent,
      request: { sources: [{ url: `${SITE}/tea/ar`, fallbacks: [] }], query: 'دَرَجة حرارة الماء' },
    })
    const { documents, passages } = execution.result as WebExtractionResult
    expect(documents[0]!.document).toMatchObject({ title: 'كيف يُحضَّر الشاي الأخضر', language: 'ar' })
    expect(passages[0]!.text).toContain('في ماء حرارته بين سبعين وثمانين درجة')
    const [best] = passages
    expect([...documents[0]!.document.text].slice(best!.start, best!.end).join('')).toBe(best!.text)
  })
})

describe('with test money', () => {
  it.each(Object.keys(outcomes))('%s is paid on the test network and marked as no revenue', async (id) => {
    const outcome = outcomes[id]!
    const payer = testnet.payers[0]!
    const before = await testnet.usdcOf(payer.address)
    const untouched = await chain.usdcOf(chain.payTo)
    const { output } = await overHttp({ capability: id, ...outcome.input, testnet: true }, payer)
    await expectProof(output, outcome, 'eip155:84532')
    expect(await testnet.usdcOf(payer.address)).toBe(before - outcome.price)
    expect(await chain.usdcOf(chain.payTo)).toBe(untouched)
  })
})

describe('sources that fail', () => {
  it('one usable source is a result, its coverage names the other, and a fallback steps in', async () => {
    const payer = chain.payers[5]!
    const before = await chain.usdcOf(payer.address)
    const sources = [
      { url: `${SITE}/fail`, fallbacks: [`${SITE}/tea/three`] },
      `${SITE}/redirect`,
      `${SITE}/tea/ar`,
    ]
    const { output } = await overHttp({ capability: 'web-extraction', sources }, payer)
    const { result } = Execution.parse(output)
    expect(result.coverage).toMatchObject({
      asked: 3,
      usable: 2,
      failed: 1,
      complete: false,
      sources: [
        {
          ok: true,
          fallback_used: true,
          attempts: [
            { ok: false, role: 'source' },
            { ok: true, role: 'fallback' },
          ],
        },
        { ok: false, reason: 'target_blocked' },
        { ok: true, fallback_used: false },
      ],
    })
    expect(await chain.usdcOf(payer.address)).toBe(before - 3000n)
  })
})

describe('copies', () => {
  it('one identifier, two payments: the same bytes, charged once', async () => {
    const payer = chain.payers[6]!
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(payer))
    const id = unguessableIdentifier(generatePaymentId)
    client.registerExtension({
      key: 'payment-identifier',
      enrichPaymentPayload: async (payload) => {
        const extensions = structuredClone(payload.extensions ?? {})
        appendPaymentIdentifierToExtensions(extensions, id)
        return { ...payload, extensions }
      },
    })
    const pay = wrapFetchWithPayment(fetch, client)
    const before = await chain.usdcOf(payer.address)
    const input = { capability: 'feed-digest', limit: 3 }
    const texts = []
    for (let i = 0; i < 2; i++) {
      const response = await pay(`${gateway.baseUrl}/v1/execute`, post(input))
      expect(response.status).toBe(200)
      texts.push(await response.text())
    }
    expect(texts[1]).toBe(texts[0])
    expect(await chain.usdcOf(payer.address)).toBe(before - 2000n)
    const other = await pay(`${gateway.baseUrl}/v1/execute`, post({ ...input, limit: 4 }))
    expect(other.status).toBe(409)
    expect(await chain.usdcOf(payer.address)).toBe(before - 2000n)
  })

  it('the same payment twice: the second names the claim, which shows the stored result to its payer only', async () => {
    const payer = chain.payers[7]!
    const buyer = createRestBuyer(gateway.baseUrl, payer)
    const input = { capability: 'feed-digest', limit: 2 }
    const headers = await buyer.sign(await buyer.send('/v1/execute', input))
    const first = await buyer.send('/v1/execute', input, headers)
    expect(first.status).toBe(200)
    const again = await buyer.send('/v1/execute', input, headers)
    expect(again).toMatchObject({ status: 409, body: { code: 'payment_claimed' } })
    const claim = await fetch(`${gateway.baseUrl}/v1/payments/${again.body.claim_id}`, { headers })
    expect(await claim.json()).toMatchObject({ state: 'settled', result: first.body })
    expect((await fetch(`${gateway.baseUrl}/v1/payments/${again.body.claim_id}`)).status).not.toBe(200)
  })

  it('a payment for one request buys no other', async () => {
    const payer = chain.payers[8]!
    const buyer = createRestBuyer(gateway.baseUrl, payer)
    const before = await chain.usdcOf(payer.address)
    const cheap = await buyer.sign(await buyer.send('/v1/execute', { capability: 'feed-digest' }))
    const { input } = outcomes['product-offers']!
    const dear = await buyer.send('/v1/execute', { capability: 'product-offers', ...input }, cheap)
    expect([400, 402]).toContain(dear.status)
    expect(await chain.usdcOf(payer.address)).toBe(before)
  })
})

describe('the quote', () => {
  it('is taken when it is echoed, and a wrong one is refused before anything is charged', async () => {
    const payer = chain.payers[9]!
    const buyer = createRestBuyer(gateway.baseUrl, payer)
    const before = await chain.usdcOf(payer.address)
    const input = { capability: 'feed-digest', limit: 1 }
    const challenge = await buyer.send('/v1/execute', input)
    const quote = challenge.headers.get('x-gateway-quote')!
    const other = (await buyer.send('/v1/execute', { ...input, limit: 2 })).headers.get('x-gateway-quote')!
    const payment = await buyer.sign(challenge)
    const wrong = await buyer.send('/v1/execute', input, { ...payment, 'x-gateway-quote': other })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'quote_invalid' } })
    expect(await chain.usdcOf(payer.address)).toBe(before)
    const paid = await buyer.send('/v1/execute', input, { ...payment, 'x-gateway-quote': quote })
    expect(paid.status).toBe(200)
    expect(await chain.usdcOf(payer.address)).toBe(before - 2000n)
  })
})
