// A seller onboards a local HTTPS API: registration, proof, import, check, approval; and what a thief gets.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { tools } from '../../tools/index.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { ownerships, proveHost, registerSeller, sellerAccount } from '../support/onboarding.ts'

const THIEF_HOST = 'api.thief-example.com'
let gw: TestGateway
let origin: string
let key: string

const OPENAPI = {
  openapi: '3.0.3',
  info: { title: 'Weather\u202e API', description: '<b>Now</b>' },
  servers: [{ url: '/v2' }],
  paths: {
    '/now/{airport}': {
      get: {
        operationId: 'now',
        'x-payment-info': { price: '$0.005', pricingMode: 'fixed' },
        parameters: [{ $ref: '#/components/parameters/Airport' }],
        responses: {
          200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Weather' } } } },
        },
      },
    },
    '/admin': { get: { responses: {} } },
    '/secret': {
      get: {
        'x-payment-info': { price: '1' },
        parameters: [{ name: 'x-key', in: 'header', required: true, schema: { type: 'string' } }],
      },
    },
  },
  components: {
    parameters: {
      Airport: { name: 'airport', in: 'path', required: true, schema: { type: 'string' }, example: 'EDDF' },
    },
    schemas: {
      Weather: {
        type: 'object',
        required: ['celsius'],
        properties: { celsius: { type: 'number', nullable: true } },
      },
    },
  },
}

beforeAll(async () => {
  gw = await startTestGateway({ names: [THIEF_HOST], undocumented: 'fail' })
  origin = gw.url('').replace(/\/$/, '')
  key = await registerSeller(gw, 'acme-weather')
})
afterAll(() => gw.close())

const seller = (path: string, body?: object, token = key) =>
  gw.rest(body ? 'POST' : 'GET', `/v1/marketplace/seller${path}`, body, token)

describe('the key of a seller', () => {
  it('opens the tools of sellers and nothing else', async () => {
    const answers = await Promise.all(
      tools
        .filter(({ caller, passes }) => caller !== 'anyone' && caller !== 'seller' && !passes)
        .map(async ({ name, rest: [route] }) => {
          const body = route.method === 'POST' ? {} : undefined
          const { body: refused } = await gw.rest(
            route.method,
            route.path.replaceAll(/\{[^}]*\}/g, 'x'),
            body,
            key,
          )
          return [name, refused.code]
        }),
    )
    const others = answers.filter(
      ([, code]) => code !== 'operator_required' && code !== 'capability_required',
    )
    expect(answers.length).toBeGreaterThan(40)
    expect(others).toEqual([])
  })

  it('comes without credits, and counts for nothing where nobody needs a key', async () => {
    const stats = await gw.rest('GET', '/v1/actions/stats', undefined, key)
    const stranger = await gw.rest('GET', '/v1/actions/stats', undefined, '')
    expect(stats.body).toEqual(stranger.body)
  })

  it('is replaced by its holder, and the old one is dead', async () => {
    const old = await registerSeller(gw, 'short-lived')
    const { body } = await seller('/key', {}, old)
    expect((await seller('', undefined, old)).body.code).toBe('key_invalid')
    expect((await seller('', undefined, body.key)).body.seller.seller).toBe('short-lived')
  })
})

describe('a lost key', () => {
  const ask = (id: string, at: number, signature: string) =>
    gw.rest(
      'POST',
      '/v1/marketplace/sellers/recover',
      { seller: id, signed_at: new Date(at).toISOString(), signature },
      '',
    )
  const sign = (id: string, at: number, host = new URL(gw.baseUrl).host) =>
    sellerAccount.signMessage({
      message: `${host}: a new key for the seller ${id} at ${new Date(at).toISOString()}`,
    })

  it('is replaced by whoever signs as the payout account, once', async () => {
    const old = await registerSeller(gw, 'forgetful')
    const at = Date.now() + 1000
    const signature = await sign('forgetful', at)
    const given = await ask('forgetful', at, signature)
    expect(given.status).toBe(201)
    expect((await seller('', undefined, given.body.key)).body.seller.seller).toBe('forgetful')
    expect((await seller('', undefined, old)).body.code).toBe('key_invalid')
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now()) + 5))
    const next = Date.now()
    const again = await ask('forgetful', next, await sign('forgetful', next))
    expect(again.status).toBe(201)
    expect((await ask('forgetful', next, await sign('forgetful', next))).body.code).toBe('sign_in_refused')
  })

  it.each([
    ['another seller', () => sign('acme-weather', Date.now())],
    ['another gateway', () => sign('short-lived', Date.now(), 'other.example.com')],
    ['nobody', async () => `0x${'11'.repeat(65)}`],
  ])('is not replaced by a signature for %s', async (_, signing) => {
    const refused = await ask('short-lived', Date.now(), await signing())
    expect(refused.body).toMatchObject({
      code: 'sign_in_refused',
      detail: expect.stringContaining('a new key for the seller'),
    })
  })

  it('is not replaced by an old signature', async () => {
    const at = Date.now() - 700_000
    expect((await ask('short-lived', at, await sign('short-lived', at))).body.code).toBe('sign_in_refused')
  })
})

