import { z } from 'zod'

/** One transaction as an agent would send it, or as a server answered it. Nothing in it is ever sent anywhere. */
export const transactionFields = {
  target: z.string().min(1).max(8192).describe('URL it goes to; read, never contacted'),
  method: z
    .string()
    .min(1)
    .max(32)
    .regex(/^[!#$%&'*+.^_`|~\dA-Za-z-]+$/, 'must be an HTTP method')
    .optional()
    .describe('By default POST with a body, else GET'),
  headers: z
    .record(z.string().max(256), z.union([z.string().max(32_768), z.array(z.string().max(32_768)).max(16)]))
    .meta({ advertisedAs: { type: 'object', additionalProperties: { type: 'string' } } })
    .optional()
    .describe('Header fields'),
  // JSON is taken as it is, too, and a list is a header that was sent more than once; a body as text keeps its bytes, so that
  // digests of it can be checked.
  body: z
    .unknown()
    .meta({ advertisedAs: { type: 'string' } })
    .optional()
    .describe('The raw body, as text'),
}
export const Transaction = z.strictObject(transactionFields)
export type Transaction = z.infer<typeof Transaction>

export const ProtocolName = z.enum(['x402', 'mpp', 'ap2', 'ucp', 'acp', 'mcp', 'unknown'])
export const Confidence = z.enum(['high', 'medium', 'low'])

const Evidence = z.strictObject({
  mark: z.string().describe('What was recognised, in words'),
  at: z.string().describe('JSON Pointer into the input; behind `#` a pointer into what is encoded there'),
})

export const LayerReport = z.strictObject({
  name: z.string(),
  version: z.string().nullable(),
  transport: z.string(),
  stage: z.string(),
  confidence: Confidence,
  evidence: z.array(Evidence),
})

export const TransactionReport = z.strictObject({
  amount: z.string().nullable().describe('In the smallest unit, as decimal text'),
  currency: z.string().nullable(),
  asset: z.string().nullable(),
  network: z.string().nullable(),
  payee: z.string().nullable(),
  payer: z.string().nullable(),
  resource: z.string().nullable(),
  expires_at: z.string().nullable().describe('RFC 3339'),
  nonce_present: z.boolean(),
  idempotency_key_present: z.boolean(),
})

export const PolicyReason = z.strictObject({
  code: z.string().describe('Stable; gateway.test.schema lists all of them'),
  severity: z.enum(['deny', 'review', 'info']),
  path: z.string().describe('Where, as in evidence; never a value'),
  message: z.string(),
})

/** A window is the hour, or the day, that ends now. */
export const SPEND_PERIODS = ['hour', 'day'] as const
export type SpendPeriod = (typeof SPEND_PERIODS)[number]
export const SPEND_HOLDERS = ['all', 'counterparty', 'mandate'] as const
export type SpendHolder = (typeof SPEND_HOLDERS)[number]

export const SpendWindowReport = z.strictObject({
  period: z.enum(SPEND_PERIODS),
  per: z.enum(SPEND_HOLDERS).describe('Payments of the account that are added up'),
  asset: z.string().nullable(),
  network: z.string().nullable(),
  currency: z.string().nullable(),
  cap: z.string(),
  spent: z
    .string()
    .describe('Counted in the hour or day that ends now; with this payment where it is counted'),
  left: z.string(),
  frees_at: z
    .string()
    .nullable()
    .describe(
      'When the oldest amount leaves or, where this payment does not fit, when it would; null: never',
    ),
})

export const SpendReport = z.strictObject({
  status: z
    .enum(['counted', 'already_counted', 'not_counted', 'denied', 'not_a_payment', 'amount_unknown'])
    .describe('not_counted: `count` was not asked for; denied: what is denied counts nothing'),
  counted_at: z.string().nullable().describe('RFC 3339'),
  windows: z.array(SpendWindowReport).describe('Of the policy, for what this pays with'),
})
export type SpendReport = z.infer<typeof SpendReport>

export const InspectResult = z.strictObject({
  protocol: ProtocolName,
  version: z.string().nullable(),
  transport: z.string().nullable(),
  stage: z.string().nullable(),
  confidence: Confidence,
  evidence: z.array(Evidence).describe('Of the primary protocol'),
  layers: z.array(LayerReport),
  transaction: TransactionReport,
  policy: z.strictObject({
    decision: z.enum(['allow', 'review', 'deny']),
    reasons: z.array(PolicyReason),
    ruleset_version: z.string(),
    policy_source: z.enum(['default', 'account']),
  }),
  redactions: z
    .array(
      z.strictObject({
        path: z.string(),
        kind: z.string(),
        sha256_prefix: z
          .string()
          .nullable()
          .describe('Eight hex digits; null where the value could be guessed'),
        last4: z.string().nullable().describe('Of a card number'),
      }),
    )
    .describe('What must not be shown, and is not: where it stands and what kind it is'),
  spend: SpendReport.nullable().describe('Spend windows of the account; null without a key'),
  forwarded: z.literal(false),
})
export type InspectResult = z.infer<typeof InspectResult>

export const DIMENSIONS = [
  'context_binding',
  'replay_uniqueness',
  'idempotency',
  'freshness',
  'retry_safety',
  'auditability',
] as const
export const DimensionName = z.enum(DIMENSIONS)
export type DimensionName = z.infer<typeof DimensionName>

export const CheckReport = z.strictObject({
  id: z.string().describe('<PROTOCOL>-<DIMENSION>-<nn>'),
  dimension: DimensionName,
  result: z.enum(['pass', 'partial', 'fail', 'not_applicable']),
  points: z.int().min(0),
  max: z.int().min(0),
  evidence: z.string().nullable().describe('JSON Pointer, as in gateway.inspect; never a value'),
  finding: z.string().nullable().describe('What is wrong; null where nothing is'),
  protocol_limit: z.boolean().describe('The protocol has no field for this: no sample of it can do better'),
  remediation: z.string().nullable(),
  fragment: z
    .string()
    .nullable()
    .describe(
      'How what the remediation asks for is written: a header or JSON with <placeholders>, never a value of the sample',
    ),
  spec: z.string().nullable().describe('The document of the protocol that asks for it'),
})

const DimensionReport = z.strictObject({
  score: z.int().min(0).max(100),
  weight: z.int(),
  applicable: z.boolean(),
})

/** The score of a pasted sample as an address of a picture, which carries the gateway's signature. */
export const TestBadge = z.strictObject({
  url: z.string().describe('SVG. It says score, date and report, and names no host'),
  proof_url: z.string().describe('The page on which anybody verifies it'),
  sample_digest: z
    .string()
    .describe(
      'base64url SHA-256 over the RFC 8785 form of {"salt", "sample"}, where sample is the input without `badge`',
    ),
  salt: z
    .string()
    .describe('Shown here alone: whoever is given it and the sample can tell what the badge is of'),
  issued_at: z.string().describe('RFC 3339'),
  expires_at: z
    .string()
    .describe('RFC 3339; from then on, or under newer rules, the picture says that it is out of date'),
})
export type TestBadge = z.infer<typeof TestBadge>

export const TestReport = z.strictObject({
  protocol: ProtocolName,
  version: z.string().nullable(),
  transport: z.string().nullable(),
  stage: z.string().nullable(),
  applicable: z.boolean().describe('False where no protocol was recognised: then there is nothing to score'),
  score: z.int().min(0).max(100),
  level: z.enum(['ready', 'gaps', 'at_risk', 'not_ready']),
  dimensions: z.strictObject({
    context_binding: DimensionReport,
    replay_uniqueness: DimensionReport,
    idempotency: DimensionReport,
    freshness: DimensionReport,
    retry_safety: DimensionReport,
    auditability: DimensionReport,
  } satisfies Record<DimensionName, z.ZodType>),
  checks: z.array(CheckReport),
  caps: z.array(z.strictObject({ id: z.string(), max: z.int(), at: z.string(), message: z.string() })),
  notes: z
    .array(z.strictObject({ id: z.string(), at: z.string(), message: z.string() }))
    .describe('Not scored'),
  layers: z.array(LayerReport),
  evaluate_at: z.string().nullable(),
  structural: z.literal(true),
  verified: z
    .literal(false)
    .describe(
      'Nothing is vouched for: signatures are checked for form, and only those of AP2 whose public key stands in the message are verified (a note says how each ended)',
    ),
  contacted: z.literal(false),
  ruleset_version: z.string(),
  report_hash: z
    .string()
    .describe('hex SHA-256 over the RFC 8785 form of the report without this member and `badge`'),
  badge: TestBadge.nullable()
    .optional()
    .describe('Where the input asked for one; null where there is nothing to score'),
})
export type TestReport = z.infer<typeof TestReport>
