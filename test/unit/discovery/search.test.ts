import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DiscoveryFilters } from '../../../schemas/discovery.ts'
import { readEntry } from '../../../src/discovery/entry.ts'
import { filterOf } from '../../../src/discovery/filters.ts'
import {
  comparePositions,
  decodeCursor,
  encodeCursor,
  type Position,
  takeFirst,
} from '../../../src/lib/cursor.ts'
import { type SearchDocument, weighWords, wordsOf } from '../../../src/lib/search-words.ts'
import { indexDocuments } from '../../../src/lib/text-search.ts'
import { acceptV1, acceptV2, itemOf, PAYEE } from '../../support/catalogue.ts'

const documentOf = (over: Partial<SearchDocument>): SearchDocument => ({
  name: '',
  tags: [],
  description: '',
  url: 'https://x.example.com/',
  ...over,
})
const indexOf = (documents: readonly Partial<SearchDocument>[]) =>
  indexDocuments(documents.map((document) => weighWords(documentOf(document))))
const find = async (documents: readonly Partial<SearchDocument>[], query: string) =>
  (await indexOf(documents))
    .find(query)
    .toSorted((a, b) => b.score - a.score)
    .map(({ at }) => at)

describe('search', () => {
  it('puts entries with every word before entries with some, and names before descriptions', async () => {
    const documents = [
      { description: 'weather, weather and more weather' },
      { name: 'Weather' },
      { description: 'a forecast of the weather' },
      { tags: ['forecast'] },
      { name: 'Stock prices' },
    ]
    expect(await find(documents, 'weather forecast')).toEqual([2, 1, 3, 0])
  })

  it.each<[string, string, Partial<SearchDocument>]>([
    ['diacritics', 'meteo zurich', { name: 'Météo Zürich' }],
    ['diacritics of the query', 'Météo', { name: 'meteo' }],
    ['case', 'WEATHER', { name: 'weather' }],
    ['the rest of a word', 'weath', { name: 'weather' }],
    ['compatibility forms', 'ﬁnance', { name: 'finance' }],
    ['the address', 'image-resize', { url: 'https://api.example.com/v1/image/resize' }],
    ['words that say nothing', 'find me an api for weather', { name: 'weather' }],
    ['another script', 'погода', { description: 'Погода в Москве' }],
  ])('does not mind %s', async (_, query, document) => {
    expect(await find([{ name: 'other' }, document], query)).toEqual([1])
  })

  it.each<[string, string]>([
    ['the middle of a word', 'eather'],
    ['a word that is not there', 'snow'],
    ['no word at all', '!!! ---'],
  ])('finds nothing for %s', async (_, query) => {
    expect(await find([{ name: 'weather' }], query)).toEqual([])
  })

  it('takes a query of nothing but common words as it is', async () => {
    expect(await find([{ name: 'API' }, { name: 'other' }], 'the api')).toEqual([0])
  })

  it('scores an entry alike whatever else is listed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.lorem({ maxCount: 6 }), { maxLength: 8 }),
        fc.lorem({ maxCount: 2 }),
        async (others, query) => {
          const mine = { name: query, description: 'sunt weather' }
          const alone = (await indexOf([mine])).find(query)[0]!.score
          const among = (await indexOf([mine, ...others.map((name) => ({ name }))])).find(query)
          expect(among.find(({ at }) => at === 0)!.score).toBe(alone)
        },
      ),
    )
  })

  it('splits any text without failing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => wordsOf(text).every((word) => word !== '')),
    )
  })
})

describe('the first of many', () => {
  it('are those that sorting puts first', () => {
    const position = fc.tuple(fc.nat(3), fc.nat(3), fc.stringMatching(/^[ab]$/)) as fc.Arbitrary<Position>
    fc.assert(
      fc.property(
        fc.array(position),
        fc.integer({ min: 1, max: 5 }),
        fc.option(position),
        (items, count, after) => {
          const sorted = items
            .filter((item) => !after || comparePositions(item, after) > 0)
            .sort(comparePositions)
          expect(takeFirst(items, count, (item) => item, after ?? undefined)).toEqual(sorted.slice(0, count))
        },
      ),
    )
  })
})

