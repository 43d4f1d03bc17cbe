import { describe, expect, it } from 'vitest'
import { toRequest } from '../../../src/cli/client.ts'
import { collect, parseDuration, parseInteger, scopeOf } from '../../../src/cli/options.ts'

describe('parseDuration', () => {
  it.each([
    ['900', 900],
    ['90s', 90],
    ['15m', 900],
    ['24h', 86_400],
    ['1d', 86_400],
  ])('reads %s as %i seconds', (text, seconds) => expect(parseDuration(text)).toBe(seconds))

  it.each(['', 'm', '1.5h', '-1', '1w', '1h30m', ' 1h', '1000000000000'])('refuses %j', (text) =>
    expect(() => parseDuration(text)).toThrow('Write a time like'),
  )
})

describe('parseInteger', () => {
  it.each(['1', '100'])('takes the bounds themselves: %s', (text) =>
    expect(parseInteger(1, 100)(text)).toBe(Number(text)),
  )
  it.each(['0', '101', '1.0', '1e2', '0x10', ' 1', '', '-1'])('refuses %j', (text) =>
    expect(() => parseInteger(1, 100)(text)).toThrow('from 1 to 100'),
  )
})

describe('scope options', () => {
  it('collects repeated options and leaves out what was not given', () => {
    const host = collect('b.example', collect('a.example', undefined))
    expect(scopeOf({ host })).toEqual({ hosts: ['a.example', 'b.example'] })
    expect(scopeOf({ path: ['/v1'], method: ['GET'] })).toEqual({ path_prefixes: ['/v1'], methods: ['GET'] })
  })
})

describe('toRequest', () => {
  const post = { method: 'POST', path: '/v1/keys/{key_id}/revoke', operationId: 'x' } as const
  const get = { method: 'GET', path: '/v1/attempts', operationId: 'y' } as const

  it('puts path parameters into the path, encoded, and the rest into the body', () => {
    expect(toRequest(post, { key_id: '../x?y', reason: 'old', missing: undefined })).toEqual({
      method: 'POST',
      path: '/v1/keys/..%2Fx%3Fy/revoke',
      body: '{"reason":"old"}',
    })
  })

  it('puts everything else of a GET into the query, lists as repeated names', () => {
    expect(toRequest(get, { limit: 5, state: 'ambiguous', tag: ['a', 'b'] })).toEqual({
      method: 'GET',
      path: '/v1/attempts?limit=5&state=ambiguous&tag=a&tag=b',
    })
    expect(toRequest(get, {})).toEqual({ method: 'GET', path: '/v1/attempts' })
  })
})
