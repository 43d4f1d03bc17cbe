import { z } from 'zod'

/** The answer of one resolver for a host: the records that it found, or that there are none or the lookup failed. */
export const EdgeRecordFound = z.strictObject({
  resolver: z.string(),
  status: z.enum(['found', 'absent', 'failed']),
  records: z.array(z.string()).describe('TXT records as found, strings joined; control characters escaped'),
  ttl_seconds: z.int().nullable(),
})

/** Why a host is not served. One word per thing to put right. */
export const EdgeRefusal = z.enum([
  'absent',
  'malformed',
  'unsupported_version',
  'wrong_gateway',
  'wrong_account',
  'expired',
  'several_records',
  'path_not_covered',
  'method_not_covered',
  'alias_chain',
  'answer_too_large',
  'resolvers_disagree',
  'resolver_failed',
  'public_suffix',
])
export type EdgeRefusal = z.infer<typeof EdgeRefusal>

export const EdgeCheck = z.strictObject({
  host: z.string(),
  authorized: z.boolean(),
  name: z.string().describe('Where the TXT record belongs'),
  expected: z.string().describe('The record that authorizes this gateway for this account'),
  found: z.array(EdgeRecordFound).describe('By resolver'),
  refusal: EdgeRefusal.nullable(),
  detail: z.string().describe('What to do next'),
  paths: z.array(z.string()).describe('Path prefixes that the record allows; empty when not authorized'),
  methods: z.array(z.string()),
  expires_at: z.string().nullable(),
  reachable: z
    .strictObject({ ok: z.boolean(), reason: z.string().nullable() })
    .describe('Whether the host itself leads to public addresses only: consent never overrides that'),
})
export type EdgeCheck = z.infer<typeof EdgeCheck>
