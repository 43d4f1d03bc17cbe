import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Config } from '../../../src/core/config.ts'
import { noFault, parseFault } from '../../../src/lib/fault-points.ts'
import { newId } from '../../../src/lib/ids.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { type AuthorizationStatus, ChainError, type ChainProbe } from '../../../src/payments/chain-ports.ts'
import type { Payment, UpstreamSettlement } from '../../../src/payments/ports.ts'
import { createRouter } from '../../../src/payments/router.ts'
import { createSettlements, type SettlementParts } from '../../../src/payments/settlements.ts'
import { decodeJws } from '../../../src/receipts/types.ts'
import type { NewPaymentClaim, PaymentClaim, Store } from '../../../src/store/ports.ts'
import {
  claimFor,
  exactKind,
  fakeChain,
  type FakeChain,
  type FakeUpstream,
  fakeUpstream,
  hash,
  makeForeignPayment,
  makePayment,
  networks,
  PAY_TO,
  requirements,
  sepolia,
  SOLANA,
  usedIn,
} from '../../support/payment-fakes.ts'
import { runRaw } from '../../support/raw-sql.ts'
import { seedAccount } from '../../support/seed.ts'
import { newClaim } from '../../support/store.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const TX = hash('a')
const OTHER_TX = hash('b')
const BOOT = 'boot_test'
const result = { json: '{"receipt":null}', sha256: 'f'.repeat(64) }

let temp: TempStore
beforeAll(async () => void (temp = await openTempStore()))
afterAll(() => temp.close())

interface Scene {
  readonly store: Store
  readonly chain: FakeChain
  readonly upstreams: readonly FakeUpstream[]
  readonly clock: { at: number }
  readonly waits: number[]
  readonly settlements: ReturnType<typeof createSettlements>
  readonly payment: Payment
  claim(overrides?: Partial<NewPaymentClaim>): Promise<PaymentClaim>
  settle(claim: PaymentClaim): ReturnType<ReturnType<typeof createSettlements>['settle']>
}

function scene(options: {
  answers?: readonly UpstreamSettlement[]
  status?: AuthorizationStatus | 'silent'
  payment?: (now: number) => Payment
  parts?: Partial<SettlementParts>
}): Scene {
  const clock = { at: Date.now() }
  const now = () => clock.at
  const payment = (options.payment ?? makePayment)(clock.at)
  const chain = fakeChain(now)
  if (options.status) chain.statuses.set(payment.nonce, options.status)
  const kinds = [exactKind(payment.network)]
  const upstreams = (options.answers ?? []).map((answer, i) =>
    fakeUpstream(`up${i}`, { answer, kinds, feeAtomic: BigInt(i) }),
  )
  const log = createLogger('silent')
  const waits: number[] = []
  const settlements = createSettlements({
    store: temp.store,
    router: createRouter({ upstreams, networks, now, log }),
    networks,
    chains: new Map([[sepolia.network, chain]]),
    signer: { kid: 'k', environment: 'production', sign: (typ, payload) => fakeJws(typ, payload) },
    baseUrl: 'https://gateway.test',
    bootId: BOOT,
    now,
    log,
    fault: noFault,
    wait: async (ms) => {
      waits.push(ms)
      clock.at += ms
    },
    ...options.parts,
  })
  return {
    store: temp.store,
    chain,
    upstreams,
    clock,
    waits,
    settlements,
    payment,
    claim: (overrides) => claimFor(temp.store, payment, BOOT, overrides),
    settle: (claim) => settlements.settle({ claim, payment, requirements, result }),
  }
}

