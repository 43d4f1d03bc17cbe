import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalUrl } from '../../../src/outcomes/text/url.ts'

describe('one spelling for one address', () => {
  it.each([
    ['lower-cases the host only', 'https://News.Example/A/B?Q=R', 'https://news.example/A/B?Q=R'],
    ['drops the default port', 'https://a.example:443/x', 'https://a.example/x'],
    ['keeps another port', 'https://a.example:8443/x', 'https://a.example:8443/x'],
    ['drops the fragment', 'https://a.example/x#part', 'https://a.example/x'],
    ['drops credentials', 'https://u:p@a.example/x', 'https://a.example/x'],
    ['resolves dots', 'https://a.example/x/../y/./z', 'https://a.example/y/z'],
    ['adds the root path', 'https://a.example', 'https://a.example/'],
    ['keeps the order of the query', 'https://a.example/?b=2&a=1&b=1', 'https://a.example/?b=2&a=1&b=1'],
    ['keeps odd escapes as written', 'https://a.example/?q=%e4&r=a+b', 'https://a.example/?q=%e4&r=a+b'],
    [
      'drops campaign parameters',
      'https://a.example/?utm_source=x&id=7&UTM_Medium=y',
      'https://a.example/?id=7',
    ],
    ['drops click ids', 'https://a.example/p?gclid=1&fbclid=2&msclkid=3', 'https://a.example/p'],
    ['sees through escapes in names', 'https://a.example/p?utm%5Fsource=1&n=2', 'https://a.example/p?n=2'],
    [
      'keeps names that only look alike',
      'https://a.example/p?autm_source=1&gclids=2',
      'https://a.example/p?autm_source=1&gclids=2',
    ],
    ['drops a query that is empty', 'https://a.example/p?', 'https://a.example/p'],
    ['keeps a query that begins with a question mark', 'https://a.example/p??a', 'https://a.example/p??a'],
    ['drops pairs that are empty', 'https://a.example/p?&&a=1&', 'https://a.example/p?a=1'],
    [
      'writes names in their ASCII form',
      'https://münchen.example/ä',
      'https://xn--mnchen-3ya.example/%C3%A4',
    ],
    ['takes http as well', 'http://a.example:80/', 'http://a.example/'],
  ])('%s', (_, url, expected) => {
    expect(canonicalUrl(url)).toBe(expected)
  })

  it.each([
    '',
    '/x',
    'a.example/x',
    'mailto:a@b.example',
    'javascript:alert(1)',
    'ftp://a.example/',
    'https://',
  ])('has none for %j', (url) => {
    expect(canonicalUrl(url)).toBeUndefined()
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        const once = canonicalUrl(url)!
        expect(canonicalUrl(once)).toBe(once)
      }),
    )
  })
})
