// An operator decides what became of an ambiguous attempt: the money, the proof and the log follow, and nothing is sent.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'

const REASON = 'not in the log of the provider'

describe.each(ENGINES)('deciding an ambiguous attempt (%s)', (engine) => {
  let gw: TestGateway
  let capability: string
  beforeAll(async () => {
    gw = await startTestGateway({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    ;({ capability } = await gw.grant())
  })
  afterAll(() => gw.close())

  /** An attempt whose request arrived, and whose answer never did. */
  async function ambiguous(token = capability): Promise<string> {
    gw.upstream.respond((_request, res) => res.destroy())
    const answer = await gw.fetch(token, { url: gw.url('/v1/charges'), method: 'POST', body: '{}' })
    expect(answer.body.code).toBe('outcome_ambiguous')
    return answer.body.attempt_id
  }
  const decide = (id: string, decision: string, reason = REASON, key?: string) =>
    gw.rest('POST', `/v1/egress/attempts/${id}/reconcile`, { decision, reason }, key)
  const events = async () => (await gw.rest('GET', '/v1/audit/events?limit=500')).body.events

  it('gives the credit back for what did not happen, signs why, and sends nothing', async () => {
    const id = await ambiguous()
    const before = { balance: await gw.balance(), sent: gw.upstream.requests.length }
    const first = (await gw.rest('GET', `/v1/egress/attempts/${id}`)).body
    const decided = await decide(id, 'did_not_happen')
    expect(decided.status).toBe(200)
    expect(decided.body).toMatchObject({
      state: 'refunded',
      outcome: 'reconciled_did_not_happen',
      credits_charged: 0,
      receipt_id: first.receipt_id,
      reconciliation: { decision: 'did_not_happen', reason: REASON, was: first.outcome },
    })
    expect(await gw.balance()).toBe(before.balance + 1)
    expect(gw.upstream.requests).toHaveLength(before.sent)
    expect((await gw.rest('GET', `/v1/egress/attempts/${id}`)).body).toEqual(decided.body)

    const { receipt_id } = decided.body.reconciliation
    const receipt = (await gw.rest('GET', `/v1/receipts/${receipt_id}`, undefined, '')).body
    const keys = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
    expect(await verifyJws(receipt.jws, keys, JWS_TYPES.receipt)).toMatchObject({
      ok: true,
      payload: {
        action: 'egress.reconcile',
        attempt_id: id,
        amends: first.receipt_id,
        decision: 'did_not_happen',
        reason: REASON,
        refunded: { amount: 1, unit: 'credit' },
      },
    })
    const last = (await events()).at(-1)
    expect(last).toMatchObject({
      event: 'attempt.reconciled',
      subject: { type: 'attempt', id },
      detail: { decision: 'did_not_happen', receipt_id },
    })
    const { ledger } = (await gw.rest('GET', '/v1/credits?limit=1')).body
    expect(ledger[0]).toMatchObject({ kind: 'refund', reference: id, amount: 1 })
  })

  it('tells a repeat under the caller’s key of what happened that its answer is gone, and sends what did not happen', async () => {
    const call = (key: string) =>
      gw.fetch(capability, {
        url: gw.url('/v1/charges'),
        method: 'POST',
        body: '{}',
        idempotency_key: key,
      })
    const lose = async (key: string): Promise<{ attempt_id: string; idempotency_key: string }> => {
      gw.upstream.respond((_request, res) => res.destroy())
      expect((await call(key)).body.code).toBe('outcome_ambiguous')
      const again = await call(key)
      expect(again.body).toMatchObject({ code: 'outcome_ambiguous', replayed: true })
      return again.body
    }
    const [happened, missing] = [await lose('key-happened'), await lose('key-missing')]
    await decide(happened.attempt_id, 'happened')
    await decide(missing.attempt_id, 'did_not_happen')
    gw.upstream.respond((_request, res) => res.writeHead(200).end('{"ok":true}'))
    const sent = gw.upstream.requests.length
    const balance = await gw.balance()

    for (const answer of [await call('key-happened'), await call('key-happened')])
      expect(answer).toMatchObject({
        status: 409,
        body: {
          code: 'idempotency_answer_gone',
          attempt_id: happened.attempt_id,
          idempotency_key: happened.idempotency_key,
          credits: { charged: 0 },
          replayed: true,
        },
      })
    expect(gw.upstream.requests).toHaveLength(sent)

    // Sent now, under the same key to the upstream: if it was there after all, the upstream recognises it.
    const first = await call('key-missing')
    expect(first).toMatchObject({
      status: 200,
      body: { credits: { charged: 1 }, idempotency_key: missing.idempotency_key },
    })
    expect(first.body.attempt_id).not.toBe(missing.attempt_id)
    expect(first.body).not.toHaveProperty('replayed')
    expect((await call('key-missing')).body).toMatchObject({
      attempt_id: first.body.attempt_id,
      replayed: true,
    })
    expect(gw.upstream.requests).toHaveLength(sent + 1)
    expect(await gw.balance()).toBe(balance - 1)
  })

  it('lets the charge stand for what happened', async () => {
    const id = await ambiguous()
    const balance = await gw.balance()
    const decided = await decide(id, 'happened', 'it is on the dashboard')
    expect(decided.body).toMatchObject({
      state: 'settled',
      outcome: 'reconciled_happened',
      credits_charged: 1,
    })
    expect(await gw.balance()).toBe(balance)
  })

  it('is final: the same word again changes nothing, the other one is refused', async () => {
    const id = await ambiguous()
    const balance = await gw.balance()
    const first = await decide(id, 'did_not_happen')
    const again = await decide(id, 'did_not_happen', 'other words')
    expect([again.status, again.body]).toEqual([200, first.body])
    const other = await decide(id, 'happened')
    expect([other.status, other.body.code, other.body.state]).toEqual([409, 'state_conflict', 'refunded'])
    expect(await gw.balance()).toBe(balance + 1)
  })

  it('refunds once, however many decide at once', async () => {
    const id = await ambiguous()
    const balance = await gw.balance()
    const answers = await Promise.all(Array.from({ length: 8 }, () => decide(id, 'did_not_happen')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await gw.balance()).toBe(balance + 1)
    const decided = (await events()).filter(
      ({ event, subject }: { event: string; subject: { id: string } }) =>
        event === 'attempt.reconciled' && subject.id === id,
    )
    expect(decided).toHaveLength(1)
  })

  it('decides nothing about an attempt that has an end', async () => {
    gw.upstream.respond((_request, res) => res.writeHead(200).end('ok'))
    const { attempt_id } = (await gw.fetch(capability, { url: gw.url('/') })).body
    const answer = await decide(attempt_id, 'did_not_happen')
    expect([answer.status, answer.body.state]).toEqual([409, 'settled'])
    expect((await decide('att_none', 'happened')).body.code).toBe('attempt_not_found')
  })

  it('lets an account confirm its own, and the administrator alone give credits back', async () => {
    const { key } = (await gw.rest('POST', '/v1/keys', { account: 'new', name: 'team-b' })).body
    const stored = await gw.rest(
      'POST',
      '/v1/egress/credentials',
      {
        provider: 'custom',
        label: 'x',
        secret: 'upstream-secret-9',
        hosts: ['api.example.com'],
        path_prefixes: ['/'],
        methods: ['POST'],
      },
      key,
    )
    const issued = await gw.rest(
      'POST',
      '/v1/egress/capabilities',
      { credential_id: stored.body.credential_id },
      key,
    )
    const [one, two] = [await ambiguous(issued.body.capability), await ambiguous(issued.body.capability)]
    const own = await decide(one, 'did_not_happen', REASON, key)
    expect([own.status, own.body.code]).toEqual([403, 'admin_required'])
    expect((await decide(one, 'happened', REASON, key)).body.state).toBe('settled')
    const balance = async () => (await gw.rest('GET', '/v1/credits', undefined, key)).body.balance
    const before = await balance()
    expect((await decide(two, 'did_not_happen')).body.state).toBe('refunded')
    expect(await balance()).toBe(before + 1)
    // The event is on the chain of the account that it is about, in the name of who decided.
    const theirs = (await gw.rest('GET', '/v1/audit/events', undefined, key)).body.events
    expect(theirs.at(-1)).toMatchObject({
      event: 'attempt.reconciled',
      subject: { id: two },
      actor: { kind: 'service_key' },
    })
    const foreign = await ambiguous()
    expect((await decide(foreign, 'happened', REASON, key)).body.code).toBe('attempt_not_found')
    expect((await decide(foreign, 'happened', REASON, issued.body.capability)).status).toBe(401)
  })

  it('wants a reason in one line', async () => {
    const id = await ambiguous()
    for (const reason of ['', ' ', 'a\nb', 'x'.repeat(501)])
      expect((await decide(id, 'happened', reason)).status, JSON.stringify(reason)).toBe(400)
    expect((await gw.rest('GET', `/v1/egress/attempts/${id}`)).body.state).toBe('ambiguous')
  })
})
