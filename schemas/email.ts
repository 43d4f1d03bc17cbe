import { z } from 'zod'
import { Timestamp } from './http.ts'

export const EmailDecision = z.enum(['accept', 'review', 'reject'])
export type EmailDecision = z.infer<typeof EmailDecision>

/** Stable words. What rejects is deterministic; what may change by itself is a review. */
export const EMAIL_REASONS = {
  // reject
  syntax: 'reject',
  domain_invalid: 'reject',
  domain_not_found: 'reject',
  null_mx: 'reject',
  no_mail_route: 'reject',
  unreachable_route: 'reject',
  disposable: 'reject',
  // review
  probably_disposable: 'review',
  role_address: 'review',
  typo: 'review',
  misleading_name: 'review',
  angle_brackets: 'review',
  unusual_character: 'review',
  quoted_local_part: 'review',
  address_literal: 'review',
  special_use_domain: 'review',
  confusable: 'review',
  dns_timeout: 'review',
  dns_failure: 'review',
  mailbox_undeliverable: 'review',
  sends_no_mail: 'review',
  throwaway_route: 'review',
  new_domain: 'review',
  // accept, worth knowing
  sandbox_domain: 'accept',
  implicit_mx: 'accept',
  catch_all_likely: 'accept',
  display_name: 'accept',
  subaddress: 'accept',
  free_provider: 'accept',
  relay: 'accept',
} as const satisfies Record<string, EmailDecision>
export type EmailReason = keyof typeof EMAIL_REASONS
export const EmailReasonName = z.enum(Object.keys(EMAIL_REASONS) as [EmailReason, ...EmailReason[]])

const verdict = z.enum(['pass', 'fail', 'unknown', 'skipped'])

export const EmailChecks = z.strictObject({
  syntax: z.strictObject({
    result: verdict,
    rule: z
      .string()
      .nullable()
      .describe(
        'The rule that an invalid address breaks, or what is unusual about a valid one, as a stable word',
      ),
    detail: z.string().nullable(),
    position: z.int().nullable().describe('Character of the address where it breaks'),
  }),
  domain: z.strictObject({
    result: verdict,
    ascii: z.string().nullable().describe('A-labels (UTS 46)'),
    unicode: z.string().nullable(),
    registrable: z.string().nullable(),
    registered_on: z
      .string()
      .nullable()
      .describe('Day (UTC) it was registered; null unless a source of such days is configured and knows'),
  }),
  mx: z.strictObject({
    result: verdict,
    hosts: z.array(z.strictObject({ host: z.string(), priority: z.int() })),
    null_mx: z.boolean(),
    implicit_mx: z.boolean().describe('No MX record, but the domain itself has an address'),
    sends_no_mail: z.boolean().describe('No MX record, and its SPF record is `-all` alone'),
    service: z
      .strictObject({
        name: z.string(),
        kind: z.enum(['mailboxes', 'forwarding', 'program', 'filter', 'throwaway']),
      })
      .nullable()
      .describe(
        'Who runs the best mail host, where its name tells. Forwarding services, programs and filters mostly take mail for every name',
      ),
  }),
  disposable: z.strictObject({
    result: z.enum(['listed', 'probable', 'not_listed', 'allowed', 'skipped']),
    list: z.string().nullable().describe('Name and version of the list that has it'),
    list_date: z.string().nullable(),
  }),
  role: z.boolean(),
  free_provider: z.boolean(),
  relay: z.boolean().describe('A forwarding service of a person who wants to stay reachable'),
  subaddress: z.string().nullable().describe('What stands behind the +'),
  internationalized: z.strictObject({ local_part: z.boolean(), domain: z.boolean() }),
})

export const EmailVerification = z.strictObject({
  email: z.string().describe('As sent; cut to 320 characters, control characters escaped'),
  decision: EmailDecision,
  reasons: z.array(EmailReasonName),
  normalized: z
    .string()
    .nullable()
    .describe(
      'The address alone: local part as it stands, domain in lower-case A-labels; null where nothing can be used as it was sent',
    ),
  did_you_mean: z
    .string()
    .nullable()
    .describe('A likely typo corrected, or the address out of what stood around it; never used by itself'),
  checks: EmailChecks,
  mailbox: z
    .enum(['unknown', 'deliverable', 'undeliverable'])
    .describe('Unknown unless a verifier upstream is configured'),
  checked_at: Timestamp,
  cache_ttl_seconds: z.int().min(0).describe('How long the answer may be kept; 0: ask again'),
})
export type EmailVerification = z.infer<typeof EmailVerification>

// The schema knows no longest spelling: one that is too long gets its answer like any other, instead of refusing a whole batch.
export const emailField = z.string().describe('An address, as typed')

/**
 * One item of a batch. The schema tells callers to send text; whatever else comes is an item like any other, with its own
 * answer, because a hundred addresses of a form with one `null` among them would otherwise all be refused.
 */
export const emailItem = z.unknown().meta({
  type: 'string',
  description: 'An address, as typed. What is no text is answered by itself: `syntax`, rule `not_a_string`',
})

/** Clients of MCP and A2A that cannot set a header send it here. Over HTTP the `Authorization` header is the place for it. */
export const emailKeyArgument = z.string().max(64).optional().describe('agw_ek_…, if not in a header')

/** The facts of an email key that an operator may see; only its holder has the token. */
export const EmailKeyRecord = z.strictObject({
  key_id: z.string(),
  created_at: Timestamp,
  last_seen_on: z
    .string()
    .describe('Day (UTC, like 2026-11-21) it was used last, or made. Keys unused for 180 days are removed'),
  revoked_at: Timestamp.nullable(),
})
export type EmailKeyRecord = z.infer<typeof EmailKeyRecord>
