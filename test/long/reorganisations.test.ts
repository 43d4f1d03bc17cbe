// Reorganisations of a real chain, under the settlements as the gateway composes them, with its own settler: what was settled
// is settled again or lost, and its receipt says which.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createNetworks } from '../../src/core/networks.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createLogger } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import type { Chain } from '../../src/payments/chain-ports.ts'
import { createRouter } from '../../src/payments/router.ts'
import { createSettlements } from '../../src/payments/settlements.ts'
import { createReceipts } from '../../src/receipts/index.ts'
import type { PaymentClaim } from '../../src/store/ports.ts'
import { receiptsGet } from '../../tools/receipts-get.ts'
import {
  paymentOf,
  requirementsOf,
  signPayment,
  startTestChain,
  type TestChain,
  transferCalldata,
} from '../support/chain.ts'
import { claimFor } from '../support/payment-fakes.ts'
import { seedAccount } from '../support/seed.ts'
import { openTempStore, type TempStore } from '../support/temp-store.ts'

const MINUTE = 60_000
const result = { json: '{"text":"hello"}', sha256: 'f'.repeat(64) }

let chain: TestChain
let temp: TempStore
let parts: ReturnType<typeof compose>
beforeAll(async () => {
  chain = await startTestChain(84532)
  temp = await openTempStore()
})
beforeEach(() => void (parts = compose()))
afterEach(() => parts.close())
afterAll(async () => {
  await temp?.close()
  await chain?.close()
})

/** @param onFound is called when a payment was looked for on its chain, and is there */
function compose(confirmations?: Readonly<Record<number, number>>, onFound?: () => void) {
  // Time passes for the gateway as a test says; the chain has its own.
  const clock = { ahead: 0 }
  const now = () => Date.now() + clock.ahead
  const { network } = chain
  const networks = createNetworks([84532])
  const log = createLogger('silent')
  const rpcUrl = async () => chain.rpcUrl
  const settlerKeys = async () => [new Secret<string>(chain.settlerKeys[0]!)]
  const upstream = createLocalUpstream({
    chains: [{ network, rpcUrl }],
    settlerKeys,
    fault: noFault,
    now,
    log,
  })
  const router = createRouter({ upstreams: [upstream], networks, now, log })
  const onChain = createChain({ network, rpcUrl, now })
  const watched: Chain = {
    ...onChain,
    async authorizationStatus(question) {
      const status = await onChain.authorizationStatus(question)
      if (status.state === 'used') onFound?.()
      return status
    },
  }
  const settlements = createSettlements({
    store: temp.store,
    router,
    networks,
    chains: new Map([[network.network, watched]]),
    signer: { kid: 'k', environment: 'sandbox', sign: jws },
    baseUrl: 'https://gateway.test',
    bootId: 'boot_test',
    now,
    log,
    fault: noFault,
    confirmations,
  })
  return {
    settlements,
    async round(passed = MINUTE) {
      clock.ahead += passed
      return settlements.reconcile()
    },
    async close() {
      await settlements.close()
      await Promise.all([router.close(), onChain.close()])
    },
  }
}

