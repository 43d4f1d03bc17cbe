// Refusals in words for a buyer who cannot have the merchant's answer. The account that pays is the merchant's: neither it nor its
// balance is the buyer's business, and a credential there is none.
import { type ErrorCode, GatewayError, type ProblemExtras } from '../core/errors.ts'
import { must } from '../lib/must.ts'
import type { ConsentVerdict, Finding } from './ports.ts'
import type { EdgeRefusal } from '../../schemas/edge.ts'

/** @returns 403 edge_not_authorized, saying to the merchant which record would authorize */
export const notAuthorized = ({ refusal, detail }: Extract<ConsentVerdict, { ok: false }>) =>
  edgeRefused(refusal, detail)

/** @returns 403 edge_not_authorized, naming the paths or methods that the consent covers */
export const notCovered = (
  refusal: 'path_not_covered' | 'method_not_covered',
  covered: readonly string[],
): GatewayError =>
  refusal === 'path_not_covered'
    ? edgeRefused(refusal, `The merchant's consent is for other paths: ${covered.join(', ')}.`)
    : edgeRefused(refusal, `The merchant's consent is for other methods: ${covered.join(', ')}.`)

/** 405: POST is what a merchant allows by consenting, every other method by listing it. */
export const methodNotListed = (allowed: readonly string[]): GatewayError =>
  new GatewayError(
    'method_not_allowed',
    `This merchant takes ${allowed.join(', ')} through the edge. Others are forwarded where its record lists them in methods=.`,
    { reason: 'method_not_listed', extras: { allow: [...allowed] } },
  )

function edgeRefused(refusal: EdgeRefusal, detail: string): GatewayError {
  return new GatewayError(
    'edge_not_authorized',
    // The first part is for the merchant, the second for its buyer.
    `${detail} Nothing was sent or charged: until the merchant puts that right, call it directly.`,
    { reason: refusal, extras: { refusal } },
  )
}

/** Names what blocks, and nothing of what was sent. */
export function transactionBlocked(findings: readonly Finding[]): GatewayError {
  const blocking = findings.filter(({ blocks }) => blocks)
  const first = must(blocking[0], 'a finding that blocks a transaction that was blocked')
  return new GatewayError(
    'transaction_blocked',
    `Policy does not let this transaction through: ${first.detail} Nothing was sent or charged.`,
    {
      reason: [...new Set(blocking.map(({ rule }) => rule))].join(' '),
      extras: { findings: blocking.map(({ rule, detail }) => ({ rule, detail })) },
    },
  )
}

/** The offer of other 402s is left out: the reference in it names the account. */
export const merchantHasNoCredits = () =>
  new GatewayError(
    'credits_required',
    'The merchant has no usage credits left at this gateway, so nothing was sent. Call the merchant directly, or try again ' +
      'once it has topped up.',
    { reason: 'merchant_credits' },
  )

/** Members of the engine's refusals that concern the buyer. */
const SHOWN = ['attempt_id', 'idempotency_key', 'receipt', 'upstream_status', 'retry_after_seconds'] as const

/**
 * A refusal of the engine in the words of a merchant's buyer.
 * @param sentKey Idempotency-Key of the buyer, where there was one: what to ask the merchant with
 */
export function toBuyer(thrown: unknown, sentKey: string | undefined): unknown {
  if (!(thrown instanceof GatewayError)) return thrown
  const extras: ProblemExtras = Object.fromEntries(
    SHOWN.filter((name) => thrown.extras[name] !== undefined).map((name) => [name, thrown.extras[name]]),
  )
  if (sentKey !== undefined && AFTER_SENDING.has(thrown.code)) extras.idempotency_key = sentKey
  const { reason, cause } = thrown
  return new GatewayError(thrown.code, wordsFor(thrown), {
    extras,
    cause,
    ...(reason !== undefined && { reason }),
  })
}

const AFTER_SENDING: ReadonlySet<ErrorCode> = new Set([
  'outcome_ambiguous',
  'response_too_large',
  'response_unacceptable',
])

function wordsFor({ code, message, reason, extras }: GatewayError): string {
  const status = extras['upstream_status']
  switch (code) {
    case 'upstream_unreachable':
      return `The merchant was not reached${reason === undefined ? '' : `: ${reason}`}. Nothing was sent or charged; trying again is safe.`
    case 'outcome_ambiguous':
      return (
        'The request went out, but no complete answer of the merchant came back. It may or may not have been carried out, ' +
        'a payment in it included: ask the merchant, with the same Idempotency-Key, before you pay again. It is not resent.'
      )
    case 'response_too_large':
      return `The merchant carried the request out (status ${status}), but its answer is larger than 1 MiB, so it was not passed on. Do not repeat it blindly.`
    case 'response_unacceptable':
      return `The merchant carried the request out (status ${status}), but its answer cannot be passed on whole. Do not repeat it blindly.`
    default:
      return message
  }
}
