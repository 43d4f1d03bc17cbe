import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestJson } from '../../../src/outcomes/digest.ts'
import { readPage } from '../../../src/outcomes/extract/page.ts'
import { cleanText } from '../../../src/outcomes/extract/text.ts'
import type { PageInput } from '../../../src/outcomes/reading.ts'

const read = (body: string | Uint8Array, contentType: string | null = null, over: Partial<PageInput> = {}) =>
  readPage({
    body: typeof body === 'string' ? Buffer.from(body) : body,
    isCut: false,
    contentType,
    contentLanguage: null,
    url: 'https://a.example/page',
    ...over,
  })
const valueOf = (...input: Parameters<typeof read>) => {
  const reading = read(...input)
  if (!reading.ok) throw new Error(`${reading.reason}: ${reading.detail}`)
  return reading.value
}
const verdictOf = (...input: Parameters<typeof read>) => {
  const reading = read(...input)
  return reading.ok ? reading.format : reading.reason
}

describe('what bytes are', () => {
  it.each<[string, string | null, string]>([
    ['<p>x</p>', 'text/html; charset=utf-8', 'html'],
    ['<p>x</p>', 'application/xhtml+xml', 'html'],
    ['\uFEFF<!-- c --><!DOCTYPE html><p>x', null, 'html'],
    ['<!doctype html><p>x', 'text/plain', 'html'],
    ['<!doctype html><p>x', 'application/json', 'html'],
    [
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>x</p></body></html>',
      'text/xml',
      'html',
    ],
    ['{"a":1}', 'application/json', 'json'],
    ['{"a":1}', 'application/problem+json', 'json'],
    ['{"a":1}', 'text/html', 'json'],
    [' [1, 2]', null, 'json'],
    ['one\n\ntwo', 'text/plain', 'text'],
    ['# one', 'text/markdown', 'text'],
    ['a,b', 'text/csv', 'text'],
    ['one two', null, 'text'],
    ['one two', 'application/octet-stream', 'text'],
    ['', 'text/html', 'empty'],
    [' \r\n\t', 'text/html', 'empty'],
    ['\uFEFF', 'text/plain', 'empty'],
    ['%PDF-1.7\n', 'application/pdf', 'type_unsupported'],
    ['%PDF-1.7\n', 'text/html', 'binary'],
    ['\u0089PNG\u0000\u0000\u0000', 'text/plain', 'binary'],
    ['a\u0000\u0001\u0002\u0003\u0004b', null, 'binary'],
    ['\u0000\u0001\u0002\u0003\u0004', 'image/png', 'type_unsupported'],
    ['<p>x</p>', 'image/png', 'type_unsupported'],
    ['<rss version="2.0"><channel/></rss>', 'text/html', 'type_unsupported'],
    ['<?xml version="1.0"?><feed/>', 'application/atom+xml', 'type_unsupported'],
    ['<?xml version="1.0"?><invoice/>', 'application/xml', 'type_unsupported'],
    ['{"a":', 'application/json', 'invalid_json'],
    ['not json', 'application/json', 'invalid_json'],
    ['{}', 'application/json', 'no_content'],
    ['<script>x</script>', 'text/html', 'no_content'],
    ['\u200B', 'text/plain', 'no_content'],
  ])('%j as %s is %s', (body, contentType, verdict) => {
    expect(verdictOf(body, contentType)).toBe(verdict)
  })

  it('sends who asks for a feed to the capability that reads feeds', () => {
    expect(read('<rss><channel/></rss>', 'application/rss+xml')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('feed-digest'),
    })
  })

  it('says that JSON was cut rather than wrong', () => {
    const reading = read('{"a": [1, 2', 'application/json', { isCut: true })
    expect(reading).toMatchObject({
      ok: false,
      reason: 'invalid_json',
      detail: expect.stringContaining('longer'),
    })
  })

  it.each<[string, Uint8Array, string | null, string, string]>([
    [
      'the header',
      Buffer.from([0x3c, 0x70, 0x3e, 0xc7, 0xe1]),
      'text/html; charset=windows-1256',
      'ال',
      'header',
    ],
    [
      'the document',
      Buffer.from('<meta charset=iso-8859-1><p>\x93x\x94', 'latin1'),
      'text/html',
      '“x”',
      'meta',
    ],
    ['a guess', Buffer.from('<p>caf\xe9', 'latin1'), 'text/html', 'café', 'detected'],
    [
      'the mark',
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('<p>شاي', 'utf16le')]),
      null,
      'شاي',
      'bom',
    ],
  ])('takes the charset from %s', (_, body, contentType, text, from) => {
    const reading = read(body, contentType)
    expect(reading).toMatchObject({ ok: true, charset: { from }, value: { document: { text } } })
  })
})

