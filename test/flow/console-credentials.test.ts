// Credentials on the pages of the console: what is typed is stored, what is secret comes back in nothing.
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { signIn, type TestForm, type TestPerson } from '../support/people.ts'

let gateway: TestGateway
let owner: TestPerson
let clock = 0
beforeAll(async () => {
  gateway = await startTestGateway({
    env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' },
    now: () => Date.now() + clock,
  })
  owner = await signIn(gateway, { role: 'owner' })
})
afterAll(() => gateway?.close())

const SECRET = 'planted-secret-4711'
const pem = (type: 'rsa' | 'ec') =>
  (type === 'rsa'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  ).privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()

const CUSTOM = {
  _action: 'create',
  provider: 'custom',
  label: 'inventory',
  hosts: UPSTREAM_HOST,
  path_prefixes: '/v2\r\n/v3',
  methods: ['GET', 'POST'],
}
const OAUTH = { 'kind.token_url': 'https://auth.example.com/token', 'kind.client_id': 'client-1' }

/** Sends the form of a new credential as the page of its kind has it. */
async function create(form: TestForm): Promise<Record<string, unknown>> {
  const answer = await owner.post(`/console/credentials/new?provider=${form['provider']}`, form)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([303, ''])
  const [, id = ''] =
    /^\/console\/credentials\/(cred_\w+)\?done=created$/.exec(answer.headers.get('location') ?? '') ?? []
  const { items } = await gateway.store.listCredentials(owner.accountId, { limit: 100 })
  const { label, provider, scope, header, scheme, settings } = items.find((item) => item.id === id) ?? {}
  return { label, provider, scope, header, scheme, settings }
}

