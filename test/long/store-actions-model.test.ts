// Permits against a model that fits on a page: one after the other every answer is predicted, and at the same time no
// permit is executed twice, no limit is exceeded and no share of a mandate is lost.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PermitState, Store } from '../../src/store/ports.ts'
import type { AttemptState } from '../../src/store/model.ts'
import { createPlace, ending, ENGINES, NOW, type Place } from '../support/store.ts'
import { expectSound } from '../support/sound.ts'
import {
  addGrant,
  BOOT,
  byKey,
  execution,
  type Grant,
  heldOf,
  HOUR_MS,
  newPermit,
  refundOf,
  SUMMARY,
} from '../support/store-actions.ts'

type Step =
  | { do: 'prepare'; cost: number; asks: boolean; lastsMs: number }
  | { do: 'approve' | 'refuse' | 'execute' | 'send' | 'settle' | 'ambiguous' | 'refund'; which: number }
  | { do: 'wait'; ms: number }
  | { do: 'sweep' }
  | { do: 'revoke' }
  | { do: 'rotate' }

const LIFE_MS = 1000
const on = <W extends string>(...words: W[]) => fc.record({ do: fc.constantFrom(...words), which: fc.nat(7) })
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      do: fc.constant('prepare' as const),
      cost: fc.nat(2),
      asks: fc.boolean(),
      lastsMs: fc.constantFrom(1, LIFE_MS, 10 * LIFE_MS),
    }),
    weight: 16,
  },
  { arbitrary: on('approve', 'refuse'), weight: 8 },
  { arbitrary: on('execute'), weight: 16 },
  { arbitrary: on('send', 'settle', 'ambiguous', 'refund'), weight: 16 },
  { arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, LIFE_MS) }), weight: 4 },
  { arbitrary: fc.record({ do: fc.constant('sweep' as const) }), weight: 2 },
  { arbitrary: fc.constantFrom<Step>({ do: 'revoke' }, { do: 'rotate' }), weight: 1 },
)
const settingArbitrary = fc.record({
  credits: fc.nat(8),
  maxCalls: fc.option(fc.integer({ min: 1, max: 5 })),
  maxCredits: fc.integer({ min: 1, max: 9 }),
})
type Limits = typeof settingArbitrary extends fc.Arbitrary<infer S> ? S : never

interface ModelPermit {
  readonly id: string
  readonly accountId: string
  readonly credentialId: string
  readonly credentialVersion: number
  readonly cost: number
  state: PermitState
  expiresAt: number
  attempt: { id: string; state: AttemptState } | undefined
}

