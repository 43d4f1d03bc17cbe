// What strangers try on the authorization server, and what they get.
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import type { OutboundRequest, SendResult } from '../../../src/egress/ports.ts'
import { createDocumentReader } from '../../../src/outbound/document.ts'
import { createTargets } from '../../../src/outbound/targets.ts'
import {
  ask,
  connect,
  consent,
  createBrowser,
  createMemory,
  exchange,
  form,
  register,
  startOauth,
  type TestServer,
} from '../../support/oauth.ts'

let server: TestServer
let origin: string
let clientId: string
beforeAll(async () => {
  server = await startOauth()
  origin = server.baseUrl
  clientId = (await register(origin)).client_id
})
afterAll(() => server?.close())

const CALLBACK = 'http://localhost:7777/callback'
const spend = (code: string, code_verifier: string, more: Record<string, string> = {}) =>
  exchange(origin, {
    grant_type: 'authorization_code',
    code,
    code_verifier,
    client_id: clientId,
    redirect_uri: CALLBACK,
    ...more,
  })
const refresh = (refresh_token: string) =>
  exchange(origin, { grant_type: 'refresh_token', refresh_token, client_id: clientId })
const isEnded = () => server.memory.connections.at(-1)?.revokedAt !== null

describe('where the answer goes', () => {
  it.each([
    'http://evil.example/callback',
    'https://localhost:7777/callback',
    'http://localhost:7777/callback/',
    'http://localhost:7777/callback?next=x',
    'http://localhost:7777/callback/../../x',
    'http://localhost:7777@evil.example/callback',
    'http://localhost.evil.example:7777/callback',
    'http://127.0.0.1:7777/callback',
    'javascript:alert(1)',
    '//evil.example/callback',
    '/callback',
  ])('is never %s, which was not registered', async (redirectUri) => {
    const { answer, location } = await ask(origin, { clientId, redirectUri })
    expect([answer.status, location]).toEqual([400, ''])
  })

  it('may be any port of the loopback that was registered', async () => {
    const redirectUri = 'http://localhost:50123/callback'
    const { callback } = await consent(origin, { clientId, redirectUri })
    expect(callback.host).toBe('localhost:50123')
  })

  it.each([
    [['http://evil.example/callback']],
    [['javascript:alert(1)']],
    [['data:text/html,x']],
    [['https://good.example/callback#fragment']],
    [['https://good.example/callback', 'http://10.0.0.1/callback']],
    [[]],
    [['not an address']],
    [[`https://good.example/${'x'.repeat(2000)}`]],
    [Array.from({ length: 30 }, (_, i) => `https://good.example/${i}`)],
  ])('cannot be registered as %j', async (uris) => {
    await expect(register(origin, { redirect_uris: uris })).rejects.toThrow(/^400 /)
  })

  it('is compared again when the code is spent', async () => {
    const { code, verifier } = await consent(origin, { clientId })
    const { body } = await spend(code, verifier, { redirect_uri: 'http://localhost:7778/callback' })
    expect(body.error).toBe('invalid_grant')
  })
})

describe('a code', () => {
  it('works once: the second time ends all that came of the first', async () => {
    const { code, verifier } = await consent(origin, { clientId })
    const first = await spend(code, verifier)
    expect(first.status).toBe(200)
    expect((await spend(code, verifier)).body.error).toBe('invalid_grant')
    expect(isEnded()).toBe(true)
    expect((await refresh(first.body.refresh_token)).body.error).toBe('invalid_grant')
  })

  it('gives one answer to two that spend it at the same time', async () => {
    const { code, verifier } = await consent(origin, { clientId })
    // Each has read the code before any of them has used it up.
    const { store } = server.memory
    const { getOauthRow } = store
    const slowly = async (hash: Buffer) => {
      const row = await getOauthRow(hash)
      await wait(30)
      return row
    }
    Object.assign(store, { getOauthRow: slowly })
    const all = await Promise.all(Array.from({ length: 5 }, () => spend(code, verifier)))
    Object.assign(store, { getOauthRow })
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(isEnded()).toBe(true)
  })

  it('is worth nothing after a minute', async () => {
    const { code, verifier } = await consent(origin, { clientId })
    server.advance(61_000)
    expect((await spend(code, verifier)).body.error).toBe('invalid_grant')
  })

  it('is worth nothing to another client', async () => {
    const { client_id: other } = await register(origin)
    const { code, verifier } = await consent(origin, { clientId })
    expect((await spend(code, verifier, { client_id: other })).body.error).toBe('invalid_grant')
  })

  it.each([
    ['without PKCE', ['code_challenge', 'code_challenge_method'], {}],
    ['with a plain challenge', [], { code_challenge_method: 'plain' }],
    ['with a challenge of no method', ['code_challenge_method'], {}],
  ])('is not given %s', async (_, without, params) => {
    const { location } = await ask(origin, { clientId, without, params })
    expect(new URL(location).searchParams.get('error')).toBe('invalid_request')
  })

  it('is not spent with the verifier of somebody else, nor without one', async () => {
    const { code } = await consent(origin, { clientId })
    expect((await spend(code, 'x'.repeat(43))).body.error).toBe('invalid_grant')
    const again = await consent(origin, { clientId })
    const { status } = await exchange(origin, {
      grant_type: 'authorization_code',
      code: again.code,
      client_id: clientId,
      redirect_uri: CALLBACK,
    })
    expect(status).toBe(400)
  })
})

