// What the sweep does with permits and mandates; on every engine.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { all } from '../../src/store/command.ts'
import { commands } from '../../src/store/commands/index.ts'
import { MAX_EVIDENCE_BYTES } from '../../src/store/commands/permit-evidence.ts'
import type { Store } from '../../src/store/ports.ts'
import { openDirectStore } from '../support/direct-store.ts'
import { createPlace, ending, ENGINES, NOW, type Place, times } from '../support/store.ts'
import {
  addGrant,
  addMany,
  addPermit,
  BOOT,
  brokenActions,
  byKey,
  edgeCall,
  execution,
  heldOf,
  HOUR_MS,
  newMandate,
} from '../support/store-actions.ts'

const DAY_MS = 24 * HOUR_MS

describe.each(ENGINES)('the sweep of permits in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'action_retention')
    store = await place.open(BOOT)
  })
  afterEach(async () => {
    // Of all times that the tests ask for the last: nothing of one is left to the next.
    await store.sweep(NOW + 200 * DAY_MS)
    expect(await place.query('SELECT id FROM permits')).toEqual([])
  })
  afterAll(() => place.remove())

  it('writes expiry down, forgets what would have been sent and gives the mandate its share back', async () => {
    const grants = await Promise.all(
      times(3, () => addGrant(store, 9, { requiresApproval: true, maxCalls: 9, expiresAt: NOW + DAY_MS })),
    )
    for (const grant of grants) {
      await addPermit(store, grant, { expiresAt: NOW + 1000, cost: 2 })
      await addPermit(store, grant, { expiresAt: NOW + 1000, state: 'ready', summary: null })
      await addPermit(store, grant, { expiresAt: NOW + 1001 })
    }
    expect(await store.sweep(NOW + 999)).toMatchObject({ expired: 0, permits: 0, mandates: 0 })
    expect(await store.sweep(NOW + 1000)).toMatchObject({ expired: 6, permits: 0, mandates: 0 })
    expect(await place.query(`SELECT id FROM permits WHERE summary IS NOT NULL`)).toHaveLength(3)
    for (const grant of grants) expect(await heldOf(store, grant)).toEqual([1, 1])
    expect(await store.sweep(NOW + 1000)).toMatchObject({ expired: 0 })
    expect(await brokenActions(place)).toEqual([])
  })

  it('deletes permits thirty days after their expiry, in pieces, and never one that waits or may be executed', async () => {
    const grant = await addGrant(store, 2000, { maxCalls: 5000, expiresAt: NOW + 80 * DAY_MS })
    const { accountId } = grant
    const short = { expiresAt: NOW + 1000 }
    // More than one transaction takes; the other engine runs the same command and is slow to fill.
    const count = engine === 'sqlite' ? 600 : 50
    const old = await addMany(store, grant, count, short)
    const executed = await addPermit(store, grant, short)
    const input = execution(executed, BOOT, { state: 'sending' })
    await store.reserveAction(input)
    await store.finishAttempt({ ...ending(input.attempt, BOOT), now: NOW + 40 * DAY_MS })
    const waiting = await addPermit(store, grant, {
      state: 'pending_approval',
      summary: '{}',
      expiresAt: NOW + 70 * DAY_MS,
    })
    const live = await addPermit(store, grant, { expiresAt: NOW + 70 * DAY_MS })

    const due = NOW + 1000 + 30 * DAY_MS
    expect(await store.sweep(due - 1)).toMatchObject({ expired: count, permits: 0 })
    expect(await heldOf(store, grant)).toEqual([3, 3])
    expect(await store.sweep(due)).toMatchObject({ expired: 0, permits: count + 1, mandates: 0 })
    expect(await store.getPermit(old[0]!.id)).toBeUndefined()
    expect(await store.getPermit(executed.id)).toBeUndefined()
    expect(await store.getPermit(waiting.id)).toMatchObject({ state: 'pending_approval', summary: '{}' })
    expect(await store.getPermit(live.id)).toMatchObject({ state: 'ready' })
    // The attempt is younger than its permit, and what was executed stays taken.
    expect(await store.getAttempt(input.attempt.id, accountId)).toMatchObject({ permitId: executed.id })
    expect(await heldOf(store, grant)).toEqual([3, 3])
    expect(await store.countActions(accountId)).toMatchObject({ permitsPrepared: count + 3, executions: 1 })
  })

  it('deletes a mandate thirty days after its expiry', async () => {
    const grant = await addGrant(store, 5, { expiresAt: NOW + DAY_MS })
    await addPermit(store, grant, { expiresAt: NOW + 2 * DAY_MS })
    const kept = await addGrant(store, 5, { expiresAt: NOW + DAY_MS + 1 })
    const second = await store.insertMandate(newMandate(grant, { expiresAt: NOW + DAY_MS }))
    const due = NOW + 31 * DAY_MS
    expect(await store.sweep(due - 1)).toMatchObject({ mandates: 0 })
    expect(await store.getMandate(grant.mandate.id, grant.accountId)).toBeDefined()
    expect(await store.sweep(due)).toMatchObject({ permits: 1, mandates: 2 })
    for (const { id } of [grant.mandate, second])
      expect(await store.getMandate(id, grant.accountId)).toBeUndefined()
    expect(await store.getMandate(kept.mandate.id, kept.accountId)).toBeDefined()
  })

  it('refunds an execution whose permit is gone, and only the mandate is not asked', async () => {
    const grant = await addGrant(store, 5, { expiresAt: NOW + 60 * DAY_MS })
    const permit = await addPermit(store, grant)
    const input = execution(permit)
    await store.reserveAction(input)
    expect(await store.sweep(NOW + 31 * DAY_MS)).toMatchObject({ permits: 1 })
    const refund = { id: input.attempt.id, bootId: BOOT, outcome: 'x', transactionId: newId('txn'), now: NOW }
    expect(await store.refundAttempt(refund)).toEqual({ ok: true, balance: 5 })
    expect(await heldOf(store, grant)).toEqual([1, 1])
    expect(await store.countActions(grant.accountId)).toMatchObject({ refunded: 1, creditsRefunded: 1 })
  })

  it('deletes attempts of executions and edge calls like those of fetches, and keeps their ledger', async () => {
    const grant = await addGrant(store, 5, { expiresAt: NOW + 60 * DAY_MS })
    const { accountId } = grant
    const permit = await addPermit(store, grant)
    const action = execution(permit, BOOT, { id: newId('att', NOW - 1), state: 'sending' })
    const edge = edgeCall(accountId, BOOT, { id: newId('att', NOW - 1), state: 'sending' })
    await store.reserveAction(action)
    await store.reserveEdgeCall(edge)
    const ends = [action, edge].map(({ attempt }) => ending(attempt, BOOT))
    for (const end of ends) await store.finishAttempt(end)
    expect(await store.sweep(NOW + 30 * DAY_MS - 1)).toMatchObject({ attempts: 0 })
    expect(await store.sweep(NOW + 30 * DAY_MS)).toMatchObject({ attempts: 2 })
    expect((await store.ledger(accountId, { limit: 9 })).items).toHaveLength(3)
    for (const { receipt } of ends) expect(await store.getReceipt(receipt.id)).toEqual(receipt)
  })

  it('forget what was said about a permit, and the request that was approved, with it', async () => {
    const grant = await addGrant(store, 5, { requiresApproval: true })
    const { id, accountId } = await addPermit(store, grant)
    const evidence = Buffer.from('sealed')
    await store.decidePermit({
      id,
      accountId,
      decision: 'approve',
      ...byKey('key_1'),
      evidence,
      expiresAt: NOW + 9,
      now: NOW,
    })
    const kept = () => place.query(`SELECT bytes FROM evidence_bytes WHERE account_id = '${accountId}'`)
    expect(Number((await kept())[0]?.['bytes'])).toBe(evidence.length)
    // Ninety days after it could last be used, with who said what and from where; a permit without a request goes after thirty.
    const plain = await addPermit(store, grant, { expiresAt: NOW + 9 })
    for (const days of [31, 45, 89]) await store.sweep(NOW + days * DAY_MS)
    expect(await store.getPermit(plain.id)).toBeUndefined()
    expect(Buffer.from((await store.getEvidence(id)) ?? [])).toEqual(evidence)
    expect(await store.listDecisions([id])).toMatchObject([{ id: 'key_1', address: expect.any(String) }])
    expect(await store.getPermit(id)).toMatchObject({ evidenceBytes: evidence.length })
    await store.sweep(NOW + 8 + 90 * DAY_MS)
    expect(await store.getEvidence(id)).toBeDefined()
    expect(await store.sweep(NOW + 9 + 90 * DAY_MS)).toMatchObject({ permits: 1 })
    expect(await store.getPermit(id)).toBeUndefined()
    expect(await store.listDecisions([id])).toEqual([])
    expect(await store.getEvidence(id)).toBeUndefined()
    expect(Number((await kept())[0]?.['bytes'])).toBe(0)
  })
})