const fakeJws = (typ: string, payload: unknown) =>
  [{ typ }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.sig'

const settled: UpstreamSettlement = { state: 'settled', transaction: TX }
const pending: UpstreamSettlement = { state: 'pending', transaction: TX }
const refused: UpstreamSettlement = { state: 'refused', reason: 'upstream_unreachable' }
const failed: UpstreamSettlement = { state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' }
const unknown: UpstreamSettlement = { state: 'unknown', reason: 'upstream_timeout' }
const canceled: AuthorizationStatus = { state: 'canceled', transaction: OTHER_TX }
const unused: AuthorizationStatus = { state: 'unused' }

describe('one settlement', () => {
  // Whatever an upstream says, the chain decides.
  const paid = { state: 'settled', transaction: TX }
  const table: [string, UpstreamSettlement, AuthorizationStatus | 'silent', Record<string, unknown>][] = [
    ['settled, and the chain agrees', settled, usedIn(TX), paid],
    ['settled, under another transaction', settled, usedIn(OTHER_TX), { ...paid, transaction: OTHER_TX }],
    [
      'settled, and the chain knows nothing',
      settled,
      unused,
      { state: 'unknown', reason: 'settlement_unproven' },
    ],
    [
      'settled, and the payer had canceled',
      settled,
      canceled,
      { state: 'failed', reason: 'authorization_canceled' },
    ],
    [
      'settled, but another amount moved',
      settled,
      usedIn(TX, false),
      { state: 'failed', reason: 'authorization_used_otherwise' },
    ],
    [
      'settled, and the chain is silent',
      settled,
      'silent',
      { state: 'unknown', reason: 'settlement_unproven' },
    ],
    ['pending, then mined', pending, usedIn(TX), paid],
    ['pending, not mined', pending, unused, { state: 'pending', transaction: TX }],
    ['pending, and the chain is silent', pending, 'silent', { state: 'pending', transaction: TX }],
    ['failed, but a stranger submitted it', failed, usedIn(OTHER_TX), { ...paid, transaction: OTHER_TX }],
    ['failed, because canceled', failed, canceled, { state: 'failed', reason: 'authorization_canceled' }],
    ['failed, and it could still be used', failed, unused, { state: 'unknown', reason: failed.reason }],
    ['failed, and the chain is silent', failed, 'silent', { state: 'unknown', reason: failed.reason }],
    ['unknown, and it had arrived', unknown, usedIn(TX), paid],
    ['unknown, and it had not', unknown, unused, { state: 'unknown', reason: 'upstream_timeout' }],
    ['unknown, and canceled', unknown, canceled, { state: 'failed', reason: 'authorization_canceled' }],
    ['refused', refused, unused, { state: 'failed', reason: 'upstream_unreachable' }],
    ['refused, but a stranger submitted it', refused, usedIn(OTHER_TX), { ...paid, transaction: OTHER_TX }],
    ['refused, and the chain is silent', refused, 'silent', { state: 'unknown', reason: 'not_broadcast' }],
  ]
  it.each(table)('that is %s', async (_name, answer, status, expected) => {
    const { settle, claim, store, upstreams } = scene({ answers: [answer], status })
    const held = await claim()
    const settlement = await settle(held)
    expect(settlement.state).toBe(expected['state'])
    const stored = await store.getClaim(held.id)
    expect(settlement.claim).toEqual(stored)
    expect(stored).toMatchObject(expected)
    expect(upstreams[0]!.settled).toHaveLength(1)
    const isKept = stored!.state !== 'failed'
    expect(await store.getClaimResult(held.id)).toEqual(isKept ? expect.objectContaining(result) : undefined)
  })

  it('that its upstream witnessed is not asked for again, where the chain could tell', async () => {
    const witnessed: UpstreamSettlement = { state: 'settled', transaction: TX, isWitnessed: true }
    const ours = scene({ answers: [witnessed], status: 'silent' })
    const held = await ours.claim()
    expect(await ours.settle(held)).toMatchObject({ state: 'settled', claim: { transaction: TX } })
    expect(ours.chain.looks).toBe(0)
    expect(await ours.store.getClaim(held.id)).toMatchObject(paid)
    const told = scene({ answers: [settled], status: usedIn(TX) })
    expect((await told.settle(await told.claim())).state).toBe('settled')
    expect(told.chain.looks).toBe(1)
  })

  it('that is near is told to the upstream that will get it, and to no other', async () => {
    const { settlements, payment, upstreams } = scene({ answers: [settled, settled] })
    const told: string[] = []
    for (const upstream of upstreams)
      upstream.prepare = ({ nonce }) => void told.push(`${upstream.id} ${nonce}`)
    settlements.prepare!(payment)
    await expect.poll(() => told).toEqual([`up0 ${payment.nonce}`])
    upstreams[0]!.prepare = () => {
      told.push('fails')
      throw new Error('nothing that anybody must hear of')
    }
    settlements.prepare!(payment)
    await expect.poll(() => told.at(-1)).toBe('fails')
    expect(upstreams.flatMap((upstream) => upstream.settled)).toEqual([])
  })

  it('is submitted on disk, with its result, before the upstream hears of it', async () => {
    const seen: unknown[] = []
    const one = scene({ answers: [settled], status: usedIn(TX) })
    const held = await one.claim()
    const { settle } = one.upstreams[0]!
    one.upstreams[0]!.settle = async (request) => {
      seen.push((await one.store.getClaim(held.id))?.state, (await one.store.getClaimResult(held.id))?.json)
      return settle(request)
    }
    await one.settle(held)
    expect(seen).toEqual(['submitted', result.json])
  })

  it('goes to the next upstream only while nothing has left', async () => {
    const { settle, claim, upstreams, store } = scene({
      answers: [refused, refused, settled, settled],
      status: usedIn(TX),
    })
    const held = await claim()
    expect((await settle(held)).state).toBe('settled')
    expect(upstreams.map(({ settled: calls }) => calls.length)).toEqual([1, 1, 1, 0])
    expect((await store.getClaim(held.id))?.upstream).toBe('up2')
  })

  it.each([failed, unknown, pending])('goes to no other upstream after $state', async (answer) => {
    const { settle, claim, upstreams } = scene({ answers: [answer, settled] })
    await settle(await claim())
    expect(upstreams.map(({ settled: calls }) => calls.length)).toEqual([1, 0])
  })

  it('has a receipt that names everything but the query', async () => {
    const { settle, claim, store } = scene({ answers: [settled], status: usedIn(TX) })
    const held = await claim()
    const settlement = await settle(held)
    if (settlement.state !== 'settled') throw new Error(settlement.state)
    expect(await store.getReceipt(settlement.receipt.id)).toEqual(settlement.receipt)
    const { header, payload } = decodeJws(settlement.receipt.jws)
    expect(header).toEqual({ typ: 'gw-receipt+jws' })
    expect(payload).toEqual({
      iss: 'https://gateway.test',
      jti: settlement.receipt.id,
      iat: expect.any(Number),
      kind: 'payment',
      receipt_id: settlement.receipt.id,
      claim_id: held.id,
      tool: 'gateway.test',
      method: 'POST',
      resource: 'gateway.test/v1/paid',
      request_digest: 'request-digest',
      result_sha256: result.sha256,
      network: sepolia.network,
      asset: sepolia.asset.address.toLowerCase(),
      amount: '1000',
      payer: held.payer,
      pay_to: PAY_TO,
      transaction: TX,
      upstream: 'up0',
      revenue: false,
      issued_at: expect.stringMatching(/Z$/),
    })
  })

  it('grants the credits it bought, once', async () => {
    const accountId = await seedAccount(temp.store, 0)
    const one = scene({ answers: [settled], status: usedIn(TX) })
    const held = await one.claim({ purchase: { accountId, credits: 7 } })
    await one.settle(held)
    await one.settlements.reconcile()
    await one.settle(held)
    expect(await temp.store.balance(accountId)).toBe(7)
  })

  it('that another call has made is answered as it stands, and nothing is sent', async () => {
    const first = scene({ answers: [settled], status: usedIn(TX) })
    const held = await first.claim()
    const once = await first.settle(held)
    expect(await first.settle(held)).toEqual(once)
    expect(first.upstreams[0]!.settled).toHaveLength(1)

    const other = scene({ answers: [settled] })
    const gone = await other.claim()
    await other.store.cancelClaim({ id: gone.id, bootId: BOOT, reason: 'test', now: Date.now() })
    expect(await other.settle(gone)).toMatchObject({ state: 'failed', claim: { state: 'canceled' } })
    expect(other.upstreams[0]!.settled).toHaveLength(0)
  })

  it('of 64 calls at once is sent once', async () => {
    const { settle, claim, upstreams } = scene({ answers: [settled], status: usedIn(TX) })
    const held = await claim()
    const all = await Promise.all(Array.from({ length: 64 }, () => settle(held)))
    expect(upstreams[0]!.settled).toHaveLength(1)
    expect(all.filter(({ state }) => state === 'settled').length).toBeGreaterThanOrEqual(1)
    const receipts = all.flatMap((one) => (one.state === 'settled' ? [one.receipt.id] : []))
    expect(new Set(receipts).size).toBe(1)
  })

  it('without a live facilitator is not submitted, and the payment is free again', async () => {
    const { settle, claim, store } = scene({})
    const held = await claim()
    await expect(settle(held)).rejects.toMatchObject({ code: 'no_route', status: 503 })
    expect(await store.getClaim(held.id)).toMatchObject({ state: 'canceled', reason: 'no_route' })
    expect((await claim()).state).toBe('claimed')
  })

  it('looks again while the chain is behind, and stops in time', async () => {
    const late = scene({ answers: [settled] })
    const held = await late.claim()
    const { authorizationStatus } = late.chain
    // Each look asks twice: for the transaction that was named, then for any that used the payment.
    late.chain.authorizationStatus = async (input) =>
      late.chain.looks >= 6 ? usedIn(TX) : authorizationStatus(input)
    expect((await late.settle(held)).state).toBe('settled')
    expect(late.waits).toEqual([100, 200, 400])

    const never = scene({ answers: [pending] })
    const startedAt = never.clock.at
    await never.settle(await never.claim())
    expect(never.clock.at - startedAt).toBe(25_000)
  })

  it('that throws in the middle is unknown, not lost', async () => {
    const { settle, claim, store, upstreams } = scene({
      answers: [settled],
      parts: { fault: parseFault('after_submitted:throw') },
    })
    const held = await claim()
    expect((await settle(held)).state).toBe('unknown')
    expect(await store.getClaim(held.id)).toMatchObject({ state: 'unknown', reason: 'interrupted' })
    expect(upstreams[0]!.settled).toHaveLength(0)
  })

  it('teaches the router about upstreams that fail or lie', async () => {
    const liar = scene({ answers: [settled] })
    for (let i = 0; i < 3; i++) {
      const payment = makePayment(liar.clock.at)
      const held = await claimFor(temp.store, payment, BOOT)
      await liar.settlements.settle({ claim: held, payment, requirements, result: null })
    }
    await expect(liar.settle(await liar.claim())).rejects.toMatchObject({ code: 'no_route' })
  })
})

const declined: UpstreamSettlement = { state: 'failed', reason: 'insufficient_funds' }
const broke = {
  nonceUsed: false,
  balance: 999n,
  payerHasCode: false,
  revert: 'ERC20: transfer amount exceeds balance',
}

describe('a payment that its upstream declines', () => {
  /** What the token would say to the transfer. */
  const probed = (one: Scene, probe: Partial<ChainProbe>) => {
    one.chain.probe = async () => ({ ...broke, ...probe })
    return one
  }

  it.each<[string, Partial<ChainProbe>, string]>([
    ['whose payer cannot pay', {}, 'insufficient_funds'],
    [
      'that the token refuses for another reason',
      { balance: 1000n },
      'invalid_exact_evm_transaction_simulation_failed',
    ],
  ])('%s failed for now: not sent again, kept, and watched', async (_name, probe, reason) => {
    const one = probed(scene({ answers: [declined] }), probe)
    const held = await one.claim()
    const settlement = await one.settle(held)
    expect(settlement).toMatchObject({ state: 'failed', reason, claim: { reason, finishedAt: null } })
    expect((settlement as { message: string }).message).toContain('Should this one be settled after all')
    expect(one.upstreams[0]!.settled).toHaveLength(1)
    expect(await one.store.getClaimResult(held.id)).toMatchObject(result)
  })

  it('at the edges of its window is judged by the time of the chain', async () => {
    const over = probed(scene({ answers: [declined] }), { balance: 5000n })
    over.chain.time = over.payment.validBefore!
    expect(await over.settle(await over.claim())).toMatchObject({
      state: 'failed',
      reason: 'authorization_expired',
    })
    // It only waits for its time, so anybody who has it can still use it.
    const early = probed(
      scene({
        answers: [declined],
        payment: (now) => {
          const payment = makePayment(now)
          if (payment.kind.type !== 'eip3009') throw new Error('no authorization')
          const validAfter = BigInt(Math.floor(now / 1000)) + 60n
          return {
            ...payment,
            kind: { ...payment.kind, authorization: { ...payment.kind.authorization, validAfter } },
          }
        },
      }),
      {},
    )
    expect((await early.settle(await early.claim())).state).toBe('unknown')
  })

  it('and that the chain would take goes to the same upstream once more, and to no other', async () => {
    const one = scene({ answers: [declined, settled] })
    const held = await one.claim()
    one.upstreams[0]!.answer = () => {
      const times = one.upstreams[0]!.settled.length
      if (times === 2) one.chain.statuses.set(held.nonce, usedIn(TX))
      return times === 1 ? declined : settled
    }
    expect(await one.settle(held)).toMatchObject({
      state: 'settled',
      claim: { transaction: TX, upstream: 'up0' },
    })
    expect(one.upstreams.map(({ settled: calls }) => calls.length)).toEqual([2, 0])
  })

  it.each<[string, UpstreamSettlement]>([
    ['declines it again', declined],
    ['cannot be reached any more', refused],
    ['does not answer', unknown],
  ])('twice, or then %s, stays unknown while it can be used', async (_name, second) => {
    const one = scene({ answers: [declined, settled] })
    const held = await one.claim()
    one.upstreams[0]!.answer = () => (one.upstreams[0]!.settled.length === 1 ? declined : second)
    expect((await one.settle(held)).state).toBe('unknown')
    expect(one.upstreams.map(({ settled: calls }) => calls.length)).toEqual([2, 0])
    // Neither may the reconciler believe that it was never sent.
    one.clock.at += 1
    await one.settlements.reconcile()
    expect((await one.store.getClaim(held.id))?.state).toBe('unknown')
  })

  it('is not sent again when there is no time for it', async () => {
    const one = scene({ answers: [declined] })
    one.upstreams[0]!.answer = () => {
      one.clock.at += 19_000
      return declined
    }
    expect((await one.settle(await one.claim())).state).toBe('unknown')
    expect(one.upstreams[0]!.settled).toHaveLength(1)
  })

  it('is unknown while the chain does not say what the token would do', async () => {
    const one = scene({ answers: [declined] })
    one.chain.probe = () => Promise.reject(new ChainError('timeout', sepolia.network))
    expect((await one.settle(await one.claim())).state).toBe('unknown')
    expect(one.upstreams[0]!.settled).toHaveLength(1)
  })

  it('and that somebody used between two questions counts', async () => {
    const one = scene({ answers: [declined] })
    const held = await one.claim()
    one.chain.probe = async () => {
      one.chain.statuses.set(held.nonce, usedIn(OTHER_TX))
      return { ...broke, nonceUsed: true }
    }
    expect(await one.settle(held)).toMatchObject({ state: 'settled', claim: { transaction: OTHER_TX } })
  })

  it('and settles all the same is settled late: with its receipt, its result and its credits', async () => {
    const accountId = await seedAccount(temp.store, 0)
    const one = probed(scene({ answers: [declined] }), {})
    const held = await one.claim({ purchase: { accountId, credits: 7 } })
    expect((await one.settle(held)).state).toBe('failed')
    one.clock.at += 1
    expect(await one.settlements.reconcile()).toMatchObject({ settled: 0, failed: 0 })
    one.chain.statuses.set(held.nonce, usedIn(TX))
    one.clock.at += 1
    expect(await one.settlements.reconcile()).toMatchObject({ settled: 1 })
    const late = (await one.store.getClaim(held.id))!
    expect(late).toMatchObject({ state: 'settled', transaction: TX, reason: null })
    expect(await one.store.getReceipt(late.receiptId!)).toBeDefined()
    expect(await one.store.getClaimResult(held.id)).toMatchObject(result)
    expect(await temp.store.balance(accountId)).toBe(7)
  })

  it('is settled late also when its owner asks first', async () => {
    const one = probed(scene({ answers: [declined] }), {})
    const held = await one.claim()
    const settlement = await one.settle(held)
    one.chain.statuses.set(held.nonce, usedIn(TX))
    expect((await one.settlements.reconcileOne(settlement.claim)).state).toBe('settled')
  })

  it('is watched no longer than it can be used, and its result goes', async () => {
    const one = probed(scene({ answers: [declined] }), {})
    const held = await one.claim()
    await one.settle(held)
    one.chain.time = held.validBefore! + 60_001
    one.clock.at += 1
    await one.settlements.reconcile()
    expect(await one.store.getClaim(held.id)).toMatchObject({
      state: 'failed',
      reason: 'insufficient_funds',
      finishedAt: one.clock.at,
    })
    expect(await one.store.getClaimResult(held.id)).toBeUndefined()
  })

  it('gives back at once what /settle took', async () => {
    const accountId = await seedAccount(temp.store, 3)
    const one = probed(scene({ answers: [declined] }), {})
    const held = await one.claim({ origin: 'settle', accountId })
    const allowances = [{ holder: accountId, allowance: 0 }] as const
    const take = { allowances, month: '2026-11', accountId, claimId: held.id }
    await temp.store.takeSettlement({ ...take, transactionId: newId('txn'), now: one.clock.at })
    await one.settle(held)
    expect(await temp.store.balance(accountId)).toBe(3)
  })
})

describe('an upstream that hangs', () => {
  /** Pauses are counted, not waited for; the upstream answers when the test says so. */
  function hanging(status: AuthorizationStatus | 'silent' = unused) {
    const pauses: number[] = []
    const upstream = Promise.withResolvers<UpstreamSettlement>()
    const knows = { after: Infinity, status: usedIn(TX) as AuthorizationStatus }
    const one = scene({
      answers: [settled],
      status,
      parts: {
        pause: async (ms, signal) => {
          if (signal.aborted) return false
          pauses.push(ms)
          if (pauses.length >= knows.after) one.chain.statuses.set(one.payment.nonce, knows.status)
          // The loop must let others run, as a real pause does.
          await new Promise((resolve) => setImmediate(resolve))
          return !signal.aborted
        },
      },
    })
    one.upstreams[0]!.settle = () => upstream.promise
    return { one, pauses, knows, answer: upstream.resolve }
  }

  it.each([
    [1, [1_000]],
    [3, [1_000, 2_000, 4_000]],
    [5, [1_000, 2_000, 4_000, 4_000, 4_000]],
  ])('keeps nobody waiting for what the chain knows at look %i', async (after, expected) => {
    const { one, pauses, knows, answer } = hanging()
    knows.after = after
    expect(await one.settle(await one.claim())).toMatchObject({
      state: 'settled',
      claim: { transaction: TX },
    })
    expect(pauses).toEqual(expected)
    // The late answer changes nothing, whatever it says.
    answer({ state: 'settled', transaction: OTHER_TX })
    await new Promise((resolve) => setImmediate(resolve))
    const asset = requirements.asset.toLowerCase()
    expect((await one.store.findClaim({ ...one.payment, asset }))?.transaction).toBe(TX)
  })

  it('is not waited for either when the payer took the payment back meanwhile', async () => {
    const { one, knows } = hanging()
    knows.after = 2
    knows.status = canceled
    expect(await one.settle(await one.claim())).toMatchObject({
      state: 'failed',
      reason: 'authorization_canceled',
    })
  })

  it.each([unused, 'silent'] as const)(
    'and answers in the end is heard, while the chain is %j',
    async (status) => {
      const { one, pauses, answer } = hanging(status)
      const settling = one.claim().then((held) => one.settle(held))
      await vi.waitFor(() => expect(pauses.length).toBeGreaterThan(4), { timeout: 60_000 })
      answer(unknown)
      expect(await settling).toMatchObject({ state: 'unknown', claim: { reason: 'upstream_timeout' } })
      const asked = pauses.length
      await new Promise((resolve) => setImmediate(resolve))
      expect(pauses.length).toBeLessThanOrEqual(asked + 1)
    },
  )

  it('is asked about no chain where none can tell, and none of our own process', async () => {
    const own = hanging()
    Object.assign(own.one.upstreams[0]!, { url: null })
    own.answer(unknown)
    expect((await own.one.settle(await own.one.claim())).state).toBe('unknown')
    expect(own.pauses).toEqual([])
  })
})

describe('a payment that no chain of ours can prove', () => {
  const foreign = (answer: UpstreamSettlement) => scene({ answers: [answer], payment: makeForeignPayment })
  const claimed = (one: Scene) => one.claim({ asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' })

  it('settles by the word of its facilitator, with the payer it names', async () => {
    const transaction = '5'.repeat(88)
    const one = foreign({ state: 'settled', transaction, payer: 'Payer1' })
    const settlement = await one.settle(await claimed(one))
    expect(settlement).toMatchObject({ state: 'settled', claim: { network: SOLANA, transaction } })
    if (settlement.state !== 'settled') return
    expect(decodeJws(settlement.receipt.jws).payload).toMatchObject({ payer: 'Payer1', revenue: false })
  })

  it('does not settle by a transaction that paid for another claim', async () => {
    const transaction = '6'.repeat(88)
    const one = foreign({ state: 'settled', transaction })
    expect((await one.settle(await claimed(one))).state).toBe('settled')
    const payment = makeForeignPayment(one.clock.at)
    const held = await claimFor(temp.store, payment, BOOT)
    expect(await one.settlements.settle({ claim: held, payment, requirements, result: null })).toMatchObject({
      state: 'unknown',
      claim: { reason: 'settlement_unproven' },
    })
  })

  it('nor by one that paid for another claim through another replica, or before a restart', async () => {
    const answer = { state: 'settled', transaction: '8'.repeat(88) } as const
    const [first, second] = [foreign(answer), foreign(answer)]
    expect((await first.settle(await claimed(first))).state).toBe('settled')
    const one = await second.settle(await claimed(second))
    expect(one).toMatchObject({
      state: 'unknown',
      claim: { state: 'unknown', reason: 'settlement_unproven', transaction: null, receiptId: null },
    })
    // No round of anybody makes more of it.
    await first.settlements.reconcile()
    await second.settlements.reconcile()
    expect(await temp.store.getClaim(one.claim.id)).toMatchObject({ state: 'unknown', receiptId: null })
  })

  it.each<[UpstreamSettlement, string]>([
    [{ state: 'failed', reason: 'insufficient_funds' }, 'failed'],
    [refused, 'failed'],
    [unknown, 'unknown'],
    [{ state: 'pending', transaction: '7'.repeat(88) }, 'pending'],
  ])('is %j: %s', async (answer, state) => {
    const one = foreign(answer)
    expect((await one.settle(await claimed(one))).state).toBe(state)
    await one.settlements.reconcile()
  })
})

describe('reconciling', () => {
  beforeEach(async () => {
    // What other tests left open is not looked at here.
    const one = scene({})
    for (const claim of await temp.store.takeDoubtfulClaims({ limit: 1000, now: Date.now() + 1e9 }))
      await temp.store.moveClaim({
        id: claim.id,
        to: 'failed',
        reason: 'test',
        transaction: null,
        now: one.clock.at,
      })
    for (const { id } of await temp.store.takeWatchedClaims({ limit: 1000, now: Date.now() + 1e9 }))
      await temp.store.endWatch(id, one.clock.at)
  })
  const doubtful = async (one: Scene, answer: UpstreamSettlement = unknown) => {
    one.upstreams[0]!.answer = answer
    const held = await one.claim()
    await one.settle(held)
    one.clock.at += 1
    return held
  }

  it('settles what arrived after all, with a receipt, and sends nothing', async () => {
    const one = scene({ answers: [unknown] })
    const held = await doubtful(one)
    one.chain.statuses.set(held.nonce, usedIn(TX))
    expect(await one.settlements.reconcile()).toEqual({ looked: 1, settled: 1, failed: 0, open: 0 })
    const claim = await one.store.getClaim(held.id)
    expect(claim).toMatchObject({ state: 'settled', transaction: TX })
    expect(await one.store.getReceipt(claim!.receiptId!)).toBeDefined()
    expect(one.upstreams[0]!.settled).toHaveLength(1)
  })

  it.each<[string, number, number, string]>([
    ['before it expires', 299_999, 0, 'unknown'],
    ['a minute after it expired by the chain', 360_000, 0, 'unknown'],
    ['later than that by the chain', 360_001, 0, 'failed'],
    ['long after by our clock, on a node that is behind', 0, 300_001 + 6 * 3600_000, 'unknown'],
    ['a minute after it expired by a node that is behind', 360_000, 300_001 + 6 * 3600_000, 'unknown'],
    ['later than that by a node that is behind', 360_001, 300_001 + 6 * 3600_000, 'failed'],
    ['just after by our clock', 0, 400_000, 'unknown'],
  ])('of an unused payment %s (%i ms on the chain, %i here): %s', async (_name, chainMs, ourMs, state) => {
    const one = scene({ answers: [unknown] })
    const start = one.clock.at
    const held = await doubtful(one)
    one.chain.time = start + chainMs
    one.clock.at = Math.max(one.clock.at, start + ourMs)
    await one.settlements.reconcile()
    expect((await one.store.getClaim(held.id))?.state).toBe(state)
  })

  it.each<[number, string]>([
    [300_000 + 6 * 3600_000, 'unknown'],
    [300_001 + 6 * 3600_000, 'failed'],
  ])('of an unused payment on a chain that mines on demand, %i ms later: %s', async (ourMs, state) => {
    const one = scene({ answers: [unknown] })
    one.chain.minesOnDemand = true
    const start = one.clock.at
    const held = await doubtful(one)
    one.clock.at = start + ourMs
    await one.settlements.reconcile()
    expect((await one.store.getClaim(held.id))?.state).toBe(state)
  })

  it('settles what was paid once a node that was behind has caught up, and says that it was', async () => {
    const log = createLogger('silent')
    const [warned, told] = [vi.spyOn(log, 'warn'), vi.spyOn(log, 'info')]
    const one = scene({ answers: [unknown], parts: { log } })
    const held = await doubtful(one)
    const ofNode = (calls: unknown[][]) => calls.filter((call) => /^a node (is|has)/.test(String(call[1])))
    // Its operator brought it back from yesterday's copy.
    one.chain.time -= 24 * 3600_000
    for (let hour = 0; hour < 12; hour++) {
      one.clock.at += 3600_000
      await one.settlements.reconcile()
    }
    expect((await one.store.getClaim(held.id))?.state).toBe('unknown')
    expect(ofNode(warned.mock.calls)).toMatchObject([
      [{ network: sepolia.network }, expect.stringContaining('is behind its chain')],
    ])
    one.chain.time = one.clock.at
    one.chain.statuses.set(held.nonce, usedIn(TX))
    one.clock.at += 60_000
    await one.settlements.reconcile()
    expect(await one.store.getClaim(held.id)).toMatchObject({ state: 'settled', transaction: TX })
    expect(ofNode(told.mock.calls)).toHaveLength(1)
  })

  it('does not take the word of a node that is behind for what was never broadcast', async () => {
    const one = scene({ answers: [refused] })
    one.chain.time -= 15 * 60_000 + 1
    const held = await doubtful(one, refused)
    expect(await one.store.getClaim(held.id)).toMatchObject({ state: 'unknown', reason: 'not_broadcast' })
    one.chain.time = one.clock.at - 15 * 60_000
    await one.settlements.reconcile()
    expect(await one.store.getClaim(held.id)).toMatchObject({ state: 'failed', reason: 'settlement_refused' })
  })

  it('fails what was never broadcast as soon as the chain says so', async () => {
    const one = scene({ answers: [refused] })
    one.chain.statuses.set(one.payment.nonce, 'silent')
    const held = await doubtful(one, refused)
    expect((await one.store.getClaim(held.id))?.reason).toBe('not_broadcast')
    one.chain.statuses.delete(held.nonce)
    await one.settlements.reconcile()
    expect(await one.store.getClaim(held.id)).toMatchObject({ state: 'failed', reason: 'settlement_refused' })
  })

  it('fails what the payer canceled, and gives back what /settle took', async () => {
    const accountId = await seedAccount(temp.store, 3)
    const one = scene({ answers: [unknown] })
    const held = await one.claim({ origin: 'settle', accountId })
    const take = {
      allowances: [{ holder: accountId, allowance: 0 }] as const,
      month: '2026-11',
      accountId,
      claimId: held.id,
      transactionId: newId('txn'),
      now: one.clock.at,
    }
    await temp.store.takeSettlement(take)
    await one.settle(held)
    expect(await temp.store.balance(accountId)).toBe(2)
    one.clock.at += 1
    one.chain.statuses.set(held.nonce, canceled)
    await one.settlements.reconcile()
    expect((await one.store.getClaim(held.id))?.state).toBe('failed')
    expect(await temp.store.balance(accountId)).toBe(3)
  })

  /** @param statusOf what the chain says of each */
  async function sixDoubtful(
    one: ReturnType<typeof scene>,
    statusOf: (i: number) => AuthorizationStatus | 'silent' | undefined,
  ) {
    for (let i = 0; i < 6; i++) {
      const payment = makePayment(one.clock.at)
      const status = statusOf(i)
      if (status !== undefined) one.chain.statuses.set(payment.nonce, status)
      const held = await claimFor(temp.store, payment, BOOT)
      const now = one.clock.at
      await temp.store.submitClaim({ id: held.id, bootId: BOOT, upstream: 'x', result: null, now })
      await temp.store.moveClaim({ id: held.id, to: 'unknown', reason: null, transaction: null, now })
    }
    one.clock.at += 1
  }

  it('goes on to those that a node shows as paid, though it is behind', async () => {
    const one = scene({ answers: [unknown] })
    one.chain.time -= 16 * 60_000
    await sixDoubtful(one, (i) => (i === 5 ? usedIn(TX) : undefined))
    expect(await one.settlements.reconcile()).toEqual({ looked: 6, settled: 1, failed: 0, open: 5 })
  })

  it('looks at each once in a round, whatever another clock makes of them meanwhile', async () => {
    const one = scene({ answers: [unknown] })
    await sixDoubtful(one, () => undefined)
    const take = temp.store.takeDoubtfulClaims.bind(temp.store)
    // Another process, whose clock is far ahead, has looked at them between two questions of this one.
    let rounds = 0
    const taken = vi.spyOn(temp.store, 'takeDoubtfulClaims').mockImplementation(async (input) => {
      if (++rounds > 5) return []
      return take({ ...input, now: input.now + rounds })
    })
    expect((await one.settlements.reconcile()).looked).toBe(6)
    expect(rounds).toBe(2)
    taken.mockRestore()
  })

  it('asks a chain that does not answer once in a round', async () => {
    const one = scene({ answers: [unknown] })
    await sixDoubtful(one, () => 'silent')
    const looksBefore = one.chain.looks
    expect(await one.settlements.reconcile()).toEqual({ looked: 6, settled: 0, failed: 0, open: 6 })
    expect(one.chain.looks - looksBefore).toBeLessThanOrEqual(4)
  })

  it('of one claim tells its owner, and leaves what is decided or under way alone', async () => {
    const one = scene({ answers: [unknown] })
    const held = await doubtful(one)
    const open = (await one.store.getClaim(held.id))!
    expect((await one.settlements.reconcileOne(open)).state).toBe('unknown')
    one.chain.statuses.set(held.nonce, usedIn(TX))
    const after = await one.settlements.reconcileOne(open)
    expect(after.state).toBe('settled')
    const looks = one.chain.looks
    await one.settlements.reconcileOne(after)
    await one.settlements.reconcileOne({ ...after, state: 'submitted' })
    expect(one.chain.looks).toBe(looks)
  })

  it('writes an ending later that the store would not take', async () => {
    const one = scene({ answers: [settled], status: usedIn(TX) })
    const held = await one.claim()
    const broken = vi.spyOn(temp.store, 'settleClaim').mockRejectedValueOnce(new Error('disk full'))
    expect((await one.settle(held)).state).toBe('unknown')
    expect((await one.store.getClaim(held.id))?.state).toBe('submitted')
    await one.settlements.reconcile()
    expect(await one.store.getClaim(held.id)).toMatchObject({ state: 'settled', transaction: TX })
    broken.mockRestore()
  })

  const lost = async () => Promise.reject(new Error('gone'))
  const stateOf = async ({ id }: PaymentClaim) => (await temp.store.getClaim(id))?.state

  it('frees a payment of which the store did not say whether it was claimed', async () => {
    const one = scene({ answers: [] })
    const held = await one.claim()
    await expect(one.settlements.begin(held.id, lost)).rejects.toThrow('gone')
    await one.settlements.reconcile()
    expect(await one.store.getClaim(held.id)).toMatchObject({ state: 'canceled', reason: 'not_submitted' })
  })

  it('frees one whose claim turns up long after, as from a server that waited for its standby', async () => {
    const one = scene({ answers: [] })
    const claim = newClaim({ createdAt: one.clock.at })
    await expect(one.settlements.begin(claim.id, lost)).rejects.toThrow('gone')
    for (let round = 0; round < 20; round++) await one.settlements.reconcile()
    await one.store.claimPayment({ claim, bootId: BOOT })
    await one.settlements.reconcile()
    expect((await one.store.getClaim(claim.id))?.state).toBe('canceled')
  })

  it('leaves a claim alone that is worked on, however long that takes', async () => {
    const one = scene({ answers: [settled], status: usedIn(TX) })
    const claim = newClaim({ createdAt: one.clock.at })
    const begun = await one.settlements.begin(claim.id, () => one.store.claimPayment({ claim, bootId: BOOT }))
    if (!begun.ok) throw new Error('nothing stands in the way of the claim')
    for (let round = 0; round < 20; round++) await one.settlements.reconcile()
    expect(await stateOf(begun.claim)).toBe('claimed')
    expect(await one.settlements.giveBack(begun.claim, 'internal')).toBe(true)
    expect(await one.store.getClaim(claim.id)).toMatchObject({ state: 'canceled', reason: 'internal' })
  })

  it('frees it without waiting for the next round, once the store is back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const one = scene({ answers: [] })
    const held = await one.claim()
    const broken = vi.spyOn(temp.store, 'cancelClaim').mockRejectedValueOnce(new Error('gone'))
    await expect(one.settlements.begin(held.id, lost)).rejects.toThrow('gone')
    await vi.advanceTimersByTimeAsync(1000)
    await expect.poll(() => broken.mock.calls.length).toBe(1)
    expect((await one.store.getClaim(held.id))?.state).toBe('claimed')
    await vi.advanceTimersByTimeAsync(5000)
    await expect.poll(async () => (await one.store.getClaim(held.id))?.state).toBe('canceled')
    broken.mockRestore()
  })

  it('gives back what could not be given back while the store was away, however long that was', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const one = scene({ answers: [] })
    const held = await one.claim()
    const away = vi.spyOn(temp.store, 'cancelClaim').mockImplementation(lost)
    onTestFinished(() => away.mockRestore())
    expect(await one.settlements.giveBack(held, 'upstream_unreachable')).toBeUndefined()
    for (let round = 0; round < 5; round++) {
      await vi.advanceTimersByTimeAsync(60_000)
      await expect(one.settlements.reconcile()).rejects.toThrow('gone')
    }
    away.mockRestore()
    expect(await stateOf(held)).toBe('claimed')
    await one.settlements.reconcile()
    expect(await stateOf(held)).toBe('canceled')
  })

  it('goes on with one that is submitted while it was about to be canceled', async () => {
    const one = scene({ answers: [] })
    const held = await one.claim()
    const { cancelClaim } = temp.store
    const late = vi.spyOn(temp.store, 'cancelClaim').mockImplementationOnce(async (input) => {
      await one.store.submitClaim({
        id: held.id,
        bootId: BOOT,
        upstream: 'up0',
        result: null,
        now: one.clock.at,
      })
      return cancelClaim(input)
    })
    onTestFinished(() => late.mockRestore())
    expect(await one.settlements.giveBack(held, 'internal')).toBe(false)
    await one.settlements.reconcile()
    expect(await one.store.getClaim(held.id)).toMatchObject({ state: 'unknown', reason: 'interrupted' })
  })

  it('cancels what dead processes left, but for what the store refuses, and does the rest of its round', async () => {
    const one = scene({ answers: [unknown] })
    const { store } = one
    const doubted = await doubtful(one)
    one.chain.statuses.set(doubted.nonce, usedIn(TX))
    const [refused, free] = [newClaim({ createdAt: 1 }), newClaim({ createdAt: 1 })]
    for (const claim of [refused, free]) await store.claimPayment({ claim, bootId: 'boot_dead' })
    const config = { dataDir: temp.directory } as Config
    await runRaw(
      { config },
      `CREATE TRIGGER refusing BEFORE UPDATE ON payment_claims WHEN OLD.id = '${refused.id}' BEGIN SELECT RAISE(ABORT, 'refused'); END`,
    )
    await one.settlements.reconcile()
    await runRaw({ config }, 'DROP TRIGGER refusing')
    const states = async () =>
      Promise.all([doubted, free, refused].map(async ({ id }) => (await store.getClaim(id))?.state))
    expect(await states()).toEqual(['settled', 'canceled', 'claimed'])
    await one.settlements.reconcile()
    expect(await states()).toEqual(['settled', 'canceled', 'canceled'])
  })

  it('frees a payment of which the store did not say whether it was submitted', async () => {
    const one = scene({ answers: [settled] })
    const held = await one.claim()
    const broken = vi.spyOn(temp.store, 'submitClaim').mockRejectedValueOnce(new Error('gone'))
    await expect(one.settle(held)).rejects.toThrow('gone')
    await one.settlements.reconcile()
    expect((await one.store.getClaim(held.id))?.state).toBe('canceled')
    broken.mockRestore()

    // The answer was lost, the row is there.
    const other = scene({ answers: [settled] })
    const written = await other.claim()
    const { submitClaim } = temp.store
    const lost = vi.spyOn(temp.store, 'submitClaim').mockImplementationOnce(async (input) => {
      await submitClaim(input)
      throw new Error('gone')
    })
    await expect(other.settle(written)).rejects.toThrow('gone')
    await other.settlements.reconcile()
    expect(await other.store.getClaim(written.id)).toMatchObject({
      state: 'failed',
      reason: 'settlement_refused',
    })
    expect(other.upstreams[0]!.settled).toHaveLength(0)
    lost.mockRestore()
  })

  it('looks again soon after a settlement that was not decided', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const one = scene({ answers: [unknown] })
      const held = await doubtful(one)
      one.chain.statuses.set(held.nonce, usedIn(TX))
      await vi.advanceTimersByTimeAsync(1_000)
      vi.useRealTimers()
      await vi.waitFor(async () => expect((await one.store.getClaim(held.id))?.state).toBe('settled'), {
        timeout: 60_000,
      })
      await one.settlements.close()
    } finally {
      vi.useRealTimers()
    }
  })
})
