import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { ENGINES, startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { cites } from '../requirements.ts'

const SECRET = 'upstream-secret-1'

describe.each(ENGINES)('an outbound request (%s)', (engine) => {
  let gw: TestGateway
  let capability: string
  let capabilityId: string
  beforeAll(async () => {
    gw = await startTestGateway({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    ;({ capability, capabilityId } = await gw.grant({ secret: SECRET }))
  })
  afterAll(() => gw.close())
  beforeEach(() =>
    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b' }).end('{"ok":true}'),
    ),
  )

  const last = () => gw.upstream.requests.at(-1)!
  const sent = (name: string) =>
    last()
      .headers.filter(([header]) => header === name)
      .map(([, value]) => value)
  const attempt = async (id: string) => (await gw.rest('GET', `/v1/egress/attempts/${id}`)).body

  it(
    cites('egress:send:receipt', 'arrives with the credential and comes back as data with a receipt'),
    async () => {
      const before = await gw.balance()
      const answer = await gw.fetch(capability, {
        url: gw.url('/v1/things?limit=1'),
        headers: { accept: 'application/json' },
      })
      expect(answer.status).toBe(200)
      expect(last()).toMatchObject({ method: 'GET', target: '/v1/things?limit=1', servername: UPSTREAM_HOST })
      expect(sent('authorization')).toEqual([`Bearer ${SECRET}`])
      expect(sent('accept')).toEqual(['application/json'])
      expect(sent('idempotency-key')).toEqual([])

      const { attempt_id, upstream, idempotency_key, credits, receipt } = answer.body
      expect(upstream).toMatchObject({ status: 200, body: '{"ok":true}' })
      expect(upstream.headers).toHaveProperty('content-type', 'application/json')
      expect(upstream.headers).not.toHaveProperty('set-cookie')
      expect(idempotency_key).toBeNull()
      expect(credits).toEqual({ charged: 1, balance: before - 1 })
      expect(await attempt(attempt_id)).toMatchObject({
        state: 'settled',
        outcome: 'delivered',
        upstream_status: 200,
        credits_charged: 1,
        capability_id: capabilityId,
        receipt_id: receipt.receipt_id,
      })

      const read = await gw.rest('GET', `/v1/receipts/${receipt.receipt_id}`, undefined, '')
      expect(read.body.jws).toBe(receipt.jws)
      const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
      const verdict = await verifyJws(receipt.jws, jwks, JWS_TYPES.receipt)
      expect(verdict).toMatchObject({
        ok: true,
        payload: {
          iss: gw.baseUrl,
          jti: receipt.receipt_id,
          attempt_id,
          state: 'settled',
          charge: { amount: 1, unit: 'credit' },
          request: { method: 'GET', host: UPSTREAM_HOST },
          response: { status: 200, leak_gate: 'clean' },
        },
      })
      expect(JSON.stringify(verdict)).not.toMatch(/limit=1|v1\/things|application\/json/)
    },
  )

  it('carries a body as text or as bytes, and an Idempotency-Key that the attempt remembers', async () => {
    const text = await gw.fetch(capability, {
      url: gw.url('/v1/things'),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"ü"}',
    })
    expect(last().body.toString()).toBe('{"name":"ü"}')
    expect(sent('idempotency-key')).toEqual([text.body.idempotency_key])
    expect((await attempt(text.body.attempt_id)).idempotency_key).toBe(text.body.idempotency_key)

    const bytes = await gw.fetch(capability, {
      url: gw.url('/v1/things'),
      method: 'PUT',
      body_base64: '/wAB',
    })
    expect(last().body).toEqual(Buffer.from([255, 0, 1]))
    expect(bytes.body.idempotency_key).not.toBe(text.body.idempotency_key)
  })

  it('returns bytes that are no text as base64', async () => {
    gw.upstream.respond((_request, res) => res.writeHead(200).end(Buffer.from([0, 255, 1])))
    const answer = await gw.fetch(capability, { url: gw.url('/v1/blob') })
    expect(answer.body.upstream.body_base64).toBe('AP8B')
    expect(answer.body.upstream).not.toHaveProperty('body')
  })

  it(cites('egress:send:redirect', 'returns a redirect as data and follows nothing'), async () => {
    gw.upstream.respond((_request, res) => res.writeHead(302, { location: 'https://127.0.0.1/' }).end())
    const before = gw.upstream.requests.length
    const answer = await gw.fetch(capability, { url: gw.url('/v1/moved') })
    expect(answer.body.upstream).toMatchObject({ status: 302, headers: { location: 'https://127.0.0.1/' } })
    expect(gw.upstream.requests.length).toBe(before + 1)
  })

  it.each([
    ['an http URL', { url: 'http://api.example.com/' }, 400, 'target_invalid'],
    ['user info', { url: 'https://a:b@api.example.com/' }, 400, 'target_invalid'],
    ['a loopback literal', { url: 'https://127.0.0.1/' }, 403, 'target_blocked'],
    ['a local name', { url: 'https://localhost/' }, 403, 'target_blocked'],
    ['a port that is not allowed', { url: 'https://api.example.com:8443/' }, 403, 'target_blocked'],
    [
      'its own authorization',
      { url: 'https://api.example.com/', headers: { authorization: 'x' } },
      400,
      'header_forbidden',
    ],
    [
      'its own idempotency key',
      { url: 'https://api.example.com/', headers: { 'idempotency-key': 'x' } },
      400,
      'header_forbidden',
    ],
    [
      'two bodies',
      { url: 'https://api.example.com/', method: 'POST', body: 'a', body_base64: 'YQ==' },
      400,
      'input_invalid',
    ],
    ['a body on GET', { url: 'https://api.example.com/', body: 'a' }, 400, 'input_invalid'],
    [
      'half a surrogate pair',
      { url: 'https://api.example.com/', method: 'POST', body: '\ud800' },
      400,
      'input_invalid',
    ],
    [
      'a body over 128 KiB in bytes',
      { url: 'https://api.example.com/', method: 'POST', body: 'ü'.repeat(65_537) },
      413,
      'body_too_large',
    ],
    ['a host out of scope', { url: 'https://www.example.com/' }, 403, 'scope_denied'],
  ])(
    cites('egress:send:uncharged', 'costs nothing when refused: %s'),
    async (_name, request, status, code) => {
      const before = { balance: await gw.balance(), sent: gw.upstream.requests.length }
      const answer = await gw.fetch(capability, request)
      expect([answer.status, answer.body.code]).toEqual([status, code])
      expect({ balance: await gw.balance(), sent: gw.upstream.requests.length }).toEqual(before)
    },
  )

  it('accepts a body of exactly 128 KiB', async () => {
    const body_base64 = Buffer.alloc(131_072, 7).toString('base64')
    const answer = await gw.fetch(capability, { url: gw.url('/v1/things'), method: 'POST', body_base64 })
    expect(answer.status).toBe(200)
    expect(last().body.length).toBe(131_072)
  })

  it.each([
    ['its name leads to a private address', { A: ['10.0.0.1'] }, 403, 'target_blocked', 'dns_refused'],
    [
      'one of its addresses is private',
      { A: ['127.0.0.1', '10.0.0.1'] },
      403,
      'target_blocked',
      'dns_refused',
    ],
    ['its name does not exist', { rcode: 3 }, 503, 'upstream_unreachable', 'dns_failed'],
    ['its name server fails', { rcode: 2 }, 503, 'upstream_unreachable', 'dns_failed'],
    ['nobody listens at its address', { A: ['127.0.0.1'] }, 503, 'upstream_unreachable', 'connect_failed'],
  ])(cites('egress:send:refunded', 'is refunded when %s'), async (_name, zone, status, code, outcome) => {
    const host = `h${outcome.replaceAll('_', '')}${status}.example.com`
    gw.dns.set(host, zone)
    const own = await gw.grant({ credential: { hosts: [host] } })
    const before = { balance: await gw.balance(), sent: gw.upstream.requests.length }
    // Port 443 is allowed and nothing listens there.
    const answer = await gw.fetch(own.capability, { url: `https://${host}/`, method: 'POST' })
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body.credits).toEqual({ charged: 0, balance: before.balance })
    expect(await attempt(answer.body.attempt_id)).toMatchObject({
      state: 'refunded',
      outcome,
      credits_charged: 0,
    })
    expect({ balance: await gw.balance(), sent: gw.upstream.requests.length }).toEqual(before)
    const ledger = (await gw.rest('GET', '/v1/credits?limit=2')).body.ledger
    expect(ledger.map((entry: { kind: string; amount: number }) => [entry.kind, entry.amount])).toEqual([
      ['refund', 1],
      ['egress', -1],
    ])
  })

  it(
    cites(
      'egress:send:once',
      'is charged, recorded and never resent when the upstream hangs up without an answer',
    ),
    async () => {
      gw.upstream.respond((_request, res) => res.destroy())
      const before = { balance: await gw.balance(), sent: gw.upstream.requests.length }
      const answer = await gw.fetch(capability, { url: gw.url('/v1/charges'), method: 'POST', body: 'x' })
      expect([answer.status, answer.body.code]).toEqual([503, 'outcome_ambiguous'])
      expect(gw.upstream.requests.length).toBe(before.sent + 1)
      expect(answer.body).toMatchObject({
        idempotency_key: sent('idempotency-key')[0],
        idempotency_honoured: 'unknown',
        credits: { charged: 1, balance: before.balance - 1 },
      })
      expect(await attempt(answer.body.attempt_id)).toMatchObject({
        state: 'ambiguous',
        credits_charged: 1,
        receipt_id: answer.body.receipt.receipt_id,
        idempotency_key: answer.body.idempotency_key,
      })
      expect(await gw.balance()).toBe(before.balance - 1)
    },
  )

  it(
    cites('egress:send:ambiguous', 'is ambiguous when no answer comes before its own deadline'),
    async () => {
      gw.upstream.respond(() => {})
      // A connection of its own fits within it, too, and the request is sent.
      const answer = await gw.fetch(capability, { url: gw.url('/v1/slow'), timeout_ms: 3_000 })
      expect([answer.status, answer.body.code]).toEqual([503, 'outcome_ambiguous'])
      expect(await attempt(answer.body.attempt_id)).toMatchObject({
        state: 'ambiguous',
        outcome: 'no_answer_timeout',
      })
    },
  )

  it.each([
    ['is too large', 'response_too_large', 'response_too_large', { max_bytes: 10 }],
    ['is compressed', 'response_unacceptable', 'response_encoded', {}],
  ])('is settled and charged when the response %s', async (name, code, outcome, extra) => {
    gw.upstream.respond((_request, res) =>
      name === 'is compressed'
        ? res.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
        : res.writeHead(201).end('eleven bytes'),
    )
    const answer = await gw.fetch(capability, { url: gw.url('/v1/things'), ...extra })
    expect([answer.status, answer.body.code]).toEqual([502, code])
    expect(answer.body.credits.charged).toBe(1)
    expect(await attempt(answer.body.attempt_id)).toMatchObject({
      state: 'settled',
      outcome,
      credits_charged: 1,
    })
    expect(answer.text).not.toContain('eleven')
  })

  it(
    cites(
      'egress:send:withheld',
      'is withheld, charged and reported when the upstream sends the credential back',
    ),
    async () => {
      gw.upstream.respond((request, res) => res.writeHead(200).end(JSON.stringify(request.headers)))
      const answer = await gw.fetch(capability, { url: gw.url('/headers') })
      expect([answer.status, answer.body.code]).toEqual([502, 'secret_reflected'])
      expect(answer.text).not.toContain(SECRET)
      expect(await attempt(answer.body.attempt_id)).toMatchObject({
        state: 'settled',
        outcome: 'secret_reflected',
        upstream_status: 200,
        response_digest: null,
        credits_charged: 1,
      })
      const event = gw
        .log()
        .split('\n')
        .find((line) => line.includes('"event":"secret_reflected"') && line.includes(answer.body.attempt_id))
      expect(JSON.parse(event!)).toMatchObject({ level: 40, where: 'body' })
      expect(gw.log()).not.toContain(SECRET)
    },
  )

  it(cites('egress:send:disconnect', 'is carried out to its end when the client goes away'), async () => {
    const client = new AbortController()
    const arrived = new Promise<void>((resolve) =>
      gw.upstream.respond((_request, res) => {
        client.abort()
        resolve()
        res.writeHead(200).end('done')
      }),
    )
    const before = await gw.balance()
    await expect(
      fetch(`${gw.baseUrl}/v1/egress/fetch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${capability}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: gw.url('/v1/things'), method: 'POST' }),
        signal: client.signal,
      }),
    ).rejects.toThrow()
    await arrived
    await expect
      .poll(async () => (await gw.rest('GET', '/v1/egress/attempts?limit=1')).body.attempts[0].state)
      .toBe('settled')
    expect(await gw.balance()).toBe(before - 1)
  })

  it('shows a capability its own attempts and nobody else’s', async () => {
    const other = await gw.grant()
    const mine = (await gw.fetch(capability, { url: gw.url('/v1/a') })).body.attempt_id
    const theirs = (await gw.fetch(other.capability, { url: gw.url('/v1/b') })).body.attempt_id
    expect((await gw.rest('GET', `/v1/egress/attempts/${mine}`, undefined, capability)).status).toBe(200)
    const hidden = await gw.rest('GET', `/v1/egress/attempts/${theirs}`, undefined, capability)
    expect([hidden.status, hidden.body.code]).toEqual([404, 'attempt_not_found'])
    const list = await gw.rest('GET', '/v1/egress/attempts', undefined, other.capability)
    expect(list.body.attempts.map((row: { attempt_id: string }) => row.attempt_id)).toEqual([theirs])
  })
})
