// Permits: prepared against a mandate, decided once, expired, listed; on every engine.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { NewPermit, PermitState, PrepareResult, Store } from '../../src/store/ports.ts'
import { addCapability, createPlace, ENGINES, NOW, type Place, reservation, times } from '../support/store.ts'
import {
  addGrant,
  addMany,
  addPermit,
  byKey,
  brokenActions,
  execution,
  type Grant,
  heldOf,
  HOUR_MS,
  newPermit,
  preparation,
  prepared,
  refundOf,
  SUMMARY,
} from '../support/store-actions.ts'

type Decision = Parameters<Store['decidePermit']>[0]
const decisionOn = (
  { id, accountId }: { id: string; accountId: string },
  decision: Decision['decision'],
  over: Partial<Decision> = {},
): Decision => ({
  id,
  accountId,
  decision,
  ...byKey('key_1'),
  expiresAt: NOW + 400_000,
  now: NOW + 100_000,
  ...over,
})

describe.each(ENGINES)('permits in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'permits')
    store = await place.open('boot-1')
  })
  afterEach(async () => expect(await brokenActions(place)).toEqual([]))
  afterAll(() => place.remove())

  const expireOf = async (grant: Grant) => {
    const { items } = await store.listPermits({ accountId: grant.accountId, now: NOW }, { limit: 500 })
    return items.filter(({ state }) => state === 'expired')
  }

  it('are stored as prepared, take their share of the mandate and debit nothing', async () => {
    const grant = await addGrant(store, 5, { maxCredits: 9 })
    const input = preparation(grant, { cost: 2 })
    expect(await store.preparePermit(input)).toEqual({ ok: true, balance: 5 })
    expect(await store.getPermit(input.permit.id)).toEqual(prepared(input.permit))
    expect(await heldOf(store, grant)).toEqual([1, 2])
    expect(await store.balance(grant.accountId)).toBe(5)
    expect((await store.ledger(grant.accountId, { limit: 9 })).items).toHaveLength(1)
    expect(await store.countActions(grant.accountId)).toMatchObject({ permitsPrepared: 1, executions: 0 })
    expect(await store.getPermit('pmt_none')).toBeUndefined()
  })

  it('are used up by the attempt of a request that was held, once they are approved and while they hold', async () => {
    const grant = await addGrant(store, 5)
    const { accountId, credentialId } = grant
    const { id } = await addPermit(store, grant, { state: 'pending_approval', summary: SUMMARY })
    const capability = await addCapability(store, { id: credentialId, accountId })
    const held = reservation({ accountId, credential: { id: credentialId }, capability }, 'boot-1')
    expect(await store.reserveAttempt(held)).toMatchObject({ ok: true })
    const attemptId = held.attempt.id
    const use = (now: number) => store.usePermit({ id, attemptId, now })
    expect(await use(NOW + 1)).toBe(false)
    await store.decidePermit(decisionOn({ id, accountId }, 'approve'))
    expect(await use(NOW + 400_000)).toBe(false)
    expect(await store.getAttempt(attemptId, accountId)).toMatchObject({ permitId: null })
    expect(await use(NOW + 200_000)).toBe(true)
    expect(await store.getPermit(id)).toMatchObject({ state: 'executed', attemptId, summary: null })
    expect(await store.getAttempt(attemptId, accountId)).toMatchObject({ permitId: id })
    expect(await use(NOW + 200_000)).toBe(false)
    // What was never sent gives its share of the mandate back.
    expect(await heldOf(store, grant)).toEqual([1, 1])
    expect(await store.refundAttempt(refundOf(attemptId))).toMatchObject({ ok: true })
    expect(await heldOf(store, grant)).toEqual([0, 0])
  })

  it('end when nobody waits for them any more, unless they are decided', async () => {
    const grant = await addGrant(store, 5)
    const add = () => addPermit(store, grant, { state: 'pending_approval', summary: SUMMARY })
    const [left, decided] = [await add(), await add()]
    await store.decidePermit(decisionOn({ id: decided.id, accountId: grant.accountId }, 'approve'))
    for (const { id } of [left, decided]) await store.withdrawPermit({ id, now: NOW + 150_000 })
    const at = NOW + 150_000
    const list = (state: PermitState) =>
      store.listPermits({ accountId: grant.accountId, state, now: at }, { limit: 9 })
    expect((await list('expired')).items.map(({ id }) => id)).toEqual([left.id])
    expect((await list('ready')).items.map(({ id }) => id)).toEqual([decided.id])
    expect(
      await store.decidePermit(
        decisionOn({ id: left.id, accountId: grant.accountId }, 'approve', { now: at }),
      ),
    ).toMatchObject({ changed: false })
  })

  it('end with their mandate at the latest', async () => {
    const grant = await addGrant(store, 5, { expiresAt: NOW + 1000 })
    const { id } = await addPermit(store, grant, { expiresAt: NOW + 300_000 })
    expect(await store.getPermit(id)).toMatchObject({ expiresAt: NOW + 1000 })
  })

  it.each<[string, (grant: Grant) => Promise<Partial<Grant>> | Partial<Grant>, object, PrepareResult]>([
    ['nobody’s mandate', ({ mandate }) => ({ mandate: { ...mandate, id: 'mdt_none' } }), {}, gone('mandate')],
    [
      'another account’s mandate',
      async () => ({ mandate: (await addGrant(store, 5)).mandate }),
      {},
      gone('mandate'),
    ],
    ['a mandate that is over', () => ({}), { now: NOW + HOUR_MS }, gone('mandate')],
    ['a mandate in its last millisecond', () => ({}), { now: NOW + HOUR_MS - 1 }, { ok: true, balance: 5 }],
    ['nobody’s credential', () => ({ credentialId: 'cred_none' }), {}, gone('credential')],
    [
      'another account’s credential',
      async () => ({ credentialId: (await addGrant(store, 5)).credentialId }),
      {},
      gone('credential'),
    ],
    ['less than it needs', () => ({}), { needsBalance: 6 }, { ok: false, reason: 'credits', balance: 5 }],
    ['exactly what it needs', () => ({}), { needsBalance: 5 }, { ok: true, balance: 5 }],
  ])(
    'answer rightly for %s, and change nothing unless they come about',
    async (_, change, over, expected) => {
      const grant = await addGrant(store, 5)
      const input = { ...preparation({ ...grant, ...(await change(grant)) }), ...over }
      expect(await store.preparePermit(input)).toEqual(expected)
      expect(await heldOf(store, grant)).toEqual(expected.ok ? [1, 1] : [0, 0])
      expect((await store.getPermit(input.permit.id)) !== undefined).toBe(expected.ok)
      expect((await store.countActions(grant.accountId)).permitsPrepared).toBe(expected.ok ? 1 : 0)
    },
  )

  it('are not prepared with a credential that was rotated or revoked meanwhile', async () => {
    const grant = await addGrant(store, 5)
    const { accountId, credentialId: id } = grant
    const { sealed } = (await store.getCredential(id, accountId))!
    await store.rotateCredential({ id, accountId, fromVersion: 1, sealed, now: NOW })
    expect(await store.preparePermit(preparation(grant))).toEqual({ ok: false, reason: 'credential_changed' })
    await addPermit(store, grant, { credentialVersion: 2 })
    await store.revokeCredential({ id, accountId, now: NOW })
    const late = preparation(grant, { credentialVersion: 2 })
    expect(await store.preparePermit(late)).toEqual({ ok: false, reason: 'credential_gone' })
    expect(await heldOf(store, grant)).toEqual([1, 1])
  })

  it('wait for approval in a bounded number, of the account over all its mandates', async () => {
    const terms = { requiresApproval: true, maxCalls: 9 }
    const grant = await addGrant(store, 5, terms)
    const other = await addGrant(store, 5, terms)
    const ask = async (over: Partial<NewPermit> = {}, of: Grant = grant) => {
      const result = await store.preparePermit({ ...preparation(of, over), maxPending: 3 })
      return result.ok ? 'ok' : result.reason
    }
    const first = preparation(grant)
    expect(await store.preparePermit(first)).toMatchObject({ ok: true })
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
      'ok',
      'ok',
      'too_many_pending',
      'too_many_pending',
    ])
    expect(await heldOf(store, grant)).toEqual([3, 3])
    expect(await ask({ state: 'ready', summary: null })).toBe('ok')
    expect(await ask({}, other)).toBe('ok')
    const { accountId } = grant
    await store.decidePermit({
      id: first.permit.id,
      accountId,
      decision: 'refuse',
      ...byKey('key_1'),
      expiresAt: NOW + 400_000,
      now: NOW,
    })
    expect([await ask(), await ask()]).toEqual(['ok', 'too_many_pending'])
  })

  it('are refused a second time under the same id, and count once', async () => {
    const grant = await addGrant(store, 5)
    const permit = newPermit(grant)
    const results = await Promise.allSettled(
      times(5, () => store.preparePermit({ permit, needsBalance: 1, now: NOW })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'state_conflict' })
    expect(await heldOf(store, grant)).toEqual([1, 1])
  })

  it('give their share back when they expired and the limit stands in the way, and not before', async () => {
    const grant = await addGrant(store, 5, { maxCalls: 3, requiresApproval: true })
    const until = NOW + 1000
    const [pending, ready] = [
      await addPermit(store, grant, { expiresAt: until }),
      await addPermit(store, grant, { expiresAt: until, state: 'ready', summary: null }),
    ]
    const executed = await addPermit(store, grant, { expiresAt: until, state: 'ready', summary: null })
    expect((await store.reserveAction(execution(executed))).ok).toBe(true)
    const prepareAt = (now: number) => store.preparePermit({ ...preparation(grant), now })
    expect(await prepareAt(until - 1)).toEqual({ ok: false, reason: 'mandate_used_up' })
    expect(await expireOf(grant)).toEqual([])
    expect(await prepareAt(until)).toMatchObject({ ok: true })
    // Both at once: the next preparation finds room without looking.
    expect((await expireOf(grant)).map(({ id }) => id).toSorted()).toEqual([pending.id, ready.id].toSorted())
    expect(await store.getPermit(pending.id)).toMatchObject({ state: 'expired', summary: null })
    expect(await heldOf(store, grant)).toEqual([2, 2])
    expect(await prepareAt(until)).toMatchObject({ ok: true })
    expect(await prepareAt(until)).toEqual({ ok: false, reason: 'mandate_used_up' })
    // What is given back once is not given back again.
    expect(await heldOf(store, grant)).toEqual([3, 3])
  })

  it('do not look for expired ones while there is room', async () => {
    const grant = await addGrant(store, 5, { maxCalls: 9 })
    const { id } = await addPermit(store, grant, { expiresAt: NOW + 1 })
    expect(await store.preparePermit({ ...preparation(grant), now: NOW + 1 })).toMatchObject({ ok: true })
    expect(await store.getPermit(id)).toMatchObject({ state: 'ready' })
    expect(await heldOf(store, grant)).toEqual([2, 2])
  })

  it('give back a hundred expired ones at most in one preparation, credits included', async () => {
    const grant = await addGrant(store, 5, { maxCalls: null, maxCredits: 150 })
    await addMany(store, grant, 150, { expiresAt: NOW + 1 })
    expect(await store.preparePermit({ ...preparation(grant), now: NOW + 1 })).toMatchObject({ ok: true })
    expect(await heldOf(store, grant)).toEqual([51, 51])
    expect(await expireOf(grant)).toHaveLength(100)
  })

  it.each([
    ['approve', 'ready', { permitsApproved: 1, permitsRefused: 0 }, [1, 1]],
    ['refuse', 'refused', { permitsApproved: 0, permitsRefused: 1 }, [0, 0]],
  ] as [Decision['decision'], PermitState, object, number[]][])(
    'are decided once (%s), by their account, which forgets what would have been sent',
    async (decision, state, counts, held) => {
      const grant = await addGrant(store, 5, { requiresApproval: true })
      const permit = await addPermit(store, grant)
      expect((await store.getPermit(permit.id))?.summary).toBe(SUMMARY)
      const stranger = decisionOn(permit, decision, { accountId: 'acct_other' })
      expect(await store.decidePermit(stranger)).toBeUndefined()
      expect(await store.decidePermit(decisionOn({ ...permit, id: 'pmt_none' }, decision))).toBeUndefined()

      const answers = await Promise.all(times(10, () => store.decidePermit(decisionOn(permit, decision))))
      const decided = {
        ...prepared(permit),
        state,
        summary: null,
        decidedAt: NOW + 100_000,
        decidedBy: 'key_1',
        expiresAt: state === 'ready' ? NOW + 400_000 : permit.expiresAt,
      }
      expect(answers.filter((answer) => answer?.changed)).toHaveLength(1)
      for (const answer of answers) expect(answer?.permit).toEqual(decided)
      expect(await store.getPermit(permit.id)).toEqual(decided)
      const other = decision === 'approve' ? 'refuse' : 'approve'
      expect(await store.decidePermit(decisionOn(permit, other))).toEqual({ permit: decided, changed: false })
      expect(await heldOf(store, grant)).toEqual(held)
      expect(await store.countActions(grant.accountId)).toMatchObject(counts)
    },
  )

  it('are approved or refused, never both, when both are asked at once', async () => {
    const grant = await addGrant(store, 5, { maxCalls: 20, requiresApproval: true })
    for (let round = 0; round < 10; round++) {
      const permit = await addPermit(store, grant)
      const answers = await Promise.all(
        times(6, (i) => store.decidePermit(decisionOn(permit, i % 2 ? 'approve' : 'refuse'))),
      )
      expect(answers.filter((answer) => answer?.changed)).toHaveLength(1)
      expect(new Set(answers.map((answer) => answer?.permit.state)).size).toBe(1)
    }
  })

  it('are approved no longer than their mandate lasts, and not at all when their time is over', async () => {
    const grant = await addGrant(store, 5, { requiresApproval: true, expiresAt: NOW + 200_000 })
    const permit = await addPermit(store, grant, { expiresAt: NOW + 150_000 })
    const answer = await store.decidePermit(decisionOn(permit, 'approve', { now: NOW + 149_999 }))
    expect(answer).toMatchObject({ changed: true, permit: { state: 'ready', expiresAt: NOW + 200_000 } })

    const late = await addPermit(store, grant, { expiresAt: NOW + 150_000 })
    for (const decision of ['approve', 'refuse'] as const)
      expect(await store.decidePermit(decisionOn(late, decision, { now: NOW + 150_000 }))).toEqual({
        permit: prepared(late),
        changed: false,
      })
    expect(await heldOf(store, grant)).toEqual([2, 2])
  })

  describe('that two people have to approve', () => {
    const person = (id: string) => ({
      by: {
        kind: 'person' as const,
        id,
        method: 'passkey' as const,
        sessionId: 'ses_1',
        address: '192.0.2.1',
      },
      people: 2,
    })
    const member = async (accountId: string, role: 'owner' | 'approver' | 'auditor' = 'approver') => {
      const id = newId('per', NOW)
      await store.addPerson({
        person: { id, name: 'Test', createdAt: NOW, disabledAt: null },
        membership: { accountId, personId: id, role, admin: false, createdAt: NOW },
      })
      return id
    }

    it('wait for the second, count nobody twice, and keep what both said and saw', async () => {
      const grant = await addGrant(store, 5, { requiresApproval: true })
      const permit = await addPermit(store, grant)
      const [anna, ben] = [await member(grant.accountId), await member(grant.accountId, 'owner')]
      const evidence = Buffer.from('sealed request')
      const approve = (id: string, now = NOW + 1) =>
        store.decidePermit(decisionOn(permit, 'approve', { ...person(id), evidence, now }))
      const first = await Promise.all(times(8, () => approve(anna)))
      expect(first.filter((answer) => answer?.changed)).toHaveLength(1)
      expect(first.find((answer) => answer?.changed)).toMatchObject({
        missing: 1,
        permit: { decidedAt: null },
      })
      expect(await store.getPermit(permit.id)).toEqual(prepared(permit))
      expect(await store.getEvidence(permit.id)).toBeUndefined()
      expect(await approve(anna)).toMatchObject({ changed: false, reason: 'repeated' })
      expect(await approve(ben, NOW + 2)).toMatchObject({
        changed: true,
        missing: 0,
        permit: { state: 'ready', decidedBy: ben, evidenceBytes: evidence.length, summary: null },
      })
      expect(Buffer.from((await store.getEvidence(permit.id)) ?? [])).toEqual(evidence)
      expect(
        (await store.listDecisions([permit.id, 'pmt_none'])).map(({ id, decidedAt }) => [id, decidedAt]),
      ).toEqual([
        [anna, NOW + 1],
        [ben, NOW + 2],
      ])
      expect(await store.countActions(grant.accountId)).toMatchObject({ permitsApproved: 1 })
    })

    it('are looked at by many ids at once, whatever changed them', async () => {
      const grant = await addGrant(store, 9, { requiresApproval: true })
      const add = () => addPermit(store, grant)
      const [waits, heard, refused] = [await add(), await add(), await add()]
      const look = async (...ids: string[]) =>
        (await store.lookAtPermits(ids)).map((each) => [each.id, each.state, each.decisions, each.isRevoked])
      const anna = await member(grant.accountId)
      await store.decidePermit(decisionOn(heard, 'approve', { ...person(anna), people: 2 }))
      await store.decidePermit(decisionOn(refused, 'refuse', person(anna)))
      expect((await look(waits.id, heard.id, refused.id, 'pmt_none')).toSorted()).toEqual(
        [
          [waits.id, 'pending_approval', 0, false],
          [heard.id, 'pending_approval', 1, false],
          [refused.id, 'refused', 1, false],
        ].toSorted(),
      )
      await store.revokeMandate({ id: grant.mandate.id, accountId: grant.accountId, now: NOW + 2 })
      expect(await look(waits.id)).toEqual([[waits.id, 'pending_approval', 0, true]])
      expect(await look()).toEqual([])
      const many = await store.lookAtPermits([...times(320, () => 'pmt_none'), waits.id])
      expect(many).toMatchObject([{ id: waits.id, expiresAt: waits.expiresAt }])
    })

    it('go out after the two that came first of many at once', async () => {
      const grant = await addGrant(store, 5, { requiresApproval: true })
      const permit = await addPermit(store, grant)
      const ids = await Promise.all(times(6, () => member(grant.accountId)))
      const answers = await Promise.all(
        ids.map((id) => store.decidePermit(decisionOn(permit, 'approve', person(id)))),
      )
      expect(answers.filter((answer) => answer?.changed)).toHaveLength(2)
      expect(await store.listDecisions([permit.id])).toHaveLength(2)
      expect(await store.getPermit(permit.id)).toMatchObject({ state: 'ready' })
    })

    it('do not go out on the word of strangers, or of those who only read', async () => {
      const grant = await addGrant(store, 5, { requiresApproval: true })
      const other = await addGrant(store, 5)
      const permit = await addPermit(store, grant)
      for (const id of ['per_none', await member(other.accountId), await member(grant.accountId, 'auditor')])
        expect(await store.decidePermit(decisionOn(permit, 'approve', person(id)))).toMatchObject({
          changed: false,
          reason: 'not_member',
        })
      expect(await store.listDecisions([permit.id])).toEqual([])
    })
  })

  it('keep nothing of a request that was refused', async () => {
    const permit = await addPermit(store, await addGrant(store, 5, { requiresApproval: true }))
    const evidence = Buffer.from('sealed request')
    const refused = await store.decidePermit(decisionOn(permit, 'refuse', { evidence }))
    expect(refused).toMatchObject({ changed: true, permit: { state: 'refused', evidenceBytes: null } })
    expect(await store.getEvidence(permit.id)).toBeUndefined()
  })

  it('that nobody was asked about cannot be decided', async () => {
    const grant = await addGrant(store, 5)
    const permit = await addPermit(store, grant)
    expect(await store.decidePermit(decisionOn(permit, 'refuse'))).toEqual({
      permit: prepared(permit),
      changed: false,
    })
  })

  it('are listed newest first by the state that stands, written down or not, to their account only', async () => {
    const grant = await addGrant(store, 9, { maxCalls: 9, requiresApproval: true })
    const { accountId } = grant
    const add = (i: number, over: object = {}) =>
      addPermit(store, grant, { id: newId('pmt', NOW + i), ...over })
    const ready = { state: 'ready' as const, summary: null }
    const over = { expiresAt: NOW + 1000 }
    const ids = {
      pending: (await add(0)).id,
      pendingOver: (await add(1, over)).id,
      ready: (await add(2, ready)).id,
      readyOver: (await add(3, { ...ready, ...over })).id,
      refused: (await add(4)).id,
      executed: (await add(5, ready)).id,
    }
    await store.decidePermit(decisionOn({ id: ids.refused, accountId }, 'refuse', { now: NOW }))
    await store.reserveAction(execution((await store.getPermit(ids.executed))!))
    const list = async (state?: PermitState, now = NOW + 1000, limit = 50, before?: string) => {
      const page = await store.listPermits({ accountId, state, now }, { limit, before })
      return page.items.map(({ id }) => id)
    }
    expect(await list()).toEqual(Object.values(ids).toReversed())
    expect(await list(undefined, NOW, 2)).toEqual([ids.executed, ids.refused])
    expect(await list(undefined, NOW, 9, ids.ready)).toEqual([ids.pendingOver, ids.pending])
    expect(await list('pending_approval')).toEqual([ids.pending])
    expect(await list('pending_approval', NOW + 999)).toEqual([ids.pendingOver, ids.pending])
    expect(await list('ready')).toEqual([ids.ready])
    expect(await list('ready', NOW + 999)).toEqual([ids.readyOver, ids.ready])
    expect(await list('refused')).toEqual([ids.refused])
    expect(await list('executed')).toEqual([ids.executed])
    expect(await list('expired')).toEqual([ids.readyOver, ids.pendingOver])
    expect(await list('expired', NOW + 999)).toEqual([])
    const others = await store.listPermits({ accountId: 'acct_other', now: NOW }, { limit: 5 })
    expect(others).toEqual({ items: [], next: null })
  })

  it('have an index for each state that is listed while there is something to do, and for those refused', async () => {
    const rows = await place.query(
      engine === 'sqlite'
        ? `SELECT sql AS text FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'permits'`
        : `SELECT indexdef AS text FROM pg_indexes WHERE tablename = 'permits'`,
    )
    const indexes = rows.map((row) => String(row['text']))
    for (const [name, state] of [
      ['permits_pending', 'pending_approval'],
      ['permits_ready', 'ready'],
      ['permits_refused', 'refused'],
    ])
      expect(indexes).toContainEqual(
        expect.stringMatching(
          new RegExp(`INDEX ${name} .*\\(account_id, id\\) WHERE \\(?state = '${state}'`),
        ),
      )
  })
})

function gone(what: 'mandate' | 'credential'): PrepareResult {
  return { ok: false, reason: `${what}_gone` }
}