/** What a store that does one thing after the other has to answer. */
function createModel(store: Store, grant: Grant, { credits, maxCalls, maxCredits }: Limits) {
  const { accountId, credentialId, mandate } = grant
  const permits: ModelPermit[] = []
  let now = NOW
  let balance = credits
  let version = 1
  let isRevoked = false

  const isOpen = ({ state }: ModelPermit) => state === 'pending_approval' || state === 'ready'
  const holding = () => permits.filter((p) => isOpen(p) || (p.attempt && p.attempt.state !== 'refunded'))
  const credit = () => holding().reduce((sum, { cost }) => sum + cost, 0)
  const hasRoom = (cost: number) =>
    (maxCalls === null || holding().length < maxCalls) && credit() + cost <= maxCredits
  const expireAll = () => {
    for (const permit of permits) if (isOpen(permit) && permit.expiresAt <= now) permit.state = 'expired'
  }

  async function prepare({ cost, asks, lastsMs }: Extract<Step, { do: 'prepare' }>): Promise<void> {
    const state = asks ? 'pending_approval' : 'ready'
    const over = { cost, state, expiresAt: now + lastsMs, summary: asks ? SUMMARY : null } as const
    const permit = newPermit(grant, { ...over, credentialVersion: version })
    const answer = await store.preparePermit({ permit, needsBalance: 1, now })
    if (isRevoked) return expect(answer).toEqual({ ok: false, reason: 'mandate_gone' })
    if (!hasRoom(cost)) expireAll()
    if (!hasRoom(cost)) return expect(answer).toEqual({ ok: false, reason: 'mandate_used_up' })
    if (balance < 1) return expect(answer).toEqual({ ok: false, reason: 'credits', balance })
    expect(answer).toEqual({ ok: true, balance })
    permits.push({ ...permit, attempt: undefined })
  }

  async function decide(permit: ModelPermit, decision: 'approve' | 'refuse'): Promise<void> {
    const expiresAt = now + LIFE_MS
    const decided = { id: permit.id, accountId, decision, ...byKey('key_1'), expiresAt, now }
    const answer = await store.decidePermit(decided)
    const changed = permit.state === 'pending_approval' && permit.expiresAt > now
    if (changed && decision === 'approve') permit.expiresAt = expiresAt
    if (changed) permit.state = decision === 'approve' ? 'ready' : 'refused'
    const { state } = permit
    const summary = state === 'pending_approval' ? SUMMARY : null
    expect(answer).toMatchObject({ changed, permit: { state, expiresAt: permit.expiresAt, summary } })
  }

  async function execute(permit: ModelPermit): Promise<void> {
    const input = { ...execution(permit), now }
    const answer = await store.reserveAction(input)
    if (permit.state !== 'ready' || permit.expiresAt <= now)
      return expect(answer).toMatchObject({
        reason: 'permit',
        permit: { state: permit.state, attemptId: permit.attempt?.id ?? null },
      })
    if (isRevoked) return expect(answer).toEqual({ ok: false, reason: 'mandate_gone' })
    if (permit.credentialVersion !== version)
      return expect(answer).toEqual({ ok: false, reason: 'credential_changed' })
    if (balance < 1) return expect(answer).toEqual({ ok: false, reason: 'credits', balance })
    expect(answer).toEqual({ ok: true, balance: --balance })
    permit.state = 'executed'
    permit.attempt = { id: input.attempt.id, state: 'reserved' }
  }

  async function move(attempt: NonNullable<ModelPermit['attempt']>, step: Step['do']): Promise<void> {
    const { id, state } = attempt
    if (step === 'send') {
      const isSent = await store.markSending({ id, bootId: BOOT, now })
      expect(isSent).toBe(state === 'reserved')
      if (isSent) attempt.state = 'sending'
    } else if (step === 'refund') {
      const isRefunded = state === 'reserved' || state === 'sending'
      if (isRefunded) [attempt.state, balance] = ['refunded', balance + 1]
      expect(await store.refundAttempt({ ...refundOf(id), now })).toEqual({ ok: isRefunded, balance })
    } else {
      const end = step === 'settle' ? 'settled' : 'ambiguous'
      const stored = (await store.getAttempt(id, accountId))!
      expect(await store.finishAttempt(ending(stored, BOOT, end))).toEqual({
        ok: state === 'sending',
        balance,
      })
      if (state === 'sending') attempt.state = end
    }
  }

  async function run(step: Step): Promise<void> {
    if (step.do === 'prepare') return prepare(step)
    if (step.do === 'wait') now += step.ms
    else if (step.do === 'sweep') {
      await store.sweep(now)
      expireAll()
    } else if (step.do === 'revoke') {
      await store.revokeMandate({ id: mandate.id, accountId, now })
      isRevoked = true
    } else if (step.do === 'rotate') {
      const { sealed } = (await store.getCredential(credentialId, accountId))!
      await store.rotateCredential({ id: credentialId, accountId, fromVersion: version++, sealed, now })
    } else {
      const permit = permits[step.which % Math.max(1, permits.length)]
      if (!permit) return
      if (step.do === 'approve' || step.do === 'refuse') await decide(permit, step.do)
      else if (step.do === 'execute') await execute(permit)
      else if (permit.attempt) await move(permit.attempt, step.do)
    }
  }
  async function check(): Promise<void> {
    expect(await heldOf(store, grant)).toEqual([holding().length, credit()])
    expect(await store.balance(accountId)).toBe(balance)
    for (const { id, state, attempt } of permits)
      expect(await store.getPermit(id)).toMatchObject({ state, attemptId: attempt?.id ?? null })
  }
  return { run, check }
}

