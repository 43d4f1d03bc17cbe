// Why no token could be minted, in words for whoever can mend it. A provider's own words are never passed on: some of them quote the
// secret they were sent.
import { GatewayError } from '../../core/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import { TLS_WORDS } from '../refusals.ts'

export type FailureReason =
  | 'unreachable'
  | 'handshake'
  | 'blocked'
  | 'paused'
  | 'no_answer'
  | 'busy'
  | 'refused'
  | 'malformed'
  | 'key_unusable'
  | 'unreadable'
  | 'in_progress'

/** Facts that may be stored and shown: nothing in them is secret. */
export interface FailureFacts {
  readonly host: string
  readonly reason: FailureReason
  /** The error code of the standard that was given, or that says the same. */
  readonly oauthError?: string | undefined
  readonly status?: number | undefined
  /** Of `handshake`. */
  readonly tls?: keyof typeof TLS_WORDS | undefined
  readonly retryAfterMs?: number | undefined
  /** A refresh token was sent before, and no answer came from which its successor could be taken. */
  readonly maybeSpent?: boolean | undefined
}

export class ExchangeFailed extends Error {
  readonly facts: FailureFacts
  /** What takes the place of the refresh token that was sent, although no access token came with it that can be used. */
  readonly refreshToken: Secret<string> | undefined
  constructor(facts: FailureFacts, cause?: unknown, refreshToken?: Secret<string>) {
    super(`token exchange: ${facts.reason}`, { cause })
    this.name = 'ExchangeFailed'
    this.facts = facts
    this.refreshToken = refreshToken
  }
}

const OAUTH_ERRORS = new Set([
  // RFC 6749, 5.2
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  // RFC 8707, and the authorization endpoint's that token endpoints use as well
  'invalid_target',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
])
/** Codes of providers that have their own, as the standard's that say the same. */
const PROVIDERS_ERRORS = new Map([
  // GitHub
  ['bad_refresh_token', 'invalid_grant'],
  ['incorrect_client_credentials', 'invalid_client'],
  // Slack
  ['invalid_refresh_token', 'invalid_grant'],
  ['token_expired', 'invalid_grant'],
  ['token_revoked', 'invalid_grant'],
  ['invalid_client_id', 'invalid_client'],
  ['bad_client_secret', 'invalid_client'],
  ['invalid_grant_type', 'unsupported_grant_type'],
  ['ratelimited', 'temporarily_unavailable'],
  ['service_unavailable', 'temporarily_unavailable'],
  ['internal_error', 'server_error'],
  ['fatal_error', 'server_error'],
])
/** Undefined for a code that is not known, which may hold anything. */
export function knownError(code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined
  return OAUTH_ERRORS.has(code) ? code : PROVIDERS_ERRORS.get(code)
}

const PASSING = new Set<FailureReason>(['unreachable', 'no_answer', 'busy', 'paused', 'in_progress'])
/** Whether waiting may help; otherwise an operator has to do something. */
export const isPassing = ({ reason }: FailureFacts): boolean => PASSING.has(reason)

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000
/** So that a provider is not asked again by every call while its answer is known. */
const OPERATORS_WAIT_MS = 30_000

/** @param failures how often in a row it failed before */
export function waitAfter(facts: FailureFacts, failures: number): number {
  if (!isPassing(facts)) return OPERATORS_WAIT_MS
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10))
  return Math.max(wait, Math.min(facts.retryAfterMs ?? 0, 5 * LONGEST_WAIT_MS))
}

/** @returns 503 credential_unavailable: what failed, and who can mend it */
export function tokenUnavailable(facts: FailureFacts, retryAfterMs: number, cause?: unknown): GatewayError {
  const { host, oauthError, status } = facts
  const mendedBy = isPassing(facts) ? 'waiting' : 'operator'
  return new GatewayError(
    'credential_unavailable',
    `No access token could be had for this credential: ${wordsOf(facts)} Nothing was sent and the credit was returned.`,
    {
      cause,
      reason: `token_${facts.reason}`,
      extras: {
        failed: 'token_exchange',
        token_host: host,
        mended_by: mendedBy,
        ...(oauthError === undefined ? {} : { oauth_error: oauthError }),
        ...(status === undefined ? {} : { token_status: status }),
        ...(mendedBy === 'waiting'
          ? { retry_after_seconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) }
          : {}),
      },
    },
  )
}

function wordsOf({ host, reason, oauthError, status, tls = 'closed', maybeSpent }: FailureFacts): string {
  switch (reason) {
    case 'unreachable':
      return `${host} could not be reached. Try again later.`
    case 'handshake':
      return `${host} is asked over TLS, and ${TLS_WORDS[tls]}. Ask the operator to look at \`settings.tls\`: \`token_endpoint\` says whether it serves there.`
    case 'blocked':
      return `${host} may not be reached: it is denied by the operator, or its name leads to an address that is not public. Ask the operator.`
    case 'paused':
      return 'the operator has paused all outbound requests. Try again later.'
    case 'no_answer':
      return `${host} was asked, but gave no complete answer. Try again later.`
    case 'busy':
      return `${host} answered ${status !== undefined && status >= 400 ? status : 'that it is busy'}. Try again later.`
    case 'in_progress':
      return `${host} is being asked for one and has not answered in time. Try again in a moment.`
    case 'malformed':
      return `${host} gave an answer that is no token. Ask the operator to check the token endpoint.`
    case 'key_unusable':
      return 'the stored private key could not be used. Ask the operator to store it again.'
    case 'unreadable':
      return 'the stored token is not what was sealed. Ask the operator to replace the secret of the credential.'
    case 'refused':
      return `${host} refused (${oauthError ?? `status ${status ?? 'unknown'}`}). ${refusedWords(oauthError, maybeSpent)}`
  }
}

function refusedWords(error: string | undefined, maybeSpent = false): string {
  if (error === 'invalid_grant' && maybeSpent)
    return 'An earlier exchange ended without an answer that could be used, and the provider takes each refresh token once. Ask the operator to authorise again and to replace the secret of the credential.'
  if (error === 'invalid_grant')
    return 'What is stored was revoked, has expired or was used elsewhere. Ask the operator to authorise again and to replace the secret of the credential.'
  if (error === 'invalid_client' || error === 'unauthorized_client')
    return 'Ask the operator to check the client id, its secret and what the client may do.'
  if (error === 'invalid_scope' || error === 'invalid_target')
    return 'Ask the operator to check the scopes and parameters of the credential.'
  return 'Ask the operator to check the credential.'
}
