import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EgressRule, MAX_RULES } from '../../../../schemas/egress-rule.ts'
import { findDeadRule, judgeRules, parseRule } from '../../../../src/egress/rules/rules.ts'
import { checkPath } from '../../../../src/egress/target.ts'
import { type SeenRequest, suggestRules } from '../../../../src/egress/rules/suggest.ts'

const seen = (...lines: string[]): SeenRequest[] =>
  lines.map((line) => {
    const [method = '', rest = ''] = line.split(' ')
    const slash = rest.indexOf('/')
    return { method, host: rest.slice(0, slash), path: rest.slice(slash) }
  })

const textsOf = (requests: readonly SeenRequest[]) => suggestRules(requests).rules.map(({ text }) => text)

it('names each path that was called, with its methods', () => {
  expect(
    textsOf(
      seen(
        'GET api.github.com/user',
        'GET api.github.com/user',
        'POST api.github.com/graphql',
        'GET pypi.org/',
      ),
    ),
  ).toEqual(['allow GET api.github.com/user', 'allow POST api.github.com/graphql', 'allow GET pypi.org/'])
  expect(textsOf(seen('GET a.example.com/x', 'POST a.example.com/x'))).toEqual([
    'allow GET,POST a.example.com/x',
  ])
})

it('has no rule for a method that no rule can name', () => {
  expect(textsOf(seen('OPTIONS a.example.com/x', 'PROPFIND a.example.com/y', 'GET a.example.com/z'))).toEqual(
    ['allow GET a.example.com/z'],
  )
})

it('takes numbers, UUIDs, digests and ids that say of what they are for names of things, and versions and words for what they are', () => {
  expect(
    textsOf(
      seen(
        'GET api.example.com/v1/users/42/posts',
        'GET api.example.com/v1/things/0b3f8a5e-1c2d-4e5f-8a9b-0c1d2e3f4a5b',
        'GET api.example.com/v1beta2/charges/ch_3NabcDEF0123456789',
        'GET api.example.com/2024-06-20/blobs/da39a3ee5e6b4b0d3255bfef95601890afd80709',
        'GET api.example.com/v1/chat/completions',
        'POST api.example.com/v1/models/gpt-4o-mini',
      ),
    ),
  ).toEqual([
    'allow GET api.example.com/2024-06-20/blobs/*',
    'allow GET api.example.com/v1/chat/completions',
    'allow GET api.example.com/v1/things/*',
    'allow GET api.example.com/v1/users/*/posts',
    'allow GET api.example.com/v1beta2/charges/*',
    'allow POST api.example.com/v1/models/gpt-4o-mini',
  ])
})

it('takes four names in one place for names of things, and three for three', () => {
  const repos = (...names: string[]) => names.map((name) => `GET api.github.com/repos/acme/${name}/issues`)
  expect(textsOf(seen(...repos('a', 'b', 'c')))).toHaveLength(3)
  expect(textsOf(seen(...repos('a', 'b', 'c', 'd')))).toEqual([
    'allow GET api.github.com/repos/acme/*/issues',
  ])
})

it('takes a name that was seen once for that name, whatever ids look like', () => {
  const paths = [
    '/acme-backups-2024/db.sql',
    '/customer-data-v2',
    '/production1',
    '/feedbeef2024',
    '/run_productiondata1',
    '/acme_3NabcDEF0123456789',
    `/${'a-long-name'.padEnd(101, 'x')}`,
  ]
  for (const path of paths)
    expect(suggestRules([{ method: 'GET', host: 'a.example.com', path }])).toEqual({
      rules: [{ text: `allow GET a.example.com${path}`, widenedFrom: undefined }],
      leftOut: [],
    })
})

it('says of a rule that allows more than was seen what was seen', () => {
  const { rules } = suggestRules(seen('GET a.example.com/1', 'POST a.example.com/1', 'GET a.example.com/2'))
  expect(rules).toEqual([{ text: 'allow GET,POST a.example.com/*', widenedFrom: new Set(['/1', '/2']) }])
})

it('cuts a path that no rule could hold where it is read, and leaves it out where it changes something', () => {
  const path = '/step'.repeat(300)
  const { rules, leftOut } = suggestRules(seen(`GET a.example.com${path}`, `POST a.example.com${path}`))
  expect(rules).toEqual([
    {
      text: expect.stringMatching(/^allow GET a\.example\.com(?:\/step){260,}\/\*\*$/),
      widenedFrom: new Set([path]),
    },
  ])
  expect(EgressRule.safeParse(rules[0]?.text).success).toBe(true)
  expect(leftOut).toEqual([{ method: 'POST', host: 'a.example.com', path }])
})

/** Different in two places each, so that none of them become one by a star. */
const odd = (count: number, below: string): SeenRequest[] =>
  Array.from({ length: count }, (_, at) => ({
    method: 'GET',
    host: 'api.github.com',
    path: `${below}/a${at}x/b${at}y`,
  }))

