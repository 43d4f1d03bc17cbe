import { hash, randomBytes } from 'node:crypto'
import { type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { zipMember } from '../support/zip-member.ts'

const SECRET = 'sk-proj-b7Qx4LmR9vTz2KpW8nYcEu5J'

describe('a base URL behind the gateway', () => {
  let gw: TestGateway
  let capability: string
  let credentialId: string
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
    ;({ capability, credentialId } = await gw.grant({ secret: SECRET, credential: credential() }))
  })
  afterAll(() => gw.close())
  beforeEach(() =>
    gw.upstream.respond((_request, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b', 'x-upstream': 'yes' })
        .end('{"ok":true}'),
    ),
  )

  const credential = (more: Record<string, unknown> = {}) => ({
    label: 'My API',
    hosts: [`${UPSTREAM_HOST}:${gw.upstream.port}`],
    path_prefixes: ['/v1'],
    ...more,
  })
  const via = (path: string, init: RequestInit = {}, token = capability) =>
    fetch(`${gw.baseUrl}/via/my-api${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    })
  const last = () => gw.upstream.requests.at(-1)!
  const sent = (name: string) =>
    last()
      .headers.filter(([header]) => header === name)
      .map(([, value]) => value)
  const attempt = async (id: string | null) => (await gw.rest('GET', `/v1/egress/attempts/${id}`)).body
  async function receiptOf(id: string | null) {
    const record = await ended(id)
    const { jws } = (await gw.rest('GET', `/v1/receipts/${record.receipt_id}`, undefined, '')).body
    const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')).body
    const verdict = await verifyJws(jws, jwks, JWS_TYPES.receipt)
    if (!verdict.ok) throw new Error('the receipt does not verify')
    return { record, payload: verdict.payload as Record<string, unknown> }
  }
  async function ended(id: string | null) {
    for (;;) {
      const record = await attempt(id)
      if (record.state !== 'sending') return record
      await sleep(10)
    }
  }

  it.each([
    ['/v1/next?page=2#top', '/via/my-api/v1/next?page=2'],
    ['next', '/via/my-api/v1/next'],
    ['../../../other/v1/pay?amount=1', '/via/my-api/other/v1/pay?amount=1'],
    ['/via/other/v1/pay', '/via/my-api/via/other/v1/pay'],
    ['https:/via/other/v1/pay', '/via/my-api/via/other/v1/pay'],
    ['/\\x/y', undefined],
    ['http://GATEWAY/via/other/v1/pay', null],
    ['//GATEWAY/via/other/v1/pay', null],
    ['http:/via/other/v1/pay', 'http://via/other/v1/pay'],
    ['https://elsewhere.example.com/x', 'https://elsewhere.example.com/x'],
  ])('leads a redirect to %s nowhere else at the gateway', async (location, expected) => {
    const { host } = new URL(gw.baseUrl)
    gw.upstream.respond((_request, res) =>
      res.writeHead(307, { location: location.replace('GATEWAY', host) }).end(),
    )
    const { headers, url } = await via('/v1/things', { method: 'POST', redirect: 'manual' })
    const given = headers.get('location')
    if (expected === null) return expect(given).toBeNull()
    const { origin, pathname, search, href } = new URL(given!, url)
    if (origin !== new URL(gw.baseUrl).origin) return expect(href).toBe(expected ?? 'https://x/y')
    expect(pathname + search).toBe(expected)
    // The same place as the upstream means, by whatever address a program knows it.
    const direct = 'https://api.example.com/v1/things'
    expect(new URL(given!, direct).pathname).toBe(new URL(location, direct).pathname)
  })

  it.each<[string, Record<string, string>]>([
    ['x-api-key', { 'x-api-key': 'TOKEN' }],
    ['api-key', { 'api-key': 'TOKEN' }],
    ['private-token', { 'private-token': 'TOKEN' }],
    ['X-Gateway-Capability', { 'x-gateway-capability': 'TOKEN' }],
    ['a header beside Authorization', { authorization: 'Bearer TOKEN', 'x-api-key': 'TOKEN' }],
  ])('passes no redirect to elsewhere on where the capability came in %s', async (_, given) => {
    const headers = JSON.parse(JSON.stringify(given).replaceAll('TOKEN', capability)) as Record<
      string,
      string
    >
    for (const [location, named] of [
      ['https://elsewhere.example.com/steal?a=1', 'https://elsewhere.example.com.'],
      ['//elsewhere.example.com/steal', 'https://elsewhere.example.com.'],
      ['/\\elsewhere.example.com/steal', 'https://elsewhere.example.com.'],
      [`http://${UPSTREAM_HOST}/v1/things`, `http://${UPSTREAM_HOST}.`],
      ['other:steal', 'other:.'],
    ] as const) {
      gw.upstream.respond((_request, res) => res.writeHead(307, { location }).end())
      const answer = await fetch(`${gw.baseUrl}/via/my-api/v1/things`, { headers, redirect: 'manual' })
      const problem = await answer.json()
      expect(answer.status).toBe(502)
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(problem).toMatchObject({ code: 'response_unacceptable', upstream_status: 307 })
      expect(problem.detail).toContain(`redirects to ${named}`)
      expect(problem.detail).not.toContain('steal')
      expect(await attempt(problem.attempt_id)).toMatchObject({
        state: 'settled',
        outcome: 'response_redirect',
        upstream_status: 307,
      })
    }
  })

  it('says nothing of a redirect whose address holds the secret', async () => {
    const location = `https://${Buffer.from(SECRET).toString('hex').slice(0, 60)}.example.com/${SECRET}`
    gw.upstream.respond((_request, res) => res.writeHead(307, { location }).end())
    const answer = await fetch(`${gw.baseUrl}/via/my-api/v1/things`, {
      headers: { 'x-api-key': capability },
      redirect: 'manual',
    })
    const problem = await answer.json()
    expect(problem).toMatchObject({ code: 'secret_reflected' })
    expect(problem.detail).not.toContain('example.com')
  })

  it('gives no repeat under a key a redirect that its own headers would hand the capability to', async () => {
    gw.upstream.respond((_request, res) =>
      res.writeHead(303, { location: 'https://elsewhere.example.com/x' }).end(),
    )
    const ask = (headers: Record<string, string>) =>
      fetch(`${gw.baseUrl}/via/my-api/v1/things`, {
        method: 'POST',
        body: '{}',
        headers: { ...headers, 'idempotency-key': 'redirected' },
        redirect: 'manual',
      })
    const first = await ask({ authorization: `Bearer ${capability}` })
    expect([first.status, first.headers.get('location')]).toEqual([303, 'https://elsewhere.example.com/x'])
    const again = await ask({ 'x-api-key': capability })
    expect([again.status, again.headers.get('location')]).toEqual([502, null])
    expect(await again.json()).toMatchObject({ code: 'response_unacceptable', upstream_status: 303 })
  })

  it('has a library that follows a redirect of the upstream to itself ask with the credential again', async () => {
    const own = `https://${UPSTREAM_HOST}:${gw.upstream.port}`
    gw.upstream.respond((request, res) =>
      request.target === '/v1/moved?a=1'
        ? res.writeHead(200).end('moved')
        : res.writeHead(307, { location: `${own}/v1/moved?a=1` }).end(),
    )
    for (const headers of [{ 'x-api-key': capability }, { authorization: `Bearer ${capability}` }]) {
      const answer = await fetch(`${gw.baseUrl}/via/my-api/v1/things/1`, { headers: headers as HeadersInit })
      expect([answer.status, await answer.text()]).toEqual([200, 'moved'])
      expect(sent('authorization')).toEqual([`Bearer ${SECRET}`])
    }
  })

  it.each([
    ['/v1/moved?a=1', '</v1/things?page=2>; rel="next"'],
    ["https://UPSTREAM/v1/moved?a=it's#b", '<https://UPSTREAM/v1/things?page=2>; rel="next"'],
    ["//elsewhere.example.com/it's", '<../things?page=2> ; rel=next,</x>'],
    ['https://GATEWAY/via/other', 'no link'],
  ])('tells a program of `run` where it is led as the upstream says it: %s', async (...said) => {
    const [location = '', link = ''] = said.map((text) =>
      text
        .replace('UPSTREAM', `${UPSTREAM_HOST}:${gw.upstream.port}`)
        .replace('GATEWAY', new URL(gw.baseUrl).host),
    )
    gw.upstream.respond((_request, res) => res.writeHead(307, { location, link }).end())
    const { status, headers } = await via('/v1/things/1', {
      redirect: 'manual',
      headers: { 'x-gateway-capability': capability, 'x-gateway-for-proxy': '1' },
    })
    expect([status, headers.get('location'), headers.get('link')]).toEqual([307, location, link])
  })

  it('leads an address of the upstream behind the base URL, as libraries turn pages and upload by addresses', async () => {
    const own = `https://${UPSTREAM_HOST}:${gw.upstream.port}`
    gw.upstream.respond((_request, res) =>
      res
        .writeHead(200, {
          // As where an upload begins.
          location: `${own}/v1/upload?id=1`,
          link: `<${own}/v1/things?page=2>; rel="next", <https://elsewhere.example.com/docs>; rel="help"`,
        })
        .end('[]'),
    )
    const { port } = new URL(gw.baseUrl)
    for (const base of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
      const { headers } = await fetch(`${base}/via/my-api/v1/things`, {
        headers: { authorization: `Bearer ${capability}` },
      })
      expect(headers.get('link')).toBe(
        `<${base}/via/my-api/v1/things?page=2>; rel="next", <https://elsewhere.example.com/docs>; rel="help"`,
      )
      expect(headers.get('location')).toBe(`${base}/via/my-api/v1/upload?id=1`)
    }
  })

  it('hands no order of an upstream on to a web server before the gateway', async () => {
    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'x-accel-redirect': '/via/my-api/v1/other', 'x-upstream': 'yes' }).end('ok'),
    )
    const { headers } = await via('/v1/things')
    expect([headers.get('x-upstream'), headers.get('x-accel-redirect')]).toEqual(['yes', null])
  })

  it.each([
    ['</v1/things?page=2>; rel="next"', ['/via/my-api/v1/things?page=2']],
    [
      '</v1/things?page=2>; rel="next", <../one>; rel=up; title="a, \\"<b>\\""',
      ['/via/my-api/v1/things?page=2', '/via/my-api/one'],
    ],
    ['<http://GATEWAY/via/other/v1/pay>; rel="next", </v1/x>;rel="last"', ['/via/my-api/v1/x']],
    ['<http://GATEWAY/via/other/v1/pay>; rel="next"', null],
    ['no link', null],
  ])('leads a link to %s nowhere else at the gateway', async (link, expected) => {
    const { host, origin } = new URL(gw.baseUrl)
    gw.upstream.respond((_request, res) => res.writeHead(200, { link: link.replace('GATEWAY', host) }).end())
    const { headers, url } = await via('/v1/things')
    const given = headers.get('link')
    if (expected === null) return expect(given).toBeNull()
    const led = [...given!.matchAll(/<([^>]*)>; ?rel/g)].map(([, to]) => new URL(to!, url))
    expect(led.map(({ href }) => href)).toEqual(expected.map((path) => origin + path))
    // What is said of a link stays.
    expect(given).toMatch(/^<[^>]*>; ?rel="(?:next|last)"/)
  })

  it('passes a request with the secret in the place of the capability, and its answer as it came', async () => {
    const before = await gw.balance()
    const answer = await via('/v1/things?limit=1', {
      method: 'POST',
      body: '{"a":1}',
      headers: {
        'x-own': 'kept',
        'x-api-key': 'sk-of-the-program',
        'content-type': 'application/json',
        cookie: 'a=b',
      },
    })
    expect(await answer.json()).toEqual({ ok: true })
    expect(last()).toMatchObject({ method: 'POST', target: '/v1/things?limit=1' })
    expect(last().body.toString()).toBe('{"a":1}')
    expect(sent('authorization')).toEqual([`Bearer ${SECRET}`])
    expect(sent('x-own')).toEqual(['kept'])
    expect(sent('accept-encoding')).toEqual(['identity'])
    for (const name of ['x-api-key', 'cookie', 'idempotency-key', 'x-forwarded-for'])
      expect(sent(name)).toEqual([])
    expect(JSON.stringify(last().headers)).not.toContain('agw_')

    expect(answer.headers.get('x-upstream')).toBe('yes')
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    expect(await gw.balance()).toBe(before - 1)
    const { record, payload } = await receiptOf(answer.headers.get('x-gateway-attempt'))
    expect(record).toMatchObject({ state: 'settled', outcome: 'delivered', upstream_status: 200 })
    expect(payload).toMatchObject({
      response: { leak_gate: 'clean', status: 200 },
      stream: { kind: 'bytes', bytes_in: 7, bytes_out: 11, end: 'complete' },
    })
  })

  it.each([
    ['Authorization', (token: string) => ({ authorization: `Bearer ${token}` })],
    ['Basic', (token: string) => ({ authorization: `Basic ${btoa(`agent:${token}`)}` })],
    ['a header for keys', (token: string) => ({ authorization: '', 'x-api-key': token })],
  ])('takes X-Gateway-Capability alone where it is there, whatever token is in %s', async (_, other) => {
    const asked = async (own: string, beside: string) =>
      (await via('/v1/things', { headers: { ...other(beside), 'x-gateway-capability': own } })).status
    // Each has its own rules: that of the header binds.
    const { body } = await gw.rest('POST', '/v1/egress/capabilities', {
      credential_id: credentialId,
      rules: [`allow GET ${UPSTREAM_HOST}:${gw.upstream.port}/v1/others`],
    })
    const before = gw.upstream.requests.length
    expect([await asked(body.capability, capability), await asked(newToken('cap'), capability)]).toEqual([
      403, 401,
    ])
    expect(gw.upstream.requests.length).toBe(before)
    expect(await asked(capability, newToken('cap'))).toBe(200)
    expect(JSON.stringify(last().headers)).not.toContain('agw_')
  })

  it('asks whoever has no capability for one, as a bearer or as a Basic password', async () => {
    const refused = await fetch(`${gw.baseUrl}/via/my-api/v1/things`)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="agent-gateway", Basic realm="agent-gateway"',
    ])
  })

  it('passes events as they come, and has a receipt of all of them when it ends well', async () => {
    const go = Promise.withResolvers<void>()
    gw.upstream.respond(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: one\n\n')
      await go.promise
      res.end('data: two\n\ndata: [DONE]\n\n')
    })
    const answer = await via('/v1/stream')
    const reader = answer.body!.getReader()
    expect(text(await reader.read())).toBe('data: one\n\n')
    // For a proxy in front that would hold events back.
    expect(answer.headers.get('x-accel-buffering')).toBe('no')
    const id = answer.headers.get('x-gateway-attempt')
    expect(await attempt(id)).toMatchObject({ state: 'sending' })
    go.resolve()
    expect(text(await reader.read())).toBe('data: two\n\ndata: [DONE]\n\n')
    expect((await reader.read()).done).toBe(true)
    expect(await attempt(id)).toMatchObject({ state: 'settled' })
    const { payload } = await receiptOf(id)
    expect(payload['stream']).toMatchObject({ kind: 'sse', events: 3, bytes_out: 36, end: 'complete' })
  })

  it('breaks a stream off at a reflected secret, with nothing of it out', async () => {
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: one\n\n')
      setTimeout(() => res.write(`data: ${SECRET.slice(0, 12)}`), 20)
      setTimeout(() => res.end(`${SECRET.slice(12)}\n\n`), 40)
    })
    const answer = await via('/v1/stream')
    const { received, isWhole } = await drain(answer)
    expect(isWhole).toBe(false)
    expect(received).toContain('data: one\n\nevent: error\n')
    expect(received).not.toContain(SECRET.slice(0, 8))
    const { record, payload } = await receiptOf(answer.headers.get('x-gateway-attempt'))
    expect(record.outcome).toBe('secret_reflected')
    expect(payload).toMatchObject({
      response: { leak_gate: 'reflected' },
      stream: { end: 'reflected', events: 1 },
    })
  })

  it.each([
    [
      'of a known length',
      (res: ServerResponse, text: string) => res.setHeader('content-length', text.length).end(text),
    ],
    ['in chunks', (res: ServerResponse, text: string) => res.end(text)],
    [
      'compressed although identity was asked for',
      (res: ServerResponse, text: string) => res.setHeader('content-encoding', 'gzip').end(gzipSync(text)),
    ],
  ])('refuses a short answer %s with the secret in it, as a whole', async (_how, answerWith) => {
    gw.upstream.respond((_request, res) => answerWith(res, `{"key":"${SECRET}"}`))
    const answer = await via('/v1/things')
    expect(answer.status).toBe(502)
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(answer.headers.get('stripe-should-retry')).toBe('false')
    const body = await answer.json()
    expect(body).toMatchObject({ code: 'secret_reflected' })
    expect(JSON.stringify(body)).not.toContain(SECRET)
  })

  it('passes a long archive on that unpacks to more than is ever searched', async () => {
    const block = () => Buffer.concat([randomBytes(1024), Buffer.alloc(31 * 1024, 'all is well ')])
    const file = zipMember(Buffer.concat(Array.from({ length: 1400 }, block)))
    expect(file.length).toBeGreaterThan(1024 * 1024)
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'application/zip' }).end(file)
    })
    const answer = await via('/v1/things')
    expect(answer.status).toBe(200)
    expect(file.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true)
  })

  it.each<[string, (content: Buffer) => Buffer, { delay?: number; begins?: number }]>([
    ['gzip that comes at once', gzipSync, {}],
    ['gzip that comes after its head', gzipSync, { delay: 120 }],
    ['gzip of which a byte comes before the rest', gzipSync, { begins: 1 }],
    ['zstd of which three bytes come before the rest', zstdCompressSync, { begins: 3 }],
    ['zip', zipMember, {}],
    ['zip of which three bytes come before the rest', zipMember, { begins: 3 }],
  ])(
    'finds the secret in a packed file of no known length: %s',
    async (_what, pack, { delay = 0, begins }) => {
      // What does not pack fills the windows before the secret, and what does keeps it from standing there as it is.
      const file = pack(
        Buffer.concat([randomBytes(60_000), Buffer.alloc(60_000, 'ok '), Buffer.from(`key=${SECRET}`)]),
      )
      gw.upstream.respond(async (_request, res) => {
        res.writeHead(200, { 'content-type': 'application/octet-stream' }).flushHeaders()
        await sleep(delay)
        if (begins !== undefined) {
          res.write(file.subarray(0, begins))
          await sleep(120)
        }
        for (let at = begins ?? 0; at < file.length; at += 10_000) {
          res.write(file.subarray(at, at + 10_000))
          await sleep(5)
        }
        res.end()
      })
      const answer = await via('/v1/archive')
      const { received, isWhole } = answer.ok ? await drain(answer) : { received: '', isWhole: false }
      expect([received.length, isWhole]).toEqual([0, false])
      expect(
        (await ended(answer.headers.get('x-gateway-attempt') ?? (await answer.json()).attempt_id)).outcome,
      ).toBe('secret_reflected')
    },
  )

  it('decodes an answer that is compressed although identity was asked for', async () => {
    gw.upstream.respond((_request, res) =>
      res
        .writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
        .end(gzipSync('all is well')),
    )
    const answer = await via('/v1/things')
    expect(answer.headers.get('content-encoding')).toBeNull()
    expect(await answer.text()).toBe('all is well')
  })

  it.each([
    ['packed', gzipSync('all is well'), { 'content-encoding': 'gzip' }],
    ['plain', Buffer.from('all is well'), {}],
  ])(
    'passes checksums and the length of a HEAD on of bytes that it passes on: %s',
    async (how, body, coding) => {
      const checksums = {
        'content-md5': hash('md5', body, 'base64'),
        'content-digest': `sha-256=:${hash('sha256', body, 'base64')}:`,
        'x-amz-checksum-sha256': hash('sha256', body, 'base64'),
      }
      const others = { etag: `"${hash('md5', body)}"`, 'x-amz-meta-checksum': 'own' }
      gw.upstream.respond((_request, res) =>
        res.writeHead(200, { ...others, ...checksums, ...coding, 'content-length': body.length }).end(body),
      )
      const init = { method: 'HEAD', headers: { 'idempotency-key': `head-${how}` } }
      const answers = [await via('/v1/object'), await via('/v1/object', init), await via('/v1/object', init)]
      expect(await answers[0]!.text()).toBe('all is well')
      for (const { headers } of answers) {
        for (const [name, value] of Object.entries(checksums))
          expect(headers.get(name)).toBe(how === 'packed' ? null : value)
        expect(Object.fromEntries(headers)).toMatchObject(others)
      }
      const length = String('all is well'.length)
      const ofHead = how === 'packed' ? null : length
      expect(answers.map(({ headers }) => headers.get('content-length'))).toEqual([length, ofHead, ofHead])
    },
  )

  it('tells a reset in the middle of a stream from its end, and says that the outcome is not known', async () => {
    gw.upstream.respond((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: one\n\n', () => setTimeout(() => res.destroy(), 20))
    })
    const answer = await via('/v1/stream')
    const { received, isWhole } = await drain(answer)
    expect(isWhole).toBe(false)
    expect(received).toContain('"code":"upstream_reset"')
    const { record, payload } = await receiptOf(answer.headers.get('x-gateway-attempt'))
    expect(record).toMatchObject({ state: 'ambiguous', credits_charged: 1 })
    expect(payload['stream']).toMatchObject({ end: 'upstream_reset' })
  })

  it.each([
    ['in chunks', (_res: ServerResponse) => {}],
    ['that ends with its connection', (res: ServerResponse) => res.removeHeader('transfer-encoding')],
  ])('stops the upstream of an answer %s when the program goes away', async (_how, frame) => {
    const closed = Promise.withResolvers<void>()
    const defects: unknown[] = []
    const note = (thrown: unknown) => void defects.push(thrown)
    process.on('uncaughtException', note)
    onTestFinished(() => void process.off('uncaughtException', note))
    gw.upstream.respond((_request, res) => {
      res.on('close', () => closed.resolve())
      res.setHeader('content-type', 'text/event-stream')
      frame(res)
      res.write('data: one\n\n')
    })
    const leaving = new AbortController()
    const answer = await via('/v1/stream', { signal: leaving.signal })
    await answer.body!.getReader().read()
    leaving.abort()
    await closed.promise
    const { record, payload } = await receiptOf(answer.headers.get('x-gateway-attempt'))
    expect(record).toMatchObject({ state: 'settled', outcome: 'client_closed' })
    expect(payload['stream']).toMatchObject({ end: 'client_closed', events: 1 })
    expect(defects).toEqual([])
  })

  it('sends a long body while it comes, and says in the receipt what was sent', async () => {
    const body = Buffer.alloc(5_000_000, 'abcdefghij')
    const answer = await via('/v1/upload', { method: 'PUT', body })
    expect(answer.status).toBe(200)
    expect(last().body.equals(body)).toBe(true)
    const { payload } = await receiptOf(answer.headers.get('x-gateway-attempt'))
    expect(payload['stream']).toMatchObject({
      bytes_in: body.length,
      request_digest: expect.stringMatching(/^sha-256=:/),
    })
  })

  it('passes a large answer with its length', async () => {
    const body = Buffer.alloc(3_000_000, 'all is well. ')
    gw.upstream.respond((_request, res) => res.setHeader('content-length', body.length).end(body))
    const answer = await via('/v1/file')
    expect(answer.headers.get('content-length')).toBe(String(body.length))
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true)
    const { payload } = await receiptOf(answer.headers.get('x-gateway-attempt'))
    expect(payload['stream']).toMatchObject({ bytes_out: body.length, end: 'complete' })
  })

  it.each([
    ['a bearer token', { authorization: 'Bearer CAP' }],
    ['x-api-key', { 'x-api-key': 'CAP' }],
    ['api-key', { 'api-key': 'CAP' }],
    ['x-goog-api-key', { 'x-goog-api-key': 'CAP' }],
    ['a password', { authorization: 'Basic PAIR' }],
    ['a user name without a password', { authorization: 'Basic USER' }],
  ])('takes the capability where an SDK puts its key: %s', async (_where, headers) => {
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        value
          .replace('CAP', capability)
          .replace('PAIR', Buffer.from(`x:${capability}`).toString('base64'))
          .replace('USER', Buffer.from(`${capability}:`).toString('base64')),
      ]),
    )
    const answer = await fetch(`${gw.baseUrl}/via/my-api/v1/things`, { headers: own })
    expect(answer.status).toBe(200)
    expect(sent('authorization')).toEqual([`Bearer ${SECRET}`])
    expect(JSON.stringify(last())).not.toContain('agw_')
  })

  it('takes the capability as the query parameter `key`, which does not go on', async () => {
    const answer = await fetch(`${gw.baseUrl}/via/my-api/v1/things?a=1&key=${capability}&b=2`)
    expect(answer.status).toBe(200)
    expect(last().target).toBe('/v1/things?a=1&b=2')
  })

  it('answers names that a capability does not open alike, whether there is such a credential or not', async () => {
    const other = await gw.grant({
      secret: 'another-secret-of-ours',
      credential: credential({ label: 'other' }),
    })
    const ask = async (name: string) => {
      const answer = await fetch(`${gw.baseUrl}/via/${name}/v1/x`, {
        headers: { authorization: `Bearer ${capability}` },
      })
      const { instance: _at, request_id: _id, ...said } = (await answer.json()) as Record<string, unknown>
      return { status: answer.status, ...said }
    }
    const none = await ask('nothing-of-this-name')
    expect(none).toMatchObject({ status: 404, code: 'not_found' })
    expect(await ask('other')).toEqual(none)
    expect(await ask(other.credentialId)).toEqual(none)
  })

  it.each([
    ['/v1/../admin', 400],
    ['/v1/%2e%2e/admin', 400],
    ['/v1/..%2fadmin', 400],
    ['/v1%2f..%2fadmin', 400],
    ['/v1//admin', 400],
    ['//evil.example/v1', 400],
    ['/v1\\..\\admin', 400],
    ['/v1/%252e%252e/admin', 400],
    ['/v1/;x=..', 400],
    ['@evil.example/v1', 400],
    ['/admin', 403],
    ['/v10', 403],
  ])('does not leave host and scope: %s', async (path, status) => {
    const seen = gw.upstream.requests.length
    const answer = await raw(gw.baseUrl, `/via/my-api${path}`, { authorization: `Bearer ${capability}` })
    expect([answer, gw.upstream.requests.length]).toEqual([path.startsWith('@') ? 404 : status, seen])
  })

  it.each([
    ['draws', 'sec-fetch-dest', 'document'],
    ['fetches', 'sec-fetch-site', 'cross-site'],
    ['fetches for its own pages', 'sec-fetch-site', 'same-origin'],
  ])('%s nothing from an upstream for a browser', async (_does, name, value) => {
    const seen = gw.upstream.requests.length
    const answer = await raw(gw.baseUrl, '/via/my-api/v1/page', {
      authorization: `Bearer ${capability}`,
      [name]: value,
    })
    expect([answer, gw.upstream.requests.length]).toEqual([403, seen])
  })

  it.each<[string, (token: string) => Record<string, string>, number]>([
    ['as a bearer token', (token) => ({ authorization: `Bearer ${token}` }), 200],
    ['alone in Authorization', (token) => ({ authorization: token }), 200],
    ['in X-Gateway-Capability', (token) => ({ 'x-gateway-capability': token }), 200],
    ['in the header of a library', (token) => ({ 'x-api-key': token }), 200],
    ['in Basic', (token) => ({ authorization: `Basic ${Buffer.from(`${token}:`).toString('base64')}` }), 403],
    ['nowhere', () => ({ authorization: 'Bearer sk-of-the-program' }), 403],
    [
      'in a header, under the name that a page made lead here',
      (token) => ({ host: 'evil.example', authorization: `Bearer ${token}` }),
      403,
    ],
    [
      'in a header, from a page of a browser',
      (token) => ({ authorization: `Bearer ${token}`, 'sec-fetch-site': 'cross-site' }),
      403,
    ],
  ])(
    'takes an Origin for that of a program, or not, by where the capability stands: %s',
    async (_where, headersFor, status) => {
      const seen = gw.upstream.requests.length
      const headers = { origin: 'https://api.openai.com', ...headersFor(capability) }
      expect(await raw(gw.baseUrl, '/via/my-api/v1/things', headers)).toBe(status)
      expect(gw.upstream.requests.length).toBe(seen + (status === 200 ? 1 : 0))
      if (status === 200) expect(sent('origin')).toEqual(['https://api.openai.com'])
    },
  )

  it('refuses a page that asks whether it may send a header, and one that has the capability in the address', async () => {
    const seen = gw.upstream.requests.length
    const preflight = await fetch(`${gw.baseUrl}/via/my-api/v1/things?key=${capability}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://api.openai.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(preflight.status).toBe(403)
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
    const headers = { origin: 'https://api.openai.com' }
    expect(await raw(gw.baseUrl, `/via/my-api/v1/things?key=${capability}`, headers)).toBe(403)
    expect(gw.upstream.requests.length).toBe(seen)
  })

  it('makes a repeat under the key of a program one attempt', async () => {
    const seen = gw.upstream.requests.length
    const init = {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'idempotency-key': 'order-1', 'content-type': 'application/json' },
    }
    const first = await via('/v1/orders', init)
    const again = await via('/v1/orders', {
      ...init,
      headers: { ...init.headers, 'x-stainless-retry-count': '1' },
    })
    expect(sent('idempotency-key')).toEqual(['order-1'])
    expect(await again.text()).toBe(await first.text())
    expect(again.headers.get('x-gateway-attempt')).toBe(first.headers.get('x-gateway-attempt'))
    expect(gw.upstream.requests.length).toBe(seen + 1)

    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: one\n\n'),
    )
    const streamed = { ...init, headers: { ...init.headers, 'idempotency-key': 'order-2' } }
    await (await via('/v1/orders', streamed)).text()
    const gone = await via('/v1/orders', streamed)
    expect(gone.status).toBe(409)
    expect(gone.headers.get('x-should-retry')).toBe('false')
    expect(await gone.json()).toMatchObject({
      code: 'idempotency_answer_gone',
      attempt_id: expect.stringMatching(/^att_/),
    })
    expect(gw.upstream.requests.length).toBe(seen + 2)
  })

  it.each([408, 409, 425, 429, 503])(
    'makes a repeat under the key of a program an attempt of its own where the upstream put it off: %i',
    async (status) => {
      const seen = gw.upstream.requests.length
      const init = { method: 'POST', body: '{"a":1}', headers: { 'idempotency-key': `put-off-${status}` } }
      gw.upstream.respond((_request, res) => res.writeHead(status, { 'retry-after': '1' }).end('later'))
      const first = await via('/v1/orders', init)
      expect([first.status, first.headers.get('retry-after'), await first.text()]).toEqual([
        status,
        '1',
        'later',
      ])
      gw.upstream.respond((_request, res) => res.writeHead(201).end('done'))
      // Both at once, as a library and its supervisor would: one of them goes out.
      const both = await Promise.all([via('/v1/orders', init), via('/v1/orders', init)])
      expect(gw.upstream.requests.length).toBe(seen + 2)
      expect(both.some((answer) => answer.status === 201)).toBe(true)
      const again = await via('/v1/orders', init)
      expect([again.status, again.headers.get('idempotent-replayed'), await again.text()]).toEqual([
        201,
        'true',
        'done',
      ])
      expect(sent('idempotency-key')).toEqual([`put-off-${status}`])
      expect(gw.upstream.requests.length).toBe(seen + 2)
    },
  )

  it('gives what an upstream failed with once more: nobody knows what it did before', async () => {
    const seen = gw.upstream.requests.length
    const init = { method: 'POST', body: '{}', headers: { 'idempotency-key': 'failed' } }
    gw.upstream.respond((_request, res) => res.writeHead(500).end('no'))
    const answers = [await via('/v1/orders', init), await via('/v1/orders', init)]
    expect(answers.map(({ status }) => status)).toEqual([500, 500])
    expect(gw.upstream.requests.length).toBe(seen + 1)
  })

  it('knows a repeat after the bounds of its credential were edited', async () => {
    const label = 'Edited API'
    const own = await gw.grant({ secret: SECRET, credential: credential({ label }) })
    const ask = () =>
      fetch(`${gw.baseUrl}/via/edited-api/v1/orders`, {
        method: 'POST',
        body: '{"a":1}',
        headers: { authorization: `Bearer ${own.capability}`, 'idempotency-key': 'once' },
      })
    const first = await ask()
    const settings = { relay: { max_response_bytes: 100_000_000 } }
    const edited = await gw.rest('POST', `/v1/egress/credentials/${own.credentialId}/edit`, { settings })
    expect(edited.status).toBe(200)
    const seen = gw.upstream.requests.length
    const again = await ask()
    expect([again.status, await again.text()]).toEqual([200, await first.text()])
    expect(gw.upstream.requests.length).toBe(seen)
  })

  it.each<
    [what: string, init: RequestInit, status: number, headers: OutgoingHttpHeaders, length: string | null]
  >([
    [
      'headers that repeat',
      { method: 'POST' },
      200,
      { 'set-cookie': ['a=1; Path=/', 'b=2'], link: '</x>' },
      '0',
    ],
    ['a HEAD', { method: 'HEAD' }, 200, { 'content-length': '1234' }, '1234'],
    ['a HEAD without a length', { method: 'HEAD' }, 200, { 'transfer-encoding': 'chunked' }, null],
    ['a 204', { method: 'POST' }, 204, { 'idempotent-replayed': 'false' }, null],
    ['a 304', {}, 304, { etag: '"a"' }, null],
  ])('answers a repeat as it answered the first: %s', async (what, init, status, headers, length) => {
    const { capability } = await gw.grant({
      secret: SECRET,
      credential: credential({ label: what, settings: { relay: { cookies: true } } }),
    })
    gw.upstream.respond((_request, res) => res.writeHead(status, headers).end())
    const seen = gw.upstream.requests.length
    const ask = async () => {
      const url = `${gw.baseUrl}/via/${what.toLowerCase().replaceAll(' ', '-')}/v1/orders`
      const answer = await fetch(url, {
        ...init,
        headers: { authorization: `Bearer ${capability}`, 'idempotency-key': 'once' },
      })
      const given = [...answer.headers].filter(([name]) => !/^(?:date|x-gateway-receipt)$/.test(name))
      return { status: answer.status, headers: given, said: answer.headers.get('content-length') }
    }
    const [first, again] = [await ask(), await ask()]
    expect(gw.upstream.requests.length).toBe(seen + 1)
    expect([first.status, first.said]).toEqual([status, length])
    const isOfReplay = ([name]: [string, string]) => name === 'idempotent-replayed'
    expect(again.headers.filter(isOfReplay)).toEqual([['idempotent-replayed', 'true']])
    expect({ ...again, headers: again.headers.filter((pair) => !isOfReplay(pair)) }).toEqual({
      ...first,
      headers: first.headers.filter((pair) => !isOfReplay(pair)),
    })
    expect(new Headers(first.headers).getSetCookie()).toHaveLength(headers['set-cookie'] ? 2 : 0)
  })

  it.each<[name: string, one: string | undefined, two: string | undefined]>([
    ['stripe-account', 'acct_A', 'acct_B'],
    ['xero-tenant-id', 'one', 'two'],
    ['openai-project', 'proj_1', undefined],
    ['x-unheard-of', undefined, 'two'],
  ])('takes no request with another %s for a repeat under the same key', async (name, one, two) => {
    const seen = gw.upstream.requests.length
    const order = (value: string | undefined, key: string) =>
      via('/v1/orders', {
        method: 'POST',
        body: '{"a":1}',
        headers: { 'idempotency-key': key, ...(value !== undefined && { [name]: value }) },
      })
    const first = await order(one, `of-${name}`)
    expect(first.status).toBe(200)
    const other = await order(two, `of-${name}`)
    expect([other.status, other.headers.get('x-should-retry')]).toEqual([422, 'false'])
    expect(await other.json()).toMatchObject({ code: 'idempotency_key_reused' })
    expect(gw.upstream.requests.length).toBe(seen + 1)

    const [ofFirst, ofOther] = await Promise.all([
      receiptOf(first.headers.get('x-gateway-attempt')),
      receiptOf((await order(two, `of-${name}-2`)).headers.get('x-gateway-attempt')),
    ])
    expect(ofOther.payload.request).not.toEqual(ofFirst.payload.request)
  })

  it('takes a request for a repeat whatever its library says of the try', async () => {
    const seen = gw.upstream.requests.length
    const order = (of: string) =>
      via('/v1/orders', {
        method: 'POST',
        body: '{"a":1}',
        headers: {
          'idempotency-key': 'order-4',
          'x-stainless-retry-count': of,
          'x-stripe-client-telemetry': of,
          'amz-sdk-request': `attempt=${of}`,
          'x-goog-api-client': `gccl-attempt-count/${of}`,
          'user-agent': of,
          'x-ms-date': of,
          'x-request-id': of,
          traceparent: of,
          baggage: `try=${of}`,
          'x-b3-spanid': of,
        },
      })
    const first = await order('1')
    const again = await order('2')
    expect([again.status, gw.upstream.requests.length]).toEqual([200, seen + 1])
    expect(again.headers.get('x-gateway-attempt')).toBe(first.headers.get('x-gateway-attempt'))
  })

  it('writes nothing down that a key can be guessed by', async () => {
    const digestUnder = async (key: string) => {
      const { headers } = await via('/v1/orders', { method: 'POST', headers: { 'idempotency-key': key } })
      return (await receiptOf(headers.get('x-gateway-attempt'))).payload.request
    }
    expect(await digestUnder('guess-1')).toEqual(await digestUnder('guess-2'))
  })

  it('takes no long body for the repeat of another under the same key', async () => {
    const seen = gw.upstream.requests.length
    const long = (filling: string) => ({
      method: 'POST',
      body: filling.repeat(300 * 1024),
      headers: { 'idempotency-key': 'order-3' },
    })
    expect((await via('/v1/orders', long('a'))).status).toBe(200)
    const other = await via('/v1/orders', long('b'))
    expect([other.status, other.headers.get('x-should-retry')]).toEqual([422, 'false'])
    expect(gw.upstream.requests.length).toBe(seen + 1)
  })

  it('refuses more than a capability may have under way at once, and says what to do', async () => {
    const go = Promise.withResolvers<void>()
    gw.upstream.respond(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: one\n\n')
      await go.promise
      res.end()
    })
    const open = await Promise.all(Array.from({ length: 32 }, () => via('/v1/stream')))
    const refused = await via('/v1/stream')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-should-retry')).toBeNull()
    go.resolve()
    await Promise.all(open.map((answer) => answer.text()))
    expect((await via('/v1/things')).status).toBe(200)
  })
})

const text = ({ value }: { value?: Uint8Array | undefined }) => Buffer.from(value ?? []).toString()

async function drain(answer: Response): Promise<{ received: string; isWhole: boolean }> {
  let received = ''
  try {
    for await (const chunk of answer.body!) received += Buffer.from(chunk as Uint8Array).toString()
    return { received, isWhole: true }
  } catch {
    return { received, isWhole: false }
  }
}

/** The target as it is written here: `fetch` resolves dots by itself. */
function raw(baseUrl: string, path: string, headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers }, (res) => {
      res.resume()
      resolve(res.statusCode!)
    })
      .on('error', reject)
      .end()
  })
}
