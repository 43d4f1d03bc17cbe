// A facilitator that says no, late or nothing, in front of a real chain and a buyer of ours: the chain decides at once whether
// the buyer may pay again, and money that moves all the same is never lost.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import {
  type FacilitatorBehaviour,
  type FacilitatorServer,
  reply,
  startFacilitator,
} from '../support/facilitator-server.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { unguessableIdentifier } from '../support/identifiers.ts'
import { createPaidTools, get, PAID, post } from '../support/paid-tools.ts'
import { exactKind } from '../support/payment-fakes.ts'

const NETWORK = 'eip155:84532'
const paid = createPaidTools()

let chain: TestChain
let facilitator: FacilitatorServer
let gw: TestGateway
beforeAll(async () => {
  chain = await startTestChain(84532)
  facilitator = await startFacilitator({ kinds: [exactKind(NETWORK)] })
})
beforeEach(async () => {
  facilitator.calls.splice(0)
  paid.runs.splice(0)
  gw = await startTestGateway({
    env: {
      GATEWAY_RPC_84532: chain.rpcUrl,
      GATEWAY_PAY_TO: chain.payTo,
      GATEWAY_FACILITATORS: facilitator.url,
    },
    tools: paid.tools,
  })
})
afterEach(() => gw.close())
afterAll(async () => {
  await facilitator.close()
  await chain.close()
})

const sign = (payer: number) =>
  signPayment({
    account: chain.payers[payer]!,
    requirements: requirementsOf(chain),
    extensions: {
      'payment-identifier': { info: { required: false, id: unguessableIdentifier() }, schema: {} },
    },
  })
const buy = (payload: unknown) =>
  post(gw.baseUrl + PAID, { text: 'hello' }, { 'payment-signature': toHeader(payload) })
/** As its owner: a random identifier in the payment is not on the chain. */
const read = (claimId: string, payload: unknown) =>
  get(`${gw.baseUrl}/v1/payments/${claimId}`, { 'payment-signature': toHeader(payload) })
const declined = (errorReason: string) =>
  reply({ success: false, errorReason, transaction: '', network: NETWORK })
const settleCalls = () => facilitator.to('/settle').length
const responseOf = (headers: Headers) =>
  JSON.parse(Buffer.from(headers.get('payment-response') ?? 'e30=', 'base64').toString())

/** The payer's money is gone between the check and the settlement. */
const emptied =
  (payer: number, reason = 'insufficient_funds'): FacilitatorBehaviour =>
  async (call, res) => {
    if (settleCalls() === 1) await chain.drain(chain.payers[payer]!)
    return declined(reason)(call, res)
  }

describe('a payer whose money is gone by the time of the settlement', () => {
  it.each([
    ['insufficient_funds', 0],
    // Whatever the facilitator calls it: the chain says why.
    ['invalid_exact_evm_transaction_failed', 1],
    ['unexpected_settle_error', 2],
  ])('is told at once to pay again, where the facilitator says %s', async (reason, payer) => {
    facilitator.onSettle = emptied(payer, reason)
    const payload = await sign(payer)
    const { status, headers, body, required } = await buy(payload)
    expect([status, body.code, body.invalid_reason], body.detail).toEqual([
      402,
      'settlement_failed',
      'insufficient_funds',
    ])
    expect(body.text).toBeUndefined()
    expect(required!.accepts).toEqual([requirementsOf(chain)])
    expect(responseOf(headers)).toMatchObject({
      success: false,
      errorReason: 'insufficient_funds',
      transaction: '',
      network: NETWORK,
    })
    expect(body.detail).toContain('Should this one be settled after all')
    expect(settleCalls()).toBe(1)

    // Money again, and a new payment: it buys, and the old one buys nothing more.
    await chain.fund(chain.payers[payer]!.address, 1000n)
    facilitator.onSettle = async (call, res) =>
      reply({ success: true, transaction: await chain.preempt(call.body.paymentPayload), network: NETWORK })(
        call,
        res,
      )
    expect((await buy(await sign(payer))).status).toBe(200)
    expect((await buy(payload)).status).toBe(402)
  })

  it('gets what it bought, with a receipt, when the declined payment is settled late all the same', async () => {
    facilitator.onSettle = emptied(3)
    const payload = await sign(3)
    const { status, body } = await buy(payload)
    expect(status).toBe(402)
    expect((await read(body.claim_id, payload)).body).toMatchObject({
      state: 'failed',
      reason: 'insufficient_funds',
      result: null,
      receipt: null,
      finished_at: null,
    })
    // The facilitator kept it, and submits it when there is money again.
    await chain.fund(chain.payers[3]!.address, 1000n)
    const transaction = await chain.preempt(payload)
    const late = (await read(body.claim_id, payload)).body
    expect(late).toMatchObject({ state: 'settled', transaction, reason: null, result: { text: 'hello' } })
    const receipt = (await gw.rest('GET', `/v1/receipts/${late.receipt.receipt_id}`, undefined, '')).body
    expect(receipt.claims).toMatchObject({ claim_id: body.claim_id, transaction })
    expect(paid.runs).toHaveLength(1)
  })
})

