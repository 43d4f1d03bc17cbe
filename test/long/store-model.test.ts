// Random interleavings against a model that fits on a page: whatever happens, no credit is made or lost, and no
// payment is used twice.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { ClaimState, Store } from '../../src/store/ports.ts'
import type { AttemptState } from '../../src/store/model.ts'
import {
  addSetting,
  createPlace,
  ending,
  ENGINES,
  newClaim,
  nextTransaction,
  NOW,
  type Place,
  reservation,
  type Setting,
  settling,
  submission,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'

const BOOT = 'boot-model'
const ALLOWANCE = 1

type Step =
  | { do: 'grant'; amount: number; reference: number }
  | { do: 'reserve'; cost: number }
  | { do: 'send' | 'settle' | 'ambiguous' | 'refund'; which: number }
  | { do: 'claim'; payment: number; identifier: number | null; credits: number }
  | { do: 'submit' | 'cancel' | 'paid' | 'pending' | 'unknown' | 'failed'; which: number }
  | { do: 'take' }
  | { do: 'return'; which: number }

const on = <W extends string>(...words: W[]) =>
  fc.record({ do: fc.constantFrom(...words), which: fc.nat(11) })
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('grant' as const),
    amount: fc.integer({ min: 1, max: 5 }),
    reference: fc.nat(4),
  }),
  {
    arbitrary: fc.record({ do: fc.constant('reserve' as const), cost: fc.integer({ min: 0, max: 3 }) }),
    weight: 3,
  },
  { arbitrary: on('send', 'settle', 'ambiguous', 'refund'), weight: 5 },
  {
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      payment: fc.nat(2),
      identifier: fc.option(fc.nat(1)),
      credits: fc.nat(4),
    }),
    weight: 4,
  },
  { arbitrary: on('submit', 'cancel', 'paid', 'pending', 'unknown', 'failed'), weight: 7 },
  { arbitrary: fc.record({ do: fc.constant('take' as const) }), weight: 3 },
  { arbitrary: on('return'), weight: 2 },
)

/** Steps in bursts: those of one burst run at the same time. */
const burstsArbitrary = fc.array(fc.array(stepArbitrary, { minLength: 1, maxLength: 8 }), { maxLength: 10 })

describe.each(ENGINES)('any interleaving in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'model')
    store = await place.open(BOOT)
  })
  afterAll(() => place.remove())

  it('keeps debits - refunds = grants + purchases - balance, every ledger sum zero and every balance at least zero', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), burstsArbitrary, async (credits, bursts) => {
        const setting = await addSetting(store, credits)
        const { accountId } = setting
        const grants = modelGrants(store, accountId, credits)
        const attempts = modelAttempts(store, setting)
        const claims = modelClaims(store, accountId)
        const settlements = modelSettlements(store, accountId)
        const runStep = async (step: Step): Promise<void> => {
          for (const model of [grants, attempts, claims, settlements]) await model.run(step)
        }
        for (const burst of bursts) await Promise.all(burst.map(runStep))

        const balance = grants.total() + claims.bought() - attempts.spent() - settlements.spent()
        expect(await store.balance(accountId)).toBe(balance)
        await attempts.check()
        await claims.check()
        const { items } = await store.ledger(accountId, { limit: 500 })
        const total = (...kinds: string[]) =>
          items.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { amount }) => sum + amount, 0)
        expect(0 - total('egress', 'settlement') - total('refund')).toBe(
          total('grant') + total('purchase') - balance,
        )
        expect(total('purchase')).toBe(claims.bought())
      }),
      { numRuns: engine === 'sqlite' ? 200 : 50 },
    )
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
  })
})

/** The entry that `which` means among those made so far. */
const pick = <T>(made: readonly T[], which: number): T | undefined => made[which % Math.max(1, made.length)]

