// Catalogues in which one entry is hostile: it costs itself, never the others.
import { describe, expect, it } from 'vitest'
import { CATALOGUE_LIMITS, readCatalogue } from '../../../src/discovery/catalogue.ts'
import type { Outbound } from '../../../src/discovery/outbound.ts'
import { splitPage } from '../../../src/discovery/page.ts'
import { acceptV2, itemOf } from '../../support/catalogue.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
const SOURCE = 'https://catalogue.example.com'
const good = (i: number) => JSON.stringify(itemOf({ resource: `https://api.example.com/${i}` }))
const textOf = (over: Record<string, unknown>) =>
  JSON.stringify(itemOf({ resource: 'https://bad.example.com/', ...over }))

/** A catalogue of these texts, which knows `limit` and `offset` and puts its pages together unseen. */
async function readTexts(texts: readonly (string | Buffer)[], options: { readonly total?: boolean } = {}) {
  const asked: { limit: number; offset: number }[] = []
  const outbound: Outbound = {
    async get({ url, maxBytes }) {
      const query = new URL(url).searchParams
      const limit = Number(query.get('limit'))
      const offset = Number(query.get('offset'))
      asked.push({ limit, offset })
      const items = texts.slice(offset, offset + limit).map((text) => Buffer.from(text))
      const body = Buffer.concat([
        Buffer.from('{"x402Version":2,"items":['),
        ...items.flatMap((item, i) => (i === 0 ? [item] : [Buffer.from(','), item])),
        Buffer.from(options.total === false ? ']}' : `],"pagination":{"total":${texts.length}}}`),
      ])
      if (body.length > maxBytes) return { ok: false, reason: 'too_large' }
      return { ok: true, response: { status: 200, statusText: '', headers: [], body } }
    },
  }
  const parts = { outbound, isImpostor: () => false, now: () => NOW }
  const { entries, dropped, end } = await readCatalogue(SOURCE, parts, new AbortController().signal)
  return {
    resources: entries.map(({ resource }) => resource),
    dropped: Object.fromEntries(dropped),
    end,
    asked,
  }
}

const HUGE = textOf({ description: 'x'.repeat(CATALOGUE_LIMITS.pageBytes) })

