import { z } from 'zod'
import { ContentWarning } from './document.ts'
import { Coverage, Sha256 } from './sources.ts'

const Entry = z.object({
  id: z.string().describe('`e1`, `e2`, …'),
  title: z.string().nullable(),
  url: z.string().nullable().describe('Canonical: without tracking parameters and fragment'),
  guid: z.string().nullable().describe('As the feed states it'),
  summary: z
    .string()
    .nullable()
    .describe('First sentences of what the feed says, at most 300 characters, no full text'),
  author: z.string().nullable(),
  published_at: z
    .string()
    .nullable()
    .describe('RFC 3339 with the zone as stated; null when the feed does not say'),
  published_raw: z.string().nullable(),
  date_from: z.enum(['published', 'updated']).nullable(),
  source: z.int().min(0).describe('Index in `feeds`'),
  also_in: z.array(z.int().min(0)).describe('Other feeds that carry the same entry'),
  categories: z.array(z.string()),
  sha256: Sha256.describe('Of title, url, guid and published_raw as canonical JSON (RFC 8785)'),
})

const Feed = z.object({
  source: z.int().min(0).describe('Index in `coverage.sources`'),
  url: z.string(),
  title: z.string().nullable(),
  home_url: z.string().nullable(),
  format: z.string().describe('Such as `rss-2.0`, `atom-1.0`, `rdf-1.0`, `json-feed-1.1`'),
  language: z.string().nullable(),
  updated_at: z.string().nullable(),
  rights: z.string().nullable(),
  entries_seen: z.int().min(0),
  entries_kept: z.int().min(0),
  duplicates: z.int().min(0),
  undated: z.int().min(0),
  without_link: z.int().min(0),
  truncated: z.boolean().describe('The feed holds more than what was read'),
  issues: z.array(z.string()),
})

export const FeedDigestResult = z.object({
  sample: z.boolean(),
  sample_notice: z.string().nullable(),
  trust: z.literal('untrusted').describe('A feed entry is a claim of its feed, not a verified fact'),
  feeds: z.array(Feed),
  entries: z.array(Entry).describe('Newest first, undated last; deduplicated'),
  limit: z.int(),
  warnings: z.array(ContentWarning),
  coverage: Coverage,
})
export type FeedDigestResult = z.infer<typeof FeedDigestResult>
