// Every encoding, anywhere in a response, is found; what is not the secret is not.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { createLeakSearch, type Searched } from '../../../../src/egress/leak/search.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { cites } from '../../../requirements.ts'

const hexOf = (value: string) => Buffer.from(value).toString('hex')
const pairs = (value: string) => hexOf(value).match(/../g)!
const base32 = (bytes: Buffer) => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('')
}
const units = (value: string, form: (code: string) => string) =>
  [...value].map((char) => form(char.charCodeAt(0).toString(16))).join('')
const swap16 = (value: string) => Buffer.from(value, 'utf16le').swap16()
const wrap = (text: string, width: number, end: string) =>
  text.match(new RegExp(`.{1,${width}}`, 'g'))!.join(end)
const NAMED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

/** Written without regard to how the gate looks for them. */
const encoders: Readonly<Record<string, (value: string) => string | Buffer>> = {
  raw: (value) => value,
  'upper case': (value) => value.toUpperCase(),
  'lower case': (value) => value.toLowerCase(),
  reversed: (value) => [...value].toReversed().join(''),
  'hex, lower case': hexOf,
  'hex, upper case': (value) => hexOf(value).toUpperCase(),
  'hex, spaced': (value) => pairs(value).join(' '),
  'hex, with colons': (value) => pairs(value).join(':'),
  'hex list': (value) =>
    pairs(value)
      .map((byte) => `0x${byte}`)
      .join(', '),
  'JSON of a Buffer': (value) => JSON.stringify(Buffer.from(value)),
  base64: (value) => Buffer.from(value).toString('base64'),
  'base64, one byte before': (value) => Buffer.from(`x${value}y`).toString('base64'),
  'base64, two bytes before': (value) => Buffer.from(`xx${value}yy`).toString('base64'),
  'base64 of Bearer and the secret': (value) => Buffer.from(`Bearer ${value}`).toString('base64'),
  'base64 of user and the secret': (value) => Buffer.from(`user:${value}`).toString('base64'),
  base64url: (value) => Buffer.from(value).toString('base64url'),
  'base64url, one byte before': (value) => Buffer.from(`x${value}y`).toString('base64url'),
  'base64url, two bytes before': (value) => Buffer.from(`xx${value}yy`).toString('base64url'),
  'base64 in lines': (value) =>
    wrap(Buffer.from(`Authorization: Bearer ${value} end`).toString('base64'), 64, '\r\n'),
  'base64 in lines, escaped': (value) =>
    JSON.stringify(wrap(Buffer.from(value.repeat(2)).toString('base64'), 64, '\n')),
  base32: (value) => base32(Buffer.from(value)),
  'base32, three bytes before': (value) => base32(Buffer.from(`abc${value}`)),
  'percent, what encodeURIComponent leaves': encodeURIComponent,
  'percent, every byte, upper case': (value) =>
    pairs(value)
      .map((byte) => `%${byte.toUpperCase()}`)
      .join(''),
  'percent, every byte, lower case': (value) =>
    pairs(value)
      .map((byte) => `%${byte}`)
      .join(''),
  'percent, mixed case': (value) =>
    pairs(value)
      .map((byte, i) => `%${i % 2 ? byte.toUpperCase() : byte}`)
      .join(''),
  'percent, every other byte': (value) =>
    [...value].map((char, i) => (i % 2 && char !== '%' ? char : `%${hexOf(char)}`)).join(''),
  'percent, twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'form encoded': (value) => new URLSearchParams({ a: value }).toString(),
  'JSON string': (value) => JSON.stringify(value),
  'JSON within JSON': (value) => JSON.stringify(JSON.stringify({ a: value })),
  'JSON, every character escaped': (value) => units(value, (code) => `\\u${code.padStart(4, '0')}`),
  'JSON, upper-case escapes': (value) => units(value, (code) => `\\u${code.toUpperCase().padStart(4, '0')}`),
  'JSON, slashes and brackets escaped': (value) =>
    JSON.stringify(value).replaceAll('/', '\\/').replaceAll('<', '\\u003c').replaceAll('&', '\\u0026'),
  'JSON of base64 with escaped slashes': (value) =>
    Buffer.from(value).toString('base64').replaceAll('/', '\\/'),
  'string literal': (value) => units(value, (code) => `\\x${code.padStart(2, '0')}`),
  'HTML, decimal': (value) => [...value].map((char) => `&#${char.charCodeAt(0)};`).join(''),
  'HTML, hexadecimal': (value) => units(value, (code) => `&#x${code};`),
  'HTML, padded': (value) => units(value, (code) => `&#x000${code.toUpperCase()};`),
  'HTML, named': (value) => value.replaceAll(/[&<>"']/g, (char) => NAMED[char]!),
  'HTML within JSON': (value) =>
    JSON.stringify(`<b>${value.replaceAll(/[&<>"']/g, (char) => NAMED[char]!)}</b>`),
  'quoted-printable': (value) =>
    pairs(value)
      .map((byte) => `=${byte.toUpperCase()}`)
      .join(''),
  'quoted-printable with a soft break': (value) =>
    [value.slice(0, 9), value.slice(9)].map((part) => part.replaceAll('=', '=3D')).join('=\r\n'),
  'UTF-16LE': (value) => Buffer.from(value, 'utf16le'),
  'UTF-16BE': swap16,
  'base64 of UTF-16LE': (value) => Buffer.from(value, 'utf16le').toString('base64'),
  ROT13: (value) =>
    value.replaceAll(/[a-z]/gi, (char) => {
      const base = char <= 'Z' ? 65 : 97
      return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base)
    }),
}

function gateOf(secret: string, scheme = 'Bearer') {
  const search = createLeakSearch({ secrets: [new Secret(secret)], scheme })
  return { inspect: (response: Searched) => search.inspect(response, createBudget(Infinity)) }
}
const clean = {
  statusText: 'OK',
  headers: [{ name: 'content-type', value: 'text/plain' }],
  body: Buffer.from('hello'),
}
const withBody = (body: Buffer) => ({ ...clean, body })

const AWKWARD = 'CANARY_+/=&"<>\'% \\x;q7Zk9Wm2Rt5Yp8'
const PLAIN = 'sk_live_51HqLyjWDarjtT1zdp7dcXYZ'

describe.each([
  ['an ordinary secret', PLAIN],
  ['a secret of awkward characters', AWKWARD],
])('finds %s', (_which, secret) => {
  test.each(Object.entries(encoders))('%s', (_name, encode) => {
    const encoded = Buffer.from(encode(secret) as string)
    const gate = gateOf(secret)
    for (const padding of [0, 1, 2, 3, 4, 5, 17]) {
      const body = Buffer.concat([Buffer.alloc(padding, 0x20), encoded, Buffer.from(' and more')])
      expect(gate.inspect(withBody(body))).toMatchObject({ ok: false, where: 'body' })
    }
  })
})

describe('finds a long secret whose encoding is broken into lines', () => {
  // As long as the keys that providers hand out today, and as a signed token.
  const lines = (text: string, width: number, end: string) =>
    text.replaceAll(new RegExp(`.{${width}}`, 'g'), `$&${end}`)
  const wraps: Record<string, (message: string) => string> = {
    'base64 in mail': (text) => lines(Buffer.from(text).toString('base64'), 76, '\r\n'),
    'base64 in PEM': (text) => lines(Buffer.from(text).toString('base64'), 64, '\n'),
    'base64 in mail in JSON': (text) =>
      JSON.stringify({ raw: lines(Buffer.from(text).toString('base64'), 76, '\r\n') }),
    'base64 in an indented block': (text) => lines(Buffer.from(text).toString('base64'), 70, '\n    '),
    hexadecimal: (text) => lines(Buffer.from(text).toString('hex'), 32, '\n'),
    'a folded header': (text) => lines(text, 60, '\r\n '),
    'a list of bytes, one a line': (text) => JSON.stringify({ data: [...Buffer.from(text)] }, null, 2),
  }
  test.each([93, 164, 900].flatMap((length) => Object.keys(wraps).map((name) => [length, name] as const)))(
    cites('egress:leak:lines', 'of %i characters, as %s'),
    (length, name) => {
      const secret = `sk-${randomBytes(length).toString('base64url').slice(3, length)}`
      const gate = gateOf(secret)
      for (const before of ['', 'a', 'ab', `GET / HTTP/1.1\r\nauthorization: Bearer `]) {
        const body = Buffer.from(wraps[name]!(`${before}${secret}\r\nx: y`))
        expect(gate.inspect(withBody(body))).toMatchObject({ ok: false, where: 'body' })
      }
    },
  )
})

test(cites('egress:leak:random', 'finds random secrets in random places, in every encoding'), () => {
  const secret = fc.string({
    unit: fc.constantFrom(...Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i))),
    minLength: 16,
    maxLength: 64,
  })
  fc.assert(
    fc.property(
      secret,
      fc.constantFrom(...Object.keys(encoders)),
      fc.nat(5000),
      fc.nat(5000),
      (value, name, before, after) => {
        const body = Buffer.concat([
          Buffer.from('x '.repeat(before)),
          Buffer.from(encoders[name]!(value) as string),
          Buffer.from(' y'.repeat(after)),
        ])
        expect(gateOf(value).inspect(withBody(body)), name).toMatchObject({ ok: false })
      },
    ),
    { numRuns: 1000 },
  )
})

