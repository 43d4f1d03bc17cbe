// Edge calls: one debit to the merchant, no credential; and the hosts that accounts asked to serve; on every engine.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { expectSound } from '../support/sound.ts'
import { addAccount, createPlace, ending, ENGINES, NOW, type Place, times } from '../support/store.ts'
import { BOOT, edgeCall, NOTHING, refundOf } from '../support/store-actions.ts'

describe.each(ENGINES)('edge calls in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'edge')
    store = await place.open(BOOT)
  })
  afterEach(() => expectSound(place))
  afterAll(() => place.remove())

  it('are debited to the merchant and finished like any attempt, without a credential', async () => {
    const accountId = await addAccount(store, 3)
    const input = edgeCall(accountId, BOOT, { state: 'sending', sendingAt: NOW })
    const { attempt } = input
    expect(await store.reserveEdgeCall(input)).toEqual({ ok: true, balance: 2 })
    expect(await store.getAttempt(attempt.id, accountId)).toEqual(attempt)
    expect(attempt).toMatchObject({
      kind: 'edge',
      credentialId: null,
      credentialVersion: null,
      permitId: null,
    })
    const [entry] = (await store.ledger(accountId, { limit: 1 })).items
    expect(entry).toMatchObject({ amount: -1, kind: 'edge', reference: attempt.id })
    expect(await store.finishAttempt(ending(attempt, BOOT))).toEqual({ ok: true, balance: 2 })
    expect(await store.countActions(accountId)).toEqual(NOTHING)
  })

  it('are paid exactly as often as the merchant can, of eighty at once, and refunded once', async () => {
    const accountId = await addAccount(store, 30)
    const inputs = times(80, () => edgeCall(accountId))
    const results = await Promise.all(inputs.map((input) => store.reserveEdgeCall(input)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(30)
    expect(results.filter(({ ok }) => !ok)).toContainEqual({ ok: false, reason: 'credits', balance: 0 })
    expect((await store.listAttempts({ accountId }, { limit: 90 })).items).toHaveLength(30)
    const { id } = inputs[results.findIndex(({ ok }) => ok)]!.attempt
    const refunds = await Promise.all(times(5, () => store.refundAttempt(refundOf(id))))
    expect(refunds.filter(({ ok }) => ok)).toEqual([{ ok: true, balance: 1 }])
  })

  it('write no ledger when they cost nothing, and are refused to an account that does not exist', async () => {
    const accountId = await addAccount(store, 1)
    expect(await store.reserveEdgeCall({ ...edgeCall(accountId), cost: 0 })).toEqual({ ok: true, balance: 1 })
    expect((await store.ledger(accountId, { limit: 9 })).items).toHaveLength(1)
    expect(await store.reserveEdgeCall(edgeCall('acct_none'))).toEqual({
      ok: false,
      reason: 'credits',
      balance: 0,
    })
  })

  it('find the host that an account asked to serve by its token, which stays with whom it was given', async () => {
    const [mine, other] = [await addAccount(store, 1), await addAccount(store, 1)]
    const token = `token-of-${mine}`
    const save = (accountId: string, host: string) => store.saveEdgeHost({ token, host, accountId, now: NOW })
    expect(await store.findEdgeHost(token)).toBeUndefined()
    await Promise.all(times(5, () => save(mine, 'shop.example.com')))
    await save(other, 'else.example.com')
    expect(await store.findEdgeHost(token)).toEqual({ host: 'shop.example.com', accountId: mine })
  })
})
