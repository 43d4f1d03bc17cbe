import { expect, test } from 'vitest'
import { pickRequestHeaders } from '../../../../src/egress/headers.ts'
import { createProviders, findDeniedPath } from '../../../../src/egress/providers/index.ts'
import { checkProvider, readOwnProviders } from '../../../../src/egress/providers/schema.ts'
import { parseTarget } from '../../../../src/egress/target.ts'

const providers = createProviders()
const provider = (id: string) => providers.get(id) ?? expect.fail(`no provider ${id}`)

test('there are forty at least, each under an id of its own, those of the specification first', () => {
  const ids = providers.list().map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBeGreaterThanOrEqual(40)
  expect(ids.slice(0, 9)).toEqual(
    'openai anthropic github stripe slack notion cloudflare mistral custom'.split(' '),
  )
})

test.each(providers.list().map((one) => [one.id, one] as const))(
  '%s is described as an operator has to describe one, and its test call would be let through',
  (id, one) => {
    if (id !== 'custom') expect(checkProvider(one)).toEqual([])
    const target = parseTarget(one.test_call.url, { ports: [443] })
    if (!target.ok) return expect.fail(target.detail)
    expect(findDeniedPath(one, { method: one.test_call.method, path: target.path })).toBeUndefined()
    const { headers = {} } = one.test_call
    const sent = Object.fromEntries(pickRequestHeaders(headers, one.version_headers, one.request_headers))
    expect(sent).toMatchObject({ ...one.version_headers, ...headers })
    if ((one.test_call.body ?? '').startsWith('{')) expect(headers).toHaveProperty('content-type')
  },
)

test.each([
  ['github', 'POST', '/app/installations/42/access_tokens', true],
  ['github', 'POST', '/app/installations/42/access_tokens/', true],
  ['github', 'GET', '/app/installations/42', false],
  ['github', 'POST', '/repos/a/b/issues', false],
  ['github', 'POST', '/repositories/1296269/actions/runners/registration-token', true],
  ['github', 'POST', '/organizations/9919/actions/runners/generate-jitconfig', true],
  ['stripe', 'POST', '/v2/core/event_destinations', true],
  ['slack', 'GET', '/api/oauth.v2.access', true],
  ['slack', 'POST', '/api/OAuth.V2.access', true],
  ['cloudflare', 'POST', '/client/v4/user/tokens', true],
  ['cloudflare', 'GET', '/client/v4/user/tokens/verify', false],
  ['custom', 'POST', '/oauth/token', false],
  ['twilio', 'GET', '/2010-04-01/Accounts/AC1.json', true],
  ['twilio', 'GET', '/2010-04-01/Accounts/AC1/Messages.json', false],
  ['serpapi', 'GET', '/account.json', true],
  ['fireworks', 'POST', '/v1/accounts/a/users/b/apiKeys', true],
  ['postmark', 'GET', '/server', true],
  ['meta-graph', 'GET', '/v23.0/me/accounts', true],
  ['heroku', 'PATCH', '/apps/a/config-vars', true],
  ['heroku', 'GET', '/pipelines/a/stage/staging/config-vars', true],
  ['digitalocean', 'GET', '/v2/databases/1/pools/p', true],
  ['digitalocean', 'GET', '/v2/databases/1/replicas', true],
  ['netlify', 'GET', '/api/v1/sites/s/env', true],
  ['gitlab', 'GET', '/api/v4/projects/1/triggers', true],
  ['gitlab', 'GET', '/api/v4/projects/1/pipeline_schedules/2', true],
  ['gitlab', 'GET', '/api/v4/projects/1/pipeline_schedules', false],
  ['hetzner', 'POST', '/v1/servers', true],
  ['hetzner', 'GET', '/v1/servers', false],
  ['hetzner', 'POST', '/v1/servers/1/actions/rebuild', true],
  ['cloudflare', 'GET', '/client/v4/accounts/1/challenges/widgets/2', true],
  // Spellings that the provider serves alike.
  ['gitlab', 'GET', '/api/v4/projects/1/variables.json', true],
  ['gitlab', 'POST', '/api/v4/projects/a%2Fb/access_tokens.json', true],
  ['gitlab', 'GET', '/api/v4/projects/1/repository/files/variables.json', false],
  ['discord', 'GET', '/api/v9/channels/1/webhooks', true],
  ['discord', 'GET', '/api/channels/1/webhooks', true],
  ['discord', 'GET', '/api/v10/channels/1/messages', false],
  ['meta-graph', 'GET', '/v23.0/me?fields=accounts', true],
  ['meta-graph', 'GET', '/v23.0/123?fields=name,Access%5Ftoken', true],
  ['meta-graph', 'GET', '/v23.0/123?fields=whatsapp_business_accounts', false],
  ['meta-graph', 'POST', '/v23.0', true],
  ['meta-graph', 'POST', '/v23.0/123/messages', false],
] as const)('%s %s %s hands out a credential: %s', (id, method, path, expected) => {
  const { pathname, search } = new URL(path, 'https://api.example.com')
  const denied = findDeniedPath(provider(id), { method, path: pathname, query: search })
  expect(denied !== undefined).toBe(expected)
})

