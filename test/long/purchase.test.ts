// Credits bought with x402 on a real chain: an agent that ran dry pays the offer of its 402 and goes on; nothing that is
// replayed, copied or reused buys twice.
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PaymentRequired, type PaymentRequirements } from '../../schemas/x402.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'

interface Offer {
  readonly accepts: readonly PaymentRequirements[]
  readonly resource: { readonly url: string }
  readonly request: { readonly url: string; readonly body: { credits: number; account_reference: string } }
}

let chain: TestChain
let nextPayer = 0
beforeAll(async () => {
  chain = await startTestChain(8453)
})
afterAll(() => chain?.close())
/** One that nobody else in this file pays with, as long as there are some. */
const payer = (): PrivateKeyAccount => chain.payers[nextPayer++ % chain.payers.length]!

describe.each(ENGINES)('credits by x402 on %s', (engine) => {
  let gw: TestGateway
  beforeEach(async () => {
    gw = await startTestGateway({ engine, env: { ...chain.env, GATEWAY_SERVICE_KEY_CREDITS: '0' } })
  })
  afterEach(() => gw?.close())

  const stockFetch = (account: PrivateKeyAccount) =>
    wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(account)))

  async function offerFor(capability: string): Promise<Offer> {
    const refused = await gw.fetch(capability, { url: gw.url('/') })
    expect(refused.status).toBe(402)
    return refused.body.offer
  }

  async function post(body: unknown, payment?: unknown, token = '') {
    const response = await fetch(`${gw.baseUrl}/v1/credits/purchase`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(payment === undefined ? {} : { 'payment-signature': toHeader(payment) }),
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    // Tests read what they expect out of it; a wrong shape fails them.
    // oxlint-disable-next-line typescript/no-explicit-any
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as any }
  }

  async function ledgerAgrees(): Promise<{ kind: string; amount: number; reference: string }[]> {
    const { balance, ledger } = (await gw.rest('GET', '/v1/credits?limit=100')).body
    const sum = ledger.reduce((total: number, { amount }: { amount: number }) => total + amount, 0)
    expect(sum).toBe(balance)
    return ledger
  }

  it('lets an agent with a funded wallet pay the offer of its 402 and go on, without a person', async () => {
    const { capability } = await gw.grant()
    const refused = await gw.fetch(capability, { url: gw.url('/') })
    expect(refused.status).toBe(402)
    // A stock client would pay for the address that refused.
    expect(refused.headers.get('payment-required')).toBeNull()
    expect(refused.body).toMatchObject({ code: 'credits_required', balance: 0 })
    expect(refused.body.x402Version).toBeUndefined()
    const { offer } = refused.body as { offer: Offer }
    expect(PaymentRequired.safeParse(offer).success).toBe(true)
    expect(refused.body.accepts).toEqual(offer.accepts)
    expect(gw.upstream.requests).toHaveLength(0)

    const account = payer()
    const before = await chain.usdcOf(account.address)
    const bought = await stockFetch(account)(offer.request.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(offer.request.body),
    })
    const body = (await bought.json()) as Record<string, unknown>
    expect(bought.status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      credits_granted: 100,
      account_id: null,
      claim_id: expect.stringMatching(/^clm_/),
      cost: { amount_atomic: '100000', amount: '0.100000' },
      receipt: { receipt_id: expect.stringMatching(/^rcp_/), jws: expect.any(String) },
    })
    expect(await chain.usdcOf(account.address)).toBe(before - 100_000n)

    expect((await gw.fetch(capability, { url: gw.url('/') })).status).toBe(200)
    expect(await gw.balance()).toBe(99)
    const ledger = await ledgerAgrees()
    expect(ledger.map(({ kind, amount, reference }) => [kind, amount, reference])).toEqual([
      ['egress', -1, expect.any(String)],
      ['purchase', 100, body['claim_id']],
    ])
  })

  it('takes a payment for exactly the offer, without asking for the price again', async () => {
    const { capability } = await gw.grant()
    const offer = await offerFor(capability)
    const payment = await signPayment({
      account: payer(),
      requirements: offer.accepts[0]!,
      resource: offer.resource,
    })
    const bought = await post(offer.request.body, payment)
    expect(bought.status, bought.text).toBe(200)
    expect(await gw.balance()).toBe(100)
  })

  it('grants nothing for a replayed payment, and for another payment with a used reference', async () => {
    const { capability } = await gw.grant()
    const offer = await offerFor(capability)
    const account = payer()
    const sign = () => signPayment({ account, requirements: offer.accepts[0]!, resource: offer.resource })
    const payment = await sign()
    const bought = await post(offer.request.body, payment)
    expect(bought.status).toBe(200)
    const after = await chain.usdcOf(account.address)

    const replayed = await post(offer.request.body, payment)
    expect(replayed).toMatchObject({
      status: 409,
      body: { code: 'payment_claimed', claim_id: bought.body.claim_id },
    })
    const other = await post({ credits: 500 }, payment, gw.operatorKey)
    expect(other.status).toBeGreaterThanOrEqual(400)

    const again = await post(offer.request.body, await sign())
    expect(again).toMatchObject({
      status: 409,
      body: { code: 'state_conflict', claim_id: bought.body.claim_id, state: 'settled' },
    })
    expect(await chain.usdcOf(account.address)).toBe(after)
    expect(await gw.balance()).toBe(100)
    expect(await ledgerAgrees()).toHaveLength(1)
  })

  it('leaves a payment that was refused for its reference good for another purchase', async () => {
    const { capability } = await gw.grant()
    const offer = await offerFor(capability)
    const account = payer()
    const sign = () => signPayment({ account, requirements: offer.accepts[0]! })
    expect((await post(offer.request.body, await sign())).status).toBe(200)
    const payment = await sign()
    expect((await post(offer.request.body, payment)).status).toBe(409)
    const bought = await post({ credits: 100 }, payment, capability)
    expect(bought.status, bought.text).toBe(200)
    expect(await gw.balance()).toBe(200)
  })

  it('grants once for parallel copies of a payment, and for parallel payments of one reference', async () => {
    const { capability } = await gw.grant()
    const [offer, second] = [await offerFor(capability), await offerFor(capability)]
    const account = payer()
    const sign = () => signPayment({ account, requirements: offer.accepts[0]! })
    const transfers = await chain.transfersTo(chain.payTo)
    const payment = await sign()
    const copies = await Promise.all(Array.from({ length: 8 }, () => post(offer.request.body, payment)))
    expect(count(copies)).toEqual({ 200: 1, 409: 7 })

    const payments = await Promise.all(Array.from({ length: 4 }, sign))
    const answers = await Promise.all(payments.map((one) => post(second.request.body, one)))
    expect(count(answers)).toEqual({ 200: 1, 409: 3 })
    expect(await chain.transfersTo(chain.payTo)).toBe(transfers + 2)
    const ledger = await ledgerAgrees()
    expect(ledger.filter(({ kind }) => kind === 'purchase').map(({ amount }) => amount)).toEqual([100, 100])
  })

  it('sells to the account of a service key or capability, and tells that account its name', async () => {
    const { capability } = await gw.grant()
    const requirements = requirementsOf(chain, 7000n)
    const byKey = await post(
      { credits: 7 },
      await signPayment({ account: payer(), requirements }),
      gw.operatorKey,
    )
    expect(byKey.status, byKey.text).toBe(200)
    const { account_id } = (await gw.rest('GET', '/v1/credits')).body
    expect(byKey.body.account_id).toBe(account_id)
    const byCapability = await post(
      { credits: 7 },
      await signPayment({ account: payer(), requirements }),
      capability,
    )
    expect(byCapability.body).toMatchObject({ credits_granted: 7, account_id })
    expect(await gw.balance()).toBe(14)
  })

  /** One JSON-RPC call of a door. */
  async function rpc(path: string, method: string, params: unknown, token = '') {
    const response = await fetch(gw.baseUrl + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(path === '/mcp' ? { 'mcp-protocol-version': '2025-11-25' } : { 'a2a-version': '1.0' }),
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    // Tests read what they expect out of it; a wrong shape fails them.
    // oxlint-disable-next-line typescript/no-explicit-any
    return ((await response.json()) as any).result
  }

  it('carries the offer over MCP, where it is paid too', async () => {
    const { capability } = await gw.grant()
    const call = (name: string, args: unknown, meta: object = {}, token = '') =>
      rpc('/mcp', 'tools/call', { name, arguments: args, _meta: meta }, token)
    const refused = await call('gateway.egress.fetch', { url: gw.url('/'), method: 'GET' }, {}, capability)
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'credits_required' } })
    const { tool, body } = refused.structuredContent.offer.request
    const challenge = await call(tool, body)
    const { accepts, resource } = PaymentRequired.parse(challenge.structuredContent)
    const payment = await signPayment({ account: payer(), requirements: accepts[0]!, resource })
    const bought = await call(tool, body, { 'x402/payment': payment })
    expect(bought.structuredContent).toMatchObject({ credits_granted: 100, account_id: null })
    expect(bought._meta['x402/payment-response']).toMatchObject({ success: true })
    expect(await gw.balance()).toBe(100)
  })

  it('carries the offer over A2A, where it is paid too', async () => {
    const { capability } = await gw.grant()
    const send = (message: object, token = '') =>
      rpc(
        '/a2a',
        'SendMessage',
        { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } },
        token,
      )
    const data = (skill: string, input: unknown) => ({ parts: [{ data: { skill, input } }] })
    const refused = await send(data('egress-fetch', { url: gw.url('/'), method: 'GET' }), capability)
    const problem = refused.task.status.message.parts.find((part: { data?: unknown }) => part.data).data
    expect(problem).toMatchObject({ code: 'credits_required' })
    const asked = await send(data('credits-purchase', problem.offer.request.body))
    const { accepts, resource } = PaymentRequired.parse(
      asked.task.status.message.metadata['x402.payment.required'],
    )
    const payment = await signPayment({ account: payer(), requirements: accepts[0]!, resource })
    const paid = await send({
      taskId: asked.task.id,
      parts: [{ text: 'Here is the payment.' }],
      metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment },
    })
    expect(paid.task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(paid.task.artifacts[0].parts[0].data).toMatchObject({ credits_granted: 100 })
    expect(await gw.balance()).toBe(100)
  })

  it.each<[string, object, number, string]>([
    ['nobody', { credits: 1 }, 401, 'key_required'],
    ['a reference of nobody', { credits: 1, account_reference: 'x.y.z' }, 400, 'input_invalid'],
    ['no credits', { credits: 0 }, 400, 'input_invalid'],
    ['more than may be', { credits: 100_001 }, 400, 'input_invalid'],
    ['half a credit', { credits: 0.5 }, 400, 'input_wrong_type'],
  ])('asks no price of %s', async (_, body, status, code) => {
    const answer = await post(body)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code })
    expect(answer.headers.get('payment-required')).toBeNull()
  })

  it('refuses a payment of less than the offer, and the reference stays good', async () => {
    const { capability } = await gw.grant()
    const offer = await offerFor(capability)
    const account = payer()
    const payment = await signPayment({
      account,
      requirements: offer.accepts[0]!,
      overrides: { value: '99999' },
    })
    expect((await post(offer.request.body, payment)).status).toBe(402)
    expect(await gw.balance()).toBe(0)
    const bought = await post(
      offer.request.body,
      await signPayment({ account, requirements: offer.accepts[0]! }),
    )
    expect(bought.status, bought.text).toBe(200)
  })
})

const count = (answers: readonly { status: number }[]) =>
  answers.reduce<Record<number, number>>(
    (counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }),
    {},
  )
