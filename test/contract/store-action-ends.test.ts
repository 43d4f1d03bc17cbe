// How executions end: what their refund gives back, what is counted, what recovery does; on every engine.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sqliteCommands } from '../../src/store/sqlite/fused.ts'
import type { Store } from '../../src/store/ports.ts'
import type { Attempt } from '../../src/store/model.ts'
import { openDirectStore } from '../support/direct-store.ts'
import { expectSound } from '../support/sound.ts'
import {
  addSetting,
  createPlace,
  ending,
  ENGINES,
  NOW,
  type Place,
  receiptFor,
  reservation,
  times,
} from '../support/store.ts'
import {
  addGrant,
  addPermit,
  BOOT,
  edgeCall,
  execution,
  heldOf,
  NOTHING,
  refundOf,
} from '../support/store-actions.ts'

describe.each(ENGINES)('ends of executions in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'action_ends')
    store = await place.open(BOOT)
  })
  afterEach(() => expectSound(place))
  afterAll(() => place.remove())

  it('that were refunded give credit and share back, once, and leave the permit used', async () => {
    const grant = await addGrant(store, 5, { maxCalls: 1, maxCredits: 2 })
    for (const isSending of [false, true]) {
      const permit = await addPermit(store, grant, { cost: 2 })
      expect(await heldOf(store, grant)).toEqual([1, 2])
      const input = { ...execution(permit), cost: 3 }
      const { id } = input.attempt
      expect(await store.reserveAction(input)).toEqual({ ok: true, balance: 2 })
      if (isSending) await store.markSending({ id, bootId: BOOT, now: NOW })
      const refunds = await Promise.all(times(5, () => store.refundAttempt(refundOf(id))))
      expect(refunds.filter(({ ok }) => ok)).toEqual([{ ok: true, balance: 5 }])
      expect(await heldOf(store, grant)).toEqual([0, 0])
      expect(await store.reserveAction(execution(permit))).toMatchObject({
        reason: 'permit',
        permit: { state: 'executed', attemptId: id },
      })
      const [entry] = (await store.ledger(grant.accountId, { limit: 1 })).items
      expect(entry).toMatchObject({ amount: 3, kind: 'refund', reference: id })
    }
    const counts = { executions: 2, refunded: 2, creditsCharged: 6, creditsRefunded: 6, settled: 0 }
    expect(await store.countActions(grant.accountId)).toMatchObject(counts)
  })

  it('that cost nothing write no ledger and are counted', async () => {
    const grant = await addGrant(store, 5)
    const permit = await addPermit(store, grant)
    const input = { ...execution(permit), cost: 0 }
    expect(await store.reserveAction(input)).toEqual({ ok: true, balance: 5 })
    expect(await store.refundAttempt(refundOf(input.attempt.id))).toEqual({ ok: true, balance: 5 })
    expect((await store.ledger(grant.accountId, { limit: 9 })).items).toHaveLength(1)
    expect(await store.countActions(grant.accountId)).toMatchObject({ executions: 1, refunded: 1 })
  })

  it('count for their account and, without one, for all', async () => {
    const before = await store.countActions(undefined)
    const [one, two] = [await addGrant(store, 5), await addGrant(store, 5)]
    for (const grant of [one, one, two])
      await store.reserveAction({ ...execution(await addPermit(store, grant)), cost: 2 })
    expect(await store.countActions(one.accountId)).toMatchObject({ executions: 2, creditsCharged: 4 })
    expect(await store.countActions('acct_none')).toEqual(NOTHING)
    const after = await store.countActions(undefined)
    expect(after.executions - before.executions).toBe(3)
    expect(after.creditsCharged - before.creditsCharged).toBe(6)
    expect(after.settled).toBe(before.settled)
  })

  it('are finished under their own kind only, so that none goes uncounted', async () => {
    const grant = await addGrant(store, 5)
    const { attempt, ...input } = execution(await addPermit(store, grant), BOOT, { state: 'sending' })
    await store.reserveAction({ ...input, attempt })
    const end = ending(attempt, BOOT)
    expect(await store.finishAttempt({ ...end, kind: 'fetch' })).toEqual({ ok: false, balance: 4 })
    expect(await store.finishAttempt(end)).toEqual({ ok: true, balance: 4 })
  })

  it('do not change what counts for a fetch, which is in no counter of theirs', async () => {
    const setting = await addSetting(store, 5)
    const input = reservation(setting, BOOT)
    await store.reserveAttempt(input)
    await store.refundAttempt(refundOf(input.attempt.id))
    expect(await store.countActions(setting.accountId)).toEqual(NOTHING)
  })
})