describe('the form of a new credential', () => {
  it('stores one text with its scope, and says where it goes', async () => {
    expect(await create({ ...CUSTOM, kind: 'text', secret: SECRET, header: '', scheme: 'Bearer' })).toEqual({
      label: 'inventory',
      provider: 'custom',
      scope: { hosts: [UPSTREAM_HOST], path_prefixes: ['/v2', '/v3'], methods: ['GET', 'POST'] },
      header: 'authorization',
      scheme: 'Bearer',
      settings: {},
    })
    expect(
      await create({ ...CUSTOM, kind: 'text', secret: SECRET, header: 'x-api-key', scheme: '' }),
    ).toMatchObject({ header: 'x-api-key', scheme: '' })
    expect(
      await create({ ...CUSTOM, kind: 'text', secret: SECRET, header: '', scheme: 'Token' }),
    ).toMatchObject({ header: 'authorization', scheme: 'Token' })
  })

  it.each<[string, TestForm, Record<string, unknown>]>([
    [
      'several texts that the operator names',
      {
        kind: 'texts',
        'name.0': 'user',
        'secret-row.0': 'sarah@example.com',
        'is-public.0': 'on',
        'name.1': 'password',
        'secret-row.1': SECRET,
        placements: '[{"in": "header", "name": "authorization", "scheme": "Basic"}]',
      },
      { parts: { user: 'public', password: 'secret' } },
    ],
    [
      'a refresh token',
      {
        kind: 'oauth2_refresh_token',
        ...OAUTH,
        'secret.refresh_token': SECRET,
        'secret.client_secret': SECRET,
      },
      { kind: { type: 'oauth2_refresh_token', client_id: 'client-1' } },
    ],
    [
      'client credentials with scopes and parameters',
      {
        kind: 'oauth2_client_credentials',
        ...OAUTH,
        'kind.scopes': 'read write',
        'kind.parameters': 'audience=https://api.example.com/?a=b',
        'secret.client_secret': SECRET,
      },
      { kind: { scopes: ['read', 'write'], parameters: { audience: 'https://api.example.com/?a=b' } } },
    ],
    [
      'a service account',
      {
        kind: 'oauth2_jwt_bearer',
        'kind.issuer': 'robot@example.iam.gserviceaccount.com',
        'kind.algorithm': 'ES256',
        'secret.private_key': pem('ec').replaceAll('\n', '\r\n'),
      },
      { kind: { type: 'oauth2_jwt_bearer', algorithm: 'ES256' } },
    ],
    [
      'a GitHub App',
      {
        kind: 'github_app',
        'kind.app_id': '12',
        'kind.installation_id': '34',
        'kind.permissions': 'issues=write\r\ncontents=read',
        'secret.private_key': pem('rsa'),
      },
      { kind: { installation_id: '34', permissions: { issues: 'write', contents: 'read' } } },
    ],
    [
      'an access key of AWS',
      {
        kind: 'aws_sigv4',
        'kind.region': 'eu-central-1',
        'kind.service': 's3',
        'public.access_key_id': 'AKIAEXAMPLE12345',
        'secret.secret_access_key': SECRET,
      },
      { kind: { region: 'eu-central-1' }, parts: { access_key_id: 'public', secret_access_key: 'secret' } },
    ],
    [
      'a key that signs by a template',
      {
        kind: 'hmac',
        'kind.algorithm': 'sha256',
        'kind.encoding': 'hex',
        'kind.message': '{timestamp}{method}{target}{body}',
        'kind.headers': 'x-signature={signature}\r\nx-key={part.key_id}',
        'secret.key': SECRET,
        'name.0': 'key_id',
        'secret-row.0': 'public-key-id',
        'is-public.0': 'on',
      },
      { kind: { headers: { 'x-signature': '{signature}' } }, parts: { key: 'secret', key_id: 'public' } },
    ],
  ])('stores %s', async (_, form, settings) => {
    expect(await create({ ...CUSTOM, ...form })).toMatchObject({ settings })
  })

  it('takes the hosts, places and texts of a named provider', async () => {
    const named = { _action: 'create', label: 'x', path_prefixes: '/', methods: ['GET'] }
    expect(await create({ ...named, provider: 'github', kind: 'text', secret: SECRET })).toMatchObject({
      provider: 'github',
      scope: { hosts: expect.arrayContaining(['api.github.com']) },
    })
    expect(
      await create({
        ...named,
        provider: 'jira',
        kind: 'texts',
        hosts: 'acme.atlassian.net',
        'public.user': 'sarah@example.com',
        'secret.password': SECRET,
      }),
    ).toMatchObject({ scope: { hosts: ['acme.atlassian.net'] }, settings: { parts: { password: 'secret' } } })
  })

  it('stores budgets, further settings and an authority of its own', async () => {
    const made = await create({
      ...CUSTOM,
      kind: 'text',
      secret: SECRET,
      'budget.calls.day': '1000',
      settings: '{"limits": {"timeout_ms": 60000}, "response_headers": ["etag"]}',
    })
    expect(made).toMatchObject({
      settings: { limits: { timeout_ms: 60_000 }, response_headers: ['etag'] },
    })
    const html = await (await owner.get('/console/credentials')).text()
    expect(html).toContain('inventory')
  })

  it('keeps what was typed where it is refused, and sends no secret back', async () => {
    const answer = await owner.post('/console/credentials/new?provider=custom', {
      ...CUSTOM,
      kind: 'hmac',
      label: '<img src=x onerror=alert(1)>',
      hosts: 'not a host',
      'kind.algorithm': 'sha256',
      'kind.encoding': 'hex',
      'kind.message': '{body}',
      'kind.headers': 'x-signature={signature}',
      'secret.key': SECRET,
      'name.0': 'other',
      'secret-row.0': `${SECRET}-2`,
    })
    const html = await answer.text()
    expect(answer.status).toBe(400)
    expect(html).toContain('role="alert"')
    expect(html).toContain('not a host')
    expect(html).toContain('value="&lt;img src=x onerror=alert(1)>"')
    expect(html).not.toContain(SECRET)
    expect(gateway.log()).not.toContain(SECRET)
  })

  it('says what cannot be read, and stores nothing', async () => {
    const count = async () =>
      (await gateway.store.listCredentials(owner.accountId, { limit: 100 })).items.length
    const before = await count()
    for (const [field, value, words] of [
      ['settings', '{"limits": ', 'not valid JSON'],
      ['settings', '[]', 'JSON object'],
      ['private_targets', 'somewhere', 'host:port=range'],
    ] as const) {
      const answer = await owner.post('/console/credentials/new?provider=custom', {
        ...CUSTOM,
        kind: 'text',
        secret: SECRET,
        [field]: value,
      })
      expect([field, answer.status]).toEqual([field, 400])
      expect(await answer.text()).toContain(words)
    }
    expect(await count()).toBe(before)
  })

  it('is there for who may store, in every kind and language', async () => {
    const auditor = await signIn(gateway, { role: 'auditor' })
    expect((await auditor.get('/console/credentials/new')).status).toBe(403)
    expect(await (await auditor.get('/console/credentials')).text()).not.toContain('/credentials/new')
    for (const kind of ['oauth2_refresh_token', 'github_app', 'hmac', 'texts', 'nonsense'])
      expect((await owner.get(`/ar/console/credentials/new?provider=custom&kind=${kind}`)).status).toBe(200)
    expect(await (await owner.get('/console/credentials/new?q=linea')).text()).toContain('provider=linear')
    expect(await (await owner.get('/console/providers?q=linea')).text()).toContain('api.linear.app')
  })
})

