// A person connects an assistant: consent, calls, changing one's mind, and what attackers try in between. Over the wire, through the
// authorization server and the pages as they are.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConnectionRecord } from '../../schemas/connection.ts'
import { cookieName } from '../../src/doors/console/cookie.ts'
import { newId } from '../../src/lib/ids.ts'
import { allowing, ask, comeBack, inBrowser, redeem, register, tokenIn } from '../support/consent.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { throughDoor } from '../support/three-doors.ts'
import { egressFetch } from '../../tools/egress-fetch.ts'

interface Credential {
  readonly credential_id: string
  readonly hosts: readonly string[]
  readonly path_prefixes: readonly string[]
  readonly methods: readonly string[]
}
type Fields = readonly (readonly [string, string])[]

let gateway: TestGateway
let owner: TestPerson
let clientId: string
let credential: Credential
/** Of another account. */
let foreign: Credential
let foreignKey: string
let stranger: TestPerson
beforeAll(async () => {
  gateway = await startTestGateway()
  owner = await signIn(gateway)
  clientId = await register(gateway)
  credential = await store({})
  foreignKey = (await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'other' })).body.key
  foreign = await store({}, foreignKey)
  const { items } = await gateway.store.listKeys(undefined, { limit: 9 })
  const other = items.find(({ accountId }) => accountId !== owner.accountId)?.accountId ?? ''
  stranger = await signIn(gateway, { accountId: other })
})
afterAll(() => gateway?.close())

