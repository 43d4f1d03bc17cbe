import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeAnswer } from '../../../../src/market/calls/answer.ts'
import type { UpstreamAnswer } from '../../../../src/market/calls/ports.ts'
import { bytesOf, showAnswer } from '../../../../src/market/calls/shown-answer.ts'
import { routeOf } from '../../../support/market-seller.ts'

const answer = (body: string | Buffer, type = 'application/json', status = 200): UpstreamAnswer => ({
  status,
  headers: { 'content-type': type },
  body: Buffer.from(body as string),
})

describe('an answer', () => {
  it.each([
    ['JSON', answer('{"a":1}')],
    ['JSON of a kind of its own', answer('{"a":1}', 'application/vnd.acme+json')],
    ['text', answer('hello', 'text/plain')],
    [
      'a page that says what it is about',
      answer('<html><title>Weather of Oslo</title><h1>4 degrees</h1>', 'text/html'),
    ],
    ['an image', answer(Buffer.from([0xff, 0xd8]), 'image/jpeg')],
    ['something made', answer('{"id":1}', 'application/json', 201)],
  ])('that is %s is delivered', (_, given) => {
    expect(judgeAnswer(routeOf(), given)).toMatchObject({ ok: true })
  })

  it.each([
    ['<!DOCTYPE html><title>404 Not Found</title>'],
    ['<html><head><title>Just a moment...</title></head>'],
    ['<!-- a --><html><body><h1>Service Unavailable</h1>'],
    ['  <HTML><TITLE>Error</TITLE>'],
    ['<html><title>Log in</title>'],
    ['<html><title>Welcome to nginx!</title>'],
  ])('that is the page %s is none', (page) => {
    for (const type of ['text/html', 'text/plain', ''])
      expect(judgeAnswer(routeOf(), answer(page, type))).toMatchObject({ ok: false, fault: 'answer' })
  })

  it('of a word about errors is not taken for one', () => {
    expect(judgeAnswer(routeOf(), answer('error rates of the week', 'text/plain'))).toMatchObject({
      ok: true,
    })
    expect(judgeAnswer(routeOf(), answer('{"title":"404 Not Found"}'))).toMatchObject({ ok: true })
  })

  it('fits the schema of its route, within work that a call is worth', () => {
    const outputSchema = { type: 'array', items: { type: 'integer' } }
    const list = (count: number) => answer(JSON.stringify(Array.from({ length: count }, () => 1)))
    expect(judgeAnswer(routeOf({ outputSchema }), list(10))).toMatchObject({ ok: true })
    expect(judgeAnswer(routeOf({ outputSchema }), answer('["1"]'))).toMatchObject({
      fault: 'schema',
      reason: 'schema_invalid',
    })
    expect(judgeAnswer(routeOf({ outputSchema }), list(400_000))).toMatchObject({ reason: 'schema_costly' })
  })

  it('may be empty where there is nothing to say', () => {
    expect(judgeAnswer(routeOf({ method: 'DELETE' }), answer('', '', 204))).toMatchObject({ ok: true })
    expect(judgeAnswer(routeOf({ method: 'HEAD' }), answer('', ''))).toMatchObject({ ok: true })
    expect(judgeAnswer(routeOf({ method: 'DELETE' }), answer('', ''))).toMatchObject({ ok: false })
    expect(judgeAnswer(routeOf(), answer('', '', 204))).toMatchObject({ ok: false })
  })
})

describe('a shown answer', () => {
  const shown = (given: ReturnType<typeof answer>) => {
    const verdict = judgeAnswer(routeOf(), given)
    if (!verdict.ok) throw new Error(verdict.reason)
    return JSON.parse(JSON.stringify(showAnswer(given, verdict))) as ReturnType<typeof showAnswer>
  }

  it('is JSON once, and beside it the text where JSON written again is not the same', () => {
    expect(shown(answer('{"a":1}'))).toMatchObject({ json: { a: 1 } })
    expect(shown(answer('{"a":1}'))).not.toHaveProperty('body')
    expect(shown(answer('{"a": 1.0}'))).toMatchObject({ json: { a: 1 }, body: '{"a": 1.0}' })
  })

  it('of control characters is kept as bytes, not as six for each', () => {
    expect(shown(answer('\u0001'.repeat(500), 'text/plain'))).toHaveProperty('body_base64')
  })

  it('is the very bytes again, whatever they are', () => {
    const bytes = fc.oneof(
      fc.json().map((text) => answer(text)),
      fc.json().map((text) => answer(`\uFEFF${text}`)),
      fc.string({ unit: 'binary' }).map((text) => answer(`x${text.toWellFormed()}`, 'text/plain')),
      fc.uint8Array({ minLength: 1 }).map((array) => answer(Buffer.from(array), 'application/octet-stream')),
      fc.constant(answer('{"__proto__":{"a":1},"2":1,"1":2,"a":1,"a":2}')),
    )
    fc.assert(
      fc.property(bytes, (given) => {
        expect(bytesOf(shown(given))).toEqual(given.body)
      }),
    )
  })

  it('has no header that sets state, names a place or speaks for the gateway', () => {
    const names = [
      'set-cookie',
      'location',
      'link',
      'payment-required',
      'content-security-policy',
      'content-type',
    ]
    const given = {
      ...answer('{}'),
      headers: Object.fromEntries(names.map((name) => [name, 'application/json'])),
    }
    expect(Object.keys(shown(given).headers)).toEqual(['content-type'])
    expect(
      shown({ ...answer('{}'), headers: { 'content-type': 'application/json', etag: 'x'.repeat(300) } })
        .headers,
    ).toEqual({
      'content-type': 'application/json',
    })
  })
})