test('denies a path in either reading of an escaped slash', () => {
  const github = provider('github')
  expect(
    findDeniedPath(github, { method: 'POST', path: '/app/installations/7%2Faccess_tokens' }),
  ).toBeDefined()
  expect(
    findDeniedPath(github, { method: 'POST', path: '/app/installations/7%2F8/access_tokens' }),
  ).toBeDefined()
  expect(
    findDeniedPath(github, { method: 'POST', path: '/app%2Finstallations/7/access_tokens' }),
  ).toBeDefined()
  expect(findDeniedPath(github, { method: 'POST', path: '/repos/a%2Fb/issues' })).toBeUndefined()
})

const OWN = {
  id: 'acme',
  name: 'Acme',
  hosts: ['api.acme.example.com'],
  test_call: { method: 'GET', url: 'https://api.acme.example.com/v1/me', what: 'Read whose key it is' },
  docs: 'https://docs.example.com/',
}
const read = (...entries: unknown[]) =>
  readOwnProviders(JSON.stringify({ providers: entries }), new Set(['github']))

test('an operator’s own needs no more than an id, hosts, a test call and a link', () => {
  expect(read(OWN)).toMatchObject({
    ok: true,
    providers: [
      { id: 'acme', placements: [{ in: 'header', name: 'authorization', scheme: 'Bearer' }], denied: [] },
    ],
  })
})

test.each([
  ['cut', '{', 'it is not JSON: look at line 1, column 2'],
  [
    'a member twice',
    '{"providers": [\n  {"id": "a",\n   "id": "b"}]}',
    'it has the member "id" twice in one object, in lines 2 and 3: remove one',
  ],
  ['missing a comma', '{"providers": [\n  {"id": "a" "b"}]}', 'it is not JSON: look at line 2, column 14'],
  [
    'written with a comma too many',
    `{"providers": [\n  {"id": "a"},\n  {"id": "acme", "name": }, {"name": "a long one after it"}]}`,
    'it is not JSON: look at line 3, column 26',
  ],
  ['a list', '[]', 'the one member "providers"'],
  ['another member', '{"providers":[],"more":1}', 'the one member "providers"'],
])('a file that is %s is refused in words', (_, text, words) => {
  const verdict = readOwnProviders(text, new Set())
  expect(verdict.ok ? '' : verdict.problems.join()).toContain(words)
})

test('a file that is none of these at all is not quoted', () => {
  for (const text of [
    'agw_sk_0123456789abcdefghij',
    'agw_sk_x agw_sk_x',
    `-----BEGIN PRIVATE KEY-----\n${'MIIEvQ'.repeat(30)}`,
  ]) {
    const verdict = readOwnProviders(text, new Set())
    const problems = verdict.ok ? '' : verdict.problems.join()
    expect(problems).toMatch(/^it is not JSON(: look at line 1, column \d)?$/)
  }
})

test.each<[string, unknown, string]>([
  ['an unknown member', { ...OWN, host: 'x' }, 'Unrecognized key'],
  [
    'a host that is none',
    { ...OWN, hosts: ['https://a.b'] },
    'providers[0].hosts.0: must be an exact host name',
  ],
  ['no host', { ...OWN, hosts: [] }, 'name its hosts'],
  ['an id of the gateway', { ...OWN, id: 'github' }, 'has a provider of this id'],
  ['an id in capitals', { ...OWN, id: 'Acme' }, 'providers[0].id: the id of a provider'],
  [
    'a test call that goes elsewhere',
    { ...OWN, test_call: { ...OWN.test_call, url: 'https://evil.example.net/' } },
    'evil.example.net is not one of its hosts',
  ],
  [
    'a test call to an address',
    { ...OWN, test_call: { ...OWN.test_call, url: 'https://127.0.0.1/' } },
    'IP addresses are never called directly',
  ],
  ['a denied path that never matches', { ...OWN, denied: ['POST /a/../b'] }, 'is not a canonical path'],
  [
    'parts without places',
    { ...OWN, parts: { a: 'secret', b: 'secret' } },
    'providers[0] (acme): placements/0: the credential is made of a and b',
  ],
  [
    'a header that frames the message',
    { ...OWN, placements: [{ in: 'header', name: 'host' }] },
    'cannot carry',
  ],
  [
    'authorization from callers',
    { ...OWN, request_headers: ['authorization'] },
    'may not be sent by callers',
  ],
  ...['host', 'content-length', 'authorization', 'idempotency-key'].flatMap(
    (name): [string, unknown, string][] => [
      [`${name} among its versions`, { ...OWN, version_headers: { [name]: 'x' } }, name],
      [
        `${name} in its test call`,
        { ...OWN, test_call: { ...OWN.test_call, headers: { [name]: 'x' } } },
        name,
      ],
    ],
  ),
  [
    'a line break in a version',
    { ...OWN, version_headers: { 'x-version': '1\r\nhost: evil.example.com' } },
    'in one line',
  ],
  ['a wildcard of everything', { ...OWN, hosts: [], host_suffixes: ['.com'] }, 'an ending such as'],
])('an entry with %s is refused in words', (_, entry, words) => {
  const verdict = read(entry)
  expect(verdict.ok ? '' : verdict.problems.join('\n')).toContain(words)
})

test('everything that is wrong is told at once', () => {
  const verdict = read({ ...OWN, id: 'A' }, OWN, OWN, { ...OWN, id: 'other', hosts: [] })
  expect(verdict.ok ? [] : verdict.problems).toHaveLength(4)
})
