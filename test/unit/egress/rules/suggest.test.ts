import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EgressRule, EgressRules, MAX_RULES } from '../../../../schemas/egress-rule.ts'
import { findDeadRule, judgeRules, parseRule } from '../../../../src/egress/rules/rules.ts'
import { checkPath } from '../../../../src/egress/target.ts'
import { type SeenRequest, suggestRules } from '../../../../src/egress/rules/suggest.ts'

const seen = (...lines: string[]): SeenRequest[] =>
  lines.map((line) => {
    const [method = '', rest = ''] = line.split(' ')
    const slash = rest.indexOf('/')
    return { method, host: rest.slice(0, slash), path: rest.slice(slash) }
  })

it('names each path that was called, with its methods', () => {
  expect(
    suggestRules(
      seen(
        'GET api.github.com/user',
        'GET api.github.com/user',
        'POST api.github.com/graphql',
        'GET pypi.org/',
      ),
    ),
  ).toEqual(['allow GET api.github.com/user', 'allow POST api.github.com/graphql', 'allow GET pypi.org/'])
  expect(suggestRules(seen('GET a.example.com/x', 'POST a.example.com/x'))).toEqual([
    'allow GET,POST a.example.com/x',
  ])
})

it('has no rule for a method that no rule can name', () => {
  expect(
    suggestRules(seen('OPTIONS a.example.com/x', 'PROPFIND a.example.com/y', 'GET a.example.com/z')),
  ).toEqual(['allow GET a.example.com/z'])
})

it('takes numbers, UUIDs, digests and ids of services for names of things, and versions and words for what they are', () => {
  expect(
    suggestRules(
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
  expect(suggestRules(seen(...repos('a', 'b', 'c')))).toHaveLength(3)
  expect(suggestRules(seen(...repos('a', 'b', 'c', 'd')))).toEqual([
    'allow GET api.github.com/repos/acme/*/issues',
  ])
})

it('takes a long name for that of a thing, and cuts a path that no rule could hold', () => {
  const segment = (length: number) => 'a-long-name'.padEnd(length, 'x')
  expect(
    suggestRules(seen(`GET a.example.com/${segment(100)}/x`, `GET a.example.com/${segment(101)}/y`)),
  ).toEqual(['allow GET a.example.com/*/y', `allow GET a.example.com/${segment(100)}/x`])
  const [rule = '', ...more] = suggestRules(
    seen(`GET a.example.com${'/step'.repeat(300)}`, `POST a.example.com${'/step'.repeat(300)}`),
  )
  expect(more).toEqual([])
  expect(rule).toMatch(/^allow GET,POST a\.example\.com(?:\/step){260,}\/\*\*$/)
  expect(EgressRule.safeParse(rule).success).toBe(true)
})

it('suggests no more characters for a host than a capability takes', () => {
  // No two of them have a segment in common, so that none of them are joined.
  const path = (at: number) => [...'ghijklmnopqr'].map((letter) => `/${letter.repeat(40 + at)}`).join('')
  const requests = Array.from({ length: 60 }, (_, at) => ({
    method: 'GET',
    host: 'a.example.com',
    path: path(at),
  }))
  const rules = suggestRules(requests)
  expect(EgressRules.safeParse(rules).success).toBe(true)
  for (const request of requests)
    expect(judgeRules(rules.map(parseRule), { ...request, port: 443 }).decision).toBe('allow')
})

it('suggests rules that are rules, few of them, and allows all that was seen and no other method or host', () => {
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
      const texts = suggestRules(requests)
      const rules = texts.map(parseRule)
      expect(findDeadRule(texts, {})).toBeUndefined()
      for (const text of texts) expect(EgressRule.safeParse(text).success).toBe(true)
      for (const [host, of] of Map.groupBy(requests, (one) => one.host)) {
        const [name = '', port = '443'] = host.split(':')
        expect(rules.filter((rule) => rule.host === host).length).toBeLessThanOrEqual(MAX_RULES)
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