describe('an account that has kept its most', () => {
  it('has permits that are approved, and their requests are not kept', async () => {
    const { store, drive, remove } = await openDirectStore()
    try {
      const grant = await addGrant(store, 5, { requiresApproval: true })
      const evidence = Buffer.from('sealed')
      const approve = async () => {
        const { id, accountId } = await addPermit(store, grant)
        const by = { ...byKey('key_1'), evidence, expiresAt: NOW + 9, now: NOW }
        return store.decidePermit({ id, accountId, decision: 'approve', ...by })
      }
      expect(await approve()).toMatchObject({ permit: { state: 'ready', evidenceBytes: evidence.length } })
      drive(all('UPDATE evidence_bytes SET bytes = $1', MAX_EVIDENCE_BYTES - evidence.length))
      expect(await approve()).toMatchObject({ permit: { state: 'ready', evidenceBytes: evidence.length } })
      expect(await approve()).toMatchObject({ permit: { state: 'ready', evidenceBytes: null } })
    } finally {
      await remove()
    }
  })
})

describe('one transaction of the sweep', () => {
  it('leaves a mandate for the next one while any permit of it is left', async () => {
    const { store, drive, remove } = await openDirectStore()
    try {
      const grant = await addGrant(store, 5, { maxCalls: 9000, expiresAt: NOW + 1000 })
      await addMany(store, grant, 1200, { expiresAt: NOW + 1000 })
      const due = NOW + 1000 + 30 * DAY_MS
      const step = () => drive(commands.sweep(due))
      // Expiry has to be written down first: it is the mandate that gets something back.
      expect(step()).toMatchObject({ expired: 500, permits: 500, mandates: 0 })
      expect(await heldOf(store, grant)).toEqual([700, 700])
      expect(step()).toMatchObject({ expired: 500, permits: 500, mandates: 0 })
      expect(step()).toMatchObject({ expired: 200, permits: 200, mandates: 1 })
      expect(step()).toMatchObject({ expired: 0, permits: 0, mandates: 0 })
    } finally {
      await remove()
    }
  })

  it('ends with open permits of more mandates than it looks at, and keeps all of these', async () => {
    const { store, drive, remove } = await openDirectStore()
    try {
      const first = await addGrant(store, 5, { expiresAt: NOW + 1000 })
      for (let i = 0; i < 600; i++) {
        const mandate = await store.insertMandate(newMandate(first, { expiresAt: NOW + 1000 }))
        await addPermit(store, { ...first, mandate }, { expiresAt: NOW + 1000 })
      }
      const due = NOW + 1000 + 30 * DAY_MS
      expect(drive(commands.sweep(due))).toMatchObject({ expired: 500, permits: 500, mandates: 0 })
      expect(drive(commands.sweep(due))).toMatchObject({ expired: 100, permits: 100, mandates: 500 })
    } finally {
      await remove()
    }
  })
})