describe('a facilitator that declines what the chain would take', () => {
  it('gets it once more, and may be right the second time', async () => {
    facilitator.onSettle = async (call, res) => {
      if (settleCalls() === 1) return declined('insufficient_funds')(call, res)
      const transaction = await chain.preempt(call.body.paymentPayload)
      return reply({ success: true, transaction, network: NETWORK })(call, res)
    }
    const { status, body } = await buy(await sign(4))
    expect([status, body.detail]).toEqual([200, undefined])
    expect(settleCalls()).toBe(2)
  })

  it('may settle it at any moment, so nobody is told to pay again', async () => {
    facilitator.onSettle = declined('insufficient_funds')
    const payload = await sign(5)
    const { status, body, required } = await buy(payload)
    expect([status, body.code, required]).toEqual([503, 'settlement_unknown', undefined])
    expect(body.detail).toContain('Do not pay again')
    expect(settleCalls()).toBe(2)
    const transaction = await chain.preempt(payload)
    expect((await read(body.claim_id, payload)).body).toMatchObject({ state: 'settled', transaction })
  })

  it('and settled it both times settled it once', async () => {
    const before = await chain.transfersTo(chain.payTo)
    facilitator.onSettle = async (call, res) => {
      await chain.preempt(call.body.paymentPayload).catch(() => undefined)
      return declined('unexpected_settle_error')(call, res)
    }
    expect((await buy(await sign(6))).status).toBe(200)
    expect((await chain.transfersTo(chain.payTo)) - before).toBe(1)
  })
})

describe('a transfer that must be two blocks deep', () => {
  it('buys when the second block is there, and not before', async () => {
    await gw.close()
    gw = await startTestGateway({
      env: {
        GATEWAY_RPC_84532: chain.rpcUrl,
        GATEWAY_PAY_TO: chain.payTo,
        GATEWAY_FACILITATORS: facilitator.url,
        GATEWAY_CONFIRMATIONS: '84532:2',
      },
      tools: paid.tools,
    })
    const events: string[] = []
    const settled = Promise.withResolvers<void>()
    facilitator.onSettle = async (call, res) => {
      const transaction = await chain.preempt(call.body.paymentPayload)
      await reply({ success: true, transaction, network: NETWORK })(call, res)
      settled.resolve()
    }
    const bought = sign(8)
      .then(buy)
      .then((answer) => {
        events.push('answered')
        return answer
      })
    await settled.promise
    // Long enough for an answer that does not wait.
    await new Promise((resolve) => setTimeout(resolve, 500))
    events.push('mined')
    await chain.mine()
    expect((await bought).status).toBe(200)
    expect(events).toEqual(['mined', 'answered'])
  })
})

describe('a facilitator that hangs', () => {
  it('keeps nobody waiting once the chain shows the transfer, and its late answer changes nothing', async () => {
    const { promise: answering, resolve: answerNow } = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    facilitator.onSettle = async (call, res) => {
      await chain.preempt(call.body.paymentPayload)
      await answering
      await declined('insufficient_funds')(call, res)
      answered.resolve()
    }
    const payload = await sign(7)
    // The facilitator answers after the buyer has what it bought, or never.
    const { status, body, headers } = await buy(payload)
    expect([status, body.text]).toEqual([200, 'hello'])
    const { transaction } = responseOf(headers)
    expect(transaction).toMatch(/^0x[0-9a-f]{64}$/)
    answerNow()
    await answered.promise
    const { claims } = (await gw.rest('GET', `/v1/receipts/${body.receipt.receipt_id}`, undefined, '')).body
    expect((await read(claims.claim_id, payload)).body).toMatchObject({ state: 'settled', transaction })
    expect(settleCalls()).toBe(1)
  })
})
