// When a client of MCP is told to sign in: at /mcp where a tool needs a token, at /mcp/connect from the first request.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import { connectAssistant, type TestAssistant } from '../support/assistant.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type Answered, type Ask, asIn2025, asIn2026, initialize, namesIn } from '../support/mcp-eras.ts'

let gateway: TestGateway
let assistant: TestAssistant
let granted: { credentialId: string; capability: string }
let expired: string
beforeAll(async () => {
  gateway = await startTestGateway()
  granted = await gateway.grant()
  assistant = await connectAssistant(gateway, [granted.credentialId])
  expired = await assistant.issue(Date.now() - 1000)
})
afterAll(() => gateway?.close())

const mcp =
  (path = '/mcp') =>
  () =>
    gateway.baseUrl + path
const eras = [
  ['2025', asIn2025],
  ['2026', asIn2026],
] as const
/** A name in Base64 is one of the things that the fast path leaves to the SDK. */
const inSdk: Ask = (method, params = {}, { headers = {}, ...options } = {}) =>
  asIn2026(mcp())(method, params, {
    ...options,
    headers: { 'mcp-name': `=?base64?${btoa(String(params['name']))}?=`, ...headers },
  })

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const challengeOf = ({ headers }: Pick<Answered, 'headers'>) => headers.get('www-authenticate')
const documentOf = (path: string) => `${gateway.baseUrl}/.well-known/oauth-protected-resource${path}`
const fetching = (over: object = {}) => ({
  name: 'gateway_egress_fetch',
  arguments: { method: 'GET', url: gateway.url('/v1/thing'), ...over },
})

describe.each(eras)('at /mcp in the %s era', (_era, ask) => {
  const call = ask(mcp())

  it('a tool that needs a token tells whoever sends none where to sign in', async () => {
    const refused = await call('tools/call', fetching())
    expect(refused.status).toBe(401)
    expect(challengeOf(refused)).toBe(`Bearer resource_metadata="${documentOf('/mcp')}", scope="gateway"`)
    expect(refused.json).toMatchObject({
      id: 1,
      error: { code: -32600, data: { code: 'capability_required', status: 401 } },
    })
    expect(refused.json['result']).toBeUndefined()
  })

  it.each([
    ['a capability', () => newToken('cap')],
    ['a service key', () => newToken('sk')],
    ['an access token', () => newToken('at')],
    ['a token of another service', () => 'eyJhbGciOiJub25lIn0.e30.'],
  ])('%s that is no good is an invalid token', async (_what, token) => {
    const refused = await call('tools/call', fetching(), bearer(token()))
    expect(refused.status).toBe(401)
    expect(challengeOf(refused)).toMatch(
      /^Bearer error="invalid_token", error_description="[^"\\]+", resource_metadata="/,
    )
  })

  it('an access token that has expired is refused before the list is shown, so that the client refreshes it', async () => {
    for (const [method, params] of [
      ['tools/list', {}],
      ['resources/list', {}],
      ['tools/call', fetching()],
    ] as const) {
      const refused = await call(method, params, bearer(expired))
      expect([method, refused.status, refused.json['error'].data.code]).toEqual([
        method,
        401,
        'capability_invalid',
      ])
      expect(challengeOf(refused)).toContain('error="invalid_token"')
    }
  })

  it('an assistant calls with its access token', async () => {
    const answered = await call('tools/call', fetching(), bearer(assistant.token))
    expect([answered.status, answered.json['result'].structuredContent.upstream.status]).toEqual([200, 200])
  })

  it('asks for the scope of operators where a tool needs it, all in one challenge', async () => {
    const params = { name: 'gateway_egress_credentials_list', arguments: {} }
    const refused = await call('tools/call', params, bearer(assistant.token))
    expect([refused.status, refused.json['error'].data.code]).toEqual([403, 'insufficient_scope'])
    expect(challengeOf(refused)).toMatch(
      /^Bearer error="insufficient_scope", .*, scope="gateway gateway:operator"$/,
    )
    expect(challengeOf(refused)).toContain(`resource_metadata="${documentOf('/mcp')}"`)
  })

  it.each([
    [
      'a token that the model gave, since it would win over the one of a sign-in',
      () => fetching({ capability: newToken('cap') }),
      '',
      'capability_invalid',
    ],
    [
      'a good key where a capability is needed, since signing in would take the key away',
      () => fetching(),
      'operator',
      'capability_required',
    ],
    [
      'a tool for a key that is free',
      () => ({ name: 'gateway_email_verify', arguments: { email: 'a@b.example' } }),
      '',
      'key_required',
    ],
    [
      'what a tool refuses for its own reasons',
      () => fetching({ url: 'https://other.example/' }),
      'capability',
      'target_blocked',
    ],
  ])('answers in the result: %s', async (_what, params, who, code) => {
    const token = { operator: gateway.operatorKey, capability: granted.capability }[who]
    const { status, json } = await call('tools/call', params(), token === undefined ? {} : bearer(token))
    expect([status, json['result'].isError, json['result'].structuredContent.code]).toEqual([200, true, code])
  })

  it('stays open for whoever sends no token', async () => {
    const listed = await call('tools/list')
    expect([listed.status, namesIn(listed).includes('gateway_egress_fetch')]).toEqual([200, true])
    const free = await call('tools/call', { name: 'gateway_marketplace_search', arguments: {} })
    expect([free.status, free.json['result'].isError]).toEqual([200, undefined])
    const priced = await call('tools/call', {
      name: 'gateway_web_fetch',
      arguments: { url: 'https://sandbox.agent-gateway.test/article' },
    })
    expect([priced.status, priced.json['result'].isError]).toEqual([200, true])
  })
})

