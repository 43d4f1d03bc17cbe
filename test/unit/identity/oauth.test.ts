// The authorization server: what clients are told, and the way from a request to tokens. Attacks are in oauth-attacks.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  connect,
  consent,
  createBrowser,
  exchange,
  form,
  register,
  startOauth,
  type TestServer,
} from '../../support/oauth.ts'

let server: TestServer
let origin: string
beforeAll(async () => {
  server = await startOauth()
  origin = server.baseUrl
})
afterAll(() => server?.close())

const json = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(origin + path, { headers })
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as Record<string, unknown>,
  }
}
const refresh = (clientId: string, refresh_token: string, more: Record<string, string> = {}) =>
  exchange(origin, { grant_type: 'refresh_token', refresh_token, client_id: clientId, ...more })

describe('the documents that clients begin with', () => {
  it.each(['', '/mcp', '/mcp/'])(
    'says who gives tokens at /.well-known/oauth-protected-resource%s',
    async (path) => {
      const { status, body, headers } = await json(`/.well-known/oauth-protected-resource${path}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ resource: `${origin}/mcp`, authorization_servers: [origin] })
      expect(headers.get('access-control-allow-origin')).toBe('*')
    },
  )

  it('says it behind the path too, and for the address that demands sign-in', async () => {
    expect((await json('/mcp/.well-known/oauth-protected-resource')).body['resource']).toBe(`${origin}/mcp`)
    const { body } = await json('/.well-known/oauth-protected-resource/mcp/connect')
    expect(body['resource']).toBe(`${origin}/mcp/connect`)
  })

  it.each([
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/mcp/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/mcp',
    '/mcp/.well-known/openid-configuration',
  ])('describes the server at %s', async (path) => {
    const { body, headers } = await json(path)
    expect(body).toMatchObject({
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/oauth/token`,
      registration_endpoint: `${origin}/oauth/register`,
      revocation_endpoint: `${origin}/oauth/revoke`,
      introspection_endpoint: `${origin}/oauth/introspect`,
      device_authorization_endpoint: `${origin}/oauth/device`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
    expect(body['token_endpoint_auth_methods_supported']).toContain('none')
    expect(body['scopes_supported']).toEqual(expect.arrayContaining(['gateway', 'gateway:operator']))
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  it('lets a page of another origin register and ask for tokens', async () => {
    for (const path of ['/oauth/register', '/oauth/token', '/oauth/device', '/oauth/revoke']) {
      const answer = await fetch(origin + path, {
        method: 'OPTIONS',
        headers: { origin: 'http://localhost:6274', 'access-control-request-method': 'POST' },
      })
      expect([path, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
        path,
        204,
        '*',
      ])
    }
    const { headers } = await json('/oauth/jwks', { origin: 'http://localhost:6274' })
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('the way from a request to a token', () => {
  it('registers, asks the person once, and gives tokens', async () => {
    const { client_id: clientId } = await register(origin)
    const done = await connect(origin, { clientId })
    expect(done.callback.searchParams.get('iss')).toBe(origin)
    expect(done.callback.searchParams.get('state')).toBe('state-1')
    expect(done.body).toMatchObject({ token_type: 'Bearer', scope: 'gateway', expires_in: 28_800 })
    expect(done.body.access_token).toMatch(/^agw_at_/)
    expect(done.body.refresh_token).toMatch(/^agw_rt_/)
    expect(done.headers.get('cache-control')).toBe('no-store')
    expect(server.memory.tokens.size).toBe(1)
  })

  it('tells the page of consent who asks, and where the answer goes', async () => {
    const { client_id: clientId } = await register(origin, { client_name: 'Name\u202e of\nmine' })
    const { browser, location } = await ask(origin, { clientId })
    const asked = (await (await browser.go(location)).json()) as Record<string, unknown>
    expect(asked).toMatchObject({
      client: {
        id: clientId,
        name: 'Name ofmine',
        host: null,
        redirectHost: 'localhost:7777',
        isLoopback: true,
      },
      scopes: ['gateway'],
    })
  })

  it.each([' offline_access', '', 'unknown other', 'gateway  offline_access'])(
    'gives the least where a client asks for the scope %j',
    async (scope) => {
      const { client_id: clientId } = await register(origin, { scope })
      const { body } = await connect(origin, { clientId, params: { scope } })
      expect(body.scope).toBe('gateway')
      expect(body.refresh_token).toMatch(/^agw_rt_/)
    },
  )

  it('gives the tools of operators where the person says so, and not where they do not', async () => {
    const generous = await startOauth({ choice: { mayOperate: true } })
    const asks = { params: { scope: 'gateway gateway:operator' } }
    try {
      const { client_id: clientId } = await register(generous.baseUrl)
      const { body } = await connect(generous.baseUrl, { clientId, ...asks })
      expect(body.scope).toBe('gateway gateway:operator')
    } finally {
      await generous.close()
    }
    const { client_id: clientId } = await register(origin)
    expect((await connect(origin, { clientId, ...asks })).body.scope).toBe('gateway')
  })

  it.each(['', '/', '/mcp', '/mcp/', '/mcp?names=portable'])(
    'takes %j behind its origin as its address, at both endpoints',
    async (path) => {
      const { client_id: clientId } = await register(origin)
      const upper = origin.replace('http://', 'HTTP://')
      const { code, verifier } = await consent(origin, { clientId, params: { resource: origin + path } })
      const { status } = await exchange(origin, {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        client_id: clientId,
        redirect_uri: 'http://localhost:7777/callback',
        resource: upper + path,
      })
      expect(status).toBe(200)
    },
  )

  it('asks for consent every time, and says no to a client where the person does', async () => {
    const { client_id: clientId } = await register(origin)
    const first = await consent(origin, { clientId })
    const second = await ask(origin, { clientId, browser: first.browser })
    expect(second.location).toContain('/console/connect/')
    const to = await first.browser.go(`${new URL(second.location).pathname}?no`, { method: 'POST' })
    const back = await first.browser.go(await to.text())
    const callback = new URL(back.headers.get('location') ?? '')
    expect(callback.searchParams.get('error')).toBe('access_denied')
    expect(callback.searchParams.get('iss')).toBe(origin)
  })

  it('shows the page in the language of the client', async () => {
    const { client_id: clientId } = await register(origin)
    const { location } = await ask(origin, { clientId, params: { ui_locales: 'ar en' } })
    expect(new URL(location).pathname).toMatch(/^\/ar\/console\/connect\//)
  })
})

describe('refresh, revocation and introspection', () => {
  it('rotates, and takes the old token for a minute: clients refresh in several processes', async () => {
    const { client_id: clientId } = await register(origin)
    const { body } = await connect(origin, { clientId })
    const all = await Promise.all(Array.from({ length: 20 }, () => refresh(clientId, body.refresh_token)))
    expect(all.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(new Set(all.map(({ body: { access_token } }) => access_token)).size).toBe(20)
    expect(all.every((answer) => answer.body.refresh_token !== body.refresh_token)).toBe(true)
  })

  it('answers whether a token is good, to its own client alone', async () => {
    const { client_id: clientId } = await register(origin)
    const { client_id: other } = await register(origin)
    const { body } = await connect(origin, { clientId })
    const look = async (client_id: string, token: string) =>
      (await fetch(`${origin}/oauth/introspect`, form({ token, client_id }))).json()
    expect(await look(clientId, body.access_token)).toMatchObject({
      active: true,
      client_id: clientId,
      aud: `${origin}/mcp`,
      scope: 'gateway',
      iss: origin,
    })
    expect(await look(clientId, body.refresh_token)).toMatchObject({ active: true })
    expect(await look(other, body.access_token)).toEqual({ active: false })
    expect(await look(clientId, 'agw_at_unknown')).toEqual({ active: false })
  })

  it.each(['access_token', 'refresh_token'] as const)(
    'ends all of it when a client gives its %s back',
    async (kind) => {
      const { client_id: clientId } = await register(origin)
      const { client_id: other } = await register(origin)
      const { body } = await connect(origin, { clientId })
      const revoke = (client_id: string) =>
        fetch(`${origin}/oauth/revoke`, form({ token: body[kind], client_id }))
      await revoke(other)
      const again = await refresh(clientId, body.refresh_token)
      expect(again.status).toBe(200)
      expect((await revoke(clientId)).status).toBe(200)
      expect((await refresh(clientId, again.body.refresh_token)).body.error).toBe('invalid_grant')
      expect(server.memory.connections.at(-1)?.revokedAt).not.toBeNull()
    },
  )

  it('refreshes no connection that was ended in the console', async () => {
    const { client_id: clientId } = await register(origin)
    const { body } = await connect(origin, { clientId })
    await server.memory.doors.revoke('acct_1', server.memory.connections.at(-1)?.id ?? '')
    expect((await refresh(clientId, body.refresh_token)).body.error).toBe('invalid_grant')
    const answer = await fetch(
      `${origin}/oauth/introspect`,
      form({ token: body.access_token, client_id: clientId }),
    )
    expect(await answer.json()).toEqual({ active: false })
  })
})

describe('a program without a browser', () => {
  const start = async (clientId = 'agent-gateway-cli') => {
    const answer = await fetch(`${origin}/oauth/device`, form({ client_id: clientId }))
    return (await answer.json()) as Record<string, string>
  }
  const poll = (device_code: string, client_id = 'agent-gateway-cli') =>
    exchange(origin, { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code, client_id })
  const type = async (code: string, answer = '') => {
    const browser = createBrowser(origin)
    const uid = await (await browser.go(`/console/device?user_code=${code}`)).text()
    return { browser, uid, done: await browser.go(`/console/connect/${uid}${answer}`, { method: 'POST' }) }
  }

  it('shows a code, waits, and gets its tokens when the person has typed it', async () => {
    const begun = await start()
    expect(begun['verification_uri']).toBe(`${origin}/console/device`)
    expect(begun['user_code']).toMatch(/^[B-Z]{4}-[B-Z]{4}$/)
    const code = begun['device_code'] ?? ''
    expect((await poll(code)).body.error).toBe('authorization_pending')
    const { done } = await type((begun['user_code'] ?? '').toLowerCase().replace('-', ' '))
    expect(await done.text()).toBe(`${origin}/console/device?done=connected`)
    server.advance(6000)
    const tokens = await poll(code)
    expect(tokens.body.access_token).toMatch(/^agw_at_/)
    expect(tokens.body.scope).toBe('gateway')
    server.advance(6000)
    expect((await poll(code)).body.error).toBe('invalid_grant')
  })

  it('is told to wait where it asks too often', async () => {
    const { device_code: code = '' } = await start()
    expect((await poll(code)).body.error).toBe('authorization_pending')
    expect((await poll(code)).body.error).toBe('slow_down')
    server.advance(5000)
    expect((await poll(code)).body.error).toBe('authorization_pending')
  })

  it('is told that the person refused', async () => {
    const begun = await start()
    await type(begun['user_code'] ?? '', '?no')
    expect((await poll(begun['device_code'] ?? '')).body.error).toBe('access_denied')
  })

  it('finds no code that nobody waits with, and none twice', async () => {
    const unknown = await createBrowser(origin).go('/console/device?user_code=BBBB-BBBB')
    expect(unknown.status).toBe(404)
    const begun = await start()
    const { browser, uid } = await type(begun['user_code'] ?? '')
    expect((await browser.go(`/console/connect/${uid}`, { method: 'POST' })).status).toBe(409)
  })
})
