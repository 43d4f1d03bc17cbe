import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readChallenges, readDictionary } from '../../../src/commerce/decode/fields.ts'
import { decodeBase64, isAmbiguousText, readBase64Json } from '../../../src/commerce/decode/json.ts'
import { isPlaceholder, judgeCredential, readJws } from '../../../src/commerce/decode/jws.ts'
import { readSdJwtChain, resolveMandate } from '../../../src/commerce/decode/sd-jwt.ts'
import { parseInstant, pickNumeral, pointer } from '../../../src/commerce/decode/value.ts'
import type { Json } from '../../../src/commerce/ports.ts'

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const challenges = (text: string) =>
  readChallenges(text).map(({ scheme, token68, params }) => [scheme, token68 ?? Object.fromEntries(params)])

describe('challenges of a header', () => {
  it.each<[string, string, unknown[]]>([
    ['one token', 'Payment eyJhIjoxfQ==', [['payment', 'eyJhIjoxfQ==']]],
    ['an unpadded token', 'payment eyJhIjoxfQ', [['payment', 'eyJhIjoxfQ']]],
    [
      'two tokens',
      'Payment aaa, Payment bbb',
      [
        ['payment', 'aaa'],
        ['payment', 'bbb'],
      ],
    ],
    [
      'parameters',
      'Payment id="a", realm="b, c=\\"d\\"", method=card',
      [['payment', { id: 'a', realm: 'b, c="d"', method: 'card' }]],
    ],
    ['spaces around', 'Payment  id = "a" ,realm= "b"', [['payment', { id: 'a', realm: 'b' }]]],
    [
      'two schemes',
      'Bearer realm="x", Payment id="a"',
      [
        ['bearer', { realm: 'x' }],
        ['payment', { id: 'a' }],
      ],
    ],
    ['a scheme alone', 'Negotiate', [['negotiate', {}]]],
    [
      'a scheme alone before another',
      'Negotiate, Payment id="a"',
      [
        ['negotiate', {}],
        ['payment', { id: 'a' }],
      ],
    ],
    ['names in any case, the first of two', 'Payment ID="a", id="b"', [['payment', { id: 'a' }]]],
    ['nothing', '', []],
    ['commas', ' , ,, ', []],
    ['a string that does not end', 'Basic abc, Payment id="a', [['basic', 'abc']]],
    ['what is no scheme', '"x" Payment a', []],
  ])('reads %s', (_what, text, expected) => {
    expect(challenges(text)).toEqual(expected)
  })

  it('tells of a parameter that is there twice', () => {
    expect(readChallenges('Payment id="a", id="b"')[0]!.hasRepeatedParam).toBe(true)
    expect(readChallenges('Payment id="a", realm="b"')[0]!.hasRepeatedParam).toBe(false)
  })
})

describe('structured fields', () => {
  it('reads inner lists with their parameters', () => {
    const member = readDictionary(
      'sig1=("@method" "@path";req);created=1790000000;keyid="a";tag="b", other=?0',
    )
    expect(member?.get('sig1')).toMatchObject({
      kind: 'list',
      items: [{ item: { kind: 'string', value: '@method' } }, { item: { kind: 'string', value: '@path' } }],
    })
    const list = member!.get('sig1') as { params: ReadonlyMap<string, unknown> }
    expect(Object.fromEntries(list.params)).toEqual({
      created: { kind: 'integer', value: 1790000000 },
      keyid: { kind: 'string', value: 'a' },
      tag: { kind: 'string', value: 'b' },
    })
    expect(member!.get('other')).toMatchObject({ kind: 'item', item: { kind: 'boolean', value: false } })
  })

  it.each([
    ['flags', 'a, b;x=1', 2],
    ['bytes', 'sig1=:YWJj:', 1],
    ['elided bytes', 'sig1=:6G4i8...:', 1],
    ['tokens', 'a=text/html', 1],
    ['nothing', '  ', 0],
  ])('reads %s', (_what, text, size) => {
    expect(readDictionary(text)?.size).toBe(size)
  })

  it.each(['a=', 'a=(', 'a=("b"', 'a="b', 'a=1,', '=1', 'A=1', 'a=1 b=2', 'a=?2', 'a=:x', 'a;=1', '"a"'])(
    'does not read %s',
    (text) => {
      expect(readDictionary(text)).toBeUndefined()
    },
  )
})

