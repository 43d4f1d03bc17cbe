import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { headersNamed, isOversize, readMessage } from '../../../src/commerce/message.ts'
import {
  MAX_BODY_CHARS,
  MAX_FIELDS_OF_A_NAME,
  MAX_HEADER_CHARS,
  type Body,
  type TransactionInput,
} from '../../../src/commerce/ports.ts'

const TARGET = 'https://shop.example/orders'
const json = (body: unknown): TransactionInput => ({
  target: TARGET,
  headers: { 'Content-Type': 'application/json' },
  body,
})
const nest = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
function nestValue(depth: number): unknown {
  let value: unknown = []
  for (let i = 1; i < depth; i++) value = [value]
  return value
}

describe('a message', () => {
  it('has header fields by name in any case, trimmed, repeated ones apart', () => {
    const message = readMessage({
      target: TARGET,
      headers: { 'X-One': '  a ', 'x-two': ['b', ' c '], 'X-TWO': 'd' },
    })
    expect(message.headers).toEqual([
      { name: 'x-one', value: 'a', at: '/headers/X-One' },
      { name: 'x-two', value: 'd', at: '/headers/X-TWO' },
      { name: 'x-two', value: 'b', at: '/headers/x-two/0' },
      { name: 'x-two', value: 'c', at: '/headers/x-two/1' },
    ])
    expect(message.header('x-two')?.value).toBe('d')
    expect(message.header('x-three')).toBeUndefined()
    expect(headersNamed(message, 'x-two')).toHaveLength(3)
  })

  it.each<[string, TransactionInput['headers']]>([
    ['in order', { a: '1', b: '2', c: '3' }],
    ['in another', { c: '3', a: '1', b: '2' }],
    ['in order but for their case', { a: '1', B: '2', c: '3' }],
    ['in order but for white space', { ' b': '2', a: '1', c: '3' }],
  ])('has header fields sorted by name, given %s', (_how, headers) => {
    const message = readMessage({ target: TARGET, headers })
    expect(message.headers.map(({ name, value }) => name + value)).toEqual(['a1', 'b2', 'c3'])
    expect(message.unreadHeaders).toEqual([])
  })

  it('has no more fields of one name than are worth the work, and says where the others begin', () => {
    const many = Array.from({ length: MAX_FIELDS_OF_A_NAME + 2 }, (_, i) => String(i))
    const message = readMessage({ target: TARGET, headers: { a: many, b: 'x' } })
    expect(message.headers.map(({ name }) => name)).toEqual([
      ...Array.from({ length: MAX_FIELDS_OF_A_NAME }, () => 'a'),
      'b',
    ])
    expect(message.unreadHeaders).toEqual([`/headers/a/${MAX_FIELDS_OF_A_NAME}`])
  })

  it.each<[string, TransactionInput, string]>([
    ['GET without a body', { target: TARGET }, 'GET'],
    ['GET with a null for a body', { target: TARGET, body: null }, 'GET'],
    ['POST with a body', { target: TARGET, body: {} }, 'POST'],
    ['what it says, in upper case', { target: TARGET, method: 'put', body: {} }, 'PUT'],
  ])('is %s', (_what, input, method) => {
    expect(readMessage(input).method).toBe(method)
  })

  it.each<[string, TransactionInput, Body]>([
    ['no body', { target: TARGET }, { kind: 'absent' }],
    ['an empty one', json(''), { kind: 'absent' }],
    ['an object', json({ a: 1 }), { kind: 'json', value: { a: 1 }, raw: undefined }],
    ['JSON text', json(' {"a":1}'), { kind: 'json', value: { a: 1 }, raw: ' {"a":1}' }],
    [
      'JSON text of a type of its own',
      { ...json('1'), headers: { 'content-type': 'application/mcp+json; charset=utf-8' } },
      { kind: 'json', value: 1, raw: '1' },
    ],
    [
      'JSON text that does not say so',
      { target: TARGET, body: '[1]' },
      { kind: 'json', value: [1], raw: '[1]' },
    ],
    [
      'a form',
      { target: TARGET, headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=1' },
      { kind: 'text', raw: 'a=1' },
    ],
    [
      'text in braces of another type',
      { target: TARGET, headers: { 'Content-Type': 'text/plain' }, body: '{a}' },
      { kind: 'text', raw: '{a}' },
    ],
    ['broken JSON', json('{"a":'), { kind: 'unreadable', why: 'malformed' }],
    [
      'broken JSON that does not say so',
      { target: TARGET, body: '{"a":' },
      { kind: 'unreadable', why: 'malformed' },
    ],
    [
      'JSON text as deep as it may be',
      json(nest(32)),
      { kind: 'json', value: nestValue(32) as never, raw: nest(32) },
    ],
    ['deeper JSON text', json(nest(33)), { kind: 'unreadable', why: 'too_deep' }],
    ['JSON text 10,000 deep', json(nest(10_000)), { kind: 'unreadable', why: 'too_deep' }],
    [
      'JSON text 10,000 deep that is cut off',
      { target: TARGET, body: '['.repeat(10_000) },
      { kind: 'unreadable', why: 'too_deep' },
    ],
    [
      'a value as deep as it may be',
      json(nestValue(32)),
      { kind: 'json', value: nestValue(32) as never, raw: undefined },
    ],
    ['a deeper value', json(nestValue(33)), { kind: 'unreadable', why: 'too_deep' }],
    ['a value 100,000 deep', json(nestValue(100_000)), { kind: 'unreadable', why: 'too_deep' }],
    [
      'text that is too long',
      json(`"${'a'.repeat(MAX_BODY_CHARS)}"`),
      { kind: 'unreadable', why: 'oversize' },
    ],
    [
      'a value that is too long',
      json({ a: 'a'.repeat(MAX_BODY_CHARS) }),
      { kind: 'unreadable', why: 'oversize' },
    ],
    [
      'a value of too many parts',
      json(Array.from({ length: MAX_BODY_CHARS + 1 }, () => 1)),
      { kind: 'unreadable', why: 'oversize' },
    ],
    ['what is no JSON at all', json({ a: undefined }), { kind: 'unreadable', why: 'malformed' }],
    ['numbers without end', json([Infinity]), { kind: 'unreadable', why: 'malformed' }],
  ])('takes %s for what it is', (_what, input, body) => {
    expect(readMessage(input).body).toEqual(body)
  })

  it('has no URL where the target is none', () => {
    expect(readMessage({ target: 'not a url' }).target).toEqual({ text: 'not a url', url: undefined })
  })

  it('leaves a header of 16 KiB to be read, and a longer one not', () => {
    const field = (length: number) =>
      readMessage({ target: TARGET, headers: { 'PAYMENT-SIGNATURE': 'A'.repeat(length) } }).headers[0]!
    expect(isOversize(field(MAX_HEADER_CHARS))).toBe(false)
    expect(isOversize(field(MAX_HEADER_CHARS + 1))).toBe(true)
    const message = readMessage({
      target: TARGET,
      headers: {
        'PAYMENT-SIGNATURE': Buffer.from(`{"x402Version":2,"a":"${'a'.repeat(20_000)}"}`).toString('base64'),
      },
    })
    expect(analyse(message).detection.primary).toMatchObject({
      name: 'x402',
      isUndecodable: true,
      document: undefined,
    })
  })

  it('escapes what a pointer escapes, and half surrogates', () => {
    const message = readMessage({ target: TARGET, headers: { 'a/b~c\ud800': 'x' } })
    expect(message.headers[0]!.at).toBe('/headers/a~1b~0c\ufffd')
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'is not taken in by a member named %s',
    (name) => {
      const message = readMessage({
        target: TARGET,
        headers: JSON.parse(`{"${name}":"x","Content-Type":"application/json"}`) as Record<string, string>,
        body: `{"${name}":{"x402Version":2,"accepts":[],"jsonrpc":"2.0"},"jsonrpc":"2.0","method":"${name}","params":{"${name}":{}}}`,
      })
      const { detection, bindings } = analyse(message)
      expect([detection.protocol, detection.conflicts]).toEqual(['unknown', []])
      expect(bindings.every(({ verdict }) => verdict === 'match')).toBe(true)
    },
  )
})
