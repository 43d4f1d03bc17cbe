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
    ['{"auth":{"a":1,"key":"mine","b":2}}', '{"auth":{"a":1,"b":2}}'],
    ['{"auth":{"k\\u0065y":{"key":[1,{"key":2}]},"b":"}"}}', '{"auth":{"b":"}"}}'],
    ['{"auth":{"a":1,"key":1,"key":2}}', '{"auth":{"a":1}}'],
    ['{"auth":{"key":1,"key":2}}', '{"auth":{}}'],
    ['{"auth":{"key":1},"auth":{"key":2}}', '{"auth":{},"auth":{}}'],
    [
      '{"x":{"auth":{"key":1}},"key":1,"auth":[{"key":1}]}',
      '{"x":{"auth":{"key":1}},"key":1,"auth":[{"key":1}]}',
    ],
    ['{"":"auth","auth":{"":"key","key":1}}', '{"":"auth","auth":{"":"key"}}'],
    ['[{"auth":{"key":1}}]', '[{"auth":{"key":1}}]'],
    ['{"auth":{"key":1}', '{"auth":{"key":1}'],
  ])('is taken out of %s, and nothing else is written anew', (text, left) => {
    expect(without(text)).toBe(left)
  })

  it('leaves what the rest says', () => {
    const member = fc.oneof(fc.jsonValue(), fc.record({ key: fc.jsonValue(), other: fc.jsonValue() }))
    const body = fc.dictionary(fc.constantFrom('auth', 'key', 'a', '', '"'), member)
    fc.assert(
      fc.property(body, (value) => {
        const text = JSON.stringify(value)
        const wanted = JSON.parse(text) as { auth?: unknown }
        const { auth } = wanted
        if (typeof auth === 'object' && auth !== null && !Array.isArray(auth))
          delete (auth as { key?: unknown }).key
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
