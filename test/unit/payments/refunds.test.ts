// Refunds whose payment a chain takes back before they are sent: nobody is paid back what never came. And refunds that a node does not show any more: nobody
// is paid back twice.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FaultKind } from '../../../src/core/faults.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { newId } from '../../../src/lib/ids.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { createEvidenceReader } from '../../../src/payments/chain-evidence.ts'
import { createRefunds } from '../../../src/payments/refunds.ts'
import { createRouter } from '../../../src/payments/router.ts'
import { createTransferSigner } from '../../../src/payments/transfer-signer.ts'
import { validUntil } from '../../../src/payments/transfers.ts'
import {
  claimFor,
  fakeChain,
  fakeUpstream,
  hash,
  makePayment,
  networks,
  sepolia,
  usedIn,
} from '../../support/payment-fakes.ts'
import { settling, submission } from '../../support/store.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const BOOT = 'boot_test'
const TX = hash('a')
const MINUTE = 60_000

let temp: TempStore
let world: Awaited<ReturnType<typeof open>>
beforeEach(async () => {
  temp = await openTempStore()
  world = await open()
})
afterEach(() => temp.close())

async function open() {
  const { store } = temp
  const clock = { at: Date.now() }
  const now = () => clock.at
  const log = createLogger('silent')
  const chain = fakeChain(now)
  const chains = new Map([[sepolia.network, chain]])
  const upstream = fakeUpstream('up0', {
    answer({ payment }) {
      chain.statuses.set(payment.nonce, usedIn(TX))
      return { state: 'settled', transaction: TX, isWitnessed: true }
    },
  })
  const faults: FaultKind[] = []
  const account = await createTransferSigner(new Secret(`0x${'1'.repeat(64)}`))
  const refunds = createRefunds({
    store,
    networks,
    chains,
    evidence: createEvidenceReader({ chains, now }),
    router: createRouter({ upstreams: [upstream], networks, now, log }),
    signer: { kid: 'k', environment: 'sandbox', sign: (_typ, payload) => JSON.stringify(payload) },
    renewReceipt: (receipt) => receipt,
    baseUrl: 'https://gateway.test',
    payTo: undefined,
    account,
    fault: noFault,
    now,
    log,
    onFault: (kind) => void faults.push(kind),
  })

  const { id: claimId } = await claimFor(store, makePayment(clock.at), BOOT)
  await store.submitClaim(submission(claimId, BOOT))
  const settled = settling(claimId)
  await store.settleClaim(settled)
  const id = newId('rfd', clock.at)
  const recorded = await store.recordRefund({
    id,
    claimId,
    reference: 'ticket 1',
    accountId: 'acct_operator',
    reason: 'the page was empty',
    amount: null,
    sender: account.address,
    nonce: `0x${randomBytes(32).toString('hex')}`,
    validBefore: validUntil(clock.at),
    createdAt: clock.at,
  })
  expect(recorded).toMatchObject({ ok: true })
  /** The work of a minute where the node stands still. */
  async function lookAtCopy(passed = MINUTE) {
    clock.at += passed
    await refunds.reconcile()
    return store.getRefund(id)
  }
  const of = { id: claimId, receiptId: settled.receipt.id }
  return {
    chain,
    upstream,
    faults,
    reopen: () => store.reopenClaim({ ...of, now: clock.at }),
    giveUp: () => store.reverseClaim({ ...of, reason: 'authorization_expired', now: clock.at }),
    resettle: () =>
      store.resettleClaim({ ...of, receipt: null, transaction: TX, block: undefined, now: clock.at }),
    /** @returns the refund after the work of a minute */
    async look(passed = MINUTE) {
      chain.time = clock.at + passed
      return lookAtCopy(passed)
    },
    lookAtCopy,
  }
}

it('waits while the payment is gone from its chain, and is sent once it is there again', async () => {
  await world.reopen()
  expect(await world.look()).toMatchObject({ state: 'recorded', tries: 0 })
  expect(world.upstream.settled).toHaveLength(0)
  await world.resettle()
  expect(await world.look()).toMatchObject({ state: 'settled', tries: 1 })
  expect(world.upstream.settled).toHaveLength(1)
})

it('that is interrupted is told as a fault, and gone on with', async () => {
  const { answer } = world.upstream
  world.upstream.answer = () => {
    throw new Error('the connection of somebody else')
  }
  expect(await world.look()).toMatchObject({ state: 'submitted', tries: 1 })
  expect(world.faults).toEqual(['transfer_interrupted'])
  world.upstream.answer = answer
  expect(await world.look()).toMatchObject({ state: 'settled', tries: 2 })
  expect(world.faults).toEqual(['transfer_interrupted'])
})

it('fails unsent once the payment never comes', async () => {
  await world.reopen()
  await world.giveUp()
  expect(await world.look()).toMatchObject({ state: 'failed', failure: 'payment_reversed', tries: 0 })
  expect(world.upstream.settled).toHaveLength(0)
})

it('that was sent before is not sent again, and ends as its chain says', async () => {
  world.upstream.answer = { state: 'unknown', reason: 'timeout' }
  expect(await world.look()).toMatchObject({ state: 'submitted', tries: 1 })
  await world.reopen()
  await world.giveUp()
  // Whoever has its signature could still submit it, so it has not failed yet.
  expect(await world.look()).toMatchObject({ state: 'submitted', tries: 1 })
  expect(world.upstream.settled).toHaveLength(1)
  expect(await world.look(40 * MINUTE)).toMatchObject({ state: 'failed', failure: 'authorization_expired' })
})

it('is sent for the first time though its chain has stood still for long, and not again', async () => {
  world.chain.time -= 60 * MINUTE
  world.upstream.answer = { state: 'unknown', reason: 'timeout' }
  expect(await world.lookAtCopy()).toMatchObject({ state: 'submitted', tries: 1 })
  expect(await world.lookAtCopy()).toMatchObject({ state: 'submitted', tries: 1 })
  expect(world.upstream.settled).toHaveLength(1)
})

it.each([false, true])(
  'that settled stays so while its node is back on an older copy (mines on demand: %s)',
  async (minesOnDemand) => {
    world.chain.minesOnDemand = minesOnDemand
    const sent = await world.look()
    expect(sent).toMatchObject({ state: 'settled', transaction: TX })
    world.chain.statuses.clear()
    world.chain.time -= 10 * MINUTE
    expect(await world.lookAtCopy()).toEqual(sent)
    // Its authorization has expired for so long that nobody would wait for it.
    expect(await world.lookAtCopy(7 * 60 * MINUTE)).toEqual(sent)
    expect(world.upstream.settled).toHaveLength(1)
    // Blocks after the one that it was in say that it is gone.
    world.chain.time = sent!.validBefore + MINUTE + 1
    expect(await world.lookAtCopy()).toMatchObject({ state: 'failed', failure: 'authorization_expired' })
  },
)