async function store(over: object, key?: string): Promise<Credential> {
  const wanted = { hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET', 'POST'], ...over }
  const body = { provider: 'custom', label: 'test', secret: 'upstream-secret-1', ...wanted }
  return (await gateway.rest('POST', '/v1/egress/credentials', body, key)).body
}

/** From the address to a token, as a person ticks it. */
async function connect(more: Fields = [], credentials: readonly Credential[] = [credential], person = owner) {
  const asking = await ask(gateway, clientId)
  const answer = await inBrowser(gateway, person, asking).post(allowing(credentials, more))
  const tokens = await redeem(gateway, await comeBack(gateway, answer, asking), asking)
  const { connections } = (await gateway.rest('GET', '/v1/connections?limit=1')).body
  return { ...tokens, token: tokens.access_token, connection: connections[0] as ConnectionRecord }
}
const codeOf = ({ status, body }: { status: number; body: { code?: string } }) =>
  `${status} ${body.code ?? 'ok'}`
const call = async (token: string, path = '/user', method = 'GET') =>
  codeOf(await gateway.rest('POST', '/v1/egress/fetch', { url: gateway.url(path), method }, token))
const connections = async (): Promise<ConnectionRecord[]> =>
  (await gateway.rest('GET', '/v1/connections?limit=100')).body.connections

/** The token of a person's forms is that of their session, on whatever page. */
const csrfOf = async (person: TestPerson) =>
  tokenIn(await (await person.get('/console/credentials/new?provider=custom')).text())

describe('consent', () => {
  it('leads from an address to a call of a stored credential', async () => {
    const { token, connection } = await connect()
    expect(token).toMatch(/^agw_at_/)
    expect(await call(token)).toBe('200 ok')
    expect(connection).toMatchObject({
      person_id: owner.personId,
      client: { id: clientId, name: 'Test Assistant', host: null, redirect_host: '127.0.0.1:33418' },
      credentials: [{ credential_id: credential.credential_id, hosts: credential.hosts }],
      may_pay: false,
      may_operate: false,
      ended_at: null,
      suspended: false,
    })
  })

  it('says who asks, ticks nothing, and is in no frame and no cache', async () => {
    const name = 'Evil<script>alert(1)</script>\u202Egnp'
    const asking = await ask(gateway, await register(gateway, name), 'gateway gateway:operator')
    const page = await inBrowser(gateway, owner, asking).get()
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cache-control')).toBe('no-store')
    const html = await page.text()
    expect(html).toContain('Evil&lt;script>alert(1)&lt;/script>')
    for (const words of [
      'Unverified name',
      '127.0.0.1:33418',
      'on your own computer',
      'tools of operators. They stay off',
    ])
      expect(html).toContain(words)
    expect(html).toContain(credential.credential_id)
    expect(html).not.toContain(foreign.credential_id)
    expect(html).not.toMatch(/name="(?:use|may_pay|may_operate)"[^>]*checked/)
  })

  it('names the account as people do, offers no other to whoever has one, and warns of ticking nothing', async () => {
    const html = await (await inBrowser(gateway, owner, await ask(gateway, clientId)).get()).text()
    const [own] = await gateway.services.identity.people.accountsOf(owner.personId)
    expect(own?.accountName).not.toBe('')
    expect(html.replace(/<[^>]+>/g, ' ')).toMatch(new RegExp(`For the account\\s+${own?.accountName}\\s`))
    expect([html.includes(owner.accountId), html.includes('Another one')]).toEqual([false, false])
    expect(html).toContain('Nothing is ticked: the assistant could use only what is free for everybody.')
  })

  it('is asked again every time, and starts from what the client was allowed before', async () => {
    const client = await register(gateway, 'Again')
    const again = async () =>
      inBrowser(gateway, owner, await ask(gateway, client)).data<{
        terms: ConnectionRecord
        before: string | null
      }>()
    expect((await again()).before).toBe(null)
    const first = await ask(gateway, client)
    const more: Fields = [
      ['may_pay', 'on'],
      ['budget.usdc.total', '2.5'],
    ]
    await comeBack(gateway, await inBrowser(gateway, owner, first).post(allowing([credential], more)), first)
    const { terms, before } = await again()
    expect(before).toMatch(/^con_/)
    expect(terms).toMatchObject({
      may_pay: true,
      may_operate: false,
      credentials: [{ credential_id: credential.credential_id }],
      budgets: [{ unit: 'usdc', per: 'total', limit: '2.500000', frees_at: null }],
    })
    // Somebody else of the account decides for themselves.
    const other = await signIn(gateway, { role: 'operator' })
    const asked = inBrowser(gateway, other, await ask(gateway, client))
    expect((await asked.data<{ before: string | null }>()).before).toBe(null)
  })

  it('ends what the same client was allowed before where the person says so, and nothing of anybody else', async () => {
    const [first, kept] = [await connect(), await connect()]
    expect(await call(first.token)).toBe('200 ok')
    const second = await connect([['replaces', first.connection.connection_id]])
    expect(await call(first.token)).toBe('401 capability_invalid')
    expect([await call(kept.token), await call(second.token)]).toEqual(['200 ok', '200 ok'])

    const other = await signIn(gateway, { role: 'operator' })
    await connect([['replaces', kept.connection.connection_id]], [credential], other)
    const usual = clientId
    clientId = await register(gateway, 'Another')
    await connect([['replaces', kept.connection.connection_id]])
    clientId = usual
    expect(await call(kept.token)).toBe('200 ok')
  })

  it('is taken from its own page alone, once, in the browser that was sent here', async () => {
    const asking = await ask(gateway, clientId)
    const before = (await connections()).length
    const live = (await connections()).filter(({ ended_at }) => ended_at === null).length
    const browser = inBrowser(gateway, owner, asking)
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await browser.post(allowing([credential]), { 'sec-fetch-site': site })).status).toBe(403)
    expect((await browser.post(allowing([credential]), {}, 'forged')).status).toBe(403)
    const nobody = { cookie: '' }
    expect((await inBrowser(gateway, nobody, asking).get()).status).toBe(303)

    // Somebody lures the owner to a request of their own: it belongs to another browser.
    const lured = inBrowser(gateway, owner, { ...asking, cookies: '' })
    expect(await (await lured.get()).text()).toContain('This request is over')
    expect((await lured.post(allowing([credential]), {}, await csrfOf(owner))).status).toBe(409)
    expect(await connections()).toHaveLength(before)

    const csrf = await csrfOf(owner)
    const twice = await Promise.all([1, 2].map(() => browser.post(allowing([credential]), {}, csrf)))
    expect(twice.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect((await browser.post(allowing([credential]), {}, csrf)).status).toBe(409)
    expect((await connections()).filter(({ ended_at }) => ended_at === null)).toHaveLength(live + 1)
  })

  it('takes no form with the token of another session', async () => {
    const asking = await ask(gateway, clientId)
    const other = await signIn(gateway, { role: 'owner' })
    const csrf = tokenIn(await (await inBrowser(gateway, other, asking).get()).text())
    expect(csrf).not.toBe('')
    const form = new URLSearchParams([['_csrf', csrf], ...allowing([credential]).map(([n, v]) => [n, v])])
    const answer = await fetch(gateway.baseUrl + asking.path, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', cookie: `${owner.cookie}; ${asking.cookies}` },
      body: form,
    })
    expect(answer.status).toBe(403)
  })

  it.each<[string, () => Fields, string]>([
    ["another account's credential", () => allowing([foreign]), '404 credential_not_found'],
    ['the same credential twice', () => allowing([credential, credential]), '400 input_invalid'],
    ['another host', () => allowing([{ ...credential, hosts: ['evil.example'] }]), '403 scope_denied'],
    ['no host', () => allowing([{ ...credential, hosts: [] }]), '400 input_invalid'],
    ['a host that is none', () => allowing([{ ...credential, hosts: ['*'] }]), '400 input_invalid'],
    [
      'a path that is none',
      () => allowing([{ ...credential, path_prefixes: ['v1 x'] }]),
      '400 input_invalid',
    ],
    ['no path', () => allowing([{ ...credential, path_prefixes: [] }]), '400 input_invalid'],
    ['another method', () => allowing([{ ...credential, methods: ['GET', 'DELETE'] }]), '403 scope_denied'],
    [
      'a day that is none',
      () => [...allowing([credential]).filter(([n]) => n !== 'expires'), ['expires', 'soon']],
      '400 input_invalid',
    ],
    [
      'a day that is over',
      () => [['expires', '2020-01-01'], ...allowing([credential]).filter(([n]) => n !== 'expires')],
      '400 input_invalid',
    ],
    [
      'no end',
      () => [['expires', '2999-01-01'], ...allowing([credential]).filter(([n]) => n !== 'expires')],
      '400 input_invalid',
    ],
    [
      'a budget that is none',
      () => allowing([credential], [['budget.calls.day', '-1']]),
      '400 input_invalid',
    ],
    ['half a use', () => allowing([credential], [['max_uses', '1.5']]), '400 input_invalid'],
  ])('grants nothing for %s in the form', async (_, form, expected) => {
    const before = (await connections()).length
    const asking = await ask(gateway, clientId)
    const answer = await inBrowser(gateway, owner, asking).post(form(), { accept: 'application/json' })
    const body = (await answer.json()) as { code?: string }
    expect(codeOf({ status: answer.status, body })).toBe(expected)
    expect(await connections()).toHaveLength(before)
  })

  it('grants what was shown, also where the credential grew meanwhile', async () => {
    const own = await store({})
    const asking = await ask(gateway, clientId)
    const shown = allowing([own])
    const { credential_id: id } = own
    await gateway.rest('POST', `/v1/egress/credentials/${id}/edit`, { methods: ['GET', 'POST', 'DELETE'] })
    expect((await inBrowser(gateway, owner, asking).post(shown)).status).toBe(200)
    const [made] = await connections()
    expect(made?.credentials).toMatchObject([{ credential_id: id, methods: ['GET', 'POST'] }])
  })

  it('keeps what was typed where it is refused', async () => {
    const asking = await ask(gateway, clientId)
    const form = allowing([{ ...credential, path_prefixes: ['/kept path'] }], [['budget.credits.day', '77']])
    const answer = await inBrowser(gateway, owner, asking).post(form)
    expect(answer.status).toBe(400)
    const html = await answer.text()
    for (const kept of ['/kept path', 'value="77"', 'role="alert"']) expect(html).toContain(kept)
    expect(html).toMatch(new RegExp(`name="use" value="${credential.credential_id}" checked`))
  })

  it('is not for auditors, approvers and sellers, who may refuse', async () => {
    for (const role of ['auditor', 'approver', 'seller'] as const) {
      const person = await signIn(gateway, { role })
      const browser = inBrowser(gateway, person, await ask(gateway, clientId))
      const answer = await browser.post(allowing([credential]), { accept: 'application/json' })
      expect([role, answer.status]).toEqual([role, 403])
    }
    const asking = await ask(gateway, clientId)
    const auditor = inBrowser(gateway, await signIn(gateway, { role: 'auditor' }), asking)
    expect(await (await auditor.get()).text()).toContain('Your role connects no assistants')
    const back = await comeBack(gateway, await auditor.post([['_action', 'refuse']]), asking)
    expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual(['access_denied', null])
  })
})

