// What each provider is sent for its test call, on the wire: the table is written by hand from the documentation of each, beside
// the data that the gateway builds the request from.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { openProviders } from '../../src/egress/adapters/providers-file.ts'
import { createProviders } from '../../src/egress/providers/index.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const K = 'a-secret-of-the-provider'
const USER = 'someone'
const basic = `Basic ${Buffer.from(`${USER}:${K}`).toString('base64')}`
const bearer = { authorization: `Bearer ${K}` }
const parts = { user: USER, password: K }

/** Request line, headers by which the API knows the caller or its version, secrets where it is not one text, body. */
type Row = [
  line: string,
  headers: Record<string, string>,
  parts?: Record<string, string> | undefined,
  body?: string,
]

const WIRE: Record<string, Row> = {
  openai: ['GET /v1/models', bearer],
  anthropic: ['GET /v1/models', { 'x-api-key': K, 'anthropic-version': '2023-06-01' }],
  github: [
    'GET /user',
    { ...bearer, accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  ],
  stripe: ['GET /v1/customers?limit=3', bearer],
  slack: ['POST /api/auth.test', bearer],
  notion: ['GET /v1/users/me', { ...bearer, 'notion-version': '2022-06-28' }],
  cloudflare: ['GET /client/v4/user/tokens/verify', bearer],
  mistral: ['GET /v1/models', bearer],
  gemini: ['GET /v1beta/models', { 'x-goog-api-key': K }],
  groq: ['GET /openai/v1/models', bearer],
  openrouter: ['GET /api/v1/key', bearer],
  together: ['GET /v1/models', bearer],
  fireworks: ['GET /inference/v1/models', bearer],
  cohere: ['GET /v1/models', bearer],
  deepseek: ['GET /user/balance', bearer],
  xai: ['GET /v1/models', bearer],
  perplexity: ['GET /async/chat/completions', bearer],
  huggingface: ['GET /api/whoami-v2', bearer],
  replicate: ['GET /v1/account', bearer],
  elevenlabs: ['GET /v1/models', { 'xi-api-key': K }],
  deepgram: ['GET /v1/projects', { authorization: `Token ${K}` }],
  assemblyai: ['GET /v2/transcript?limit=1', { authorization: K }],
  voyage: ['POST /v1/embeddings', bearer, undefined, '{"input":"test","model":"voyage-3.5-lite"}'],
  stability: ['GET /v1/user/balance', bearer],
  deepl: ['GET /v2/usage', { authorization: `DeepL-Auth-Key ${K}` }],
  gitlab: ['GET /api/v4/user', { 'private-token': K }],
  bitbucket: ['GET /2.0/user', { authorization: basic }, parts],
  circleci: ['GET /api/v2/me', { 'circle-token': K }],
  buildkite: ['GET /v2/access-token', bearer],
  sentry: ['GET /api/0/organizations/', bearer],
  linear: ['POST /graphql', { authorization: K }, undefined, '{"query":"{ viewer { id } }"}'],
  jira: ['GET /rest/api/3/myself', { authorization: basic }, parts],
  asana: ['GET /api/1.0/users/me', bearer],
  airtable: ['GET /v0/meta/whoami', bearer],
  trello: [`GET /1/members/me?key=key-${K}&token=token-${K}`, {}, { key: `key-${K}`, token: `token-${K}` }],
  figma: ['GET /v1/me', { 'x-figma-token': K }],
  todoist: ['GET /api/v1/projects', bearer],
  clickup: ['GET /api/v2/user', { authorization: K }],
  hubspot: ['GET /account-info/v3/details', bearer],
  shopify: ['GET /admin/api/2025-07/shop.json', { 'x-shopify-access-token': K }],
  square: ['GET /v2/locations', bearer],
  adyen: [
    'POST /v71/paymentMethods',
    { 'x-api-key': K },
    undefined,
    '{"merchantAccount":"YOUR_MERCHANT_ACCOUNT"}',
  ],
  mollie: ['GET /v2/methods', bearer],
  razorpay: ['GET /v1/payments?count=1', { authorization: basic }, parts],
  wise: ['GET /v2/profiles', bearer],
  lemonsqueezy: ['GET /v1/users/me', { ...bearer, accept: 'application/vnd.api+json' }],
  plaid: [
    'POST /institutions/get',
    { 'plaid-version': '2020-09-14', 'content-type': 'application/json' },
    { client_id: USER, secret: K },
    `{"secret":"${K}","client_id":"${USER}","count":1,"offset":0,"country_codes":["US"]}`,
  ],
  telegram: [`GET /bot${K}/getMe`, {}],
  discord: ['GET /api/v10/users/@me', { authorization: `Bot ${K}` }],
  twilio: [
    'GET /2010-04-01/Accounts/YOUR_ACCOUNT_SID/Messages.json?PageSize=1',
    { authorization: basic },
    parts,
  ],
  sendgrid: ['GET /v3/scopes', bearer],
  mailgun: ['GET /v4/domains?limit=1', { authorization: basic }, parts],
  postmark: ['GET /stats/outbound', { 'x-postmark-server-token': K }],
  resend: ['GET /domains', bearer],
  'meta-graph': ['GET /v23.0/me', bearer],
  intercom: ['GET /me', bearer],
  zendesk: ['GET /api/v2/users/me.json', { authorization: basic }, parts],
  datadog: [
    'GET /api/v1/validate',
    { 'dd-api-key': `api-${K}`, 'dd-application-key': `app-${K}` },
    { api_key: `api-${K}`, application_key: `app-${K}` },
  ],
  newrelic: ['POST /graphql', { 'api-key': K }, undefined, '{"query":"{ actor { user { name } } }"}'],
  digitalocean: ['GET /v2/account', bearer],
  hetzner: ['GET /v1/locations', bearer],
  vercel: ['GET /v2/user', bearer],
  netlify: ['GET /api/v1/user', bearer],
  render: ['GET /v1/services?limit=1', bearer],
  heroku: ['GET /account', { ...bearer, accept: 'application/vnd.heroku+json; version=3' }],
  fly: ['GET /v1/apps?org_slug=personal', bearer],
  supabase: ['GET /v1/organizations', bearer],
  neon: ['GET /api/v2/projects', bearer],
  etherscan: [`GET /v2/api?chainid=1&module=stats&action=ethprice&apikey=${K}`, {}],
  alchemy: [
    `POST /v2/${K}`,
    {},
    undefined,
    '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
  ],
  'brave-search': ['GET /res/v1/web/search?q=test', { 'x-subscription-token': K }],
  tavily: ['GET /usage', bearer],
  exa: ['POST /search', { 'x-api-key': K }, undefined, '{"query":"test","numResults":1}'],
  serper: ['POST /search', { 'x-api-key': K }, undefined, '{"q":"test"}'],
  serpapi: [`GET /search.json?engine=google&q=test&api_key=${K}`, {}],
  algolia: [
    'GET /1/indexes',
    { 'x-algolia-application-id': USER, 'x-algolia-api-key': K },
    { application_id: USER, api_key: K },
  ],
  newsapi: ['GET /v2/top-headlines?country=us&pageSize=1', { 'x-api-key': K }],
  'google-maps': [`GET /maps/api/geocode/json?address=Berlin&key=${K}`, {}],
  openweather: [`GET /data/2.5/weather?q=Berlin&appid=${K}`, {}],
  pinecone: ['GET /indexes', { 'api-key': K, 'x-pinecone-api-version': '2025-04' }],
  qdrant: ['GET /collections', { 'api-key': K }],
  weaviate: ['GET /v1/meta', bearer],
  'upstash-vector': ['GET /info', bearer],
  chroma: ['GET /api/v2/auth/identity', { 'x-chroma-token': K }],
}

const all = createProviders()
  .list()
  .filter(({ id }) => id !== 'custom')

describe('the test call of', () => {
  let gw: TestGateway
  beforeAll(async () => {
    const names = all.map(({ test_call }) => new URL(test_call.url).hostname)
    gw = await startTestGateway({ names, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
  })
  afterAll(() => gw.close())

  it.each(all.map((provider) => [provider.id, provider] as const))(
    '%s is what its API documents',
    async (id, { test_call, name, hosts }) => {
      const row = WIRE[id]
      if (!row) return expect.fail(`${name} has no row here: write down what its API wants`)
      const [line, headers, several, body] = row
      const url = new URL(test_call.url)
      const stored = await gw.rest('POST', '/v1/egress/credentials', {
        provider: id,
        ...(several ? { parts: several } : { secret: K }),
        ...(hosts.length === 0 && { hosts: [url.hostname] }),
        path_prefixes: ['/'],
        methods: [test_call.method],
      })
      expect(stored.status, stored.text).toBe(201)
      const issued = await gw.rest('POST', '/v1/egress/capabilities', {
        credential_id: stored.body.credential_id,
      })
      url.port = String(gw.upstream.port)
      const answer = await gw.fetch(issued.body.capability, {
        url: url.href,
        method: test_call.method,
        ...(test_call.headers && { headers: test_call.headers }),
        ...(test_call.body !== undefined && { body: test_call.body }),
      })
      expect(answer.status, answer.text).toBe(200)
      const received = gw.upstream.requests.at(-1)!
      expect(received.servername).toBe(url.hostname)
      expect(`${received.method} ${received.target}`).toBe(line)
      const sent = Object.fromEntries(received.headers)
      expect(sent).toMatchObject(headers)
      expect(received.body.toString()).toBe(body ?? '')
      // Nothing else carries a secret.
      const rest = Object.entries(sent).filter(([header]) => !(header in headers))
      expect(JSON.stringify(rest)).not.toContain(K)
    },
  )

  it('each of them is listed with its placement, test call and documentation', async () => {
    const { body } = await gw.rest('GET', '/v1/egress/providers', undefined, '')
    expect(body.providers).toHaveLength(all.length + 1)
    for (const provider of body.providers)
      expect(provider).toMatchObject({
        placements: expect.any(Array),
        example: { method: expect.any(String), url: expect.stringMatching(/^https:/) },
        docs: expect.stringMatching(/^https:/),
      })
  })

  it.each<[string, object, string]>([
    ['an unknown provider', { provider: 'opneai' }, '/provider: there is no provider opneai'],
    ['one that is almost right', { provider: 'ope' }, 'did you mean openai or openrouter or openweather?'],
    ['one text for two', { provider: 'datadog' }, 'the credential needs api_key and application_key'],
    ['two for one text', { provider: 'github', secret: undefined, parts: { a: K } }, 'takes one text'],
    ['a host of somebody else', { provider: 'zendesk', hosts: ['zendesk.com.evil.net'] }, 'is not a host of'],
    ['the ending as a host', { provider: 'shopify', hosts: ['myshopify.com'] }, 'is not a host of'],
    ['no host where each customer has one', { provider: 'jira' }, 'name yours, which ends in .atlassian.net'],
    [
      'another place',
      { provider: 'github', settings: { placements: [{ in: 'query', name: 'key' }] } },
      'brings its own',
    ],
  ])('refuses %s in words', async (_, given, words) => {
    const answer = await gw.rest('POST', '/v1/egress/credentials', {
      secret: K,
      path_prefixes: ['/'],
      methods: ['GET'],
      ...given,
    })
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toContain(words)
  })

  it('a header that chooses an account is the operator’s to allow', async () => {
    const ask = async (settings: object) => {
      const { credentialId: _, capability } = await gw.grant({
        secret: K,
        credential: { provider: 'stripe', hosts: ['api.stripe.com'], settings },
      })
      return gw.fetch(capability, {
        url: `https://api.stripe.com:${gw.upstream.port}/v1/customers`,
        headers: { 'stripe-account': 'acct_1' },
      })
    }
    expect((await ask({})).body).toMatchObject({ code: 'header_forbidden' })
    expect((await ask({ request_headers: ['stripe-account'] })).status).toBe(200)
  })

  it('a header that chooses an account is the operator’s to allow for an unmodified program, too', async () => {
    const granted = async (settings: object) => {
      const { credentialId, capability } = await gw.grant({
        secret: K,
        credential: { provider: 'stripe', hosts: [`api.stripe.com:${gw.upstream.port}`], settings },
      })
      return (headers: Record<string, string>) =>
        fetch(`${gw.baseUrl}/via/${credentialId}/v1/customers`, {
          headers: { authorization: `Bearer ${capability}`, ...headers },
        })
    }
    const ask = await granted({})
    const balance = await gw.balance()
    const seen = gw.upstream.requests.length
    for (const name of ['Stripe-Account', 'stripe_account', 'Stripe-Context']) {
      const refused = await ask({ [name]: 'acct_1' })
      const header = name.toLowerCase().replace('_', '-')
      expect([refused.status, await refused.json()]).toMatchObject([
        400,
        { code: 'header_forbidden', header, detail: expect.stringContaining('settings.request_headers') },
      ])
    }
    expect([await gw.balance(), gw.upstream.requests.length]).toEqual([balance, seen])

    // An empty one chooses nothing, and that of another provider is none here.
    expect((await ask({ 'stripe-account': '', 'openai-project': 'proj_1' })).status).toBe(200)
    const asListed = await granted({ request_headers: ['stripe-account'] })
    expect((await asListed({ 'stripe-account': 'acct_1' })).status).toBe(200)
    expect(gw.upstream.requests.at(-1)?.headers).toContainEqual(['stripe-account', 'acct_1'])
    expect((await asListed({ 'stripe-context': 'acct_1' })).status).toBe(400)
  })
})

describe('providers of an operator’s own', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agw-providers-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('are used like the others, and credentials of one that is gone are refused, not charged', async () => {
    const file = join(folder, 'own.json')
    const entry = {
      id: 'acme',
      name: 'Acme',
      hosts: ['api.example.com'],
      placements: [{ in: 'query', name: 'token' }],
      denied: ['POST /oauth/token'],
      test_call: { method: 'GET', url: 'https://api.example.com/me', what: 'Read' },
      docs: 'https://docs.example.com/',
    }
    await writeFile(file, JSON.stringify({ providers: [entry] }))
    const gw = await startTestGateway({ env: { GATEWAY_PROVIDERS_FILE: file } })
    try {
      const credential = { provider: 'acme', hosts: undefined }
      const { capability } = await gw.grant({ secret: K, credential })
      expect((await gw.fetch(capability, { url: gw.url('/me') })).status).toBe(200)
      expect(gw.upstream.requests.at(-1)?.target).toBe(`/me?token=${K}`)
      const denied = await gw.fetch(capability, { url: gw.url('/oauth/token'), method: 'POST' })
      expect(denied.body).toMatchObject({ code: 'scope_denied', denied: { path: '/oauth/token' } })
      const before = [await gw.balance(), gw.upstream.requests.length]

      await gw.gateway.close(5000)
      const env: Record<string, string> = { ...gw.env }
      delete env['GATEWAY_PROVIDERS_FILE']
      const next = await startTestGateway({ world: { ...gw, env } })
      const answer = await next.fetch(capability, { url: gw.url('/me') })
      expect(answer).toMatchObject({ status: 503, body: { code: 'credential_unavailable' } })
      expect(answer.body.detail).toContain('acme')
      expect([await next.balance(), gw.upstream.requests.length]).toEqual(before)
      await next.gateway.close(5000)
    } finally {
      await gw.close()
    }
  })

  it('of the guide are read as they stand there', async () => {
    const example = fileURLToPath(new URL('../../examples/policies/providers.json', import.meta.url))
    expect((await openProviders(example)).get('acme')).toMatchObject({
      category: 'own',
      hosts: ['api.acme.example.com'],
    })
  })

  it('that cannot be read stop the start, in words', async () => {
    const file = join(folder, 'broken.json')
    await writeFile(file, '{"providers":[{"id":"acme","hosts":["127.0.0.1"]}]}')
    const { providersFile } = loadConfig({ GATEWAY_PROVIDERS_FILE: file })
    await expect(openProviders(providersFile)).rejects.toThrow(
      'GATEWAY_PROVIDERS_FILE: providers[0].hosts.0: must be an exact host name',
    )
    await expect(openProviders(join(folder, 'none.json'))).rejects.toThrow('cannot be read (ENOENT)')
  })
})