describe('base64', () => {
  it.each([
    ['padded', 'eyJhIjoiPz8+In0='],
    ['unpadded', 'eyJhIjoiPz8+In0'],
    ['of the other alphabet', 'eyJhIjoiPz8-In0'],
  ])('is read %s', (_what, text) => {
    expect(readBase64Json(text)).toEqual({ ok: true, value: { a: '??>' } })
  })

  it.each([
    ['nothing', ''],
    ['another alphabet', 'eyJ!'],
    ['a length that stands for no bytes', 'eyJhI'],
    ['padding in the middle', 'eyJ=hIjox'],
    ['what is not UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('base64')],
    ['what is not JSON', Buffer.from('{"a"').toString('base64')],
  ])('of %s is malformed', (_what, text) => {
    expect(readBase64Json(text)).toEqual({ ok: false, why: 'malformed' })
  })

  it('of something too deep says so', () => {
    expect(readBase64Json(encode(JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`)))).toEqual({
      ok: false,
      why: 'too_deep',
    })
  })

  it.each(['a b', 'AAAAA', 'A', '='])('gives no bytes for %j', (text) => {
    expect(decodeBase64(text)).toBeUndefined()
  })
})

describe('signatures and tokens', () => {
  it('gives header and payload of a JWS, and of a detached one the header', () => {
    const text = `${encode({ alg: 'ES256' })}.${encode({ a: 1 })}.c2ln`
    expect(readJws(text, '/body/x')).toMatchObject({
      header: { value: { alg: 'ES256' }, at: '/body/x#/header' },
      payload: { value: { a: 1 }, at: '/body/x#/payload' },
    })
    expect(readJws(`${encode({ alg: 'ES256' })}..c2ln`, '')?.payload).toBeNull()
  })

  it.each([
    '',
    'a.b',
    'a.b.c',
    'a.b.c.d',
    `${encode([])}.${encode({})}.x`,
    `${encode({})}.${encode([])}.x`,
    'x y.z.a',
  ])('takes %j for no JWS', (text) => {
    expect(readJws(text, '')).toBeUndefined()
  })

  it.each<[string, string, object]>([
    ['hex', '0x1234', { form: 'hex', bytes: 2, isPlaceholder: false }],
    ['half a byte of hex', '0x123', { form: 'hex', bytes: null }],
    ['base64', 'YWJjZA', { form: 'base64', bytes: 4 }],
    ['a JWS', 'a.b.c', { form: 'jws', bytes: null }],
    ['something else', 'spt/+ *', { form: 'other', bytes: null }],
    ['an ellipsis', 'ZXltZX...', { isPlaceholder: true }],
    ['one digit again and again', '0x0000000000', { form: 'hex', isPlaceholder: true }],
    ['a name in angle brackets', '<signature>', { isPlaceholder: true }],
  ])('tells %s by its form and never repeats it', (_what, text, form) => {
    const judged = judgeCredential({ value: text, at: '/x' })
    expect(judged).toMatchObject({ at: '/x', length: text.length, ...form })
    expect(JSON.stringify(judged)).not.toContain(text)
  })

  it('does not take a short value for a placeholder', () => {
    expect(isPlaceholder('aaa')).toBe(false)
  })
})

describe('SD-JWT', () => {
  const disclosure = encode(['salt', { vct: 'mandate.payment.1', payee: { _sd: ['x'] } }])
  const jwt = (payload: unknown) => `${encode({ alg: 'ES256' })}.${encode(payload)}.c2ln`

  it('without the disclosure of its mandate has none, and counts what is hidden', () => {
    const [token] = readSdJwtChain(`${jwt({ delegate_payload: [{ '...': 'gone' }] })}~`, '/x')!
    expect(resolveMandate(token!)).toEqual({
      mandate: null,
      others: [],
      undisclosed: 1,
      unmatched: 0,
      irregular: 0,
    })
  })

  it('counts disclosures that belong to nothing', () => {
    const [token] = readSdJwtChain(`${jwt({ delegate_payload: [] })}~${disclosure}~`, '/x')!
    expect(resolveMandate(token!)).toEqual({
      mandate: null,
      others: [],
      undisclosed: 0,
      unmatched: 1,
      irregular: 0,
    })
  })

  it('counts disclosures that are none', () => {
    const [token] = readSdJwtChain(`${jwt({ a: 1 })}~${encode({})}~${encode(['a'])}~!!~`, '/x')!
    expect(token).toMatchObject({ unreadableDisclosures: 3, disclosures: [] })
  })

  it('opens a disclosure once, so that none can be there twice or inside itself', () => {
    const digest = hash('sha256', disclosure, 'base64url')
    const twice = { vct: 'mandate.x', a: [{ '...': digest }, { '...': digest }] }
    const [token] = readSdJwtChain(`${jwt(twice)}~${disclosure}~`, '/x')!
    const { mandate, undisclosed, unmatched } = resolveMandate(token!)
    expect([undisclosed, unmatched]).toEqual([1 + 1, 0])
    expect((mandate!.value['a'] as unknown[]).length).toBe(1)
  })

  it('keeps the key binding of a plain one apart', () => {
    const [token] = readSdJwtChain(`${jwt({ vct: 'mandate.payment.1' })}~${jwt({ nonce: 'n' })}`, '/x')!
    expect(token!.keyBinding).toEqual({ value: { nonce: 'n' }, at: '/x#/0/key_binding' })
  })

  it.each(['', '~', '~~', 'a.b~c', `${encode({})}.${encode({})}.x~~nothing~`])(
    'takes %j for none',
    (text) => {
      expect(readSdJwtChain(text, '')).toBeUndefined()
    },
  )
})

describe('values', () => {
  it.each<[unknown, object | null]>([
    ['10', { value: '10', isInteger: true, isNumber: false }],
    [10, { value: '10', isInteger: true, isNumber: true }],
    ['1.5', { value: '1.5', isInteger: false }],
    [1.5, { value: '1.5', isInteger: false }],
    [-1, { value: '-1', isInteger: false }],
    [1e21, { value: '1e+21', isInteger: false }],
    ['9'.repeat(78), { isInteger: true }],
    ['9'.repeat(79), { isInteger: false }],
    ['', null],
    [{}, null],
  ])('reads the number %j', (value, expected) => {
    const read = pickNumeral({ value: { n: value as never }, at: '' }, 'n')
    if (expected === null) expect(read).toBeNull()
    else expect(read).toMatchObject({ at: '/n', ...expected })
  })

  it.each([
    ['2026-09-21T14:00:00Z', Date.UTC(2026, 8, 21, 14)],
    ['2026-09-21T14:00:00.5+02:00', Date.UTC(2026, 8, 21, 12, 0, 0, 500)],
    ['2026-09-21', null],
    ['Mon, 21 Sep 2026 14:00:00 GMT', null],
    ['2026-13-21T14:00:00Z', null],
    ['1790000000', null],
  ])('reads the instant %s', (text, ms) => {
    expect(parseInstant(text)).toBe(ms)
  })

  it('points as RFC 6901 says', () => {
    expect(pointer('/a', 'b/c', 0, '~')).toBe('/a/b~1c/0/~0')
  })
})

describe('members that differ in case alone', () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`name${index}`, index]))
  it.each<[string, boolean, Json]>([
    ['two of them', true, { to: 1, To: 2 }],
    ['two of them further in', true, { payload: [{ authorization: { value: 1, VALUE: 2 } }] }],
    ['two of many', true, { ...many, Name7: 1 }],
    ['many of one case', false, many],
    ['one in each of two objects', false, { a: { to: 1 }, b: { To: 2 } }],
    ['two of an extension', false, { extensions: { info: { id: 1, ID: 2 } } }],
    ['two of extensions that are none', true, { payload: { extensions: { id: 1, ID: 2 } } }],
  ])('%s: %s', (_, isAmbiguous, value) => {
    expect(isAmbiguousText(JSON.stringify(value), value)).toBe(isAmbiguous)
  })
})
