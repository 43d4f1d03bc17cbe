// Refusals of an attempt in words for its caller: what happened, what it cost, what to do next.
import { type ErrorCode, GatewayError } from '../core/errors.ts'
import { KeyFileFault, type KeyFileFailure } from './authority/key-file-fault.ts'
import { KeyServiceError, type KeyServiceFailure } from './authority/key-service.ts'
import type { Attempt } from '../store/model.ts'
import { ATTEMPT_COST } from './wire.ts'

/** Raised before anything left: names the outcome of the attempt and what the caller is told. */
export class Unsent extends Error {
  readonly outcome: string
  readonly error: GatewayError
  constructor(outcome: string, error: GatewayError) {
    super(outcome)
    this.outcome = outcome
    this.error = error
  }
}

/** @param reason for the log: the word of the rule that refused */
export const targetBlocked = (reason: string) =>
  new GatewayError(
    'target_blocked',
    'This host may not be reached: it is denied by the operator, or its name leads to an address that is not public.',
    { reason },
  )

/** Where this replica cannot know what was sent under a caller's key: sending again is what the key is there to prevent. */
export const keysNotShared = () =>
  new GatewayError(
    'store_unavailable',
    'This replica of the gateway does not know what was sent under an idempotency key: its derivation.jwk is not that of the others. ' +
      'Nothing was sent or charged. Try again, since another one may answer; the operator has to copy the file from them.',
    { reason: 'derivation_key', extras: { retry_after_seconds: 1 } },
  )

/** @returns 503 egress_paused with `retry_after_seconds`; nothing was sent or charged */
export const egressPaused = () =>
  new GatewayError(
    'egress_paused',
    'The operator has paused all outbound requests. Nothing was sent or charged. Try again later.',
    { extras: { retry_after_seconds: 60 } },
  )

/** @returns 503; the stored secret could not be opened, and the credit was given back */
export const credentialUnavailable = (cause: unknown) => {
  const { advice, reason } = unopened(cause)
  return new GatewayError(
    'credential_unavailable',
    `The stored credential could not be opened. Nothing was sent and the credit was returned. ${advice}`,
    { cause, ...(reason !== undefined && { reason }) },
  )
}
function unopened(cause: unknown): { readonly advice: string; readonly reason?: string } {
  if (cause instanceof KeyServiceError)
    return { advice: KEY_SERVICE_ADVICE[cause.reason], reason: `key_service_${cause.reason}` }
  if (cause instanceof KeyFileFault) return { advice: KEY_FILE_ADVICE[cause.reason], reason: cause.reason }
  return { advice: ASK_TO_STORE }
}
const ASK_TO_STORE = 'Ask the operator to store it again.'
const KEY_SERVICE_ADVICE = {
  unreachable: 'The key service that guards it does not answer: try again in a moment.',
  denied:
    'The key service that guards it does not let the gateway use the key: ask the operator, whose log says why.',
  key_missing: 'The key that guards it is disabled or gone: ask the operator, whose log says which.',
  refused: ASK_TO_STORE,
} as const satisfies Record<KeyServiceFailure, string>
const KEY_FILE_ADVICE = {
  authority_key:
    'The key that guards it is not in the key file of this replica: try again, since another one may have it; else ask the operator, whose log says which.',
  authority_file: 'The key file of this replica cannot be used: ask the operator, whose log says why.',
} as const satisfies Record<KeyFileFailure, string>

/** @returns 503; the operator took the provider out of the file that described it */
export const providerGone = (provider: string) =>
  new GatewayError(
    'credential_unavailable',
    `The provider ${provider} of this credential is not defined here any more. Nothing was sent or charged. Ask the ` +
      'operator to put it back into GATEWAY_PROVIDERS_FILE.',
    { reason: 'provider_gone' },
  )

/** @returns 503; the client certificate of the credential is out of date, and the credit was given back */
export const certificateExpired = (cause: Error) =>
  new GatewayError(
    'credential_unavailable',
    `The credential cannot be used: ${cause.message}. Nothing was sent and the credit was returned. ` +
      'Ask the operator to rotate it with a new certificate and key.',
    { cause, reason: 'certificate_expired' },
  )

/** @returns 503 upstream_unreachable; nothing was sent, so that trying again is safe */
export const unreachable = (why: string) =>
  new GatewayError(
    'upstream_unreachable',
    `The request was not sent: ${why}. The credit was returned; trying again is safe.`,
    { reason: why },
  )

/** Names the attempt, what was sent as Idempotency-Key and what it cost, of endings that were paid for. */
export function charged(
  attempt: Attempt,
  code: ErrorCode,
  detail: string,
  { balance, ...extras }: { balance: number } & Record<string, unknown>,
): GatewayError {
  return new GatewayError(code, detail, {
    reason: code,
    extras: {
      attempt_id: attempt.id,
      ...(attempt.idempotencyKey === null ? {} : { idempotency_key: attempt.idempotencyKey }),
      credits: { charged: ATTEMPT_COST, balance },
      ...extras,
    },
  })
}