describe('cursors', () => {
  it('lead through a list once, also when entries come and go on the way', () => {
    const position = fc.tuple(fc.nat(3), fc.nat(5), fc.uuid()) as fc.Arbitrary<Position>
    fc.assert(
      fc.property(fc.array(position, { minLength: 1 }), fc.array(position), fc.nat(4), (list, late, size) => {
        const sort = (items: readonly Position[]) => [...items].sort(comparePositions)
        const seen: Position[] = []
        let items = sort(list)
        let cursor: string | undefined
        do {
          const after = cursor === undefined ? undefined : decodeCursor(cursor, 'q')
          const rest = items.filter((item) => !after || comparePositions(item, after) > 0)
          const page = rest.slice(0, size + 1)
          seen.push(...page)
          cursor = rest.length > page.length ? encodeCursor(page.at(-1)!, 'q') : undefined
          items = sort([...list, ...late])
        } while (cursor !== undefined)
        const ids = seen.map(([, , id]) => id)
        expect(new Set(ids).size).toBe(ids.length)
        for (const [, , id] of list) expect(ids).toContain(id)
      }),
    )
  })

  it.each<[string, string]>([
    ['text of nothing', 'abc'],
    ['another query', encodeCursor([1, 2, 'x'], 'other')],
    ['too many parts', Buffer.from('["a",1,2,"x",3]').toString('base64url')],
    ['nested parts', Buffer.from('[[[[1]]]]').toString('base64url')],
    ['an object', Buffer.from('{"length":4}').toString('base64url')],
  ])('are refused when they are %s', (_, cursor) => {
    expect(() => decodeCursor(cursor, 'q')).toThrow(expect.objectContaining({ code: 'input_invalid' }))
  })
})

describe('filters', () => {
  const entryOf = (item: unknown) => {
    const verdict = readEntry(item, 0)
    if (!verdict.ok) throw new Error(verdict.reason)
    const claim = { source: 'https://catalogue.example', fetchedAt: 0, lastUpdated: '', sameTerms: true }
    return { entry: verdict.entry, claims: [claim] }
  }
  const v2 = entryOf(
    itemOf({
      accepts: [acceptV2(), acceptV2({ network: 'eip155:84532', payTo: '0xAbC', scheme: 'upto' })],
      extensions: { bazaar: { info: {} }, 'payment-identifier': {} },
    }),
  )
  const v1 = entryOf(itemOf({ x402Version: 1, accepts: [acceptV1()] }))

  it.each<[DiscoveryFilters, boolean, boolean]>([
    [{}, true, true],
    [{ type: 'http' }, true, true],
    [{ type: 'mcp' }, false, false],
    [{ network: 'eip155:8453' }, true, true],
    [{ network: 'base' }, true, true],
    [{ network: 'base-sepolia' }, true, false],
    [{ payTo: PAYEE.toUpperCase().replace('0X', '0x') }, true, true],
    [{ payTo: '0xabc' }, true, false],
    [{ scheme: 'upto' }, true, false],
    [{ scheme: 'upto', network: 'eip155:8453' }, false, false],
    [{ extensions: 'bazaar' }, true, false],
    [{ extensions: 'bazaar, payment-identifier' }, true, false],
    [{ extensions: 'bazaar,offer-receipt' }, false, false],
    [{ extensions: 'toString' }, false, false],
    [{ source: 'https://catalogue.example' }, true, true],
    [{ source: 'own' }, false, false],
    [{ maxUsdc: '0.001' }, true, true],
    [{ maxUsdc: '0.000999' }, false, false],
    // The token of another network is none that is known there, so its amount does not compare.
    [{ maxUsdc: '5', network: 'eip155:84532' }, false, false],
  ])('%o', (filters, first, second) => {
    expect([filterOf(filters)(v2), filterOf(filters)(v1)]).toEqual([first, second])
  })
})
