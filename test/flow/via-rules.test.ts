// Rules of a credential and of a capability, and the people whom they ask: a request of an unmodified program waits for their word.
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectAssistant } from '../support/assistant.ts'
import { choiceOf } from '../support/connections.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { signIn } from '../support/people.ts'

const SECRET = 'sk-proj-b7Qx4LmR9vTz2KpW8nYcEu5J'

describe('rules for unmodified programs', () => {
  let gw: TestGateway
  let credentialId: string
  let capability: string
  /** Requests of the tests before. */
  let seen = 0
  const arrived = () => gw.upstream.requests.slice(seen)
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    ;({ capability, credentialId } = await grant({
      label: 'ruled',
      rules: [`ask POST */v1/pulls`, 'deny * */v1/admin/**', `allow * ${UPSTREAM_HOST}/v1/**`],
    }))
  })
  afterAll(() => gw.close())
  beforeEach(() => {
    seen = gw.upstream.requests.length
    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
    )
  })

  const grant = ({
    label,
    ...settings
  }: {
    label: string
    rules?: string[]
    ask_ms?: number
    approval?: object
  }) =>
    gw.grant({
      secret: SECRET,
      credential: {
        label,
        hosts: [`${UPSTREAM_HOST}:${gw.upstream.port}`],
        path_prefixes: ['/v1'],
        settings,
      },
    })
  const via = (path: string, init: RequestInit = {}, token = capability, name = 'ruled') =>
    fetch(`${gw.baseUrl}/via/${name}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    })
  const post = (token = capability, name = 'ruled', init: RequestInit = {}) =>
    via(
      '/v1/pulls',
      { method: 'POST', body: '{"title":"x"}', headers: { 'content-type': 'application/json' }, ...init },
      token,
      name,
    )
  async function pending(): Promise<{
    permit_id: string
    summary: { text: string; headers: Record<string, string> }
  }> {
    for (;;) {
      const { body } = await gw.rest('GET', '/v1/actions/permits?state=pending_approval')
      if (body.permits.length > 0) return body.permits[0]
      await sleep(20)
    }
  }
  const decide = (id: string, word: 'approve' | 'refuse') =>
    gw.rest('POST', `/v1/actions/permits/${id}/${word}`, {})
  const permit = async (id: string) => (await gw.rest('GET', `/v1/actions/permits/${id}`)).body

  it('lets through what is allowed, and refuses what is denied in any spelling, or fits no rule', async () => {
    expect((await via('/v1/things')).status).toBe(200)
    const before = await gw.balance()
    for (const path of ['/v1/admin', '/v1/admin/keys', '/v1/ADMIN/keys', '/v1/admin/']) {
      const refused = await via(path)
      expect(refused.status).toBe(403)
      expect(await refused.json()).toMatchObject({
        code: 'scope_denied',
        refused_by: 'credential',
        rule: 'deny * */v1/admin/**',
      })
    }
    expect(arrived()).toHaveLength(1)
    expect(await gw.balance()).toBe(before)
  })

  it.each(['X-HTTP-Method-Override', 'x-method-override', 'X_HTTP_Method'])(
    'refuses %s with another method than that which the rules are asked about',
    async (header) => {
      const gentle = await grant({ label: `gentle ${header}`, rules: ['deny DELETE *', 'allow * *'] })
      const send = (method: string) =>
        via(
          '/v1/x',
          { method: 'POST', headers: { [header]: method } },
          gentle.capability,
          gentle.credentialId,
        )
      const refused = await send('DELETE')
      expect(await refused.json()).toMatchObject({ code: 'header_forbidden' })
      expect(arrived()).toHaveLength(0)
      expect((await send('post')).status).toBe(200)
    },
  )

  it('asks rules about the method that a form names, too, as Rails and Laravel send it', async () => {
    const gentle = await grant({ label: 'forms', rules: ['deny DELETE *', 'allow * *'] })
    const send = (method: string) =>
      via(
        '/v1/x',
        { method: 'POST', body: new URLSearchParams({ _method: method, title: 'x' }) },
        gentle.capability,
        gentle.credentialId,
      )
    expect(await (await send('delete')).json()).toMatchObject({ code: 'scope_denied', rule: 'deny DELETE *' })
    expect(arrived()).toHaveLength(0)
    expect((await send('patch')).status).toBe(200)
  })

  it('holds a request until a person approves it, sends it once, and says so in its receipt', async () => {
    const before = await gw.balance()
    const asking = post()
    const waiting = await pending()
    expect(waiting).toMatchObject({
      method: 'POST',
      host: UPSTREAM_HOST,
      prepared_by: { kind: 'capability' },
    })
    expect(waiting.summary).toMatchObject({ body: '{"title":"x"}', method: 'POST' })
    expect(waiting.summary.text).toContain('Rule: ask POST */v1/pulls')
    expect(JSON.stringify(waiting)).not.toMatch(/agw_|sk-proj/)
    expect(arrived()).toHaveLength(0)
    expect(await gw.balance()).toBe(before)

    expect((await decide(waiting.permit_id, 'approve')).status).toBe(200)
    const answer = await asking
    expect(answer.status).toBe(200)
    expect(arrived()).toHaveLength(1)
    expect(arrived()[0]?.headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
    expect(await gw.balance()).toBe(before - 1)
    const attemptId = answer.headers.get('x-gateway-attempt')
    expect(await permit(waiting.permit_id)).toMatchObject({ state: 'executed', attempt_id: attemptId })
    const { receipt_id, permit_id } = (await gw.rest('GET', `/v1/egress/attempts/${attemptId}`)).body
    expect(permit_id).toBe(waiting.permit_id)
    const { jws } = (await gw.rest('GET', `/v1/receipts/${receipt_id}`, undefined, '')).body
    const payload = JSON.parse(Buffer.from(jws.split('.')[1], 'base64url').toString())
    expect(payload.approvals).toHaveLength(1)
    const evidence = await gw.rest('GET', `/v1/actions/permits/${waiting.permit_id}/evidence`)
    expect(evidence.body.request).toMatchObject({ body: '{"title":"x"}' })
  })

  it('shows the headers that go out: each value of one that is there twice, and no key but the program’s own', async () => {
    const ask = await grant({ label: 'shown', rules: ['ask * *'] })
    const { hostname, port } = new URL(gw.baseUrl)
    const headers = [
      'host',
      hostname,
      'x-gateway-capability',
      ask.capability,
      'x-amount',
      '1000',
      'X-Amount',
      '1',
    ]
    const sent = request({ hostname, port, path: '/via/shown/v1/pulls', method: 'POST', headers }).end()
    const answered = once(sent, 'response')
    const { permit_id, summary } = await pending()
    expect(summary.headers['x-amount']).toBe('1000, 1')
    expect(summary.text).toContain('  x-amount: 1000\n  x-amount: 1\n')
    expect(summary.text).not.toContain('idempotency-key')
    await decide(permit_id, 'approve')
    await answered
    const [out] = arrived()
    expect(out?.headers.filter(([name]) => name === 'x-amount')).toEqual([
      ['x-amount', '1000'],
      ['x-amount', '1'],
    ])
    expect(out?.headers.filter(([name]) => name === 'idempotency-key')).toEqual([])
  })

  it('asks nobody about a repeat under the same key, of which nothing goes out', async () => {
    const init = { headers: { 'content-type': 'application/json', 'idempotency-key': 'once' } }
    const asking = post(capability, 'ruled', init)
    const { permit_id } = await pending()
    await decide(permit_id, 'approve')
    expect((await asking).status).toBe(200)
    const repeated = await post(capability, 'ruled', init)
    expect(repeated.headers.get('x-gateway-attempt')).toBe((await asking).headers.get('x-gateway-attempt'))
    expect(await repeated.json()).toEqual({ ok: true })
    const other = await post(capability, 'ruled', { ...init, body: '{"title":"y"}' })
    expect(await other.json()).toMatchObject({ code: 'idempotency_key_reused' })
    expect(arrived()).toHaveLength(1)
  })

  it('lets a capability ask about so many at once, and asks about no body that people cannot read', async () => {
    const many = await grant({ label: 'many', rules: ['ask * *'] })
    const gone = new AbortController()
    const held = Array.from({ length: 8 }, () =>
      post(many.capability, 'many', { signal: gone.signal }).catch(() => 'gone'),
    )
    await expect
      .poll(
        async () => (await gw.rest('GET', '/v1/actions/permits?state=pending_approval')).body.permits.length,
      )
      .toBe(8)
    const ninth = await post(many.capability, 'many')
    expect(ninth.status).toBe(429)
    expect(((await ninth.json()) as { detail: string }).detail).toContain('wait for a person')
    gone.abort()
    await Promise.all(held)
    const packed = await post(capability, 'ruled', { headers: { 'content-encoding': 'gzip' } })
    expect(await packed.json()).toMatchObject({ code: 'header_forbidden', header: 'content-encoding' })
    // Also where only the second of two says so, or one that a server takes for it.
    for (const [name, value] of [
      ['content-encoding', ['identity', 'gzip']],
      ['content_encoding', ['gzip']],
    ] as const) {
      const { hostname, port } = new URL(gw.baseUrl)
      const asked = request({ hostname, port, path: '/via/ruled/v1/pulls', method: 'POST' })
      asked.setHeader('authorization', `Bearer ${capability}`).setHeader(name, value)
      const status = await new Promise((resolve, reject) =>
        asked
          .on('response', (answer) => resolve(answer.resume().statusCode))
          .on('error', reject)
          .end('{}'),
      )
      expect(status).toBe(400)
    }
    await expect
      .poll(
        async () => (await gw.rest('GET', '/v1/actions/permits?state=pending_approval')).body.permits.length,
      )
      .toBe(0)
  })

  it('refuses what a person refuses, and tells the libraries not to ask again', async () => {
    const before = await gw.balance()
    const asking = post()
    const { permit_id } = await pending()
    await decide(permit_id, 'refuse')
    const answer = await asking
    expect(answer.status).toBe(403)
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(await answer.json()).toMatchObject({ code: 'scope_denied', refused_by: 'person', permit_id })
    expect(arrived()).toHaveLength(0)
    expect(await gw.balance()).toBe(before)
  })

  it('takes the question back when the time is over, and when the program goes away', async () => {
    const short = await grant({ label: 'short', rules: ['ask * *'], ask_ms: 1000 })
    const answer = await post(short.capability, 'short')
    expect(answer.status).toBe(403)
    const { detail, permit_id } = (await answer.json()) as { detail: string; permit_id: string }
    expect(detail).toContain('nobody did within 1 seconds')
    expect((await decide(permit_id, 'approve')).body).toMatchObject({ code: 'permit_expired' })

    const gone = new AbortController()
    const asking = post(capability, 'ruled', { signal: gone.signal }).catch(() => 'gone')
    const waiting = await pending()
    gone.abort()
    expect(await asking).toBe('gone')
    await expect.poll(async () => (await permit(waiting.permit_id)).state).toBe('expired')
    expect(arrived()).toHaveLength(0)
  })

  it('shows what people could read alone: a longer body, and one of unknown length, is refused', async () => {
    const long = await post(capability, 'ruled', { body: 'x'.repeat(128 * 1024 + 1) })
    expect(await long.json()).toMatchObject({ code: 'body_too_large' })
    const streamed = await post(capability, 'ruled', { body: 'x'.repeat(300 * 1024) })
    expect(await streamed.json()).toMatchObject({ code: 'body_too_large' })
    expect((await gw.rest('GET', '/v1/actions/permits?state=pending_approval')).body.permits).toEqual([])
  })

  it('sends nothing where the credential is changed, or the capability revoked, while people decide', async () => {
    const other = await grant({ label: 'other', rules: ['ask * *'] })
    const asking = post(other.capability, 'other')
    const { permit_id } = await pending()
    await gw.rest('POST', `/v1/egress/credentials/${other.credentialId}/edit`, { label: 'renamed' })
    expect((await decide(permit_id, 'approve')).body).toMatchObject({ code: 'permit_revoked' })
    expect((await asking).status).toBe(403)

    const revoked = await grant({ label: 'revoked', rules: ['ask * *'] })
    const second = post(revoked.capability, 'revoked')
    const { permit_id: next } = await pending()
    await gw.rest('POST', `/v1/egress/capabilities/${revoked.capabilityId}/revoke`)
    await decide(next, 'approve')
    expect(await (await second).json()).toMatchObject({ code: 'capability_invalid' })
    expect(arrived()).toHaveLength(0)
  })

  it('asks nobody about a capability any more that is revoked', async () => {
    const revoked = await grant({ label: 'gone', rules: ['ask * *'] })
    const asking = post(revoked.capability, 'gone')
    const { permit_id } = await pending()
    await gw.rest('POST', `/v1/egress/capabilities/${revoked.capabilityId}/revoke`)
    expect(await (await asking).json()).toMatchObject({ code: 'capability_invalid' })
    expect(await permit(permit_id)).toMatchObject({ state: 'expired' })
    expect((await decide(permit_id, 'approve')).status).toBe(409)
    expect(arrived()).toHaveLength(0)
  })

  it('goes by what an assistant may do once people have decided, not by what it might when it asked', async () => {
    const { credentialId: asked } = await grant({ label: 'terms', rules: ['ask * *'] })
    await signIn(gw)
    const { token, connectionId, accountId } = await connectAssistant(gw, [asked])
    const { connections } = gw.services.identity
    const change = (over: Parameters<typeof choiceOf>[1]) =>
      connections.change({
        by: { accountId, role: 'owner', freshAt: undefined },
        connectionId,
        choice: choiceOf([asked], over),
      })
    const askWhile = async (changing: () => Promise<unknown>) => {
      const asking = post(token, 'terms')
      const { permit_id } = await pending()
      await changing()
      await decide(permit_id, 'approve')
      const answer = await asking
      const { code = 'ok' } = (await answer.json()) as { code?: string }
      return `${answer.status} ${code}`
    }
    const budgets = [{ unit: 'calls', per: 'total', limit: '1' }] as const
    const seenCodes = [
      await askWhile(() => change({ budgets })),
      // The first one was counted on a budget that was not there when it asked.
      await askWhile(async () => {}),
      await askWhile(() =>
        change({ parts: [{ credentialId: asked, scope: { path_prefixes: ['/v1/other'] } }] }),
      ),
    ]
    await change({})
    const { personId } = (await connections.get(accountId, connectionId))!
    const demote = () => gw.store.setMemberRole({ accountId, personId, role: 'auditor', now: Date.now() })
    seenCodes.push(await askWhile(demote))
    expect(seenCodes).toEqual(['200 ok', '429 calls_spent', '403 scope_denied', '401 capability_invalid'])
    expect(arrived()).toHaveLength(1)
  })

  it('asks about every request where the credential wants each approved', async () => {
    const strict = await grant({ label: 'strict', approval: {} })
    const asking = post(strict.capability, 'strict')
    const { permit_id } = await pending()
    await decide(permit_id, 'approve')
    expect((await asking).status).toBe(200)
  })

  it('adds the rules of a capability to those of its credential, and a narrower one adds its own', async () => {
    const issue = await gw.rest('POST', '/v1/egress/capabilities', {
      credential_id: credentialId,
      rules: ['allow GET *', 'ask DELETE *'],
    })
    expect(issue.status).toBe(201)
    expect(issue.body.rules).toEqual([['allow GET *', 'ask DELETE *']])
    const { capability: ruled } = issue.body
    expect((await via('/v1/things', {}, ruled)).status).toBe(200)
    expect(await (await via('/v1/things', { method: 'PUT' }, ruled)).json()).toMatchObject({
      refused_by: 'capability',
      code: 'scope_denied',
    })
    // The credential still denies.
    expect((await via('/v1/admin/x', {}, ruled)).status).toBe(403)

    const narrow = await gw.rest('POST', '/v1/egress/capabilities/narrow', { rules: ['allow * *'] }, ruled)
    expect(narrow.status).toBe(201)
    const { capability: narrower } = narrow.body
    expect((await via('/v1/things', { method: 'PUT' }, narrower)).status).toBe(403)
    const long = Array.from({ length: 16 }, (_, at) => `allow GET */${at}${'x'.repeat(1010)}`)
    const first = await gw.rest('POST', '/v1/egress/capabilities/narrow', { rules: long }, narrower)
    expect(first.body).toMatchObject({ code: 'input_invalid' })
    expect(first.body.detail).toContain('more than 16384 characters')
    expect((await via('/v1/things', {}, narrower)).status).toBe(200)
  })

  it('leaves a fetch to permits where a person is to be asked, and the permit waits for them', async () => {
    const url = gw.url('/v1/pulls')
    const fetched = await gw.rest('POST', '/v1/egress/fetch', { url, method: 'POST', body: 'x' }, capability)
    expect(fetched.status).toBe(403)
    expect(fetched.body).toMatchObject({ code: 'scope_denied', rule: 'ask POST */v1/pulls' })
    const mandate = {
      purpose: 'test',
      credential_id: credentialId,
      host: `${UPSTREAM_HOST}:${gw.upstream.port}`,
      path_prefix: '/v1',
      methods: ['POST', 'GET'],
      max_calls: 5,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    }
    const prepare = (method: string, path: string) =>
      gw.rest('POST', '/v1/actions/permits', {
        credential_id: credentialId,
        request: { url: gw.url(path), method },
        mandate,
      })
    expect((await prepare('POST', '/v1/pulls')).body).toMatchObject({ state: 'pending_approval' })
    expect((await prepare('GET', '/v1/things')).body).toMatchObject({ state: 'ready' })
    expect((await prepare('GET', '/v1/admin/x')).body).toMatchObject({ code: 'scope_denied' })
  })

  it('says of a rule what is wrong with it', async () => {
    const wrong = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, {
      settings: { rules: ['allow GET everything'] },
    })
    expect(wrong.status).toBe(400)
    expect(JSON.stringify(wrong.body)).toContain('is no rule')
    const dead = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, {
      settings: { rules: ['allow GET */a/../b'] },
    })
    expect(dead.body).toMatchObject({ code: 'input_invalid', fields: [{ pointer: '/settings/rules/0' }] })
  })
})