/** @returns 404, the same for a credential of another account as for none */
export const credentialNotFound = () =>
  new GatewayError(
    'credential_not_found',
    'There is no credential of this id on your account. gateway.egress.credentials.list lists yours.',
  )

/** @returns 403 scope_denied; the credential behind the capability was revoked meanwhile */
export const credentialGone = () =>
  new GatewayError(
    'scope_denied',
    'The credential behind this capability was revoked. Ask the operator for another.',
    {
      reason: 'credential_gone',
      extras: { refused_by: 'credential' },
    },
  )

/** @returns 409; it was edited or rotated between the reservation and the first byte, and the credit was given back */
export const credentialReplaced = () =>
  new GatewayError(
    'state_conflict',
    'The credential was edited or rotated before the request went out. Nothing was sent and the credit was returned: send it again.',
    { reason: CREDENTIAL_CHANGED },
  )
const CREDENTIAL_CHANGED = 'credential_changed'
export const isReplaced = (thrown: unknown): thrown is GatewayError =>
  thrown instanceof GatewayError && thrown.reason === CREDENTIAL_CHANGED

/** @returns 503; whether the request may still go out could not be asked, and the credit was given back */
export const withdrawalUnknown = (cause: unknown) =>
  new GatewayError(
    'store_unavailable',
    'Whether the capability and its credential still stand could not be asked. Nothing was sent and the credit was returned: try again in a moment.',
    { cause, reason: 'standing_unknown', extras: { retry_after_seconds: 1 } },
  )

/** @returns 401 for one that was revoked or has expired, 403 for one that is used up */
export const capabilityGone = (reason: 'capability_gone' | 'capability_used_up') =>
  new GatewayError(
    reason === 'capability_gone' ? 'capability_invalid' : 'scope_denied',
    reason === 'capability_gone'
      ? 'This capability was revoked or has expired. Ask the operator for a new one.'
      : 'This capability (or the one it was narrowed from) has no uses left. Ask the operator for a new one.',
    { reason, extras: { refused_by: 'capability' } },
  )

/** The sentence of an attempt that went out and has no answer: charged, and not to be resent unseen. */
export const ambiguousWords = (reason: keyof typeof AFTER_WORDS) =>
  `The request went out, but ${AFTER_WORDS[reason]}. It may or may not have been carried out: check with the upstream ` +
  'before you send again. It was charged and will not be resent.'

export const DNS_WORDS = {
  not_found: 'the host name does not exist',
  timeout: 'the name resolution took too long',
  server_failure: 'the name resolution failed',
} as const
export const SEND_WORDS = {
  connect_failed: 'the connection could not be made',
  tls_failed: 'the TLS handshake failed (check the certificate of the host)',
  address_refused: 'its address may not be dialled',
  address_mismatch: 'the connection did not reach the vetted address',
  timeout: 'the connection took too long',
  request_rejected: 'the request could not be put on the wire',
  client_closed: 'whoever asked for it went away',
  revoked: 'the capability was revoked meanwhile',
} as const
export const TLS_WORDS = {
  untrusted:
    'the certificate of the host is signed by no authority that counts here (the public ones, or those of the credential alone)',
  expired: 'the certificate of the host is not valid at this time',
  wrong_name: 'the certificate of the host is for another name',
  client_refused:
    'the host does not take the client certificate of this credential, or asks for one that it does not have',
  closed:
    'the host hung up during the TLS handshake: it may not take the client certificate of this credential, or ask for one',
} as const
const AFTER_WORDS = {
  reset: 'the connection was lost before an answer came',
  timeout: 'no complete answer came in time',
  malformed: 'the answer was not valid HTTP',
  body_incomplete: 'the answer ended early',
  client_closed: 'whoever asked for it went away before an answer came',
  revoked: 'the capability was revoked before an answer came',
} as const
/** Why a response could not be searched for the credential. */
export const UNSEARCHED_WORDS = {
  over_budget:
    'its response is escaped so densely that searching it for the credential takes more than the gateway allows ' +
    '(ask the upstream for less, or for another format)',
  busy: 'too many responses of this account were waiting to be searched for the credential (send fewer at once)',
  failed:
    'the search of its response for the credential was cut off (look the attempt up before you send again)',
} as const
export const RESPONSE_WORDS = {
  too_large:
    'its response is larger than allowed; ask for less, or raise max_bytes (1 MiB at most, unless the credential allows more)',
  bad_status: 'its status cannot be passed on',
  other_part: 'it is another part than was asked for, or does not say which',
  encoded:
    'it compressed the response although identity was asked for, so the response could not be searched',
} as const
