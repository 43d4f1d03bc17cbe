import { expect, test } from 'vitest'
import { PROVIDERS } from '../../../schemas/egress.ts'
import { AllowedHost } from '../../../schemas/http.ts'
import { pickRequestHeaders } from '../../../src/egress/headers.ts'
import { findDeniedPath, listProviders } from '../../../src/egress/providers.ts'
import { checkPath, parseTarget } from '../../../src/egress/target.ts'

test('every provider is described, and its example is a request that would be let through', () => {
  expect(listProviders().map(({ id }) => id)).toEqual([...PROVIDERS])
  for (const provider of listProviders()) {
    for (const host of provider.hosts) expect(AllowedHost.parse(host)).toBe(host)
    expect(provider.header).toBe(provider.header.toLowerCase())
    const target = parseTarget(provider.example.url, { ports: [443] })
    expect(target).toMatchObject({ ok: true })
    if (!target.ok) continue
    if (provider.id !== 'custom') expect(provider.hosts).toContain(target.host)
    expect(findDeniedPath(provider.id, provider.example.method, target.path)).toBeUndefined()
    const sent = Object.fromEntries(pickRequestHeaders({}, provider.versionHeaders))
    expect(sent).toMatchObject(provider.versionHeaders)
    for (const { path } of provider.denied) expect(checkPath(path.replaceAll('*', 'x'))).toEqual({ ok: true })
  }
})

test.each([
  ['github', 'POST', '/app/installations/42/access_tokens', true],
  ['github', 'POST', '/app/installations/42/access_tokens/', true],
  ['github', 'GET', '/app/installations/42', false],
  ['github', 'POST', '/repos/a/b/issues', false],
  ['slack', 'GET', '/api/oauth.v2.access', true],
  ['slack', 'POST', '/api/OAuth.V2.access', true],
  ['cloudflare', 'POST', '/client/v4/user/tokens', true],
  ['cloudflare', 'GET', '/client/v4/user/tokens/verify', false],
  ['custom', 'POST', '/oauth/token', false],
] as const)('%s %s %s hands out a credential: %s', (provider, method, path, expected) => {
  expect(findDeniedPath(provider, method, path) !== undefined).toBe(expected)
})

test('denies a path in either reading of an escaped slash', () => {
  expect(findDeniedPath('github', 'POST', '/app/installations/7%2Faccess_tokens')).toBeDefined()
  expect(findDeniedPath('github', 'POST', '/app/installations/7%2F8/access_tokens')).toBeDefined()
  expect(findDeniedPath('github', 'POST', '/app%2Finstallations/7/access_tokens')).toBeDefined()
  expect(findDeniedPath('github', 'POST', '/repos/a%2Fb/issues')).toBeUndefined()
})