test('finds a secret that holds what looks like the name of a member, in JSON within JSON', () => {
  const secret = 'Dn3#O!3I"d-*B":bnjC'
  const body = Buffer.from(JSON.stringify(JSON.stringify({ a: secret })))
  expect(gateOf(secret).inspect(withBody(body))).toMatchObject({ ok: false })
})

test('finds what looks like an escape of one alphabet in another', () => {
  const body = Buffer.from('!!!!\\5!!!!!!!!!!', 'utf16le')
  for (const bytes of [body, Buffer.from(body).swap16()])
    expect(gateOf('!!!!\\5!!!!!!!!!!').inspect(withBody(bytes))).toMatchObject({ ok: false })
})

test.each(['=;!!!!!!!!!!!!!!!!', 'a=;!!!!!!!!!!!!!!!', '=;;;;;;;;;;;;;;;;;', '=3D;=3D;=3D;=3D;ab'])(
  'finds %s in quoted-printable, whatever follows the escape',
  (value) => {
    for (const name of ['quoted-printable with a soft break', 'quoted-printable'])
      expect(
        gateOf(value).inspect(withBody(Buffer.from(encoders[name]!(value) as string))),
        name,
      ).toMatchObject({
        ok: false,
      })
  },
)

test(cites('egress:leak:false', 'does not take random bodies for the secret'), () => {
  const gate = gateOf(PLAIN)
  for (let i = 0; i < 20; i++) {
    expect(gate.inspect(withBody(randomBytes(100_000)))).toEqual({ ok: true })
    expect(gate.inspect(withBody(Buffer.from(randomBytes(75_000).toString('base64'))))).toEqual({ ok: true })
    expect(
      gate.inspect(withBody(Buffer.from(JSON.stringify({ a: randomBytes(9_000).toString('latin1') })))),
    ).toEqual({ ok: true })
  }
})

