import { z } from 'zod'
import { ApprovalRule } from './approval.ts'
import { EgressReply } from './egress.ts'
import { AllowedHost, HttpMethod, PathPrefix, Timestamp } from './http.ts'

/** The request that a permit is bound to, as a caller may write it; it is made canonical before it is signed. */
export const ActionRequest = z
  .strictObject({
    url: z.string().min(1).max(8192).describe('Canonical https URL, sent in exactly this spelling'),
    method: HttpMethod.default('GET').describe('HTTP method'),
    headers: z
      .record(z.string().max(64), z.string().max(8192))
      .default({})
      .describe('accept, content-type, conditional and API version headers')
      .meta({ listedAs: { description: 'accept, content-type, conditional, API version' } }),
    body: z.string().max(131_072).optional().describe('Body as text; at most 128 KiB'),
    body_base64: z
      .base64('must be standard base64 with padding')
      .max(174_764)
      .optional()
      .describe('Body in base64, instead of `body`'),
  })
  .describe('The one request')
export type ActionRequest = z.infer<typeof ActionRequest>

// Printable, so that it can be hashed and looked up whatever it is.
const rowId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[!-~]+$/, 'must be an id as the gateway gave it, without spaces')
export const permitId = rowId.describe('pmt_…')
export const mandateId = rowId.describe('mdt_…, stored')

const maxCalls = z.int().min(1).max(1_000_000)
const maxCredits = z.int().min(1).max(1_000_000_000)

/** The actions that an operator allows, and how often: given in full with a permit, or stored and named. */
export const MandateTerms = z
  .strictObject({
    purpose: z
      .string()
      .min(1)
      .max(500)
      .refine(
        (text) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text),
        'is one line of text without control characters',
      )
      .describe('What it is for; an approver reads it'),
    credential_id: rowId.describe('cred_…'),
    host: AllowedHost.describe('Exact host, lower case'),
    path_prefix: PathPrefix.default('/').describe('Path prefix'),
    methods: z
      .array(HttpMethod)
      .min(1)
      .max(6)
      .describe('HTTP methods')
      .meta({ listedAs: { type: 'array', items: { type: 'string' } } }),
    max_calls: maxCalls.optional().describe('Executions, over all its permits'),
    max_credits: maxCredits.optional().describe('Credits, over all its permits'),
    expires_at: z.iso
      .datetime({ offset: true, error: 'must be an RFC 3339 time with a zone' })
      .describe('At most 90 days ahead'),
    requires_approval: z.boolean().default(false).describe('A person approves each permit'),
    approval: ApprovalRule.optional()
      .describe('Who approves; each permit is approved then')
      .meta({
        listedAs: {
          type: 'object',
          description: 'Who approves',
          properties: {
            by: { type: 'string', enum: ['anyone', 'another'], description: 'Than who prepared it' },
            people: { type: 'integer', description: '1 or 2' },
            fresh_sign_in: { type: 'boolean', description: 'With a passkey each' },
          },
          additionalProperties: false,
        },
      }),
  })
  .refine(({ max_calls, max_credits }) => max_calls !== undefined || max_credits !== undefined, {
    error: 'a mandate limits `max_calls` or `max_credits`, or both',
    path: ['max_calls'],
  })
export type MandateTerms = z.infer<typeof MandateTerms>

export const MandateRecord = z.strictObject({
  mandate_id: z.string(),
  digest: z.string().describe('base64url SHA-256 over the RFC 8785 form of its terms'),
  purpose: z.string(),
  credential_id: z.string(),
  host: z.string(),
  path_prefix: z.string(),
  methods: z.array(HttpMethod),
  max_calls: z.int().nullable(),
  max_credits: z.int().nullable(),
  requires_approval: z.boolean(),
  approval: ApprovalRule.nullable().describe('Null where nothing is said of who approves'),
  expires_at: Timestamp,
  calls: z.int().min(0).describe('Held by its permits: executed ones, and those that still may be'),
  credits: z.int().min(0).describe('Held likewise'),
  created_at: Timestamp,
  revoked_at: Timestamp.nullable(),
})
export type MandateRecord = z.infer<typeof MandateRecord>

/** The only time a permit is shown. */
export const PreparedPermit = z.strictObject({
  permit: z
    .string()
    .describe('Compact JWS (typ gw-permit+jws): who holds it may execute this one request, once'),
  permit_id: z.string(),
  mandate_id: z.string(),
  request_digest: z.string().describe('base64url SHA-256 over the canonical request'),
  state: z.enum(['ready', 'pending_approval']),
  expires_at: Timestamp.describe('Of a ready permit; of a pending one, until when it can be approved'),
})
export type PreparedPermit = z.infer<typeof PreparedPermit>

export const PermitState = z.enum(['pending_approval', 'ready', 'refused', 'executed', 'expired', 'revoked'])
export type PermitState = z.infer<typeof PermitState>

