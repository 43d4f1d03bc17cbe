// What was settled lately is looked at again: a settlement that its chain took back is never `settled` in silence.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FaultKind } from '../../../src/core/faults.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { type AuthorizationStatus, ChainError } from '../../../src/payments/chain-ports.ts'
import type { Payment } from '../../../src/payments/ports.ts'
import { createRouter } from '../../../src/payments/router.ts'
import { createSettlements } from '../../../src/payments/settlements.ts'
import type { NewPaymentClaim, PaymentClaim } from '../../../src/store/ports.ts'
import {
  claimFor,
  fakeChain,
  fakeUpstream,
  hash,
  makePayment,
  networks,
  requirements,
  sepolia,
  usedIn,
} from '../../support/payment-fakes.ts'
import { seedAccount } from '../../support/seed.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const BOOT = 'boot_test'
const TX = hash('a')
const OTHER_TX = hash('b')
const MINUTE = 60_000
const result = { json: '{"receipt":null}', sha256: 'f'.repeat(64) }
const inBlock = (number: bigint, digit: string, transaction = TX): AuthorizationStatus => ({
  ...usedIn(transaction),
  block: { number, hash: hash(digit) },
})

let temp: TempStore
let world: Awaited<ReturnType<typeof open>>
beforeEach(async () => {
  temp = await openTempStore()
  world = await open()
})
afterEach(async () => {
  await world.settlements.close()
  await temp.close()
})

async function open(options: { url?: string | null; confirmations?: number; at?: number } = {}) {
  const clock = { at: options.at ?? Date.now() }
  const now = () => clock.at
  const chain = fakeChain(now)
  const upstream = fakeUpstream('up0', { answer: { state: 'settled', transaction: TX } })
  if (options.url !== undefined) Object.assign(upstream, { url: options.url })
  const log = createLogger('silent')
  const errors = vi.spyOn(log, 'error')
  const faults: FaultKind[] = []
  const settlements = createSettlements({
    store: temp.store,
    router: createRouter({ upstreams: [upstream], networks, now, log }),
    networks,
    chains: new Map([[sepolia.network, chain]]),
    confirmations: { [sepolia.chainId]: options.confirmations ?? 1 },
    signer: { kid: 'k', environment: 'sandbox', sign: (_typ, payload) => JSON.stringify(payload) },
    baseUrl: 'https://gateway.test',
    bootId: BOOT,
    now,
    log,
    onFault: (kind) => void faults.push(kind),
    fault: noFault,
    wait: async (ms) => void (clock.at += ms),
  })
  const claimOf = async (id: string) => (await temp.store.getClaim(id))!
  return {
    clock,
    chain,
    upstream,
    settlements,
    errors,
    faults,
    claimOf,
    /** A settled payment, in a block of its own. */
    async settled(
      where: AuthorizationStatus = inBlock(1n, '1'),
      over: Partial<NewPaymentClaim> = {},
      payment: Payment = makePayment(clock.at),
    ): Promise<PaymentClaim> {
      chain.statuses.set(payment.nonce, where)
      if (where.state === 'used') chain.blocks.set(where.block.number, where.block.hash)
      const held = await claimFor(temp.store, payment, BOOT, over)
      const settlement = await settlements.settle({ claim: held, payment, requirements, result })
      expect(settlement.state).toBe('settled')
      return settlement.claim
    },
    async look(passed = MINUTE) {
      clock.at += passed
      return settlements.reconcile()
    },
    standing: (claim: PaymentClaim) => temp.store.getReceiptStanding(claim.receiptId!),
  }
}

