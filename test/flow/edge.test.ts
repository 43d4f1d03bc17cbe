// A merchant's address behind the gateway's: what arrives there, what comes back, and what that leaves behind.
import { hash, randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { verifyJws } from '../../src/receipts/types.ts'
import { newToken } from '../../src/lib/tokens.ts'
import { createActionsClient } from '../support/actions.ts'
import { EDGE_NAME, startEdgeGateway, type EdgeAnswer, type EdgeGateway } from '../support/edge.ts'
import { UPSTREAM_HOST } from '../support/gateway.ts'
import type { Respond } from '../support/upstream.ts'

let edge: EdgeGateway
beforeAll(async () => {
  edge = await startEdgeGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
})
afterEach(() => edge.upstream.respond((_request, res) => res.end('ok')))
afterAll(() => edge?.close())

const last = () => edge.upstream.requests.at(-1)!
const received = (name: string) =>
  last()
    .headers.filter(([other]) => other === name)
    .map(([, value]) => value)
const values = (answer: EdgeAnswer, name: string) =>
  answer.headers.filter(([other]) => other === name).map(([, value]) => value)
const answerWith =
  (status: number, headers: Record<string, string | string[]>, body: string | Buffer = ''): Respond =>
  (_request, res) =>
    res.writeHead(status, headers).end(body)

describe('what arrives at the merchant', () => {
  it('is the path, the headers and the body as the buyer sent them', async () => {
    const body = randomBytes(1000)
    const { status } = await edge.send(`${edge.merchant}/v1/%C3%A9/x.y~z?a=%2F&b=c/d?e`, {
      headers: [
        ['Content-Type', 'application/octet-stream'],
        ['Authorization', 'Payment eyJjaGFsbGVuZ2UiOnt9fQ'],
        ['Signature-Input', 'sig1=("@method" "@path")'],
        ['Signature', 'sig1=:AA==:'],
        ['X-Twice', '1'],
        ['X-Twice', 'caf\u00c3\u00a9'],
        ['Idempotency-Key', "the buyer's"],
        ['Cookie', 'session=1'],
        ['X-Forwarded-For', '10.0.0.1'],
        ['Keep-Alive', 'timeout=5'],
        ['Connection', 'close, X-Hop'],
        ['X-Hop', '1'],
      ],
      body,
    })
    expect(status).toBe(200)
    expect(last()).toMatchObject({
      method: 'POST',
      target: '/v1/%C3%A9/x.y~z?a=%2F&b=c/d?e',
      servername: UPSTREAM_HOST,
    })
    expect(last().body.equals(body)).toBe(true)
    const { host } = new URL(edge.url('/'))
    expect(last().headers.filter(([name]) => name !== 'connection')).toEqual([
      ['host', host],
      ['content-type', 'application/octet-stream'],
      ['authorization', 'Payment eyJjaGFsbGVuZ2UiOnt9fQ'],
      ['signature-input', 'sig1=("@method" "@path")'],
      ['signature', 'sig1=:AA==:'],
      ['x-twice', '1'],
      ['x-twice', 'caf\u00c3\u00a9'],
      ['idempotency-key', "the buyer's"],
      ['forwarded', `for=127.0.0.1;host="localhost:${edge.gateway.port}";proto=http`],
      ['via', `1.1 ${EDGE_NAME}`],
      ['content-length', '1000'],
    ])
  })

  it.each<[string, [string, string][], Buffer]>([
    ['nothing', [], Buffer.alloc(0)],
    [
      'every byte there is',
      [['Content-Type', 'image/png']],
      Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
    ],
    [
      'a compressed body',
      [
        ['Content-Encoding', 'gzip'],
        ['Content-Type', 'application/json'],
      ],
      gzipSync('{"a":1}'),
    ],
    ['the largest body', [], randomBytes(256 * 1024)],
    [
      'JSON in its own spelling',
      [['Content-Type', 'application/json']],
      Buffer.from('{ "b":1.0,\r\n"a":"\\u00e9"}'),
    ],
  ])('is %s, byte for byte', async (_, headers, body) => {
    expect((await edge.send(`${edge.merchant}/v1`, { headers, body })).status).toBe(200)
    expect(last().body.equals(body)).toBe(true)
    expect(received('content-encoding')).toEqual(
      headers.filter(([name]) => name === 'Content-Encoding').map(([, v]) => v),
    )
  })

  it('is a body that came in chunks, counted', async () => {
    const headers: [string, string][] = [
      ['Transfer-Encoding', 'chunked'],
      ['Trailer', 'X-T'],
      ['Expect', '100-continue'],
    ]
    const answer = await edge.send(`${edge.merchant}/v1`, {
      headers,
      body: '3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n',
    })
    expect(answer.status).toBe(200)
    expect(last().body.toString()).toBe('abcde')
    expect(received('content-length')).toEqual(['5'])
    expect(last().headers.map(([name]) => name)).not.toContain('x-t')
  })

  it('is a bearer token of its own, which is nobody to the gateway', async () => {
    const answer = await edge.send(`${edge.merchant}/v1`, {
      headers: [['Authorization', 'Bearer merchants-own']],
    })
    expect(answer.status).toBe(200)
    expect(received('authorization')).toEqual(['Bearer merchants-own'])
  })

  it('is nothing of a body that is one byte too large', async () => {
    const before = edge.upstream.requests.length
    const answer = await edge.send(`${edge.merchant}/v1`, { body: randomBytes(256 * 1024 + 1) })
    expect([answer.status, answer.problem.code, answer.problem.max_bytes]).toEqual([
      413,
      'body_too_large',
      262_144,
    ])
    expect(edge.upstream.requests.length).toBe(before)
  })

  it.each<[string, [string, string][]]>([
    ['a bearer token', [['Authorization', `Bearer ${newToken('sk')}`]]],
    ['a capability', [['X-Gateway-Capability', newToken('cap')]]],
    ['a cookie', [['Cookie', `a=${newToken('ek')}`]]],
  ])('is never a token of the gateway: %s', async (_, headers) => {
    const before = edge.upstream.requests.length
    const answer = await edge.send(`${edge.merchant}/v1`, { headers })
    expect([answer.status, answer.problem.code]).toEqual([400, 'header_forbidden'])
    expect(answer.body.toString()).not.toContain('agw_')
    expect(edge.upstream.requests.length).toBe(before)
  })

  it('is never a permit, which whoever holds it may execute', async () => {
    const actions = await createActionsClient(edge, edge.url)
    const { permit } = await actions.prepare()
    const before = edge.upstream.requests.length
    const inHeader = await edge.send(`${edge.merchant}/v1`, { headers: [['X-Permit', permit]] })
    expect([inHeader.status, inHeader.problem.code]).toEqual([400, 'header_forbidden'])
    const headers: [string, string][] = [['Content-Type', 'application/json']]
    for (const sent of [
      await edge.send(`${edge.merchant}/v1?permit=${permit}`),
      await edge.send(`${edge.merchant}/v1`, { headers, body: JSON.stringify({ permit }) }),
      await edge.send(`${edge.merchant}/v1`, {
        headers: [...headers, ['Content-Encoding', 'gzip']],
        body: gzipSync(JSON.stringify({ permit })),
      }),
    ]) {
      expect([sent.status, sent.problem.code]).toEqual([403, 'transaction_blocked'])
      expect(sent.problem.findings[0].rule).toMatch(/^SECRET_IN_(?:URL|BODY)$/)
      expect(sent.body.toString()).not.toContain(permit.slice(0, 40))
    }
    expect(edge.upstream.requests.length).toBe(before)
    expect((await actions.execute(permit)).status).toBe(200)
  })

  it('is nothing that policy blocks, and the findings say why', async () => {
    const before = edge.upstream.requests.length
    const balance = await edge.balance()
    const answer = await edge.send(`${edge.merchant}/v1`, {
      headers: [['Content-Type', 'application/json']],
      body: '{"amount":1,"amount":1000}',
    })
    expect([answer.status, answer.problem.code]).toEqual([403, 'transaction_blocked'])
    expect(answer.problem.findings).toEqual([
      { rule: 'DETECT-CONFLICT', detail: expect.stringContaining('once') },
    ])
    // The id of a request and the port of this gateway may hold any digits.
    const { request_id: _id, instance: _instance, type: _type, ...said } = answer.problem
    expect(JSON.stringify(said)).not.toContain('1000')
    expect(edge.upstream.requests.length).toBe(before)
    expect(await edge.balance()).toBe(balance)
  })

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('is never a %s', async (method) => {
    const before = edge.upstream.requests.length
    const answer = await edge.send(`${edge.merchant}/v1`, {
      method,
      headers: [
        ['Origin', 'http://localhost:3000'],
        ['Access-Control-Request-Method', 'POST'],
      ],
    })
    expect([answer.status, answer.header('allow'), answer.problem.code]).toEqual([
      405,
      'POST',
      'method_not_allowed',
    ])
    expect(answer.headers.filter(([name]) => name.startsWith('access-control'))).toEqual([])
    expect(edge.upstream.requests.length).toBe(before)
  })
})

describe('what comes back to the buyer', () => {
  it.each<[string, Buffer]>([
    ['every byte there is', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
    ['the largest answer', randomBytes(1024 * 1024)],
    ['nothing', Buffer.alloc(0)],
  ])('is %s, byte for byte', async (_, body) => {
    edge.upstream.respond(answerWith(200, { 'content-type': 'application/octet-stream' }, body))
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect(answer.status).toBe(200)
    expect(answer.body.equals(body)).toBe(true)
    expect(values(answer, 'content-length')).toEqual([String(body.length)])
  })

  it('is a compressed answer as it was compressed', async () => {
    const body = gzipSync('{"a":1}')
    edge.upstream.respond(
      answerWith(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body),
    )
    const answer = await edge.send(`${edge.merchant}/v1`, { headers: [['Accept-Encoding', 'gzip, br']] })
    expect(received('accept-encoding')).toEqual(['gzip, br'])
    expect([answer.header('content-encoding'), answer.body.equals(body)]).toEqual(['gzip', true])
  })

  it('is an answer of unknown length, counted, without its trailers', async () => {
    edge.upstream.respond((_request, res) => {
      res.writeHead(200, { trailer: 'x-t' })
      res.write('ab')
      res.addTrailers({ 'x-t': '1' })
      res.end('c')
    })
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.body.toString(), answer.header('content-length')]).toEqual(['abc', '3'])
    expect(answer.headers.map(([name]) => name)).not.toContain('x-t')
    expect(answer.header('transfer-encoding')).toBeUndefined()
  })

  it.each<[number, string]>([
    [201, 'x'],
    [303, ''],
    [400, 'x'],
    [404, 'x'],
    [409, 'x'],
    [429, 'x'],
    [500, 'x'],
    [503, 'x'],
    [599, 'x'],
  ])('is the status %i, charged', async (status, body) => {
    const balance = await edge.balance()
    edge.upstream.respond(answerWith(status, {}, body))
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.body.toString()]).toEqual([status, body])
    expect(answer.header('x-gateway-attempt')).toMatch(/^att_/)
    expect(await edge.balance()).toBe(balance - 1)
  })

  it.each([204, 304])('is the status %i without body and length', async (status) => {
    edge.upstream.respond(answerWith(status, { 'x-a': '1' }))
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.header('x-a')]).toEqual([status, '1'])
    expect(answer.header('content-length')).toBeUndefined()
    expect(answer.header('transfer-encoding')).toBeUndefined()
  })

  it('is the last answer, not what came before it', async () => {
    edge.upstream.respond((_request, res) => {
      res.writeProcessing()
      res.writeEarlyHints({ link: '</x>; rel=preload' })
      res.writeHead(200).end('done')
    })
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.header('link'), answer.body.toString()]).toEqual([200, undefined, 'done'])
  })

  it.each<[string, Respond, string]>([
    ['is larger than 1 MiB', answerWith(200, {}, randomBytes(1024 * 1024 + 1)), 'response_too_large'],
    ['is a part', answerWith(206, { 'content-range': 'bytes 0-0/2' }, 'x'), 'response_unacceptable'],
  ])('is a refusal with a receipt where the answer %s', async (_, respond, code) => {
    const balance = await edge.balance()
    edge.upstream.respond(respond)
    const answer = await edge.send(`${edge.merchant}/v1`, { headers: [['Idempotency-Key', 'mine']] })
    expect([answer.status, answer.problem.code, answer.problem.idempotency_key]).toEqual([502, code, 'mine'])
    expect(answer.problem.receipt.url).toContain('/v1/receipts/rcp_')
    expect(answer.header('x-gateway-attempt')).toBeUndefined()
    expect(await edge.balance()).toBe(balance - 1)
  })

  it('keeps the headers of payments apart and leaves out what is for the origin of the gateway', async () => {
    edge.upstream.respond(
      answerWith(
        402,
        {
          'payment-required': 'eyJ4NDAyVmVyc2lvbiI6Mn0=',
          'www-authenticate': ['Payment id="a", realm="shop"', 'Bearer'],
          'content-type': 'application/problem+json',
          'set-cookie': ['a=1', 'b=2'],
          'strict-transport-security': 'max-age=1',
          'clear-site-data': '"*"',
          'x-gateway-attempt': 'att_forged',
          'x-gateway-receipt': 'forged',
          X_Gateway_Receipt: 'forged',
          'x-GATEWAY_evidence': 'forged',
          'X.Gateway.Attempt': 'forged',
          location: '/v1/credits/purchase',
        },
        '{"price":"1"}',
      ),
    )
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.body.toString()]).toEqual([402, '{"price":"1"}'])
    expect(values(answer, 'payment-required')).toEqual(['eyJ4NDAyVmVyc2lvbiI6Mn0='])
    expect(values(answer, 'www-authenticate')).toEqual(['Payment id="a", realm="shop"', 'Bearer'])
    expect(values(answer, 'location')).toEqual([edge.url('/v1/credits/purchase')])
    for (const name of ['set-cookie', 'strict-transport-security', 'clear-site-data'])
      expect(values(answer, name)).toEqual([])
    expect(values(answer, 'x-gateway-attempt')).toEqual([expect.not.stringContaining('forged')])
    expect(values(answer, 'x-gateway-receipt')).toEqual([expect.not.stringContaining('forged')])
    expect(answer.headers.flat()).not.toContain('forged')
  })

  it('lets a page of the merchant do nothing in the name of the gateway', async () => {
    edge.upstream.respond(
      answerWith(
        200,
        { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'" },
        '<script>',
      ),
    )
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect(values(answer, 'content-security-policy')).toEqual(["default-src 'self'", 'sandbox'])
    expect(values(answer, 'x-content-type-options')).toEqual(['nosniff'])
    expect(values(answer, 'via')).toEqual([`1.1 ${EDGE_NAME}`])
    expect(answer.header('x-request-id')).toMatch(/^req_/)
  })
})

