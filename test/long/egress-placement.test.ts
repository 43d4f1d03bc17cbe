// Where secrets go on the wire, through the whole gateway: what the upstream gets, and that nobody else gets it.
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'

// In no encoding is one of them part of another.
const USER = 'someone-public'
const ONE = 'k3y-ONE_aaaaaaaa'
const TWO = 'k3y-TWO_bbbbbbbb'
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe.each(ENGINES)('a placed secret (%s)', (engine) => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
  })
  afterAll(() => gw.close())
  beforeEach(() => gw.upstream.respond((_request, res) => res.writeHead(200, json).end('{"ok":true}')))
  const last = () => gw.upstream.requests.at(-1)!
  const sent = (name: string) => last().headers.filter(([header]) => header === name)
  const grant = async (settings: object, parts: Record<string, string> = { one: ONE, two: TWO }) =>
    (await gw.grant({ credential: { secret: undefined, parts, settings } })).capability

  const CASES: [string, object, Record<string, string> | undefined, object, () => unknown, unknown][] = [
    [
      'two headers',
      {
        placements: [
          { in: 'header', name: 'dd-api-key', part: 'one' },
          { in: 'header', name: 'dd-application-key', part: 'two' },
        ],
      },
      undefined,
      {},
      () => [...sent('dd-api-key'), ...sent('dd-application-key'), ...sent('authorization')],
      [
        ['dd-api-key', ONE],
        ['dd-application-key', TWO],
      ],
    ],
    [
      'Basic',
      { placements: [{ in: 'header', name: 'authorization', scheme: 'Basic' }] },
      { user: USER, password: ONE },
      {},
      () => sent('authorization'),
      [['authorization', `Basic ${Buffer.from(`${USER}:${ONE}`).toString('base64')}`]],
    ],
    [
      'query and path',
      {
        placements: [
          { in: 'query', name: 'key', part: 'one' },
          { in: 'path', at: 0, prefix: 'bot', part: 'two' },
        ],
      },
      undefined,
      { url: '/v1/things?a=1' },
      () => last().target,
      `/bot${TWO}/v1/things?a=1&key=${ONE}`,
    ],
    [
      'a JSON body',
      {
        placements: [
          { in: 'json', pointer: '/auth/one', part: 'one' },
          { in: 'json', pointer: '/two', part: 'two' },
        ],
      },
      undefined,
      { method: 'POST', headers: json, body: '{"auth":{"a":1.0}}' },
      () => [last().body.toString(), sent('content-length')],
      [`{"two":"${TWO}","auth":{"one":"${ONE}","a":1.0}}`, [['content-length', '68']]],
    ],
    [
      'a form and a cookie',
      {
        placements: [
          { in: 'form', name: 'token', part: 'one' },
          { in: 'cookie', name: 'sid', part: 'two' },
        ],
      },
      undefined,
      { method: 'POST', headers: form, body: 'a=1' },
      () => [last().body.toString(), sent('cookie')],
      [`a=1&token=${ONE}`, [['cookie', `sid=${TWO}`]]],
    ],
  ]

  it.each(CASES)(
    'goes into %s, and no answer with it in it comes back',
    async (_, settings, parts, asked, read, wanted) => {
      const capability = await grant(settings, parts)
      const request = { ...asked, url: gw.url('url' in asked ? String(asked.url) : '/v1/things') }
      const answer = await gw.fetch(capability, request)
      expect(answer.status, answer.text).toBe(200)
      expect(read()).toEqual(wanted)

      for (const secret of Object.values(parts ?? { one: ONE, two: TWO }).filter((text) => text !== USER)) {
        gw.upstream.respond((_request, res) => res.writeHead(200).end(`you sent ${secret}`))
        const withheld = await gw.fetch(capability, request)
        expect(withheld.body).toMatchObject({ code: 'secret_reflected', credits: { charged: 1 } })
      }
    },
  )

  it('that is a public part may come back', async () => {
    const capability = await grant(
      { placements: [{ in: 'header', name: 'authorization', scheme: 'Basic' }] },
      { user: USER, password: ONE },
    )
    gw.upstream.respond((_request, res) => res.writeHead(200).end(`hello ${USER}`))
    expect((await gw.fetch(capability, { url: gw.url('/v1') })).body.upstream.body).toBe(`hello ${USER}`)
  })

  it('is refused a request that has no room for it, which is not charged', async () => {
    const capability = await grant({ placements: [{ in: 'query', name: 'key' }] }, { one: ONE })
    const before = [await gw.balance(), gw.upstream.requests.length]
    const answer = await gw.fetch(capability, { url: gw.url('/v1?KEY=mine') })
    expect(answer).toMatchObject({ status: 400, body: { code: 'target_invalid' } })
    expect([await gw.balance(), gw.upstream.requests.length]).toEqual(before)
  })

  it('keeps its places when it is rotated, and nobody may rotate to parts that it is not made of', async () => {
    const { credentialId, capability } = await gw.grant({
      credential: {
        secret: undefined,
        parts: { one: ONE },
        settings: { placements: [{ in: 'query', name: 'key' }] },
      },
    })
    const rotate = (body: object) => gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, body)
    expect(await rotate({ secret: TWO })).toMatchObject({ status: 400, body: { code: 'input_invalid' } })
    expect(await rotate({ parts: { other: TWO } })).toMatchObject({ status: 400 })
    expect(await rotate({})).toMatchObject({ status: 400, body: { code: 'input_missing_field' } })
    expect(await rotate({ parts: { one: TWO } })).toMatchObject({
      status: 200,
      body: { version: 2, settings: { parts: { one: 'secret' } } },
    })
    await gw.fetch(capability, { url: gw.url('/v1') })
    expect(last().target).toBe(`/v1?key=${TWO}`)
  })

  it('does not open once its places were changed in the row', async () => {
    if (engine !== 'sqlite') return
    const { DatabaseSync } = await import('node:sqlite')
    const { credentialId, capability } = await gw.grant({
      credential: {
        secret: undefined,
        parts: { one: ONE },
        settings: { placements: [{ in: 'header', name: 'x-key' }] },
      },
    })
    const before = gw.upstream.requests.length
    const file = (await readdir(join(gw.dataDir, 'data'))).find((name) => /\.(?:db|sqlite)$/.test(name))!
    const database = new DatabaseSync(join(gw.dataDir, 'data', file))
    database.exec('PRAGMA busy_timeout = 5000')
    const changed = '{"parts":{"one":"public"},"placements":[{"in":"header","name":"x-key"}]}'
    database.prepare('UPDATE credentials SET settings = ? WHERE id = ?').run(changed, credentialId)
    database.close()
    const answer = await gw.fetch(capability, { url: gw.url('/v1') })
    expect(answer.body).toMatchObject({ code: 'credential_unavailable', credits: { charged: 0 } })
    expect(gw.upstream.requests.length).toBe(before)
  })

  it('is in no log, no list and no file', async () => {
    const listed = await gw.rest('GET', '/v1/egress/credentials?limit=100')
    const attempts = await gw.rest('GET', '/v1/egress/attempts?limit=100')
    const texts = [gw.log(), listed.text, attempts.text]
    const folder = join(gw.dataDir, 'data')
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) texts.push((await readFile(join(entry.parentPath, entry.name))).toString('latin1'))
    for (const text of texts) {
      expect(text).not.toContain(ONE)
      expect(text).not.toContain(TWO)
    }
    expect(listed.text).toContain('"pointer":"/auth/one"')
  })
})

