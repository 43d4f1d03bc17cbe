// feed-digest: up to three feeds in, their newest entries out, deduplicated, each with its source. No full text.
import type { RedirectRule } from '../../../schemas/sources.ts'
import { SAMPLE_NOTICE } from '../sample.ts'
import { digestText } from '../digest.ts'
import type { FeedReading } from '../feeds/feed.ts'
import type { Capability, Delivered, PreparedJob, RunContext, SourceRequest } from '../ports.ts'
import type { Reading } from '../reading.ts'
import { citeSources, readMaxAge, readRedirects, showSources, toReading } from './source-job.ts'
import { requestedSources, toCanonicalUrl } from '../sources/requested.ts'
import { sourcesUnusable } from '../sources/unusable.ts'

export const MAX_ENTRIES = 30

const SAMPLES = ['hardware', 'software'].map((name) => `https://samples.agent-gateway.test/feeds/${name}.xml`)

/** @param defaults feeds that are read where the request names none */
export function createFeedDigest({ defaults }: { readonly defaults: readonly string[] }): Capability {
  const toSources = (urls: readonly string[]): readonly SourceRequest[] =>
    urls.map((url) => ({ url: toCanonicalUrl(url), fallbacks: [] }))
  return {
    id: 'feed-digest',
    needs: [],
    uses: ['url', 'urls', 'sources', 'limit', 'max_age_seconds', 'redirects'],
    prepare(claims, { isDemo }): PreparedJob {
      const named = isDemo ? toSources(SAMPLES) : requestedSources(claims)
      const job: Job = {
        sources: named.length > 0 ? named : toSources(defaults),
        limit: (claims.get('limit') as number | undefined) ?? MAX_ENTRIES,
        maxAgeSeconds: readMaxAge(claims, isDemo),
        redirects: readRedirects(claims),
        isDemo,
      }
      return {
        request: {
          sources: showSources(job.sources),
          limit: job.limit,
          max_age_seconds: job.maxAgeSeconds,
          redirects: job.redirects,
        },
        run: (context) => runDigest(job, context),
      }
    },
  }
}

interface Job {
  readonly sources: readonly SourceRequest[]
  readonly limit: number
  readonly maxAgeSeconds: number
  readonly redirects: RedirectRule
  readonly isDemo: boolean
}

const UNREADABLE = {
  budget_exceeded: 'Reading the feed took longer than a feed may take. Send a smaller feed.',
  unreadable: 'The feed could not be read. Send another address of it.',
} as const

/** Entries that say nothing are nothing to pay for: the fallback may have some that do. */
function refuseBlank(reading: Reading<FeedReading>): Reading<FeedReading> {
  const isBlank = ({ title, url, guid, summary }: FeedReading['entries'][number]) =>
    [title, url, guid, summary].every((text) => text === null)
  return reading.ok && reading.value.entries.every(isBlank)
    ? { ok: false, reason: 'no_content', detail: 'No entry of the feed says anything.' }
    : reading
}

async function runDigest(job: Job, { gather, analyser, signal }: RunContext): Promise<Delivered> {
  const { coverage, usable } = await gather<FeedReading>(
    job.sources,
    { wanted: 'feed', maxAgeSeconds: job.maxAgeSeconds, redirects: job.redirects, signal },
    async (input) => refuseBlank(toReading(await analyser.run('feed', input), UNREADABLE)),
  )
  if (usable.length === 0)
    throw sourcesUnusable(
      'No source is a feed with entries, so nothing was charged. `coverage` says why for each; send addresses of RSS, Atom ' +
        'or JSON feeds.',
      coverage,
    )
  const digested = await analyser.run('digest', {
    sources: usable.map(({ source, fetched, reading }) => ({
      source,
      url: fetched.url,
      retrievedAt: fetched.retrievedAt,
      reading: reading.value,
    })),
    limit: job.limit,
  })
  if (!digested.ok)
    throw sourcesUnusable(
      'Comparing the entries of these feeds took longer than it may, so nothing was charged. Send one feed at a time.',
      coverage,
      digested.reason,
    )
  const digest = digested.value
  return {
    result: {
      sample: job.isDemo,
      sample_notice: job.isDemo ? SAMPLE_NOTICE : null,
      trust: 'untrusted',
      ...digest,
      limit: job.limit,
      coverage,
    },
    sourceSha256: null,
    textSha256: null,
    sources: citeSources(usable),
    parts: digest.entries.flatMap((entry, at) =>
      (['title', 'summary'] as const).flatMap((name) => {
        const text = entry[name]
        return text === null ? [] : [{ pointer: `/entries/${at}/${name}`, sha256: digestText(text) }]
      }),
    ),
    // The time at which a source was read is part of the result.
    deterministic: true,
  }
}
