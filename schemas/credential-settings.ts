import { z } from 'zod'
import { ApprovalRule } from './approval.ts'
import { CredentialKind } from './credential-kinds.ts'
import { EgressRules } from './egress-rule.ts'

// What a stored credential is beyond one secret in one header. Nothing in here is secret: it is shown in lists, stored in the
// clear and bound to the sealed secret, so that a changed row does not open.

/** The name of one of several texts that are sealed together: `user`, `password`, `application_key`. */
export const PartName = z
  .string()
  .max(32)
  .regex(/^[a-z][a-z0-9_]*$/, 'a part is named in lower case, such as user or application_key')

/** One of several secrets of a credential. What a place in the request can carry is checked where the place is known. */
export const PartText = z
  .string()
  .min(1)
  .max(16_384, 'a part is at most 16384 characters')
  .describe('Write-only: no answer of the gateway ever contains it')

/** Lower-case name of a header field. */
export const HeaderName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'a header name in lower case')
  .describe('Header name in lower case')

/** The word before a secret in a header. */
export const HeaderScheme = z
  .string()
  .max(32)
  .regex(/^[A-Za-z][A-Za-z0-9._-]*$|^$/, 'one word, or empty')
  .describe('Word before the secret')

const parameterName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'a name of letters, digits, dots, hyphens and underscores')
  .describe('Name of the parameter')

const part = PartName.optional().describe('Which part of the secret; the only one by default')

/** One place of the request that the gateway fills with a secret, or with a part of it. */
export const Placement = z.discriminatedUnion('in', [
  z.strictObject({
    in: z.literal('header').describe('Place'),
    name: HeaderName,
    scheme: HeaderScheme.optional(),
    part,
  }),
  z.strictObject({ in: z.literal('query').describe('Place'), name: parameterName, part }),
  z.strictObject({
    in: z.literal('path').describe('Place'),
    at: z.int().min(0).max(15).describe('Before which segment of the path it is inserted; 0 is the first'),
    prefix: parameterName.optional().describe('Text before the secret in its segment, such as `bot`'),
    part,
  }),
  z.strictObject({
    in: z.literal('json').describe('Place'),
    pointer: z
      .string()
      .max(128)
      .regex(/^(?:\/[A-Za-z0-9_.-]+){1,4}$/, 'a JSON Pointer of one to four plain names, such as /api_key')
      .describe('Member of the JSON body that is added'),
    part,
  }),
  z.strictObject({ in: z.literal('form').describe('Place'), name: parameterName, part }),
  z.strictObject({ in: z.literal('cookie').describe('Place'), name: parameterName, part }),
])
export type Placement = z.infer<typeof Placement>

export const MAX_LIMITS = {
  max_request_bytes: 10 * 1024 * 1024,
  max_response_bytes: 25 * 1024 * 1024,
  timeout_ms: 15 * 60 * 1000,
} as const

/** Larger bounds than the usual ones for every request with this credential. */
const limits = z.strictObject({
  max_request_bytes: z
    .int()
    .min(1)
    .max(MAX_LIMITS.max_request_bytes)
    .optional()
    .describe('Largest request body'),
  max_response_bytes: z.int().min(1).max(MAX_LIMITS.max_response_bytes).optional().describe('Largest answer'),
  timeout_ms: z.int().min(100).max(MAX_LIMITS.timeout_ms).optional().describe('Longest wait'),
})

export const MAX_RELAY_LIMITS = {
  max_request_bytes: 64 * 1024 * 1024,
  max_response_bytes: 1024 * 1024 * 1024,
  first_byte_ms: 10 * 60 * 1000,
  idle_ms: 10 * 60 * 1000,
  total_ms: 60 * 60 * 1000,
} as const

/** Whoever waits for a person keeps a connection silent: no longer than its bound. */
export const MAX_ASK_MS = 10 * 60 * 1000