describe('a settlement whose block was replaced', () => {
  it('stands where its transaction is in the block that came instead', async () => {
    const claim = await world.settled(inBlock(7n, '7'))
    world.chain.blocks.set(7n, hash('8'))
    world.chain.statuses.set(claim.nonce, inBlock(8n, '9'))
    world.chain.blocks.set(8n, hash('9'))
    await world.look()
    expect(await world.claimOf(claim.id)).toEqual(claim)
    expect(await world.standing(claim)).toBeUndefined()
    // From now on it is looked for where it is.
    const looks = world.chain.looks
    await world.look()
    expect(world.chain.looks).toBe(looks)
  })

  it('by another transaction that moved the money has a new receipt, and the old one names it', async () => {
    const claim = await world.settled()
    world.chain.blocks.set(1n, hash('2'))
    world.chain.statuses.set(claim.nonce, inBlock(1n, '2', OTHER_TX))
    await world.look()
    const now = await world.claimOf(claim.id)
    expect(now).toMatchObject({ state: 'settled', transaction: OTHER_TX })
    expect(now.receiptId).not.toBe(claim.receiptId)
    expect(await world.standing(claim)).toMatchObject({ replacedBy: now.receiptId })
    const { jws } = (await temp.store.getReceipt(now.receiptId!))!
    expect(JSON.parse(jws)).toMatchObject({ transaction: OTHER_TX, claim_id: claim.id })
  })

  it('is open again while it is gone, with its receipt withdrawn, and stands again when it comes back', async () => {
    const accountId = await seedAccount(temp.store, 0)
    const claim = await world.settled(inBlock(1n, '1'), { purchase: { accountId, credits: 7 } })
    world.chain.blocks.set(1n, hash('2'))
    world.chain.statuses.delete(claim.nonce)
    await world.look()
    expect(await world.claimOf(claim.id)).toMatchObject({ state: 'pending', reason: 'reorganised' })
    expect(world.faults).toEqual([])
    expect(await world.standing(claim)).toMatchObject({ replacedBy: null })
    expect(await temp.store.getClaimResult(claim.id)).toMatchObject(result)
    world.chain.statuses.set(claim.nonce, inBlock(3n, '3'))
    expect(await world.look()).toMatchObject({ settled: 1 })
    expect(await world.claimOf(claim.id)).toMatchObject({ state: 'settled', receiptId: claim.receiptId })
    expect(await world.standing(claim)).toBeUndefined()
    // Bought once.
    expect(await temp.store.balance(accountId)).toBe(7)
  })

  it.each<[string, (claim: PaymentClaim) => void, string]>([
    [
      'expired',
      (claim) => {
        world.chain.statuses.delete(claim.nonce)
        world.chain.time = claim.validBefore! + MINUTE + 1
      },
      'authorization_expired',
    ],
    [
      'was taken back by its payer',
      ({ nonce }) => world.chain.statuses.set(nonce, { state: 'canceled', transaction: OTHER_TX }),
      'authorization_canceled',
    ],
  ])('and that %s is lost: it says so, and takes back what it bought', async (_name, change, reason) => {
    const accountId = await seedAccount(temp.store, 0)
    const claim = await world.settled(inBlock(1n, '1'), { purchase: { accountId, credits: 7 } })
    world.chain.blocks.set(1n, hash('2'))
    change(claim)
    expect(await world.look()).toMatchObject({ failed: 1 })
    expect(await world.claimOf(claim.id)).toMatchObject({ state: 'failed', reason })
    expect(await world.standing(claim)).toMatchObject({ replacedBy: null })
    expect(await temp.store.balance(accountId)).toBe(0)
    expect(world.errors).toHaveBeenCalledWith(
      expect.objectContaining({ amount: '1000', receipt: claim.receiptId, reason, lostCredits: 0 }),
      expect.stringContaining('a payment was lost'),
    )
    expect(world.faults).toEqual(['payment_lost'])
  })

  it.each<[string, AuthorizationStatus, Partial<PaymentClaim>, number]>([
    ['void', { state: 'canceled', transaction: OTHER_TX }, { state: 'failed' }, 0],
    ['paid', inBlock(3n, '3', OTHER_TX), { state: 'settled', transaction: OTHER_TX }, 7],
  ])(
    'is decided by whoever knows of its receipt, where an older question hears that it is %s',
    async (_name, answer, end, credits) => {
      const accountId = await seedAccount(temp.store, 0)
      const claim = await world.settled(inBlock(1n, '1'), { purchase: { accountId, credits: 7 } })
      world.chain.blocks.set(1n, hash('2'))
      world.chain.statuses.delete(claim.nonce)
      await world.look()
      const reopened = await world.claimOf(claim.id)
      world.chain.statuses.set(claim.nonce, answer)
      // As another replica read it, before it was settled.
      const asked = { ...claim, state: 'unknown', receiptId: null, finishedAt: null } as const
      expect(await world.settlements.reconcileOne(asked)).toEqual(reopened)
      expect(await temp.store.balance(accountId)).toBe(7)
      await world.look()
      expect(await world.claimOf(claim.id)).toMatchObject(end)
      expect(await temp.store.balance(accountId)).toBe(credits)
      const replacedBy = end.state === 'settled' ? (await world.claimOf(claim.id)).receiptId : null
      expect(await world.standing(claim)).toMatchObject({ replacedBy })
    },
  )

  it.each<[string, (claim: PaymentClaim) => void]>([
    [
      'does not answer',
      () => (world.chain.blockHashes = () => Promise.reject(new ChainError('timeout', 'x'))),
    ],
    [
      'is behind, and does not know the transfer either',
      ({ nonce }) => {
        world.chain.blockHashes = async (heights) => heights.map(() => null)
        world.chain.statuses.delete(nonce)
      },
    ],
    [
      'says so and no more',
      () => {
        world.chain.blocks.set(1n, hash('2'))
        world.chain.authorizationStatus = () => Promise.reject(new ChainError('timeout', 'x'))
      },
    ],
  ])('is left alone while the node %s, and looked at when it does', async (_name, breakNode) => {
    const claim = await world.settled()
    const { blockHashes, authorizationStatus } = world.chain
    breakNode(claim)
    await world.look()
    expect(await world.claimOf(claim.id)).toEqual(claim)
    Object.assign(world.chain, { blockHashes, authorizationStatus })
    world.chain.blocks.set(1n, hash('2'))
    world.chain.statuses.delete(claim.nonce)
    await world.look()
    expect((await world.claimOf(claim.id)).state).toBe('pending')
  })

  it('long ago is not looked for', async () => {
    const claim = await world.settled()
    await world.look()
    world.chain.blocks.set(1n, hash('2'))
    world.chain.statuses.delete(claim.nonce)
    await world.look(15 * MINUTE + 1)
    expect((await world.claimOf(claim.id)).state).toBe('settled')
  })
})