test('finds a secret that stands before a quote and a colon, like a name, whatever the length of the body', () => {
  const spread = Buffer.from(PLAIN).toString('base64').replaceAll(/../g, '$& ')
  for (const length of [100, 5000, 270_000]) {
    const body = Buffer.from(`${'x'.repeat(length)}${' '.repeat(60)}${spread}":`)
    expect(gateOf(PLAIN).inspect(withBody(body)), `${length}`).toMatchObject({ ok: false })
  }
})

test('takes for the secret what is nearly all of it, but not what is less than a part that says something', () => {
  const gate = gateOf(PLAIN)
  for (const part of [PLAIN.slice(0, -1), PLAIN.slice(1), `${PLAIN.slice(0, 12)}-${PLAIN.slice(12)}`])
    expect(gate.inspect(withBody(Buffer.from(part)))).toMatchObject({ ok: false })
  for (const part of [PLAIN.slice(0, 11), PLAIN.slice(-11), `${PLAIN.slice(0, 10)}...${PLAIN.slice(-4)}`])
    expect(gate.inspect(withBody(Buffer.from(part)))).toEqual({ ok: true })
})

test(cites('egress:leak:place', 'says where in the response it was'), () => {
  const gate = gateOf(PLAIN)
  const cases = [
    [{ ...clean, statusText: `Hello ${PLAIN}` }, 'status_line'],
    [{ ...clean, headers: [{ name: 'location', value: `https://x/?t=${PLAIN}` }] }, 'headers'],
    [{ ...clean, headers: [{ name: `x-${PLAIN.toLowerCase()}`, value: '' }] }, 'headers'],
    [{ ...clean, headers: [{ name: 'x-late', value: hexOf(PLAIN), trailer: true }] }, 'trailers'],
    [withBody(Buffer.from(PLAIN)), 'body'],
  ] as const
  for (const [response, where] of cases) expect(gate.inspect(response)).toMatchObject({ ok: false, where })
  expect(gate.inspect(clean)).toEqual({ ok: true })
})

test(
  cites(
    'egress:leak:basic',
    'for Basic also finds what the upstream decodes, but not a user name that is no secret',
  ),
  () => {
    const gate = gateOf(Buffer.from('somebody@example.com:correct horse battery').toString('base64'), 'Basic')
    expect(gate.inspect(withBody(Buffer.from('you sent correct horse battery')))).toMatchObject({ ok: false })
    expect(gate.inspect(withBody(Buffer.from('hello somebody@example.com')))).toEqual({ ok: true })
    const keyAsUser = gateOf(Buffer.from(`${PLAIN}:`).toString('base64'), 'basic')
    expect(keyAsUser.inspect(withBody(Buffer.from(`no such key: ${PLAIN}`)))).toMatchObject({ ok: false })
  },
)

test('finds a secret with Latin-1 letters in either byte form', () => {
  const secret = 'pässwörd-ßecret-ÿ'
  for (const bytes of [
    Buffer.from(secret, 'utf8'),
    Buffer.from(secret, 'latin1'),
    Buffer.from(encodeURIComponent(secret)),
  ])
    expect(gateOf(secret).inspect(withBody(bytes))).toMatchObject({ ok: false })
})
