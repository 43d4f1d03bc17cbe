import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dropDoctype } from '../../../src/outcomes/feeds/doctype.ts'
import { feedOf, readingOf, rss } from '../../support/feeds.ts'

const MIB = 1024 * 1024
const fill = (text: string, size = MIB) => text.repeat(Math.ceil(size / text.length))
const entityLevel = (_: unknown, i: number) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`

describe('declarations', () => {
  it('are not expanded, however deep they are', () => {
    const bomb = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY l0 "lol">${Array.from({ length: 20 }, entityLevel).join('')}]>`
    const { entries, issues } = readingOf(`${bomb}${rss('<item><title>&l20;</title></item>')}`)
    expect(entries[0]!.title).toBe('&l20;')
    expect(issues).toEqual(['entity_declarations_ignored'])
  })

  it.each([
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://evil.example/x.dtd"> %x;]>',
    '<!DOCTYPE r [<!ENTITY x PUBLIC "-//X//Y" "http://evil.example/x">]>',
  ])('of things elsewhere are not followed: %s', (doctype) => {
    const { entries, issues } = readingOf(doctype + rss('<item><title>a &x; b</title></item>'))
    expect(entries[0]!.title).toBe('a &x; b')
    expect(issues).toContain('external_entities_ignored')
  })

  it('that stand for a few plain characters are put in their places, which are not in CDATA', () => {
    const doctype = `<!DOCTYPE rss [<!ENTITY id "tag:a.example,2006:"> <!ENTITY id 'second'>]>`
    const { entries, issues } = readingOf(
      doctype + rss('<item><title>&id; <![CDATA[&id;]]></title><guid>&id;1</guid></item>'),
    )
    expect(entries[0]).toMatchObject({ title: 'tag:a.example,2006: &id;', guid: 'tag:a.example,2006:1' })
    expect(issues).toEqual(['entity_declarations_ignored'])
  })

  it.each([
    ['markup', `<!ENTITY x "<b>">`],
    ['the end of an attribute', `<!ENTITY x '"'>`],
    ['another entity', `<!ENTITY y "y"><!ENTITY x "&y;">`],
    ['another file', `<!ENTITY x SYSTEM "x">`],
  ])('are not expanded where they stand for %s', (_, declarations) => {
    const { entries } = readingOf(
      `<!DOCTYPE rss [${declarations}]>${rss('<item><title>a &x; b</title></item>')}`,
    )
    expect(entries[0]!.title).toBe('a &x; b')
  })

  it('add no more than a feed may be made longer by', () => {
    const doctype = `<!DOCTYPE rss [<!ENTITY x "${'x'.repeat(256)}">]>`
    const { text } = dropDoctype(doctype + fill('&x;'))
    expect(text.length).toBeLessThan(MIB + 70_000)
  })

  it('cannot smuggle in elements', () => {
    const doctype = `<!DOCTYPE r [<!ENTITY x "<rss><channel><item><title>wrong</title></item></channel></rss>"><!-- ]> --><?p ]>?>]>`
    expect(
      readingOf(doctype + rss('<item><title>right</title></item>')).entries.map(({ title }) => title),
    ).toEqual(['right'])
  })

  it('leave the rest of the document as it is', () => {
    expect(dropDoctype(`<?xml version="1.0"?><!-- <!DOCTYPE a> --><!DOCTYPE b SYSTEM "x>y"><r/>`).text).toBe(
      '<?xml version="1.0"?><!-- <!DOCTYPE a> --><r/>',
    )
    const late = rss('<item><title>x</title></item><!DOCTYPE y [')
    expect(dropDoctype(late).text).toBe(late)
  })
})