/** The summary that an approver has to see: exactly what will be sent, and on whose behalf. */
export const PermitSummary = z.strictObject({
  method: HttpMethod,
  url: z.string(),
  headers: z.record(z.string(), z.string()).describe('As sent, without the credential'),
  credential: z.strictObject({
    credential_id: z.string(),
    provider: z.string(),
    label: z.string(),
    version: z.int(),
    header: z.string().describe('The header that will carry the secret, which is not shown'),
  }),
  body_bytes: z.int().min(0),
  body_sha256: z.string().describe('hex'),
  body: z.string().optional().describe('The whole body, when it is text'),
  body_base64: z.string().optional().describe('The whole body, when it is not text'),
  mandate: z.strictObject({ mandate_id: z.string(), purpose: z.string() }),
  text: z
    .string()
    .describe('The same in a few lines for a person; control characters of the request are escaped'),
})
export type PermitSummary = z.infer<typeof PermitSummary>

/** Whoever prepared a permit. */
export const PermitPreparer = z.strictObject({
  kind: z.enum(['service_key', 'person', 'connection', 'capability']),
  id: z.string(),
  person_id: z
    .string()
    .nullable()
    .describe(
      'The person themselves, who connected the assistant, or who made the key; null where nobody is known',
    ),
  address: z.string().nullable().describe('Where it came from; null for what an earlier release prepared'),
})

/** One person's, or key's, word on a permit. */
export const PermitDecision = z.strictObject({
  decision: z.enum(['approve', 'refuse']),
  kind: z.enum(['service_key', 'person', 'connection']),
  id: z.string().describe('Of the person, the key or the connection'),
  method: z.enum(['passkey', 'recovery', 'oidc']).nullable().describe('How the person had signed in'),
  session_id: z.string().nullable(),
  address: z.string().describe('Where it came from'),
  at: Timestamp,
})
export type PermitDecision = z.infer<typeof PermitDecision>

/** How a permit stands, for whoever holds it. */
export const PermitStanding = z.strictObject({
  permit_id: z.string(),
  state: PermitState,
  approvals: z.int().min(0).describe('People, or keys, that approved it so far'),
  expires_at: Timestamp.describe('While it waits, until when it can be approved'),
  decided_at: Timestamp.nullable(),
  attempt_id: z.string().nullable().describe('The attempt it was executed by'),
})
export type PermitStanding = z.infer<typeof PermitStanding>

/** Longest that one call waits for people. */
export const MAX_WAIT_SECONDS = 300
export const waitSeconds = z.int().min(0).max(MAX_WAIT_SECONDS)

export const PermitRecord = z.strictObject({
  permit_id: z.string(),
  mandate_id: z.string(),
  credential_id: z.string(),
  credential_version: z.int(),
  state: PermitState,
  method: z.string(),
  host: z.string(),
  request_digest: z.string(),
  summary: PermitSummary.nullable().describe('While it waits for approval; null before and after'),
  created_at: Timestamp,
  expires_at: Timestamp,
  decided_at: Timestamp.nullable(),
  decided_by: z
    .string()
    .nullable()
    .describe('Id of the person or service key that approved last, or refused'),
  prepared_by: PermitPreparer.nullable().describe('Null for what an earlier release prepared'),
  approval: ApprovalRule.nullable().describe('Who has to approve it; null where nobody, or anybody may'),
  decisions: z.array(PermitDecision).describe('In the order in which they were made'),
  evidence_kept: z.boolean().describe('Whether the approved request is kept, sealed'),
  attempt_id: z.string().nullable().describe('The attempt it was executed by'),
})
export type PermitRecord = z.infer<typeof PermitRecord>

/** What was approved: the request again, from the bytes that were kept. */
export const PermitEvidence = z.strictObject({
  permit_id: z.string(),
  request_digest: z
    .string()
    .describe('Computed from what is kept; the permit, its receipt and the audit log hold the same'),
  request: PermitSummary,
  prepared_by: PermitPreparer.nullable(),
  decisions: z.array(PermitDecision),
})
export type PermitEvidence = z.infer<typeof PermitEvidence>

export const ActionReply = EgressReply.extend({ permit_id: z.string() })
export type ActionReply = z.infer<typeof ActionReply>

export const ActionStats = z.strictObject({
  scope: z.enum(['installation', 'account']).describe('Whose: of the service key sent, or of all together'),
  permits: z.strictObject({
    prepared: z.int().min(0),
    approved: z.int().min(0),
    refused: z.int().min(0),
  }),
  executions: z.strictObject({
    started: z.int().min(0),
    settled: z.int().min(0),
    ambiguous: z.int().min(0),
    refunded: z.int().min(0),
    in_flight: z.int().min(0),
  }),
  credits: z.strictObject({
    charged: z.int().min(0).describe('Debited for executions, before refunds'),
    refunded: z.int().min(0),
    net: z.int().min(0),
  }),
})
export type ActionStats = z.infer<typeof ActionStats>
