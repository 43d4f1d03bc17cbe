// Who may approve a permit: somebody else, two people, people who have just shown that it is them; and what is kept of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ActionRequest, MandateTerms } from '../../schemas/actions.ts'
import { loadConfig } from '../../src/app/config.ts'
import { authenticate } from '../../src/core/authenticate.ts'
import type { Operator } from '../../src/core/caller.ts'
import { actAs } from '../../src/lib/acting.ts'
import { decodeJws } from '../../src/receipts/types.ts'
import { actionsApprove } from '../../tools/actions-approve.ts'
import { checkRole } from '../../src/core/roles.ts'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { runRaw } from '../support/raw-sql.ts'

let gw: TestGateway
let actions: ActionsClient
let ahead = 0
const now = () => Date.now() + ahead
const MINUTE = 60_000

beforeAll(async () => {
  gw = await startTestGateway({ now })
  actions = await createActionsClient(gw, gw.url, { now })
})
afterAll(() => gw?.close())
beforeEach(() => {
  ahead = 0
})

/** The person as the call path knows them. */
async function as({ cookie }: TestPerson): Promise<Operator> {
  const session = cookie.slice(cookie.indexOf('=') + 1)
  const caller = await authenticate(
    'operator',
    { session },
    { store: gw.store, now: now(), address: '192.0.2.7' },
  )
  if (caller.kind !== 'operator') throw new Error('not an operator')
  return caller
}
const withKey = async (token: string): Promise<Operator> =>
  (await authenticate(
    'operator',
    { bearer: token },
    { store: gw.store, now: now(), address: '192.0.2.8' },
  )) as Operator

const assistantOf = ({ personId, accountId }: TestPerson): Operator => ({
  kind: 'operator',
  id: 'con_1',
  accountId,
  admin: false,
  role: 'operator',
  address: '192.0.2.9',
  connection: {
    id: 'con_1',
    clientId: 'client',
    clientName: 'Client',
    personId,
    role: 'operator',
    admin: false,
    mayPay: false,
    mayOperate: true,
  },
})

const raw = (text: string) => runRaw({ config: loadConfig(gw.env) }, text)

const prepare = (by: Operator, mandate: Body, request: Body = actions.request()) =>
  gw.services.actions.prepare(by, {
    credential_id: actions.credentialId,
    request: ActionRequest.parse(request),
    mandate: MandateTerms.parse(actions.mandate(mandate)),
  })
const approve = async (by: Operator | TestPerson, permitId: string) =>
  gw.services.actions.decide('cookie' in by ? await as(by) : by, permitId, 'approve')
const refusalOf = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    (done) => ({ code: 'done', reason: (done as { state: string }).state }),
    (error: unknown) => error as { code: string; reason?: string },
  )
  return [thrown.code, thrown.reason]
}

const ANOTHER = { approval: { by: 'another' } }
const TWO = { approval: { people: 2 } }

