import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeText } from '../../../src/outbound/charset.ts'
import { parseContentType } from '../../../src/outbound/media-type.ts'
import { readContent } from '../../../src/webfetch/content.ts'
import { codingsOf, decodeBody } from '../../../src/outbound/encoding.ts'
import { hasInexactNumber } from '../../../src/outbound/numbers.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const whole = { isCut: false, markup: undefined } as const
const html = { isCut: false, markup: 'html' } as const

describe('the charset of a text', () => {
  it.each<[string, Buffer, string | undefined, 'html' | 'xml' | undefined, string, string, string]>([
    ['UTF-8 without being told', Buffer.from('naïve €'), undefined, undefined, 'naïve €', 'utf-8', 'content'],
    ['what the header says', latin1('na\xefve'), 'iso-8859-1', undefined, 'naïve', 'windows-1252', 'header'],
    ['a mark before the header', Buffer.from('\ufeffä'), 'iso-8859-1', undefined, 'ä', 'utf-8', 'bom'],
    [
      'sixteen bits with a mark',
      Buffer.from('\ufeffäb', 'utf16le'),
      'utf-8',
      undefined,
      'äb',
      'utf-16le',
      'bom',
    ],
    [
      'the upper half of windows-1252',
      latin1('\x93quoted\x94 \x80 5'),
      'windows-1252',
      undefined,
      '\u201cquoted\u201d \u20ac 5',
      'windows-1252',
      'header',
    ],
    ['a header in quotes elsewhere', latin1('\xe9'), 'latin1', undefined, 'é', 'windows-1252', 'header'],
    ['a charset nobody knows', Buffer.from('é'), 'x-none', undefined, 'é', 'utf-8', 'content'],
    [
      'bytes that are no UTF-8',
      latin1('caf\xe9 \x85'),
      undefined,
      undefined,
      'café …',
      'windows-1252',
      'content',
    ],
    [
      'a meta element',
      Buffer.concat([Buffer.from('<meta charset="koi8-r">'), Buffer.from([0xd4])]),
      undefined,
      'html',
      '<meta charset="koi8-r">т',
      'koi8-r',
      'meta',
    ],
    [
      'a meta element of the old form',
      latin1("<META http-equiv=Content-Type content='text/html; charset=windows-1251'>\xef"),
      undefined,
      'html',
      "<META http-equiv=Content-Type content='text/html; charset=windows-1251'>п",
      'windows-1251',
      'meta',
    ],
    [
      'no meta element inside a comment',
      Buffer.from('<!-- <meta charset="koi8-r"> -->é'),
      undefined,
      'html',
      '<!-- <meta charset="koi8-r"> -->é',
      'utf-8',
      'content',
    ],
    [
      'no meta element behind the first 64 KiB',
      Buffer.from(`${' '.repeat(65_536)}<meta charset="koi8-r">é`),
      undefined,
      'html',
      `${' '.repeat(65_536)}<meta charset="koi8-r">é`,
      'utf-8',
      'content',
    ],
    [
      'a meta element behind the first kilobyte',
      Buffer.concat([Buffer.from(`${' '.repeat(1024)}<meta charset="koi8-r">`), Buffer.from([0xd0])]),
      undefined,
      'html',
      `${' '.repeat(1024)}<meta charset="koi8-r">п`,
      'koi8-r',
      'meta',
    ],
    [
      'a meta element that claims sixteen bits',
      Buffer.from('<meta charset="utf-16">é'),
      undefined,
      'html',
      '<meta charset="utf-16">é',
      'utf-8',
      'meta',
    ],
    [
      'an XML declaration',
      latin1('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>'),
      undefined,
      'xml',
      '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>',
      'windows-1252',
      'meta',
    ],
    [
      'the header before a meta element',
      Buffer.from('<meta charset="koi8-r">é'),
      'utf-8',
      'html',
      '<meta charset="koi8-r">é',
      'utf-8',
      'header',
    ],
    [
      'a meta element in plain text, which is text',
      Buffer.from('<meta charset="koi8-r">é'),
      undefined,
      undefined,
      '<meta charset="koi8-r">é',
      'utf-8',
      'content',
    ],
    ['Shift_JIS', Buffer.from([0x83, 0x65]), 'shift_jis', undefined, 'テ', 'shift_jis', 'header'],
  ])('%s', (_, body, label, markup, text, name, from) => {
    expect(decodeText(body, label, { isCut: false, markup })).toEqual({
      text,
      charset: { name, from, replaced: 0 },
    })
  })

  it('counts what could not be decoded, and not what the author wrote', () => {
    const body = Buffer.concat([Buffer.from('\ufffd a'), Buffer.from([0xff, 0xfe, 0x61])])
    expect(decodeText(body, 'utf-8', whole)).toMatchObject({
      text: '\ufffd a\ufffd\ufffda',
      charset: { replaced: 2 },
    })
  })

  it('leaves a character out that the cut fell into', () => {
    const body = Buffer.from('aé').subarray(0, 2)
    expect(decodeText(body, 'utf-8', { isCut: true, markup: undefined })).toMatchObject({
      text: 'a',
      charset: { replaced: 0 },
    })
    expect(decodeText(body, 'utf-8', whole)).toMatchObject({ text: 'a\ufffd', charset: { replaced: 1 } })
    expect(decodeText(body, undefined, { isCut: true, markup: undefined }).charset.name).toBe('utf-8')
  })

  it('every text comes back from UTF-8, cut anywhere as far as it goes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
        fc.pre(!text.startsWith('\ufeff') && !/\p{Cs}/u.test(text))
        const body = Buffer.from(text)
        expect(decodeText(body, 'utf-8', html).text).toBe(text)
        const cut = decodeText(body.subarray(0, at % (body.length + 1)), 'utf-8', {
          isCut: true,
          markup: 'html',
        })
        expect(text.startsWith(cut.text)).toBe(true)
      }),
    )
  })
})

