// Paid outcomes of sources of which none is usable, bought over HTTP, MCP and A2A: the answer says why of each source, no money
// moves, and what was signed for it stays the payer's, for good.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SendMessageRequest, Task } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Coverage } from '../../schemas/sources.ts'
import type { PaymentPayloadV2, PaymentRequired } from '../../schemas/x402.ts'
import type { WireTask } from '../../src/doors/a2a/wire.ts'
import { packAuthorizationState } from '../../src/payments/adapters/usdc-abi.ts'
import { message } from '../support/a2a-door.ts'
import { createBuyer } from '../support/buyer.ts'
import { type ExactPayload, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { createWorld, type World } from '../support/gateway.ts'
import { createRestBuyer, fromHeader } from '../support/rest-buyer.ts'

const SITE = 'https://sandbox.agent-gateway.test'

let chain: TestChain
let world: World
let gateway: GatewayProcess
beforeAll(async () => {
  chain = await startTestChain(8453)
  world = await createWorld({ env: chain.env })
  gateway = await startGatewayProcess(world)
})
afterAll(async () => {
  await gateway?.stop('SIGTERM')
  await world?.close()
  await chain?.close()
})

type Input = Readonly<Record<string, unknown>>
type Signed = Readonly<Record<string, unknown>>

/** What a buyer got for a payment. */
interface Answer {
  /** The problem document, if there is one. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a wrong shape fails the test
  readonly problem: any
  /** Whatever may not be there: settlements that are told, results, and over A2A another bill. */
  readonly released: readonly unknown[]
}
/** An offer, and what takes a payment for it. */
interface Offer {
  readonly required: PaymentRequired
  pay(payment: Signed): Promise<Answer>
}

const without = (values: readonly unknown[]) =>
  values.filter((value) => value !== undefined && value !== null)

async function overHttp(input: Input): Promise<Offer> {
  const { send } = createRestBuyer(gateway.baseUrl, chain.payers[0]!)
  const challenge = await send('/v1/execute', input)
  expect(challenge.status, challenge.text).toBe(402)
  return {
    required: fromHeader(challenge.headers.get('payment-required')),
    async pay(payment) {
      const { status, headers, body } = await send('/v1/execute', input, {
        'payment-signature': toHeader(payment),
      })
      expect(status).toBe(body.status)
      return {
        problem: body,
        released: without([headers.get('payment-response'), body.result, body.receipt]),
      }
    },
  }
}

async function overMcp(input: Input): Promise<Offer> {
  const call = async (meta: object) => {
    const client = new Client({ name: 'buyer', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.baseUrl}/mcp`)))
    try {
      return await client.callTool({ name: 'gateway_execute', arguments: { ...input }, ...meta })
    } finally {
      await client.close()
    }
  }
  const { structuredContent: required } = await call({})
  return {
    required: required as PaymentRequired,
    async pay(payment) {
      const { isError, structuredContent, content, _meta } = await call({
        _meta: { 'x402/payment': payment },
      })
      expect(isError).toBe(true)
      expect(JSON.parse((content as { text: string }[])[0]!.text)).toEqual(structuredContent)
      const { result, receipt } = structuredContent as Input
      return {
        problem: structuredContent,
        released: without([_meta?.['x402/payment-response'], result, receipt]),
      }
    },
  }
}

async function overA2a({ capability, ...input }: Input): Promise<Offer> {
  const client = await new ClientFactory().createFromUrl(gateway.baseUrl)
  const send = async (given: unknown) =>
    Task.toJSON(
      (await client.sendMessage(SendMessageRequest.fromJSON({ message: given }))) as Task,
    ) as WireTask
  const waiting = await send(message({ skill: capability, input }))
  expect(waiting.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  return {
    required: waiting.status.message!.metadata!['x402.payment.required'] as PaymentRequired,
    async pay(payment) {
      const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment }
      const parts = [{ text: 'Paid.' }]
      const answer = {
        messageId: crypto.randomUUID(),
        role: 'ROLE_USER',
        taskId: waiting.id,
        parts,
        metadata,
      }
      const task = await send(answer)
      expect(task.status.state, JSON.stringify(task.status)).toBe('TASK_STATE_FAILED')
      const told = task.status.message!.metadata!
      expect(told).toMatchObject({
        'x402.payment.status': 'payment-failed',
        'x402.payment.error': 'SOURCES_UNUSABLE',
      })
      // It stays so, and a copy of the payment starts nothing: no second claim is found below.
      const read = await client.getTask({ id: waiting.id, tenant: '', historyLength: undefined })
      expect((Task.toJSON(read) as WireTask).status).toEqual(task.status)
      expect((await send({ ...answer, messageId: crypto.randomUUID() })).status).toEqual(task.status)
      const released = [told['x402.payment.receipts'], told['x402.payment.required'], task.artifacts?.[0]]
      return { problem: task.status.message!.parts[0]!.data, released: without(released) }
    },
  }
}

const doors = [
  ['HTTP', overHttp],
  ['MCP', overMcp],
  ['A2A', overA2a],
] as const

const bad = [
  [`${SITE}/fail`, 'connection_lost'],
  [`${SITE}/redirect`, 'target_blocked'],
] as const
/** By capability: its price, and each source with why it gives nothing. */
const unusable: readonly [string, bigint, readonly (readonly [string, string])[]][] = [
  ['web-extraction', 3000n, bad],
  ['product-offers', 6000n, [...bad, [`${SITE}/shop/about`, 'no_product']]],
  ['feed-digest', 2000n, [...bad, [`${SITE}/tea/one`, 'feed_is_html']]],
]
const requestOf = ([capability, , sources]: (typeof unusable)[number]) => ({
  capability,
  urls: sources.map(([url]) => url),
})

const partsOf = (payment: Signed) =>
  (payment as unknown as PaymentPayloadV2).payload as unknown as ExactPayload

/** Of the payer, the payee, and how many transfers the payee ever got. */
const moneyOf = async ({ address }: PrivateKeyAccount) => [
  await chain.usdcOf(address),
  await chain.usdcOf(chain.payTo),
  await chain.transfersTo(chain.payTo),
]

async function isUsed(payment: Signed): Promise<boolean> {
  const { from, nonce } = partsOf(payment).authorization
  const call = { to: chain.network.asset.address, data: packAuthorizationState(from, nonce) }
  return BigInt((await chain.rpc('eth_call', [call, 'latest'])) as string) !== 0n
}

/** Every claim that was ever made of a payment, oldest first, with what is stored of its result. */
function claimsOf(payment: Signed) {
  const db = new DatabaseSync(join(world.env['GATEWAY_DATA_DIR']!, 'gateway.db'), { readOnly: true })
  try {
    return db
      .prepare(
        `SELECT id, state, reason, amount, submitted_at, upstream, tx, receipt_id, result_sha256,
           (SELECT COUNT(*) FROM claim_results WHERE claim_id = id) AS results
         FROM payment_claims WHERE nonce = ? ORDER BY created_at, id`,
      )
      .all(partsOf(payment).authorization.nonce.toLowerCase())
  } finally {
    db.close()
  }
}
const canceled = (price: bigint) => ({
  id: expect.stringMatching(/^clm_/) as string,
  state: 'canceled',
  reason: 'sources_unusable',
  amount: price.toString(),
  submitted_at: null,
  upstream: null,
  tx: null,
  receipt_id: null,
  result_sha256: null,
  results: 0,
})

function expectUnusable({ problem, released }: Answer, sources: (typeof unusable)[number][2]) {
  expect(problem, JSON.stringify(problem)).toMatchObject({ status: 502, code: 'sources_unusable' })
  expect(problem.detail).toContain('nothing was charged')
  const coverage = Coverage.parse(problem.coverage)
  expect(coverage).toMatchObject({
    asked: sources.length,
    usable: 0,
    failed: sources.length,
    complete: false,
  })
  expect(coverage.sources.map(({ requested, ok, reason }) => [requested, ok, reason])).toEqual(
    sources.map(([url, reason]) => [url, false, reason]),
  )
  expect(released).toEqual([])
}

describe.each(doors)('over %s', (door, ask) => {
  const payer = () => chain.payers[doors.findIndex(([other]) => other === door)]!

  it.each(unusable)(
    'without one usable source %s is not charged, and says why of each',
    async (...unusableCase) => {
      const [, price, sources] = unusableCase
      const before = await moneyOf(payer())
      const { required, pay } = await ask(requestOf(unusableCase))
      expect(required.accepts[0]).toMatchObject({ amount: price.toString(), network: 'eip155:8453' })
      const payment = await createBuyer(payer())(required)
      expectUnusable(await pay(payment), sources)

      expect(await moneyOf(payer())).toEqual(before)
      expect(await isUsed(payment)).toBe(false)
      const claims = claimsOf(payment)
      expect(claims).toEqual([canceled(price)])
      const shown = await fetch(`${gateway.baseUrl}/v1/payments/${String(claims[0]!['id'])}`, {
        headers: { 'payment-signature': toHeader(payment) },
      })
      expect(await shown.json()).toMatchObject({
        state: 'canceled',
        reason: 'sources_unusable',
        transaction: null,
        submitted_at: null,
        receipt: null,
        result: null,
        retry_after_seconds: null,
      })
    },
  )
})

describe('what was signed for nothing', () => {
  const [, price, sources] = unusable[0]!
  const request = requestOf(unusable[0]!)

  it('is not taken when it is shown again nor after a crash, is not kept, and the payer can take it back', async () => {
    const signed: { payer: PrivateKeyAccount; payment: Signed }[] = []
    const payers = chain.payers.slice(5, 5 + doors.length)
    const moneyOfAll = () => Promise.all(payers.map(moneyOf))
    const before = await moneyOfAll()
    for (const [index, [, ask]] of doors.entries()) {
      const payer = payers[index]!
      const { required, pay } = await ask(request)
      const payment = await createBuyer(payer)(required)
      expectUnusable(await pay(payment), sources)
      expectUnusable(await (await ask(request)).pay(payment), sources)
      signed.push({ payer, payment })
    }
    const claimsOfAll = () => signed.map(({ payment }) => claimsOf(payment))
    const claims = claimsOfAll()
    expect(claims).toEqual(signed.map(() => [canceled(price), canceled(price)]))

    const said = () => gateway.process.stdout() + gateway.process.stderr()
    await gateway.stop('SIGKILL')
    const kept = await everythingIn(world.dataDir)
    for (const { payment } of signed) {
      const { signature, authorization } = partsOf(payment)
      const hex = signature.slice(2)
      // The claim names the authorization: its signature would be found if it were there.
      expect(kept.includes(authorization.nonce)).toBe(true)
      for (const form of [hex, Buffer.from(hex, 'hex'), toHeader(payment)])
        expect(kept.includes(form)).toBe(false)
      expect(said()).not.toContain(hex)
    }

    gateway = await startGatewayProcess(world)
    await chain.mine(5)
    expect(await moneyOfAll()).toEqual(before)
    expect(claimsOfAll()).toEqual(claims)
    for (const { payer, payment } of signed) {
      expect(await isUsed(payment)).toBe(false)
      // The token refuses this for an authorization that was used.
      await chain.cancelAuthorization(payer, partsOf(payment).authorization.nonce)
    }
    expect(await moneyOfAll()).toEqual(before)
  })
})

/** The bytes of every file in a folder, one after the other. */
async function everythingIn(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Buffer.concat(await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name)))))
}
