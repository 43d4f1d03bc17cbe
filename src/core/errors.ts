// Every refusal of the gateway: one class, one table. The key is the wire code: add freely, rename never.
// Each door decides how a code looks on the wire (toX functions); its meaning is decided here.

export const ERRORS = {
  // 400: the request itself
  json_invalid: { status: 400, title: 'The body is not valid JSON' },
  json_too_deep: { status: 400, title: 'The JSON body is nested too deeply' },
  input_invalid: { status: 400, title: 'The input does not match the schema' },
  input_missing_field: { status: 400, title: 'A required field is missing' },
  input_wrong_type: { status: 400, title: 'A field has the wrong type' },
  input_unknown_property: { status: 400, title: 'The input has an unknown property' },
  intent_unknown: { status: 400, title: 'The job was not understood' },
  input_conflict: { status: 400, title: 'Two parts of the input contradict each other' },
  outcome_not_live: { status: 400, title: 'This outcome is not available yet' },
  target_invalid: { status: 400, title: 'The target is not a canonical HTTPS URL' },
  header_forbidden: { status: 400, title: 'A request header may not be sent through the gateway' },
  request_invalid: { status: 400, title: 'The HTTP request is malformed' },
  payment_invalid: { status: 400, title: 'The payment cannot be read' },
  payment_blocked: { status: 400, title: 'The payment was blocked by the firewall' },
  settlement_replayed: { status: 400, title: 'This payment was settled before' },
  quote_invalid: { status: 400, title: 'The quote is not for this request' },
  invalid_sample: { status: 400, title: 'The sample cannot be tested' },
  // 401
  key_required: { status: 401, title: 'A key is required' },
  key_invalid: { status: 401, title: 'The key is not valid' },
  capability_required: { status: 401, title: 'A capability is required' },
  capability_invalid: { status: 401, title: 'The capability is not valid' },
  permit_invalid: { status: 401, title: 'The permit is not valid' },
  sign_in_required: { status: 401, title: 'Sign in first' },
  // 402
  credits_required: { status: 402, title: 'Usage credits are required' },
  budget_spent: { status: 402, title: 'A budget is spent' },
  payment_required: { status: 402, title: 'Payment is required' },
  payment_rejected: { status: 402, title: 'The payment was not accepted' },
  settlement_failed: { status: 402, title: 'The payment could not be settled' },
  // 403
  scope_denied: { status: 403, title: 'Not within the scope' },
  operator_required: { status: 403, title: "An operator's key is required" },
  admin_required: { status: 403, title: 'An administrator key is required' },
  role_required: { status: 403, title: 'This takes another role' },
  fresh_sign_in_required: { status: 403, title: 'Show again that it is you' },
  sign_in_failed: { status: 403, title: 'You could not be signed in' },
  invitation_invalid: { status: 403, title: 'The invitation opens nothing any more' },
  approval_refused: { status: 403, title: 'Somebody else has to approve this' },
  insufficient_scope: { status: 403, title: 'The connection was not allowed this' },
  sign_in_refused: { status: 403, title: 'The signature does not show who paid' },
  target_blocked: { status: 403, title: 'The target may not be reached' },
  edge_not_authorized: { status: 403, title: 'The merchant has not authorized this gateway' },
  transaction_blocked: { status: 403, title: 'The transaction was blocked by policy' },
  origin_denied: { status: 403, title: 'The Host or Origin header is not accepted' },
  // 404, 405, 407, 409, 413, 415, 421, 422, 428, 429
  not_found: { status: 404, title: 'There is nothing at this address' },
  service_not_found: { status: 404, title: 'There is no such service' },
  receipt_not_found: { status: 404, title: 'There is no such receipt' },
  attempt_not_found: { status: 404, title: 'There is no such attempt' },
  credential_not_found: { status: 404, title: 'There is no such credential' },
  capability_not_found: { status: 404, title: 'There is no such capability' },
  account_not_found: { status: 404, title: 'There is no such account' },
  key_not_found: { status: 404, title: 'There is no such key' },
  tool_not_found: { status: 404, title: 'There is no such tool' },
  payment_not_found: { status: 404, title: 'There is no such payment' },
  mandate_not_found: { status: 404, title: 'There is no such mandate' },
  permit_not_found: { status: 404, title: 'There is no such permit' },
  connection_not_found: { status: 404, title: 'There is no such connection' },
  person_not_found: { status: 404, title: 'There is no such person' },
  session_not_found: { status: 404, title: 'There is no such session' },
  seller_not_found: { status: 404, title: 'There is no such seller' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  proxy_identity_required: { status: 407, title: 'The proxy has to know who connects' },
  state_conflict: { status: 409, title: 'The resource is in another state' },
  permit_used: { status: 409, title: 'The permit was used before' },
  permit_pending: { status: 409, title: 'The permit waits for approval' },
  permit_refused: { status: 409, title: 'The permit was refused' },
  permit_expired: { status: 409, title: 'The permit has expired' },
  permit_revoked: { status: 409, title: 'The permit no longer holds' },
  permit_mismatch: { status: 409, title: 'The request is not the one the permit is for' },
  payment_claimed: { status: 409, title: 'This payment was used before' },
  payment_identifier_conflict: { status: 409, title: 'The payment identifier was used for another request' },
  idempotency_key_in_use: { status: 409, title: 'The first request under this idempotency key is under way' },
  idempotency_answer_gone: { status: 409, title: 'The answer to this idempotency key was not kept' },
  body_too_large: { status: 413, title: 'The body is too large' },
  content_type_unsupported: { status: 415, title: 'The content type is not supported' },
  host_mismatch: { status: 421, title: 'The request names another host than its connection' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used for another request' },
  mandate_required: { status: 428, title: 'A scoped mandate is required' },
  calls_spent: { status: 429, title: 'A budget of calls is spent' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The request headers are too large' },
  // 5xx
  internal: { status: 500, title: 'The gateway failed' },
  secret_reflected: { status: 502, title: 'The upstream response contained the credential' },
  response_too_large: { status: 502, title: 'The upstream response is larger than allowed' },
  sources_unusable: { status: 502, title: 'No source gave anything usable' },
  response_unacceptable: { status: 502, title: 'The upstream response cannot be passed on' },
  service_failed: { status: 502, title: 'The service did not deliver' },
  service_unavailable: { status: 503, title: 'The service is not sold right now' },
  outcome_ambiguous: { status: 503, title: 'The outcome is not known' },
  upstream_unreachable: { status: 503, title: 'The upstream was not reached' },
  credential_unavailable: { status: 503, title: 'The credential could not be opened' },
  settlement_unknown: { status: 503, title: 'The settlement is not known yet' },
  payments_unavailable: { status: 503, title: 'Payments cannot be checked right now' },
  no_route: { status: 503, title: 'No live facilitator takes this payment' },
  tool_unavailable: { status: 503, title: 'The tool is not offered right now' },
  egress_paused: { status: 503, title: 'Outbound requests are paused by the operator' },
  store_unavailable: { status: 503, title: 'The store is not available' },
  overloaded: { status: 503, title: 'The gateway is at capacity' },
  draining: { status: 503, title: 'The gateway is shutting down' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/** Members that a problem document carries beside the RFC 9457 ones. `scope` and `fields` are safe to show. */
export interface ProblemExtras {
  /** One entry per offending field: JSON Pointer into the input, and what is wrong. */
  fields?: { pointer: string; message: string }[]
  /** Ready-to-send guidance: what was understood and an example request that works when sent back unchanged. */
  repair?: Record<string, unknown>
  /** Whole seconds until a retry may succeed; becomes `Retry-After`. */
  retry_after_seconds?: number
  attempt_id?: string
  idempotency_key?: string
  credits?: { charged: number; balance: number | null }
  /** How to get more credits. */
  top_up?: Record<string, unknown>
  accepts?: unknown[]
  allow?: string[]
  [key: string]: unknown
}

/** Somebody or something of an account, by id. */
export interface ErrorSubject {
  readonly type: 'person' | 'invitation'
  readonly id: string
  readonly accountId: string
}

export class GatewayError extends Error {
  readonly code: ErrorCode
  /** Why, for the log only: may be finer than what the caller sees, never a secret. */
  readonly reason: string | undefined
  readonly extras: ProblemExtras
  /** Whom or what it is about where nobody is signed in, for the audit log of that account only. */
  readonly about: ErrorSubject | undefined

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      cause?: unknown
      reason?: string
      extras?: ProblemExtras
      about?: ErrorSubject | undefined
    } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GatewayError'
    this.code = code
    this.reason = options.reason
    this.extras = options.extras ?? {}
    this.about = options.about
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** RFC 9457 problem document; `type` is a relative reference that /problems/<code> answers with a page. */
export interface Problem extends ProblemExtras {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: ErrorCode
  request_id: string
}

/** The problem document of a refusal (RFC 9457) with `code`, `detail` and `request_id`; `cause` is never in it. */
export function toProblem(
  error: GatewayError,
  context: { requestId: string; baseUrl: string; instance?: string },
): Problem {
  const { status, title } = ERRORS[error.code]
  return {
    type: `${context.baseUrl}/problems/${error.code}`,
    title,
    status,
    detail: error.message,
    instance: context.instance ?? `urn:request:${context.requestId}`,
    code: error.code,
    request_id: context.requestId,
    ...error.extras,
  }
}

/** Anything thrown, as a GatewayError: what a driver, an upstream or a library says stays in `cause`, for the log. */
export const toGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError ? thrown : new GatewayError('internal', OUR_FAULT, { cause: thrown })

/** A fault of the gateway's own that it found by itself: the caller is told that it failed, the log says how. */
export const gatewayFault = (reason: string, extras: ProblemExtras = {}): GatewayError =>
  new GatewayError('internal', OUR_FAULT, { reason, extras, cause: new Error(reason) })

const OUR_FAULT =
  'The gateway failed to handle this request. Try again; if it keeps failing, give the operator the request_id.'

/** Problems that an operator has to mend before anything starts: all of them at once, each in words that say how. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n- ${problems.join('\n- ')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}