const COSTS_ITSELF: readonly (readonly [string, string | Buffer, string])[] = [
  ['nested too deep', textOf({ extensions: JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`) }), 'too_deep'],
  ['nested a hundred thousand deep', `{"resource":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 'too_deep'],
  ['larger than a page may be', HUGE, 'too_large'],
  ['larger than an entry may be', textOf({ description: 'x'.repeat(300_000) }), 'too_large'],
  ['with a payee twice', textOf({}).replace('"payTo":', '"payTo":"0xbad","payTo":'), 'repeated_member'],
  [
    'of broken UTF-8',
    Buffer.concat([
      Buffer.from('{"resource":"https://bad.example.com/'),
      Buffer.from([0xc3]),
      Buffer.from('"}'),
    ]),
    'not_utf8',
  ],
  ['that is no JSON', '{"resource":nothing}', 'malformed'],
  ['with a bracket too many', '{"resource":]}', 'malformed'],
  ['whose text does not end', '{"resource":"https://bad.example.com/}', 'malformed'],
  [
    'with a lone surrogate in its address',
    textOf({ resource: 'https://bad.example.com/\ud800' }),
    'resource',
  ],
  [
    'whose times are out of range',
    textOf({ accepts: [acceptV2({ maxTimeoutSeconds: 300 })] }).replace(':300', ':1e999'),
    'accepts',
  ],
  ['that lists the address of another once more', good(3), 'repeated'],
]

describe('an entry', () => {
  it.each(COSTS_ITSELF)('%s costs itself alone', async (_, text, reason) => {
    const texts: (string | Buffer)[] = Array.from({ length: 250 }, (_item, i) => good(i))
    texts.splice(137, 0, text)
    for (const total of [true, false]) {
      const { resources, dropped, end } = await readTexts(texts, { total })
      expect({ count: new Set(resources).size, dropped, end }).toEqual({
        count: 250,
        dropped: { [reason]: 1 },
        end: 'complete',
      })
    }
  })

  it('that makes its page too large is asked around in smaller and smaller pages, and whole ones again', async () => {
    const texts: string[] = Array.from({ length: 400 }, (_item, i) => good(i))
    texts.splice(10, 0, HUGE)
    const { asked, resources } = await readTexts(texts)
    expect(resources).toHaveLength(400)
    expect(asked.map(({ limit }) => limit).slice(0, 6)).toEqual([100, 50, 25, 12, 6, 12])
    expect(asked).toContainEqual({ limit: 1, offset: 10 })
    expect(asked.at(-1)).toEqual({ limit: 100, offset: expect.any(Number) })
    expect(asked.length).toBeLessThan(25)
  })

  it('beside which seven others are as large costs those eight, and many of them no endless asking', async () => {
    const some = Array.from({ length: 200 }, (_item, i) => good(i))
    const eight = await readTexts([
      ...some.slice(0, 50),
      ...Array.from({ length: 8 }, () => HUGE),
      ...some.slice(50),
    ])
    expect(eight).toMatchObject({ dropped: { too_large: 8 }, end: 'complete' })
    expect(eight.resources).toHaveLength(200)
    const everywhere = await readTexts(some.flatMap((text, i) => (i % 3 === 0 ? [text, HUGE] : [text])))
    expect(everywhere).toMatchObject({ end: 'too_large' })
    expect(everywhere.asked.length).toBeLessThanOrEqual(CATALOGUE_LIMITS.pages + CATALOGUE_LIMITS.smallPages)
  })

  it('that is dropped ends no catalogue, were it a page of them', async () => {
    const bad = Array.from({ length: 150 }, () => 'null')
    const { resources, dropped } = await readTexts([...bad, good(1)], { total: true })
    expect({ resources, dropped }).toEqual({
      resources: ['https://api.example.com/1'],
      dropped: { shape: 150 },
    })
    const same = Array.from({ length: 250 }, (_item, i) =>
      JSON.stringify(itemOf({ resource: `https://api.example.com/x${'/.'.repeat(i % 125)}` })),
    )
    expect((await readTexts([...same, good(1)])).resources).toContain('https://api.example.com/1')
  })

  it.each<[string, Record<string, unknown>]>([
    ['__proto__', JSON.parse('{"__proto__":{"own":true},"extensions":{"a":{"__proto__":{"b":1},"c":2}}}')],
    ['an invisible __proto__', { extensions: { a: { '__pro\u200bto__': { b: 1 }, c: 2 } } }],
    ['lone surrogates', { description: 'a\ud800b', extensions: { a: { '\udc00c': 2 } } }],
    ['numbers without end', { extensions: { a: { c: 2 } }, lastUpdated: 1e308 }],
  ])('with %s is listed without them', async (_, over) => {
    const outbound: Outbound = {
      get: async () => ({
        ok: true,
        response: {
          status: 200,
          statusText: '',
          headers: [],
          body: Buffer.from(`{"items":[${textOf(over)}]}`),
        },
      }),
    }
    const parts = { outbound, isImpostor: () => false, now: () => NOW }
    const { entries } = await readCatalogue(SOURCE, parts, new AbortController().signal)
    expect(entries).toHaveLength(1)
    const [entry] = entries
    expect(entry?.extensions ?? { a: { c: 2 } }).toEqual({ a: { c: 2 } })
    expect(Object.getPrototypeOf(entry?.extensions?.['a'] ?? {})).toBe(Object.prototype)
    expect(JSON.stringify(entry)).not.toMatch(/\\ud[89a-f]|own"/)
    expect(entry?.lastUpdated.startsWith('2026-11')).toBe(true)
  })
})

describe('a page', () => {
  it('is split where its own list is, whatever its texts hold', () => {
    const body = Buffer.from(
      ' {"note":"items","a":{"items":[9]},"items" : [ {"t":"],[\\"\\\\"} , [1,2],3 ] ,"resources":[5],"pagination":{"total":7}}',
    )
    const verdict = splitPage(body, 10)
    if (!verdict.ok) throw new Error(verdict.reason)
    expect(verdict.page.entries.map((bytes) => JSON.parse(Buffer.from(bytes).toString()))).toEqual([
      { t: '],["\\' },
      [1, 2],
      3,
    ])
    expect(verdict.page).toMatchObject({ count: 3, total: 7 })
  })

  it('of two megabytes of brackets, quotes or commas is walked once', () => {
    const size = CATALOGUE_LIMITS.pageBytes
    for (const filler of ['[', '"', ',', '\\', '{"a":', '""', '"\\"'])
      expect(
        splitPage(Buffer.from(`{"items":[${filler.repeat(size / filler.length)}`), 10),
        filler,
      ).toMatchObject({
        ok: false,
      })
  })
})