describe('a permit whose approver is another one than its preparer', () => {
  it('is not approved by who prepared it, in another session, by a key of theirs, or by an assistant', async () => {
    const [anna, ben] = [await signIn(gw, { role: 'operator' }), await signIn(gw, { role: 'approver' })]
    const { permit_id } = await prepare(await as(anna), ANOTHER)
    const again = await gw.services.identity.sessions.open({
      personId: anna.personId,
      accountId: anna.accountId,
      method: 'oidc',
      from: { address: '198.51.100.1', userAgent: 'another browser' },
    })
    const elsewhere = { ...anna, cookie: `x=${again.token.use((text) => text)}` }
    const key = await actAs({ kind: 'person', id: anna.personId }, () =>
      gw.services.accounts.createKey({ accountId: anna.accountId, label: 'hers' }),
    )
    const hers = await withKey(key.token.use((text) => text))
    expect(await refusalOf(approve(anna, permit_id))).toEqual(['approval_refused', 'prepared_it'])
    expect(await refusalOf(approve(elsewhere, permit_id))).toEqual(['approval_refused', 'prepared_it'])
    expect(await refusalOf(approve(hers, permit_id))).toEqual(['approval_refused', 'person_required'])
    expect(await refusalOf(approve(assistantOf(anna), permit_id))).toEqual(['approval_refused', 'assistant'])
    expect(await refusalOf(approve(assistantOf(ben), permit_id))).toEqual(['approval_refused', 'assistant'])
    expect(await actions.permitOf(permit_id)).toMatchObject({ state: 'pending_approval', decisions: [] })
    expect(await refusalOf(approve(ben, permit_id))).toEqual(['done', 'ready'])
  })

  it('knows whose assistant, and whose key, prepared it', async () => {
    const [anna, ben] = [await signIn(gw, { role: 'operator' }), await signIn(gw)]
    const made = await actAs({ kind: 'person', id: anna.personId }, () =>
      gw.services.accounts.createKey({ accountId: anna.accountId, label: 'hers' }),
    )
    // A key that her key made is still hers.
    const second = await actAs({ kind: 'service_key', id: made.key.id }, () =>
      gw.services.accounts.createKey({ accountId: anna.accountId, label: 'of her key' }),
    )
    for (const by of [assistantOf(anna), await withKey(second.token.use((text) => text))]) {
      const { permit_id } = await prepare(by, ANOTHER)
      expect(await actions.permitOf(permit_id)).toMatchObject({
        prepared_by: { id: by.id, person_id: anna.personId, address: by.address },
        approval: { by: 'another', people: 1, fresh_sign_in: false },
      })
      expect(await refusalOf(approve(anna, permit_id))).toEqual(['approval_refused', 'prepared_it'])
      expect(await refusalOf(approve(ben, permit_id))).toEqual(['done', 'ready'])
    }
  })

  it('may be refused by whoever prepared it: a no is always taken', async () => {
    const anna = await signIn(gw, { role: 'operator' })
    const { permit_id } = await prepare(await as(anna), ANOTHER)
    expect((await gw.services.actions.decide(await as(anna), permit_id, 'refuse')).state).toBe('refused')
  })

  it('is refused over REST with a key, in words that say what to do', async () => {
    const { body } = await actions.ask({ request: actions.request(), mandate: actions.mandate(ANOTHER) })
    const answer = await gw.rest('POST', `/v1/actions/permits/${body.permit_id}/approve`)
    expect([answer.status, answer.body.code, answer.body.why]).toEqual([
      403,
      'approval_refused',
      'person_required',
    ])
    expect(answer.body.detail).toContain('inbox of the console')
    const early = await actions.execute(body.permit)
    expect([early.status, early.body.code]).toEqual([409, 'permit_pending'])
  })
})

