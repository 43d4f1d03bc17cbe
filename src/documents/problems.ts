// The problem document of each code, and what to do about it.
import { ERRORS, type ErrorCode } from '../core/errors.ts'
import type { Registry } from '../core/registry.ts'
import { paymentSample } from './payments.ts'

/** The document a code is answered with; `detail` differs from case to case. */
export function sampleProblem(code: ErrorCode, baseUrl: string): Record<string, unknown> {
  const { status, title } = ERRORS[code]
  return {
    type: `${baseUrl}/problems/${code}`,
    title,
    status,
    detail: HELP[code],
    instance: '/v1/execute',
    code,
    request_id: 'req_01k3c9x7q0123456789abcdefghjkmnpqr',
    ...paymentSample(code, baseUrl),
  }
}

/**
 * What a code means, what to do and where to expect it, as Markdown: the page at `/problems/{code}` for whoever has tools and no
 * routes. Tools stand there by their dotted names.
 */
export function problemText(code: ErrorCode, registry: Pick<Registry, 'tools'>): string {
  const { status, title } = ERRORS[code]
  const tools = registry.tools.filter(({ tool }) => tool.errors.includes(code))
  const lines = [
    `# ${title}`,
    '',
    `Code \`${code}\`, HTTP status ${status}.`,
    '',
    namingTools(HELP[code], registry),
    '',
  ]
  if (tools.length === 0) return lines.join('\n')
  return [
    ...lines,
    'Tools that say so:',
    ...tools.map(({ tool }) => `- ${tool.name}: ${tool.title}`),
    '',
  ].join('\n')
}

/** Routes of tools give way to the names of the tools: `POST /v1/inspect`, and `/v1/actions/permits` for what is read there. */
function namingTools(text: string, registry: Pick<Registry, 'tools'>): string {
  return text.replaceAll(
    /(?:(GET|POST) )?(\/[\w./-]*\w)/g,
    (written, method: string | undefined, path: string) => {
      const entry = registry.tools.find(({ tool }) =>
        tool.rest.some((route) => route.path === path && route.method === (method ?? 'GET')),
      )
      return entry?.tool.name ?? written
    },
  )
}

