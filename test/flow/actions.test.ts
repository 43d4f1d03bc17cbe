// A permit from its preparation to its end, over REST: what goes out, what is charged, and how each refusal reads.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { decodeJws, JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import {
  ENGINES,
  type RestAnswer,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
} from '../support/gateway.ts'

describe.each(ENGINES)('action permits (%s)', (engine) => {
  let gw: TestGateway
  let actions: ActionsClient
  let ahead = 0
  const now = () => Date.now() + ahead
  beforeAll(async () => {
    gw = await startTestGateway({ engine, now })
    actions = await createActionsClient(gw, gw.url, { now })
  })
  afterAll(() => gw.close())
  beforeEach(() => {
    ahead = 0
    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
    )
  })

  const sentSoFar = () => gw.upstream.requests.length
  const anotherAccount = async (): Promise<string> =>
    (await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team' })).body.key
  const revoke = (mandateId: string) => gw.rest('POST', `/v1/actions/mandates/${mandateId}/revoke`, {})
  const decide = (permitId: string, decision: 'approve' | 'refuse', token?: string) =>
    gw.rest('POST', `/v1/actions/permits/${permitId}/${decision}`, undefined, token)

  it('prepares, executes exactly that request with the credential, and never a second time', async () => {
    const before = { balance: await gw.balance(), sent: sentSoFar() }
    const prepared = await actions.ask({ request: actions.request(), mandate: actions.mandate() })
    expect(prepared.status).toBe(201)
    const { permit, permit_id, mandate_id, request_digest, state, expires_at } = prepared.body
    expect(state).toBe('ready')
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(300_000)
    expect(await gw.balance()).toBe(before.balance)
    expect(sentSoFar()).toBe(before.sent)
    expect(await actions.permitOf(permit_id)).toMatchObject({
      state: 'ready',
      attempt_id: null,
      summary: null,
    })
    expect(await actions.mandateOf(mandate_id)).toMatchObject({ calls: 1, credits: 1 })

    const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
    expect(await verifyJws(permit, jwks, JWS_TYPES.permit)).toMatchObject({
      ok: true,
      payload: {
        iss: gw.baseUrl,
        aud: gw.baseUrl,
        jti: permit_id,
        mandate_id,
        request: { method: 'POST', host: UPSTREAM_HOST, digest: request_digest },
        credential_id: actions.credentialId,
        credential_version: 1,
        max_cost: 1,
        single_use: true,
      },
    })
    const { iat, exp } = decodeJws(permit).payload as { iat: number; exp: number }
    expect(exp - iat).toBe(300)

    const executed = await actions.execute(permit)
    expect(executed.status).toBe(200)
    expect(executed.body).toMatchObject({
      permit_id,
      upstream: { status: 200, body: '{"ok":true}' },
      credits: { charged: 1, balance: null },
    })
    const { attempt_id, idempotency_key, receipt } = executed.body
    const sent = gw.upstream.requests.at(-1)!
    expect(sentSoFar()).toBe(before.sent + 1)
    expect([sent.method, sent.target, sent.body.toString()]).toEqual([
      'POST',
      '/v1/orders',
      '{"sku":"tea","count":2}',
    ])
    const headers = Object.fromEntries(sent.headers)
    expect(headers).toMatchObject({
      authorization: 'Bearer upstream-secret-1',
      'idempotency-key': idempotency_key,
      'content-type': 'application/json',
    })
    expect(await verifyJws(receipt.jws, jwks, JWS_TYPES.receipt)).toMatchObject({
      ok: true,
      payload: { action: 'actions.execute', permit_id, attempt_id, request: { digest: request_digest } },
    })

    const replay = await actions.execute(permit)
    expect([replay.status, replay.body.code]).toEqual([409, 'permit_used'])
    expect(replay.body).toMatchObject({ conflict: 'replay', permit_id, attempt_id })
    // Whatever is asked for now: a used permit is a used permit.
    const other = await actions.execute(permit, actions.request({ body: '{"sku":"tea","count":3}' }))
    expect(other.body).toMatchObject({ code: 'permit_used', conflict: 'replay', attempt_id })
    expect(sentSoFar()).toBe(before.sent + 1)
    expect(await gw.balance()).toBe(before.balance - 1)
    expect(await actions.permitOf(permit_id)).toMatchObject({ state: 'executed', attempt_id })
    const attempt = (await gw.rest('GET', `/v1/egress/attempts/${attempt_id}`)).body
    expect(attempt).toMatchObject({ kind: 'action', permit_id, capability_id: null, state: 'settled' })
    const [debit] = (await gw.rest('GET', '/v1/credits?limit=1')).body.ledger
    expect(debit).toMatchObject({ kind: 'action', amount: -1, reference: attempt_id })
  })

  it('takes the same terms for the same mandate, given in full or stored, and counts them together', async () => {
    const terms = actions.mandate({ max_calls: 2 })
    const stored = await gw.rest('POST', '/v1/actions/mandates', terms)
    expect(stored.status).toBe(201)
    const { mandate_id } = stored.body
    const again = await gw.rest('POST', '/v1/actions/mandates', {
      ...terms,
      methods: ['POST', 'GET', 'POST'],
      requires_approval: false,
    })
    expect(again.body).toEqual(stored.body)
    const named = await actions.ask({ request: actions.request(), mandate_id })
    const inline = await actions.prepare(actions.request(), terms)
    expect([named.body.mandate_id, inline.mandate_id]).toEqual([mandate_id, mandate_id])
    const third = await actions.ask({ request: actions.request(), mandate_id })
    expect([third.status, third.body.code, third.body.refused]).toEqual([428, 'mandate_required', 'used_up'])
    expect(third.body.mandate).toMatchObject({ max_calls: 2, host: UPSTREAM_HOST })
    // Its revocation counts for the same terms given in full, too.
    await revoke(mandate_id)
    const revoked = await actions.ask({ request: actions.request(), mandate: terms })
    expect([revoked.status, revoked.body.refused]).toEqual([428, 'revoked'])
    // Whoever stores them again would take the answer for a mandate that can be used.
    const restored = await gw.rest('POST', '/v1/actions/mandates', terms)
    expect(restored).toMatchObject({ status: 409, body: { code: 'state_conflict', mandate_id } })
    expect(restored.body.detail).toMatch(/revoked.*other terms/)
  })

  it('says where ids are found, and what to do about a decision that was made', async () => {
    for (const [path, list] of [
      ['/v1/actions/permits/nope/approve', 'GET /v1/actions/permits'],
      ['/v1/actions/mandates/nope/revoke', 'GET /v1/actions/mandates'],
    ] as [string, string][])
      expect((await gw.rest('POST', path, {})).body.detail).toContain(list)
    const unknown = await actions.ask({
      credential_id: 'nope',
      request: actions.request(),
      mandate: actions.mandate(),
    })
    expect(unknown.body.detail).toContain('GET /v1/egress/credentials')
    const decide = async (decisions: readonly string[]) => {
      const { permit_id } = await actions.prepare(
        actions.request(),
        actions.mandate({ requires_approval: true }),
      )
      let last: RestAnswer | undefined
      for (const decision of decisions)
        last = await gw.rest('POST', `/v1/actions/permits/${permit_id}/${decision}`, {})
      return [last!.status, last!.body.detail]
    }
    expect(await decide(['approve', 'refuse'])).toEqual([
      409,
      expect.stringMatching(/approved.*revoke its mandate/),
    ])
    expect(await decide(['refuse', 'approve'])).toEqual([
      409,
      expect.stringMatching(/refused.*another permit/),
    ])
  })

  it.each<[string, (a: ActionsClient) => Body, Body | undefined, string]>([
    ['none', () => ({}), undefined, 'missing'],
    [
      'one that is nowhere',
      () => ({ mandate_id: 'mdt_00000000000000000000000000000000000' }),
      undefined,
      'not_found',
    ],
    [
      'one that has expired',
      (a) => ({ mandate: a.mandate({ expires_at: '2026-01-01T00:00:00Z' }) }),
      undefined,
      'expired',
    ],
    ['one for another host', (a) => ({ mandate: a.mandate({ host: 'www.example.com' }) }), undefined, 'host'],
    [
      'one for another path',
      (a) => ({ mandate: a.mandate({ path_prefix: '/v1/order' }) }),
      undefined,
      'path',
    ],
    ['one for another method', (a) => ({ mandate: a.mandate({ methods: ['GET'] }) }), undefined, 'method'],
    [
      'one for another credential',
      (a) => ({ mandate: a.mandate({ credential_id: 'cred_x' }) }),
      undefined,
      'credential',
    ],
  ])('asks for a mandate with 428 where there is %s', async (_what, mandate, request, refused) => {
    const answer = await actions.ask({ request: request ?? actions.request(), ...mandate(actions) })
    expect([answer.status, answer.body.code, answer.body.refused]).toEqual([428, 'mandate_required', refused])
    if (refused !== 'missing' && refused !== 'not_found') expect(answer.body.mandate).toHaveProperty('host')
  })

  it('asks for a mandate for the method that a form names, too', async () => {
    const request = actions.request({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: '_method=patch&sku=tea',
    })
    const answer = await actions.ask({ request, mandate: actions.mandate({ methods: ['POST'] }) })
    expect([answer.status, answer.body.refused]).toEqual([428, 'method'])
    const both = actions.mandate({ methods: ['POST', 'PATCH'] })
    expect((await actions.ask({ request, mandate: both })).status).toBe(201)
  })

  it.each<[string, (a: ActionsClient) => Body, number, string]>([
    ['both kinds of mandate', (a) => ({ mandate: a.mandate(), mandate_id: 'mdt_1' }), 400, 'input_conflict'],
    [
      'a mandate of 91 days',
      (a) => ({ mandate: a.mandate({ expires_at: new Date(Date.now() + 91 * 864e5).toISOString() }) }),
      400,
      'input_invalid',
    ],
    [
      'a mandate without a limit',
      (a) => ({ mandate: a.mandate({ max_calls: undefined }) }),
      400,
      'input_missing_field',
    ],
    [
      'a mandate for a local host',
      (a) => ({ mandate: a.mandate({ host: 'db.internal' }) }),
      400,
      'input_invalid',
    ],
    [
      'a URL that is not canonical',
      (a) => ({ request: a.request({ url: 'http://api.example.com/' }) }),
      400,
      'target_invalid',
    ],
    [
      'a private target',
      (a) => ({ request: a.request({ url: 'https://127.0.0.1/' }) }),
      403,
      'target_blocked',
    ],
    [
      'its own authorization',
      (a) => ({ request: a.request({ headers: { authorization: 'x' } }) }),
      400,
      'header_forbidden',
    ],
    ['two bodies', (a) => ({ request: a.request({ body_base64: 'YQ==' }) }), 400, 'input_invalid'],
    [
      'a body over 128 KiB',
      (a) => ({ request: a.request({ body: 'ü'.repeat(65_537) }) }),
      413,
      'body_too_large',
    ],
    ['an unknown credential', () => ({ credential_id: 'cred_x' }), 404, 'credential_not_found'],
    [
      'a request beyond the credential',
      (a) => ({ request: a.request({ url: 'https://www.example.com/v1' }) }),
      403,
      'scope_denied',
    ],
  ])('prepares nothing for %s', async (_what, changes, status, code) => {
    const before = await actions.stats()
    const answer = await actions.ask({
      request: actions.request(),
      ...(!('mandate' in changes(actions)) && { mandate: actions.mandate() }),
      ...changes(actions),
    })
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(await actions.stats()).toEqual(before)
  })

  it.each<[string, Body, number, string]>([
    ['for more than its credential covers', { host: 'www.example.com' }, 403, 'scope_denied'],
    ['for a credential that is nowhere', { credential_id: 'cred_x' }, 404, 'credential_not_found'],
    ['that has expired', { expires_at: '2026-01-01T00:00:00Z' }, 400, 'input_invalid'],
    ['on a port nobody may use', { host: 'api.example.com:22' }, 400, 'input_invalid'],
  ])('stores no mandate %s', async (_what, changes, status, code) => {
    const answer = await gw.rest('POST', '/v1/actions/mandates', actions.mandate(changes))
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  it.each<[string, (text: string) => Promise<{ status: number; body: Body }>]>([
    [
      'a credential',
      (text) => actions.ask({ credential_id: text, request: actions.request(), mandate_id: 'mdt_1' }),
    ],
    [
      'the credential of a mandate',
      (text) =>
        actions.ask({ request: actions.request(), mandate: actions.mandate({ credential_id: text }) }),
    ],
    ['a mandate', (text) => actions.ask({ request: actions.request(), mandate_id: text })],
    ['a permit', (text) => gw.rest('GET', `/v1/actions/permits/${encodeURIComponent(text)}`)],
    ['a page', (text) => gw.rest('GET', `/v1/actions/mandates?before=${encodeURIComponent(text)}`)],
  ])('is not upset by an id that none can be, of %s', async (_what, ask) => {
    for (const text of ['a\u0000b', '\u202e', '../..', '__proto__']) {
      const { status, body } = await ask(text)
      expect(status, `${JSON.stringify(text)}: ${String(body['code'])}`).toBeLessThan(500)
    }
  })

  it('refuses half a surrogate pair wherever a mandate has text', async () => {
    for (const changes of [{ credential_id: '\ud800' }, { purpose: '\ud800' }]) {
      const answer = await actions.ask({ request: actions.request(), mandate: actions.mandate(changes) })
      expect([answer.status, answer.body.code]).toEqual([400, 'input_invalid'])
    }
  })

  it('waits for a person, who reads what will be sent and decides once', async () => {
    const terms = actions.mandate({ requires_approval: true })
    const { permit, permit_id, mandate_id } = await actions.prepare(actions.request(), terms)
    const { iat, exp, approval } = decodeJws(permit).payload as { iat: number; exp: number; approval: string }
    expect(approval).toBe('required')
    // The mandate ends in an hour, and so does everything under it.
    expect(exp - iat).toBeLessThanOrEqual(3600)

    const waiting = await actions.execute(permit)
    expect([waiting.status, waiting.body.code, waiting.body.conflict]).toEqual([
      409,
      'permit_pending',
      'state',
    ])
    expect(waiting.headers.get('retry-after')).toBe(String(waiting.body.retry_after_seconds))
    const { permits } = (await gw.rest('GET', '/v1/actions/permits?state=pending_approval')).body
    const listed = permits.find((each: Body) => each['permit_id'] === permit_id)
    expect(listed).toMatchObject({
      state: 'pending_approval',
      summary: { method: 'POST', body: '{"sku":"tea","count":2}', mandate: { mandate_id } },
    })
    expect(await actions.permitOf(permit_id)).toEqual(listed)

    const approved = await decide(permit_id, 'approve')
    expect(approved.body).toMatchObject({
      state: 'ready',
      summary: null,
      decided_by: expect.stringMatching(/^key_/),
    })
    expect(Date.parse(approved.body.expires_at) - Date.parse(approved.body.decided_at)).toBe(300_000)
    for (const decision of ['approve', 'refuse'] as const) {
      const late = await decide(permit_id, decision)
      expect([late.status, late.body.code, late.body.decided_at]).toEqual([
        409,
        'state_conflict',
        approved.body.decided_at,
      ])
    }
    expect((await actions.execute(permit)).status).toBe(200)
    expect((await decide(permit_id, 'refuse')).body).toMatchObject({
      code: 'state_conflict',
      state: 'executed',
    })
  })

  it('is over when a person refuses, and the mandate has its share back', async () => {
    const terms = actions.mandate({ requires_approval: true, max_calls: 1 })
    const { permit, permit_id, mandate_id } = await actions.prepare(actions.request(), terms)
    expect((await decide(permit_id, 'refuse')).body).toMatchObject({ state: 'refused', summary: null })
    const refused = await actions.execute(permit)
    expect([refused.status, refused.body.code, refused.body.conflict]).toEqual([
      409,
      'permit_refused',
      'state',
    ])
    expect(await actions.mandateOf(mandate_id)).toMatchObject({ calls: 0, credits: 0 })
    await actions.prepare(actions.request(), terms)
  })

  it('has nothing to decide about a permit that needed no approval, or that is not yours', async () => {
    const { permit_id } = await actions.prepare()
    expect((await decide(permit_id, 'refuse')).body).toMatchObject({ code: 'state_conflict', state: 'ready' })
    const stranger = await anotherAccount()
    expect((await decide(permit_id, 'approve', stranger)).body.code).toBe('permit_not_found')
    expect((await gw.rest('GET', `/v1/actions/permits/${permit_id}`, undefined, stranger)).body.code).toBe(
      'permit_not_found',
    )
    expect((await gw.rest('GET', '/v1/actions/permits', undefined, stranger)).body.permits).toEqual([])
    expect((await gw.rest('GET', '/v1/actions/mandates', undefined, stranger)).body.mandates).toEqual([])
  })

  it('does not let another account use a mandate, a credential or a permit list', async () => {
    const { mandate_id } = await actions.prepare()
    const stranger = await anotherAccount()
    const named = await actions.ask({ request: actions.request(), mandate_id }, stranger)
    expect(named.body.code).toBe('credential_not_found')
    const own = await createActionsClient(gw, gw.url, { token: stranger })
    const foreign = await own.ask({ request: own.request(), mandate_id })
    expect([foreign.status, foreign.body.refused]).toEqual([428, 'not_found'])
    const revoked = await gw.rest('POST', `/v1/actions/mandates/${mandate_id}/revoke`, {}, stranger)
    expect(revoked.body.code).toBe('mandate_not_found')
  })

  it('expires 300 seconds after it was prepared, and gives its share back when that is wanted', async () => {
    const terms = actions.mandate({ max_calls: 1 })
    const { permit, permit_id } = await actions.prepare(actions.request(), terms)
    ahead = 299_000
    expect((await actions.permitOf(permit_id)).state).toBe('ready')
    ahead = 300_001
    const late = await actions.execute(permit)
    expect([late.status, late.body.code, late.body.conflict]).toEqual([409, 'permit_expired', 'state'])
    expect((await actions.permitOf(permit_id)).state).toBe('expired')
    await actions.prepare(actions.request(), terms)
  })

  it('waits no longer than a day, and 300 seconds from approval whenever that came', async () => {
    const expires_at = new Date(Date.now() + 72 * 3_600_000).toISOString()
    const terms = actions.mandate({ requires_approval: true, expires_at })
    const [one, other] = [
      await actions.prepare(actions.request(), terms),
      await actions.prepare(actions.request(), terms),
    ]
    ahead = 23 * 3_600_000
    expect((await decide(one.permit_id, 'approve')).status).toBe(200)
    ahead += 299_000
    expect((await actions.execute(one.permit)).status).toBe(200)
    ahead = 24 * 3_600_000 + 1
    expect((await decide(other.permit_id, 'approve')).body.code).toBe('permit_expired')
    expect((await actions.permitOf(other.permit_id)).summary).toBeNull()
    expect((await actions.execute(other.permit)).body.code).toBe('permit_expired')
  })

  describe('between permit and execution', () => {
    type Change = (a: ActionsClient, mandateId: string) => Promise<unknown>
    it.each<[string, Change, string]>([
      ['the mandate is revoked', (_a, mandateId) => revoke(mandateId), 'mandate_revoked'],
      [
        'the credential is revoked',
        (a) => gw.rest('POST', `/v1/egress/credentials/${a.credentialId}/revoke`, {}),
        'credential_revoked',
      ],
      [
        'the secret is replaced',
        (a) =>
          gw.rest('POST', `/v1/egress/credentials/${a.credentialId}/rotate`, { secret: 'upstream-secret-2' }),
        'credential_rotated',
      ],
    ])('%s: the permit no longer holds, nor can it be approved', async (_what, change, why) => {
      const own = await createActionsClient(gw, gw.url)
      const terms = own.mandate({ requires_approval: true })
      const [ready, waiting] = [
        await own.prepare(own.request(), terms),
        await own.prepare(own.request(), terms),
      ]
      await decide(ready.permit_id, 'approve')
      const before = { balance: await gw.balance(), sent: sentSoFar() }
      await change(own, ready.mandate_id)
      const dead = await own.execute(ready.permit)
      expect([dead.status, dead.body.code, dead.body.conflict, dead.body.why]).toEqual([
        409,
        'permit_revoked',
        'state',
        why,
      ])
      expect({ balance: await gw.balance(), sent: sentSoFar() }).toEqual(before)
      expect((await own.permitOf(ready.permit_id)).state).toBe('revoked')
      expect(await own.permitOf(waiting.permit_id)).toMatchObject({ state: 'revoked', summary: null })
      // Whoever would wait for a yes is told that none is coming.
      expect((await own.execute(waiting.permit)).body).toMatchObject({ code: 'permit_revoked', why })
      const late = await decide(waiting.permit_id, 'approve')
      expect([late.status, late.body.code, late.body.why]).toEqual([409, 'permit_revoked', why])
      expect((await decide(waiting.permit_id, 'refuse')).body.state).toBe('refused')
      const pending = (await gw.rest('GET', '/v1/actions/permits?state=pending_approval')).body.permits
      expect(pending.map((each: Body) => each['permit_id'])).not.toContain(waiting.permit_id)
    })

    it('the credits run out: 402, and the permit holds until there are some', async () => {
      const key = await anotherAccount()
      const own = await createActionsClient(gw, gw.url, { token: key })
      const drain = await own.prepare(
        own.request({ url: gw.url('/v1/drain') }),
        own.mandate({ max_calls: 2000 }),
      )
      const { permit } = await own.prepare()
      const capability = (
        await gw.rest('POST', '/v1/egress/capabilities', { credential_id: own.credentialId }, key)
      ).body.capability
      const balance = async () => (await gw.rest('GET', '/v1/credits', undefined, key)).body.balance
      for (let left = await balance(); left > 0; left -= 50)
        await Promise.all(
          Array.from({ length: Math.min(left, 50) }, () => gw.fetch(capability, { url: gw.url('/v1/x') })),
        )
      expect(await balance()).toBe(0)
      const before = sentSoFar()
      const broke = await own.execute(permit)
      expect([broke.status, broke.body.code, broke.body.balance]).toEqual([
        402,
        'credits_required',
        undefined,
      ])
      expect(broke.body).toHaveProperty('top_up')
      const unprepared = await own.ask({ request: own.request(), mandate: own.mandate() })
      expect([unprepared.status, unprepared.body.code]).toEqual([402, 'credits_required'])
      expect(sentSoFar()).toBe(before)
      const account_id = (await gw.rest('GET', '/v1/credits', undefined, key)).body.account_id
      await gw.rest('POST', '/v1/credits/grants', { account_id, amount: 1, reference: 'one more' })
      expect((await own.execute(permit)).body.credits).toEqual({ charged: 1, balance: null })
      expect((await own.execute(drain.permit, own.request({ url: gw.url('/v1/drain') }))).status).toBe(402)
    })
  })

  it('is refunded, used up, and back in the mandate when no byte left the gateway', async () => {
    const host = 'nowhere.example.com'
    gw.dns.set(host, { rcode: 3 })
    const own = await createActionsClient(gw, gw.url, { credential: { hosts: [host] } })
    const request = own.request({ url: `https://${host}/v1/orders` })
    const { permit, permit_id, mandate_id } = await own.prepare(request, own.mandate({ host }))
    const before = { balance: await gw.balance(), stats: await actions.stats() }
    const failed = await own.execute(permit, request)
    expect([failed.status, failed.body.code]).toEqual([503, 'upstream_unreachable'])
    expect(failed.body).toMatchObject({ permit_id, credits: { charged: 0, balance: null } })
    expect(failed.body.detail).toMatch(/The permit is used up/)
    expect((await own.execute(permit, request)).body).toMatchObject({
      code: 'permit_used',
      attempt_id: failed.body.attempt_id,
    })
    expect(await own.mandateOf(mandate_id)).toMatchObject({ calls: 0, credits: 0 })
    const after = await actions.stats()
    const count = (stats: Body) => stats['executions'] as Record<string, number>
    expect(count(after)['refunded']).toBe(count(before.stats)['refunded']! + 1)
  })

  it('is charged and never resent when nobody knows how it ended', async () => {
    gw.upstream.respond((_request, res) => res.destroy())
    const { permit, mandate_id } = await actions.prepare()
    const before = { balance: await gw.balance(), sent: sentSoFar() }
    const unknown = await actions.execute(permit)
    expect([unknown.status, unknown.body.code]).toEqual([503, 'outcome_ambiguous'])
    expect(unknown.body.receipt).toHaveProperty('jws')
    const replay = await actions.execute(permit)
    expect(replay.body).toMatchObject({ code: 'permit_used', attempt_id: unknown.body.attempt_id })
    expect({ balance: await gw.balance(), sent: sentSoFar() }).toEqual({
      balance: before.balance - 1,
      sent: before.sent + 1,
    })
    expect(await actions.mandateOf(mandate_id)).toMatchObject({ calls: 1, credits: 1 })
  })

  it('counts what the ledger says, for one account and for all', async () => {
    const key = await anotherAccount()
    const own = await createActionsClient(gw, gw.url, { token: key })
    const all = await own.stats('')
    for (const body of ['a', 'b']) {
      const { permit } = await own.prepare(own.request({ body }))
      await own.execute(permit, own.request({ body }))
    }
    await own.prepare()
    const mine = await own.stats(key)
    expect(mine).toEqual({
      scope: 'account',
      permits: { prepared: 3, approved: 0, refused: 0 },
      executions: { started: 2, settled: 2, ambiguous: 0, refunded: 0, in_flight: 0 },
      credits: { charged: 2, refunded: 0, net: 2 },
    })
    const ledger = (await gw.rest('GET', '/v1/credits?limit=100', undefined, key)).body.ledger
    const spent = ledger.filter(({ kind }: Body) => kind === 'action').map(({ amount }: Body) => amount)
    expect(spent).toEqual([-1, -1])
    const together = await own.stats('')
    expect(together).toMatchObject({ scope: 'installation' })
    const started = (stats: Body) => (stats['executions'] as Record<string, number>)['started']!
    expect(started(together)).toBe(started(all) + 2)
  })
})

describe('the operator’s brake', () => {
  it('holds a permit back without using it up', async () => {
    const gw = await startTestGateway()
    try {
      const actions = await createActionsClient(gw, gw.url)
      const { permit } = await actions.prepare()
      const directory = gw.env['GATEWAY_DATA_DIR']!
      await mkdir(directory, { recursive: true })
      const write = (policy: unknown) =>
        writeFile(join(directory, 'egress-policy.json'), JSON.stringify(policy))
      const code = async () => (await actions.execute(permit, actions.request({ body: 'never' }))).body.code
      await write({ denied_hosts: [], paused: true })
      await expect.poll(async () => (await actions.execute(permit)).body.code).toBe('egress_paused')
      expect(await code()).toBe('permit_mismatch')
      expect(gw.upstream.requests).toHaveLength(0)
      await write({ denied_hosts: [], paused: false })
      await expect.poll(async () => (await actions.execute(permit)).status).toBe(200)
      expect(gw.upstream.requests).toHaveLength(1)
    } finally {
      await gw.close()
    }
  })
})