describe('a content type', () => {
  it.each([
    ['text/html; charset=UTF-8', 'text/html', 'UTF-8'],
    ['Text/HTML;charset="iso-8859-1"', 'text/html', 'iso-8859-1'],
    ['application/json', 'application/json', undefined],
    ['text/html ; boundary=x; Charset = koi8-r', 'text/html', 'koi8-r'],
    ['nonsense', '', undefined],
    [undefined, '', undefined],
  ])('%s', (header, essence, charset) => expect(parseContentType(header)).toEqual({ essence, charset }))
})

describe('content by mode', () => {
  const read = (
    body: Buffer | string,
    contentType: string | undefined,
    mode: 'auto' | 'text' | 'json',
    more: { isCut?: boolean; isOpaque?: boolean } = {},
  ) => {
    const { charset: _charset, ...content } = readContent({
      body: Buffer.from(body),
      contentType,
      mode,
      isCut: more.isCut ?? false,
      isOpaque: more.isOpaque ?? false,
    })
    return content
  }
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0])

  it.each<[string, ReturnType<typeof read>, object]>([
    [
      'JSON in auto',
      read('{"a":1}', 'application/json', 'auto'),
      { content_kind: 'json', content: { a: 1 } },
    ],
    [
      'JSON with a suffix',
      read('[1]', 'application/ld+json', 'auto'),
      { content_kind: 'json', content: [1] },
    ],
    [
      'JSON with a mark',
      read('\ufeff[1]', 'application/json', 'auto'),
      { content_kind: 'json', content: [1] },
    ],
    [
      'what is called JSON and is none',
      read('{a', 'application/json', 'auto'),
      { content_kind: 'text', content: '{a', parse_error: 'not_json' },
    ],
    [
      'JSON that was cut',
      read('{"a":', 'application/json', 'auto', { isCut: true }),
      { content_kind: 'text', content: '{"a":', parse_error: 'truncated' },
    ],
    [
      'JSON that is too deep',
      read('['.repeat(65) + ']'.repeat(65), 'application/json', 'json'),
      { content_kind: 'none', content: null, parse_error: 'too_deep' },
    ],
    ['HTML in auto', read('<p>', 'text/html', 'auto'), { content_kind: 'text', content: '<p>' }],
    ['XML in auto', read('<a/>', 'application/atom+xml', 'auto'), { content_kind: 'text', content: '<a/>' }],
    [
      'an image in auto',
      read(png, 'image/png', 'auto'),
      { content_kind: 'base64', content: png.toString('base64') },
    ],
    [
      'a picture that is text',
      read('<svg/>', 'image/svg+xml', 'auto'),
      { content_kind: 'text', content: '<svg/>' },
    ],
    ['text without a type', read('é', undefined, 'auto'), { content_kind: 'text', content: 'é' }],
    [
      'bytes without a type',
      read(png, undefined, 'auto'),
      { content_kind: 'base64', content: png.toString('base64') },
    ],
    [
      'bytes with a zero and no type',
      read('a\0b', undefined, 'auto'),
      { content_kind: 'base64', content: 'YQBi' },
    ],
    [
      'text that calls itself bytes',
      read('abc', 'application/octet-stream', 'auto'),
      { content_kind: 'text', content: 'abc' },
    ],
    [
      'JSON in text',
      read('{"a":1}', 'application/json', 'text'),
      { content_kind: 'text', content: '{"a":1}' },
    ],
    [
      'JSON that calls itself text',
      read('{"a":1}', 'text/plain', 'json'),
      { content_kind: 'json', content: { a: 1 } },
    ],
    [
      'HTML in json',
      read('<p>', 'text/html', 'json'),
      { content_kind: 'none', content: null, parse_error: 'not_json' },
    ],
    ['nothing', read('', 'text/html', 'text'), { content_kind: 'none', content: null }],
    [
      'what could not be decoded',
      read(png, 'text/html', 'text', { isOpaque: true }),
      { content_kind: 'base64', content: png.toString('base64'), parse_error: 'content_encoding' },
    ],
  ])('%s', (_, content, expected) => expect(content).toEqual(expected))

  it.each([
    ['12345678901234567890', true],
    ['-9007199254740993', true],
    ['1e400', true],
    ['0.12345678901234567890', true],
    ['9007199254740992', false],
    ['1234567890123456000000', false],
    ['12.50', false],
    ['1.5e+20', false],
    ['0.000000000000000000000', false],
    ['-0.0e10', false],
    ['0.1', false],
    ['"12345678901234567890"', false],
  ])('says whether %s survived', (number, isInexact) => {
    const { parse_error } = read(`{"a":[${number}]}`, 'application/json', 'json') as { parse_error?: string }
    expect(parse_error).toBe(isInexact ? 'inexact_number' : undefined)
  })

  it('calls every number exact that a program writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(hasInexactNumber(JSON.stringify([number]))).toBe(false)
      }),
    )
  })

  it('a document with a member named __proto__ is a document with that member', () => {
    const content = read('{"__proto__":{"x":1}}', 'application/json', 'json').content as object
    expect(JSON.stringify(content)).toBe('{"__proto__":{"x":1}}')
    expect((content as { x?: number }).x).toBeUndefined()
  })
})