describe('a permit that two people approve', () => {
  it('goes out after the second of them, with both in its receipt and its evidence', async () => {
    const [anna, ben] = [await signIn(gw), await signIn(gw, { role: 'approver' })]
    const request = actions.request({ body: '{"sku":"birthday-cake","count":7}' })
    const { permit, permit_id, request_digest } = await prepare(await as(anna), TWO, request)
    expect(await approve(anna, permit_id)).toMatchObject({
      state: 'pending_approval',
      decided_at: null,
      decisions: [{ id: anna.personId, kind: 'person', method: 'passkey', address: '192.0.2.7' }],
    })
    expect((await actions.execute(permit, request)).body.code).toBe('permit_pending')
    expect(await refusalOf(approve(anna, permit_id))).toEqual(['approval_refused', 'repeated'])
    expect((await gw.rest('GET', `/v1/actions/permits/${permit_id}/evidence`)).status).toBe(404)
    expect(await approve(ben, permit_id)).toMatchObject({
      state: 'ready',
      decided_by: ben.personId,
      summary: null,
      evidence_kept: true,
    })

    const sent = await actions.execute(permit, request)
    expect(sent.status).toBe(200)
    const claims = decodeJws(sent.body.receipt.jws).payload as Body
    expect(claims['approvals']).toMatchObject([
      { by: anna.personId, kind: 'person', method: 'passkey' },
      { by: ben.personId, kind: 'person', method: 'passkey' },
    ])
    expect(JSON.stringify(claims)).not.toContain('192.0.2.7')

    const evidence = await gw.rest('GET', `/v1/actions/permits/${permit_id}/evidence`)
    expect(evidence.body).toMatchObject({
      permit_id,
      request_digest,
      request: { method: 'POST', body: '{"sku":"birthday-cake","count":7}' },
      prepared_by: { kind: 'person', id: anna.personId, address: '192.0.2.7' },
    })
    expect(evidence.body.decisions).toHaveLength(2)
    const rows = await gw.store.getEvidence(permit_id)
    expect(Buffer.from(rows ?? []).toString('latin1')).not.toContain('birthday-cake')
    const trail = await gw.rest('GET', '/v1/audit/events?limit=100')
    const events = (trail.body.events as Body[]).filter(
      ({ subject }) => (subject as Body | null)?.['id'] === permit_id,
    )
    expect(events.map(({ event }) => event)).toEqual(['permit.approval_added', 'permit.approved'])
    expect(events[1]).toMatchObject({ detail: { request_digest, missing: 0, evidence_kept: true } })
  })

  it('counts one person once, however often they say yes at the same time', async () => {
    const [anna, ben] = [await signIn(gw), await signIn(gw)]
    const { permit_id } = await prepare(await as(anna), TWO)
    const answers = await Promise.all(Array.from({ length: 10 }, () => refusalOf(approve(anna, permit_id))))
    expect(answers.filter(([code]) => code === 'done')).toHaveLength(1)
    expect((await actions.permitOf(permit_id))['state']).toBe('pending_approval')
    expect(await refusalOf(approve(ben, permit_id))).toEqual(['done', 'ready'])
  })

  it('does not count who may not approve any more', async () => {
    const [anna, ben, cleo] = [await signIn(gw), await signIn(gw), await signIn(gw)]
    const { permit_id } = await prepare(await as(anna), TWO)
    const bens = await as(ben)
    await approve(anna, permit_id)
    await raw(`UPDATE memberships SET role = 'auditor' WHERE person_id = '${anna.personId}'`)
    expect(await refusalOf(approve(bens, permit_id))).toEqual(['done', 'pending_approval'])
    expect(await refusalOf(approve(cleo, permit_id))).toEqual(['done', 'ready'])
    // Whoever is removed while their page is open does not approve from it.
    await raw(`DELETE FROM memberships WHERE person_id = '${ben.personId}'`)
    const other = await prepare(await as(cleo), { requires_approval: true })
    expect(await refusalOf(approve(bens, other.permit_id))).toEqual(['approval_refused', 'not_member'])
  })

  it('ends with the first no, and gives its mandate the share back', async () => {
    const [anna, ben] = [await signIn(gw), await signIn(gw)]
    const { permit_id, mandate_id } = await prepare(await as(anna), TWO)
    await approve(anna, permit_id)
    expect((await gw.services.actions.decide(await as(ben), permit_id, 'refuse')).state).toBe('refused')
    expect(await actions.mandateOf(mandate_id)).toMatchObject({ calls: 0 })
    expect(await refusalOf(approve(await signIn(gw), permit_id))).toEqual([
      'state_conflict',
      'permit_decided',
    ])
    // Who approved may think better of it, too.
    const second = await prepare(await as(anna), TWO)
    await approve(anna, second.permit_id)
    expect(
      (await gw.services.actions.decide(await as(anna), second.permit_id, 'refuse')).decisions,
    ).toMatchObject([{ decision: 'approve' }, { decision: 'refuse' }])
  })

  it('expires with one approval as with none', async () => {
    const [anna, ben] = [await signIn(gw), await signIn(gw)]
    const { permit_id } = await prepare(await as(anna), TWO)
    const bens = await as(ben)
    await approve(anna, permit_id)
    ahead = 25 * 60 * MINUTE
    expect((await refusalOf(approve(bens, permit_id)))[0]).toBe('permit_expired')
  })
})

describe('who approves', () => {
  it('shows again that it is them, where that is asked for', async () => {
    const anna = await signIn(gw)
    const { permit_id } = await prepare(await as(anna), { approval: { fresh_sign_in: true } })
    const caller = await as(anna)
    ahead = 6 * MINUTE
    expect(await refusalOf(approve(caller, permit_id))).toEqual(['fresh_sign_in_required', 'fresh_sign_in'])
    ahead = 4 * MINUTE
    expect(await refusalOf(approve(caller, permit_id))).toEqual(['done', 'ready'])
  })

  it('is an approver, an operator or an owner, and of this account', async () => {
    const roles = ['owner', 'operator', 'approver', 'auditor'] as const
    const allowed: string[] = []
    for (const role of roles) {
      const caller = await as(await signIn(gw, { role }))
      try {
        checkRole(actionsApprove as never, caller, now())
        allowed.push(role)
      } catch {}
    }
    expect(allowed).toEqual(['owner', 'operator', 'approver'])
    const team = await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })
    const theirs = await withKey(team.body.key)
    const stranger = await signIn(gw, { accountId: theirs.accountId })
    const { permit_id } = await prepare(await as(await signIn(gw)), ANOTHER)
    expect((await refusalOf(approve(stranger, permit_id)))[0]).toBe('permit_not_found')
    const strangers = await gw.rest(
      'GET',
      `/v1/actions/permits/${permit_id}/evidence`,
      undefined,
      team.body.key,
    )
    expect([strangers.status, strangers.body.code]).toEqual([404, 'permit_not_found'])
  })

  it('is a key, too, where nothing is said, as before', async () => {
    const { permit_id } = await actions.prepare(
      actions.request(),
      actions.mandate({ requires_approval: true }),
    )
    const answer = await gw.rest('POST', `/v1/actions/permits/${permit_id}/approve`)
    expect(answer.body).toMatchObject({
      state: 'ready',
      approval: null,
      prepared_by: { kind: 'service_key', person_id: null },
      decisions: [{ kind: 'service_key', method: null, session_id: null }],
      evidence_kept: true,
    })
  })
})