describe('what it leaves behind', () => {
  it('is a receipt and evidence that anybody can verify, and that name the same attempt', async () => {
    const payTo = '0xde709f2102306220921060314715629080e2fb77'
    const payment = {
      x402Version: 2,
      accepted: {
        scheme: 'exact',
        network: 'eip155:84532',
        amount: '25000',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        payTo,
      },
      payload: {
        signature: `0x${'2c81f0'.repeat(21)}1b1b`,
        authorization: {
          from: '0x27b1fdb04752bbc536007a920d24acb045561c26',
          to: payTo,
          value: '25000',
          validAfter: '0',
          validBefore: String(Math.floor(Date.now() / 1000) + 60),
          nonce: `0x${'7c1d4a9e03b85f62'.repeat(4)}`,
        },
      },
    }
    const answer = await edge.send(`${edge.merchant}/v1`, {
      headers: [['Payment-Signature', Buffer.from(JSON.stringify(payment)).toString('base64')]],
    })
    const keys = (await edge.rest('GET', '/.well-known/gateway-egress-key.json')).body
    const receipt = await verifyJws(answer.header('x-gateway-receipt')!, keys, 'gw-receipt+jws')
    const evidence = await verifyJws(answer.header('x-gateway-evidence')!, keys, 'gw-evidence+jws')
    // The merchant's own headers need room as well in the 4 KiB that a proxy reads by default.
    const ours = answer.headers.filter(([name]) => name.startsWith('x-gateway-'))
    expect(ours.map(([name, value]) => `${name}: ${value}\r\n`).join('').length).toBeLessThan(3200)
    if (!receipt.ok || !evidence.ok) throw new Error('not signed by this gateway')
    expect(receipt.payload).toMatchObject({
      action: 'edge.forward',
      attempt_id: answer.header('x-gateway-attempt'),
      state: 'settled',
      outcome: 'delivered',
      charge: { amount: 1, unit: 'credit' },
    })
    expect(evidence.payload).toMatchObject({
      tool: 'gateway.edge.forward',
      request_id: answer.header('x-request-id'),
      attempt_id: answer.header('x-gateway-attempt'),
      receipt_id: receipt.payload['jti'],
      request_digest: (receipt.payload['request'] as { digest: string }).digest,
      response_digest: (receipt.payload['response'] as { digest: string }).digest,
      method: 'POST',
      host: UPSTREAM_HOST,
      consent: { gw: EDGE_NAME, acct: /acct=(\w+)/.exec(edge.record)![1] },
      // Nobody wrote a policy, so there is no cap.
      inspection: { verdict: 'noted', protocols: ['x402'], findings: ['POLICY_AMOUNT_CAP_UNSET'] },
      address_class: 'opened_private',
      upstream_status: 200,
      idempotency_key_added: true,
      response_bytes: answer.body.length,
      response_content_digest: `sha-256=:${hash('sha256', answer.body, 'base64')}:`,
    })
    const stored = await fetch(answer.header('x-gateway-receipt-url')!, {
      headers: { accept: 'application/json' },
    })
    expect(JSON.stringify(await stored.json())).toContain(answer.header('x-gateway-receipt'))
    for (const name of ['x-gateway-receipt', 'x-gateway-evidence'])
      expect(Buffer.from(answer.header(name)!.split('.')[1]!, 'base64url').toString()).not.toContain('acct_')
  })

  it('is an attempt of its own kind, which the merchant can look up', async () => {
    const answer = await edge.send(`${edge.merchant}/v1`)
    const id = answer.header('x-gateway-attempt')
    expect((await edge.rest('GET', `/v1/egress/attempts/${id}`)).body).toMatchObject({
      kind: 'edge',
      state: 'settled',
      host: UPSTREAM_HOST,
      capability_id: null,
      credential_id: null,
      permit_id: null,
      idempotency_key: answer.header('x-gateway-idempotency-key'),
    })
    expect(received('idempotency-key')).toEqual([answer.header('x-gateway-idempotency-key')])
  })

  it('is another Idempotency-Key for each call without one, and none beside the buyer\u2019s', async () => {
    const keys = []
    for (let call = 0; call < 2; call++)
      keys.push((await edge.send(`${edge.merchant}/v1`)).header('x-gateway-idempotency-key'))
    expect(new Set(keys).size).toBe(2)
    const answer = await edge.send(`${edge.merchant}/v1`, { headers: [['IDEMPOTENCY-KEY', 'mine']] })
    expect(answer.header('x-gateway-idempotency-key')).toBeUndefined()
    expect(received('idempotency-key')).toEqual(['mine'])
  })

  it('is one line in the log, with nothing of the transaction in it', async () => {
    const before = edge.log().length
    edge.upstream.respond(answerWith(200, { 'x-answer': 'canary-4' }, 'canary-5'))
    await edge.send(`${edge.merchant}/canary-1?a=canary-2`, {
      headers: [['X-A', 'canary-3']],
      body: 'canary-6',
    })
    await edge.send(`${edge.merchant}/canary-1?a=canary-2`, {
      headers: [['Content-Type', 'application/json']],
      body: '{"canary-6":1,"canary-6":2}',
    })
    const lines = edge.log().slice(before).trim().split('\n')
    expect(lines.join()).not.toContain('canary')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { tool: 'gateway.edge.forward', code: 'ok', caller: 'anonymous' },
      { tool: 'gateway.edge.forward', code: 'transaction_blocked', reason: 'DETECT-CONFLICT' },
    ])
  })
})