describe('a settlement of the last minutes before a stop, or before the backup that the store was restored from', () => {
  it('is looked for at the start, however long nobody ran, and until its chain has answered', async () => {
    const old = await world.settled(inBlock(1n, '1'))
    world.clock.at += 15 * MINUTE + 1
    const claim = await world.settled(inBlock(2n, '2'))
    await world.settlements.close()
    world = await open({ at: world.clock.at + 600 * MINUTE })
    world.chain.blocks.set(1n, hash('8'))
    world.chain.blocks.set(2n, hash('9'))
    world.chain.statuses.set(claim.nonce, 'silent')
    await world.look(0)
    expect((await world.claimOf(claim.id)).state).toBe('settled')
    world.chain.statuses.delete(claim.nonce)
    await world.look()
    // Its authorization has expired meanwhile: it is lost, and no longer in silence.
    expect(await world.claimOf(claim.id)).toMatchObject({ state: 'failed', reason: 'authorization_expired' })
    expect(await world.standing(claim)).toMatchObject({ replacedBy: null })
    // It was final when the newest one was settled.
    expect((await world.claimOf(old.id)).state).toBe('settled')
  })

  it('is looked for once where it stands', async () => {
    await world.settled(inBlock(2n, '2'))
    await world.settlements.close()
    world = await open({ at: world.clock.at + 600 * MINUTE })
    world.chain.blocks.set(2n, hash('2'))
    const asked = vi.spyOn(world.chain, 'blockHashes')
    await world.look(0)
    await world.look(16 * MINUTE)
    expect(asked.mock.calls).toEqual([[[2n]], [[2n]]])
    await world.settled(inBlock(3n, '3'))
    await world.look()
    expect(asked.mock.calls.slice(2)).toEqual([[[2n]], [[3n]]])
  })
})

