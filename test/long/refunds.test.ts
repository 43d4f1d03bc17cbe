// Refunds as real transfers on a real chain: to the payer, as much as is said and never more than was paid, by nobody but the
// operator; and what a payer spent.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { decodeJws, JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { facilitatorSettle } from '../../tools/facilitator-settle.ts'
import { paymentsRefund } from '../../tools/payments-refund.ts'
import { paymentsRefunds } from '../../tools/payments-refunds.ts'
import { paymentsSpend } from '../../tools/payments-spend.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import {
  createWorld,
  type Engine,
  startTestGateway,
  type TestGateway,
  type World,
} from '../support/gateway.ts'
import { runCli } from '../support/cli.ts'
import { createPaidTools, get, PAID, post } from '../support/paid-tools.ts'
import { queryOf, times } from '../support/store.ts'

const KEY = `0x${0xeefd_0000_0001n.toString(16).padStart(64, '0')}` as const
const HELD = 1_000_000n
const refunder = privateKeyToAccount(KEY)

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(84532)))
afterAll(() => chain.close())

describe.each<Engine>(['sqlite', 'postgres'])('a refund (%s)', (engine) => {
  const paid = createPaidTools()
  const tools = [...paid.tools, paymentsRefund, paymentsRefunds, paymentsSpend, facilitatorSettle]
  let world: World
  let gateway: TestGateway
  beforeAll(async () => {
    world = await createWorld({ engine, env: chain.env })
    const file = join(world.dataDir, 'refund.key')
    await writeFile(file, `${KEY}\n`, { mode: 0o600 })
    world = { ...world, env: { ...world.env, GATEWAY_REFUND_KEY_FILE: file } }
    await chain.fund(refunder.address, HELD)
    gateway = await startTestGateway({ world, tools })
  })
  afterAll(async () => {
    await gateway.close()
    await world.close()
  })
  afterEach(() => chain.setAutomine(true))

  let wallets = 0
  async function buy() {
    const seed = 0xbeef_0000_0000n + (engine === 'sqlite' ? 0n : 0x100n) + BigInt(++wallets)
    const account = privateKeyToAccount(`0x${seed.toString(16).padStart(64, '0')}`)
    await chain.fund(account.address, 1000n)
    const payment = toHeader(await signPayment({ account, requirements: requirementsOf(chain) }))
    const answer = await post(gateway.baseUrl + PAID, { text: 'hello' }, { 'payment-signature': payment })
    expect(answer.status).toBe(200)
    expect(await chain.usdcOf(account.address)).toBe(0n)
    return { account, payment, claimId: await claimOf(account.address) }
  }
  const claimOf = async (payer: string) => {
    const query = queryOf(loadConfig(world.env))
    const [row] = await query(`SELECT id FROM payment_claims WHERE payer = '${payer.toLowerCase()}'`)
    return String(row!['id'])
  }
  let references = 0
  const refund = (claimId: string, more: Record<string, unknown> = {}) =>
    gateway.rest(
      'POST',
      `/v1/payments/${claimId}/refunds`,
      { reason: 'the page was empty', reference: `ticket ${++references}`, ...more },
      world.operatorKey,
    )

  it('tells whoever has the payment alone that money went back, and not what was bought', async () => {
    const { payment, claimId } = await buy()
    const { body: sent } = await refund(claimId)
    expect(decodeJws(sent.receipt.jws).payload).toMatchObject({ tool: expect.any(String) })
    // All that is in this payment stands on the chain.
    const shown = await get(`${gateway.baseUrl}/v1/payments/${claimId}`, { 'payment-signature': payment })
    expect(shown.body).toMatchObject({ state: 'settled', tool: null, receipt: null, refunded_atomic: '1000' })
    expect(shown.body.refunds).toEqual([
      expect.objectContaining({ state: 'settled', transaction: sent.transaction, receipt: null }),
    ])
    expect(JSON.stringify(shown.body)).not.toContain(sent.receipt.receipt_id)
  })

  it('moves the money to the payer, with a signed receipt, and the claim shows it', async () => {
    const { account, payment, claimId } = await buy()
    const before = await chain.usdcOf(refunder.address)
    const answer = await refund(claimId, { amount_atomic: '400' })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        state: 'settled',
        claim_id: claimId,
        amount_atomic: '400',
        amount: '0.000400',
        to: account.address.toLowerCase(),
        from: refunder.address.toLowerCase(),
        failure: null,
        repeated: false,
      },
    })
    expect(await chain.usdcOf(account.address)).toBe(400n)
    expect(await chain.usdcOf(refunder.address)).toBe(before - 400n)
    const mined = (await chain.rpc('eth_getTransactionReceipt', [answer.body.transaction])) as {
      status: string
      from: string
    }
    expect(mined).toMatchObject({ status: '0x1' })
    // The settler pays for the gas.
    expect(mined.from).not.toBe(refunder.address.toLowerCase())
    expect(await chain.rpc('eth_getBalance', [refunder.address, 'latest'])).toBe('0x0')
    const { body: keys } = await get(`${gateway.baseUrl}/.well-known/gateway-egress-key.json`)
    expect(await verifyJws(answer.body.receipt.jws, keys, JWS_TYPES.receipt)).toMatchObject({
      ok: true,
      payload: {
        kind: 'refund',
        claim_id: claimId,
        refund_id: answer.body.refund_id,
        amount: '400',
        payer: account.address.toLowerCase(),
        transaction: answer.body.transaction,
        revenue: false,
        environment: 'sandbox',
      },
    })
    expect(answer.body.receipt.jws).not.toContain('empty')

    expect(await refund(claimId)).toMatchObject({
      status: 201,
      body: { state: 'settled', amount_atomic: '600' },
    })
    expect(await chain.usdcOf(account.address)).toBe(1000n)
    const shown = await get(`${gateway.baseUrl}/v1/payments/${claimId}`, { 'payment-signature': payment })
    expect(shown.body).toMatchObject({
      state: 'settled',
      refunded_atomic: '1000',
      refunds: [
        { state: 'settled', amount_atomic: '400', transaction: answer.body.transaction },
        { state: 'settled', amount_atomic: '600' },
      ],
    })
    // What the operator wrote down is the operator's.
    expect(shown.text).not.toMatch(/the page was empty|ticket/)
    const listed = await gateway.rest('GET', `/v1/payments/${claimId}/refunds`, undefined, world.operatorKey)
    expect(listed.body.refunds).toMatchObject([{ reason: 'the page was empty' }, { amount_atomic: '600' }])
  })

  it('of 64 asked for at once pays what was paid, once', async () => {
    const { account, claimId } = await buy()
    const answers = await Promise.all(times(64, () => refund(claimId, { amount_atomic: '300' })))
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([201, 201, 201, ...Array<number>(61).fill(409)])
    await expect.poll(() => chain.usdcOf(account.address)).toBe(900n)
    expect(await chain.transfersTo(account.address)).toBe(3)
  })

  it('with the same reference is sent once', async () => {
    const { account, claimId } = await buy()
    const once = { reference: 'once', amount_atomic: '500' }
    const answers = await Promise.all(times(8, () => refund(claimId, once)))
    expect(answers.filter(({ body }) => body.repeated === false)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.refund_id)).size).toBe(1)
    expect(await chain.usdcOf(account.address)).toBe(500n)
    expect(await refund(claimId, { ...once, amount_atomic: '501' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('another reference') },
    })
  })

  it.each([
    ['more than was paid', { amount_atomic: '1001' }, 409, 'Ask for 1 to 1000'],
    ['nothing', { amount_atomic: '0' }, 400, ''],
    ['no reason', { reason: ' ' }, 400, ''],
  ])('is refused for %s, in words', async (_what, more, status, words) => {
    const { account, claimId } = await buy()
    const answer = await refund(claimId, more)
    expect(answer.status).toBe(status)
    expect(answer.body.detail).toContain(words)
    expect(await chain.usdcOf(account.address)).toBe(0n)
  })

  it('is refused for a claim of nobody, and to whoever is not the operator', async () => {
    const { claimId } = await buy()
    expect(await refund('clm_none')).toMatchObject({ status: 404, body: { code: 'payment_not_found' } })
    const unsigned = await post(`${gateway.baseUrl}/v1/payments/${claimId}/refunds`, {
      reason: 'please',
      reference: 'mine',
    })
    expect(unsigned).toMatchObject({ status: 401, body: { code: 'key_required' } })
  })

  it('is refused while the refund account holds too little, and says which account needs how much', async () => {
    const { claimId } = await buy()
    const snapshot = await chain.snapshot()
    await chain.drain(refunder.address)
    const answer = await refund(claimId)
    expect(answer).toMatchObject({ status: 409, body: { code: 'state_conflict' } })
    expect(answer.body.detail).toContain(refunder.address.toLowerCase())
    expect(answer.body.detail).toContain('1000')
    await chain.revert(snapshot)
    expect(await refund(claimId)).toMatchObject({ status: 201, body: { state: 'settled' } })
  })

  it('is refused for a payment to another seller', async () => {
    const seller = { ...requirementsOf(chain), payTo: '0x0000000000000000000000000000000000C0FFEE' }
    const account = chain.payers[engine === 'sqlite' ? 0 : 1]!
    const body = {
      x402Version: 2,
      paymentPayload: await signPayment({ account, requirements: seller }),
      paymentRequirements: seller,
    }
    expect(await post(`${gateway.baseUrl}/settle`, body)).toMatchObject({ status: 200 })
    const answer = await refund(await claimOf(account.address))
    expect(answer).toMatchObject({ status: 409 })
    expect(answer.body.detail).toContain('another seller')
  })

  it('is sent for what reached the account of this gateway without a tool', async () => {
    const seed = 0xbeef_0000_0000n + (engine === 'sqlite' ? 0n : 0x100n) + BigInt(++wallets)
    const account = privateKeyToAccount(`0x${seed.toString(16).padStart(64, '0')}`)
    await chain.fund(account.address, 1000n)
    const requirements = requirementsOf(chain)
    const paymentPayload = await signPayment({ account, requirements })
    const body = { x402Version: 2, paymentPayload, paymentRequirements: requirements }
    expect(await post(`${gateway.baseUrl}/settle`, body)).toMatchObject({ status: 200 })
    expect(await refund(await claimOf(account.address))).toMatchObject({
      status: 201,
      body: { state: 'settled', amount_atomic: '1000' },
    })
    expect(await chain.usdcOf(account.address)).toBe(1000n)
  })

  it('is asked for, listed and reported on the command line', async () => {
    const { account, claimId } = await buy()
    const cli = async (...args: string[]) => {
      const env = { GATEWAY_BASE_URL: gateway.baseUrl, GATEWAY_OPERATOR_KEY: world.operatorKey }
      return runCli(['payments', ...args], env)
    }
    const part = [
      'refund',
      claimId,
      '--amount-atomic',
      '100',
      '--reason',
      'one in ten',
      '--reference',
      'cli 1',
    ]
    for (const repeated of [false, true]) {
      const { code, stdout } = await cli(...part, '--json')
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ state: 'settled', amount_atomic: '100', repeated })
    }
    expect(await chain.usdcOf(account.address)).toBe(100n)
    expect((await cli('refund', claimId, '--reason', 'the rest')).code).toBe(0)
    expect(await chain.usdcOf(account.address)).toBe(1000n)
    expect((await cli('refunds', claimId)).stdout).toMatch(
      /settled\s+100\s+cli 1\s+one in ten[^]*settled\s+900/,
    )
    expect((await cli('spend', account.address)).stdout).toMatch(
      /gateway\.paid\.say\s+1\s+1000\s+1000\s+0\.000000/,
    )
    const refused = await cli('refund', claimId, '--reason', 'more')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('refunded already')])
    expect((await cli('refund', claimId, '--reason', 'more', '--amount-atomic', '0.01')).code).toBe(2)
  })

  it('is counted against what the payer spent', async () => {
    const { account, claimId } = await buy()
    await refund(claimId, { amount_atomic: '250' })
    const report = (query = '') =>
      gateway.rest('GET', `/v1/payers/${account.address}/spend${query}`, undefined, world.operatorKey)
    const month = new Date().toISOString().slice(0, 7)
    expect(await report()).toMatchObject({
      status: 200,
      body: {
        to: month,
        spend: [
          {
            month,
            network: 'eip155:84532',
            payments: 1,
            settled_atomic: '1000',
            refunded_atomic: '250',
            net: '0.000750',
          },
        ],
      },
    })
    expect((await report('?from=2020-01&to=2020-12')).body.spend).toEqual([])
    expect(await report('?from=2021-01&to=2020-12')).toMatchObject({ status: 400 })
    const strangers = await get(`${gateway.baseUrl}/v1/payers/${account.address}/spend`)
    expect(strangers.status).toBe(401)
  })
})