describe('a connected assistant', () => {
  it('stops at its limits, which all of its credentials share, and reads its own attempts alone', async () => {
    const second = await store({ path_prefixes: ['/second'] })
    const { token, connection } = await connect([['budget.calls.total', '2']], [credential, second])
    expect([await call(token), await call(token, '/second/x'), await call(token)]).toEqual([
      '200 ok',
      '200 ok',
      '429 calls_spent',
    ])
    const listed = (await gateway.rest('GET', '/v1/egress/attempts', undefined, token)).body.attempts
    expect(listed.map(({ credential_id }: Credential) => credential_id)).toEqual([
      second.credential_id,
      credential.credential_id,
    ])
    const { attempt_id } = listed[0]
    expect((await gateway.rest('GET', `/v1/egress/attempts/${attempt_id}`, undefined, token)).status).toBe(
      200,
    )
    const other = await connect()
    expect(
      (await gateway.rest('GET', `/v1/egress/attempts/${attempt_id}`, undefined, other.token)).status,
    ).toBe(404)
    const page = await owner.get(`/console/connections/${connection.connection_id}`)
    expect(await page.text()).toContain('2 / 2')
  })

  it('pays and operates only where the person ticked that, and is told the scope it lacks', async () => {
    const { token } = await connect()
    const paid = (bearer: string) =>
      gateway.rest('POST', '/v1/tools/web.fetch', { url: 'https://example.com/' }, bearer)
    const refused = await paid(token)
    expect([codeOf(refused), refused.body.scope]).toEqual(['403 insufficient_scope', 'gateway'])
    const operate = await gateway.rest('GET', '/v1/egress/credentials', undefined, token)
    expect([codeOf(operate), operate.body.scope]).toEqual([
      '403 insufficient_scope',
      'gateway gateway:operator',
    ])

    const trusted = (
      await connect([
        ['may_pay', 'on'],
        ['may_operate', 'on'],
      ])
    ).token
    expect((await paid(trusted)).status).toBe(402)
    expect((await gateway.rest('GET', '/v1/egress/credentials', undefined, trusted)).status).toBe(200)
  })

  it('never gives itself more: no key, no capability, no connection, no approval', async () => {
    const { token, connection } = await connect([['may_operate', 'on']])
    const { connection_id } = connection
    const tries = [
      gateway.rest('POST', '/v1/keys', {}, token),
      gateway.rest('POST', '/v1/egress/capabilities', { credential_id: credential.credential_id }, token),
      gateway.rest('GET', '/v1/connections', undefined, token),
      gateway.rest(
        'POST',
        '/v1/connections/change',
        { connection_id, credentials: [], expires_at: connection.expires_at },
        token,
      ),
      gateway.rest('POST', '/v1/connections/revoke', { connection_id }, token),
    ]
    for (const answer of await Promise.all(tries)) expect(codeOf(answer)).toBe('403 role_required')
  })

  it('does not take away the approval that a credential asks for, though an owner connected it', async () => {
    const { credentialId } = await gateway.grant({
      credential: { label: 'guarded', settings: { approval: { by: 'another' } } },
    })
    const { token } = await connect([['may_operate', 'on']])
    const edit = (bearer?: string) =>
      gateway.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, { settings: {} }, bearer)
    expect(codeOf(await edit(token))).toBe('403 role_required')
    expect((await edit()).status).toBe(200)
  })
})

