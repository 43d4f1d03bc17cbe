// The manifest of action permits and their credit boundary, as plain JSON. Addresses and schemas come from the registry,
// numbers from where they are enforced.
import { PermitState } from '../../schemas/actions.ts'
import { APPROVAL_WINDOW_MS, MANDATE_MAX_MS, PERMIT_TTL_MS } from '../actions/ports.ts'
import { type Config, EGRESS_VERSION } from '../core/config.ts'
import type { Addresses } from '../core/config.ts'
import { ERRORS, type ErrorCode } from '../core/errors.ts'
import type { JsonSchema, Registry } from '../core/registry.ts'
import { CREDITS_PER_ATTEMPT } from './egress.ts'

type Json = Record<string, unknown>

/** The key is the kind that a 409 names in `conflict`. */
const CONFLICTS: Readonly<Record<string, readonly ErrorCode[]>> = {
  replay: ['permit_used'],
  state: ['permit_pending', 'permit_refused', 'permit_expired', 'permit_revoked'],
  binding: ['permit_mismatch'],
}

const STATE_WORDS: Readonly<Record<PermitState, string>> = {
  pending_approval: 'Waits for a person.',
  ready: 'May be executed, once.',
  refused: 'The operator said no.',
  executed: 'Used by the attempt in `attempt_id`, however that ended.',
  expired: 'Its time is over; its mandate gets its share back when it is wanted.',
  revoked: 'Its mandate or its credential was revoked, or the secret was replaced.',
}

/** `GET /v1/actions`: what permits promise, their tools with input schemas, and every conflict that an execution can meet. */
export function actionsManifest(registry: Registry, { baseUrl }: Addresses): Json {
  const input = (name: string) => registry.find(name)?.inputSchema
  return {
    name: 'Agent Gateway action permits',
    version: EGRESS_VERSION,
    role: 'Signed, single-use permits for one exact request under a stored credential.',
    guarantee:
      'A permit executes the request it was prepared for and no other, at most once. Whoever holds it can change no byte of ' +
      'what is sent and never sees the secret.',
    endpoints: endpointsOf(registry, baseUrl),
    public_key: `${baseUrl}/.well-known/gateway-egress-key.json`,
    permit: {
      form: 'Compact JWS (EdDSA), `typ` gw-permit+jws, over the RFC 8785 form of its claims.',
      claims:
        'iss aud jti iat exp environment mandate_id mandate_digest request credential_id credential_version max_cost single_use approval'.split(
          ' ',
        ),
      bound_to:
        'method, canonical URL, headers as sent, SHA-256 of the body bytes, the credential and the version of its secret',
      request: membersOf(input('gateway.actions.prepare'), 'request'),
      valid_seconds: PERMIT_TTL_MS / 1000,
      approval_seconds: APPROVAL_WINDOW_MS / 1000,
      single_use: true,
    },
    mandate: {
      members: membersOf(input('gateway.actions.mandates.create')),
      identity:
        'The same terms are the same mandate, given with a permit or stored: one limit, one revocation.',
      longest_seconds: MANDATE_MAX_MS / 1000,
      limits:
        'A permit takes its call and its credit of the mandate when it is prepared; they go back when it is refused, expires ' +
        'or its attempt is refunded.',
    },
    states: PermitState.options.map((state) => ({ state, means: STATE_WORDS[state] })),
    conflicts: Object.entries(CONFLICTS).map(([conflict, codes]) => ({
      conflict,
      status: ERRORS[codes[0]!].status,
      codes: [...codes],
    })),
    controls: [
      'Preparing needs a service key and a mandate that names purpose, credential, host, path prefix, methods, a limit and an expiry.',
      'Limits of a mandate are counted over all its permits, atomically, whatever runs in parallel.',
      'A mandate may ask for a person: the permit then waits, and who decides reads exactly what will be sent.',
      'Revoking the mandate or the credential, or replacing its secret, ends every permit that was not executed yet.',
      'The permit is used up in the transaction that debits the credit and records the attempt: a second one finds it used.',
      'What is refused (no credits, another request, paused) does not use the permit up; what was attempted does.',
      'Execution is one attempt of the egress engine: one request, vetted address, no redirect, no retry, leak gate, receipt.',
      'An outcome that is not known is 503 outcome_ambiguous: charged, recorded and never sent again.',
    ],
    boundary:
      'A permit proves what was allowed, not that it was wise: whoever holds it may execute it, so hand it to one agent over a ' +
      'private channel, and ask for approval where a mistake would cost more than the wait.',
  }
}

/** `GET /v1/actions/pricing`: credits of each step; free credits are those of the configuration. */
export function actionsPricing({ baseUrl }: Addresses, config: Pick<Config, 'serviceKeyCredits'>): Json {
  return {
    version: EGRESS_VERSION,
    unit: 'credit',
    credits_per_execution: CREDITS_PER_ATTEMPT,
    credits_per_preparation: 0,
    balance_to_prepare: CREDITS_PER_ATTEMPT,
    free_credits_per_account: config.serviceKeyCredits,
    charged:
      'When a permit is executed: before the credential is opened and before the first packet, in the transaction that uses ' +
      'the permit up and records the attempt.',
    refunded:
      'When no byte of the request left the gateway: the name did not resolve or was refused, the connection or TLS ' +
      'failed, or the credential could not be opened. The mandate gets its share back too; the permit stays used.',
    not_refunded:
      'When the upstream answered, whatever its status, and when the outcome is ambiguous (503 outcome_ambiguous).',
    not_charged:
      'Preparing, approving, refusing and expiring; an execution that is refused: 401, 409, 402 or 403 before anything was resolved.',
    who_pays: 'The account whose operator prepared the permit, whoever executes it.',
    balance: `${baseUrl}/v1/credits`,
    top_up:
      'Pay the `offer` of the 402: POST its `request.body` to /v1/credits/purchase with an x402 payment; no person is ' +
      'needed. Or the operator grants credits: `agent-gateway credits grant`.',
    purchase: `${baseUrl}/v1/credits/purchase`,
    stats: `${baseUrl}/v1/actions/stats`,
    execute: `${baseUrl}/v1/actions/execute`,
  }
}

const NAMESPACE = 'gateway.actions.'

/** `prepare`, `permits_list` …: method, address and, where there is one, the name over MCP. */
function endpointsOf(registry: Registry, baseUrl: string): Json {
  return Object.fromEntries(
    registry.tools
      .filter(({ tool }) => tool.name.startsWith(NAMESPACE))
      .map(({ tool }) => {
        const { method, path } = tool.rest[0]
        return [
          tool.name.slice(NAMESPACE.length).replaceAll('.', '_'),
          { method, url: `${baseUrl}${path}`, mcp: tool.doors.includes('mcp') ? tool.name : null },
        ]
      }),
  )
}

/** Names of the members of an input, or of one member of it, with what they mean. */
function membersOf(schema: JsonSchema | undefined, member?: string): Json {
  const properties = (of: JsonSchema | undefined) => (of?.['properties'] ?? {}) as Record<string, JsonSchema>
  const found = member === undefined ? schema : properties(schema)[member]
  const required = (found?.['required'] ?? []) as readonly string[]
  return Object.fromEntries(
    Object.entries(properties(found)).map(([name, { description }]) => [
      name,
      { required: required.includes(name), ...(description !== undefined && { description }) },
    ]),
  )
}
