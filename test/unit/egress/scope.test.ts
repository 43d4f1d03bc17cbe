import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Scope, HttpMethod } from '../../../schemas/http.ts'
import { checkEntries, checkScope, checkSubset, coversPath } from '../../../src/egress/scope.ts'
import { cites } from '../../requirements.ts'

const scope: Scope = {
  hosts: ['api.example.com', 'files.example.com:8443'],
  path_prefixes: ['/v1', '/public/'],
  methods: ['GET', 'POST'],
}
const request = { host: 'api.example.com', port: 443, path: '/v1', method: 'GET' }

test.each([
  [{}, 'ok'],
  [{ port: 8443 }, 'ok'],
  [{ host: 'files.example.com', port: 8443 }, 'ok'],
  [{ host: 'files.example.com' }, 'host'],
  [{ host: 'sub.api.example.com' }, 'host'],
  [{ host: 'example.com' }, 'host'],
  [{ path: '/v1/things' }, 'ok'],
  [{ path: '/v10' }, 'path'],
  [{ path: '/V1' }, 'path'],
  [{ path: '/' }, 'path'],
  [{ path: '/public/a' }, 'ok'],
  [{ path: '/public/' }, 'ok'],
  [{ path: '/public' }, 'path'],
  [{ method: 'DELETE' }, 'method'],
])(cites('egress:scope:covers', 'a request with %j is covered or refused by: %s'), (changes, expected) => {
  const verdict = checkScope(scope, { ...request, ...changes })
  expect(verdict.ok ? 'ok' : verdict.reason).toBe(expected)
})

test.each([
  [{ host: 'sub.api.example.com' }, 'sub.api.example.com'],
  [{ host: 'files.example.com', port: 8444 }, 'files.example.com:8444'],
  [{ path: '/v10' }, '/v10'],
  [{ method: 'DELETE' }, 'DELETE'],
])('a refusal of %j names %s', (changes, value) => {
  expect(checkScope(scope, { ...request, ...changes })).toMatchObject({ ok: false, value })
})

test.each([
  [{ hosts: ['db.internal'] }, 'is not a name on the public internet'],
  [{ hosts: ['api.example.com:22'] }, 'names a port that the operator does not allow'],
  [{ path_prefixes: ['/a/../b'] }, 'is not a canonical path, so no request would match it'],
])('an entry of %j that could never match is told why: it %s', (changes, message) => {
  expect(checkEntries({ ...scope, ...changes }, { ports: [443, 8443] })).toMatchObject({ ok: false, message })
})

test('the root prefix covers every path', () => {
  expect(coversPath('/', '/')).toBe(true)
  expect(coversPath('/', '/anything/at/all')).toBe(true)
})

test.each([
  [{ hosts: ['api.example.com'] }, undefined],
  [{ hosts: ['api.example.com:8443'] }, undefined],
  [{ hosts: ['files.example.com'] }, 'hosts files.example.com'],
  [{ hosts: ['api.example.com', 'evil.example.net'] }, 'hosts evil.example.net'],
  [{ path_prefixes: ['/v1/things', '/public/x'] }, undefined],
  [{ path_prefixes: ['/v2'] }, 'path_prefixes /v2'],
  [{ path_prefixes: ['/public'] }, 'path_prefixes /public'],
  [{ path_prefixes: ['/'] }, 'path_prefixes /'],
  [{ methods: ['GET', 'DELETE'] }, 'methods DELETE'],
] as [Partial<Scope>, string | undefined][])(
  cites('egress:scope:subset', '%j sticks out at: %s'),
  (changes, expected) => {
    const verdict = checkSubset({ ...scope, ...changes }, scope)
    expect(verdict.ok ? undefined : `${verdict.field} ${verdict.value}`).toBe(expected)
  },
)

test.each([
  [{ hosts: ['localhost.localdomain'] }, '/hosts/0'],
  [{ hosts: ['api.example.com', 'db.internal'] }, '/hosts/1'],
  [{ hosts: ['api.example.com:22'] }, '/hosts/0'],
  [{ path_prefixes: ['/a/../b'] }, '/path_prefixes/0'],
  [{ path_prefixes: ['/ok', '/a%2fb'] }, '/path_prefixes/1'],
  [{}, undefined],
] as [Partial<Scope>, string | undefined][])(
  'entries %j that could never match are found at %s',
  (changes, expected) => {
    const verdict = checkEntries({ ...scope, ...changes }, { ports: [443, 8443] })
    expect(verdict.ok ? undefined : verdict.pointer).toBe(expected)
  },
)

test(cites('egress:scope:monotone', 'what a subset covers, the whole covers'), () => {
  const host = fc.constantFrom('a.example.com', 'b.example.com', 'a.example.com:8443', 'b.example.com:443')
  const prefix = fc.constantFrom('/', '/v1', '/v1/', '/v1/a', '/v10', '/v1/a/b')
  const method = fc.constantFrom(...HttpMethod.options)
  const anyScope = fc.record({
    hosts: fc.uniqueArray(host, { minLength: 1 }),
    path_prefixes: fc.uniqueArray(prefix, { minLength: 1 }),
    methods: fc.uniqueArray(method, { minLength: 1 }),
  })
  const anyRequest = fc.record({
    host: fc.constantFrom('a.example.com', 'b.example.com'),
    port: fc.constantFrom(443, 8443),
    path: fc.oneof(prefix, fc.constantFrom('/v1/x', '/v1/a/', '/v1/ab', '/v2')),
    method,
  })
  fc.assert(
    fc.property(anyScope, anyScope, anyRequest, (inner, outer, one) => {
      if (checkSubset(inner, outer).ok && checkScope(inner, one).ok)
        expect(checkScope(outer, one)).toEqual({ ok: true })
    }),
    { numRuns: 5000 },
  )
})
