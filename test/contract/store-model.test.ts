// Random interleavings against a model that fits on a page: whatever happens, no credit is made or lost.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttemptState, Store } from '../../src/store/ports.ts'
import {
  addSetting,
  createPlace,
  ending,
  ENGINES,
  nextTransaction,
  NOW,
  type Place,
  reservation,
  sumOfLedger,
  unbalancedAccounts,
} from '../support/store.ts'

const BOOT = 'boot-model'

type Step =
  | { do: 'grant'; amount: number; reference: number }
  | { do: 'reserve'; cost: number }
  | { do: 'send' | 'settle' | 'ambiguous' | 'refund'; which: number }

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
  {
    arbitrary: fc.record({
      do: fc.constantFrom('send' as const, 'settle' as const, 'ambiguous' as const, 'refund' as const),
      which: fc.nat(11),
    }),
    weight: 5,
  },
)

/** Steps in bursts: those of one burst run at the same time. */
const burstsArbitrary = fc.array(fc.array(stepArbitrary, { minLength: 1, maxLength: 8 }), { maxLength: 8 })

describe.each(ENGINES)('any interleaving in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'model')
    store = await place.open(BOOT)
  })
  afterAll(() => place.remove())

  it('keeps debits - refunds = grants - balance, every ledger sum zero and every balance at least zero', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), burstsArbitrary, async (credits, bursts) => {
        const setting = await addSetting(store, credits)
        const { accountId } = setting
        const grants = new Map<string, number>([['free credits', credits]])
        const made: { input: ReturnType<typeof reservation>; ok: boolean; states: AttemptState[] }[] = []

        const runStep = async (step: Step): Promise<void> => {
          if (step.do === 'grant') {
            const reference = `grant ${step.reference}`
            const { amount } = step
            const grant = { accountId, amount, reference, transactionId: nextTransaction(), now: NOW }
            const answer = await store.grant(grant)
            if (answer?.repeated === false) {
              expect(grants.has(reference)).toBe(false)
              grants.set(reference, amount)
            }
            return
          }
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
          const entry = made[step.which % Math.max(1, made.length)]
          if (!entry) return
          const { attempt } = entry.input
          if (step.do === 'send') {
            if (await store.markSending({ id: attempt.id, bootId: BOOT, now: NOW }))
              entry.states.push('sending')
          } else if (step.do === 'refund') {
            const refund = {
              id: attempt.id,
              bootId: BOOT,
              outcome: 'x',
              transactionId: nextTransaction(),
              now: NOW,
            }
            if ((await store.refundAttempt(refund)).ok) entry.states.push('refunded')
          } else {
            const state = step.do === 'settle' ? 'settled' : 'ambiguous'
            if ((await store.finishAttempt(ending(attempt, BOOT, state))).ok) entry.states.push(state)
          }
        }
        for (const burst of bursts) await Promise.all(burst.map(runStep))

        const spent = made.reduce(
          (sum, { ok, input, states }) => sum + (ok && !states.includes('refunded') ? input.cost : 0),
          0,
        )
        const granted = [...grants.values()].reduce((sum, amount) => sum + amount, 0)
        expect(await store.balance(accountId)).toBe(granted - spent)
        for (const { input, ok, states } of made) {
          const stored = await store.getAttempt(input.attempt.id, accountId)
          expect(stored?.state).toBe(ok ? endOf(states) : undefined)
        }
        const { items } = await store.ledger(accountId, { limit: 500 })
        const total = (kind: string) =>
          items.filter((entry) => entry.kind === kind).reduce((sum, entry) => sum + entry.amount, 0)
        expect(0 - total('egress') - total('refund')).toBe(total('grant') - (granted - spent))
      }),
      { numRuns: engine === 'sqlite' ? 150 : 40 },
    )
    expect(await sumOfLedger(place)).toBe(0)
    expect(await unbalancedAccounts(place)).toEqual([])
  }, 60_000)
})

/** Answers of one burst may arrive in another order than they took effect; an end is always the last state. */
function endOf(states: readonly AttemptState[]): AttemptState {
  const ends = states.filter((state) => state !== 'sending')
  expect(ends.length).toBeLessThanOrEqual(1)
  return ends[0] ?? states[0] ?? 'reserved'
}
