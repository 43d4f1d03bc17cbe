import { describe, expect, it } from 'vitest'
import { FeedDigestResult } from '../../../schemas/feed-digest.ts'
import type { GatewayError } from '../../../src/core/errors.ts'
import { createFeedDigest, MAX_ENTRIES } from '../../../src/outcomes/capabilities/feed-digest.ts'
import type { ClaimField } from '../../../src/outcomes/claims.ts'
import { findDescriptor } from '../../../src/outcomes/descriptors.ts'
import { digestText } from '../../../src/outcomes/digest.ts'
import type { Analyser, SourceReader } from '../../../src/outcomes/ports.ts'
import { createGather } from '../../../src/outcomes/sources/gather.ts'
import { createSampleReader } from '../../../src/outcomes/sources/sample.ts'
import { rss } from '../../support/feeds.ts'
import { inThread } from '../../support/outcomes.ts'

const NOW = Date.UTC(2026, 1, 10)
const DEFAULTS = ['https://one.example/feed', 'https://two.example/feed']
const capability = createFeedDigest({ defaults: DEFAULTS })
const prepare = (claims: Partial<Record<ClaimField, unknown>>, isDemo = false) =>
  capability.prepare(new Map(Object.entries(claims) as [ClaimField, unknown][]), { isDemo })

/** Serves texts by address; anything else is a 404. */
const readerOf = (pages: Readonly<Record<string, string>>): SourceReader => ({
  async read(url) {
    const text = pages[url]
    if (text === undefined) return { ok: false, reason: 'http_status', detail: 'Not there.', httpStatus: 404 }
    const body = Buffer.from(text)
    return {
      ok: true,
      source: {
        url,
        status: 200,
        contentType: 'application/xml',
        contentLanguage: null,
        etag: null,
        lastModified: null,
        body,
        isCut: false,
        sha256: digestText(text),
        retrievedAt: NOW,
        ageSeconds: 0,
        cache: 'miss',
      },
    }
  },
})
const contextOf = (reader: SourceReader) => ({
  gather: createGather({ reader, rules: { ports: [443] }, now: () => NOW }),
  analyser: inThread,
  signal: new AbortController().signal,
})

describe('the request', () => {
  it('names the feeds of the configuration, 30 entries and no stored answer where nothing is said', () => {
    expect(prepare({}).request).toEqual({
      sources: DEFAULTS.map((url) => ({ url, fallbacks: [] })),
      limit: 30,
      max_age_seconds: 0,
      redirects: 'same_site',
    })
    expect(findDescriptor('feed-digest')!.when_to_use).toContain(`${MAX_ENTRIES} by default`)
  })

  it('takes sources, limit and age as they were sent', () => {
    const sources = [{ url: 'https://a.example/feed', fallbacks: ['https://b.example/feed'] }]
    expect(prepare({ sources, limit: 5, max_age_seconds: 60 }).request).toEqual({
      sources,
      limit: 5,
      max_age_seconds: 60,
      redirects: 'same_site',
    })
  })

  it('of a demo reads the samples, whatever else it says', () => {
    const { request } = prepare({ url: 'https://a.example/feed', max_age_seconds: 9 }, true)
    expect(request).toMatchObject({ max_age_seconds: 0 })
    expect(JSON.stringify(request['sources'])).not.toContain('a.example')
  })
})

describe('the result', () => {
  const page = (title: string) =>
    rss(`<title>Feed</title><item><title>${title}</title><description>Text.</description></item>`)

  it('is a digest of the feeds that could be read, and says what became of the others', async () => {
    const { result, sources, parts } = await prepare({}).run(
      contextOf(readerOf({ [DEFAULTS[1]!]: page('Two') })),
    )
    const digest = FeedDigestResult.parse(result)
    expect(digest).toEqual(result)
    expect(digest).toMatchObject({
      sample: false,
      sample_notice: null,
      feeds: [{ source: 1, url: DEFAULTS[1] }],
      entries: [{ title: 'Two', source: 0 }],
      coverage: { asked: 2, usable: 1, failed: 1, complete: false },
    })
    expect(sources).toEqual([
      { url: DEFAULTS[1], bytes: page('Two').length, sha256: digestText(page('Two')) },
    ])
    expect(parts).toEqual([
      { pointer: '/entries/0/title', sha256: digestText('Two') },
      { pointer: '/entries/0/summary', sha256: digestText('Text.') },
    ])
  })

  it('goes to the fallback where the source is no feed', async () => {
    const pages = {
      'https://a.example/': '<html><body>page</body></html>',
      'https://b.example/feed': page('B'),
    }
    const job = prepare({ sources: [{ url: 'https://a.example/', fallbacks: ['https://b.example/feed'] }] })
    const { result } = await job.run(contextOf(readerOf(pages)))
    expect(result.coverage).toMatchObject({
      usable: 1,
      sources: [{ fallback_used: true, attempts: [{ reason: 'feed_is_html' }, { ok: true }] }],
    })
  })

  it('is none, and not charged, without a usable feed', async () => {
    const failed = prepare({}).run(contextOf(readerOf({ [DEFAULTS[0]!]: rss('<title>Nothing yet</title>') })))
    const error = (await failed.catch((thrown: unknown) => thrown)) as GatewayError
    expect(error).toMatchObject({
      code: 'sources_unusable',
      // For the log.
      reason: 'http_status no_content',
      extras: { coverage: { usable: 0, sources: [{ reason: 'no_content' }, { reason: 'http_status' }] } },
    })
  })

  it('is none, and not charged, where no entry says anything', async () => {
    const blank = rss(
      '<title>Feed</title><item/><item><title>&#x200b;</title><pubDate>today</pubDate></item>',
    )
    await expect(prepare({}).run(contextOf(readerOf({ [DEFAULTS[0]!]: blank })))).rejects.toMatchObject({
      code: 'sources_unusable',
      extras: { coverage: { sources: [{ reason: 'no_content' }, {}] } },
    })
  })

  it('gives a reason where reading was cut off', async () => {
    const context = contextOf(readerOf({ [DEFAULTS[0]!]: page('x') }))
    const analyser = { ...inThread, run: async () => ({ ok: false, reason: 'budget_exceeded' }) as const }
    const error = (await prepare({})
      .run({ ...context, analyser })
      .catch((thrown: unknown) => thrown)) as GatewayError
    expect(error).toMatchObject({ extras: { coverage: { sources: [{ reason: 'budget_exceeded' }, {}] } } })
  })

  it('is none, and not charged, where comparing the entries took too long: titles are theirs to choose', async () => {
    const context = contextOf(readerOf({ [DEFAULTS[0]!]: page('x') }))
    const analyser: Analyser = {
      ...inThread,
      run: async (name, input) =>
        name === 'digest' ? { ok: false, reason: 'budget_exceeded' } : inThread.run(name, input),
    }
    await expect(prepare({}).run({ ...context, analyser })).rejects.toMatchObject({
      code: 'sources_unusable',
      reason: 'budget_exceeded http_status',
      extras: { coverage: { usable: 1 } },
    })
  })

  it('of a demo is marked as a sample, and shows one entry that both feeds carry', async () => {
    const { result } = await prepare({}, true).run(contextOf(createSampleReader(() => NOW)))
    const digest = FeedDigestResult.parse(result)
    expect(digest).toMatchObject({
      sample: true,
      sample_notice: expect.any(String),
      coverage: { complete: true },
    })
    expect(digest.entries.some(({ also_in }) => also_in.length > 0)).toBe(true)
  })
})
