// Executions of permits: one debit, one attempt, once; on every engine.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ActionResult, Store } from '../../src/store/ports.ts'
import type { Attempt } from '../../src/store/model.ts'
import { expectSound } from '../support/sound.ts'
import { createPlace, ending, ENGINES, nextTransaction, NOW, type Place, times } from '../support/store.ts'
import {
  addGrant,
  addPermit,
  byKey,
  BOOT,
  edgeCall,
  execution,
  type Grant,
  heldOf,
  newPermit,
  NOTHING,
  prepared,
} from '../support/store-actions.ts'

describe.each(ENGINES)('executions in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'actions')
    store = await place.open(BOOT)
  })
  afterEach(() => expectSound(place))
  afterAll(() => place.remove())

  it('walk from ready over sending to settled, with one debit, one attempt and one receipt', async () => {
    const grant = await addGrant(store, 10)
    const { accountId } = grant
    const permit = await addPermit(store, grant)
    const input = execution(permit)
    const { attempt } = input
    expect(await store.reserveAction(input)).toEqual({ ok: true, balance: 9 })
    expect(await store.getPermit(permit.id)).toEqual({
      ...prepared(permit),
      state: 'executed',
      attemptId: attempt.id,
    })
    expect(await store.getAttempt(attempt.id, accountId)).toEqual(attempt)
    const [entry] = (await store.ledger(accountId, { limit: 1 })).items
    expect(entry).toMatchObject({ amount: -1, kind: 'action', reference: attempt.id })
    const counted = { ...NOTHING, permitsPrepared: 1, executions: 1, creditsCharged: 1 }
    expect(await store.countActions(accountId)).toEqual(counted)

    expect(await store.markSending({ id: attempt.id, bootId: BOOT, now: NOW + 1 })).toBe(true)
    const end = ending(attempt, BOOT)
    expect(await store.finishAttempt(end)).toEqual({ ok: true, balance: 9 })
    expect(await store.finishAttempt(end)).toEqual({ ok: false, balance: 9 })
    const stored = await store.getAttempt(attempt.id, accountId)
    expect(stored).toMatchObject({
      state: 'settled',
      kind: 'action',
      permitId: permit.id,
      capabilityId: null,
    })
    expect(await store.getReceipt(end.receipt.id)).toEqual(end.receipt)
    expect(await store.countActions(accountId)).toEqual({ ...counted, settled: 1 })
    expect(await heldOf(store, grant)).toEqual([1, 1])
    expect((await store.listAttempts({ accountId }, { limit: 5 })).items).toEqual([stored])
  })

  it('may begin as sending where nobody has to be asked, and end ambiguous: charged', async () => {
    const grant = await addGrant(store, 10)
    const permit = await addPermit(store, grant)
    const input = execution(permit, BOOT, { state: 'sending', sendingAt: NOW })
    await store.reserveAction(input)
    expect(await store.getAttempt(input.attempt.id, grant.accountId)).toEqual(input.attempt)
    expect(await store.finishAttempt(ending(input.attempt, BOOT, 'ambiguous'))).toEqual({
      ok: true,
      balance: 9,
    })
    expect(await store.countActions(grant.accountId)).toMatchObject({ settled: 0, ambiguous: 1, refunded: 0 })
    expect(await heldOf(store, grant)).toEqual([1, 1])
  })

  it('of one permit happen once of fifty at once: the others are told which attempt it was', async () => {
    const grant = await addGrant(store, 100)
    const permit = await addPermit(store, grant)
    const inputs = times(50, () => execution(permit))
    const results = await Promise.all(inputs.map((input) => store.reserveAction(input)))
    const winner = results.findIndex((result) => result.ok)
    const { id: attemptId } = inputs[winner]!.attempt
    const executed = { ...prepared(permit), state: 'executed', attemptId }
    for (const [i, result] of results.entries())
      expect(result).toEqual(
        i === winner ? { ok: true, balance: 99 } : { ok: false, reason: 'permit', permit: executed },
      )
    expect(await store.balance(grant.accountId)).toBe(99)
    expect((await store.listAttempts({ accountId: grant.accountId }, { limit: 60 })).items).toHaveLength(1)
    expect(await store.countActions(grant.accountId)).toMatchObject({ executions: 1, creditsCharged: 1 })
  })

  it('of many permits pay exactly as often as the account can, and leave the rest unused', async () => {
    const grant = await addGrant(store, 12, { maxCalls: 30 })
    const permits = await Promise.all(times(30, () => addPermit(store, grant)))
    const results = await Promise.all(permits.map((permit) => store.reserveAction(execution(permit))))
    expect(results.filter((result) => result.ok)).toHaveLength(12)
    for (const [i, result] of results.entries()) {
      const state = result.ok ? 'executed' : 'ready'
      expect(await store.getPermit(permits[i]!.id)).toMatchObject({ state })
      if (!result.ok) expect(result).toEqual({ ok: false, reason: 'credits', balance: 0 })
    }
    await store.grant({
      accountId: grant.accountId,
      amount: 1,
      reference: 'more',
      transactionId: nextTransaction(),
      now: NOW,
    })
    const unused = permits[results.findIndex((result) => !result.ok)]!
    expect(await store.reserveAction(execution(unused))).toEqual({ ok: true, balance: 0 })
  })

  it.each<[string, { state?: 'pending_approval'; expiresAt?: number }, boolean]>([
    ['a permit that waits for approval', { state: 'pending_approval' }, false],
    ['a permit whose time is over', { expiresAt: NOW }, false],
    ['a permit in its last millisecond', { expiresAt: NOW + 1 }, true],
  ])('answer rightly for %s', async (_, over, isTaken) => {
    const grant = await addGrant(store, 3)
    const permit = newPermit(grant, over)
    await store.preparePermit({ permit, needsBalance: 1, now: NOW - 1 })
    const result = await store.reserveAction(execution(permit))
    const refused: ActionResult = { ok: false, reason: 'permit', permit: prepared(permit) }
    expect(result).toEqual(isTaken ? { ok: true, balance: 2 } : refused)
    expect(await store.balance(grant.accountId)).toBe(isTaken ? 2 : 3)
  })

  it('of a refused, an unknown or another account’s permit do not happen', async () => {
    const grant = await addGrant(store, 3, { requiresApproval: true })
    const permit = await addPermit(store, grant)
    const { id, accountId } = permit
    const decision = { id, accountId, ...byKey('key_1'), expiresAt: NOW + 9, now: NOW }
    const decided = await store.decidePermit({ ...decision, decision: 'refuse' })
    const refused: ActionResult = { ok: false, reason: 'permit', permit: decided!.permit }
    expect(await store.reserveAction(execution(permit))).toEqual(refused)
    const unknown: ActionResult = { ok: false, reason: 'permit', permit: undefined }
    expect(await store.reserveAction(execution({ ...permit, id: 'pmt_none' }))).toEqual(unknown)
    const other = await addGrant(store, 3)
    const theirs = await addPermit(store, other)
    const mine = { ...theirs, accountId, credentialId: grant.credentialId }
    expect(await store.reserveAction(execution(mine))).toEqual(unknown)
    expect(await store.balance(accountId)).toBe(3)
    expect(await store.balance(other.accountId)).toBe(3)
  })

  it('do not happen with another credential or version than the permit’s, nor with a rotated or revoked one', async () => {
    const grant = await addGrant(store, 3)
    const { accountId, credentialId: id } = grant
    const permit = await addPermit(store, grant)
    const { sealed } = (await store.getCredential(id, accountId))!
    const reserve = (over: Partial<Attempt> = {}) => store.reserveAction(execution(permit, BOOT, over))
    const gone = { ok: false, reason: 'credential_gone' }
    const changed = { ok: false, reason: 'credential_changed' }
    const other = { ...(await store.getCredential(id, accountId))!, id: 'cred_second' + accountId.slice(5) }
    await store.insertCredential(other)
    expect(await reserve({ credentialId: other.id })).toEqual(gone)
    expect(await reserve({ credentialId: 'cred_none' })).toEqual(gone)
    expect(await reserve({ credentialVersion: 2 })).toEqual(changed)
    await store.rotateCredential({ id, accountId, fromVersion: 1, sealed, now: NOW })
    expect(await reserve()).toEqual(changed)
    // Whoever read the new version still holds a permit for the old one.
    expect(await reserve({ credentialVersion: 2 })).toEqual(changed)
    await store.revokeCredential({ id, accountId, now: NOW })
    expect(await reserve()).toEqual(gone)
    expect(await store.getPermit(permit.id)).toEqual(prepared(permit))
    expect(await store.balance(accountId)).toBe(3)
  })

  it('never outrun a revocation: none begins once it is answered', async () => {
    const grant = await addGrant(store, 100, { maxCalls: 40 })
    const { accountId, mandate } = grant
    const permits = await Promise.all(times(40, () => addPermit(store, grant)))
    const early = permits.slice(0, 20).map((permit) => store.reserveAction(execution(permit)))
    const late = store
      .revokeMandate({ id: mandate.id, accountId, now: NOW })
      .then(() => Promise.all(permits.slice(20).map((permit) => store.reserveAction(execution(permit)))))
    for (const result of await late) expect(result).toEqual({ ok: false, reason: 'mandate_gone' })
    for (const result of await Promise.all(early)) if (!result.ok) expect(result.reason).toBe('mandate_gone')
  })
})