it('cuts the crowded branch alone where there are too many, and nothing that changes things', () => {
  const others = seen(
    'DELETE api.github.com/repos/acme/tmp/git/refs/heads/x',
    'POST api.github.com/repos/acme/site/contents/a/b',
    'GET api.github.com/user',
    'GET api.github.com/repos/acme/docs/pulls',
  )
  const crowd = odd(MAX_RULES, '/repos/acme/site/contents')
  expect(suggestRules([...others, ...crowd]).rules).toEqual([
    { text: 'allow DELETE api.github.com/repos/acme/tmp/git/refs/heads/x', widenedFrom: undefined },
    { text: 'allow GET api.github.com/repos/acme/docs/pulls', widenedFrom: undefined },
    {
      text: 'allow GET api.github.com/repos/acme/site/contents/**',
      widenedFrom: new Set(crowd.map(({ path }) => path)),
    },
    { text: 'allow GET api.github.com/user', widenedFrom: undefined },
    { text: 'allow POST api.github.com/repos/acme/site/contents/a/b', widenedFrom: undefined },
  ])
})

it('cuts the fullest branches first, and no more of them than it has to', () => {
  const cutOf = (...crowds: number[]) =>
    textsOf(crowds.flatMap((count, at) => odd(count, `/repos/acme/site${at}`))).filter((text) =>
      text.endsWith('/**'),
    )
  expect(cutOf(50, 14)).toEqual([])
  expect(cutOf(50, 40)).toEqual(['allow GET api.github.com/repos/acme/site0/**'])
  expect(cutOf(50, 40, 30)).toEqual([
    'allow GET api.github.com/repos/acme/site0/**',
    'allow GET api.github.com/repos/acme/site1/**',
  ])
})

it('suggests more than a capability takes where nothing can be cut', () => {
  const requests = odd(70, '').map((request) => ({ ...request, method: 'DELETE' }))
  expect(textsOf(requests)).toEqual(
    requests.map(({ path }) => `allow DELETE api.github.com${path}`).toSorted(),
  )
  // No two of them have a segment in common.
  expect(textsOf(odd(70, ''))).toHaveLength(70)
})

it('cuts where the rules of a host are too long together', () => {
  const path = (at: number) => [...'ghijklmnopqr'].map((letter) => `/${letter.repeat(40 + at)}`).join('')
  const requests = Array.from({ length: 60 }, (_, at) => ({
    method: 'GET',
    host: 'a.example.com',
    path: `/below${path(at)}`,
  }))
  expect(textsOf(requests)).toEqual(['allow GET a.example.com/below/**'])
})

it('suggests rules that are rules, and allows all that was seen and no other method or host', () => {
  const segment = fc.oneof(
    fc.stringMatching(/^[a-zA-Z0-9_.~!$&'()*+,=:@-]{1,20}$/).filter((text) => !/^\.+$/.test(text)),
    fc.constantFrom(
      'repos',
      'v1',
      'users',
      '42',
      '*',
      '**',
      'a*b',
      'caf%C3%A9',
      'caf%c3%a9',
      '%61',
      'a%2Fb',
      ';',
      '.',
      '..',
      '%2e',
      '',
    ),
    fc.uuid(),
    fc.integer({ min: 90, max: 110 }).map((length) => 'x'.repeat(length)),
  )
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'DELETE'),
    host: fc.constantFrom('api.example.com', 'api.example.com:8443', 'b.example.com'),
    path: fc
      .tuple(fc.array(segment, { maxLength: 20 }), fc.boolean())
      .map(([segments, isOpen]) => `/${segments.join('/')}${isOpen && segments.length > 0 ? '/' : ''}`),
  })
  fc.assert(
    fc.property(fc.array(request, { minLength: 1, maxLength: 120 }), (requests) => {
      const texts = textsOf(requests)
      const rules = texts.map(parseRule)
      expect(findDeadRule(texts, {})).toBeUndefined()
      for (const text of texts) expect(EgressRule.safeParse(text).success).toBe(true)
      for (const [host, of] of Map.groupBy(requests, (one) => one.host)) {
        const [name = '', port = '443'] = host.split(':')
        // One for each path at most, however many they are.
        const paths = new Set(of.map(({ path }) => path)).size
        expect(rules.filter((rule) => rule.host === host).length).toBeLessThanOrEqual(paths)
        for (const rule of rules.filter(({ segments }) => segments?.at(-1) === '**'))
          expect(rule.methods).toEqual(['GET'])
        for (const { method, path } of of) {
          const asked = { host: name, port: Number(port), path, method }
          // What the gateway refuses for its spelling goes out under no rule.
          if (checkPath(path, { allowEncodedSlash: true }).ok)
            expect(judgeRules(rules, asked).decision).toBe('allow')
          expect(judgeRules(rules, { ...asked, method: 'PATCH' }).decision).toBe('deny')
          expect(judgeRules(rules, { ...asked, host: 'other.example.com' }).decision).toBe('deny')
        }
      }
    }),
    { numRuns: 200 },
  )
})