describe('a content encoding', () => {
  const text = 'round '.repeat(5000)
  const decode = (body: Buffer, coding: string | undefined, isCut = false, maxBytes = 1 << 20) =>
    decodeBody(body, codingsOf(coding), { isCut, maxBytes })

  it.each<[string, Buffer, string | undefined]>([
    ['none', Buffer.from(text), undefined],
    ['identity', Buffer.from(text), 'identity'],
    ['gzip', gzipSync(text), 'gzip'],
    ['gzip by its old name', gzipSync(text), 'X-Gzip'],
    ['brotli', brotliCompressSync(text), 'br'],
    ['deflate', deflateSync(text), 'deflate'],
    ['deflate as some servers send it', deflateRawSync(text), 'deflate'],
  ])('%s is undone', async (_, body, coding) => {
    const decoded = await decode(body, coding)
    expect(decoded).toMatchObject({ ok: true, isCut: false })
    expect(decoded.ok && decoded.body.toString()).toBe(text)
  })

  it.each<[string, (text: string) => Buffer, string]>([
    ['gzip', gzipSync, 'gzip'],
    ['brotli', brotliCompressSync, 'br'],
    ['deflate', deflateSync, 'deflate'],
  ])('a bomb in %s is cut at the cap', async (_, compress, coding) => {
    const bomb = compress('\0'.repeat(50_000_000))
    expect(bomb.length).toBeLessThan(60_000)
    const decoded = await decode(bomb, coding, false, 2048)
    expect(decoded).toMatchObject({ ok: true, isCut: true })
    expect(decoded.ok && decoded.body.length).toBe(2048)
  })

  it.each<[string, (text: string) => Buffer, string]>([
    ['gzip', gzipSync, 'gzip'],
    ['brotli', brotliCompressSync, 'br'],
    ['deflate', deflateSync, 'deflate'],
  ])('of %s that was cut, what came before the cut is kept', async (_, compress, coding) => {
    const noise = Array.from({ length: 5000 }, (_unused, i) => (i * 7919) % 1000).join(' ')
    const body = compress(noise)
    const decoded = await decode(body.subarray(0, body.length - 200), coding, true)
    expect(decoded).toMatchObject({ ok: true, isCut: true })
    const got = decoded.ok ? decoded.body.toString() : ''
    expect(got.length).toBeGreaterThan(1000)
    expect(noise.startsWith(got)).toBe(true)
  })

  it.each<[string, Buffer, string, string]>([
    ['broken gzip', Buffer.from('not gzip at all'), 'gzip', 'malformed'],
    ['gzip that ends early', gzipSync(text).subarray(0, 40), 'gzip', 'malformed'],
    ['one byte of deflate', Buffer.from([0xff]), 'deflate', 'malformed'],
    ['a coding that nobody asked for', Buffer.from('x'), 'zstd', 'unknown_encoding'],
    ['two codings', gzipSync(gzipSync(text)), 'gzip, gzip', 'unknown_encoding'],
  ])('%s stays bytes', async (_, body, coding, reason) => {
    expect(await decode(body, coding)).toEqual({ ok: false, reason })
  })
})