describe('a token for somebody else', () => {
  it.each([
    'https://evil.example/mcp',
    'http://127.0.0.1:1/mcp',
    'http://127.0.0.1.evil.example/mcp',
    'urn:x',
    'relative',
  ])('is not given: %s', async (resource) => {
    const { location } = await ask(origin, { clientId, params: { resource } })
    expect(new URL(location).searchParams.get('error')).toBe('invalid_target')
    const { code, verifier } = await consent(origin, { clientId })
    expect((await spend(code, verifier, { resource })).body.error).toBe('invalid_target')
  })

  it('is not given for a path that is not ours, nor for one of two addresses', async () => {
    for (const path of ['/other', '/mcp/../x', '/mcp#x']) {
      const { location } = await ask(origin, { clientId, params: { resource: origin + path } })
      expect([path, new URL(location).searchParams.get('error')]).toEqual([path, 'invalid_target'])
    }
  })
})

describe('a forged address', () => {
  const metadata = (headers: Record<string, string>) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const { hostname, port } = new URL(origin)
      request({ hostname, port, path: '/.well-known/oauth-authorization-server', headers }, (res) => {
        let text = ''
        res.on('data', (chunk: Buffer) => (text += chunk.toString()))
        res.on('end', () => resolve(JSON.parse(text) as Record<string, unknown>))
      })
        .on('error', reject)
        .end()
    })

  it.each([
    { host: 'evil.example' },
    { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    { forwarded: 'host=evil.example;proto=https' },
  ])('in %j is in no document', async (headers) => {
    const text = JSON.stringify(await metadata(headers))
    expect(text).not.toContain('evil')
    expect(text).not.toContain('https:')
  })

  it('in the document of the resource is answered on loopback alone', async () => {
    const { protectedResource } = await import('../../../src/doors/oauth/metadata.ts')
    const of = (host: string, base: string) =>
      protectedResource({ headers: { host } }, '/mcp', {
        baseUrl: base,
        siteUrl: base,
        mcpUrl: `${base}/mcp`,
      })['resource']
    expect(of('127.0.0.1:8402', 'http://localhost:8402')).toBe('http://127.0.0.1:8402/mcp')
    expect(of('127.0.0.1:9999', 'http://localhost:8402')).toBe('http://localhost:8402/mcp')
    expect(of('evil.example:8402', 'http://localhost:8402')).toBe('http://localhost:8402/mcp')
    expect(of('evil.example', 'https://gateway.example')).toBe('https://gateway.example/mcp')
    expect(of('127.0.0.1', 'https://gateway.example')).toBe('https://gateway.example/mcp')
  })

  it('changes no cookie and no address of a gateway behind TLS', async () => {
    const secure = await startOauth({ baseUrl: 'https://gateway.example' })
    try {
      const { client_id: id } = await register(secure.baseUrl)
      const { answer, location } = await ask(secure.baseUrl, {
        clientId: id,
        params: { resource: 'https://gateway.example/mcp' },
      })
      expect(location).toMatch(/^https:\/\/gateway\.example\/console\/connect\//)
      const cookies = answer.headers.getSetCookie()
      expect(cookies.some((line) => line.startsWith('__Host-agw-ask='))).toBe(true)
      expect(cookies.filter((line) => !/; ?httponly/i.test(line) || !/; ?secure/i.test(line))).toEqual([])
    } finally {
      await secure.close()
    }
  })
})