describe('changing one’s mind', () => {
  const change = async ({ connection_id: id }: ConnectionRecord, form: Fields, person = owner) =>
    person.post(`/console/connections/${id}`, Object.fromEntries([...form, ['_action', 'change']]))

  it('narrows what an assistant may do from its next call on, and ends what it had narrowed for itself', async () => {
    const { token, connection } = await connect()
    const narrow = {
      url: '/v1/egress/capabilities/narrow',
      body: { hosts: ['api.example.com'], label: 'helper' },
    }
    const helper = (await gateway.rest('POST', narrow.url, narrow.body, token)).body.capability
    expect([await call(token, '/user'), await call(helper, '/user')]).toEqual(['200 ok', '200 ok'])
    const answer = await change(
      connection,
      allowing([{ ...credential, path_prefixes: ['/only'], methods: ['GET'] }]),
    )
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `/console/connections/${connection.connection_id}?done=changed`,
    ])
    expect([await call(token, '/user'), await call(token, '/only/x'), await call(helper, '/only/x')]).toEqual(
      ['403 scope_denied', '200 ok', '401 capability_invalid'],
    )
  })

  it('asks for a fresh sign-in before it gives the tools of operators, of people and not of programs', async () => {
    const { connection } = await connect()
    const changing = (freshAt: number | undefined) =>
      gateway.services.identity.connections.change({
        by: { accountId: owner.accountId, role: 'owner', freshAt },
        connectionId: connection.connection_id,
        choice: {
          parts: [],
          budgets: [],
          maxUses: null,
          expiresAt: Date.now() + 1e8,
          mayPay: false,
          mayOperate: true,
          showsBalance: false,
        },
      })
    await expect(changing(Date.now() - 6 * 60_000)).rejects.toMatchObject({ code: 'fresh_sign_in_required' })
    expect((await changing(undefined)).mayOperate).toBe(true)
    expect((await changing(Date.now())).mayOperate).toBe(true)
  })

  it('finds nothing of another account, on any page', async () => {
    const { connection } = await connect()
    const path = `/console/connections/${connection.connection_id}`
    expect((await stranger.get(path)).status).toBe(404)
    for (const action of ['end', 'end_client', 'change']) {
      const answer = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { 'sec-fetch-site': 'same-origin', cookie: stranger.cookie },
        body: new URLSearchParams({
          _csrf: await csrfOf(stranger),
          ...Object.fromEntries(allowing([])),
          _action: action,
        }),
      })
      expect([action, answer.status]).toEqual([action, 404])
    }
    const other = await stranger.data<{ connections: unknown[] }>('/console/connections')
    expect(other.connections).toEqual([])
    const end = await fetch(`${gateway.baseUrl}/console/connections`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', cookie: stranger.cookie },
      body: new URLSearchParams({
        _csrf: await csrfOf(stranger),
        _action: 'end',
        connection: connection.connection_id,
      }),
    })
    expect(end.status).toBe(404)
    const capabilities = await stranger.data<{ capabilities: unknown[] }>('/console/capabilities')
    expect(capabilities.capabilities).toEqual([])
    expect(
      (await gateway.rest('GET', `/v1/connections/${connection.connection_id}`)).body.ended_at,
    ).toBeNull()
  })

  it('shows people who may only read what is there, and no button', async () => {
    const { connection } = await connect()
    const auditor = await signIn(gateway, { role: 'auditor' })
    for (const path of [
      '/console/connections',
      `/console/connections/${connection.connection_id}`,
      '/console/capabilities',
    ]) {
      const html = await (await auditor.get(path)).text()
      expect(html).toContain('Test Assistant')
      expect(html).not.toMatch(/name="_action" value="(?:end|end_client|change|revoke)"/)
    }
  })
})

