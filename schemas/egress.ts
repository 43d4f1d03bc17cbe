import { z } from 'zod'
import { PartName, PartText } from './credential-settings.ts'
import { AllowedHost, HttpMethod, PathPrefix, Timestamp, UpstreamResponse } from './http.ts'
import { BudgetState } from './budget.ts'
import { EgressRules } from './egress-rule.ts'
import { CreditsCharged } from './money.ts'
import { Receipt } from './receipt.ts'

/** A list of them would be in every schema of a credential, and could not hold an operator's own: the broker knows the names. */
export const ProviderId = z
  .string()
  .max(40)
  .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'the id of a provider, such as github')
  .describe('`custom`, or an `id` of gateway.egress.providers, such as github')
export type ProviderId = z.infer<typeof ProviderId>

/** Clients of MCP and A2A that cannot set a header send it here. Over HTTP the `Authorization` header is the place for it. */
export const capabilityArgument = z.string().max(64).optional().describe('agw_cap_…, if not in a header')

/** Over REST the header `Idempotency-Key` is the place for it; over MCP and A2A `idempotency-key` of the metadata, or this. */
export const idempotencyKeyArgument = z
  .string()
  .regex(/^[!-~]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces')
  .optional()
  .describe(
    'Your own key for this request (a UUID): repeated under it, the request is not sent again and the first answer is given, for ' +
      '24 hours. Over REST the header Idempotency-Key does the same',
  )
  .meta({ listedAs: { description: 'UUID: a repeat gets the first answer' } })

/** A secret that fits a header value and is long enough to be told from chance when a response contains it. */
export const UpstreamSecret = z
  .string()
  .min(8, 'a secret shorter than 8 characters cannot be told from chance in a response')
  .max(8192, 'a secret is at most 8192 bytes')
  .regex(/^[\x21-\x7e\xa0-\xff](?:[\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/, {
    error: 'a secret is printable Latin-1 without line breaks and without spaces at its ends',
  })
  .describe('The upstream secret itself. Write-only: no answer of the gateway ever contains it')
  .meta({ listedAs: { description: 'The secret; no answer shows it' } })

export const SecretTexts = z
  .record(PartName, PartText)
  .describe('Instead of `secret`: several texts by name, such as `user` and `password`. Write-only, too')
  .meta({ listedAs: { description: 'Instead: texts by name, such as `user` and `password`' } })

export const Label = z.string().min(1).max(100).describe('Your name for it')

export const scopeFields = {
  hosts: z.array(AllowedHost).min(1).max(16),
  path_prefixes: z.array(PathPrefix).min(1).max(32),
  methods: z.array(HttpMethod).min(1).max(6),
}

/** A smaller scope asked for; what is left out stays as the outer one has it. */
export const wantedScopeFields = {
  hosts: scopeFields.hosts.optional().describe('Exact hosts, lower case'),
  path_prefixes: scopeFields.path_prefixes.optional().describe('Path prefixes, such as `/repos`'),
  methods: scopeFields.methods
    .optional()
    .describe('HTTP methods')
    .meta({ listedAs: { type: 'array', items: { type: 'string' } } }),
}
/** Rules for what is within the scope: beside those that hold already, never instead of them. */
export const wantedRules = EgressRules.optional()
  .describe('Rules of this capability, such as `ask POST api.github.com/repos/**`; what none fits is denied')
  .meta({ listed: false })
export const capabilityTtl = z.int().min(60).max(86_400)
export const capabilityMaxUses = z
  .int()
  .min(1)
  .max(1_000_000)
  .optional()
  .describe('Attempts allowed; no limit by default')
export const credentialId = z.string().min(1).max(64).describe('cred_…')

/** The public facts of a stored credential. The secret is in no field and never will be. */
export const CredentialMetadata = z.strictObject({
  credential_id: z.string(),
  provider: ProviderId,
  label: z.string(),
  ...scopeFields,
  header: z.string().describe('Request header the secret is sent in'),
  scheme: z.string().describe('Word before the secret in that header; empty for none'),
  settings: z
    .record(z.string(), z.unknown())
    .describe('What was set beyond that: parts, placements, headers, limits'),
  version: z.int().min(1).describe('Counts replacements of the secret and edits'),
  created_at: Timestamp,
  budgets: z.array(BudgetState),
  rotated_at: Timestamp.nullable(),
  edited_at: Timestamp.nullable().describe('Last change of scope, label, settings or budgets'),
  revoked_at: Timestamp.nullable(),
})
export type CredentialMetadata = z.infer<typeof CredentialMetadata>

/** A credential after an edit, and what the edit took away: settings are replaced all at once. */
export const EditedCredential = CredentialMetadata.extend({
  dropped_settings: z.array(z.string()).optional().describe('Names of settings that the edit left out'),
  dropped_rules: z.array(z.string()).optional().describe('Lines of `settings.rules` that the edit left out'),
})
export type EditedCredential = z.infer<typeof EditedCredential>

/** What several credentials of a connection cover together may be more than one of them may, and is nothing where it has none. */
const coveredFields = {
  hosts: z.array(AllowedHost),
  path_prefixes: z.array(PathPrefix),
  methods: z.array(HttpMethod),
}

/** How it goes with the tokens that are minted from a credential. No token is in it. */
export const TokenHealth = z.strictObject({
  state: z
    .enum(['none', 'ready', 'ended', 'minting', 'failing'])
    .describe('`none`: nothing was minted yet; `ended`: the next call mints another'),
  minted_at: Timestamp.nullable(),
  usable_until: Timestamp.nullable(),
  failures: z.int().min(0).describe('Exchanges in a row that failed'),
  retry_at: Timestamp.nullable().describe('The provider is asked again from then on'),
  failure: z
    .strictObject({
      reason: z.string().describe('Stable word, such as refused or unreachable'),
      host: z.string().describe('Who was asked'),
      status: z.int().nullable(),
      oauth_error: z.string().nullable().describe('Error code, where it is one of the standard'),
    })
    .nullable()
    .describe('The last exchange, where it failed'),
})
export type TokenHealth = z.infer<typeof TokenHealth>

export const CapabilityRecord = z.strictObject({
  capability_id: z.string(),
  credential_id: z
    .string()
    .nullable()
    .describe('Null at the root of a connection, which has a capability for each credential below it'),
  parent_id: z.string().nullable().describe('The capability this one was narrowed from'),
  provider: ProviderId.optional(),
  label: z.string(),
  ...coveredFields,
  rules: z
    .array(EgressRules)
    .optional()
    .describe('Its own rules, and those of what it was narrowed from: each list has to allow a request'),
  max_uses: z.int().min(1).nullable(),
  uses: z.int().min(0),
  budgets: z.array(BudgetState).describe('Its own; it counts on those of its parents and its credential too'),
  shows_balance: z.boolean().describe("Whether its holder may see the account's balance"),
  created_at: Timestamp,
  expires_at: Timestamp,
  revoked_at: Timestamp.nullable(),
})
export type CapabilityRecord = z.infer<typeof CapabilityRecord>

/** The only time a capability's token is shown. */
export const IssuedCapability = CapabilityRecord.extend({
  capability: z.string().describe('Bearer token for the agent; shown once'),
})
export type IssuedCapability = z.infer<typeof IssuedCapability>

/** An operator's word about an attempt that was ambiguous. */
export const Reconciliation = z.strictObject({
  decision: z.enum(['happened', 'did_not_happen']),
  reason: z.string().describe('Words of whoever decided'),
  was: z.string().describe('`outcome` before the decision'),
  decided_by: z.string().describe('Id of the service key'),
  decided_at: Timestamp,
  receipt_id: z.string().describe('Receipt of the decision; `receipt_id` of the attempt stays the first one'),
})
export type Reconciliation = z.infer<typeof Reconciliation>

export const AttemptRecord = z.strictObject({
  attempt_id: z.string(),
  kind: z
    .enum(['fetch', 'action', 'edge'])
    .describe('What it was for: a fetch with a capability, the execution of a permit, a call of the edge'),
  capability_id: z.string().nullable().describe('Null unless a capability was used'),
  permit_id: z.string().nullable().describe('Null unless a permit was executed'),
  credential_id: z.string().nullable().describe('Null at the edge, where no credential is added'),
  credential_version: z.int().nullable(),
  state: z.enum(['reserved', 'sending', 'settled', 'ambiguous', 'refunded']),
  outcome: z.string().nullable().describe('How it ended, as a stable word'),
  method: z.string(),
  host: z.string(),
  request_digest: z.string(),
  idempotency_key: z.string().nullable().describe('What was sent as Idempotency-Key; null for safe methods'),
  upstream_status: z.int().nullable(),
  response_digest: z.string().nullable(),
  credits_charged: z.int().min(0),
  created_at: Timestamp,
  sending_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  receipt_id: z.string().nullable(),
  reconciliation: Reconciliation.optional().describe(
    'Where an operator decided it; shown where one attempt is read, not in lists',
  ),
})
export type AttemptRecord = z.infer<typeof AttemptRecord>

export const EgressReply = z.strictObject({
  attempt_id: z.string(),
  upstream: UpstreamResponse,
  idempotency_key: z
    .string()
    .nullable()
    .describe('What the gateway sent as Idempotency-Key; null for safe methods'),
  credits: CreditsCharged,
  receipt: Receipt,
  replayed: z
    .literal(true)
    .optional()
    .describe(
      'Only where an idempotency key was used before: the stored answer, nothing was sent or charged again',
    ),
  answer_kept: z
    .literal(false)
    .optional()
    .describe(
      'Only under an idempotency key, where the answer is too large to keep or the account has no room for more: a repeat is ' +
        'idempotency_answer_gone',
    ),
})
export type EgressReply = z.infer<typeof EgressReply>

/** Cursor paging, the same on every list. */
export const pageInput = {
  limit: z
    .int()
    .min(1)
    .max(100)
    .default(50)
    .describe('Most entries')
    .meta({ listedAs: { default: null } }),
  before: z.string().max(64).optional().describe('`next` before'),
}
export const pageOutput = {
  next: z.string().nullable().describe('Pass as `before` to read on; null at the end'),
}
