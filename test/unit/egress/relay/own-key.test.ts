import { describe, expect, it } from 'vitest'
import type { Placement } from '../../../../schemas/credential-settings.ts'
import { placeholderOf } from '../../../../src/cli/run/variables.ts'
import { refuseOwnKey } from '../../../../src/egress/relay/own-key.ts'
import type { HeaderPairs } from '../../../../src/egress/headers.ts'

const KEY = 'sk-of-the-program-0123456789'
const TOKEN = 'agw_cap_0123456789'
const basic = (password: string) => `Basic ${Buffer.from(`user:${password}`).toString('base64')}`
const given = (headers: HeaderPairs, path = '/v1/things', body?: string) => ({
  url: `https://api.example.com${path}`,
  headers,
  body: body === undefined ? undefined : Buffer.from(body),
})

type Place = readonly [where: string, Placement[], (key: string) => ReturnType<typeof given>]
const places: readonly Place[] = [
  ['a header of keys', [], (key) => given([['X-Api-Key', key]])],
  ['a header behind a scheme', [], (key) => given([['authorization', `Bearer ${key}`]])],
  ['the password of a pair', [], (key) => given([['authorization', basic(key)]])],
  ['the header of the credential', [{ in: 'header', name: 'x-own' }], (key) => given([['X-Own', key]])],
  ['a cookie', [{ in: 'cookie', name: 'session' }], (key) => given([['cookie', `a=b; session=${key}`]])],
  ['the query', [{ in: 'query', name: 'key' }], (key) => given([], `/v1/things?a=b&Key=${key}`)],
  ['the path', [{ in: 'path', at: 0, prefix: 'bot' }], (key) => given([], `/bot${key}/getMe`)],
  ['a form', [{ in: 'form', name: 'token' }], (key) => given([], '/', `a=b&token=${key}`)],
  ['JSON', [{ in: 'json', pointer: '/a/key' }], (key) => given([], '/', JSON.stringify({ a: { key } }))],
]

describe('a key of a program’s own', () => {
  it.each(places)('is refused in %s, without a word of it', (_where, placements, withKey) => {
    let thrown: unknown
    try {
      refuseOwnKey(withKey(KEY), placements)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ reason: 'own_key' })
    expect(JSON.stringify(thrown) + String(thrown)).not.toContain(KEY)
  })

  it.each(places)(
    'is none in %s that is a capability, a placeholder, or nothing',
    (where, placements, withKey) => {
      // A name without a password may be the key itself.
      const nothing = where === 'the password of a pair' ? [] : ['']
      for (const key of [TOKEN, placeholderOf({ prefix: 'sk-', length: 11 }), ...nothing])
        expect(() => refuseOwnKey(withKey(key), placements)).not.toThrow()
    },
  )

  it('is none where the credential does not go', () => {
    expect(() =>
      refuseOwnKey(given([['x-own', KEY]], `/${KEY}?key=${KEY}`, `token=${KEY}`), []),
    ).not.toThrow()
  })

  it('is none where JSON has null in its place', () => {
    expect(() =>
      refuseOwnKey(given([], '/', '{"key":null}'), [{ in: 'json', pointer: '/key' }]),
    ).not.toThrow()
  })
})