describe('registration', () => {
  it.each([
    ['acme-vveather', 'state_conflict'],
    ['acrne-weather', 'state_conflict'],
    ['acmeweather', 'state_conflict'],
    ['acme-weather', 'state_conflict'],
    ['gateway', 'input_invalid'],
    ['gatevvay', 'input_invalid'],
    ['my-gateway', 'input_invalid'],
    ['0penapi', 'input_invalid'],
    ['testnet', 'input_invalid'],
    ['a--b', 'input_invalid'],
    ['Acme', 'input_invalid'],
  ])('refuses the id %s', async (id, code) => {
    const body = { seller: id, name: 'x', payout_address: sellerAccount.address }
    expect((await gw.rest('POST', '/v1/marketplace/sellers', body, '')).body.code).toBe(code)
  })

  it.each([
    ['the zero address', `0x${'0'.repeat(40)}`],
    ['USDC itself', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    [
      'a broken checksum',
      sellerAccount.address
        .replace(/[a-f]/, (char) => char.toUpperCase())
        .replace(/[A-F](?=[^A-F]*$)/, (char) => char.toLowerCase()),
    ],
  ])('refuses %s as payout address', async (_, payout_address) => {
    const body = { seller: 'payout-test', name: 'x', payout_address }
    const answer = await gw.rest('POST', '/v1/marketplace/sellers', body, '')
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('/payout_address')])
  })

  it('refuses our own name, also in other letters', async () => {
    for (const name of ['Agent Gateway', 'Аgent Gateway ', 'agent-gateway official']) {
      const body = { seller: 'name-test', name, payout_address: sellerAccount.address }
      expect((await gw.rest('POST', '/v1/marketplace/sellers', body, '')).body.code).toBe('input_invalid')
    }
  })

  it('makes a seller of an account of an operator, without another key', async () => {
    const body = { seller: 'house-brand', name: 'House', payout_address: sellerAccount.address }
    const made = await gw.rest('POST', '/v1/marketplace/sellers', body)
    expect([made.status, made.body.key]).toEqual([201, null])
    expect((await seller('', undefined, gw.operatorKey)).body.seller.seller).toBe('house-brand')
    expect((await gw.rest('POST', '/v1/marketplace/sellers', { ...body, seller: 'second' })).body.code).toBe(
      'state_conflict',
    )
  })
})