describe('a credential that says who approves', () => {
  it('holds every permit to it, and no capability alone opens it', async () => {
    const guarded = await createActionsClient(gw, gw.url, {
      now,
      credential: { label: 'guarded', settings: { approval: { by: 'another' } } },
    })
    const { credentialId } = guarded
    const issued = await gw.rest('POST', '/v1/egress/capabilities', {
      credential_id: credentialId,
      ttl_seconds: 600,
      label: 'agent',
    })
    const sent = gw.upstream.requests.length
    const direct = await gw.rest(
      'POST',
      '/v1/egress/fetch',
      { url: gw.url('/v1/orders') },
      issued.body.capability,
    )
    expect([direct.status, direct.body.code]).toEqual([403, 'scope_denied'])
    expect(direct.body.detail).toContain('approved by a person')
    expect(gw.upstream.requests.length).toBe(sent)

    const { body } = await guarded.ask({ request: guarded.request(), mandate: guarded.mandate(TWO) })
    expect(body.state).toBe('pending_approval')
    expect(await guarded.permitOf(body.permit_id)).toMatchObject({
      approval: { by: 'another', people: 2, fresh_sign_in: false },
    })

    // Whom the rule holds does not take it away.
    const made = await gw.rest('POST', '/v1/keys', { label: 'held', role: 'operator' })
    const edit = (settings: Body, key: string = made.body.key) =>
      gw.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, { settings }, key)
    expect((await edit({})).body.code).toBe('role_required')
    expect((await edit({ approval: { by: 'anyone', people: 2 } })).body.code).toBe('role_required')
    expect((await edit({ approval: { by: 'another', people: 2 } })).status).toBe(200)
    expect((await edit({ approval: { by: 'another' } }, gw.operatorKey)).status).toBe(200)
    // What waited was prepared under the rule before.
    expect(await guarded.permitOf(body.permit_id)).toMatchObject({ state: 'revoked' })
  })

  it('and one whose rules ask a person: only an owner takes them away, and answer and event say what is gone', async () => {
    const rules = ['deny DELETE *', 'ask POST *', 'allow * *']
    const { credentialId } = await createActionsClient(gw, gw.url, {
      now,
      credential: { label: 'ruled', settings: { rules, limits: { max_response_bytes: 1_000 } } },
    })
    const made = await gw.rest('POST', '/v1/keys', { label: 'held', role: 'operator' })
    const edit = (settings: Body, key: string = made.body.key) =>
      gw.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, { settings }, key)
    for (const settings of [{}, { limits: { max_response_bytes: 500 } }, { rules: ['allow * *', ...rules] }])
      expect((await edit(settings)).body).toMatchObject({ code: 'role_required', rules })
    const kept = await edit({ rules: rules.slice(1) })
    expect(kept.body).toMatchObject({ dropped_settings: ['limits'], dropped_rules: ['deny DELETE *'] })
    const same = await edit({ rules: rules.slice(1) })
    expect(Object.keys(same.body).filter((name) => name.startsWith('dropped'))).toEqual([])
    const gone = await edit({}, gw.operatorKey)
    expect(gone.body).toMatchObject({
      dropped_settings: ['rules'],
      dropped_rules: ['ask POST *', 'allow * *'],
    })
    const { events } = (await gw.rest('GET', '/v1/audit/events?limit=500')).body
    expect(
      events
        .filter((one: Body) => one['event'] === 'credential.edited')
        .map((one: { detail: Body }) => one.detail),
    ).toContainEqual(
      expect.objectContaining({ dropped_settings: ['rules'], dropped_rules: 2, dropped_ask_rules: 1 }),
    )
  })
})
