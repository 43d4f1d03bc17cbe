// Reports on the public sources of an outcome: the same words for pages, shops and feeds.
import { z } from 'zod'

/** Why a source gave nothing. Add freely, rename never. */
export const SOURCE_REASONS = [
  // The address itself
  'target_invalid',
  'target_blocked',
  'egress_paused',
  // These happen on the way.
  'name_not_found',
  'name_unresolved',
  'connect_failed',
  'tls_failed',
  'timeout',
  'connection_lost',
  'malformed_response',
  // The answer
  'http_status',
  'redirected',
  'redirect_loop',
  'too_many_redirects',
  'redirect_insecure',
  'redirect_invalid',
  'refresh_stub',
  'robots_disallowed',
  'use_reserved',
  'empty',
  'encoding_unsupported',
  'encoding_malformed',
  'type_unsupported',
  'binary',
  'invalid_json',
  'not_a_feed',
  'feed_is_html',
  'invalid_xml',
  'no_content',
  'no_product',
  // An answer that is no page, although its status says success
  'captcha',
  'access_denied',
  'server_error',
  'soft_404',
  'parked_domain',
  'age_gate',
  'paywall',
  'login_wall',
  'consent_wall',
  'empty_listing',
  'script_shell',
  'remnant',
  // A PDF that cannot be read
  'pdf_without_text',
  'pdf_text_unmapped',
  'pdf_encrypted',
  'pdf_truncated',
  'pdf_malformed',
  'pdf_too_many_pages',
  'pdf_too_complex',
  'pdf_active',
  'pdf_attachments',
  // The reading of the answer
  'budget_exceeded',
  'unreadable',
] as const
export const SourceReason = z.enum(SOURCE_REASONS)
export type SourceReason = z.infer<typeof SourceReason>

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

export const REDIRECT_RULES = ['same_site', 'none', 'any'] as const
export type RedirectRule = (typeof REDIRECT_RULES)[number]

export const RedirectHop = z.strictObject({
  url: z.string().describe('The address that led on'),
  http_status: z.int(),
  to: z.string(),
  kind: z
    .enum(['http', 'meta_refresh', 'feed_link'])
    .describe(
      '`meta_refresh`: a page that sends its readers on at once; `feed_link`: a page that names its feed',
    ),
})
export type RedirectHop = z.infer<typeof RedirectHop>

export const ROBOTS_POLICIES = ['off', 'report', 'obey_ai', 'obey'] as const
export type RobotsPolicy = (typeof ROBOTS_POLICIES)[number]

/** How a source may be read, as its site and its page say. */
export const RobotsReport = z.strictObject({
  policy: z.enum(ROBOTS_POLICIES).describe('The policy of this gateway: docs/guides/outcomes.md'),
  robots_txt: z
    .enum(['allowed', 'disallowed', 'unavailable', 'not_waited_for'])
    .describe('`unavailable`: the site could not be asked'),
  robots_line: z.int().nullable().describe('The line of robots.txt that decided'),
  names_us: z.boolean().describe('A group of robots.txt names this gateway'),
  directives: z
    .array(z.string())
    .describe('Of X-Robots-Tag and meta elements, such as `noai` or `nosnippet`'),
  content_signals: z.record(z.string(), z.boolean()).describe('`Content-Signal` of robots.txt'),
  tdm_reserved: z
    .boolean()
    .nullable()
    .describe('Text and data mining is reserved (TDM Reservation Protocol)'),
  tdm_policy: z.string().nullable().describe('Where the owner says on which terms'),
})
export type RobotsReport = z.infer<typeof RobotsReport>

export const SourceAttempt = z.strictObject({
  url: z.string(),
  role: z.enum(['source', 'fallback']),
  ok: z.boolean(),
  reason: SourceReason.nullable(),
  detail: z.string().nullable().describe('For people: what happened and what to send instead'),
  http_status: z.int().nullable(),
  redirect_to: z.string().nullable().describe('Where a redirect pointed that was not followed'),
  redirects: z
    .array(RedirectHop)
    .optional()
    .describe('Followed, in their order; left out where there were none'),
  robots: RobotsReport.optional(),
  duration_ms: z.int().min(0),
})
export type SourceAttempt = z.infer<typeof SourceAttempt>

/** A source that was read: its address, when it was read, and the hash of its content. */
export const RetrievedSource = z.strictObject({
  url: z.string().describe('The address that answered: the source itself or its fallback'),
  http_status: z.int(),
  retrieved_at: z.string().describe('RFC 3339, UTC: when the source last said so'),
  age_seconds: z
    .int()
    .min(0)
    .describe('How old the answer is: since then, and in caches on the way before (its Age header)'),
  cache: z
    .enum(['miss', 'hit', 'revalidated'])
    .describe(
      '`miss`: sent by the source now; `revalidated`: confirmed by the source now (304); `hit`: kept from a moment ago, ' +
        'not older than `max_age_seconds`',
    ),
  content_type: z.string().nullable().describe('As sent'),
  format: z.enum(['html', 'text', 'json', 'feed', 'pdf']),
  charset: z
    .strictObject({
      name: z.string(),
      from: z.enum(['bom', 'header', 'meta', 'content', 'detected']),
      replaced: z.int().min(0).describe('Characters whose bytes mean nothing in this charset'),
      confidence: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe('Of a charset that was guessed (`detected`), because nothing declares one'),
      warning: z
        .enum(['mojibake'])
        .optional()
        .describe(
          '`mojibake`: the text seems to be in another charset than the source says; compare it before use',
        ),
    })
    .nullable(),
  bytes: z.int().min(0).describe('Read, after decompression'),
  truncated: z.boolean().describe('The source is longer than what is read (2 MiB)'),
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
  source_sha256: Sha256.describe('Of the raw bytes, after decompression'),
  text_sha256: Sha256.nullable().describe('Of the normalised text; null where there is none'),
})
export type RetrievedSource = z.infer<typeof RetrievedSource>

export const SourceCoverage = z.strictObject({
  requested: z.string(),
  ok: z.boolean(),
  fallback_used: z.boolean(),
  reason: SourceReason.nullable().describe('Of the first address, where nothing was usable'),
  attempts: z.array(SourceAttempt),
  retrieved: RetrievedSource.nullable(),
})
export type SourceCoverage = z.infer<typeof SourceCoverage>

export const Coverage = z.strictObject({
  asked: z.int().min(0),
  usable: z.int().min(0),
  failed: z.int().min(0),
  complete: z.boolean().describe('Every source was usable, and none of them was cut'),
  sources: z.array(SourceCoverage).describe('In the order of the request'),
})
export type Coverage = z.infer<typeof Coverage>
