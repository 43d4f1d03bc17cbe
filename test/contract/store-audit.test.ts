// Security events on both engines: each in the transaction of its change, one chain an account, nothing changed afterwards.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { actAs, type Actor } from '../../src/lib/acting.ts'
import { digestCanonical } from '../../src/lib/canonical-json.ts'
import { newId } from '../../src/lib/ids.ts'
import { isAudited, NO_EVENT } from '../../src/store/audited.ts'
import { commandNames, traitsOf } from '../../src/store/commands/index.ts'
import type { Store } from '../../src/store/ports.ts'
import { INSTALLATION_CHAIN } from '../../src/store/ports/audit.ts'
import { addMember, newConnection, termsOn } from '../support/connections.ts'
import { runRaw } from '../support/raw-sql.ts'
import {
  addCapability,
  addSetting,
  createPlace,
  ENGINES,
  NOW,
  type Place,
  sealedCredential,
} from '../support/store.ts'

const ACTOR: Actor = { kind: 'service_key', id: 'key_1', address: '192.0.2.1' }

interface Event {
  readonly settings?: readonly string[]
}

/** Everything in a chain, with its bodies read. */
async function read(store: Store, chain: string) {
  const rows = await store.listAuditEvents({ chain, after: 0, upTo: 1e9, limit: 1e6 })
  return rows.map(({ seq, hash, body }) => ({ seq, hash, body: JSON.parse(body) as Record<string, unknown> }))
}

