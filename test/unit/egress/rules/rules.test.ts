import fc from 'fast-check'
import { describe, expect, it, test, vi } from 'vitest'
import { EgressRule } from '../../../../schemas/egress-rule.ts'
import { findDeadRule, judgeRules, parseRule } from '../../../../src/egress/rules/rules.ts'

const request = { host: 'api.github.com', port: 443, path: '/repos/acme/site', method: 'GET' }
const judge = (rules: readonly string[], changes: Partial<typeof request> = {}) =>
  judgeRules(rules.map(parseRule), { ...request, ...changes })

test.each([
  ['allow GET api.github.com/repos/acme/site', {}, 'allow'],
  ['allow * *', {}, 'allow'],
  ['allow GET api.github.com', {}, 'allow'],
  ['allow GET,POST *', { method: 'POST' }, 'allow'],
  ['allow GET,POST *', { method: 'PUT' }, 'deny'],
  ['allow GET api.github.com', { host: 'evil.api.github.com' }, 'deny'],
  ['allow GET api.github.com', { port: 8443 }, 'allow'],
  ['allow GET api.github.com:8443', {}, 'deny'],
  ['allow GET api.github.com/repos/*/site', {}, 'allow'],
  ['allow GET api.github.com/repos/*', {}, 'deny'],
  ['allow GET api.github.com/repos/*/*', {}, 'allow'],
  ['allow GET api.github.com/repos/*', { path: '/repos/' }, 'deny'],
  ['allow GET api.github.com/repos/**', {}, 'allow'],
  ['allow GET api.github.com/repos/**', { path: '/repos' }, 'allow'],
  ['allow GET api.github.com/repos/**', { path: '/repository' }, 'deny'],
  ['allow GET api.github.com/**', { path: '/' }, 'allow'],
  ['allow GET api.github.com/', { path: '/' }, 'allow'],
  // An allow is meant letter by letter,
  ['allow GET api.github.com/repos/acme/site', { path: '/repos/acme/site/' }, 'deny'],
  ['allow GET api.github.com/repos/acme/site', { path: '/repos/Acme/site' }, 'deny'],
])('%s, asked with %j: %s', (rule, changes, decision) => {
  expect(EgressRule.safeParse(rule).success).toBe(true)
  expect(judge([rule], changes).decision).toBe(decision)
})

describe('what is denied or asked about', () => {
  // and these are not: a server may take the spelling for the same.
  it.each(['/admin', '/admin/', '/ADMIN', '/Admin/'])('is so as %s, too', (path) => {
    for (const decision of ['deny', 'ask'])
      expect(judge([`${decision} * */admin`, 'allow * *'], { path })).toEqual({
        decision,
        rule: `${decision} * */admin`,
      })
  })

  it.each([
    '/admin.',
    '/admin%20',
    '/admin.%20.',
    '/admin/%20',
    '/admin.json',
    '/ADMIN.XML',
    '/adm%E2%80%8Bin',
    '/adm%C2%ADin/',
    '/%EF%BD%81dmin',
    '/adm%C4%B1n',
  ])('is so where a server drops or folds what is beside it: %s', (path) => {
    expect(judge(['deny * */admin', 'allow * *'], { path }).decision).toBe('deny')
    expect(judge(['deny * */admin.json', 'allow * *'], { path }).decision).toBe('deny')
    expect(judge(['ask * */x/*', 'allow * *'], { path: `/x${path.replace(/\/$/, '')}` }).decision).toBe('ask')
  })

  it('is so for a star where all of the segment would be dropped', () => {
    for (const path of ['/x/...', '/x/%20', '/x/%E2%80%8B', '/x/.json'])
      expect(judge(['deny * */x/*', 'allow * *'], { path }).decision).toBe('deny')
    expect(judge(['deny * */x/*/y', 'allow * *'], { path: '/x/%20/y' }).decision).toBe('deny')
  })

  it.each([
    '/acme/secret/info/refs',
    '/acme/secret.git/info/refs',
    '/acme/secret.GIT/info/lfs/objects/batch',
    '/Acme/secret.git./git-upload-pack',
    '/acme/secret%2Egit%20/git-receive-pack',
    '/acme/secret.git',
    '/acme%2Fsecret.git/info/refs',
  ])('is so for the address by which a repository is cloned: %s', (path) => {
    const rules = ['* */acme/secret/**', '* */acme/secret.git/**', '* */*/secret/**']
    for (const rule of rules)
      expect(judge([`deny ${rule}`, 'allow * */acme/**', 'allow * *'], { path }).decision).toBe('deny')
    expect(judge(['ask * */acme/secret/**', 'allow * *'], { path }).decision).toBe('ask')
  })

  it('is not another repository, nor what is named like none', () => {
    for (const path of [
      '/acme/secrets.git/x',
      '/acme/secret.wiki.git/x',
      '/acme/secretgit/x',
      '/acme/.git/x',
    ])
      expect(judge(['deny * */acme/secret/**', 'allow * *'], { path }).decision).toBe('allow')
    expect(judge(['deny * */acme/.git/**', 'allow * *'], { path: '/acme/.GIT/config' }).decision).toBe('deny')
    expect(judge(['deny * */acme/*/x', 'allow * *'], { path: '/acme/.git/x' }).decision).toBe('deny')
  })

  it('is not what merely begins alike', () => {
    for (const path of ['/administrators', '/admin.d', '/admin.json/x', '/admin-', '/admin.1'])
      expect(judge(['deny * */admin', 'allow * *'], { path }).decision).toBe('allow')
  })

  it('is so for a segment that is escaped, and for one that is a slash in an escape', () => {
    expect(judge(['deny * */caf%C3%A9/**', 'allow * *'], { path: '/caf%C3%A9' }).decision).toBe('deny')
    expect(judge(['deny * */caf%C3%A9/**', 'allow * *'], { path: '/CAF%C3%89/x' }).decision).toBe('deny')
    expect(judge(['deny * */a/b', 'allow * *'], { path: '/a%2Fb' }).decision).toBe('deny')
  })

  it.each([
    ['/projects/*', '/projects/acme%2Fsite', true],
    ['/projects/*', '/projects/acme%2Fsite%2Fx', true],
    ['/projects/*', '/projects/acme%2F', true],
    ['/projects/*', '/projects/acme%2Fsite/hooks', false],
    ['/projects/*/hooks', '/projects/acme%2Fsite/hooks', true],
    ['/projects/*/*/hooks', '/projects/acme%2Fsite/hooks', true],
    ['/projects/*/hooks/*', '/projects/a%2Fb/hooks/c%2Fd', true],
    ['/projects/acme%2Fsite/*', '/projects/acme%2Fsite/c%2Fd', true],
    ['/projects/acme/site/*', '/projects/ACME%2Fsite/c%2Fd', true],
    ['/projects/*/**', '/projects/acme%2Fsite/a/b', true],
    ['/projects/*/hooks', '/projects/acme%2Fhooks', true],
    ['/projects/*/hooks', '/projects%2Facme%2Fother', false],
    ['/*', '/a%2Fb/c', false],
  ])('takes an escaped slash for either: %s, asked for %s', (pattern, path, isDenied) => {
    expect(judge([`deny * *${pattern}`, 'allow * *'], { path }).decision).toBe(isDenied ? 'deny' : 'allow')
  })
})

