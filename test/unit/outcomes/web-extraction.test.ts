// web-extraction put together: what is asked, what comes back, what is cut, and when nothing may be charged.
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WebExtractionResult } from '../../../schemas/web-extraction.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { MAX_DOCUMENT_BYTES, webExtraction } from '../../../src/outcomes/capabilities/web-extraction.ts'
import type { ClaimField } from '../../../src/outcomes/claims.ts'
import type { PageReading } from '../../../src/outcomes/reading.ts'
import type { Analyser, FetchedSource, SourceReader } from '../../../src/outcomes/ports.ts'
import type { Reading } from '../../../src/outcomes/reading.ts'
import { createGather } from '../../../src/outcomes/sources/gather.ts'
import { fitPage } from '../../../src/outcomes/text/fit.ts'
import { inThread } from '../../support/outcomes.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

interface Page {
  readonly type: string
  readonly body: string
}
const article = (title: string, ...paragraphs: string[]): Page => ({
  type: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><article><h1>${title}</h1>${paragraphs
    .map((paragraph) => `<p>${paragraph}</p>`)
    .join('')}</article></main></body></html>`,
})

/** Reads from a table; what is not in it does not answer. */
function readerOf(pages: Readonly<Record<string, Page>>, asked: unknown[] = []): SourceReader {
  return {
    async read(url, { wanted, maxAgeSeconds }) {
      asked.push({ url, wanted, maxAgeSeconds })
      const page = pages[url]
      if (!page) return { ok: false, reason: 'connect_failed', detail: 'Nothing answered.' }
      const body = Buffer.from(page.body)
      const source: FetchedSource = {
        url,
        status: 200,
        contentType: page.type,
        contentLanguage: null,
        etag: null,
        lastModified: null,
        body,
        isCut: false,
        sha256: sha256(body),
        retrievedAt: NOW,
        ageSeconds: 0,
        cache: 'miss',
      }
      return { ok: true, source }
    },
  }
}

const prepare = (claims: Partial<Record<ClaimField, unknown>>, isDemo = false) =>
  webExtraction.prepare(new Map(Object.entries(claims)) as ReadonlyMap<ClaimField, unknown>, { isDemo })

async function run(
  claims: Partial<Record<ClaimField, unknown>>,
  pages: Readonly<Record<string, Page>>,
  analyser: Analyser = inThread,
  asked: unknown[] = [],
) {
  const gather = createGather({ reader: readerOf(pages, asked), rules: { ports: [443] }, now: () => NOW })
  const delivered = await prepare(claims).run({ gather, analyser, signal: new AbortController().signal })
  return { ...delivered, result: WebExtractionResult.parse(delivered.result) }
}

const A = 'https://a.example/one'
const B = 'https://b.example/two'
const C = 'https://c.example/three'
const TEA =
  'Green tea is steeped in water of seventy degrees for two minutes, and never in boiling water at all. '
const COFFEE =
  'Coffee is ground fresh before every cup, and the water for it is hotter than the water for tea. '
const pages = { [A]: article('Tea', TEA.repeat(3)), [B]: article('Coffee', COFFEE.repeat(3)) }

describe('what is asked for', () => {
  it('is normalised, with defaults filled in', () => {
    expect(prepare({ url: A }).request).toEqual({
      sources: [{ url: A, fallbacks: [] }],
      query: null,
      max_age_seconds: 0,
      redirects: 'same_site',
    })
    expect(
      prepare({
        urls: [A],
        sources: [{ url: B, fallbacks: [C] }],
        query: '  hot\u200b  water ',
        max_age_seconds: 30,
        redirects: 'same_site',
      }).request,
    ).toEqual({
      sources: [
        { url: A, fallbacks: [] },
        { url: B, fallbacks: [C] },
      ],
      query: 'hot water',
      max_age_seconds: 30,
      redirects: 'same_site',
    })
  })

  it('is no query when it holds nothing to see', () => {
    expect(prepare({ url: A, query: ' \u200b\u202e ' }).request['query']).toBeNull()
  })

  it('is the sample in a demo, whatever else was said', () => {
    const { request } = prepare({ url: A, max_age_seconds: 9 }, true)
    expect(JSON.stringify(request)).not.toContain('a.example')
    expect(request['max_age_seconds']).toBe(0)
  })

  it('reaches the sources as pages, with the age that is allowed', async () => {
    const asked: unknown[] = []
    await run({ url: A, max_age_seconds: 7 }, pages, inThread, asked)
    expect(asked).toMatchObject([{ url: A, wanted: 'page', maxAgeSeconds: 7 }])
  })
})

describe('what comes back', () => {
  it('is a document of each source, and digests that recompute', async () => {
    const { result, parts, sources, sourceSha256, textSha256 } = await run({ urls: [A, B] }, pages)
    expect(
      result.documents.map(({ id, source, url, format, trust }) => ({ id, source, url, format, trust })),
    ).toEqual([
      { id: 'd1', source: 0, url: A, format: 'html', trust: 'untrusted' },
      { id: 'd2', source: 1, url: B, format: 'html', trust: 'untrusted' },
    ])
    expect(result.documents[0]).toMatchObject({
      retrieved_at: '2026-11-21T12:00:00.000Z',
      source_sha256: sha256(pages[A]!.body),
      text_sha256: sha256(result.documents[0]!.document.text!),
    })
    expect(sources[1]).toEqual({
      url: B,
      bytes: Buffer.byteLength(pages[B]!.body),
      sha256: sha256(pages[B]!.body),
    })
    expect([sourceSha256, textSha256]).toEqual([null, null])
    expect(parts.map(({ pointer }) => pointer)).toEqual([
      '/documents/0/document/text',
      '/documents/0/document/markdown',
      '/documents/1/document/text',
      '/documents/1/document/markdown',
    ])
    for (const { pointer, sha256: digest } of parts)
      expect(sha256(resolve(result, pointer)), pointer).toBe(digest)
  })

  it('names passages by document, at offsets in its text', async () => {
    const { result } = await run({ urls: [A, B], query: 'How is coffee ground?' }, pages)
    expect(result.passages.length).toBeGreaterThan(0)
    for (const { document: id, text, start, end } of result.passages) {
      const found = result.documents.find((each) => each.id === id)!
      expect([...found.document.text!].slice(start, end).join('')).toBe(text)
    }
    expect(result.passages[0]).toMatchObject({ document: 'd2', terms: ['coffee', 'ground'] })
  })

  it('groups sources that say the same', async () => {
    const three = { ...pages, [C]: article('Another title', TEA.repeat(3)) }
    const { result } = await run({ urls: [A, B, C] }, three)
    expect(result.duplicates).toMatchObject([{ documents: ['d1', 'd3'] }])
  })

  it('is what there is when a source fails, and says which and why', async () => {
    const { result } = await run({ urls: [C, A] }, pages)
    expect(result.documents.map(({ id, source }) => [id, source])).toEqual([['d1', 1]])
    expect(result.coverage).toMatchObject({ asked: 2, usable: 1, failed: 1, complete: false })
    expect(result.coverage.sources[0]).toMatchObject({ requested: C, ok: false, reason: 'connect_failed' })
  })

  it('comes from the fallback where the source fails', async () => {
    const { result } = await run({ sources: [{ url: C, fallbacks: [A] }] }, pages)
    expect(result.documents[0]).toMatchObject({ url: A, source: 0 })
    expect(result.coverage.sources[0]).toMatchObject({ ok: true, fallback_used: true })
  })

  it('is text and JSON as well', async () => {
    const body = '{"tea": {"name": "Sencha", "__proto__": {"polluted": true}}}'
    const { result } = await run(
      { urls: [A, B] },
      { [A]: { type: 'text/plain', body: `${TEA}\n\n${COFFEE}` }, [B]: { type: 'application/json', body } },
    )
    expect(result.documents.map(({ format }) => format)).toEqual(['text', 'json'])
    expect(JSON.stringify(result.documents[1]!.json)).toBe(JSON.stringify(JSON.parse(body)))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('is the same for the same bytes', async () => {
    const claims = { urls: [A, B], query: 'water' }
    const [one, two] = [await run(claims, pages), await run(claims, pages)]
    expect(one).toEqual(two)
    expect(one.deterministic).toBe(true)
  })
})

describe('what is not delivered', () => {
  it('is not charged: no usable source is an error with its coverage', async () => {
    const thrown = await run({ urls: [C, B] }, {}).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(GatewayError)
    expect(thrown).toMatchObject({
      code: 'sources_unusable',
      reason: 'connect_failed',
      extras: { coverage: { asked: 2, usable: 0, failed: 2, sources: [{ requested: C }, { requested: B }] } },
    })
  })

  it.each(['budget_exceeded', 'unreadable'] as const)(
    'is a page that is %s; the others are',
    async (reason) => {
      const analyser: Analyser = {
        ...inThread,
        run: (async (name: 'page', input: Parameters<typeof inThread.run>[1]) =>
          name === 'page' && (input as { url: string }).url === A
            ? { ok: false, reason }
            : inThread.run(name, input as never)) as Analyser['run'],
      }
      const { result } = await run({ urls: [A, B] }, pages, analyser)
      expect(result.documents.map(({ url }) => url)).toEqual([B])
      expect(result.coverage.sources[0]).toMatchObject({ ok: false, reason })
    },
  )

  it('are passages and duplicates that take too long: the answer says so, and is not called reproducible', async () => {
    const analyser: Analyser = {
      ...inThread,
      run: (async (name: 'page', input: never) =>
        (name as string) === 'relate'
          ? { ok: false, reason: 'budget_exceeded' }
          : inThread.run(name, input)) as Analyser['run'],
    }
    const { result, deterministic } = await run({ urls: [A, B], query: 'tea' }, pages, analyser)
    expect(result.documents).toHaveLength(2)
    expect(result).toMatchObject({ passages: [], duplicates: [], truncated: ['passages', 'duplicates'] })
    expect(deterministic).toBe(false)
  })

  it('is a refusal of the gateway itself: that is passed on', async () => {
    const analyser: Analyser = {
      ...inThread,
      run: async () => {
        throw new GatewayError('overloaded', 'Too many pages are waiting.')
      },
    }
    await expect(run({ url: A }, pages, analyser)).rejects.toMatchObject({ code: 'overloaded' })
  })
})

describe('an answer is bounded', () => {
  const giant = (seed: string): Page => ({
    type: 'text/html; charset=utf-8',
    body: `<html lang="ar"><body><main><h1>${seed}</h1>${Array.from(
      { length: 4000 },
      (_, i) =>
        `<p>"${seed}" \\ قال إن هذا النص طويل جدا ويستمر إلى ما لا نهاية ${i} <a href="/${seed}/${i}/${'x'.repeat(200)}">رابط</a></p>`,
    ).join('')}</main></body></html>`,
  })

  it('each of three giants keeps a third, and what was cut is named', async () => {
    const { result } = await run({ urls: [A, B, C] }, { [A]: giant('a'), [B]: giant('b'), [C]: giant('c') })
    for (const { document, truncated, text_sha256 } of result.documents) {
      const bytes = Buffer.byteLength(JSON.stringify(document))
      expect(bytes).toBeLessThanOrEqual(MAX_DOCUMENT_BYTES / 3)
      expect(bytes, 'and uses it').toBeGreaterThan(MAX_DOCUMENT_BYTES / 5)
      expect(truncated).toEqual(expect.arrayContaining(['markdown', 'text']))
      expect(text_sha256).toBe(sha256(document.text!))
    }
  })

  const reading = (over: { text: string; markdown: string; links: number; json?: unknown }) =>
    ({
      ok: true as const,
      format: 'html' as const,
      charset: null,
      textSha256: sha256(over.text),
      value: {
        document: {
          title: 'T',
          byline: null,
          site_name: null,
          language: null,
          description: null,
          canonical_url: null,
          published_time: null,
          modified_time: null,
          headings: [{ level: 1, text: 'T' }],
          text: over.text,
          markdown: over.markdown,
          word_count: 3,
          links: Array.from({ length: over.links }, (_, i) => ({
            url: `https://a.example/${i}`,
            absolute: true,
            text: '',
            in_text: true,
          })),
          tables: [
            {
              caption: null,
              header: ['a'],
              rows: Array.from({ length: over.links }, (_, i) => [`row ${i}`]),
            },
          ],
          structured_data: { types: [], products: [], invalid_scripts: 0 },
        },
        ...(over.json === undefined ? {} : { json: over.json }),
        mode: 'main',
        truncated: [],
        warnings: [],
      },
    }) as unknown as Reading<PageReading> & { ok: true }

  it('leaves alone what fits, to the byte', () => {
    const page = reading({ text: 'one two three', markdown: 'one two three', links: 3 })
    const bytes = Buffer.byteLength(JSON.stringify(page.value))
    expect(fitPage(page, bytes)).toBe(page)
    expect(fitPage(page, bytes - 1)).not.toBe(page)
  })

  it('passes on a reading that failed', () => {
    const failed = { ok: false as const, reason: 'empty' as const, detail: '' }
    expect(fitPage(failed, 1)).toBe(failed)
  })

  it('is kept for any text: small enough, a beginning of what was there, with its own digest', () => {
    const piece = fc.constantFrom('word ', '"', '\\', '\n\n', 'ش', '漢', '😀', '\u0001', '\ud800')
    const text = fc.array(piece, { maxLength: 400 }).map((parts) => parts.join('').repeat(20))
    fc.assert(
      fc.property(text, text, fc.nat(60), fc.boolean(), (one, two, links, withJson) => {
        const page = reading({ text: one, markdown: two, links, ...(withJson ? { json: { one } } : {}) })
        const fitted = fitPage(page, 3000) as typeof page
        expect(Buffer.byteLength(JSON.stringify(fitted.value))).toBeLessThanOrEqual(3000)
        expect(one.startsWith(fitted.value.document.text)).toBe(true)
        expect(two.startsWith(fitted.value.document.markdown)).toBe(true)
        expect(fitted.textSha256).toBe(sha256(fitted.value.document.text))
        const isCut = (name: string) => fitted.value.truncated.includes(name)
        expect(isCut('links')).toBe(fitted.value.document.links.length < links)
        expect(isCut('tables')).toBe((fitted.value.document.tables[0]?.rows.length ?? 0) < links)
        if (!isCut('text')) expect(fitted.value.document.text).toBe(one)
        if (!isCut('markdown')) expect(fitted.value.document.markdown).toBe(two)
        if (!isCut('json')) expect(fitted.value.json).toEqual(page.value.json)
      }),
    )
  })
})

function resolve(value: unknown, pointer: string): string {
  let at = value as Record<string, unknown>
  for (const key of pointer.slice(1).split('/')) at = at[key] as Record<string, unknown>
  return at as unknown as string
}