describe.each(ENGINES)('the audit log in %s', (engine) => {
  let place: Place
  let stores: Store[]
  beforeAll(async () => {
    place = await createPlace(engine, 'audit')
    // Replicas share a database; an embedded one has one process.
    stores = [await place.open()]
    if (engine === 'postgres') stores.push(await place.open())
  })
  afterAll(() => place.remove())

  it('writes each change down with who made it, linked by hash', async () => {
    const [store] = stores as [Store]
    const { accountId, credential, capability } = await actAs(ACTOR, () => addSetting(store, 5))
    await actAs(ACTOR, () => store.revokeCapability({ id: capability.id, accountId, now: NOW }))
    await store.revokeCredential({ id: credential.id, accountId, now: NOW + 1 })

    const events = await read(store, accountId)
    expect(events.map(({ body }) => body['event'])).toEqual([
      'account.created',
      'credential.created',
      'capability.issued',
      'capability.revoked',
      'credential.revoked',
    ])
    expect(events.map(({ body }) => body['actor'])).toEqual([
      ...Array.from({ length: 4 }, () => ACTOR),
      { kind: 'gateway' },
    ])
    for (const [index, { seq, hash, body }] of events.entries()) {
      expect({ seq, chain: body['chain'], prev: body['prev'] }).toEqual({
        seq: index + 1,
        chain: accountId,
        prev: events[index - 1]?.hash ?? null,
      })
      expect(digestCanonical(body)).toBe(hash)
    }
    const last = events.at(-1)
    expect(await store.getAuditChain(accountId)).toMatchObject({ seq: 5, hash: last?.hash, signedSeq: 0 })
  })

  it('writes nothing for a change that did not happen, or happened before', async () => {
    const [store] = stores as [Store]
    const { accountId, credential } = await addSetting(store, 5)
    const before = (await read(store, accountId)).length
    const id = credential.id
    await store.revokeCredential({ id, accountId, now: NOW })
    await store.revokeCredential({ id, accountId, now: NOW + 5 })
    await store.revokeCredential({ id: 'cred_none', accountId, now: NOW })
    await store.rotateCredential({ id, accountId, fromVersion: 7, sealed: credential.sealed, now: NOW })
    expect((await read(store, accountId)).slice(before).map(({ body }) => body['event'])).toEqual([
      'credential.revoked',
    ])
  })

  it('writes what became of a published key once, and nothing of a key that there never was', async () => {
    const [store] = stores as [Store]
    const before = (await read(store, INSTALLATION_CHAIN)).length
    const key = { jwk: '{}', notBefore: NOW, retiredAt: null }
    for (let at = NOW; at < NOW + 3; at++) {
      await store.publishKey({ ...key, kid: 'old-sign', purpose: 'sign', notBefore: at })
      await store.publishKey({ ...key, kid: 'new-sign', purpose: 'sign', notBefore: at })
      await store.publishKey({ ...key, kid: 'old-wrap', purpose: 'wrap', notBefore: at })
      await store.retireKey('old-wrap', at)
      await store.retireKey('none', at)
      await store.retireSigningKeysBut('new-sign', at)
      await store.revokeSigningKey('old-sign', 'lost', at)
      await store.revokeSigningKey('none', 'lost', at)
      await store.revokeSigningKey('old-wrap', 'lost', at)
    }
    const events = (await read(store, INSTALLATION_CHAIN)).slice(before)
    expect(events.map(({ body }) => [body['event'], (body['subject'] as { id: string }).id])).toEqual([
      ['signing_key.published', 'old-sign'],
      ['signing_key.published', 'new-sign'],
      ['wrapping_key.published', 'old-wrap'],
      ['published_key.retired', 'old-wrap'],
      ['signing_key.took_over', 'new-sign'],
      ['signing_key.revoked', 'old-sign'],
    ])
  })

  it('says what may be used up, and which settings there are, and what an edit makes of them', async () => {
    const [store] = stores as [Store]
    const { accountId } = await addSetting(store, 5)
    const before = (await read(store, accountId)).length
    const daily = { unit: 'credits', period: 'day', max: 5 } as const
    const paid = { unit: 'usdc', period: 'total', max: 12_500_000 } as const
    const rules = ['allow GET api.example.com/v1/**', 'ask POST api.example.com/v1/**']
    const credential = sealedCredential(accountId, { settings: { encoded_slash: true } })
    await store.insertCredential(credential, [daily])
    const resealed = {
      id: credential.id,
      accountId,
      sealed: credential.sealed,
      label: 'api',
      scope: credential.scope,
    }
    const edited = { ...resealed, settings: { encoded_slash: true, ask_ms: 2000, rules }, now: NOW } as const
    await store.editCredential({ ...edited, fromVersion: 1, budgets: [{ ...daily, max: 1_000_000 }, paid] })
    await store.editCredential({ ...edited, fromVersion: 2, settings: { rules: rules.toReversed() } })
    await addCapability(
      store,
      credential,
      { scope: { ...credential.scope, rules: [rules] }, showsBalance: true },
      [daily],
    )
    const personId = await addMember(store, accountId)
    const connection = newConnection(accountId, personId)
    const terms = termsOn([credential], { budgets: [paid] })
    await store.openConnection({ connection, terms })
    await store.changeConnection({ connection, terms: { ...terms, budgets: [] }, now: NOW })

    const details = (await read(store, accountId)).slice(before).map(({ body }) => body['detail'] as Event)
    const digest = /^sha256:[\w-]{43}$/
    expect(details).toMatchObject([
      { budgets: ['5 credits/day'], settings: ['encoded_slash=true'] },
      {
        budgets: ['1000000 credits/day', '12.500000 usdc/total'],
        settings: ['ask_ms=2000', 'encoded_slash=true', expect.stringMatching(/^rules=sha256:/)],
      },
      { settings: [expect.stringMatching(/^rules=sha256:/)] },
      { budgets: ['5 credits/day'], rules: expect.stringMatching(digest), shows_balance: true },
      {},
      { budgets: ['12.500000 usdc/total'], shows_balance: false },
      { budgets: [] },
    ])
    // Left as they are: not told as none.
    expect(details[2]).not.toHaveProperty('budgets')
    expect(details[2]?.settings?.[0]).not.toBe(details[1]?.settings?.[2])
  })

  it('keeps neither the change nor its event where one of them cannot be written', async () => {
    const [store] = stores as [Store]
    const { accountId, credential } = await addSetting(store, 5)
    const before = await read(store, accountId)
    // The place that its event would take is taken: the change is undone with it.
    const taken = before.length + 1
    await runRaw(
      place,
      `INSERT INTO audit_events (chain, seq, body, hash) VALUES ('${accountId}', ${taken}, 'x', 'x')`,
    )
    await expect(store.revokeCredential({ id: credential.id, accountId, now: NOW })).rejects.toThrow()
    expect((await store.getCredential(credential.id, accountId))?.revokedAt).toBeNull()
    expect((await store.getAuditChain(accountId))?.seq).toBe(before.length)
  })

  it('gives events of many at once their places one after the other, on every replica', async () => {
    const [store] = stores as [Store]
    const { accountId } = await addSetting(store, 5)
    const before = (await read(store, accountId)).length
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        stores[i % stores.length]?.insertCredential({
          ...sealedCredential(accountId),
          id: newId('cred', NOW),
        }),
      ),
    )
    const events = await read(store, accountId)
    expect(events).toHaveLength(before + 60)
    for (const [index, { seq, body }] of events.entries())
      expect([seq, body['prev']]).toEqual([index + 1, events[index - 1]?.hash ?? null])
  })

  it('notes a document that was edited once, whoever sees it', async () => {
    const note = (digest: string) =>
      stores.map((store) =>
        store.noteDocument({
          name: 'egress-policy',
          digest,
          event: { chain: INSTALLATION_CHAIN, at: NOW, event: 'policy.changed', detail: { digest } },
          acting: ACTOR,
        }),
      )
    for (const digest of ['a', 'a', 'b']) await Promise.all(note(digest))
    const events = await read(stores[0] as Store, INSTALLATION_CHAIN)
    const changes = events.filter(({ body }) => body['event'] === 'policy.changed')
    expect(changes.map(({ body }) => body['detail'])).toEqual([{ digest: 'a' }, { digest: 'b' }])
  })

  it('takes what the release before noted of the same text for no change', async () => {
    const [store] = stores as [Store]
    const note = (digest: string, formerly?: string) =>
      store.noteDocument({
        name: 'payment-policy',
        digest,
        ...(formerly !== undefined && { formerly }),
        event: { chain: INSTALLATION_CHAIN, at: NOW, event: 'policy.changed' },
        acting: ACTOR,
      })
    expect(await note('value 1')).toBe(true)
    // A replica of that release goes on beside this one.
    for (let i = 0; i < 2; i++) {
      expect(await note('text 1', 'value 1')).toBe(false)
      expect(await note('value 1')).toBe(false)
    }
    expect(await note('text 2', 'value 2')).toBe(true)
    expect(await note('text 2', 'another value')).toBe(false)
    expect(await note('text 1', 'value 1')).toBe(true)
  })

  it('keeps the first of two heads of one place, and asks no more for what is signed', async () => {
    const [store] = stores as [Store]
    const { accountId } = await addSetting(store, 5)
    const isUnsigned = async () =>
      (await store.listUnsignedChains('', 1000)).some(({ chain }) => chain === accountId)
    expect(await isUnsigned()).toBe(true)
    const head = { chain: accountId, seq: 3, signedAt: NOW }
    await store.recordAuditHead({ ...head, jws: 'first' })
    await store.recordAuditHead({ ...head, jws: 'second' })
    const heads = await store.listAuditHeads({ chain: accountId, after: 0, upTo: 9 })
    expect(heads).toEqual([{ ...head, jws: 'first' }])
    expect(await isUnsigned()).toBe(false)
  })

  it.each(['audit_events', 'audit_heads'])('lets nobody change or remove a row of %s', async (table) => {
    const [store] = stores as [Store]
    const { accountId } = await addSetting(store, 5)
    await store.recordAuditHead({ chain: accountId, seq: 1, jws: 'x', signedAt: NOW })
    await expect(runRaw(place, `UPDATE ${table} SET seq = seq + 1`)).rejects.toThrow(/append-only/)
    await expect(runRaw(place, `DELETE FROM ${table}`)).rejects.toThrow(/append-only/)
  })
})

describe('what is an event', () => {
  it('is decided for every command that says who may do what', () => {
    const deciding = commandNames.filter((name) => {
      const traits = traitsOf(name)
      return 'touches' in traits && traits.touches === 'access'
    })
    expect(deciding.filter((name) => !isAudited(name) && !(name in NO_EVENT))).toEqual([])
    expect(Object.keys(NO_EVENT).filter((name) => !deciding.some((known) => known === name))).toEqual([])
  })
})