describe('the end of a connection', () => {
  const ways: readonly [
    string,
    (made: Awaited<ReturnType<typeof connect>>, person: TestPerson, own: Credential) => Promise<unknown>,
  ][] = [
    [
      'the person ends it',
      ({ connection: { connection_id: id } }) => owner.post(`/console/connections/${id}`, { _action: 'end' }),
    ],
    [
      'its client is ended',
      (_made) => gateway.rest('POST', '/v1/connections/revoke', { client_id: clientId }),
    ],
    [
      'the capability at its root is revoked',
      ({ connection: { capability_id: id } }) =>
        gateway.rest('POST', `/v1/egress/capabilities/${id}/revoke`, {}),
    ],
    [
      'its person may only read from now on',
      (_made, { accountId, personId }) =>
        gateway.services.identity.people.setRole({ accountId, personId, role: 'auditor' }),
    ],
    [
      'its person is removed',
      (_made, { accountId, personId }) => gateway.services.identity.people.remove({ accountId, personId }),
    ],
  ]
  it.each(ways)('is felt at the next call of every door when %s', async (_, end) => {
    const person = await signIn(gateway, { role: 'operator' })
    const made = await connect([], [credential], person)
    const input = { url: gateway.url('/user'), method: 'GET' }
    const send = (path: string, init: RequestInit) => fetch(gateway.baseUrl + path, init)
    const codes = async () => [
      (await throughDoor.rest(send, egressFetch, input, made.token)).code,
      (await throughDoor.mcp(send, egressFetch, input, made.token)).code,
      (await throughDoor.a2a(send, egressFetch, input, made.token)).code,
    ]
    const narrowed = await gateway.rest('POST', '/v1/egress/capabilities/narrow', {}, made.token)
    const ofNarrowed = () => call(narrowed.body.capability)
    expect([...(await codes()), await ofNarrowed()]).toEqual(['ok', 'ok', 'ok', '200 ok'])
    await end(made, person, credential)
    expect(await codes()).toEqual(['capability_invalid', 'capability_invalid', 'capability_invalid'])
    expect(await ofNarrowed()).toBe('401 capability_invalid')
    const refreshed = await fetch(`${gateway.baseUrl}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: made.refresh_token ?? '',
        client_id: clientId,
      }),
    })
    expect([refreshed.status, ((await refreshed.json()) as { error: string }).error]).toEqual([
      400,
      'invalid_grant',
    ])
  })

  it('is felt by what it had narrowed when the identity provider gives its person a lesser role', async () => {
    const { accountId } = owner
    const signInAs = async (role: 'operator' | 'auditor') => {
      const now = Date.now()
      const person = { id: newId('per', now), name: 'Test Person', createdAt: now, disabledAt: null }
      const known = { issuer: 'https://idp.example.com', subject: 'layla', person, accountId, admin: true }
      const entered = await gateway.store.signInThroughProvider({ ...known, role, now })
      return entered.ok ? entered.personId : ''
    }
    const personId = await signInAs('operator')
    const from = { address: '127.0.0.1', userAgent: 'test' }
    const opened = await gateway.services.identity.sessions.open({
      personId,
      accountId,
      method: 'oidc',
      from,
    })
    const cookie = `${cookieName(gateway.baseUrl, '')}=${opened.token.use((text) => text)}`
    const { token } = await connect([], [credential], { ...owner, personId, cookie })
    const narrowed = await gateway.rest('POST', '/v1/egress/capabilities/narrow', {}, token)
    expect(await call(narrowed.body.capability)).toBe('200 ok')
    await signInAs('auditor')
    expect(await call(narrowed.body.capability)).toBe('401 capability_invalid')
    // It has not ended: as an operator its person lets it act again. Until then it says that it is refused.
    const shown = async () => (await connections()).find(({ person_id }) => person_id === personId)
    expect(await shown()).toMatchObject({ ended_at: null, suspended: true })
    expect(await (await owner.get('/console/connections')).text()).toContain('Refused: its person')
    await signInAs('operator')
    expect(await call(token)).toBe('200 ok')
    expect(await shown()).toMatchObject({ ended_at: null, suspended: false })
  })

  it('of one credential leaves the others', async () => {
    const own = await store({ path_prefixes: ['/own'] })
    const { token } = await connect([], [credential, own])
    expect(await call(token, '/own/x')).toBe('200 ok')
    await gateway.rest('POST', `/v1/egress/credentials/${own.credential_id}/revoke`, {})
    // The other one covers the address too, and was allowed.
    expect(await call(token, '/own/x')).toBe('200 ok')
    const attempts = (await gateway.rest('GET', '/v1/egress/attempts?limit=1', undefined, token)).body
      .attempts
    expect(attempts[0].credential_id).toBe(credential.credential_id)
  })

  it('stands in the audit log, with who and without a name', async () => {
    const { connection } = await connect()
    await owner.post('/console/connections', { _action: 'end', connection: connection.connection_id })
    const { events } = (await gateway.rest('GET', '/v1/audit/events?limit=500')).body as {
      events: { event: string; subject: { id: string } | null; actor: object }[]
    }
    const own = events.filter(({ subject }) => subject?.id === connection.connection_id)
    expect(own.map(({ event }) => event)).toEqual(['connection.opened', 'connection.revoked'])
    for (const { actor } of own)
      expect(actor).toMatchObject({ kind: 'person', id: owner.personId, door: 'console' })
    expect(JSON.stringify(own)).not.toContain('Test Assistant')
  })
})