describe('documents made to be slow', () => {
  it('are given up where they are too deep, keeping what came before', () => {
    const { entries, issues, isTruncated } = readingOf(
      rss(`<item><title>before</title></item>${fill('<a>')}`),
    )
    expect(entries.map(({ title }) => title)).toEqual(['before'])
    expect(issues).toEqual(['nested_too_deep'])
    expect(isTruncated).toBe(true)
    expect(feedOf(fill('<a>')).ok).toBe(false)
  })

  it('may be deep, but not deeper than any feed is', () => {
    const nested = (levels: number) =>
      rss(`<item><title>x</title><x>${'<a>'.repeat(levels)}${'</a>'.repeat(levels)}</x></item>`)
    expect(readingOf(nested(190)).issues).toEqual([])
    expect(feedOf(nested(210))).toMatchObject({ ok: false, reason: 'invalid_xml' })
  })

  it('are given up where they have too many elements', () => {
    expect(readingOf(rss(`<item><title>before</title></item>${fill('<x/>')}`)).issues).toEqual([
      'too_many_elements',
    ])
  })

  it('have few of their attributes read', () => {
    const attributes = Array.from({ length: 50_000 }, (_, i) => `a${i}="x"`).join(' ')
    expect(readingOf(rss(`<item ${attributes}><title>x</title></item>`))).toMatchObject({
      entries: [{ title: 'x' }],
      issues: ['attributes_dropped'],
    })
  })

  it('have all entries counted, and the newest read', () => {
    const items = Array.from(
      { length: 20_000 },
      (_, i) => `<item><title>${i}</title><guid>${i}</guid></item>`,
    )
    const reading = readingOf(rss(items.join('')))
    expect(reading).toMatchObject({ entriesSeen: 20_000, undated: 20_000, duplicates: 0 })
    expect(reading.entries.length).toBeLessThan(200)
  })

  it.each([
    ['open tags in text', rss(`<item><title>x</title><description>${fill('&lt;div>')}</description></item>`)],
    ['unfinished tags in text', rss(`<item><title>x${fill('&lt;p ')}</title></item>`)],
    ['references', rss(`<item><title>x${fill('&amp;')}</title></item>`)],
    ['stray end tags', rss(`<item><title>x</title></item>${fill('</b>')}`)],
    [
      'scopes of names',
      rss(`<item><title>x</title></item>${'<x xmlns:a="b">'.repeat(150)}${fill('<a:b z:c="d"/>')}`),
    ],
    ['a title as long as the feed', rss(`<item><title>${fill('x ')}</title></item>`)],
    ['a date as long as the feed', rss(`<item><title>x</title><pubDate>${fill('1 ')}</pubDate></item>`)],
    ['addresses of people', rss(`<item><title>x</title><author>${fill('a@')}</author></item>`)],
    [
      'categories',
      rss(
        `<item><title>x</title>${Array.from({ length: 50_000 }, (_, i) => `<category>${i}</category>`).join('')}</item>`,
      ),
    ],
    ['a CDATA section that never ends', rss(`<item><title>x</title><description><![CDATA[${fill('x')}`)],
  ])('are read within bounds: %s', (_name, text) => {
    const { entries } = readingOf(text)
    expect(entries[0]!.title).toMatch(/^x/)
    expect(JSON.stringify(entries).length).toBeLessThan(4000)
  })

  it.each([
    ['a declaration that never ends', `<!DOCTYPE ${fill('<')}`],
    ['quotes that never end', `<!DOCTYPE ${fill(`"'`)}`],
    ['comments', fill('<!-- ')],
    ['instructions', fill('<?a?>')],
    [
      'nested arrays',
      `{"version":"https://jsonfeed.org/version/1.1","items":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
    ],
  ])('are refused: %s', (_name, text) => {
    expect(feedOf(text).ok).toBe(false)
  })
})

it('names that mean something to JavaScript mean nothing', () => {
  const xml = readingOf(
    rss(
      '<item><__proto__>x</__proto__><constructor/><title __proto__="a" constructor="b">x</title><category>__proto__</category></item>',
    ),
  )
  expect(xml.entries).toMatchObject([{ title: 'x', categories: ['__proto__'] }])
  const json = readingOf(
    '{"version":"https://jsonfeed.org/version/1.1","__proto__":{"title":"no"},"items":[{"id":"1","__proto__":{"title":"no"}}]}',
  )
  expect(json).toMatchObject({ title: null, entries: [{ title: null }] })
  expect(({} as Record<string, unknown>)['title']).toBeUndefined()
})

describe('whatever is sent', () => {
  // oxlint-disable-next-line no-control-regex -- none of them may come through
  const invisible = /[\u200B\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}\u0000-\u0008]/u
  const check = (text: string) => {
    const reading = feedOf(text)
    expect(typeof reading.ok).toBe('boolean')
    // It crosses threads.
    expect(structuredClone(reading)).toEqual(reading)
    if (reading.ok)
      for (const { title, summary, author } of reading.value.entries)
        expect(`${title}${summary}${author}`).not.toMatch(invisible)
  }

  it('nothing throws: pieces of feeds in any order', () => {
    const piece = fc.constantFrom(
      '<rss version="2.0">',
      '<channel>',
      '<item>',
      '</item>',
      '<title>',
      '</title>',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<feed xmlns="http://www.w3.org/2005/Atom">',
      '<entry>',
      '<link href="',
      '">',
      '&lt;',
      '&#8203;',
      '&#x202e;',
      '&#xD800;',
      '<content type="xhtml">',
      '<content mode="base64">',
      'AAAA',
      '<updated>',
      '2026-02-30',
      'xml:base="//x"',
      '\u{E0041}',
      '<!DOCTYPE',
      '[',
      '>',
      '<?xml',
      '\0',
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
      '</',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (parts) =>
        check(`<rss><channel><item>${parts.join('')}`),
      ),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (parts) => check(parts.join(''))),
      { numRuns: 500 },
    )
  })

  it('nothing throws: any JSON in the place of anything', () => {
    const names = [
      'title',
      'items',
      'id',
      'url',
      'authors',
      'author',
      'tags',
      'content_html',
      'date_published',
      'version',
    ]
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
    }))
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), value, (items, title) =>
        check(JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title, items })),
      ),
      { numRuns: 300 },
    )
  })
})
