import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import type { ClaimField } from '../../../src/outcomes/claims.ts'
import { requestedSources } from '../../../src/outcomes/sources/requested.ts'

const A = 'https://a.example.com/'
const B = 'https://b.example.com/x'
const C = 'https://c.example.com/y?z=1'
const D = 'https://d.example.com/'
const read = (fields: Partial<Record<ClaimField, unknown>>) =>
  requestedSources(new Map(Object.entries(fields) as [ClaimField, unknown][]))
const urlsOf = (fields: Partial<Record<ClaimField, unknown>>) => read(fields).map(({ url }) => url)

function codeOf(fields: Partial<Record<ClaimField, unknown>>): string {
  try {
    read(fields)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.code
  }
  return 'none'
}

describe('the sources of a request', () => {
  it.each<[string, Partial<Record<ClaimField, unknown>>, string[]]>([
    ['none', {}, []],
    ['url', { url: A }, [A]],
    ['urls', { urls: [A, B] }, [A, B]],
    ['strings', { sources: [A, B, C] }, [A, B, C]],
    ['all three ways in one order', { sources: [C], urls: [B], url: A }, [A, B, C]],
    ['the same one three times', { url: A, urls: [A], sources: [{ url: A }] }, [A]],
    ['four names of three sources', { urls: [A, B, C], url: B }, [B, A, C]],
    ['an origin without its path', { url: 'https://a.example.com' }, [A]],
    ['two spellings, as the one that can be fetched', { urls: ['https://A.example.com/', A] }, [A]],
    ['an address with a port', { url: 'https://a.example.com:8443/' }, ['https://a.example.com:8443/']],
    ['an address that is none of ours as written', { url: 'urn:x' }, ['urn:x']],
    ['a fragment as written', { url: `${A}#top` }, [`${A}#top`]],
    ['plain http as written', { url: 'http://a.example.com/' }, ['http://a.example.com/']],
    ['no empty list', { urls: [], sources: [] }, []],
  ])('reads %s', (_, fields, urls) => {
    expect(urlsOf(fields)).toEqual(urls)
  })

  it('keeps the fallback of a source, wherever else the source is named', () => {
    const sources = [{ url: A, fallbacks: [B] }]
    expect(read({ sources })).toEqual(sources)
    expect(read({ url: A, sources })).toEqual(sources)
    expect(read({ sources: [...sources, A] })).toEqual(sources)
  })

  it('does not take a source for its own fallback', () => {
    expect(read({ sources: [{ url: A, fallbacks: ['https://a.example.com'] }] })).toEqual([
      { url: A, fallbacks: [] },
    ])
  })

  it('refuses a fourth source, and one source with two fallbacks', () => {
    expect(codeOf({ urls: [A, B, C], url: D })).toBe('input_invalid')
    expect(
      codeOf({
        sources: [
          { url: A, fallbacks: [B] },
          { url: A, fallbacks: [C] },
        ],
      }),
    ).toBe('input_conflict')
  })

  it.each([
    'https://mina:hunter2@a.example.com/',
    'https://hunter2@a.example.com/',
    'https://mina:hunter2@x@a.example.com/',
    'HTTPS:\\\\mina:hunter2@a.example.com/',
    '  https://hunter2@a.example.com/',
    'ftp://mina:hunter2@a.example.com/',
    'https://https://mina:hunter2@a.example.com/',
  ])('never passes a password on (%s)', (url) => {
    expect(JSON.stringify(read({ url }))).not.toContain('hunter2')
    expect(JSON.stringify(read({ sources: [{ url: A, fallbacks: [url] }] }))).not.toContain('hunter2')
    expect(urlsOf({ url })[0]).toMatch(/\*\*\*@a\.example/)
  })

  it('is text that has a digest, whatever was sent', () => {
    expect(urlsOf({ urls: [A, 'https://b.example/\uD800'] })).toEqual([A, 'https://b.example/\uFFFD'])
  })

  it('reads its own answer as the same sources', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.oneof(
            fc.webUrl({ withFragments: true, withQueryParameters: true }),
            fc.constantFrom(A, B, 'urn:x'),
          ),
          {
            maxLength: 3,
          },
        ),
        (urls) => {
          const once = urlsOf({ urls })
          expect(urlsOf({ urls: once })).toEqual(once)
        },
      ),
    )
  })
})