describe('the page of a credential', () => {
  const stored = async (form: TestForm = {}) => {
    const answer = await owner.post('/console/credentials/new?provider=custom', {
      ...CUSTOM,
      kind: 'text',
      secret: SECRET,
      path_prefixes: '/',
      ...form,
    })
    return (answer.headers.get('location') ?? '').replace('?done=created', '')
  }
  const version = async (path: string) =>
    (await owner.data<{ credential: { version: number } }>(path)).credential.version

  it('makes a call that shows whether the secret works, and leaves no capability behind', async () => {
    const path = await stored()
    gateway.upstream.respond((request, res) => {
      const [, given] = request.headers.find(([name]) => name === 'authorization') ?? []
      res.writeHead(given === `Bearer ${SECRET}` ? 200 : 401).end('<script>alert(1)</script>')
    })
    const before = await gateway.balance()
    const url = gateway.url('/me')
    const html = await (await owner.post(path, { _action: 'test', method: 'GET', url, body: '' })).text()
    expect(html).toContain('The secret works: api.example.com answered 200.')
    expect(html).toContain('&lt;script>')
    expect(html).not.toContain(SECRET)
    expect(await gateway.balance()).toBe(before - 1)
    const { items } = await gateway.store.listCapabilities({ accountId: owner.accountId }, { limit: 5 })
    const [capability] = items
    expect([capability?.scope.path_prefixes, capability?.maxUses, capability?.revokedAt !== null]).toEqual([
      ['/me'],
      1,
      true,
    ])

    const outside = { _action: 'test', method: 'GET', url: 'https://elsewhere.example.com/', body: '' }
    const refused = await owner.post(path, outside)
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('value="https://elsewhere.example.com/"')
  })

  it('tells the audit log once that an answer to its call held the secret', async () => {
    const path = await stored()
    gateway.upstream.respond((_, res) => void res.writeHead(200).end(`leak ${SECRET}`))
    const sent = await owner.post(path, {
      _action: 'test',
      method: 'GET',
      url: gateway.url('/me'),
      body: '',
    })
    expect(sent.status).toBe(502)
    const { items } = await gateway.store.listAttempts({ accountId: owner.accountId }, { limit: 1 })
    const { body } = await gateway.rest('GET', '/v1/audit/events?limit=500')
    const events: { event: string; actor: { tool: string }; subject: { id: string } }[] = body.events
    expect(
      events
        .filter(({ event }) => event === 'secret.reflected')
        .map(({ actor, subject }) => [actor.tool, subject.id]),
    ).toEqual([['gateway.egress.fetch', items[0]?.id]])
  })

  it('replaces the secret, and shows both versions', async () => {
    const path = await stored()
    const rotate = (at: string) =>
      owner.post(path, { _action: 'rotate', version: at, secret: `${SECRET}-new` })
    expect((await rotate('1')).headers.get('location')).toBe(`${path}?done=rotated`)
    const html = await (await owner.get(path)).text()
    expect(html).toMatch(/<th scope="row">2<\/th>.*in use.*<th scope="row">1<\/th>.*before/s)
    expect(html).toContain('Answers are searched for the secret before it')
    // Whoever saw version 1 did not see what came after.
    const late = await rotate('1')
    expect([late.status, await version(path)]).toEqual([409, 2])
    expect(await late.text()).not.toContain(SECRET)
  })

  it('replaces a client secret alone, and leaves the refresh token beside it', async () => {
    const { credentialId } = await gateway.grant({
      credential: {
        secret: undefined,
        label: 'mail',
        parts: { refresh_token: SECRET, client_secret: SECRET },
        settings: {
          kind: { type: 'oauth2_refresh_token', token_url: gateway.url('/token'), client_id: 'client-1' },
        },
      },
    })
    const path = `/console/credentials/${credentialId}`
    const html = await (await owner.get(path)).text()
    expect(html).toContain('Where the refresh token is left empty, the newest one stays')
    const field = (name: string) => new RegExp(`<[^>]*name="secret.${name}"[^>]*>`).exec(html)?.[0]
    expect([field('refresh_token'), field('client_secret')]).toEqual([
      expect.not.stringContaining('required'),
      expect.stringContaining('required'),
    ])
    const form = { _action: 'rotate', version: '1', 'secret.refresh_token': '' }
    const replaced = await owner.post(path, { ...form, 'secret.client_secret': `${SECRET}-new` })
    expect(replaced.headers.get('location')).toBe(`${path}?done=rotated`)
    expect(await version(path)).toBe(2)
  })

  it('changes scope, budgets and settings, and what was not touched stays', async () => {
    const path = await stored({ settings: '{"response_headers": ["etag"]}' })
    const form = {
      _action: 'edit',
      version: '1',
      label: 'orders',
      hosts: UPSTREAM_HOST,
      path_prefixes: '/orders',
      methods: ['GET'],
      'budget.calls.day': '7',
      settings: '{"response_headers": ["etag"]}',
    }
    expect((await owner.post(path, form)).status).toBe(303)
    const { credential } = await owner.data<{ credential: Record<string, unknown> }>(path)
    expect(credential).toMatchObject({
      label: 'orders',
      path_prefixes: ['/orders'],
      methods: ['GET'],
      settings: { response_headers: ['etag'] },
      budgets: [{ unit: 'calls', per: 'day', limit: '7' }],
    })
    const stale = await owner.post(path, { ...form, label: 'mine' })
    expect([stale.status, (await stale.text()).includes('value="mine"')]).toEqual([409, true])
    // What is refused of one form is not filled into another.
    const wrong = await (await owner.post(path, { _action: 'rotate', version: '2', secret: 'short' })).text()
    expect(wrong).toMatch(/name="methods" value="GET" checked/)
  })

  it('says why no token could be minted, and what helps', async () => {
    gateway.upstream.respond((_, res) => {
      res
        .writeHead(400, { 'content-type': 'application/json' })
        .end(`{"error":"invalid_grant","error_description":"${SECRET}"}`)
    })
    const { credentialId, capability } = await gateway.grant({
      credential: {
        secret: undefined,
        label: 'calendar',
        parts: { refresh_token: SECRET, client_secret: SECRET },
        settings: {
          kind: { type: 'oauth2_refresh_token', token_url: gateway.url('/token'), client_id: 'client-1' },
        },
      },
    })
    const path = `/console/credentials/${credentialId}`
    expect(await (await owner.get(path)).text()).toContain('Nothing was minted yet')
    await gateway.fetch(capability, { url: gateway.url('/me') })
    const html = await (await owner.get(path)).text()
    expect(html).toContain('The last exchange failed.')
    expect(html).toContain('Authorise again, then replace the secret.')
    expect(html).toContain('400 invalid_grant')
    expect(html).not.toContain(SECRET)
    expect(await (await owner.get('/console/credentials')).text()).toContain('No token: 1 failures')
  })

  it('revokes and deletes after a fresh sign-in alone', async () => {
    const path = await stored()
    clock = 6 * 60_000
    for (const _action of ['revoke', 'delete'])
      expect([_action, (await owner.post(path, { _action })).status]).toEqual([_action, 403])
    clock = 0
    expect((await owner.post(path, { _action: 'revoke' })).headers.get('location')).toBe(
      `${path}?done=revoked`,
    )
    const html = await (await owner.get(path)).text()
    expect([html.includes('name="_action" value="rotate"'), html.includes('value="delete"')]).toEqual([
      false,
      true,
    ])
    expect((await owner.post(path, { _action: 'delete' })).headers.get('location')).toBe(
      '/console/credentials?done=deleted',
    )
    expect((await owner.get(path)).status).toBe(404)
  })

  it('has no forms for who only reads, and takes none from them', async () => {
    const path = await stored()
    const auditor = await signIn(gateway, { role: 'auditor' })
    expect(await (await auditor.get(path)).text()).not.toContain('name="_action"')
    const rotate = { _action: 'rotate', version: '1', secret: SECRET, _csrf: await auditor.csrf() }
    expect((await auditor.post(path, rotate)).status).toBe(403)
    expect(await version(path)).toBe(1)
  })

  it('shows nobody the credentials of another account', async () => {
    const { body } = await gateway.rest('POST', '/v1/keys', { label: 'another', account: 'new' })
    const stranger = await signIn(gateway, { accountId: body.account_id, admin: false })
    expect(await (await stranger.get('/console/credentials')).text()).not.toContain('inventory')
    const path = await stored()
    expect((await stranger.get(path)).status).toBe(404)
    const _csrf = await stranger.csrf()
    for (const _action of ['rotate', 'edit', 'revoke', 'delete', 'test'])
      expect([
        _action,
        (await stranger.post(path, { _action, _csrf, version: '1', secret: SECRET, url: gateway.url('/') }))
          .status,
      ]).toEqual([_action, 404])
    expect(await version(path)).toBe(1)
  })
})

