// A caller's idempotency key, from the doors to the upstream: what is sent once, what a repeat gets, and what it never gets.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { createActionsClient } from '../support/actions.ts'
import {
  ENGINES,
  type RestAnswer,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
} from '../support/gateway.ts'

const SECRET = 'upstream-secret-1'
const BODY = '{"order":"ord_4711","paid":true}'

describe.each(ENGINES)('an idempotency key (%s)', (engine) => {
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
      res.writeHead(201, { 'content-type': 'application/json', 'x-request-id': 'up_1' }).end(BODY),
    ),
  )

  const order = (over: Record<string, unknown> = {}) => ({
    url: gw.url('/v1/orders'),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":100}',
    ...over,
  })
  const post = async (
    request: Record<string, unknown>,
    headers: Record<string, string> = {},
    token = capability,
  ): Promise<Pick<RestAnswer, 'status' | 'headers' | 'body'>> => {
    const response = await fetch(`${gw.baseUrl}/v1/egress/fetch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(request),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const keyed = (key: string, over: Record<string, unknown> = {}, token = capability) =>
    post(order(over), { 'idempotency-key': key }, token)
  const sent = () => gw.upstream.requests.length

  it('makes one upstream request and one debit of 64 copies at once, and every repeat gets the same answer', async () => {
    const key = randomUUID()
    const [requests, credits] = [sent(), await gw.balance()]
    const copies = await Promise.all(Array.from({ length: 64 }, () => keyed(key)))
    expect(sent() - requests).toBe(1)
    expect(await gw.balance()).toBe(credits - 1)
    const first = copies.find(({ status, body }) => status === 200 && body.replayed === undefined)
    if (!first) throw new Error('none of the copies was the first')
    for (const { status, headers, body } of copies) {
      if (status === 200) {
        expect(body.upstream).toEqual(first.body.upstream)
        continue
      }
      expect({
        status,
        code: body.code,
        attempt: body.attempt_id,
        after: headers.get('retry-after'),
      }).toEqual({
        status: 409,
        code: 'idempotency_key_in_use',
        attempt: first.body.attempt_id,
        after: '1',
      })
    }

    const [again, later] = [await keyed(key), await keyed(key)]
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(first.headers.has('idempotent-replayed')).toBe(false)
    expect(again.body).toEqual({
      ...first.body,
      credits: { charged: 0, balance: credits - 1 },
      receipt: again.body.receipt,
      replayed: true,
    })
    expect(first.body.upstream).toMatchObject({ status: 201, body: BODY })
    expect(later.body).toEqual(again.body)
    expect(sent() - requests).toBe(1)

    const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
    expect(await verifyJws(again.body.receipt.jws, jwks, JWS_TYPES.receipt)).toMatchObject({
      ok: true,
      payload: {
        jti: again.body.receipt.receipt_id,
        replayed: true,
        replay_of: first.body.receipt.receipt_id,
        attempt_id: first.body.attempt_id,
        charge: { amount: 0, unit: 'credit' },
        response: { status: 201 },
      },
    })
    const read = await gw.rest('GET', `/v1/receipts/${again.body.receipt.receipt_id}`, undefined, '')
    expect(read.body.jws).toBe(again.body.receipt.jws)
  })

  it('reaches the upstream as a key that follows from lineage and key, and nowhere as itself', async () => {
    const key = `customer-${randomUUID()}`
    const first = await keyed(key)
    const [last] = gw.upstream.requests.slice(-1)
    const upstreamKey = last?.headers.find(([name]) => name === 'idempotency-key')?.[1]
    expect(upstreamKey).toBe(first.body.idempotency_key)
    expect(upstreamKey).not.toContain(key)
    // Another lineage with the same key is another key, and another request.
    const other = await gw.grant({ secret: SECRET })
    expect((await keyed(key, {}, other.capability)).body.idempotency_key).not.toBe(upstreamKey)
    // One that was narrowed is of the same lineage.
    const narrowed = await gw.rest('POST', '/v1/egress/capabilities/narrow', { ttl_seconds: 60 }, capability)
    expect(narrowed.status).toBe(201)
    expect((await keyed(key, {}, narrowed.body.capability)).body).toMatchObject({
      replayed: true,
      idempotency_key: upstreamKey,
    })
    expect(gw.log()).not.toContain(key)
  })

  it('is the same as header, as quoted header and as member, and refused where two differ or one is no key', async () => {
    const key = randomUUID()
    const requests = sent()
    expect((await keyed(key)).body.replayed).toBeUndefined()
    expect((await keyed(`"${key}"`)).body.replayed).toBe(true)
    expect((await post(order({ idempotency_key: key }))).body.replayed).toBe(true)
    expect((await keyed(key, { idempotency_key: key })).body.replayed).toBe(true)
    expect(await keyed(key, { idempotency_key: 'another' })).toMatchObject({
      status: 400,
      body: { code: 'input_conflict', fields: [{ pointer: '/idempotency_key' }] },
    })
    for (const bad of ['with space', 'a, b', 'x'.repeat(256), '""'])
      expect(await keyed(bad), bad).toMatchObject({
        status: 400,
        body: { fields: [{ pointer: '/idempotency_key' }] },
      })
    expect(await post(order({ idempotency_key: 7 }))).toMatchObject({ status: 400 })
    expect(sent() - requests).toBe(1)
  })

  it('is one key over MCP and A2A too, in `_meta`, in metadata or as a member', async () => {
    const key = randomUUID()
    const requests = sent()
    const { attempt_id } = (await keyed(key)).body
    const client = new Client({ name: 'idempotency-test', version: '1.0.0' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gw.baseUrl}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${capability}` } },
      }),
    )
    const call = { name: 'gateway_egress_fetch', arguments: order() }
    for (const params of [
      { ...call, _meta: { 'idempotency-key': key } },
      { ...call, arguments: order({ idempotency_key: key }) },
    ])
      expect((await client.callTool(params)).structuredContent).toMatchObject({ attempt_id, replayed: true })
    const refused = await client.callTool({ ...call, _meta: { 'idempotency-key': 7 } })
    expect(refused).toMatchObject({ isError: true, structuredContent: { status: 400 } })
    await client.close()

    const data = { skill: 'egress-fetch', input: order() }
    for (const message of [
      { parts: [{ data }], metadata: { 'idempotency-key': key } },
      { parts: [{ data: { ...data, input: order({ idempotency_key: key }) } }] },
    ]) {
      const answer = await gw.rest(
        'POST',
        '/a2a',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: { message: { messageId: randomUUID(), role: 'ROLE_USER', ...message } },
        },
        capability,
      )
      expect(answer.text).toContain('"replayed":true')
      expect(answer.text).toContain(attempt_id)
    }
    for (const [ofMessage, ofRequest] of [
      [key, randomUUID()],
      [null, undefined],
    ]) {
      const answer = await gw.rest(
        'POST',
        '/a2a',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: {
            message: {
              messageId: randomUUID(),
              role: 'ROLE_USER',
              parts: [{ data }],
              metadata: { 'idempotency-key': ofMessage },
            },
            metadata: { 'idempotency-key': ofRequest },
          },
        },
        capability,
      )
      expect(answer.text).toContain('idempotency_key')
      expect(answer.text).not.toContain('attempt_id')
    }
    expect(sent() - requests).toBe(1)
  })

  it('is one key in the header of every door, beside a capability in a header, and two that differ are a conflict', async () => {
    const key = randomUUID()
    const requests = sent()
    const { attempt_id } = (await keyed(key)).body
    const data = { skill: 'egress-fetch', input: order() }
    const message = (metadata?: object) => ({
      message: {
        messageId: randomUUID(),
        role: 'ROLE_USER',
        parts: [{ data }],
        ...(metadata && { metadata }),
      },
    })
    const call = (meta?: object) => ({
      name: 'gateway_egress_fetch',
      arguments: order(),
      ...(meta && { _meta: meta }),
    })
    const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
    const mcp = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-03-26' }
    const a2a = { 'a2a-version': '1.0' }
    const ways: Record<string, [string, Record<string, string>, (meta?: object) => unknown]> = {
      MCP: ['/mcp', mcp, (meta) => rpc('tools/call', call(meta))],
      'MCP, a batch of one': ['/mcp', mcp, (meta) => [rpc('tools/call', call(meta))]],
      A2A: ['/a2a', a2a, (meta) => rpc('SendMessage', message(meta))],
      'A2A over HTTP+JSON': ['/a2a/rest/message:send', a2a, message],
    }
    const post = async (way: string, headerKey: string, meta?: object) => {
      const [path, headers, body] = ways[way]!
      const answer = await fetch(gw.baseUrl + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-gateway-capability': capability,
          'idempotency-key': headerKey,
          ...headers,
        },
        body: JSON.stringify(body(meta)),
      })
      return answer.text()
    }
    for (const way of Object.keys(ways)) {
      for (const text of [
        await post(way, key),
        await post(way, `"${key}"`),
        await post(way, key, { 'idempotency-key': key }),
      ]) {
        expect(text, way).toMatch(/\\?"replayed\\?":true/)
        expect(text, way).toContain(attempt_id)
      }
      const differing = await post(way, key, { 'idempotency-key': randomUUID() })
      expect(differing, way).toContain('input_conflict')
      expect(differing, way).not.toContain('attempt_id')
      expect(await post(way, 'no key'), way).toContain('/idempotency_key')
    }
    expect(sent() - requests).toBe(1)
  })

  it('is the key of one call: a header beside a batch of several is refused', async () => {
    const call = { name: 'gateway_egress_fetch', arguments: order() }
    const requests = sent()
    const answer = await fetch(`${gw.baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${capability}`,
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify([1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: call }))),
    })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('the key of one call')
    expect(sent()).toBe(requests)
  })

  it('refuses another request under the key, whatever differs in it, and sends nothing', async () => {
    const key = randomUUID()
    const { attempt_id } = (await keyed(key)).body
    const requests = sent()
    for (const over of [
      { method: 'PUT' },
      { url: gw.url('/v1/orders/2') },
      { url: gw.url('/v1/orders?x=1') },
      { body: '{"amount":101}' },
      { body: undefined },
      { headers: { 'content-type': 'text/plain' } },
      { headers: {} },
      { max_bytes: 10 },
    ])
      expect(await keyed(key, over)).toMatchObject({
        status: 422,
        body: { code: 'idempotency_key_reused', attempt_id },
      })
    // How long it would wait is no part of the request; neither is how the body was written.
    for (const over of [
      { timeout_ms: 200 },
      { body: undefined, body_base64: Buffer.from('{"amount":100}').toString('base64') },
    ])
      expect((await keyed(key, over)).body.replayed).toBe(true)
    expect(sent()).toBe(requests)
  })

  it('answers 409 with the attempt while the first request is under way, then with its answer', async () => {
    const key = randomUUID()
    const arrived = Promise.withResolvers<() => void>()
    gw.upstream.respond((_request, res) => arrived.resolve(() => void res.writeHead(200).end('late')))
    const first = keyed(key)
    const release = await arrived.promise
    const running = await keyed(key)
    expect(running).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_in_use', retry_after_seconds: 1 },
    })
    release()
    const { body } = await first
    expect(running.body.attempt_id).toBe(body.attempt_id)
    expect((await keyed(key)).body).toMatchObject({ attempt_id: body.attempt_id, upstream: { body: 'late' } })
  })

  it('never sends again what is ambiguous, and sends again what was refunded', async () => {
    const key = randomUUID()
    const credits = await gw.balance()
    gw.upstream.respond((_request, res) => void res.destroy())
    const lost = await keyed(key)
    expect(lost).toMatchObject({ status: 503, body: { code: 'outcome_ambiguous', credits: { charged: 1 } } })
    const requests = sent()
    const { attempt_id, receipt, idempotency_key } = lost.body
    expect(await keyed(key)).toMatchObject({
      status: 503,
      body: {
        code: 'outcome_ambiguous',
        attempt_id,
        receipt,
        idempotency_key,
        credits: { charged: 0 },
        replayed: true,
      },
    })
    expect(await keyed(key, { body: 'other' })).toMatchObject({ status: 422 })
    expect(sent()).toBe(requests)
    expect(await gw.balance()).toBe(credits - 1)

    const second = randomUUID()
    gw.dns.set(UPSTREAM_HOST, { A: ['10.0.0.1'], ttl: 0 })
    const blocked = await keyed(second)
    expect(blocked).toMatchObject({ status: 403, body: { code: 'target_blocked', credits: { charged: 0 } } })
    gw.dns.set(UPSTREAM_HOST, { A: ['127.0.0.1'], ttl: 0 })
    gw.upstream.respond((_request, res) => res.writeHead(200).end('now'))
    const sentNow = await keyed(second)
    expect(sentNow).toMatchObject({ status: 200, body: { upstream: { body: 'now' } } })
    expect(sentNow.body.attempt_id).not.toBe(blocked.body.attempt_id)
    expect((await keyed(second)).body).toMatchObject({ attempt_id: sentNow.body.attempt_id, replayed: true })
  })

  it('sends again what was refunded, or did not happen, under a capability of one use', async () => {
    const once = await gw.grant({ secret: SECRET, capability: { max_uses: 1 } })
    const call = (key: string) => keyed(key, {}, once.capability)
    const key = randomUUID()
    gw.dns.set(UPSTREAM_HOST, { rcode: 2 })
    expect(await call(key)).toMatchObject({ status: 503, body: { credits: { charged: 0 } } })
    gw.dns.set(UPSTREAM_HOST, { A: ['127.0.0.1'], ttl: 0 })
    gw.upstream.respond((_request, res) => void res.destroy())
    const lost = await call(key)
    expect(lost).toMatchObject({ status: 503, body: { code: 'outcome_ambiguous' } })
    expect(await call(randomUUID())).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('no uses left') },
    })
    const decided = await gw.rest('POST', `/v1/egress/attempts/${lost.body.attempt_id}/reconcile`, {
      decision: 'did_not_happen',
      reason: 'not there',
    })
    expect(decided.status).toBe(200)
    gw.upstream.respond((_request, res) => res.writeHead(200).end('now'))
    expect((await call(key)).body).toMatchObject({ upstream: { body: 'now' }, credits: { charged: 1 } })
    expect(await call(randomUUID())).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('no uses left') },
    })
  })

  it('repeats how an answer ended that was withheld or not kept, without sending again', async () => {
    const [leaked, large] = [randomUUID(), randomUUID()]
    gw.upstream.respond((_request, res) => res.writeHead(200).end(`your token is ${SECRET}`))
    expect(await keyed(leaked)).toMatchObject({ status: 502, body: { code: 'secret_reflected' } })
    gw.upstream.respond((_request, res) => res.writeHead(200).end('x'.repeat(2000)))
    expect(await keyed(large, { max_bytes: 1000 })).toMatchObject({
      status: 502,
      body: { code: 'response_too_large' },
    })
    gw.upstream.respond((_request, res) => res.writeHead(200).end('not to be seen'))
    const requests = sent()
    expect(await keyed(leaked)).toMatchObject({
      status: 502,
      body: { code: 'secret_reflected', upstream_status: 200, replayed: true },
    })
    expect(await keyed(large, { max_bytes: 1000 })).toMatchObject({
      status: 502,
      body: { code: 'response_too_large', replayed: true },
    })
    expect(sent()).toBe(requests)
  })

  it('says that an answer is too large to keep, and tells a repeat that it is gone', async () => {
    const settings = { limits: { max_response_bytes: 2 * 1024 * 1024 } }
    const roomy = await gw.grant({ secret: SECRET, credential: { settings } })
    const key = randomUUID()
    gw.upstream.respond((_request, res) => res.writeHead(200).end('x'.repeat(1024 * 1024 + 1)))
    const first = await keyed(key, { max_bytes: 2 * 1024 * 1024 }, roomy.capability)
    expect(first).toMatchObject({ status: 200, body: { answer_kept: false } })
    const requests = sent()
    expect(await keyed(key, { max_bytes: 2 * 1024 * 1024 }, roomy.capability)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_answer_gone', attempt_id: first.body.attempt_id, replayed: true },
    })
    expect(sent()).toBe(requests)
    // What is kept does not say so, and neither does a call without a key.
    gw.upstream.respond((_request, res) => res.writeHead(200).end('short'))
    for (const { body } of [await keyed(randomUUID()), await post(order())])
      expect(body).not.toHaveProperty('answer_kept')
  })

  it('keeps bytes as bytes, and works for the last use, without credits and after the secret was rotated', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xfe, 0x80])
    gw.upstream.respond((_request, res) => res.writeHead(200, { 'content-type': 'image/png' }).end(bytes))
    const once = await gw.grant({ secret: SECRET, capability: { max_uses: 1 } })
    const key = randomUUID()
    const first = await keyed(key, {}, once.capability)
    expect(first.body.upstream).toMatchObject({ body_base64: bytes.toString('base64') })
    const rotated = await gw.rest('POST', `/v1/egress/credentials/${once.credentialId}/rotate`, {
      secret: 'another-secret-2',
    })
    expect(rotated.status).toBe(200)
    expect((await keyed(key, {}, once.capability)).body.upstream).toEqual(first.body.upstream)
    expect(await keyed(randomUUID(), {}, once.capability)).toMatchObject({ status: 403 })
  })

  it('is known again after the limits of its credential were edited, and an ambiguous call is told as such', async () => {
    const own = await gw.grant({ secret: SECRET })
    const [answered, ambiguous] = [randomUUID(), randomUUID()]
    const first = await keyed(answered, {}, own.capability)
    expect(first.status).toBe(200)
    gw.upstream.respond((_request, res) => void res.destroy())
    expect((await keyed(ambiguous, {}, own.capability)).body.code).toBe('outcome_ambiguous')
    const requests = sent()
    for (const max_response_bytes of [500_000, 5_000_000]) {
      const settings = { limits: { max_response_bytes } }
      const edited = await gw.rest('POST', `/v1/egress/credentials/${own.credentialId}/edit`, { settings })
      expect(edited.status).toBe(200)
      expect((await keyed(answered, {}, own.capability)).body).toMatchObject({
        upstream: first.body.upstream,
        replayed: true,
      })
      expect(await keyed(ambiguous, {}, own.capability)).toMatchObject({
        status: 503,
        body: { code: 'outcome_ambiguous', replayed: true },
      })
      expect(await keyed(answered, { max_bytes: 10 }, own.capability)).toMatchObject({ status: 422 })
    }
    expect(sent()).toBe(requests)
  })

  it('is no way around scope, revocation or the credential behind it', async () => {
    const own = await gw.grant({ secret: SECRET })
    const key = randomUUID()
    expect((await keyed(key, {}, own.capability)).status).toBe(200)
    const narrowed = await gw.rest(
      'POST',
      '/v1/egress/capabilities/narrow',
      { methods: ['GET'] },
      own.capability,
    )
    expect(await keyed(key, {}, narrowed.body.capability)).toMatchObject({
      status: 403,
      body: { code: 'scope_denied' },
    })
    await gw.rest('POST', `/v1/egress/credentials/${own.credentialId}/revoke`, {})
    expect((await keyed(key, {}, own.capability)).status).not.toBe(200)
  })

  it('leaves what has no key as it was: every call is sent, each under a key of its own', async () => {
    const requests = sent()
    const answers = [await post(order()), await post(order())]
    expect(sent() - requests).toBe(2)
    expect(new Set(answers.map(({ body }) => body.idempotency_key)).size).toBe(2)
    for (const { headers, body } of answers) {
      expect(body).not.toHaveProperty('replayed')
      expect(headers.has('idempotent-replayed')).toBe(false)
    }
    expect(capabilityId).toMatch(/^cap_/)
  })

  it('gives an executed permit its answer again under its key, and 409 without it', async () => {
    const actions = await createActionsClient(gw, gw.url)
    const { permit } = await actions.prepare()
    const key = randomUUID()
    const requests = sent()
    const execute = (idempotency_key?: string, request = actions.request()) =>
      gw.rest(
        'POST',
        '/v1/actions/execute',
        { permit, request, ...(idempotency_key && { idempotency_key }) },
        '',
      )
    const answers = await Promise.all(Array.from({ length: 16 }, () => execute(key)))
    const first = answers.find(({ status, body }) => status === 200 && body.replayed === undefined)
    expect(first?.body).toMatchObject({ upstream: { body: BODY }, credits: { charged: 1 } })
    for (const { status, body } of answers)
      expect(status === 200 ? body.attempt_id : body).toEqual(
        status === 200
          ? first?.body.attempt_id
          : expect.objectContaining({ status: 409, code: 'idempotency_key_in_use' }),
      )
    expect((await execute(key)).body).toMatchObject({
      attempt_id: first?.body.attempt_id,
      permit_id: first?.body.permit_id,
      upstream: first?.body.upstream,
      credits: { charged: 0 },
      replayed: true,
    })
    expect(await execute()).toMatchObject({ status: 409, body: { code: 'permit_used' } })
    expect(await execute(randomUUID())).toMatchObject({ status: 409, body: { code: 'permit_used' } })
    expect(await execute(key, { ...actions.request(), method: 'PUT' })).toMatchObject({
      status: 409,
      body: { code: 'permit_mismatch' },
    })
    expect(sent() - requests).toBe(1)
  })
})
