// One wallet with little money and many payments at once: no more works and no more transactions than its balance covers,
// whichever door and whichever process they come to; on a real chain.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateKeyAccount } from 'viem/accounts'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import {
  createWorld,
  type Engine,
  startTestGateway,
  type TestGateway,
  type World,
} from '../support/gateway.ts'
import { createPaidTools, PAID, type PaidAnswer, post } from '../support/paid-tools.ts'
import { times } from '../support/store.ts'
import { facilitatorSettle } from '../../tools/facilitator-settle.ts'
import { facilitatorVerify } from '../../tools/facilitator-verify.ts'
import { cites } from '../requirements.ts'

const SELLER = '0x0000000000000000000000000000000000C0FFEE'
const COPIES = 100
/** Works that the poor wallet can pay. */
const COVERED = 3n

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(84532)))
afterAll(() => chain.close())

describe.each<[Engine, gateways: number]>([
  ['sqlite', 1],
  ['postgres', 2],
])('a poor wallet (%s, %i gateways)', (engine, count) => {
  const paid = createPaidTools()
  let world: World
  let gateways: readonly TestGateway[]
  beforeAll(async () => {
    world = await createWorld({ engine, env: { ...chain.env, GATEWAY_PAYER_MAX_OPEN: '40' } })
    gateways = await Promise.all(
      times(count, async (i) => {
        // Accounts that submit belong to one process each.
        const file = join(world.dataDir, `settler-${i}.key`)
        await writeFile(file, `${chain.settlerKeys[i]!}\n`, { mode: 0o600 })
        const env = { ...world.env, GATEWAY_SETTLER_KEY_FILE: file }
        return startTestGateway({
          world: { ...world, env },
          tools: [...paid.tools, facilitatorSettle, facilitatorVerify],
        })
      }),
    )
  })
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()))
    await world.close()
  })
  afterEach(async () => {
    paid.before = undefined
    await chain.setAutomine(true)
  })

  const at = (i: number) => gateways[i % gateways.length]!.baseUrl
  let wallets = 0
  async function walletWith(amount: bigint): Promise<PrivateKeyAccount> {
    const account = privateKeyToAccount(
      `0x${(0xf00d_0000_0000n + BigInt(count) * 0x100n + BigInt(++wallets)).toString(16).padStart(64, '0')}`,
    )
    await chain.fund(account.address, amount)
    return account
  }
  const buy = async (account: PrivateKeyAccount, i: number): Promise<PaidAnswer> => {
    const payment = await signPayment({ account, requirements: requirementsOf(chain) })
    return post(at(i) + PAID, { text: `hello ${i}` }, { 'payment-signature': toHeader(payment) })
  }
  async function ask(path: string, account: PrivateKeyAccount, i: number): Promise<PaidAnswer> {
    const paymentRequirements = { ...requirementsOf(chain), payTo: SELLER }
    const paymentPayload = await signPayment({ account, requirements: paymentRequirements })
    return post(at(i) + path, { x402Version: 2, paymentPayload, paymentRequirements })
  }
  const settle = (account: PrivateKeyAccount, i: number) => ask('/settle', account, i)
  const verify = (account: PrivateKeyAccount, i: number) => ask('/verify', account, i)
  /** Transactions of the operator, good or reverted. */
  const broadcasts = async () => {
    const counts = await Promise.all(
      chain.settlerKeys.map((key) =>
        chain.rpc('eth_getTransactionCount', [privateKeyToAccount(key).address, 'latest']),
      ),
    )
    return counts.reduce<number>((sum, nonce) => sum + Number(nonce), 0)
  }

  it(cites('x402:claim:funds', 'buys what it can pay and no more, of a hundred calls at once'), async () => {
    const wallet = await walletWith(1000n * COVERED)
    const [before, runs] = [await broadcasts(), paid.runs.length]
    const answers = await Promise.all(times(COPIES, (i) => buy(wallet, i)))
    const bought = answers.filter(({ status }) => status === 200)
    expect(bought.length).toBeGreaterThan(0)
    expect(bought.length).toBeLessThanOrEqual(Number(COVERED))
    expect(paid.runs.length - runs).toBe(bought.length)
    expect((await broadcasts()) - before).toBe(bought.length)
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect([status, body.code]).toEqual([402, 'payment_rejected'])
      expect(body.check).toBe('balance')
      expect(body.detail).toMatch(/Nothing was charged/)
    }
    // What is left can be spent.
    for (let i = bought.length; i < Number(COVERED); i++) expect((await buy(wallet, i)).status).toBe(200)
    expect(await chain.usdcOf(wallet.address)).toBe(0n)
  })

  it(
    cites('x402:claim:funds', 'settles what it can pay and no more, of a hundred calls at once'),
    async () => {
      const wallet = await walletWith(1000n * COVERED)
      const before = await broadcasts()
      const answers = await Promise.all(times(COPIES, (i) => settle(wallet, i)))
      const settled = answers.filter(({ status }) => status === 200)
      expect(settled.length).toBeGreaterThan(0)
      expect(settled.length).toBeLessThanOrEqual(Number(COVERED))
      expect((await broadcasts()) - before).toBe(settled.length)
      for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
        expect([status, body.code]).toEqual([400, 'payment_blocked'])
        expect(body).toMatchObject({ success: false, transaction: '', check: 'balance' })
      }
    },
  )

  it('is told how much of its balance is bound, while nothing is mined, and can spend it afterwards', async () => {
    const wallet = await walletWith(1000n * 2n)
    await chain.setAutomine(false)
    const open = [buy(wallet, 0), settle(wallet, 1)]
    // Read only: it takes no room from the two.
    await expect
      .poll(async () => (await verify(wallet, 0)).body)
      .toMatchObject({
        isValid: false,
        invalidReason: 'insufficient_funds',
        invalidMessage: expect.stringMatching(/holds 2000 .* of which 2000 are bound by 2 of its payments/),
      })
    const [bought, settled] = [await buy(wallet, 2), await settle(wallet, 3)]
    expect([bought.status, bought.body.invalid_reason]).toEqual([402, 'insufficient_funds'])
    expect(bought.body.detail).toMatch(/2000 are bound by 2 of its payments .*Nothing was charged/)
    expect(settled.body).toMatchObject({ success: false, errorReason: 'insufficient_funds' })
    await chain.setAutomine(true)
    await chain.mine()
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200])
    await chain.fund(wallet.address, 1000n)
    expect((await buy(wallet, 4)).status).toBe(200)
  })

  it('is not locked out by fifty works that failed, and costs nothing when it empties itself during the work', async () => {
    const wallet = await walletWith(1000n * 2n)
    paid.before = () => Promise.reject(new Error('the work failed'))
    for (const answer of await Promise.all(times(50, (i) => buy(wallet, i))))
      expect(answer.status).toBeGreaterThanOrEqual(400)
    paid.before = async () => void (await chain.drain(wallet))
    // It empties itself while the work is done: nothing is broadcast.
    const before = await broadcasts()
    const emptied = await buy(wallet, 0)
    expect([emptied.status, emptied.body.code]).toEqual([402, 'settlement_failed'])
    expect(emptied.body.invalid_reason).toBe('invalid_exact_evm_insufficient_balance')
    expect(await broadcasts()).toBe(before)
    paid.before = undefined
    await chain.fund(wallet.address, 2000n)
    for (let i = 0; i < 2; i++) expect((await buy(wallet, i)).status).toBe(200)
  })

  it('buys all of a hundred with enough money, which wait for nobody, and ends at what may be open', async () => {
    const wallet = await walletWith(1000n * 200n)
    const release = Promise.withResolvers<void>()
    paid.before = () => release.promise
    const ended: PaidAnswer[] = []
    const answers = times(COPIES, async (i) => void ended.push(await buy(wallet, i)))
    // Those that were taken wait for their work: whatever ends by now was refused.
    await expect.poll(() => ended.length).toBe(COPIES - 40)
    for (const { status, body, headers } of ended) {
      expect([status, body.code]).toEqual([429, 'rate_limited'])
      expect(body.detail).toMatch(/40 payments that are not settled yet.*Send it again|send it again/)
      expect(headers.get('retry-after')).toBe('5')
    }
    release.resolve()
    await Promise.all(answers)
    expect(ended.filter(({ status }) => status === 200)).toHaveLength(40)
    paid.before = undefined
    // As they are decided, the rest can come.
    const rest = await Promise.all(times(30, (i) => buy(wallet, i)))
    expect(rest.map(({ status }) => status)).toEqual(times(30, () => 200))
  })
})
