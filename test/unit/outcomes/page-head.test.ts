// What the head of a page says to machines: where it sends its readers, which feed it has.
import { describe, expect, it } from 'vitest'
import { analyses } from '../../../src/outcomes/analyses.ts'
import { readHead } from '../../../src/outcomes/extract/head.ts'

const URL_A = 'https://a.example/dir/page'
const head = (html: string) => readHead(`<!doctype html><head>${html}</head><body><p>Text`, URL_A)
const refresh = (content: string) => head(`<meta http-equiv="refresh" content="${content}">`).refreshUrl

describe('a refresh', () => {
  it.each([
    ['0;url=/next', 'https://a.example/next'],
    ['0; URL=next?a=1&amp;b=2', 'https://a.example/dir/next?a=1&b=2'],
    ["0;url='https://b.example/'", 'https://b.example/'],
    ['0, https://b.example/', 'https://b.example/'],
    ['0 url=/x', 'https://a.example/x'],
    ['0.0;url=/x', 'https://a.example/x'],
  ])('%s leads on at once', (content, expected) => expect(refresh(content)).toBe(expected))

  it.each([
    '5;url=/next',
    '0',
    '',
    'url=/next',
    '1;url=/x',
    '0;url=javascript:alert(1)',
    '0;url=',
    '0;url=page#top',
  ])('%s does not', (content) => expect(refresh(content)).toBeNull())

  it('is resolved against the base of the page', () => {
    expect(head('<base href="/other/"><meta http-equiv=Refresh content="0;url=x">').refreshUrl).toBe(
      'https://a.example/other/x',
    )
  })

  it.each([
    ['noscript', '<noscript><meta http-equiv="refresh" content="0;url=/enable-js"></noscript>'],
    ['a comment', '<!-- <meta http-equiv="refresh" content="0;url=/x"> -->'],
    ['a script', `<script>document.write('<meta http-equiv="refresh" content="0;url=/x">')</script>`],
    ['a template', '<title><meta http-equiv="refresh" content="0;url=/x"></title>'],
  ])('inside %s is none', (_, html) => expect(head(html).refreshUrl).toBeNull())

  it('makes a page a stub, for every kind of reading', () => {
    const input = {
      body: Buffer.from(
        `<html><head><meta http-equiv=refresh content="0;url=/x"></head><body>${'Words. '.repeat(99)}`,
      ),
      isCut: false,
      contentType: 'text/html',
      contentLanguage: null,
      url: URL_A,
    }
    for (const name of ['page', 'products', 'feed'] as const)
      expect(analyses[name](input)).toMatchObject({
        ok: false,
        reason: 'refresh_stub',
        lead: { kind: 'meta_refresh', url: 'https://a.example/x' },
      })
  })
})

describe('a feed that a page names', () => {
  it.each([
    ['<link rel="alternate" type="application/rss+xml" href="/feed">', 'https://a.example/feed'],
    [
      '<link rel="home Alternate" type="application/atom+xml; charset=utf-8" href="atom.xml">',
      'https://a.example/dir/atom.xml',
    ],
    [
      '<link rel=alternate type="application/feed+json" href="//a.example/f.json">',
      'https://a.example/f.json',
    ],
    [
      '<link rel=alternate type="application/json" href="/wp-json"><link rel=alternate type="application/rss+xml" href="/1"><link rel=alternate type="application/rss+xml" href="/comments">',
      'https://a.example/1',
    ],
  ])('%s', (html, expected) => expect(head(html).feedUrl).toBe(expected))

  it.each([
    '<link rel="alternate" hreflang="ar" href="/ar">',
    '<link rel="stylesheet" type="application/rss+xml" href="/x">',
    '<link rel="alternate" type="application/rss+xml" href="javascript:x">',
    '<link rel="alternate" type="application/rss+xml">',
  ])('is not in %s', (html) => expect(head(html).feedUrl).toBeNull())

  it('is what a digest of that page leads to', () => {
    const body = Buffer.from(
      '<!doctype html><html><head><link rel=alternate type=application/rss+xml href=/feed></head><body>News</body></html>',
    )
    expect(
      analyses.feed({ body, isCut: false, contentType: 'text/html', contentLanguage: null, url: URL_A }),
    ).toMatchObject({ reason: 'feed_is_html', lead: { kind: 'feed_link', url: 'https://a.example/feed' } })
  })
})

describe('a hostile head', () => {
  it.each([
    ['one tag without end', `<meta http-equiv="refresh" content="${'a'.repeat(500_000)}`],
    ['spaces in an attribute', `<meta ${' '.repeat(500_000)}>`],
    ['names without values', `<meta ${'a'.repeat(500_000)}>`],
    ['a million tags', '<meta name=robots content=noai>'.repeat(40_000)],
    ['noscript without end', '<noscript>'.repeat(100_000)],
    ['comments without end', '<!--'.repeat(200_000)],
    ['a refresh of noughts', `<meta http-equiv="refresh" content="${'0'.repeat(60_000)}">`],
  ])('costs what its first 64 KiB cost: %s', (_, html) => {
    const bounded = html.slice(0, 64 * 1024)
    expect(readHead(html, URL_A)).toEqual(readHead(bounded, URL_A))
    expect(readHead(html, URL_A).robots.length).toBeLessThan(2500)
  })
})
