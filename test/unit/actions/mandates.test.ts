import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MandateTerms } from '../../../schemas/actions.ts'
import { findTermsProblem, normaliseTerms } from '../../../src/actions/mandates.ts'
import { MANDATE_MAX_MS } from '../../../src/actions/ports.ts'

const NOW = Date.UTC(2026, 5, 1)
const RULES = { ports: [443, 8443], allowSandboxName: false, now: NOW }
const given = {
  purpose: 'Report broken links',
  credential_id: 'cred_1',
  host: 'api.example.com',
  path_prefix: '/v1',
  methods: ['POST', 'GET'],
  max_calls: 5,
  expires_at: '2026-06-02T00:00:00Z',
}
type Written = Record<string, unknown>
const read = (changes: Written = {}) => normaliseTerms(MandateTerms.parse({ ...given, ...changes }))

describe('the digest of a mandate', () => {
  it.each<[string, Written]>([
    ['methods in another order', { methods: ['GET', 'POST'] }],
    ['a method twice', { methods: ['POST', 'GET', 'POST'] }],
    ['the same moment in another zone', { expires_at: '2026-06-02T02:00:00+02:00' }],
    ['the same moment with a fraction', { expires_at: '2026-06-02T00:00:00.000Z' }],
    ['a default written out', { requires_approval: false }],
  ])('is the same with %s', (_what, changes) => {
    expect(read(changes)).toEqual(read())
  })

  it.each<[string, Written]>([
    ['purpose', { purpose: 'Report broken links.' }],
    ['credential', { credential_id: 'cred_2' }],
    ['host', { host: 'api.example.com:8443' }],
    ['path', { path_prefix: '/v1/' }],
    ['methods', { methods: ['POST'] }],
    ['calls', { max_calls: 6 }],
    ['kind of limit', { max_calls: undefined, max_credits: 5 }],
    ['second limit', { max_credits: 5 }],
    ['expiry', { expires_at: '2026-06-02T00:00:00.001Z' }],
    ['approval', { requires_approval: true }],
  ])('is another one with another %s', (_what, changes) => {
    expect(read(changes).digest).not.toBe(read().digest)
  })

  it('does not depend on the order of members or on how a mandate came in', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.keys(given), { minLength: 7, maxLength: 7 }), (names) => {
        const shuffled = Object.fromEntries(names.map((name) => [name, given[name as keyof typeof given]]))
        expect(normaliseTerms(MandateTerms.parse(shuffled)).digest).toBe(read().digest)
      }),
    )
  })
})

describe('the terms of a mandate', () => {
  it.each<[string, Written]>([
    ['no limit', { max_calls: undefined }],
    ['an expiry without a zone', { expires_at: '2026-06-02T00:00:00' }],
    ['no method', { methods: [] }],
    ['a purpose of two lines', { purpose: 'a\nb' }],
    ['a purpose that is no text', { purpose: '\ud800' }],
    ['a wildcard host', { host: '*.example.com' }],
    ['a relative path', { path_prefix: 'v1' }],
    ['something unknown', { parent_hosts: true }],
  ])('are refused with %s', (_what, changes) => {
    expect(MandateTerms.safeParse({ ...given, ...changes }).success).toBe(false)
  })

  it.each<[string, Written, string | undefined]>([
    ['as they are', {}, undefined],
    ['a port that is allowed', { host: 'api.example.com:8443' }, undefined],
    ['a port that is not', { host: 'api.example.com:22' }, '/host'],
    ['a local name', { host: 'db.internal' }, '/host'],
    ['a path that no request has', { path_prefix: '/a/../b' }, '/path_prefix'],
    ['the latest expiry', { expires_at: new Date(NOW + MANDATE_MAX_MS).toISOString() }, undefined],
    ['a later one', { expires_at: new Date(NOW + MANDATE_MAX_MS + 1).toISOString() }, '/expires_at'],
    ['an expiry in the past, which is judged later', { expires_at: '2020-01-01T00:00:00Z' }, undefined],
  ])('that can be of no use are found: %s', (_what, changes, pointer) => {
    expect(findTermsProblem(read(changes), RULES)?.pointer).toBe(pointer)
  })

  it('may name the sample site where there is one', () => {
    const terms = read({ host: 'sandbox.agent-gateway.test' })
    expect(findTermsProblem(terms, RULES)?.pointer).toBe('/host')
    expect(findTermsProblem(terms, { ...RULES, allowSandboxName: true })).toBeUndefined()
  })
})