describe('the looks', () => {
  const heights: bigint[][] = []
  beforeEach(() => {
    heights.splice(0)
    const { blockHashes } = world.chain
    world.chain.blockHashes = (asked) => {
      heights.push([...asked])
      return blockHashes(asked)
    }
  })

  it('ask for each block once, and then for the newest alone: it stands on the others', async () => {
    await world.settled(inBlock(1n, '1'))
    await world.settled(inBlock(1n, '1'))
    await world.settled(inBlock(2n, '2'))
    await world.look(2 * MINUTE)
    expect(heights).toEqual([[2n, 1n]])
    await world.look()
    expect(heights.slice(1)).toEqual([[2n]])
  })

  it('ask for all of them again once that one is gone', async () => {
    const first = await world.settled(inBlock(1n, '1'))
    await world.settled(inBlock(2n, '2'))
    await world.look()
    await world.look(2 * MINUTE)
    heights.splice(0)
    world.chain.blocks.set(1n, hash('8'))
    world.chain.blocks.set(2n, hash('9'))
    world.chain.statuses.delete(first.nonce)
    await world.look()
    expect(heights).toEqual([[2n], [2n, 1n]])
    expect((await world.claimOf(first.id)).state).toBe('pending')
  })

  it('begin where the last one did while the chain has not said what became of each', async () => {
    // The newer one was settled after the reorganisation that took the older one.
    const older = await world.settled(inBlock(1n, '1'))
    await world.settled(inBlock(2n, '2'))
    world.chain.blocks.set(1n, hash('8'))
    world.chain.statuses.set(older.nonce, 'silent')
    await world.look(2 * MINUTE)
    expect((await world.claimOf(older.id)).state).toBe('settled')
    world.chain.statuses.delete(older.nonce)
    await world.look()
    expect((await world.claimOf(older.id)).state).toBe('pending')
  })

  it('ask nothing where nothing was settled', async () => {
    await world.look()
    expect(heights).toEqual([])
  })
})

describe('a payment that a reorganisation took back', () => {
  const takeBack = (claim: PaymentClaim) => {
    world.chain.blocks.set(1n, hash('2'))
    world.chain.statuses.delete(claim.nonce)
  }

  it('is broadcast again by our own settler, once its node has had time to do it', async () => {
    world = await open({ url: null })
    const claim = await world.settled()
    takeBack(claim)
    await world.look()
    expect(world.upstream.settled).toHaveLength(1)
    world.upstream.answer = () => {
      world.chain.statuses.set(claim.nonce, inBlock(5n, '5', OTHER_TX))
      return { state: 'settled', transaction: OTHER_TX }
    }
    // Whoever asks in between hastens nothing.
    world.clock.at += 1_000
    await world.settlements.reconcileOne(await world.claimOf(claim.id))
    expect(world.upstream.settled).toHaveLength(1)
    expect(await world.look()).toMatchObject({ settled: 1 })
    expect(world.upstream.settled).toHaveLength(2)
    expect(await world.claimOf(claim.id)).toMatchObject({ state: 'settled', transaction: OTHER_TX })
  })

  it('is sent to no facilitator again', async () => {
    const claim = await world.settled()
    takeBack(claim)
    for (let i = 0; i < 3; i++) await world.look()
    expect(world.upstream.settled).toHaveLength(1)
    expect((await world.claimOf(claim.id)).state).toBe('pending')
  })
})

describe('confirmations', () => {
  it.each([
    [3, 5n, 'pending'],
    [2, 5n, 'settled'],
    [3, 6n, 'settled'],
    [1, 4n, 'settled'],
  ])(
    '%i are wanted of a transfer in block 4, and the head is %i: %s',
    async (confirmations, height, state) => {
      world = await open({ confirmations })
      const payment = makePayment(world.clock.at)
      world.chain.statuses.set(payment.nonce, inBlock(4n, '4'))
      world.chain.height = height
      const held = await claimFor(temp.store, payment, BOOT)
      const startedAt = world.clock.at
      const settlement = await world.settlements.settle({ claim: held, payment, requirements, result })
      expect(settlement).toMatchObject({ state, claim: { transaction: TX } })
      if (state === 'pending') {
        expect(settlement.claim.reason).toBe('awaiting_confirmations')
        expect(world.clock.at - startedAt).toBe(25_000)
        await world.look()
        expect((await world.claimOf(held.id)).state).toBe('pending')
        world.chain.height = 6n
        expect(await world.look()).toMatchObject({ settled: 1 })
        expect((await world.claimOf(held.id)).state).toBe('settled')
      }
    },
  )

  it('are waited for also where our own settler saw the receipt', async () => {
    world = await open({ url: null, confirmations: 2 })
    const block = { number: 4n, hash: hash('4') }
    world.upstream.answer = { state: 'settled', transaction: TX, isWitnessed: true, block }
    const payment = makePayment(world.clock.at)
    world.chain.statuses.set(payment.nonce, inBlock(4n, '4'))
    world.chain.height = 4n
    const held = await claimFor(temp.store, payment, BOOT)
    expect((await world.settlements.settle({ claim: held, payment, requirements, result })).state).toBe(
      'pending',
    )
  })
})