/** How requests of unmodified programs pass, whose bodies stream. */
const relay = z.strictObject({
  cookies: z
    .literal(true)
    .optional()
    .describe('Cookies pass both ways; else neither those of programs nor Set-Cookie'),
  own_keys: z
    .literal('refuse')
    .optional()
    .describe("A key of the program's own is refused, where it is replaced else"),
  max_request_bytes: z
    .int()
    .min(1)
    .max(MAX_RELAY_LIMITS.max_request_bytes)
    .optional()
    .describe('Largest request body; 64 MiB by default'),
  max_response_bytes: z
    .int()
    .min(1)
    .max(MAX_RELAY_LIMITS.max_response_bytes)
    .optional()
    .describe('Largest answer; 1 GiB by default'),
  first_byte_ms: z
    .int()
    .min(100)
    .max(MAX_RELAY_LIMITS.first_byte_ms)
    .optional()
    .describe('Longest wait for an answer to begin; 10 minutes by default'),
  idle_ms: z
    .int()
    .min(100)
    .max(MAX_RELAY_LIMITS.idle_ms)
    .optional()
    .describe('Longest silence within an answer, 5 minutes by default; of a WebSocket, 10'),
  total_ms: z
    .int()
    .min(100)
    .max(MAX_RELAY_LIMITS.total_ms)
    .optional()
    .describe('Longest time of one request; 60 minutes by default'),
})

/** A place of a private network: one name, one port, and the range that the name may lead to. */
export const PrivateTarget = z.strictObject({
  host: z
    .string()
    .max(253)
    .regex(
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be an exact host name in lower-case ASCII, without a port',
    )
    .describe('Exact host name; one of `hosts`'),
  port: z.int().min(1).max(65_535).default(443).describe('Port'),
  cidr: z
    .string()
    .max(49)
    .regex(/^[0-9a-f.:]+\/\d{1,3}$/, 'a range as address/bits, such as 10.1.2.0/24')
    .describe('Where its name may lead; within GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS'),
})
export type PrivateTarget = z.infer<typeof PrivateTarget>

const tls = z.strictObject({
  ca: z
    .string()
    .max(65_536)
    .optional()
    .describe(
      'Certificates (PEM) of the authorities that count for this credential, instead of the public ones',
    ),
  token_endpoint: z
    .boolean()
    .optional()
    .describe(
      'Whether `ca` and the client certificate serve at the token endpoint, too; by default where its host is one of `hosts`',
    ),
})

const headerNames = z.array(HeaderName).min(1).max(32)

/** Lists of tools have no room for six kinds of secret: what belongs to each stands in the documents. */
export const SETTINGS_IN_LISTS = {
  type: 'object',
  description: 'kind, placements, headers, limits, tls: see /openapi.json',
  additionalProperties: true,
}

export const CredentialSettings = z.strictObject({
  kind: CredentialKind.optional().describe(
    'What the secret is; without one it goes into the request as it is',
  ),
  parts: z
    .record(PartName, z.enum(['secret', 'public']))
    .optional()
    .describe('Names of what is sealed together; answers are searched for those that are secret'),
  placements: z
    .array(Placement)
    .min(1)
    .max(8)
    .optional()
    .describe('Where the secrets go, instead of `header` and `scheme`'),
  request_headers: headerNames.optional().describe('Further headers that callers may send'),
  response_headers: headerNames.optional().describe('Further headers of answers that callers get'),
  encoded_slash: z.literal(true).optional().describe('Paths may contain %2F, as GitLab and npm want'),
  rules: EgressRules.optional().describe(
    'What of its scope may be called, line by line: the first that fits decides, and what none fits is denied',
  ),
  ask_ms: z
    .int()
    .min(1000)
    .max(MAX_ASK_MS)
    .optional()
    .describe('Longest wait of a request of an unmodified program for a person; 5 minutes by default'),
  limits: limits.optional().describe('Instead of 128 KiB, 1 MiB and 30 s'),
  relay: relay.optional().describe('Bounds of requests of unmodified programs, which stream'),
  tls: tls
    .optional()
    .describe('For servers of an authority of your own; a client certificate is a part of the secret'),
  unsafe_private_targets: z
    .array(PrivateTarget)
    .min(1)
    .max(16)
    .optional()
    .describe(
      'Private addresses that requests with this credential, and no others, may reach; for the administrator',
    ),
  approval: ApprovalRule.optional().describe(
    'Every request with it takes a permit that is approved so: capabilities alone do not do. Only an owner takes it away or asks for less',
  ),
})
export type CredentialSettings = z.infer<typeof CredentialSettings>
