// While the operator's accounts cannot settle, nobody is worked for: on a real chain, from the first refusal on.
import { setTimeout as sleep } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { requirementsOf, signPayment, startTestChain, type TestChain, toHeader } from '../support/chain.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createPaidTools, PAID, post } from '../support/paid-tools.ts'

const CALLS = 10
/** A breaker opens after so many. */
const MOST_WORKS = 3

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(84532)))
afterAll(() => chain.close())

describe.each<[string, spoil: () => Promise<void>, mend: () => Promise<void>]>([
  ['gas costs more than the operator pays', () => setBaseFee('0x174876e800'), () => setBaseFee('0x3b9aca00')],
  ['no account has gas left', () => setBalances('0x0'), () => setBalances('0xde0b6b3a7640000')],
])('while %s', (_when, spoil, mend) => {
  const paid = createPaidTools()
  let gateway: TestGateway
  let held: number | undefined
  beforeAll(async () => {
    gateway = await startTestGateway({
      env: chain.env,
      tools: paid.tools,
      now: () => held ?? Date.now(),
    })
  })
  afterEach(mend)
  afterAll(() => gateway.close())

  it('nobody is worked for any more after a few, though it was known to settle a moment ago', async () => {
    const buy = async () => {
      const payment = await signPayment({
        account: chain.payers[0]!,
        requirements: requirementsOf(chain),
        // As long as the gateway's clock allows, which stands still while real time goes on.
        overrides: { validBefore: String(Math.floor((held ?? Date.now()) / 1000) + 300) },
      })
      return post(gateway.baseUrl + PAID, { text: 'hello' }, { 'payment-signature': toHeader(payment) })
    }
    expect((await buy()).status).toBe(200)
    await spoil()
    const before = paid.runs.length
    // A breaker stays open for five seconds, and ten purchases may take longer.
    held = Date.now()
    for (let i = 0; i < MOST_WORKS; i++) expect((await buy()).body.code).toBe('settlement_failed')
    // What is offered is told once a second.
    held += 1_100
    for (let i = 0; i < CALLS; i++) expect((await buy()).body.code).toBe('payments_unavailable')
    expect(paid.runs.length - before).toBe(MOST_WORKS)
    held = undefined
    await mend()
    await expect.poll(async () => (await buy()).status, { timeout: 60_000, interval: 1_000 }).toBe(200)
  })
})

async function setBaseFee(fee: string) {
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', [fee])
  await chain.mine()
  // What gas costs is asked for every two seconds.
  await sleep(2_100)
}
async function setBalances(wei: string) {
  for (const key of chain.settlerKeys)
    await chain.rpc('anvil_setBalance', [privateKeyToAccount(key).address, wei])
}