function modelGrants(store: Store, accountId: string, free: number) {
  const grants = new Map<string, number>([['free credits', free]])
  return {
    total: () => [...grants.values()].reduce((sum, amount) => sum + amount, 0),
    async run(step: Step): Promise<void> {
      if (step.do !== 'grant') return
      const reference = `grant ${step.reference}`
      const { amount } = step
      const grant = { accountId, amount, reference, transactionId: nextTransaction(), now: NOW }
      const answer = await store.grant(grant)
      if (answer?.repeated !== false) return
      expect(grants.has(reference)).toBe(false)
      grants.set(reference, amount)
    },
  }
}

function modelAttempts(store: Store, setting: Setting) {
  const made: { input: ReturnType<typeof reservation>; ok: boolean; states: AttemptState[] }[] = []
  async function run(step: Step): Promise<void> {
    if (step.do === 'reserve') {
      const entry = {
        input: { ...reservation(setting, BOOT), cost: step.cost },
        ok: false,
        states: [] as AttemptState[],
      }
      made.push(entry)
      entry.ok = (await store.reserveAttempt(entry.input)).ok
      return
    }
    if (!['send', 'settle', 'ambiguous', 'refund'].includes(step.do) || !('which' in step)) return
    const entry = pick(made, step.which)
    if (!entry) return
    const { attempt } = entry.input
    const { id } = attempt
    if (step.do === 'send') {
      if (await store.markSending({ id, bootId: BOOT, now: NOW })) entry.states.push('sending')
    } else if (step.do === 'refund') {
      const refund = { id, bootId: BOOT, outcome: 'x', transactionId: nextTransaction(), now: NOW }
      if ((await store.refundAttempt(refund)).ok) entry.states.push('refunded')
    } else {
      const state = step.do === 'settle' ? 'settled' : 'ambiguous'
      if ((await store.finishAttempt(ending(attempt, BOOT, state))).ok) entry.states.push(state)
    }
  }
  return {
    run,
    spent: () =>
      made.reduce(
        (sum, { ok, input, states }) => sum + (ok && !states.includes('refunded') ? input.cost : 0),
        0,
      ),
    async check() {
      for (const { input, ok, states } of made) {
        const stored = await store.getAttempt(input.attempt.id, setting.accountId)
        expect(stored?.state).toBe(ok ? endOf(states) : undefined)
      }
    },
  }
}

/** Answers of one burst may arrive in another order than they took effect; an end is always the last state. */
function endOf(states: readonly AttemptState[]): AttemptState {
  const ends = states.filter((state) => state !== 'sending')
  expect(ends.length).toBeLessThanOrEqual(1)
  return ends[0] ?? states[0] ?? 'reserved'
}

const CLAIM_ENDS = ['canceled', 'settled', 'failed'] as const