describe('what a credential allows beyond the usual', () => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
  })
  afterAll(() => gw.close())
  const last = () => gw.upstream.requests.at(-1)!
  const grant = async (settings: object, scope: object = {}) =>
    (await gw.grant({ credential: { settings, ...scope } })).capability

  it('headers of callers and of answers; what is dropped is named', async () => {
    const plain = await grant({})
    const capability = await grant({
      request_headers: ['stripe-account'],
      response_headers: ['x-cost', 'server'],
    })
    gw.upstream.respond((_request, res) =>
      res
        .writeHead(200, {
          'x-cost': '7',
          server: 'nginx',
          'set-cookie': 'a=b',
          'x-next-page': '2',
          'retry-after-ms': '5',
          'docker-content-digest': 'sha256:1',
        })
        .end('{}'),
    )
    const asked = { url: gw.url('/v1'), headers: { 'Stripe-Account': 'acct_1', traceparent: '00-1-2-01' } }
    const refused = await gw.fetch(plain, asked)
    expect(refused.body).toMatchObject({ code: 'header_forbidden', header: 'stripe-account' })
    const answer = await gw.fetch(capability, asked)
    expect(last().headers).toContainEqual(['stripe-account', 'acct_1'])
    expect(last().headers).toContainEqual(['traceparent', '00-1-2-01'])
    const { headers, dropped_headers } = answer.body.upstream
    expect(headers).toMatchObject({
      'x-cost': '7',
      server: 'nginx',
      'x-next-page': '2',
      'retry-after-ms': '5',
      'docker-content-digest': 'sha256:1',
    })
    expect(dropped_headers).toEqual(['set-cookie'])
    const usual = await gw.fetch(plain, { url: gw.url('/v1') })
    expect(usual.body.upstream.dropped_headers).toEqual(['server', 'set-cookie', 'x-cost'])
  })

  it('%2F in paths, and never a path that leaves the prefix in either reading', async () => {
    const scope = { path_prefixes: ['/projects/group%2Fsite', '/packages'] }
    const capability = await grant({ encoded_slash: true }, scope)
    const ask = async (path: string) => (await gw.fetch(capability, { url: gw.url(path) })).body
    gw.upstream.respond((_request, res) => res.writeHead(200).end('{}'))
    await ask('/projects/group%2Fsite/issues')
    expect(last().target).toBe('/projects/group%2Fsite/issues')
    await ask('/packages/@scope%2Fname')
    expect(last().target).toBe('/packages/@scope%2Fname')
    const before = gw.upstream.requests.length
    for (const path of [
      '/projects/group%2Fsite%2F..%2Fother',
      '/packages/%2E%2E/projects/other',
      '/packages/a%2F..%2F..%2Fadmin',
      '/packages/a%2F%2Fb',
      '/packages/%2Fb',
      '/packages/a%252Fb',
      '/packages/a%2fb',
      '/packages/a%5Cb',
    ])
      expect(await ask(path), path).toMatchObject({ code: 'target_invalid' })
    for (const path of [
      '/projects/group%2Fsites',
      '/projects/group/site',
      '/packages%2Fa',
      '/projects%2Fgroup%2Fsite',
    ])
      expect(await ask(path), path).toMatchObject({ code: 'scope_denied' })
    expect(gw.upstream.requests.length).toBe(before)
    const without = await grant({})
    const refused = await gw.fetch(without, { url: gw.url('/packages/@scope%2Fname') })
    expect(refused.body).toMatchObject({
      code: 'target_invalid',
      detail: expect.stringContaining('encoded_slash'),
    })
  })

  const MIB = 1024 * 1024
  const asBody = (bytes: number) => ({ body_base64: Buffer.alloc(bytes, 'abc').toString('base64') })

  it('larger requests, from callers whose credential allows them and from nobody else', async () => {
    const wide = await grant({ limits: { max_request_bytes: 10 * MIB } })
    const plain = await grant({})
    gw.upstream.respond((request, res) => res.writeHead(200).end(String(request.body.length)))
    const post = { url: gw.url('/v1'), method: 'POST' }
    const most = await gw.fetch(wide, { ...post, ...asBody(10 * MIB) })
    expect(most.body.upstream?.body, most.text.slice(0, 300)).toBe(String(10 * MIB))
    expect(last().body.equals(Buffer.alloc(10 * MIB, 'abc'))).toBe(true)

    const before = [await gw.balance(), gw.upstream.requests.length]
    const tooMuch = await gw.fetch(wide, { ...post, ...asBody(10 * MIB + 1) })
    expect(tooMuch).toMatchObject({ status: 413, body: { code: 'body_too_large', max_bytes: 10 * MIB } })
    expect(await gw.fetch(plain, { ...post, ...asBody(129 * 1024) })).toMatchObject({ status: 413 })
    expect(await gw.fetch(plain, { ...post, ...asBody(2 * MIB) })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    })
    expect(await gw.fetch('agw_cap_nobody', { ...post, ...asBody(MIB) })).toMatchObject({ status: 401 })
    expect([await gw.balance(), gw.upstream.requests.length]).toEqual(before)

    // The head alone decides: not a byte of the body is waited for.
    const answerToHead = (token: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': 10 * MIB,
        }
        const asking = request(`${gw.baseUrl}/v1/egress/fetch`, { method: 'POST', headers }, (res) => {
          resolve(res.statusCode)
          asking.destroy()
        })
        asking.on('error', reject).flushHeaders()
      })
    expect(await answerToHead(plain)).toBe(413)
    expect(await answerToHead('agw_cap_nobody')).toBe(401)
  })

  it('larger answers where they are asked for, searched like every other', async () => {
    const secret = 'upstream-secret-1'
    const capability = await grant({ limits: { max_response_bytes: 25 * MIB } })
    const answer = Buffer.alloc(25 * MIB, 'abcdefgh\n')
    gw.upstream.respond((_request, res) => res.writeHead(200).end(answer))
    const asked = { url: gw.url('/v1'), max_bytes: 25 * MIB }
    const whole = await gw.fetch(capability, asked)
    expect(whole.status, whole.text.slice(0, 300)).toBe(200)
    expect(Buffer.from(whole.body.upstream.body).equals(answer)).toBe(true)
    expect((await gw.fetch(capability, { url: gw.url('/v1') })).body).toMatchObject({
      code: 'response_too_large',
    })
    const plain = await gw.fetch(await grant({}), asked)
    expect(plain).toMatchObject({ status: 400, body: { code: 'input_invalid' } })
    expect(plain.body.detail).toContain('/max_bytes: this credential allows 1048576 at most')

    answer.write(secret, 24 * MIB)
    expect((await gw.fetch(capability, asked)).body).toMatchObject({ code: 'secret_reflected' })
  })

  it('longer calls, on connections that may be silent for as long', async () => {
    const quiet = await startTestGateway({ timeouts: { silence: 4_000, connectionsCheckingInterval: 50 } })
    try {
      const { capability } = await quiet.grant({
        credential: { settings: { limits: { timeout_ms: 900_000 } } },
      })
      quiet.upstream.respond((_request, res) => void setTimeout(() => res.writeHead(200).end('late'), 6_000))
      const asked = { url: quiet.url('/v1'), timeout_ms: 900_000 }
      expect((await quiet.fetch(capability, asked)).body.upstream.body).toBe('late')
      expect((await quiet.fetch(capability, { ...asked, timeout_ms: 900_001 })).status).toBe(400)
      const plain = (await quiet.grant()).capability
      const refused = await quiet.fetch(plain, { ...asked, timeout_ms: 30_001 })
      expect(refused.body.detail).toContain('/timeout_ms: this credential allows 30000 at most')
    } finally {
      await quiet.close()
    }
  })
})