describe('the first page', () => {
  const stepsOf = (html: string) =>
    [...html.matchAll(/<h3>([^<]+)<\/h3>.*?(done|to do)</gs)].map((found) => found[2])

  it('leads through the first run by what there is, and never further than the role', async () => {
    const { body } = await gateway.rest('POST', '/v1/keys', { label: 'first', account: 'new' })
    const owner = await signIn(gateway, { accountId: body.account_id, admin: false })
    const begin = await (await owner.get('/console')).text()
    expect(stepsOf(begin)).toEqual(['to do', 'to do', 'to do', 'to do'])
    expect(begin).toContain(`${gateway.gateway.addresses.mcpUrl}/connect`)
    expect(begin).not.toContain('/console/policies')
    const auditor = await signIn(gateway, { accountId: body.account_id, admin: false, role: 'auditor' })
    const read = await (await auditor.get('/console')).text()
    expect(read).not.toContain('href="/console/credentials/new"')
    // Who connects no assistant is not told to give one the address.
    expect(read).not.toContain(`${gateway.gateway.addresses.mcpUrl}/connect`)
    expect(read.match(/This takes an operator or an owner of the account/g)).toHaveLength(2)

    const created = await owner.post('/console/credentials/new?provider=custom', {
      ...CUSTOM,
      kind: 'text',
      secret: SECRET,
      path_prefixes: '/',
    })
    const path = (created.headers.get('location') ?? '').replace('?done=created', '')
    expect(stepsOf(await (await owner.get('/console')).text())).toEqual(['done', 'to do', 'to do', 'to do'])
    gateway.upstream.respond((_, res) => void res.writeHead(200).end('ok'))
    const tested = await owner.post(path, {
      _action: 'test',
      method: 'GET',
      url: gateway.url('/me'),
      body: '',
    })
    expect(tested.status).toBe(200)
    const html = await (await owner.get('/ar/console')).text()
    expect(html).toContain('الخطوات الأولى: اكتملت')
    expect(html).toMatch(/href="\/ar\/console\/attempts\/att_\w+"/)
  })
})
