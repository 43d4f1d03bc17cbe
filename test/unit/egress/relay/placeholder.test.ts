import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { withoutPlaceholders } from '../../../../src/egress/relay/placeholder.ts'

const without = (text: string, pointer = '/auth/key') =>
  String(withoutPlaceholders(Buffer.from(text), [{ in: 'json', pointer }]))

describe('the placeholder of a program', () => {
  test.each([
    ['{"auth":{"key":"mine"},"n":12345678901234567890}', '{"auth":{},"n":12345678901234567890}'],
    ['{ "n" : 1.0, "auth" : { "key" : "mine" , "a":1 } }', '{ "n" : 1.0, "auth" : {  "a":1 } }'],
    ['{"auth":{"a":1,"key":"mine"}}', '{"auth":{"a":1}}'],
    ['{"auth":{"key":null,"a":1}}', '{"auth":{"a":1}}'],
    ['{"auth":{"a":1,"key": null }}', '{"auth":{"a":1}}'],
    ['{"auth":{"a":1,"key":"mine","b":2}}', '{"auth":{"a":1,"b":2}}'],
    ['{"auth":{"k\\u0065y":"mi\\"ne","b":"}"}}', '{"auth":{"b":"}"}}'],
    ['{"auth":{"a":1,"key":"mine","key":"mine"}}', '{"auth":{"a":1}}'],
    ['{"auth":{"key":"mine","key":"mine"}}', '{"auth":{}}'],
    ['{"auth":{"key":"mine"},"auth":{"key":"mine"}}', '{"auth":{},"auth":{}}'],
    [
      '{"x":{"auth":{"key":1}},"key":1,"auth":[{"key":1}]}',
      '{"x":{"auth":{"key":1}},"key":1,"auth":[{"key":1}]}',
    ],
    ['{"":"auth","auth":{"":"key","key":"mine"}}', '{"":"auth","auth":{"":"key"}}'],
  ])('is taken out of %s, and nothing else is written anew', (text, left) => {
    expect(without(text)).toBe(left)
  })

  it.each([
    '{"auth":{"k\\u0065y":{"key":[1,{"key":2}]},"b":"}"}}',
    '{"auth":{"key":{"id":7,"value":"of a user"}},"op":"put"}',
    '{"auth":{"key":[]}}',
    '{"auth":{"key":nul}}',
    '[{"auth":{"key":"mine"}}]',
    '{"auth":{"key":"mine"}',
    '{"auth":{"key":"mine",}}',
    '{"auth":{"key":"mi\\xne"}}',
    '{"auth":{"key":"mine" 1,"a":1}}',
  ])('is no member that is no text, and nothing in what is no JSON: %s', (text) =>
    expect(without(text)).toBe(text),
  )

  it('of two members goes at once', () => {
    const pointers = ['/client_id', '/secret'].map((pointer) => ({ in: 'json', pointer }) as const)
    const body = Buffer.from('{"client_id":"mine","a":1,"secret":"mine"}')
    expect(String(withoutPlaceholders(body, pointers))).toBe('{"a":1}')
  })

  it('leaves what the rest says', () => {
    const member = fc.oneof(
      fc.jsonValue(),
      fc.record({ key: fc.oneof(fc.string(), fc.jsonValue()), other: fc.jsonValue() }),
    )
    const body = fc.dictionary(fc.constantFrom('auth', 'key', 'a', '', '"'), member)
    fc.assert(
      fc.property(body, (value) => {
        const text = JSON.stringify(value)
        const wanted = JSON.parse(text) as { auth?: unknown }
        const { auth } = wanted
        if (typeof auth === 'object' && auth !== null && 'key' in auth)
          if (typeof auth.key === 'string' || auth.key === null) delete auth.key
        expect(JSON.parse(without(text))).toEqual(wanted)
      }),
    )
  })

  it('of a form goes with every field of its name', () => {
    const body = Buffer.from('key=mine&a=1&key=two')
    expect(String(withoutPlaceholders(body, [{ in: 'form', name: 'key' }]))).toBe('a=1')
  })

  it('leaves a body that is no form as it is, to be refused', () => {
    for (const body of [
      Buffer.from('key=mine&a=J\u00fcrgen', 'latin1'),
      Buffer.from('key=mine&'.repeat(30_000)),
    ])
      expect(withoutPlaceholders(body, [{ in: 'form', name: 'key' }])).toBe(body)
  })
})