/** The same steps without a prediction: many run at once. */
function createCrowd(store: Store, grant: Grant) {
  const { accountId, credentialId, mandate } = grant
  const permits: { id: string; accountId: string; credentialId: string; credentialVersion: number }[] = []
  const executed: string[] = []
  const attempts: ReturnType<typeof execution>['attempt'][] = []
  let now = NOW
  const at = <T>(list: readonly T[], which: number): T | undefined => list[which % Math.max(1, list.length)]

  async function run(step: Step): Promise<void> {
    if (step.do === 'wait') now += step.ms
    else if (step.do === 'sweep') await store.sweep(now)
    else if (step.do === 'revoke') await store.revokeMandate({ id: mandate.id, accountId, now })
    else if (step.do === 'rotate') {
      const { sealed, version } = (await store.getCredential(credentialId, accountId))!
      await store.rotateCredential({ id: credentialId, accountId, fromVersion: version, sealed, now })
    } else if (step.do === 'prepare') {
      const { version } = (await store.getCredential(credentialId, accountId))!
      const state = step.asks ? 'pending_approval' : 'ready'
      const summary = step.asks ? SUMMARY : null
      const over = { cost: step.cost, state, summary, expiresAt: now + step.lastsMs } as const
      const permit = newPermit(grant, { ...over, credentialVersion: version })
      if ((await store.preparePermit({ permit, needsBalance: 1, now })).ok) permits.push(permit)
    } else if (step.do === 'approve' || step.do === 'refuse') {
      const decided = { accountId, decision: step.do, ...byKey('key_1'), expiresAt: now + LIFE_MS, now }
      const permit = at(permits, step.which)
      if (permit) await store.decidePermit({ ...decided, id: permit.id })
    } else if (step.do === 'execute') {
      const permit = at(permits, step.which)
      if (!permit) return
      const input = { ...execution(permit), now }
      attempts.push(input.attempt)
      if ((await store.reserveAction(input)).ok) executed.push(permit.id)
    } else {
      const attempt = at(attempts, step.which)
      if (!attempt) return
      const { id } = attempt
      if (step.do === 'send') await store.markSending({ id, bootId: BOOT, now })
      else if (step.do === 'refund') await store.refundAttempt({ ...refundOf(id), now })
      else await store.finishAttempt(ending(attempt, BOOT, step.do === 'settle' ? 'settled' : 'ambiguous'))
    }
  }
  return { run, executed }
}

describe.each(ENGINES)('any sequence of preparations, decisions and executions in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'actions_model')
    store = await place.open(BOOT)
  })
  afterAll(() => place.remove())
  const numRuns = engine === 'sqlite' ? 150 : 25
  const grantOf = ({ credits, maxCalls, maxCredits }: Limits) =>
    addGrant(store, credits, { maxCalls, maxCredits, expiresAt: NOW + 24 * HOUR_MS })

  it('is answered as the model says', async () => {
    await fc.assert(
      fc.asyncProperty(
        settingArbitrary,
        fc.array(stepArbitrary, { minLength: 20, maxLength: 60, size: 'max' }),
        async (limits, steps) => {
          const model = createModel(store, await grantOf(limits), limits)
          for (const step of steps) await model.run(step)
          await model.check()
        },
      ),
      { numRuns },
    )
    await expectSound(place)
  })

  it('executes no permit twice and loses no share of a mandate when much happens at once', async () => {
    const bursts = fc.array(fc.array(stepArbitrary, { minLength: 1, maxLength: 10 }), {
      maxLength: 8,
      size: 'max',
    })
    await fc.assert(
      fc.asyncProperty(settingArbitrary, bursts, async (limits, steps) => {
        const crowd = createCrowd(store, await grantOf(limits))
        for (const burst of steps) await Promise.all(burst.map(crowd.run))
        expect(new Set(crowd.executed).size).toBe(crowd.executed.length)
      }),
      { numRuns },
    )
    await expectSound(place)
  })
})