describe('a host', () => {
  it('is proven by DNS and the signature of the payout account, and by neither alone', async () => {
    const claimed = await seller('/hosts', { origin })
    expect(claimed.body).toMatchObject({
      state: 'claimed',
      dns: { name: '_agent-gateway.api.example.com', type: 'TXT' },
    })
    const verify = (ownership_proofs: string[]) => seller('/hosts/verify', { origin, ownership_proofs })
    const signed = await ownerships(origin)
    const unpublished = (await verify(signed)).body
    expect(unpublished).toMatchObject({ proven: false, host: { state: 'claimed' } })
    expect(unpublished.problems.join(' ')).toMatch(/DNS: there is no TXT record.* File: /)
    gw.dns.set(claimed.body.dns.name, { TXT: ['v=spf1 -all', claimed.body.dns.value] })
    expect((await verify([])).body).toMatchObject({
      proven: false,
      problems: [expect.stringContaining('personal_sign')],
    })
    expect((await verify(await ownerships('https://other.example.com'))).body.proven).toBe(false)
    expect((await verify(signed)).body).toMatchObject({
      proven: true,
      problems: [],
      host: { method: 'dns', signature_kind: 'eip191' },
    })
  })

  it('is proven by a file, too', async () => {
    const other = origin.replace('api.example.com', THIEF_HOST)
    const claimed = await seller('/hosts', { origin: other })
    gw.upstream.respond(({ target }, res) =>
      target === '/.well-known/agent-gateway-verification.txt'
        ? res
            .writeHead(200, { 'content-type': 'text/plain' })
            .end(`# ours\n${claimed.body.well_known.line}\n`)
        : res.writeHead(404).end(),
    )
    const ownership_proofs = await ownerships(other)
    const verified = await seller('/hosts/verify', { origin: other, ownership_proofs })
    expect(verified.body).toMatchObject({ proven: true, host: { method: 'well_known' } })
  })

  it('stays with who proved it first; the other is told', async () => {
    const thief = await registerSeller(gw, 'thief')
    const claimed = await seller('/hosts', { origin }, thief)
    const { body: mine } = await seller('/hosts', { origin })
    expect(claimed.body.challenge).not.toBe(mine.challenge)
    gw.dns.set('_agent-gateway.api.example.com', { TXT: [mine.dns.value, claimed.body.dns.value] })
    const ownership_proofs = await ownerships(origin)
    const refused = await seller('/hosts/verify', { origin, ownership_proofs }, thief)
    expect(refused.body).toMatchObject({
      proven: false,
      problems: [expect.stringContaining('Another seller')],
    })
  })

  it.each([
    'https://127.0.0.1',
    'https://localhost',
    'https://co.uk',
    'http://api.example.com',
    'https://a.b.example.com/x',
  ])('is not %s', async (odd) => {
    const { status } = await seller('/hosts', { origin: odd })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(404)
  })

  it('takes its money to another address only when the host itself says so', async () => {
    const payout_address = '0x1111111111111111111111111111111111111111'
    const refused = await seller('', { payout_address })
    expect(refused.body).toMatchObject({
      code: 'state_conflict',
      hosts: [{ shows_challenge: false, is_signed: false }, {}],
    })
    expect((await seller('')).body.seller.payout_address).toBe(sellerAccount.address.toLowerCase())
  })

  it('takes it there when every host shows the challenge of that address and the new account has signed', async () => {
    const other = privateKeyToAccount(`0x${'6f'.repeat(32)}`)
    const move = async (to: PrivateKeyAccount) => {
      const origins = [origin, origin.replace('api.example.com', THIEF_HOST)]
      const ownership_proofs = await Promise.all(origins.map((message) => to.signMessage({ message })))
      const asked = { payout_address: to.address, ownership_proofs }
      const { hosts } = (await seller('', asked)).body
      expect(hosts).toMatchObject([{ shows_challenge: false, is_signed: true }, { shows_challenge: false }])
      const { body } = await seller('')
      for (const { host, dns } of hosts) {
        const own = body.hosts.find((one: { host: string }) => one.host === host)
        gw.dns.set(dns.name, { TXT: [own.dns.value, dns.value] })
      }
      return (await seller('', asked)).body
    }
    expect(await move(other)).toMatchObject({ payout_address: other.address.toLowerCase() })
    expect((await seller('')).body.hosts).toMatchObject([{ state: 'proven' }, { state: 'proven' }])
    expect(await move(sellerAccount)).toMatchObject({ payout_address: sellerAccount.address.toLowerCase() })
  })
})