describe('plain text', () => {
  it('keeps paragraphs and lines, and takes nothing for markup', () => {
    const { document } = valueOf('One  two\r\nthree\r\n\r\n\r\n  # four <b>\n')
    expect(document.text).toBe('One two\nthree\n\n# four <b>')
    expect(document.markdown).toBe('One two\nthree\n\n\\# four \\<b>')
  })

  it('is cut where a document ends, and says so', () => {
    const { document, truncated } = valueOf('word '.repeat(50_000), 'text/plain')
    expect(document.text.length).toBeLessThanOrEqual(200_000)
    expect(truncated).toContain('text')
  })

  it('flags what it hides', () => {
    expect(valueOf('a\u202Eb\u200B', 'text/plain').warnings.map(({ code }) => code)).toEqual([
      'zero_width_characters',
      'bidi_controls',
    ])
  })
})

describe('JSON', () => {
  it('gives the value and a line for every leaf of it', () => {
    const { document, json } = valueOf('{"a":{"b":[1,"x  y",null]},"c":true}', 'application/json')
    expect(json).toEqual({ a: { b: [1, 'x  y', null] }, c: true })
    expect(document.text).toBe('a.b[0]: 1\na.b[1]: x y\na.b[2]: null\nc: true')
  })

  it('is not fooled by names of the prototype', () => {
    const { json, document } = valueOf('{"__proto__":{"x":1},"constructor":2}', 'application/json')
    expect(JSON.stringify(json)).toBe('{"__proto__":{"x":1},"constructor":2}')
    expect(document.text).toContain('__proto__.x: 1')
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('carries nothing invisible and nothing without UTF-8, in names and in values, and so has a digest', () => {
    const source = String.raw`{"a\u200b\ud800":["x\ud800","\u202ey\u2069","l\r\n2",{"\u0007b":null}],"z":"e\u0301"}`
    const { json } = valueOf(source, 'application/json')
    expect(json).toEqual({ 'a\uFFFD': ['x\uFFFD', 'y', 'l\n2', { b: null }], z: '\u00E9' })
    expect(digestJson(json)).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each<[string, string, string[]]>([
    ['a value of more than 64 KiB', JSON.stringify({ a: 'x'.repeat(70_000) }), ['json']],
    ['a value deeper than 32', `${'['.repeat(40)}1${']'.repeat(40)}`, ['json']],
    ['a number that a double cannot hold', '{"id":1234567890123456789}', ['json_numbers']],
    ['nothing of an ordinary value', '{"id":1.5}', []],
  ])('names %s', (_, body, truncated) => {
    const value = valueOf(body, 'application/json')
    expect(value.truncated).toEqual(truncated)
    expect('json' in value).toBe(!truncated.includes('json'))
  })
})

describe('a page as a document', () => {
  it('hashes the text that is returned', () => {
    const reading = read('<p>e\u0301 x</p>', 'text/html')
    if (!reading.ok) throw new Error(reading.reason)
    expect(reading.textSha256).toBe(
      createHash('sha256').update(reading.value.document.text, 'utf8').digest('hex'),
    )
  })

  it('holds no more than the limits and names what it cut', () => {
    const many = Array.from({ length: 700 }, (_, i) => `<h2>${i}</h2><p><a href=/${i}>x</a></p>`).join('')
    const { document, truncated } = valueOf(
      `<main>${many}${'<table><tr><td>a<td>b<tr><td>c<td>d</table>'.repeat(120)}</main>`,
      'text/html',
    )
    expect([document.headings.length, document.links.length, document.tables.length]).toEqual([500, 500, 100])
    expect(truncated).toEqual(['headings', 'links', 'tables'])
  })

  it('holds every link of its text, of the navigation around it only some, and says so', () => {
    const prose =
      'This paragraph says some sentences about one thing, so that there is a text to be found in it. '
    const inside = Array.from({ length: 40 }, (_, i) => `<p>${prose}<a href=/t${i}>x</a></p>`).join('')
    const around = Array.from({ length: 40 }, (_, i) => `<li><a href=/n${i}>x</a>`).join('')
    const { document, truncated } = valueOf(
      `<nav><ul>${around}</ul></nav><main>${inside}</main>`,
      'text/html',
    )
    expect(document.links.map((link) => link.in_text)).toEqual([
      ...Array.from({ length: 40 }, () => true),
      ...Array.from({ length: 25 }, () => false),
    ])
    expect(truncated).toEqual(['links'])
  })
})

describe('languages and directions', () => {
  const long =
    'يشرب الناس الشاي في الصباح والمساء، ويقدمونه للضيوف مع السكر والنعناع في أكواب صغيرة من الزجاج.'
  it.each<[string, string, string | null, string, string]>([
    ['what the page says', `<html lang=ar-EG><p>${long}`, null, 'ar-EG', 'html'],
    ['the header where the page says nothing', `<p>${long}`, 'ar', 'ar', 'header'],
    ['the text where nobody says', `<p>${long}`, null, 'ar', 'text'],
    ['the text where a template says what is not so', `<html lang=en><p>${long}`, 'en-US', 'ar', 'text'],
    [
      'Latin letters as they are declared',
      '<html lang=de><p>Der Tee wird am Morgen und am Abend getrunken.',
      null,
      'de',
      'html',
    ],
    ['an underscore as a dash', `<meta property=og:locale content=ar_SA><p>${long}`, null, 'ar-SA', 'meta'],
  ])('takes the language from %s', (_, html, contentLanguage, language, source) => {
    const { document } = valueOf(html, 'text/html', { contentLanguage })
    expect([document.language, document.language_source]).toEqual([language, source])
  })

  it('does not take Persian or Urdu for Arabic', () => {
    const persian =
      'مردم ایران هر روز صبح و عصر چای می‌نوشند و آن را با قند و نبات پیش مهمان می‌گذارند و گپ می‌زنند.'
    expect(valueOf(`<p>${persian}`, 'text/html').document.language).not.toBe('ar')
    expect(valueOf(`<html lang=fa><p>${persian}`, 'text/html').document.language).toBe('fa')
  })

  it.each<[string, string, string]>([
    ['Arabic', `<p>${long}</p>`, long],
    ['diacritics', '<p>الشَّايُ لَذِيذٌ</p>', 'الشَّايُ لَذِيذٌ'],
    ['Arabic digits and punctuation', '<p>السعر ١٢٫٥٠ ريال، أليس كذلك؟</p>', 'السعر ١٢٫٥٠ ريال، أليس كذلك؟'],
    ['lam with alef as one form', '<p>سلام ﻻ يزول</p>', 'سلام ﻻ يزول'],
    ['a tatweel', '<p>شـــاي</p>', 'شـــاي'],
    [
      'both directions in a line',
      '<p>يباع Sencha بسعر 19.90 EUR اليوم</p>',
      'يباع Sencha بسعر 19.90 EUR اليوم',
    ],
    ['isolated runs', '<p>قال <bdi>user_1</bdi> شيئا</p>', 'قال user_1 شيئا'],
    ['a list from right to left', '<ul dir=rtl><li>أخضر</li><li>أسود</li></ul>', 'أخضر\nأسود'],
    [
      'a table from right to left',
      '<table dir=rtl><tr><th>نوع<th>سعر<tr><td>أخضر<td>١٠</table>',
      'نوع سعر\nأخضر ١٠',
    ],
    ['joiners of Persian', '<p>می\u200Cخواهم</p>', 'می\u200Cخواهم'],
    ['Hebrew with points', '<p>שָׁלוֹם</p>', 'שָׁלוֹם'],
    ['a reversed run without its control', '<p>a\u202Edcb\u202C e</p>', 'adcb e'],
    ['marks of direction', '<p>شاي\u2067x\u2069</p>', 'شايx'],
  ])('keeps %s', (_, html, text) => {
    const { document } = valueOf(html, 'text/html')
    expect(document.text).toBe(text.normalize('NFC'))
    expect(document.markdown.replace(/\\/g, '')).toContain(
      text.split('\n')[0]!.normalize('NFC').split(' ')[0],
    )
  })

  it('finds the main text of an Arabic page', () => {
    const article = Array.from({ length: 6 }, (_, i) => `<p>${i} ${long}</p>`).join('')
    const { document, mode } = valueOf(
      `<html lang=ar dir=rtl><nav><a href=/>الرئيسية</a></nav><article><h1>الشاي</h1>${article}</article><div class=sidebar><p>اشترك ${long}</p></div><footer>حقوق</footer>`,
      'text/html',
    )
    expect(mode).toBe('scored')
    expect(document.text).toContain(`5 ${long}`)
    expect(document.text).not.toMatch(/الرئيسية|اشترك|حقوق/)
  })
})

describe('pages made to be slow', () => {
  const MAX_BYTES = 512 * 1024
  const fill = (piece: string, bytes = MAX_BYTES) =>
    piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)))
  it.each<[string, string]>([
    ['nested elements', fill('<div>')],
    ['nested elements with text', fill('<div>x ')],
    ['nested elements with long text', fill('<div>one two three four five six seven eight nine ten ')],
    ['nested tables', fill('<table><tr><td>x')],
    ['end tags of what is not open', fill('<b>', MAX_BYTES / 2) + fill('</i>', MAX_BYTES / 2)],
    ['unclosed tags', fill('<p><b>x')],
    ['a million attributes', `<p ${fill('a ')}>x`],
    ['distinct attributes', `<p ${Array.from({ length: 50_000 }, (_, i) => `a${i}`).join(' ')}>x`],
    ['names of the prototype', fill('<__proto__ __proto__=a constructor=b>x')],
    ['nested links', fill('<a href=x>y<div>')],
    ['nested figures', fill('<figure><img src=x>', 2 * MAX_BYTES)],
    ['nested formulas', fill('<math><msup>', 2 * MAX_BYTES)],
    ['links', fill('<a href=x>y</a>')],
    ['parts that fade in', fill('<div style="opacity:0">a ')],
    ['zero-width characters', fill('\u200B')],
    ['half entities', fill('&am')],
    ['open brackets', fill('<')],
    ['JSON-LD of open brackets', `<script type="application/ld+json">${fill('[')}`],
    ['class names', Array.from({ length: 10_000 }, (_, i) => `<p class="x${i} comment-${i}">word`).join('')],
  ])('are read to the end: %s', (_, html) => {
    const reading = read(html, 'text/html')
    expect(reading.ok || reading.reason === 'no_content').toBe(true)
    expect(JSON.stringify(reading).length).toBeLessThan(2 * 1024 * 1024)
  })
})

describe('whatever is sent', () => {
  const PIECES = [
    '<p>', '</p>', '<div class="', 'comment', 'article-body', 'sidebar', '">', '<noscript>', '</noscript>', '<main>', '</main>', '<svg>', '</svg>',
    '<math>', '<form>', '</form>', '<select><option>', '<table><tr><td>', '</table>', '<div style="opacity:0">', '<div hidden id="S:0">', '</div>',
    '<script type="application/ld+json">{"articleBody":"', '"}</script>', '<title>', '</title>', '<time datetime=2026-01-01>', '&#0;', '&lt', ' word '.repeat(12),
    '\u202E', '\u{E0041}', '\uD800', 'شاي ', '漢字', '<![CDATA[', ']]>', '<!--', '-->', '<?x', '<link rel=canonical href="//', '<base href="', '{', '[', '"', '\u0000',
  ] // prettier-ignore
  /** Any UTF-16 at all: JSON can write what UTF-8 cannot. */
  const units = fc.array(fc.integer({ max: 0xffff, min: 0 })).map((codes) => String.fromCharCode(...codes))
  const bytes = fc.oneof(
    fc.array(fc.constantFrom(...PIECES), { maxLength: 120 }).map((pieces) => Buffer.from(pieces.join(''))),
    fc.uint8Array({ maxLength: 600 }).map((array) => Buffer.from(array)),
    fc.json().map((text) => Buffer.from(text)),
    fc.dictionary(units, fc.oneof(units, fc.array(units))).map((value) => Buffer.from(JSON.stringify(value))),
  )
  const type = fc.constantFrom(
    null,
    'text/html',
    'text/plain',
    'application/json',
    'text/html; charset=utf-16',
    'application/xml',
  )

  it('is read or refused with a reason, without invisible characters, as data that can be sent to another thread', () => {
    fc.assert(
      fc.property(bytes, type, fc.boolean(), (body, contentType, isCut) => {
        const reading = structuredClone(read(body, contentType, { isCut }))
        if (!reading.ok) {
          expect(reading.detail.length).toBeGreaterThan(10)
          return
        }
        for (const text of textsIn(reading.value)) expect(cleanText(text)).toBe(text)
        expect(digestJson(reading.value)).toHaveLength(64)
        expect(reading.value.document.text).not.toBe('')
      }),
      { numRuns: 600 },
    )
  })
})

/** Every text and every name in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)])
}