describe('two processes on one PostgreSQL database', () => {
  let place: Place
  beforeAll(async () => {
    place = await createPlace('postgres', 'action_replicas')
  })
  afterEach(() => expectSound(place))
  afterAll(() => place.remove())

  it('execute one permit once, of fifty at once', async () => {
    const [a, b] = await Promise.all([place.open('boot-a'), place.open('boot-b')])
    const grant: Grant = await addGrant(a, 100, { maxCalls: 4 })
    for (let round = 0; round < 4; round++) {
      const permit = await addPermit(a, grant)
      const results = await Promise.all(
        times(50, (i) =>
          i % 2 ? a.reserveAction(execution(permit, 'boot-a')) : b.reserveAction(execution(permit, 'boot-b')),
        ),
      )
      expect(results.filter(({ ok }) => ok)).toHaveLength(1)
      const { attemptId } = (await a.getPermit(permit.id))!
      const losers = results.filter(({ ok }) => !ok)
      expect(losers).toHaveLength(49)
      for (const loser of losers)
        expect(loser).toMatchObject({ reason: 'permit', permit: { state: 'executed', attemptId } })
    }
    expect(await a.balance(grant.accountId)).toBe(96)
  })

  it('begin nothing while the liveness lock is lost', async () => {
    const store = await place.open('boot-cut')
    const grant = await addGrant(store, 5)
    const permit = await addPermit(store, grant)
    for (let isLost = false; !isLost;) {
      const health = await store.health()
      isLost = !health.ok && health.detail.startsWith('PostgreSQL')
      if (health.ok)
        await place.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        )
    }
    const refused = await Promise.allSettled([
      store.reserveAction(execution(permit, 'boot-cut')),
      store.reserveEdgeCall(edgeCall(grant.accountId, 'boot-cut')),
    ])
    for (const result of refused)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
    await expect.poll(async () => (await store.health()).ok).toBe(true)
    expect(await store.reserveAction(execution(permit, 'boot-cut'))).toEqual({ ok: true, balance: 4 })
  })
})
