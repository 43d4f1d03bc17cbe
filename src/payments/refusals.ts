// Every way the gate says no, and what its buyer is told to do next. Only a refusal that is certain to have charged nothing
// carries a challenge: a pending one must never invite a second payment.
import { GatewayError } from '../core/errors.ts'
import type { PaymentClaim } from '../store/ports.ts'
import { type Challenges, unsettled } from './challenge.ts'
import type { SignIns } from './sign-in.ts'
import type { Check, Verdict } from './ports.ts'
import { TOO_MANY_OPEN } from './verify.ts'
import { type Challenge, type PaidCall, PaymentError } from '../core/charging.ts'

const ASK_AGAIN_SECONDS = 5

const USED = 'This payment, or its identifier, was used before, and nothing was charged again.'
const SHOW = 'Read its state and its result at `payment_url` with the same payment.'
const SIGN =
  '`payment_url` shows its state to the same payment. Its result is for the wallet that paid: once it is settled, sign `sign_in` ' +
  '(x402 extension sign-in-with-x) and send it there as the header Sign-In-With-X. The chain tells everybody all that is in ' +
  'this payment, so the payment shows nobody who you are.'

const uncharged = (message: string) =>
  `${/[.!?]$/.test(message) ? message : `${message}.`} Nothing was charged.`

/** @param parts.baseUrl in front of the addresses that a refusal names */
export function createRefusals({
  challenges,
  signIns,
  baseUrl,
}: {
  challenges: Challenges
  signIns: Pick<SignIns, 'challenge'>
  baseUrl: string
}) {
  const urlOf = ({ id }: PaymentClaim) => `${baseUrl}/v1/payments/${id}`

  function rejected(call: PaidCall, reason: string, check: Check, message: string): GatewayError {
    return new PaymentError('payment_rejected', uncharged(message), {
      reason,
      extras: { invalid_reason: reason, check },
      payment: { challenge: challenges.challenge(call, reason) },
    })
  }

  /** Nothing to pay again with when nobody can take it: the settlement is still told. */
  function freshChallenge(call: PaidCall, reason: string): Challenge | undefined {
    try {
      return challenges.challenge({ ...call, quote: undefined }, reason)
    } catch {
      return undefined
    }
  }

  return {
    rejected,

    unpaid(call: PaidCall): GatewayError {
      const challenge = challenges.challenge(call)
      const intent = call.terms.understood?.()
      const { sentence } = challenge.asking
      const detail = intent && intent.left_out.length > 0 ? `${sentence} ${intent.in_words}` : sentence
      const traced = Error.stackTraceLimit
      // Every unpaid call ends here and nobody reads where it came from; a stack trace would be a tenth of the cost of the
      // 402.
      Error.stackTraceLimit = 0
      try {
        return new PaymentError('payment_required', detail, {
          payment: { challenge },
          ...(intent && { extras: { intent } }),
        })
      } finally {
        Error.stackTraceLimit = traced
      }
    },

    verdict(call: PaidCall, verdict: Verdict & { ok: false }): GatewayError {
      const { reason, check, message, isRetryable } = verdict
      if (check === 'rate')
        return new GatewayError('rate_limited', uncharged(message), {
          reason,
          extras: { retry_after_seconds: reason === TOO_MANY_OPEN ? ASK_AGAIN_SECONDS : 60 },
        })
      if (isRetryable)
        return new GatewayError('payments_unavailable', uncharged(message), {
          reason,
          extras: { retry_after_seconds: ASK_AGAIN_SECONDS },
        })
      return rejected(call, reason, check, message)
    },

    /** @param isBuyer a secret in the payment shows whose it is; anybody else learns nothing but the state, and what to sign */
    claimed(claim: PaymentClaim, isBuyer: boolean): GatewayError {
      return new GatewayError('payment_claimed', `${USED} ${isBuyer ? SHOW : SIGN}`, {
        extras: {
          claim_id: claim.id,
          state: claim.state,
          payment_url: urlOf(claim),
          ...(!isBuyer && { sign_in: signIns.challenge(claim.id, [claim.network]) }),
        },
      })
    },

    identifierConflict(claim: PaymentClaim): GatewayError {
      return new GatewayError(
        'payment_identifier_conflict',
        'This payment identifier was used for another request. Use a new identifier; nothing was charged.',
        { extras: { claim_id: claim.id, payment_url: urlOf(claim) } },
      )
    },

    keyReused(claim: PaymentClaim): GatewayError {
      return new GatewayError(
        'idempotency_key_reused',
        'This idempotency key was used for another request of this tool. Use a new key; nothing was charged.',
        { extras: { claim_id: claim.id, payment_url: urlOf(claim) } },
      )
    },

    settlementFailed(call: PaidCall, claim: PaymentClaim, given?: string, message?: string): GatewayError {
      const reason = given ?? claim.reason ?? 'unexpected_settle_error'
      const challenge = freshChallenge(call, reason)
      const next =
        claim.identifier === null
          ? 'Sign a new payment.'
          : 'Sign a new payment, under a new payment identifier or idempotency key.'
      return new PaymentError(
        'settlement_failed',
        `The payment was not settled${message === undefined ? '' : ` (${message})`}: nothing was charged, and this ` +
          `payment cannot be used again. ${next}`,
        {
          reason,
          extras: { invalid_reason: reason, claim_id: claim.id, payment_url: urlOf(claim) },
          payment: {
            ...(challenge && { challenge }),
            settlement: unsettled({ ...claim, reason, message }),
          },
        },
      )
    },

    /** Pending or unknown, or still being worked on elsewhere. */
    pendingSettlement(claim: PaymentClaim): GatewayError {
      const isBroadcast = claim.state === 'pending' && claim.transaction !== null
      return new PaymentError(
        'settlement_unknown',
        'It is not known yet whether this payment was settled. Do not pay again: read `payment_url` with the same ' +
          'payment until it is; where the payment is not enough for the result, the answer says what to sign.',
        {
          reason: claim.reason ?? claim.state,
          extras: {
            claim_id: claim.id,
            state: claim.state,
            payment_url: urlOf(claim),
            retry_after_seconds: ASK_AGAIN_SECONDS,
          },
          payment: isBroadcast ? { settlement: unsettled({ ...claim, reason: 'settlement_pending' }) } : {},
        },
      )
    },

    /** @param networks all of ours: the answer is the same whether or not there is such a claim */
    notFound(claimId: string, networks: readonly string[]): GatewayError {
      return new GatewayError(
        'payment_not_found',
        'Check the claim id, and send the very payment that made the claim where a payment goes: over HTTP the header ' +
          'Payment-Signature, over MCP `_meta["x402/payment"]`, over A2A metadata `x402.payment.payload`. Or show that you paid: ' +
          'sign `sign_in` with the wallet that did, and send it as the header Sign-In-With-X, over MCP and A2A as ' +
          '`x402/sign-in-with-x` in `_meta` or metadata.',
        { extras: { sign_in: signIns.challenge(claimId, networks) } },
      )
    },

    signIn(
      claimId: string,
      networks: readonly string[],
      { reason, message }: { readonly reason: string; readonly message: string },
    ): GatewayError {
      const extras = { invalid_reason: reason, sign_in: signIns.challenge(claimId, networks) }
      if (reason === 'chain')
        return new GatewayError('payments_unavailable', `${message} Try again with the same signature.`, {
          reason,
          extras: { retry_after_seconds: ASK_AGAIN_SECONDS },
        })
      return new GatewayError(
        'sign_in_refused',
        `${message} Sign the new \`sign_in\` with the wallet that paid.`,
        {
          reason,
          extras,
        },
      )
    },
  }
}