describe('the consent of a person', () => {
  it('is asked for in the browser that was sent here, and in no other', async () => {
    const victim = createBrowser(origin)
    const attacker = await ask(origin, { clientId })
    const { pathname } = new URL(attacker.location)
    expect((await victim.go(pathname)).status).toBe(404)
    expect((await victim.go(pathname, { method: 'POST' })).status).toBe(409)
    // A browser that waits for another one's request has a name, and is still not this one.
    const own = await ask(origin, { clientId, browser: victim })
    expect((await victim.go(pathname, { method: 'POST' })).status).toBe(409)
    const [subject] = pathname.split('/').slice(-1)
    const mixed = `${(subject ?? '').split('.')[0]}.${own.location.split('.').at(-1)}`
    expect((await victim.go(`/console/connect/${mixed}`, { method: 'POST' })).status).toBe(409)
  })

  it('counts once, also where it is given several times at once', async () => {
    const { browser, location } = await ask(origin, { clientId })
    const { pathname } = new URL(location)
    const before = server.memory.connections.length
    const all = await Promise.all([1, 2, 3].map(() => browser.go(pathname, { method: 'POST' })))
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    const opened = server.memory.connections.slice(before)
    expect(opened.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1)
    expect((await browser.go(pathname, { method: 'POST' })).status).toBe(409)
  })

  it('is worth nothing where another browser comes back for the code', async () => {
    const { browser, location } = await ask(origin, { clientId })
    const to = await (await browser.go(new URL(location).pathname, { method: 'POST' })).text()
    const answer = await createBrowser(origin).go(to)
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect((await browser.go(to)).headers.get('location')).toContain('code=')
    expect((await browser.go(to)).status).toBe(400)
  })

  it('is never assumed: who asks for no page gets an error', async () => {
    const { location } = await ask(origin, { clientId, params: { prompt: 'none' } })
    expect(new URL(location).searchParams.get('error')).toMatch(/_required$/)
  })

  it('waits half an hour', async () => {
    const { browser, location } = await ask(origin, { clientId })
    server.advance(31 * 60_000)
    expect((await browser.go(new URL(location).pathname, { method: 'POST' })).status).toBe(409)
  })
})

describe('a refresh token', () => {
  it('that is used again after its minute ends the connection, and is logged', async () => {
    const { body } = await connect(origin, { clientId })
    const next = await refresh(body.refresh_token)
    expect(next.status).toBe(200)
    server.advance(61_000)
    expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    expect(isEnded()).toBe(true)
    expect((await refresh(next.body.refresh_token)).body.error).toBe('invalid_grant')
    expect(server.log()).toContain('was used again')
  })

  it('is worth nothing to another client', async () => {
    const { client_id: other } = await register(origin)
    const { body } = await connect(origin, { clientId })
    const answer = await exchange(origin, {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
      client_id: other,
    })
    expect(answer.body.error).toBe('invalid_grant')
    expect(isEnded()).toBe(false)
  })

  it('gives no more than was allowed', async () => {
    const { body } = await connect(origin, { clientId })
    const answer = await exchange(origin, {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
      client_id: clientId,
      scope: 'gateway gateway:operator',
    })
    expect(answer.body.error).toBe('invalid_scope')
  })
})

