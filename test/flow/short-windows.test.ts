// Payments that end before a transfer could be in a block: nobody works for them and no gas is spent, on real chains.
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { facilitatorSettle } from '../../tools/facilitator-settle.ts'
import { inclusionSeconds, settleSeconds } from '../../src/payments/inclusion.ts'
import {
  type ExactPayload,
  requirementsOf,
  signPayment,
  startTestChain,
  type TestChain,
  toHeader,
} from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createPaidTools, PAID, post } from '../support/paid-tools.ts'

/** A tool that says nothing of how long it takes. */
const WORK_SECONDS = 30

describe.each([
  ['of two seconds', 84532],
  ['of twelve seconds', 1],
])('on a chain with blocks %s', (_blocks, chainId) => {
  const network = `eip155:${chainId}`
  const paid = createPaidTools(network)
  let chain: TestChain
  let gateway: TestGateway
  /** Milliseconds by which the gateway's clock is ahead. */
  let ahead = 0
  beforeAll(async () => {
    chain = await startTestChain(chainId)
    const tools = [...paid.tools, facilitatorSettle]
    const env = { ...chain.env, GATEWAY_PAYER_MAX_OPEN: '2' }
    gateway = await startTestGateway({ env, tools, now: () => Date.now() + ahead })
    // Its accounts are open, and its node has answered.
    await vi.waitFor(async () => expect((await buy(300, 9)).status).toBe(200), {
      timeout: 60_000,
      interval: 500,
    })
  })
  afterEach(() => {
    paid.before = undefined
    ahead = 0
  })
  afterAll(async () => {
    await gateway?.close()
    await chain?.close()
  })

  const sign = (seconds: number, payer = 0) =>
    signPayment({
      account: chain.payers[payer]!,
      requirements: requirementsOf(chain),
      overrides: { validBefore: String(Math.floor((Date.now() + ahead) / 1000) + seconds) },
    })
  const buy = async (seconds: number, payer = 0) =>
    post(
      gateway.baseUrl + PAID,
      { text: 'hello' },
      { 'payment-signature': toHeader(await sign(seconds, payer)) },
    )
  async function settle(seconds: number, payer = 0) {
    const paymentPayload = await sign(seconds, payer)
    const paymentRequirements = requirementsOf(chain)
    return post(`${gateway.baseUrl}/settle`, { x402Version: 2, paymentPayload, paymentRequirements })
  }
  /** Transactions of the operator, good or reverted. */
  const broadcasts = async () =>
    Number(
      await chain.rpc('eth_getTransactionCount', [
        privateKeyToAccount(chain.settlerKeys[0]!).address,
        'pending',
      ]),
    )

  it('a payment that may end before the work does is not worked on', async () => {
    const before = [paid.runs.length, await broadcasts()]
    const answers = await Promise.all([7, WORK_SECONDS].map((seconds, i) => buy(seconds, i)))
    for (const { status, body } of answers) expect([status, body.check]).toEqual([402, 'window'])
    expect([paid.runs.length, await broadcasts()]).toEqual(before)
  })

  it('one that a stock client signs as it was told is', async () => {
    expect((await buy(requirementsOf(chain).maxTimeoutSeconds)).status).toBe(200)
  })

  /** Buys with a payment that has too little time left once the work is done. */
  async function buyLate(payer: number) {
    const seconds = WORK_SECONDS + settleSeconds(network) + 10
    paid.before = async () => void (ahead += (seconds - inclusionSeconds(network) + 1) * 1000)
    const answer = await buy(seconds, payer)
    paid.before = undefined
    return answer
  }

  it('one that the work took too long for is not sent, and costs no gas', async () => {
    const before = [paid.runs.length, await broadcasts()]
    const { status, body } = await buyLate(2)
    expect([status, body.code, body.invalid_reason]).toEqual([
      402,
      'settlement_failed',
      'invalid_exact_evm_payload_authorization_valid_before',
    ])
    expect(body.detail).toContain('so it was not sent')
    expect([paid.runs.length - 1, await broadcasts()]).toEqual(before)
  })

  it('that is not held against its payer, however often', async () => {
    for (let i = 0; i < 3; i++) await buyLate(4)
    expect(await Promise.all([buy(300, 4), buy(300, 4)].map(async (one) => (await one).status))).toEqual([
      200, 200,
    ])
  })

  /** Buys, and takes the payment back while it is worked for. */
  async function buyAndCancel(payer: number) {
    const payment = await sign(300, payer)
    const { nonce } = (payment.payload as unknown as ExactPayload).authorization
    paid.before = () => chain.cancelAuthorization(chain.payers[payer]!, nonce)
    const answer = await post(
      gateway.baseUrl + PAID,
      { text: 'hello' },
      { 'payment-signature': toHeader(payment) },
    )
    paid.before = undefined
    expect(answer.status).toBe(402)
  }
  /** Two of one payer, the second while the first is worked for. */
  async function buyBeside(payer: number) {
    const [isWorking, work] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    paid.before = () => (isWorking.resolve(), work.promise)
    const first = buy(300, payer)
    await Promise.race([isWorking.promise, first])
    const second = buy(300, payer)
    // A refused one does not wait for the work.
    await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 2_000))])
    work.resolve()
    return Promise.all([first, second])
  }

  it('nor is a single one that its payer took back', async () => {
    await buyAndCancel(7)
    expect((await buyBeside(7)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('after a second one fewer are worked on at once, until one is settled', async () => {
    for (let i = 0; i < 2; i++) await buyAndCancel(8)
    const [first, second] = await buyBeside(8)
    expect([first.status, second.status, second.body.detail]).toEqual([
      200,
      429,
      expect.stringContaining('has 1 payments under way'),
    ])
    expect((await buyBeside(8)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('a payer of three of them in a row waits, and is not worked for meanwhile', async () => {
    for (let i = 0; i < 3; i++) await buyAndCancel(5)
    const worked = paid.runs.length
    const { status, body } = await buy(300, 5)
    expect([status, body.detail]).toEqual([429, expect.stringContaining('could not be settled')])
    expect(paid.runs.length).toBe(worked)
    expect((await buy(300, 6)).status).toBe(200)
    ahead += 6_000
    expect((await buy(300, 5)).status).toBe(200)
  })

  it('/settle sends none that would be mined too late', async () => {
    const before = await broadcasts()
    const short = await settle(settleSeconds(network) - 1, 3)
    expect([short.status, short.body.check]).toEqual([400, 'window'])
    expect(await broadcasts()).toBe(before)
    expect((await settle(settleSeconds(network) + 20, 3)).body).toMatchObject({ success: true })
  })
})