describe('a service', () => {
  const answerWeather = () =>
    gw.upstream.respond(({ target }, res) => {
      if (target === '/openapi.json')
        return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(OPENAPI))
      return res.writeHead(200, { 'content-type': 'application/json' }).end('{"celsius":21.5}')
    })

  it('is made of the OpenAPI document of its host in one call', async () => {
    answerWeather()
    const made = await seller('/services/import', {
      service_id: 'weather',
      origin,
      url: `${origin}/openapi.json`,
    })
    expect(made.status).toBe(201)
    expect(made.body.imported).toEqual(['GET /now/{airport}'])
    expect(made.body.skipped).toEqual([
      { operation: 'GET /admin', reason: expect.stringContaining('no x-payment-info') },
      { operation: 'GET /secret', reason: expect.stringContaining('needs the header x-key') },
    ])
    expect(made.body.service).toMatchObject({
      name: 'Weather API',
      description: '<b>Now</b>',
      base_path: '/v2',
      state: 'draft',
      routes: [
        {
          price_atomic: '5000',
          input_schema: { type: 'object', required: ['airport'], additionalProperties: false },
          output_schema: { type: 'object', properties: { celsius: { type: ['number', 'null'] } } },
          example: { query: { airport: 'EDDF' } },
        },
      ],
    })
  })

  it('is tried with its own example before it is offered, and waits for the operator', async () => {
    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"error":"x"}'),
    )
    const refused = await seller('/services/submit', { service_id: 'weather' })
    expect(refused.body).toMatchObject({
      code: 'state_conflict',
      routes: [{ ok: false, status: 200, problem: expect.stringContaining('its own schema') }],
    })
    answerWeather()
    const before = gw.upstream.requests.length
    expect((await seller('/services/check', { service_id: 'weather' })).body).toMatchObject({
      ok: true,
      routes: [{ status: 200 }],
    })
    const [tried] = gw.upstream.requests.slice(before)
    expect(tried).toMatchObject({ method: 'GET', target: '/v2/now/EDDF' })
    expect(tried!.headers.map(([name]) => name)).toContain('agent-gateway-call')
    expect((await seller('/services/submit', { service_id: 'weather' })).body).toMatchObject({
      state: 'pending',
    })

    const queue = await gw.rest('GET', '/v1/marketplace/moderation')
    expect(queue.body.services).toMatchObject([{ seller: 'acme-weather', service_id: 'weather' }])
    expect((await gw.rest('GET', '/v1/marketplace/moderation', undefined, key)).body.code).toBe(
      'operator_required',
    )
    const decide = (decision: string) =>
      gw.rest('POST', '/v1/marketplace/moderation', {
        seller: 'acme-weather',
        service_id: 'weather',
        decision,
        reason: 'looked at',
      })
    expect((await decide('approve')).body).toEqual({ decided: true })
    expect((await seller('')).body.services).toMatchObject([{ state: 'active' }])
    expect((await decide('suspend')).status).toBe(200)
    expect((await seller('')).body.services).toMatchObject([
      { state: 'suspended', state_reason: 'looked at' },
    ])
    expect((await seller('/services/resume', { service_id: 'weather' })).body.code).toBe('state_conflict')
    expect((await decide('reinstate')).status).toBe(200)
    const types = (await seller('/events')).body.events.map(({ type }: { type: string }) => type)
    expect(types).toEqual(
      expect.arrayContaining(['host.proven', 'listing.approved', 'listing.suspended', 'listing.reinstated']),
    )
  })

  it('is changed under a new version, and its seller needs no second approval', async () => {
    const body = { service_id: 'weather', description: 'Better\u0000 now' }
    expect((await seller('/services/update', body)).body).toMatchObject({
      version: 2,
      state: 'active',
      description: 'Better now',
    })
    const { body: drafted } = await seller('/services', {
      service_id: 'wind',
      name: 'Wind',
      origin,
      routes: [{ path: '/wind', price_atomic: '20000' }],
    })
    expect(drafted).toMatchObject({ state: 'draft', version: 1 })
    expect((await seller('/services/submit', { service_id: 'wind' })).body).toMatchObject({ state: 'active' })
    expect((await seller('/services/pause', { service_id: 'wind', reason: 'holiday' })).body).toMatchObject({
      state: 'paused',
      state_reason: 'holiday',
    })
    expect((await seller('/services/resume', { service_id: 'wind' })).body).toMatchObject({ state: 'active' })
    expect((await seller('/services/retire', { service_id: 'wind' })).body).toMatchObject({
      state: 'retired',
    })
    expect((await seller('/services/update', { service_id: 'wind', name: 'x' })).body.code).toBe(
      'state_conflict',
    )
  })

  it('sends the credential of its seller along, and shows it to nobody', async () => {
    const secret = 'upstream-secret-of-acme-1'
    const set = await seller('/services/credential', { service_id: 'weather', secret, header: 'x-api-key' })
    expect(set.body).toMatchObject({ has_credential: true, version: 3 })
    expect(set.text).not.toContain(secret)
    const tried = gw.upstream.requests.at(-1)!
    expect(tried.headers).toContainEqual(['x-api-key', secret])
    // An upstream that hands it back is not sold, and the secret stays here.
    gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ celsius: 1, secret })),
    )
    const leaking = await seller('/services/check', { service_id: 'weather' })
    expect(leaking.body.ok).toBe(false)
    expect(leaking.text).not.toContain(secret)
    answerWeather()
    expect(
      (await seller('/services/credential', { service_id: 'weather', secret: null })).body.has_credential,
    ).toBe(false)
  })

  it.each([
    ['a price of nothing', { routes: [{ price_atomic: '0' }] }],
    ['a path that leads up', { routes: [{ path: '/a/../b', price_atomic: '9' }] }],
    ['a parameter that every object has', { routes: [{ path: '/a/{__proto__}', price_atomic: '9' }] }],
    ['an escaped slash', { routes: [{ path: '/a%2fb', price_atomic: '9' }] }],
    [
      'two routes at one place',
      {
        routes: [
          {
            path: '/{a}',
            price_atomic: '9',
            input_schema: { type: 'object', properties: { a: {} }, required: ['a'] },
            example: { query: { a: 'x' } },
          },
          {
            path: '/{b}',
            price_atomic: '9',
            input_schema: { type: 'object', properties: { b: {} }, required: ['b'] },
            example: { query: { b: 'x' } },
          },
        ],
      },
    ],
    [
      'a reference to elsewhere',
      { routes: [{ price_atomic: '9', output_schema: { $ref: 'https://x.example.com/s' } }] },
    ],
    [
      'a pattern that looks around',
      { routes: [{ price_atomic: '9', output_schema: { type: 'string', pattern: '(?=a)b' } }] },
    ],
    [
      'an example that does not fit',
      {
        routes: [
          {
            price_atomic: '9',
            input_schema: { type: 'object', properties: { n: { type: 'integer' } } },
            example: { query: { n: 'x' } },
          },
        ],
      },
    ],
    ['a private origin', { origin: 'https://10.0.0.1' }],
    ['a price above the most', { routes: [{ price_atomic: '9000000000' }] }],
  ])('is refused with %s', async (_, over) => {
    const body = { service_id: 'bad', name: 'Bad', origin, routes: [{ price_atomic: '9' }], ...over }
    const { status, body: refused } = await seller('/services', body)
    expect([status, refused.code]).toEqual([
      expect.any(Number),
      expect.stringMatching(/^(input_invalid|target_blocked)/),
    ])
  })

  it('goes on selling nothing from a host of somebody else', async () => {
    const thief = await registerSeller(gw, 'thief-two')
    const drafted = await seller(
      '/services',
      { service_id: 'stolen', name: 'Stolen', origin, routes: [{ price_atomic: '9' }] },
      thief,
    )
    expect(drafted.status).toBe(201)
    for (const step of ['submit', 'check'])
      expect((await seller(`/services/${step}`, { service_id: 'stolen' }, thief)).body.code).toBe(
        'state_conflict',
      )
    // Not for test money either: the gateway sends nobody's requests to a host that is not theirs.
    const before = gw.upstream.requests.length
    const called = await gw.rest('GET', '/p/testnet/thief-two/stolen/', undefined, '')
    expect([called.status, called.body.code]).toEqual([503, 'service_unavailable'])
    expect(gw.upstream.requests).toHaveLength(before)
    const imported = { service_id: 'stolen', origin, url: `${origin}/openapi.json` }
    expect((await seller('/services/import', imported, thief)).body.code).toBe('state_conflict')
  })
})

it('tells whom it must of a seller, and proves nothing by itself', async () => {
  const { body } = await gw.rest('GET', '/v1/marketplace/sellers/acme-weather', undefined, '')
  expect(body).toMatchObject({
    words_of_seller: true,
    services: ['weather'],
    proven_hosts: [{ method: 'dns' }, { method: 'well_known' }],
  })
  expect(JSON.stringify(body)).not.toContain('challenge')
  await proveHost(gw, key, origin)
})
