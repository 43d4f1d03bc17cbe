// The history of policies on both engines: each text once, whoever sees it, with the event of who wrote it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewPolicyRevision, Store } from '../../src/store/ports.ts'
import { INSTALLATION_CHAIN } from '../../src/store/ports/audit.ts'
import { createPlace, ENGINES, NOW, type Place } from '../support/store.ts'

const ACTOR = { kind: 'person', id: 'per_1' } as const
const revisionOf = (n: number, given: Partial<NewPolicyRevision> = {}): NewPolicyRevision => ({
  id: `prv_${n}`,
  name: 'egress-policy',
  at: NOW + n,
  way: 'here',
  actorKind: 'person',
  actorId: 'per_1',
  note: `change ${n}`,
  before: n === 1 ? null : `text ${n - 1}`,
  after: `text ${n}`,
  digest: `digest ${n}`,
  ...given,
})

describe.each(ENGINES)('the history of policies in %s', (engine) => {
  let place: Place
  let stores: readonly [Store, Store]
  beforeAll(async () => {
    place = await createPlace(engine, 'policies')
    const store = await place.open()
    // The table is shared by replicas; a file has one owner.
    stores = [store, engine === 'postgres' ? await place.open() : store]
  })
  afterAll(() => place.remove())

  it('keeps each text once, and lists them newest first', async () => {
    const [store] = stores
    for (const n of [1, 2, 3]) expect(await store.addPolicyRevision(revisionOf(n))).toBe(true)
    const again = stores.map((one, n) => one.addPolicyRevision(revisionOf(4 + n, { digest: 'digest 4' })))
    expect((await Promise.all(again)).filter(Boolean)).toHaveLength(1)
    const { items, next } = await store.listPolicyRevisions('egress-policy', { limit: 3 })
    expect(items.map(({ note }) => note).slice(1)).toEqual(['change 3', 'change 2'])
    expect(Object.keys(items[0] ?? {})).not.toContain('after')
    const rest = await store.listPolicyRevisions('egress-policy', { limit: 3, before: next ?? '' })
    expect(rest.items.map(({ id }) => id)).toEqual(['prv_1'])
    expect((await store.listPolicyRevisions('payment-policy', { limit: 3 })).items).toEqual([])
  })

  it('finds one with its texts, of its own document alone', async () => {
    const [store] = stores
    expect(await store.getPolicyRevision('egress-policy', 'prv_2')).toMatchObject({
      way: 'here',
      actorKind: 'person',
      actorId: 'per_1',
      before: 'text 1',
      after: 'text 2',
    })
    expect((await store.getPolicyRevision('egress-policy'))?.at).toBeGreaterThan(NOW + 3)
    expect(await store.getPolicyRevision('payment-policy', 'prv_2')).toBeUndefined()
    expect(await store.getPolicyRevision('egress-policy', 'prv_22')).toBeUndefined()
  })

  it('writes the event with it, and the minute after finds nothing new', async () => {
    const [store] = stores
    const event = { chain: INSTALLATION_CHAIN, at: NOW, event: 'policy.changed', detail: { digest: 'd' } }
    await store.addPolicyRevision(revisionOf(8, { audited: { digest: 'd', event, acting: ACTOR } }))
    expect(await store.noteDocument({ name: 'egress-policy', digest: 'd', event, acting: ACTOR })).toBe(false)
    const events = await store.listAuditEvents({ chain: INSTALLATION_CHAIN, after: 0, upTo: 9, limit: 9 })
    expect(events.map(({ body }) => JSON.parse(body).actor)).toEqual([ACTOR])
  })
})