it('lets the first that fits decide, and denies what none fits', () => {
  const rules = ['deny DELETE *', 'ask * api.github.com/repos/*/pulls', 'allow GET api.github.com/**']
  expect(judge(rules)).toEqual({ decision: 'allow', rule: rules[2] })
  expect(judge(rules, { method: 'DELETE' })).toEqual({ decision: 'deny', rule: rules[0] })
  expect(judge(rules, { path: '/repos/acme/pulls' })).toEqual({ decision: 'ask', rule: rules[1] })
  expect(judge(rules, { method: 'POST' })).toEqual({ decision: 'deny', rule: undefined })
})

test.each([
  ['allow get *', 'a method in lower case'],
  ['allow GET', 'no host'],
  ['permit GET *', 'another word'],
  ['allow GET https://api.github.com/', 'a URL'],
  ['allow GET API.github.com', 'a host in upper case'],
  ['allow  GET *', 'two spaces'],
  ['allow GET *.github.com', 'a part of a host'],
  ['allow GET api.github.com/repos/a*', 'a part of a segment'],
  ['allow GET api.github.com/**/pulls', 'two stars in the middle'],
  ['allow GET 127.0.0.1/', 'an address'],
  ['allow GET, *', 'half a list'],
])('%s is no rule: %s', (rule) => {
  expect(EgressRule.safeParse(rule).success).toBe(false)
})

it('tells of a path that no request has', () => {
  expect(findDeadRule(['allow * *', 'deny * */a/../b'], {})).toMatchObject({ at: 1 })
  expect(findDeadRule(['allow * */a%2Fb'], {})).toMatchObject({ at: 0 })
  expect(findDeadRule(['allow * */a%2Fb'], { allowEncodedSlash: true })).toBeUndefined()
  expect(findDeadRule(['allow * */repos/*/pulls/**'], {})).toBeUndefined()
})

it('allows nothing that a deny in front of it covers in any spelling', () => {
  const segment = fc.stringMatching(/^[a-zA-Z0-9_.~-]{1,6}$/).filter((text) => !/^\.+$/.test(text))
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
      (segments, hasSlash, ups) => {
        const path = `/${segments.join('/')}`
        const other = [...path]
          .map((char, at) => (ups[at] ? char.toUpperCase() : char.toLowerCase()))
          .join('')
        const asked = hasSlash ? `${other}/` : other
        expect(judge([`deny * *${path}`, 'allow * *'], { path: asked }).decision).toBe('deny')
      },
    ),
  )
})

it('spells a path once, however many rules ask', () => {
  const rules = Array.from({ length: 60 }, (_, i) => `deny * */*/*/z${i}`)
  const spelled = vi.spyOn(String.prototype, 'normalize')
  judge([...rules, 'allow * *'], { path: '/repos/acme/site' })
  const ofPath = spelled.mock.contexts.filter((text) => String(text) === 'acme')
  spelled.mockRestore()
  expect(ofPath).toHaveLength(1)
})

it('takes each escaped slash for either, beside many of them', () => {
  const path = `/a${'%2Fb'.repeat(90)}/end`
  expect(judge(['deny * */*/end', 'allow * *'], { path }).decision).toBe('deny')
  expect(judge(['deny * */*/*/*/end', 'allow * *'], { path }).decision).toBe('deny')
  expect(judge(['deny * */*/other', 'allow * *'], { path }).decision).toBe('allow')
  expect(judge([`deny * */a${'/b'.repeat(90)}/end`, 'allow * *'], { path }).decision).toBe('deny')
  expect(judge([`deny * */a${'/b'.repeat(91)}/end`, 'allow * *'], { path }).decision).toBe('allow')
})