describe.each(ENGINES)('recovery of executions in %s', (engine) => {
  it('refunds what was reserved with its share of the mandate, and counts what nobody knows as ambiguous', async () => {
    const place = await createPlace(engine, 'action_recovery')
    try {
      const old = await place.open('boot-old')
      const grants = [await addGrant(old, 10, { maxCalls: 9 }), await addGrant(old, 10, { maxCalls: 9 })]
      const edge = edgeCall(grants[0]!.accountId, 'boot-old')
      await old.reserveEdgeCall(edge)
      const sent: Attempt[] = []
      for (const grant of [...grants, ...grants]) {
        for (const state of ['reserved', 'sending'] as const) {
          const permit = await addPermit(old, grant)
          const input = execution(permit, 'boot-old', { state, sendingAt: state === 'sending' ? NOW : null })
          await old.reserveAction(input)
          if (state === 'sending') sent.push(input.attempt)
        }
      }
      await expectSound(place)
      await old.close()

      const store = await place.open('boot-new')
      const recovered = await store.recoverAttempts({ bootId: 'boot-new', now: NOW + 60 })
      expect(recovered.refunded).toHaveLength(5)
      expect(recovered.refunded).toContainEqual({
        ...edge.attempt,
        state: 'refunded',
        outcome: 'crashed',
        finishedAt: NOW + 60,
      })
      expect(recovered.ambiguous.toSorted(byId)).toEqual(
        sent
          .map((attempt) => ({
            ...attempt,
            state: 'ambiguous',
            outcome: 'crashed',
            finishedAt: NOW + 60,
          }))
          .toSorted(byId),
      )
      await expectSound(place)
      for (const grant of grants) {
        expect(await heldOf(store, grant)).toEqual([2, 2])
        expect(await store.balance(grant.accountId)).toBe(8)
        expect(await store.countActions(grant.accountId)).toMatchObject({
          executions: 4,
          refunded: 2,
          ambiguous: 2,
          creditsRefunded: 2,
        })
      }
      // A receipt that is signed later is no second end.
      const [first] = recovered.ambiguous
      const receipt = receiptFor(first!.accountId)
      expect(await store.attachReceipt({ attemptId: first!.id, receipt })).toBe(true)
      await expectSound(place)
    } finally {
      await place.remove()
    }
  })
})

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)

describe('the statements of an attempt', () => {
  it('of a fetch touch nothing of permits, and are as many as they were', async () => {
    const { store, record, remove } = await openDirectStore()
    try {
      const setting = await addSetting(store, 5)
      const [done, failed] = times(2, () => reservation(setting, BOOT, { state: 'sending' }))
      const fetches = [
        [sqliteCommands.reserveAttempt(done!), 5],
        [sqliteCommands.reserveAttempt(failed!), 5],
        [sqliteCommands.finishAttempt(ending(done!.attempt, BOOT)), 2],
        // The credit goes back, what budgets counted of it, and the use: the lineage, and one for each in it.
        [sqliteCommands.refundAttempt(refundOf(failed!.attempt.id)), 4 + 2],
      ] as const
      for (const [command, count] of fetches) {
        const texts = record(command)
        expect(texts).toHaveLength(count)
        for (const text of texts) expect(text).not.toMatch(/\b(permits|mandates|action_counts)\b/)
      }
      // Its twin: an execution is counted, so that the pattern above would see it.
      const grant = await addGrant(store, 5)
      const input = execution(await addPermit(store, grant), BOOT, { state: 'sending' })
      for (const command of [
        sqliteCommands.reserveAction(input),
        sqliteCommands.finishAttempt(ending(input.attempt, BOOT)),
      ])
        expect(record(command).at(-1)).toMatch(/\baction_counts\b/)
    } finally {
      await remove()
    }
  })
})