describe('a client that says too much of itself', () => {
  it('keeps neither the id nor the secret that it wanted', async () => {
    const said = await register(origin, {
      client_id: 'agent-gateway-cli',
      client_secret: 'mine',
      client_id_issued_at: 1,
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'client_credentials', 'password', 'implicit'],
      logo_uri: 'http://evil.example/logo.svg',
      default_acr_values: ['x'],
      require_auth_time: true,
    })
    expect(said.client_id).toMatch(/^agw-client-/)
    expect(said.client_secret).not.toBe('mine')
    expect(said).not.toHaveProperty('logo_uri')
    expect(said).toMatchObject({ application_type: 'native', grant_types: ['authorization_code'] })
  })

  it('is refused where its body is no object, or too large', async () => {
    const send = (body: string) =>
      fetch(`${origin}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
    for (const body of ['[]', '"x"', '{', 'null'])
      expect([body, (await send(body)).status]).toEqual([body, 400])
    expect((await send(JSON.stringify({ client_name: 'x'.repeat(60_000) }))).status).toBe(413)
  })

  it('is one of sixty an hour from its network', async () => {
    const limited = await startOauth({ rateLimit: 100 })
    try {
      for (let i = 0; i < 60; i++) await register(limited.baseUrl)
      await expect(register(limited.baseUrl)).rejects.toThrow(/^429 .*too many registrations/)
    } finally {
      await limited.close()
    }
  })
})

describe('a flood from one address', () => {
  it('leaves three hundred requests a minute behind, and no more', async () => {
    const limited = await startOauth({ rateLimit: 100 })
    try {
      const { client_id: id } = await register(limited.baseUrl)
      const before = limited.memory.rows.size
      const answers = await Promise.all(
        Array.from({ length: 310 }, () => ask(limited.baseUrl, { clientId: id })),
      )
      expect(answers.filter(({ answer }) => answer.status === 429)).toHaveLength(11)
      expect(limited.memory.rows.size - before).toBe(299)
    } finally {
      await limited.close()
    }
  })
})

describe('what is kept', () => {
  it('has no code, token, secret or address of a client in it', async () => {
    const { client_id: id, client_secret: secret = '' } = await register(origin, {
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: ['https://planted.example/callback'],
    })
    const options = { clientId: id, redirectUri: 'https://planted.example/callback' }
    const { code, browser, location, verifier } = await consent(origin, options)
    const { body } = await spend(code, verifier, {
      client_id: id,
      client_secret: secret,
      redirect_uri: options.redirectUri,
    })
    const device = (await (
      await fetch(`${origin}/oauth/device`, form({ client_id: 'agent-gateway-cli' }))
    ).json()) as Record<string, string>
    expect(body.access_token).toMatch(/^agw_at_/)
    const kept = [...server.memory.rows.values()]
    const text =
      JSON.stringify(kept) + kept.map(({ payload }) => Buffer.from(payload, 'base64').toString('latin1'))
    const planted = [
      code,
      secret,
      body.access_token,
      body.refresh_token,
      device['device_code'],
      'planted.example',
    ]
    const codes = [device['user_code'], device['user_code']?.replace('-', '')]
    for (const secretText of [...planted, ...codes, location.split('/').at(-1), ...browser.cookies.keys()])
      expect([secretText, text.includes(secretText ?? '-')]).toEqual([secretText, false])
  })

  it('is worth nothing in another row', async () => {
    const memory = createMemory()
    const place = await startOauth({ memory })
    try {
      const rich = await register(place.baseUrl, { client_name: 'Rich' })
      const poor = await register(place.baseUrl, { client_name: 'Poor' })
      const [richRow, poorRow] = [...memory.rows.values()]
      if (!richRow || !poorRow) throw new Error('two clients were registered')
      memory.rows.set(Buffer.from(poorRow.rowHash).toString('hex'), { ...poorRow, payload: richRow.payload })
      expect((await ask(place.baseUrl, { clientId: poor.client_id })).answer.status).toBe(400)
      expect((await ask(place.baseUrl, { clientId: rich.client_id })).answer.status).toBe(303)
    } finally {
      await place.close()
    }
  })

  it('serves a second replica, and a restart in the middle', async () => {
    const memory = createMemory()
    const first = await startOauth({ memory })
    const second = await startOauth({ memory, baseUrl: first.baseUrl })
    try {
      const { client_id: id } = await register(first.baseUrl)
      const asked = await ask(first.baseUrl, { clientId: id })
      // The same browser is served by the other process from here on.
      const to = await asked.browser.go(second.baseUrl + new URL(asked.location).pathname, { method: 'POST' })
      const { pathname } = new URL(await to.text())
      await first.close()
      const back = await asked.browser.go(second.baseUrl + pathname)
      const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
      const { status } = await exchange(second.baseUrl, {
        grant_type: 'authorization_code',
        code,
        code_verifier: asked.verifier,
        client_id: id,
        redirect_uri: CALLBACK,
      })
      expect(status).toBe(200)
    } finally {
      await second.close()
    }
  })
})

describe('the document of a client', () => {
  const ID = 'https://client.example.com/oauth/client.json'
  const DOCUMENT = {
    client_id: ID,
    client_name: 'Client of Example',
    redirect_uris: ['http://localhost/callback', 'https://client.example.com/callback'],
    token_endpoint_auth_method: 'none',
  }
  interface Outside {
    readonly addresses?: readonly string[]
    readonly body?: string
    readonly status?: number
    readonly headers?: readonly { name: string; value: string }[]
  }
  const started: TestServer[] = []
  afterAll(() => Promise.all(started.map((one) => one.close())))

  /** A gateway whose way out is the real one, up to the wire. */
  async function outside({ addresses = ['93.184.215.14'], body, status = 200, headers = [] }: Outside) {
    const sent: OutboundRequest[] = []
    const readDocument = createDocumentReader({
      targets: createTargets({
        resolver: { resolve: async () => addresses },
        policy: createAddressPolicy([]),
        allowSandboxName: false,
        checkHost: async () => ({ ok: true }),
      }),
      target: { ports: [443] },
      userAgent: 'test',
      sender: {
        async send(outbound): Promise<SendResult> {
          sent.push(outbound)
          const bytes = Buffer.from(body ?? JSON.stringify(DOCUMENT))
          const isCut = bytes.length > outbound.maxResponseBytes
          return {
            ok: true,
            response: {
              status,
              statusText: '',
              headers,
              body: bytes.subarray(0, outbound.maxResponseBytes),
              isCut,
            },
          }
        },
      },
    })
    const place = await startOauth({ readDocument })
    started.push(place)
    return { place, sent }
  }
  const redirectUri = 'http://localhost:41000/callback'
  const askAs = async (options: Outside, id = ID) => {
    const { place, sent } = await outside(options)
    return { ...(await ask(place.baseUrl, { clientId: id, redirectUri })), sent, place }
  }

  it('is read once, and proves the host', async () => {
    const { browser, location, place, sent } = await askAs({})
    const asked = (await (await browser.go(location)).json()) as { client: Record<string, unknown> }
    expect(asked.client).toMatchObject({ id: ID, name: 'Client of Example', host: 'client.example.com' })
    await ask(place.baseUrl, { clientId: ID, redirectUri })
    expect(sent).toHaveLength(1)
    const { status } = await connect(place.baseUrl, { clientId: ID, redirectUri })
    expect(status).toBe(200)
  })

  it.each(['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1', 'fd00::1'])(
    'is not fetched from %s',
    async (address) => {
      const { answer, sent } = await askAs({ addresses: ['93.184.215.14', address] })
      expect([answer.status, sent.length]).toEqual([400, 0])
    },
  )

  it.each([
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://client.example.com:8443/client.json',
    'https://user@client.example.com/client.json',
    'https://client.example.com/a/../client.json',
    'http://client.example.com/client.json',
  ])('is not fetched at %s', async (id) => {
    const { answer, sent } = await askAs({}, id)
    expect([answer.status, sent.length]).toEqual([400, 0])
  })

  it.each([
    ['follows no redirect', { status: 302, headers: [{ name: 'location', value: 'https://10.0.0.1/' }] }],
    ['of 2 MB is none', { body: JSON.stringify({ ...DOCUMENT, x: 'x'.repeat(2_000_000) }) }],
    ['speaks for no other client', { body: JSON.stringify({ ...DOCUMENT, client_id: `${ID}x` }) }],
    ['holds no secret', { body: JSON.stringify({ ...DOCUMENT, client_secret: 'x' }) }],
    [
      'uses no secret',
      { body: JSON.stringify({ ...DOCUMENT, token_endpoint_auth_method: 'client_secret_post' }) },
    ],
    ['is JSON', { body: '<html>' }],
    ['is an object', { body: '[]' }],
    [
      'sends nobody to strangers',
      { body: JSON.stringify({ ...DOCUMENT, redirect_uris: ['http://evil.example/'] }) },
    ],
    [
      'that begins as a set of keys sends nobody to strangers either',
      {
        body: JSON.stringify({
          keys: [],
          ...DOCUMENT,
          application_type: 'web',
          redirect_uris: ['http://evil.example/', redirectUri],
        }),
      },
    ],
  ])('%s', async (_, options) => {
    expect((await askAs(options)).answer.status).toBe(400)
  })

  it('that begins as a set of keys is read as every other: its name turns no text around', async () => {
    const name = 'Client \u202egnp.exe\n of Example'
    const body = JSON.stringify({ keys: [], ...DOCUMENT, client_name: name })
    const { browser, location } = await askAs({ body })
    const { client } = (await (await browser.go(location)).json()) as { client: { name: string } }
    expect(client.name).toBe('Client gnp.exe of Example')
  })

  it('of a client that many have is known where it cannot be fetched', async () => {
    const { browser, location } = await askAs(
      { addresses: [] },
      'https://claude.ai/oauth/claude-code-client-metadata',
    )
    const asked = (await (await browser.go(location)).json()) as { client: Record<string, unknown> }
    expect(asked.client).toMatchObject({ name: 'Claude Code', host: 'claude.ai', isLoopback: true })
  })

  it('is one of a hundred and twenty an hour that a network may have fetched', async () => {
    const place = await startOauth({ rateLimit: 100 })
    started.push(place)
    const answers = await Promise.all(
      Array.from({ length: 125 }, (_, i) =>
        ask(place.baseUrl, { clientId: `https://c${i}.example.com/x`, redirectUri }),
      ),
    )
    expect(answers.every(({ answer }) => answer.status === 400)).toBe(true)
    expect(place.log().match(/document of a client could not be read/g)).toHaveLength(120)
  })
})
