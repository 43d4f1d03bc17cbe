// Credentials that tokens are minted from, against a real OAuth server and faithful ones for Google and GitHub.
import { generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import {
  CLIENT,
  KEY_CLIENT,
  type OAuthServer,
  reservePort,
  startOAuthServer,
} from '../support/oauth-server.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

let gw: TestGateway
let oauth: OAuthServer
let clock = 0
beforeAll(async () => {
  const reserved = await reservePort()
  gw = await startTestGateway({
    ports: [reserved.port],
    env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' },
    now: () => Date.now() + clock,
  })
  oauth = await startOAuthServer(reserved, gw.ca, UPSTREAM_HOST)
})
afterAll(async () => {
  await gw.close()
  await oauth.close()
})
const bearerOf = ({ headers }: ReceivedRequest) =>
  /^Bearer (.+)$/.exec(headers.find(([name]) => name === 'authorization')?.[1] ?? '')?.[1] ?? ''
/** What the upstream got of each request that was served. */
const served: string[] = []
beforeEach(() => {
  served.length = 0
  clock = 0
  oauth.instead(undefined)
  gw.upstream.respond((request, res) => {
    void oauth.isGood(bearerOf(request)).then((isGood) => {
      if (isGood) served.push(bearerOf(request))
      res.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end('{"ok":true}')
    })
  })
})

const clientSettings = () => ({ token_url: oauth.tokenUrl, client_id: CLIENT.id })
const grantOf = (
  kind: Record<string, unknown>,
  parts: Record<string, string>,
  more: Record<string, unknown> = {},
) =>
  gw.grant({
    credential: { secret: undefined, parts, settings: { kind }, ...more },
    capability: { ttl_seconds: 86_400 },
  })
const get = (capability: string, path = '/v1/things') => gw.fetch(capability, { url: gw.url(path) })
const tokenRequests = async (run: () => Promise<unknown>) => {
  const before = oauth.asked.length
  await run()
  return oauth.asked.slice(before).map(({ grant, status }) => `${grant} ${status}`)
}

describe('a refresh token', () => {
  const store = async () =>
    grantOf(
      { type: 'oauth2_refresh_token', ...clientSettings() },
      { refresh_token: await oauth.newRefreshToken(), client_secret: CLIENT.secret },
    )

  it('is traded for an access token once, however many ask at once, and the token serves until it expires', async () => {
    const { capability } = await store()
    expect(
      await tokenRequests(async () => {
        const answers = await Promise.all(Array.from({ length: 16 }, () => get(capability)))
        expect(answers.map(({ status, body }) => `${status} ${body.upstream?.status}`)).toEqual(
          Array.from({ length: 16 }, () => '200 200'),
        )
      }),
    ).toEqual(['refresh_token 200'])
    expect(new Set(served).size).toBe(1)
    expect(await tokenRequests(() => get(capability))).toEqual([])
  })

  it('is replaced by the one that the provider gives: a second exchange works where the first token is refused', async () => {
    const { capability } = await store()
    await get(capability)
    for (const hours of [1, 2, 3]) {
      clock = hours * 3_600_000
      expect(await tokenRequests(() => get(capability))).toEqual(['refresh_token 200'])
    }
  })

  it('is not used while a token is good, and a minute before that ends it is', async () => {
    const { capability } = await store()
    await get(capability)
    clock = 3_600_000 - 65_000
    expect(await tokenRequests(() => get(capability))).toEqual([])
    clock = 3_600_000 - 55_000
    expect(await tokenRequests(() => get(capability))).toEqual(['refresh_token 200'])
  })

  it('and what was minted from it come back in no answer, whoever sends them', async () => {
    const { capability } = await store()
    await get(capability)
    const token = served.at(-1) ?? ''
    gw.upstream.respond((_, res) => res.end(`{"you sent":"${Buffer.from(token).toString('base64')}"}`))
    expect((await get(capability)).body.code).toBe('secret_reflected')
    gw.upstream.respond((_, res) => res.end(CLIENT.secret))
    expect((await get(capability)).body.code).toBe('secret_reflected')
    gw.upstream.respond((_, res) => res.end('{"token":"of somebody else"}'))
    expect((await get(capability)).status).toBe(200)
  })

  it('gives a token that comes back in no answer for as long as it lives, also when another took its place', async () => {
    const { capability } = await store()
    await get(capability)
    const [token = ''] = served
    const isShown = async () => {
      gw.upstream.respond((_, res) =>
        res.end(JSON.stringify({ recent: [{ authorization: `Bearer ${token}` }] })),
      )
      return (await get(capability)).status === 200
    }
    clock = 120_000
    gw.upstream.respond((_, res) => res.writeHead(401).end('{}'))
    await get(capability)
    expect(await tokenRequests(isShown)).toEqual(['refresh_token 200'])
    expect(await isShown()).toBe(false)
    clock = 3_600_000 - 30_000
    expect(await isShown()).toBe(false)
    clock = 3_600_000 + 60_000
    expect(await isShown()).toBe(true)
  })

  it('gives tokens none of which is pushed out of the search while it lives, though each is refused, minute by minute', async () => {
    const { capability, credentialId } = await store()
    const used = new Set<string>()
    gw.upstream.respond((request, res) => {
      used.add(bearerOf(request))
      res.writeHead(401).end('{}')
    })
    for (let minute = 0; minute < 57; minute++) {
      await get(capability)
      clock += 61_000
    }
    // Whoever has one that is really dead gets another.
    expect(used.size).toBeGreaterThan(3)
    const shown = async () => {
      const codes: string[] = []
      for (const token of used) {
        expect(await oauth.isGood(token)).toBe(true)
        gw.upstream.respond((_, res) => res.end(JSON.stringify({ recent: [`Bearer ${token}`] })))
        codes.push((await get(capability)).body.code)
      }
      return codes
    }
    const allFound = Array.from(used, () => 'secret_reflected')
    expect(await shown()).toEqual(allFound)
    const rotated = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
      parts: { refresh_token: await oauth.newRefreshToken(), client_secret: CLIENT.secret },
    })
    expect(rotated.status).toBe(200)
    expect(await shown()).toEqual(allFound)
  })

  it.each([1, 2])(
    'gives a token that is still searched for when its secret was replaced %s times',
    async (times) => {
      const { capability, credentialId } = await store()
      await get(capability)
      const [token = ''] = served
      for (let i = 0; i < times; i++) {
        const rotated = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
          parts: { refresh_token: await oauth.newRefreshToken(), client_secret: CLIENT.secret },
        })
        expect(rotated.status).toBe(200)
        await get(capability)
      }
      expect(served.at(-1)).not.toBe(token)
      // The provider knows nothing of the rotation: the token opens what it opened.
      expect(await oauth.isGood(token)).toBe(true)
      gw.upstream.respond((_, res) => res.end(JSON.stringify({ recent: [`Bearer ${token}`] })))
      expect((await get(capability)).body.code).toBe('secret_reflected')
      clock = 3_600_000 - 30_000
      expect((await get(capability)).body.code).toBe('secret_reflected')
    },
  )

  it('stays, the newest of them, where its operator replaces the other parts alone', async () => {
    const first = await oauth.newRefreshToken()
    const { capability, credentialId } = await grantOf(
      { type: 'oauth2_refresh_token', ...clientSettings() },
      { refresh_token: first, client_secret: CLIENT.secret },
    )
    const rotate = (parts: Record<string, string>) =>
      gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, { parts })
    // Nothing was minted yet: it is the one that was stored.
    expect(await rotate({ client_secret: 'a-client-secret-that-ran-out' })).toMatchObject({
      status: 200,
      body: { version: 2 },
    })
    expect((await get(capability)).body).toMatchObject({ oauth_error: 'invalid_client' })
    expect((await rotate({ client_secret: CLIENT.secret })).status).toBe(200)
    for (const hours of [1, 2]) {
      clock = hours * 3_600_000
      expect((await get(capability)).status).toBe(200)
    }
    expect((await rotate({ client_secret: CLIENT.secret })).body).toMatchObject({ version: 4 })
    expect(await tokenRequests(() => get(capability))).toEqual(['refresh_token 200'])
    // The provider replaced the first one long ago: it would have ended the authorisation.
    expect((await rotate({ refresh_token: first, client_secret: CLIENT.secret })).status).toBe(200)
    expect((await get(capability)).body).toMatchObject({ oauth_error: 'invalid_grant' })
  })

  it('is all that may be left out, of this kind alone', async () => {
    const { credentialId } = await store()
    const rotate = (id: string, given: Record<string, unknown>) =>
      gw.rest('POST', `/v1/egress/credentials/${id}/rotate`, given)
    for (const [given, pointer] of [
      [{ parts: {} }, '/parts/refresh_token'],
      [{ parts: { refresh_token: 'another-refresh-token' } }, '/parts/client_secret'],
      [{ parts: { client_id: 'another-client-secret' } }, '/parts/client_secret'],
      [{ secret: 'another-client-secret' }, '/parts/client_secret'],
      [{ parts: { client_secret: CLIENT.secret, password: 'of-nobody-at-all' } }, '/parts/password'],
    ] as const) {
      const refused = await rotate(credentialId, given)
      expect([refused.status, refused.body.fields?.[0]?.pointer]).toEqual([400, pointer])
    }
    const other = await grantOf(
      { type: 'oauth2_client_credentials', ...clientSettings() },
      { client_secret: CLIENT.secret },
    )
    const refused = await rotate(other.credentialId, { parts: { private_key: 'none' } })
    expect(refused.body.fields?.[0]?.pointer).toBe('/parts/client_secret')
    expect((await gw.rest('GET', `/v1/egress/credentials/${credentialId}`)).body.version).toBe(1)
  })

  it('is in no log, no list and no row', async () => {
    const refreshToken = await oauth.newRefreshToken()
    const { capability, credentialId } = await grantOf(
      { type: 'oauth2_refresh_token', ...clientSettings() },
      { refresh_token: refreshToken, client_secret: CLIENT.secret },
    )
    await get(capability)
    const [token = ''] = served
    expect(token.length).toBeGreaterThan(20)
    const listed = (await gw.rest('GET', '/v1/egress/credentials')).text
    expect(listed).toContain(credentialId)
    for (const secret of [refreshToken, CLIENT.secret, token]) {
      expect(gw.log()).not.toContain(secret)
      expect(listed).not.toContain(secret)
    }
  })

  it('that was revoked is a credential_unavailable that says who can mend it, refunds, and asks the provider once', async () => {
    const { capability } = await grantOf(
      { type: 'oauth2_refresh_token', ...clientSettings() },
      { refresh_token: 'never-issued-by-anybody', client_secret: CLIENT.secret },
    )
    const balance = await gw.balance()
    const requests = await tokenRequests(async () => {
      for (let i = 0; i < 3; i++) {
        const { status, body } = await get(capability)
        expect(status).toBe(503)
        expect(body).toMatchObject({
          code: 'credential_unavailable',
          failed: 'token_exchange',
          token_host: UPSTREAM_HOST,
          oauth_error: 'invalid_grant',
          mended_by: 'operator',
          credits: { charged: 0 },
        })
        expect(body.detail).toContain('Ask the operator to authorise again')
        expect(body.detail).not.toContain('refresh token not found')
      }
    })
    expect(requests).toEqual(['refresh_token 400'])
    expect(await gw.balance()).toBe(balance)
    expect(served).toEqual([])
  })

  it('works again at once when its operator replaces it', async () => {
    const { capability, credentialId } = await grantOf(
      { type: 'oauth2_refresh_token', ...clientSettings() },
      { refresh_token: 'never-issued-by-anybody', client_secret: CLIENT.secret },
    )
    expect((await get(capability)).status).toBe(503)
    const rotated = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
      parts: { refresh_token: await oauth.newRefreshToken(), client_secret: CLIENT.secret },
    })
    expect(rotated.status).toBe(200)
    expect((await get(capability)).body.upstream?.status).toBe(200)
  })

  it('passes on nothing of what a provider says, whatever it says', async () => {
    const { capability } = await store()
    oauth.instead({
      status: 400,
      body: JSON.stringify({ error: CLIENT.secret, error_description: `you sent ${CLIENT.secret}` }),
    })
    const { text, body } = await get(capability)
    expect(body.code).toBe('credential_unavailable')
    expect(text + gw.log()).not.toContain(CLIENT.secret)
    expect(body).not.toHaveProperty('oauth_error')
  })

  it.each([
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'operator'],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://elsewhere.example.com/' }, body: '' },
      'operator',
    ],
    [
      'another kind of token',
      { status: 200, body: '{"access_token":"0123456789","token_type":"mac"}' },
      'operator',
    ],
    [
      'a token with a line break',
      { status: 200, body: '{"access_token":"01234567\\n9","token_type":"bearer"}' },
      'operator',
    ],
    [
      'a token of two letters',
      { status: 200, body: '{"access_token":"ab","token_type":"bearer"}' },
      'operator',
    ],
    ['an error of its own', { status: 503, body: '{"error":"whatever"}' }, 'waiting'],
    ['too many requests', { status: 429, headers: { 'retry-after': '7' }, body: '' }, 'waiting'],
  ])('says who can mend it when the provider answers %s', async (_, answer, mendedBy) => {
    const { capability } = await store()
    oauth.instead(answer)
    const { body } = await get(capability)
    expect(body).toMatchObject({ code: 'credential_unavailable', mended_by: mendedBy })
    if (answer.status === 429) expect(body.retry_after_seconds).toBe(7)
    expect(served).toEqual([])
  })

  it('is asked for again when the upstream refuses a token before its time, but not at every refusal', async () => {
    const { capability } = await store()
    await get(capability)
    gw.upstream.respond((_, res) => res.writeHead(401).end())
    expect(
      await tokenRequests(async () => {
        await get(capability)
        await get(capability)
      }),
    ).toEqual([])
    clock = 120_000
    await get(capability)
    await expect.poll(() => gw.log()).toContain('an upstream refused a minted token before its time')
    expect(await tokenRequests(() => get(capability))).toEqual(['refresh_token 200'])
  })

  it('outlives an edit of its credential, which does not know the secret', async () => {
    const { capability, credentialId } = await store()
    await get(capability)
    const edited = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, {
      label: 'another name',
    })
    expect([edited.status, edited.body.version]).toEqual([200, 2])
    expect(await tokenRequests(() => get(capability))).toEqual([])
    clock = 3_600_000
    expect(await tokenRequests(() => get(capability))).toEqual(['refresh_token 200'])
    const elsewhere = {
      kind: { ...edited.body.settings.kind, token_url: 'https://elsewhere.example.com/token' },
    }
    const moved = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/edit`, {
      settings: elsewhere,
    })
    expect(moved.status).toBe(400)
  })

  it('never goes to the token endpoint by a fetch', async () => {
    const { capability } = await store()
    for (const url of [oauth.tokenUrl, `${oauth.tokenUrl}/`]) {
      const answer = await gw.fetch(capability, { url, method: 'POST', body: 'grant_type=x' })
      expect(answer.body).toMatchObject({ code: 'scope_denied', refused_by: 'credential' })
    }
  })

  it('never goes to the token endpoint by an escaped slash, where its paths may have any', async () => {
    const { origin } = new URL(oauth.tokenUrl)
    const kind = {
      type: 'oauth2_client_credentials',
      ...clientSettings(),
      token_url: `${origin}/oauth/token`,
    }
    const settings = { kind, encoded_slash: true }
    const { capability } = await grantOf(kind, { client_secret: CLIENT.secret }, { settings })
    for (const path of ['/oauth%2Ftoken', '/oauth/token%2F']) {
      const answer = await gw.fetch(capability, { url: `${origin}${path}`, method: 'POST' })
      expect(answer.body).toMatchObject({ code: 'scope_denied', refused_by: 'credential' })
    }
  })

  it('takes its tokens with it when it is revoked', async () => {
    const { capability, credentialId } = await store()
    await get(capability)
    await gw.rest('POST', `/v1/egress/credentials/${credentialId}/revoke`)
    expect(await tokenRequests(async () => expect((await get(capability)).status).not.toBe(200))).toEqual([])
  })
})

describe('client credentials', () => {
  it('are traded for a token', async () => {
    const { capability } = await grantOf(
      { type: 'oauth2_client_credentials', ...clientSettings(), scopes: ['api'] },
      { client_secret: CLIENT.secret },
    )
    expect(await tokenRequests(() => get(capability))).toEqual(['client_credentials 200'])
    expect(served).toHaveLength(1)
  })

  it('may be a signature, which names the token endpoint, or the issuer where the operator says so', async () => {
    const kind = {
      type: 'oauth2_client_credentials',
      token_url: oauth.tokenUrl,
      client_id: KEY_CLIENT,
      client_authentication: 'private_key_jwt',
      key_algorithm: 'ES256',
      scopes: ['api'],
    }
    const issuer = new URL(oauth.tokenUrl).origin
    for (const more of [{}, { assertion_audience: issuer }]) {
      const { capability } = await grantOf({ ...kind, ...more }, { private_key: oauth.clientKey })
      expect(await tokenRequests(() => get(capability))).toEqual(['client_credentials 200'])
    }
    expect(oauth.audiences).toEqual([oauth.tokenUrl, issuer])
    expect(served).toHaveLength(2)
  })

  it('with a wrong secret are refused in words for the operator', async () => {
    const { capability } = await grantOf(
      { type: 'oauth2_client_credentials', ...clientSettings() },
      { client_secret: 'not-the-secret' },
    )
    const { body } = await get(capability)
    expect(body).toMatchObject({
      code: 'credential_unavailable',
      oauth_error: 'invalid_client',
      mended_by: 'operator',
    })
    expect(body.detail).toContain('Ask the operator to check the client id')
  })

  it('reach no token endpoint on an address that is not public, and none that the policy denies', async () => {
    gw.dns.set('login.example.com', { A: ['10.0.0.7'] })
    const { capability } = await grantOf(
      { type: 'oauth2_client_credentials', token_url: 'https://login.example.com/token', client_id: 'x' },
      { client_secret: 'a-client-secret' },
    )
    expect((await get(capability)).body).toMatchObject({
      code: 'credential_unavailable',
      mended_by: 'operator',
    })
  })
})

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

describe('a Google service account', () => {
  const EMAIL = 'gateway@project.iam.gserviceaccount.com'
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

  it('signs an assertion that the token endpoint verifies', async () => {
    const tokenUrl = gw.url('/oauth2/token')
    gw.upstream.respond((request, res) => {
      const reply = (status: number, body: unknown) =>
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (!request.target.startsWith('/oauth2/token'))
        return reply(200, { bearer: bearerOf(request) === 'ya29.token-of-google' })
      const form = new URLSearchParams(request.body.toString())
      void jwtVerify(form.get('assertion') ?? '', publicKey, {
        audience: tokenUrl,
        issuer: EMAIL,
        maxTokenAge: 3600,
      }).then(
        ({ payload, protectedHeader }) =>
          form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
          !form.has('client_id') &&
          payload['scope'] === 'https://www.googleapis.com/auth/cloud-platform' &&
          (payload.exp ?? Infinity) - (payload.iat ?? 0) <= 3600 &&
          protectedHeader.kid === 'key-7'
            ? reply(200, { access_token: 'ya29.token-of-google', expires_in: 3599, token_type: 'Bearer' })
            : reply(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }),
        (error: unknown) => reply(400, { error: 'invalid_grant', error_description: String(error) }),
      )
    })
    const { capability } = await grantOf(
      {
        type: 'oauth2_jwt_bearer',
        token_url: tokenUrl,
        issuer: EMAIL,
        key_id: 'key-7',
        scopes: ['https://www.googleapis.com/auth/cloud-platform'],
      },
      { private_key: key },
    )
    expect(JSON.parse((await get(capability)).body.upstream.body)).toEqual({ bearer: true })
  })

  it('is refused with a key that is none, in words that do not quote it', async () => {
    const stored = await gw.rest('POST', '/v1/egress/credentials', {
      provider: 'custom',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/'],
      methods: ['GET'],
      parts: { private_key: `-----BEGIN PRIVATE KEY-----\nMIIdamaged\n-----END PRIVATE KEY-----` },
      settings: { kind: { type: 'oauth2_jwt_bearer', issuer: EMAIL } },
    })
    expect(stored.status).toBe(400)
    expect(stored.body.detail).toContain('no private key in PEM form')
    expect(stored.text).not.toContain('MIIdamaged')
  })
})

describe('a key that cannot sign', () => {
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
  const parts = { private_key: short.export({ type: 'pkcs1', format: 'pem' }).toString() }
  const settings = { kind: { type: 'github_app', app_id: 'Iv23', installation_id: '4711' } }

  it('is refused when it is stored, and when it is to replace one that can', async () => {
    const refused = {
      status: 400,
      body: { code: 'input_invalid', detail: expect.stringContaining('an RSA key of 2048 bits or more') },
    }
    const store = (secret: Record<string, string>) =>
      gw.rest('POST', '/v1/egress/credentials', {
        provider: 'custom',
        hosts: [UPSTREAM_HOST],
        path_prefixes: ['/'],
        methods: ['GET'],
        parts: secret,
        settings,
      })
    expect(await store(parts)).toMatchObject(refused)
    const good = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    const { body } = await store({ private_key: good })
    const rotate = `/v1/egress/credentials/${body.credential_id}/rotate`
    expect(await gw.rest('POST', rotate, { parts })).toMatchObject(refused)
  })
})

describe('a GitHub App', () => {
  const APP = 'Iv23liabcdef'
  const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const settings = () => ({
    type: 'github_app',
    app_id: APP,
    installation_id: '4711',
    api_url: gw.url('').replace(/\/$/, ''),
    permissions: { issues: 'write' },
    repositories: ['site'],
  })
  /** As GitHub checks an app: RS256, who, at most ten minutes ahead, not from the future. */
  const answerAsGithub = (expiresAt: () => number) => {
    let minted = 0
    gw.upstream.respond((request, res) => {
      const reply = (status: number, body: unknown) =>
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (request.target !== '/app/installations/4711/access_tokens')
        return reply(200, { token: bearerOf(request).slice(0, 4), count: minted })
      void jwtVerify(bearerOf(request), publicKey, { issuer: APP, algorithms: ['RS256'] }).then(
        ({ payload: { iat = 0, exp = 0 } }) => {
          const now = Date.now() / 1000
          const asked = JSON.parse(request.body.toString())
          if (
            iat > now ||
            exp > now + 600 ||
            asked.permissions.issues !== 'write' ||
            asked.repositories[0] !== 'site'
          )
            return reply(401, { message: "'Expiration time' claim ('exp') is too far in the future" })
          minted++
          return reply(201, {
            token: `ghs_${'x'.repeat(36)}${minted}`,
            expires_at: new Date(expiresAt()).toISOString(),
          })
        },
        () => reply(401, { message: 'A JSON web token could not be decoded' }),
      )
    })
  }

  it('acts as its installation, with a key as GitHub gives it, and gets a new token when the old one ends', async () => {
    answerAsGithub(() => Date.now() + clock + 3_600_000)
    const { capability } = await grantOf(settings(), { private_key: key })
    const read = async () => JSON.parse((await get(capability, '/repos/acme/site')).body.upstream.body)
    expect(await read()).toEqual({ token: 'ghs_', count: 1 })
    expect(await read()).toEqual({ token: 'ghs_', count: 1 })
  })

  it('with the key of another app is refused in words for the operator, without those of GitHub', async () => {
    answerAsGithub(() => 0)
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const { capability } = await grantOf(settings(), {
      private_key: other.export({ type: 'pkcs1', format: 'pem' }).toString(),
    })
    const { body } = await get(capability, '/repos/acme/site')
    expect(body).toMatchObject({ code: 'credential_unavailable', token_status: 401, mended_by: 'operator' })
    expect(body.detail).not.toContain('JSON web token')
  })
})

describe('storing a kind', () => {
  const store = (settings: Record<string, unknown>, parts: Record<string, string>) =>
    gw.rest('POST', '/v1/egress/credentials', {
      provider: 'custom',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/'],
      methods: ['GET'],
      parts,
      settings,
    })
  const kind = {
    type: 'oauth2_client_credentials',
    token_url: 'https://login.example.com/token',
    client_id: 'x',
  }
  const hmac = { type: 'hmac', algorithm: 'sha256', encoding: 'hex', message: '{method}\n{body}' }

  it.each([
    ['a part that is missing', { kind }, { refresh_token: 'a-token-of-mine' }, /needs client_secret/],
    ['a part too many', { kind }, { client_secret: 'a-secret', other: 'a-secret' }, /leave this part out/],
    [
      'a key of its own for tokens',
      { kind },
      { client_secret: 'a-secret', token_key: 'a'.repeat(43) },
      /the gateway makes this key/,
    ],
    [
      'parts that the kind names',
      { kind, parts: { client_secret: 'public' } },
      { client_secret: 'a-secret' },
      /names its parts itself/,
    ],
    [
      'an endpoint by address',
      { kind: { ...kind, token_url: 'https://169.254.169.254/token' } },
      { client_secret: 'a-secret' },
      /token endpoint cannot be asked/,
    ],
    [
      'placements beside a signature',
      {
        kind: { type: 'aws_sigv4', region: 'eu-west-1', service: 's3' },
        placements: [{ in: 'query', name: 'k', part: 'access_key_id' }],
      },
      { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'a-secret-key' },
      /signs the request/,
    ],
    [
      'a part with the line break of its file',
      { kind: { type: 'aws_sigv4', region: 'eu-west-1', service: 's3' } },
      { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'a-secret-key\n' },
      /^\/parts\/secret_access_key: it begins or ends with a line break/,
    ],
    [
      'a part that would break a header',
      { kind: { ...hmac, headers: { 'x-key': '{part.id}', 'x-signature': '{signature}' } } },
      { key: 'a-signing-key', id: 'mine\r\nx-other: 1' },
      /puts the part id into a header/,
    ],
    [
      'a header of two lines',
      { kind: { ...hmac, headers: { 'x-signature': 'a\r\nb: {signature}' } } },
      { key: 'a-signing-key' },
      /holds a line break/,
    ],
    [
      'a part that is no text',
      { kind },
      { client_secret: 'a-secret-of-mine-\ud800' },
      /^\/parts\/client_secret: it is no valid text/,
    ],
    [
      'settings that are no text',
      { kind: { ...kind, parameters: { audience: '\ud800' } } },
      { client_secret: 'a-secret-of-mine' },
      /^\/settings: a text in them/,
    ],
    [
      'a template that is no text',
      { kind: { ...hmac, message: '\ud800', headers: { 'x-signature': '{signature}' } } },
      { key: 'a-signing-key' },
      /half a surrogate pair/,
    ],
  ])('refuses %s', async (_, settings, parts, words) => {
    const { status, body } = await store(settings, parts)
    expect(status).toBe(400)
    expect(body.detail).toMatch(words)
  })

  it('shows what it is, and never what its tokens are sealed with', async () => {
    const { body, text } = await store({ kind }, { client_secret: 'a-secret-of-mine' })
    expect(body.settings).toMatchObject({ kind, parts: { client_secret: 'secret', token_key: 'secret' } })
    expect(text).not.toContain('a-secret-of-mine')
  })
})