function modelClaims(store: Store, accountId: string) {
  const payments = times(3, () => newClaim())
  const { payer } = payments[0]!
  const made: { claim: ReturnType<typeof newClaim>; ok: boolean; states: ClaimState[] }[] = []
  async function run(step: Step): Promise<void> {
    if (step.do === 'claim') {
      const claim = {
        ...payments[step.payment]!,
        payer,
        id: newId('clm', NOW),
        identifier: step.identifier === null ? null : `identifier-${step.identifier}`,
        purchase: step.credits === 0 ? null : { accountId, credits: step.credits },
      }
      const entry = { claim, ok: false, states: [] as ClaimState[] }
      made.push(entry)
      const result = await store.claimPayment({ claim, bootId: BOOT })
      entry.ok = result.ok
      if (!result.ok && result.reason === 'payment') expect(result.claim.nonce).toBe(claim.nonce)
      if (!result.ok && result.reason === 'identifier') {
        expect(result.claim.identifier).toBe(claim.identifier)
        expect(claim.identifier).not.toBeNull()
      }
      return
    }
    if (!('which' in step)) return
    const entry = pick(made, step.which)
    if (!entry) return
    const { id } = entry.claim
    const reached = await take(step.do, id)
    if (reached) entry.states.push(reached)
  }
  async function take(step: Step['do'], id: string): Promise<ClaimState | undefined> {
    if (step === 'submit') return (await store.submitClaim(submission(id, BOOT))) ? 'submitted' : undefined
    if (step === 'cancel') {
      const done = await store.cancelClaim({ id, bootId: BOOT, reason: 'x', now: NOW })
      return done ? 'canceled' : undefined
    }
    if (step === 'paid') return (await store.settleClaim(settling(id)))?.state
    if (step !== 'pending' && step !== 'unknown' && step !== 'failed') return undefined
    return (await store.moveClaim({ id, to: step, reason: null, transaction: null, now: NOW }))?.state
  }
  return {
    run,
    bought: () =>
      made.reduce(
        (sum, { claim, states }) => sum + (states.includes('settled') ? (claim.purchase?.credits ?? 0) : 0),
        0,
      ),
    async check() {
      for (const { claim, ok, states } of made) {
        const stored = await store.getClaim(claim.id)
        const ends = states.filter((state) => CLAIM_ENDS.some((end) => end === state))
        expect(ends.length).toBeLessThanOrEqual(1)
        if (!ok) expect(stored).toBeUndefined()
        else if (ends.length > 0) expect(stored!.state).toBe(ends[0])
        else {
          const doubts = states.filter((state) => state !== 'submitted')
          const possible = doubts.length > 0 ? doubts : states.length > 0 ? states : ['claimed']
          expect(possible).toContain(stored!.state)
        }
        expect(states.filter((state) => state === 'submitted').length).toBeLessThanOrEqual(1)
        expect(stored?.receiptId != null).toBe(ends[0] === 'settled')
      }
      // One living claim a payment and one an identifier, and that is the one that is found.
      const living = made.filter(({ ok, states }) => ok && !states.includes('canceled'))
      const holders = (same: (claim: ReturnType<typeof newClaim>) => boolean) =>
        living.filter(({ claim }) => same(claim)).map(({ claim }) => claim.id)
      for (const payment of payments) {
        const ids = holders(({ nonce }) => nonce === payment.nonce)
        expect(ids.length).toBeLessThanOrEqual(1)
        expect((await store.findClaim({ ...payment, payer }))?.id).toBe(ids[0])
      }
      for (const identifier of ['identifier-0', 'identifier-1']) {
        const ids = holders((claim) => claim.identifier === identifier)
        expect(ids.length).toBeLessThanOrEqual(1)
        expect((await store.findIdentifiedClaim({ ...payments[0]!, identifier }))?.id).toBe(ids[0])
      }
    },
  }
}

function modelSettlements(store: Store, accountId: string) {
  const made: { claimId: string; paidBy?: 'allowance' | 'credits'; returned: boolean }[] = []
  const held = (word: string) => made.filter((take) => take.paidBy === word && !take.returned).length
  return {
    /** A credit each. */
    spent: () => {
      expect(held('allowance')).toBeLessThanOrEqual(ALLOWANCE)
      return held('credits')
    },
    async run(step: Step): Promise<void> {
      const transactionId = nextTransaction()
      if (step.do === 'take') {
        const take: (typeof made)[number] = { claimId: newId('clm', NOW), returned: false }
        made.push(take)
        const { claimId } = take
        const of = {
          allowances: [{ holder: accountId, allowance: ALLOWANCE }] as const,
          month: '2026-06',
        }
        const result = await store.takeSettlement({ ...of, accountId, claimId, transactionId, now: NOW })
        if (result.ok) take.paidBy = result.paidBy
      } else if (step.do === 'return') {
        const take = pick(made, step.which)
        if (!take || !(await store.returnSettlement({ claimId: take.claimId, transactionId, now: NOW })))
          return
        expect(take.returned).toBe(false)
        take.returned = true
      }
    },
  }
}
