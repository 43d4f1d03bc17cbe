import { z } from 'zod'
import { ContentWarning } from './document.ts'
import { Coverage, Sha256 } from './sources.ts'

const Entry = z.strictObject({
  id: z.string().describe('`e1`, `e2`, …'),
  title: z.string().nullable(),
  url: z
    .string()
    .nullable()
    .describe(
      'Canonical: without tracking parameters, and without fragment unless one page has all the entries',
    ),
  guid: z.string().nullable().describe('As the feed states it'),
  summary: z
    .string()
    .nullable()
    .describe('First sentences of what the feed says, at most 300 characters, no full text'),
  author: z.string().nullable(),
  published_at: z
    .string()
    .nullable()
    .describe('RFC 3339 with the zone as stated; null when the feed gives no date that can be read'),
  published_raw: z.string().nullable().describe('The date as the feed writes it'),
  date_from: z
    .enum(['published', 'date', 'created', 'updated'])
    .nullable()
    .describe('Which date it is; `date`: the feed does not say of what'),
  date_precision: z.enum(['year', 'month', 'day', 'minute', 'second']).nullable(),
  zone_stated: z.boolean().describe('False: the feed names no certain zone, and `published_at` takes UTC'),
  in_future: z
    .boolean()
    .describe('Dated later than the feed was read: it stands behind entries with a date that can be true'),
  source: z.int().min(0).describe('Index in `feeds`'),
  also_in: z.array(z.int().min(0)).describe('Other feeds that carry the same entry'),
  taken_from: z
    .strictObject({ title: z.string().nullable(), url: z.string().nullable() })
    .nullable()
    .describe('The feed it was republished from, where it says so'),
  categories: z.array(z.string()),
  warnings: z.array(z.string()).describe('Codes of `warnings` that this entry gives cause for'),
  sha256: Sha256.describe('Of {title, url, guid, published_raw} as canonical JSON (RFC 8785)'),
})

const Feed = z.strictObject({
  source: z.int().min(0).describe('Index in `coverage.sources`'),
  url: z.string(),
  title: z.string().nullable(),
  home_url: z.string().nullable(),
  format: z.string().describe('Such as `rss-2.0`, `atom-1.0`, `rdf-1.0`, `json-feed-1.1`'),
  language: z.string().nullable(),
  updated_at: z.string().nullable().describe('RFC 3339, as the feed states it'),
  rights: z.string().nullable(),
  entries_seen: z
    .int()
    .min(0)
    .describe('Entries of the feed: `entries_kept` + `duplicates` + `beyond_limit`'),
  entries_kept: z.int().min(0).describe('In `entries`'),
  duplicates: z.int().min(0).describe('Of entries that were kept, in this feed or in another'),
  beyond_limit: z.int().min(0).describe('Older than what `limit` lets through'),
  undated: z.int().min(0).describe('Of those seen: without a date that can be read'),
  without_link: z.int().min(0).describe('Of those seen: without an http or https address'),
  truncated: z.boolean().describe('The feed holds more than what was read'),
  issues: z.array(z.string()).describe('What is wrong with the feed, as codes'),
})

export const FeedDigestResult = z.strictObject({
  sample: z.boolean(),
  sample_notice: z.string().nullable(),
  trust: z.literal('untrusted').describe('A feed entry is a claim of its feed, not a verified fact'),
  feeds: z.array(Feed),
  entries: z
    .array(Entry)
    .describe('Newest first, undated last; deduplicated by GUID, canonical URL and near-equal title'),
  limit: z.int().min(1).max(30).describe('30 where the request names none'),
  warnings: z.array(ContentWarning),
  coverage: Coverage,
})
export type FeedDigestResult = z.infer<typeof FeedDigestResult>
export type DigestEntry = z.infer<typeof Entry>
export type DigestedFeed = z.infer<typeof Feed>