describe('at /mcp, where the SDK answers', () => {
  it('says the same', async () => {
    const refused = await inSdk('tools/call', fetching())
    expect([refused.status, refused.json['error'].data.code]).toEqual([401, 'capability_required'])
    expect(challengeOf(refused)).toBe(`Bearer resource_metadata="${documentOf('/mcp')}", scope="gateway"`)
    const answered = await inSdk('tools/call', fetching(), bearer(assistant.token))
    expect(answered.status).toBe(200)
  })

  it('refuses an expired access token at initialize', async () => {
    const refused = await initialize(asIn2025(mcp()), 'test', bearer(expired))
    expect([refused.status, challengeOf(refused)?.includes('invalid_token')]).toEqual([401, true])
    expect((await initialize(asIn2025(mcp()), 'test', bearer(assistant.token))).status).toBe(200)
  })
})

it('names the document under the name that the client was given, and no name that a stranger makes up', async () => {
  const ask = (host: string, headers: Record<string, string> = {}) =>
    asIn2025(() => `http://${host}:${gateway.gateway.port}/mcp`)('tools/call', fetching(), { headers })
  const other = await ask('127.0.0.1')
  expect(challengeOf(other)).toContain(
    `"http://127.0.0.1:${gateway.gateway.port}/.well-known/oauth-protected-resource/mcp"`,
  )
  const document = await fetch(/resource_metadata="([^"]+)"/.exec(challengeOf(other) ?? '')?.[1] ?? '')
  expect(await document.json()).toMatchObject({ resource: `http://127.0.0.1:${gateway.gateway.port}/mcp` })
})

describe.each(eras)('at /mcp/connect in the %s era', (_era, ask) => {
  const call = ask(mcp('/mcp/connect'))

  it.each([
    ['nothing', () => ({}), 'sign_in_required'],
    ['a capability', () => bearer(granted.capability), 'capability_invalid'],
    ['a service key', () => bearer(gateway.operatorKey), 'capability_invalid'],
    ['an expired access token', () => bearer(expired), 'capability_invalid'],
    ['a made up access token', () => bearer(newToken('at')), 'capability_invalid'],
  ])('whoever sends %s is told to sign in, whatever they ask', async (_what, options, code) => {
    for (const method of [
      'initialize',
      'tools/list',
      'ping',
      'server/discover',
      'notifications/initialized',
    ]) {
      const refused = await call(method, {}, options())
      expect([method, refused.status, refused.json['error'].data.code]).toEqual([method, 401, code])
      expect(challengeOf(refused)).toContain(
        `resource_metadata="${documentOf('/mcp/connect')}", scope="gateway"`,
      )
    }
  })

  it('is the same server behind an access token', async () => {
    const listed = await call('tools/list', {}, bearer(assistant.token))
    expect(namesIn(listed)).toEqual(namesIn(await ask(mcp())('tools/list', {}, bearer(assistant.token))))
    const answered = await call('tools/call', fetching(), bearer(assistant.token))
    expect([answered.status, answered.json['result'].structuredContent.upstream.status]).toEqual([200, 200])
  })
})

describe('/mcp/connect', () => {
  it('asks for a sign-in before it says that GET means nothing here, and answers a preflight', async () => {
    const url = `${gateway.baseUrl}/mcp/connect`
    const got = await fetch(url, { headers: { accept: 'text/event-stream' } })
    expect([got.status, challengeOf(got)?.startsWith('Bearer resource_metadata=')]).toEqual([401, true])
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: gateway.baseUrl, 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    const slash = await asIn2025(() => `${url}/`)('tools/list', {}, bearer(assistant.token))
    expect(slash.status).toBe(200)
  })

  it('is closed with the next request once the person ends the connection', async () => {
    const other = await connectAssistant(gateway, [granted.credentialId])
    const call = asIn2026(mcp('/mcp/connect'))
    expect((await call('tools/list', {}, bearer(other.token))).status).toBe(200)
    await gateway.services.identity.connections.revoke(other.accountId, other.connectionId)
    expect((await call('tools/list', {}, bearer(other.token))).status).toBe(401)
  })
})