/** Advice on each code: the text of its page, and the `detail` of examples. */
export const HELP: Readonly<Record<ErrorCode, string>> = {
  sign_in_required:
    'Your sign-in has ended. Sign in again at `/console`; a form that was sent meanwhile is kept and goes on from there.',
  role_required:
    'People and service keys have roles: owner, operator, approver, seller, auditor. Ask an owner of the account to do it, or to change your role.',
  fresh_sign_in_required:
    'What cannot be taken back asks for your passkey again, though you are signed in. Use it, and do it within five minutes.',
  approval_refused:
    'The mandate says that whoever prepared a permit does not approve it, or that two people do. Let another person decide it in the inbox.',
  insufficient_scope:
    'The person who connected this assistant did not allow it this. Sign in again with the scope that `WWW-Authenticate` names, or let them widen the connection in the console.',
  connection_not_found:
    'Connections are listed in the console, under Connections, and each account sees its own.',
  person_not_found:
    'People of the account are listed in the console, under People, and by `agent-gateway people list`.',
  sign_in_failed:
    'The passkey, the recovery code or the answer of the identity provider was not accepted. Begin again on the sign-in page; an owner of the account can send a link for a new passkey.',
  invitation_invalid:
    'Each link of an invitation works once and for an hour. An owner makes another in the console, or `agent-gateway people invite` does on the machine.',
  session_not_found:
    'Sessions are listed in the console, under People; one that has ended long ago is forgotten.',
  payment_invalid:
    'Send the payment as your x402 client builds it: base64 of the JSON payload, standard alphabet with padding.',
  payment_blocked:
    'Look at `check` and `invalidReason`: they name the check that failed. Sign a new payment that passes it.',
  settlement_replayed:
    'This payment was settled once and is not settled again. `receipt_id` names its receipt.',
  quote_invalid: 'Leave X-Gateway-Quote out, or send the one that came with the 402 of this very request.',
  payment_rejected:
    'Look at `invalid_reason`, and pay again with a new signature for the requirement in this answer.',
  settlement_failed: 'Nothing was charged. Look at `invalid_reason`, and pay again with a new signature.',
  payment_not_found:
    'Send the Payment-Signature that made the claim, and check the claim id. Or sign `sign_in` with the wallet that paid, and ' +
    'send it as Sign-In-With-X.',
  payment_claimed:
    'Nothing was charged again. Read the state and the result at `payment_url` with the same Payment-Signature. Where the answer ' +
    'has a `sign_in`, that shows the state alone: sign it with the wallet that paid, and send it there as Sign-In-With-X.',
  sign_in_refused:
    '`invalid_reason` says what is wrong. Sign the new `sign_in` as it stands, with the wallet that paid, within five minutes; ' +
    'each is good once.',
  idempotency_key_in_use:
    'Wait for `retry_after_seconds` and send the same request under the same key: you get the answer of the first. `attempt_id` names it.',
  idempotency_key_reused:
    'A key stands for one request. Send the first request again, or use a new key for this one.',
  idempotency_answer_gone:
    'The first request was carried out and is not sent again under this key. `attempt_id` says how it ended; ask the upstream for the result.',
  payment_identifier_conflict: 'Use a new payment identifier for another request.',
  settlement_unknown:
    'Do not pay again: the chain is being asked. Read `payment_url` with the same Payment-Signature.',
  payments_unavailable:
    'The chain or the facilitator does not answer. Nothing was charged; try again with the same payment.',
  sources_unusable:
    '`coverage` says for each source what happened. Nothing was charged: send other sources, or try again later with the same payment.',
  service_not_found: 'GET /v1/marketplace/services lists what is sold. Ids are lower case.',
  service_failed:
    'Nothing was charged: the service did not answer as its listing promises, and that counts against it. Try again with the same payment, or ' +
    'choose another service.',
  service_unavailable:
    'Nothing was charged. `detail` says why it is not sold now; its listing says when that changes.',
  tool_unavailable: 'The operator has to correct the configuration of its price. GET /v1/pricing says why.',
  no_route: 'Choose a network and scheme that GET /supported lists, or try again later.',
  calls_spent:
    '`budget` says whose budget it is, how much of it is used, and when it is whole again. Nothing was sent or charged: wait until ' +
    '`frees_at`, or ask the operator for another capability.',
  budget_spent:
    '`budget` says whose budget of credits or USDC it is, how much of it is used, and when it is whole again. Nothing was sent or ' +
    'charged. Paying does not help: wait until `frees_at`, or ask the operator.',
  json_invalid: 'Send a body that is valid JSON in UTF-8.',
  json_too_deep: 'Nest objects and arrays at most 32 deep.',
  input_invalid:
    'Look at `fields`: each entry points to a value and says what is wrong with it. Correct it and send again.',
  input_missing_field: 'Add the field that `fields` points to.',
  input_wrong_type: 'Send the field that `fields` points to with the type of the schema.',
  input_unknown_property: 'Remove the property that `fields` points to; the schema lists the known ones.',
  input_conflict: 'Say it once: two parts of the input ask for different things. `detail` names them.',
  intent_unknown: 'Send the example in `repair`: it works unchanged. Then replace its values by yours.',
  outcome_not_live: 'Use a capability of the catalogue at /v1/capabilities: everything listed there works.',
  target_invalid: 'Send an absolute https:// URL in canonical spelling, without credentials or fragment.',
  header_forbidden: 'Leave out the header that `detail` names; authentication is added by the gateway.',
  request_invalid:
    'The request could not be read as HTTP: check its path encoding and that the body is sent whole.',
  key_required:
    'Send a service key (agw_sk_…) as `Authorization: Bearer`; for email verification an email key (agw_ek_…), which ' +
    'POST /v1/keys/free makes.',
  key_invalid:
    'The key is mistyped, revoked or of another installation. Ask the operator for a valid service key; POST ' +
    '/v1/keys/free makes a new email key.',
  capability_required: 'Send a capability (agw_cap_…) as `Authorization: Bearer` or `X-Gateway-Capability`.',
  capability_invalid: 'The capability is mistyped, expired or revoked. Ask the operator for a new one.',
  credits_required:
    'The account has no credits left. Pay the `offer`: POST its `request.body` to /v1/credits/purchase with an x402 ' +
    'payment. Or ask the operator, as `top_up` says. Then send the request again.',
  payment_required: 'Pay one of the offers in `accepts` and repeat the identical request with its payment.',
  scope_denied: 'The host, path or method is outside what was granted. `detail` says which scope refused.',
  operator_required:
    'This key belongs to a seller, and opens what is below /v1/marketplace/seller only. Use a service key of an operator here.',
  admin_required: "Use the service key of the installation's first account.",
  target_blocked:
    'The gateway does not reach private or local addresses, or ports that are not allowed. Use a public HTTPS target.',
  origin_denied: 'Call the gateway by its own address; pages of other origins are not accepted here.',
  not_found: 'There is nothing at this address. /openapi.json lists every address.',
  receipt_not_found: 'Check the receipt id: it is in the answer of the charged call.',
  attempt_not_found: 'Check the attempt id: only the account or capability that made the attempt sees it.',
  credential_not_found: 'Check the credential id: list your credentials at /v1/egress/credentials.',
  capability_not_found: 'Check the capability id: list your capabilities at /v1/egress/capabilities.',
  account_not_found: 'Check the account id: it is in the answer that created the account.',
  key_not_found: 'Check the key id: list your keys first.',
  tool_not_found: 'Use a tool name of /v1/protocols.',
  seller_not_found:
    'Check the seller id; with a key of your own, POST /v1/marketplace/sellers registers one.',
  method_not_allowed: 'Use a method of the `Allow` header.',
  state_conflict: 'The resource changed or is in another state. Read it again, then decide.',
  body_too_large: 'Send a smaller body: `max_bytes` says how much is accepted.',
  content_type_unsupported: 'Send `Content-Type: application/json` and no Content-Encoding.',
  invalid_sample:
    'Send {target, method, headers, body}: `fields` says what is wrong; GET /v1/test/schema has the schema.',
  mandate_required:
    'Send a `mandate` in full, or the `mandate_id` of a stored one, that covers this request; `refused` says what was missing.',
  mandate_not_found: 'Check the mandate id: list your mandates at /v1/actions/mandates.',
  permit_invalid: 'Send the permit exactly as it was prepared: a compact JWS of this gateway.',
  permit_not_found: 'Check the permit id: list your permits at /v1/actions/permits.',
  proxy_identity_required:
    'Put the capability into the address of the proxy: HTTPS_PROXY=http://agent:agw_cap_…@127.0.0.1:PORT.',
  host_mismatch:
    'Use a connection for one host alone: CONNECT, the TLS server name and the Host header have to name the same.',
  permit_used:
    'A permit is good for one execution. `attempt_id` names it; ask the operator for a new permit.',
  permit_pending: 'The operator has not approved it yet. It was not used up: try again later.',
  permit_refused: 'The operator refused this action. Ask them why before you ask for another permit.',
  permit_expired: 'Nothing was sent. Ask the operator for a new permit.',
  permit_revoked:
    'Nothing was sent: its mandate was revoked, or the credential was revoked or replaced. Ask the operator for a new permit.',
  permit_mismatch:
    'Send exactly the request that the permit was prepared for; `differs` names the parts that do not match.',
  edge_not_authorized:
    'The merchant has to publish the consent record in DNS: `agent-gateway edge check HOST` says what is missing.',
  transaction_blocked:
    'Look at `findings`: each names a rule and what to change; POST /v1/inspect says where it stands. Nothing was sent or charged.',
  rate_limited:
    'Wait `retry_after_seconds`, then go on more slowly; the RateLimit headers show what is left.',
  headers_too_large: 'Send at most 16 KiB of headers.',
  internal: 'The gateway failed. Try again; if it keeps failing, give the operator the `request_id`.',
  secret_reflected:
    'The upstream sent the credential back, so its answer was withheld. The attempt is charged and recorded; tell the operator.',
  response_too_large:
    'The upstream answer is larger than allowed: ask for less, or raise `max_bytes` up to 1 MiB.',
  response_unacceptable:
    'The upstream answer cannot be passed on (status or encoding). The attempt is charged and recorded.',
  outcome_ambiguous:
    'The request may have been carried out. It is never resent: look up `attempt_id` and the upstream before you try again.',
  upstream_unreachable: 'Nothing was sent and nothing is charged. Try again later, or check the host name.',
  credential_unavailable:
    'The credential could not be opened; nothing was sent or charged. Tell the operator.',
  egress_paused: 'The operator has paused outbound requests. Try again later.',
  store_unavailable: 'The store does not answer. Try again in a few seconds.',
  overloaded: 'The gateway is at capacity. Try again after `Retry-After`.',
  draining: 'This gateway is shutting down. Try again in a few seconds.',
}
