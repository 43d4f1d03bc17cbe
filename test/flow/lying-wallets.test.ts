// Wallets that are contracts and say yes when they are asked and no when it counts: each transaction of theirs reverts at the
// operator's cost, so there is one for a payment, and a free settlement is used up by it; on a real chain.
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { facilitatorSettle } from '../../tools/facilitator-settle.ts'
import { MAX_OPEN_OF_CONTRACT } from '../../src/payments/verify.ts'
import { cites } from '../requirements.ts'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createPaidTools, PAID, post } from '../support/paid-tools.ts'

/** Answers with the magic value of ERC-1271. */
const AGREES = '631626ba7e60e01b60005260206000f3'
/** Jumps to itself until no gas is left. */
const BURNS = '5b'
/** GASPRICE: a call has none, a transaction has one. */
const LIES_FOR_EVER = `0x3a601457${AGREES}${BURNS}601456`
/** NUMBER: agrees up to this block, and never after it. */
const agreesUntil = (block: bigint) =>
  `0x63${block.toString(16).padStart(8, '0')}4311601a57${AGREES}${BURNS}601a56`

const paid = createPaidTools()
let chain: TestChain
let gateway: TestGateway
beforeAll(async () => {
  chain = await startTestChain(84532)
  gateway = await startTestGateway({
    engine: 'sqlite',
    env: { ...chain.env, GATEWAY_SETTLE_FREE_ALLOWANCE: '2' },
    tools: [...paid.tools, facilitatorSettle],
  })
})
afterAll(async () => {
  await gateway.close()
  await chain.close()
})

let wallets = 0
async function walletOf(code: string) {
  const account = privateKeyToAccount(
    `0x${(0xbad_0000_0000n + BigInt(++wallets)).toString(16).padStart(64, '0')}`,
  )
  await chain.fund(account.address, 10_000n)
  await chain.rpc('anvil_setCode', [account.address, code])
  return account
}
type Wallet = Awaited<ReturnType<typeof walletOf>>
const sign = (account: Wallet, requirements = requirementsOf(chain)) =>
  signPayment({ account, requirements, overrides: { signature: () => `0x${'11'.repeat(66)}` } })
/** @param key of an account */
async function settle(account: Wallet, payTo: string, key?: string) {
  const paymentRequirements = { ...requirementsOf(chain), payTo }
  const paymentPayload = await sign(account, paymentRequirements)
  return post(
    `${gateway.baseUrl}/settle`,
    { x402Version: 2, paymentPayload, paymentRequirements },
    key === undefined ? {} : { authorization: `Bearer ${key}` },
  )
}
/** Transactions of the operator, good or reverted. */
async function broadcasts() {
  const counts = await Promise.all(
    chain.settlerKeys.map((key) =>
      chain.rpc('eth_getTransactionCount', [privateKeyToAccount(key).address, 'latest']),
    ),
  )
  return counts.reduce<number>((sum, nonce) => sum + Number(nonce), 0)
}

it(cites('x402:claim:funds', 'a payment whose transaction reverted is not sent a second time'), async () => {
  const wallet = await walletOf(LIES_FOR_EVER)
  const before = await broadcasts()
  const answer = await post(
    gateway.baseUrl + PAID,
    { text: 'hello' },
    { 'payment-signature': toHeader(await sign(wallet)) },
  )
  expect([answer.status, answer.body.text]).toEqual([503, undefined])
  expect((await broadcasts()) - before).toBe(1)
})

it('a payment that reverted keeps its payer from no other while it waits to expire', async () => {
  const wallet = await walletOf(LIES_FOR_EVER)
  const buy = async () =>
    post(gateway.baseUrl + PAID, { text: 'hello' }, { 'payment-signature': toHeader(await sign(wallet)) })
  expect((await buy()).status).toBe(503)
  expect((await buy()).status).toBe(503)
  await chain.rpc('anvil_setCode', [wallet.address, `0x${AGREES}`])
  expect((await buy()).status).toBe(200)
})

it(
  cites('x402:claim:funds', 'a wallet that lies costs few transactions, however many it signs'),
  async () => {
    const wallet = await walletOf(LIES_FOR_EVER)
    await chain.fund(wallet.address, 1_000_000n)
    const before = await broadcasts()
    const answers = await Promise.all(
      Array.from({ length: 3 * MAX_OPEN_OF_CONTRACT }, async () =>
        post(
          gateway.baseUrl + PAID,
          { text: 'hello' },
          { 'payment-signature': toHeader(await sign(wallet)) },
        ),
      ),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(2 * MAX_OPEN_OF_CONTRACT)
    expect((await broadcasts()) - before).toBeLessThanOrEqual(MAX_OPEN_OF_CONTRACT)
  },
)

it(
  cites('x402:settle:allowance', 'a transaction that reverted has used up one of the free settlements'),
  async () => {
    const wallet = await walletOf('0x')
    const before = await broadcasts()
    const payees = [
      '0x00000000000000000000000000000000000000b1',
      '0x00000000000000000000000000000000000000b2',
    ]
    for (const payee of payees) {
      const block = BigInt(String(await chain.rpc('eth_blockNumber')))
      await chain.rpc('anvil_setCode', [wallet.address, agreesUntil(block)])
      const { status, body } = await settle(wallet, payee)
      expect([status, body.success]).toEqual([400, false])
    }
    expect((await broadcasts()) - before).toBe(2)
    await chain.rpc('anvil_setCode', [wallet.address, `0x${AGREES}`])
    const refused = await settle(wallet, '0x00000000000000000000000000000000000000b3')
    expect([refused.status, refused.body.code]).toEqual([402, 'credits_required'])
    expect((await broadcasts()) - before).toBe(2)
  },
)

it(cites('x402:settle:allowance', 'the same of an account, which has to pay for the next one'), async () => {
  const payee = '0x00000000000000000000000000000000000000b4'
  const made = await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'seller' })
  const { key } = made.body
  for (let i = 0; i < 2; i++) {
    const liar = await walletOf('0x')
    const block = BigInt(String(await chain.rpc('eth_blockNumber')))
    await chain.rpc('anvil_setCode', [liar.address, agreesUntil(block)])
    const { status, body } = await settle(liar, payee, key)
    expect([status, body.success]).toEqual([400, false])
  }
  // A new account has no credits.
  const refused = await settle(await walletOf(`0x${AGREES}`), payee, key)
  expect([refused.status, refused.body.code]).toEqual([402, 'credits_required'])
})
