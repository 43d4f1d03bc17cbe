// A real node that its operator brings back from an older copy, after money has left: it does not show the transfer, and is not believed.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { noFault } from '../../src/lib/fault-points.ts'
import { createLogger } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createChain } from '../../src/payments/adapters/chain.ts'
import { createLocalUpstream } from '../../src/payments/adapters/local-upstream.ts'
import { createEvidenceReader } from '../../src/payments/chain-evidence.ts'
import { createRefunds } from '../../src/payments/refunds.ts'
import { createRouter } from '../../src/payments/router.ts'
import { createTransferSigner } from '../../src/payments/transfer-signer.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { claimFor, makePayment, networks } from '../support/payment-fakes.ts'
import { settling, submission } from '../support/store.ts'
import { openTempStore, type TempStore } from '../support/temp-store.ts'

const BOOT = 'boot_test'
const HOUR = 3600_000

let chain: TestChain
let temp: TempStore
beforeAll(async () => {
  chain = await startTestChain(84532)
  temp = await openTempStore()
})
afterAll(async () => {
  await temp?.close()
  await chain?.close()
})

it('a refund that settled is sent once, though its node forgets it for longer than its authorization lives', async () => {
  const { store } = temp
  const clock = { ahead: 0 }
  const now = () => Date.now() + clock.ahead
  const log = createLogger('silent')
  const { network } = chain
  const rpcUrl = async () => chain.rpcUrl
  const upstream = createLocalUpstream({
    chains: [{ network, rpcUrl }],
    settlerKeys: async () => [new Secret<string>(chain.settlerKeys[0]!)],
    fault: noFault,
    now,
    log,
  })
  const onChain = createChain({ network, rpcUrl, now })
  const router = createRouter({ upstreams: [upstream], networks, now, log })
  const account = await createTransferSigner(new Secret<string>(`0x${'c5'.repeat(32)}`))
  await chain.fund(account.address, 5_000n)
  const chains = new Map([[network.network, onChain]])
  const refunds = createRefunds({
    store,
    networks,
    chains,
    evidence: createEvidenceReader({ chains, now }),
    router,
    signer: { kid: 'k', environment: 'sandbox', sign: (_typ, payload) => JSON.stringify(payload) },
    renewReceipt: (receipt) => receipt,
    payTo: undefined,
    baseUrl: 'https://gateway.test',
    account,
    fault: noFault,
    now,
    log,
  })
  try {
    const payer = `0x${randomBytes(20).toString('hex')}`
    const { id: claimId } = await claimFor(store, makePayment(now()), BOOT, { payer })
    await store.submitClaim(submission(claimId, BOOT))
    await store.settleClaim(settling(claimId))
    const copy = await chain.snapshot()
    const ask = { claimId, amount: undefined, reason: 'x', reference: 'x', accountId: 'acct_operator' }
    const { refund } = await refunds.refund(ask)
    expect(refund).toMatchObject({ state: 'settled', tries: 1 })
    expect(await chain.usdcOf(payer)).toBe(1000n)
    const raw = await chain.rpc('eth_getRawTransactionByHash', [refund.transaction])

    await chain.revert(copy)
    expect(await chain.usdcOf(payer)).toBe(0n)
    for (const hours of [0, 1, 7, 24]) {
      clock.ahead = hours * HOUR
      await refunds.reconcile()
      expect(await store.getRefund(refund.id)).toEqual(refund)
    }
    expect(onChain.state()).toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/^is behind its chain: its newest block was 1\d{3} minutes old$/),
    })
    expect(await chain.usdcOf(payer)).toBe(0n)

    // It reads the blocks that it missed, and those of a day.
    await chain.rpc('eth_sendRawTransaction', [raw])
    // The node answers before the block is there, and a day later the authorization is over.
    await expect.poll(() => chain.rpc('eth_getTransactionReceipt', [refund.transaction])).not.toBeNull()
    await chain.rpc('evm_setNextBlockTimestamp', [Math.floor(now() / 1000)])
    await chain.mine()
    await refunds.reconcile()
    expect(await store.getRefund(refund.id)).toEqual(refund)
    expect(await store.listSettledRefunds({ limit: 9 })).toEqual([])
    expect(await chain.usdcOf(payer)).toBe(1000n)
    expect(await onChain.head()).toMatchObject({ time: expect.any(Number) })
    expect(onChain.state()).toMatchObject({ state: 'ok', detail: 'answers' })
  } finally {
    await Promise.all([router.close(), onChain.close()])
  }
})