const jws = (typ: string, payload: unknown) =>
  [{ typ, kid: 'k' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('sig')
    .join('.')

async function submit(payer: number, purchase: PaymentClaim['purchase'] = null) {
  const payload = await signPayment({ account: chain.payers[payer]!, requirements: requirementsOf(chain) })
  const { payment, requirements } = paymentOf(payload, chain.network)
  const held = await claimFor(temp.store, payment, 'boot_test', { payTo: requirements.payTo, purchase })
  return { payload, settling: parts.settlements.settle({ claim: held, payment, requirements, result }) }
}

async function settle(payer: number, purchase: PaymentClaim['purchase'] = null) {
  const { payload, settling } = await submit(payer, purchase)
  const settlement = await settling
  expect(settlement.state).toBe('settled')
  const { claim } = settlement
  return {
    payload,
    claim,
    now: async () => (await temp.store.getClaim(claim.id))!,
    balance: () => chain.usdcOf(chain.payers[payer]!.address),
  }
}

/** As `GET /v1/receipts/{id}` shows it. */
const show = async (receiptId: string | null) => {
  const services = {
    receipts: createReceipts({
      renewReceipt: (receipt) => ({ ...receipt, revokedKey: null }),
      store: temp.store,
    }),
  } as never
  const planned = await receiptsGet.plan({ receipt_id: receiptId ?? '' }, services)
  return planned.run(services)
}

describe('a settlement that its chain took back', () => {
  it('is withdrawn, then broadcast again by the account that sent it, and paid once', async () => {
    const bought = await settle(0)
    const held = await bought.balance()
    expect(await show(bought.claim.receiptId)).toMatchObject({ status: 'valid', replaced_by: null })
    await chain.reorg(1)
    expect(await bought.balance()).toBe(held + 1000n)
    await parts.round()
    expect(await bought.now()).toMatchObject({ state: 'pending', reason: 'reorganised' })
    expect(await show(bought.claim.receiptId)).toMatchObject({ status: 'withdrawn', replaced_by: null })

    await parts.round()
    const again = await bought.now()
    expect(again).toMatchObject({ state: 'settled', reason: null })
    expect(await bought.balance()).toBe(held)
    const first = await show(bought.claim.receiptId)
    if (again.transaction === bought.claim.transaction) expect(first).toMatchObject({ status: 'valid' })
    else {
      expect(first).toMatchObject({ status: 'superseded', replaced_by: again.receiptId })
      expect(await show(again.receiptId)).toMatchObject({
        status: 'valid',
        claims: { transaction: again.transaction },
      })
    }
    // The account goes on.
    await settle(1)
  })

  it('and that somebody else settles meanwhile has a receipt of that transaction', async () => {
    const bought = await settle(2)
    await chain.reorg(1)
    await parts.round()
    const from = '0x0000000000000000000000000000000000057415'
    const transaction = await chain.submitAs(from, {
      to: chain.network.asset.address,
      data: transferCalldata(bought.payload),
    })
    expect(await parts.round()).toMatchObject({ settled: 1 })
    const now = await bought.now()
    expect(now).toMatchObject({ state: 'settled', transaction })
    expect(await show(bought.claim.receiptId)).toMatchObject({
      status: 'superseded',
      replaced_by: now.receiptId,
      claims: { transaction: bought.claim.transaction },
    })
    expect(await show(now.receiptId)).toMatchObject({ status: 'valid', claims: { transaction } })
  })

  it('stands where its transaction is in another block', async () => {
    const bought = await settle(3)
    const raw = await chain.rpc('eth_getRawTransactionByHash', [bought.claim.transaction])
    await chain.reorg(1)
    await chain.rpc('eth_sendRawTransaction', [raw])
    await chain.mine()
    await parts.round()
    expect(await bought.now()).toMatchObject({
      state: 'settled',
      receiptId: bought.claim.receiptId,
      transaction: bought.claim.transaction,
    })
    expect(await show(bought.claim.receiptId)).toMatchObject({ status: 'valid' })
  })

  it('and that its payer takes back is lost, with the credits that it bought', async () => {
    const accountId = await seedAccount(temp.store, 0)
    const bought = await settle(4, { accountId, credits: 7 })
    expect(await temp.store.balance(accountId)).toBe(7)
    await chain.reorg(1)
    await chain.cancelAuthorization(chain.payers[4]!, bought.claim.nonce)
    await parts.round()
    expect(await bought.now()).toMatchObject({ state: 'failed', reason: 'authorization_canceled' })
    expect(await show(bought.claim.receiptId)).toMatchObject({ status: 'withdrawn' })
    expect(await temp.store.balance(accountId)).toBe(0)
    expect(await temp.store.getClaimResult(bought.claim.id)).toBeUndefined()
  })

  it('of a chain that went back to a snapshot is noticed when there are blocks again', async () => {
    const snapshot = await chain.snapshot()
    const bought = await settle(5)
    await chain.revert(snapshot)
    await parts.round()
    // There is no block at that height: the node may just be behind.
    expect((await bought.now()).state).toBe('settled')
    await chain.mine(3)
    await parts.round()
    expect((await bought.now()).state).toBe('pending')
  })
})

it('a payment that was taken back while it waited for its depth is broadcast again, and paid once', async () => {
  await parts.close()
  const found = Promise.withResolvers<void>()
  parts = compose({ 84532: 3 }, found.resolve)
  const payer = chain.payers[6]!.address
  const held = await chain.usdcOf(payer)
  const { settling } = await submit(6)
  // Its depth is asked for once its settler has seen it in a block: a settler that has not would wait on for a block.
  await Promise.race([found.promise, settling])
  expect(await chain.usdcOf(payer)).toBe(held - 1000n)
  await chain.reorg(1)
  const { claim, state } = await settling
  expect([state, claim.receiptId]).toEqual(['unknown', null])
  expect(await chain.usdcOf(payer)).toBe(held)

  // Its node has half a minute to bring it back by itself.
  await parts.round()
  await parts.round()
  expect(await chain.usdcOf(payer)).toBe(held - 1000n)
  await chain.mine(3)
  await parts.round()
  expect((await temp.store.getClaim(claim.id))?.state).toBe('settled')
  expect(await chain.usdcOf(payer)).toBe(held - 1000n)
})
