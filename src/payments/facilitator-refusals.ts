// Writes refusals of /verify and /settle: our problem document with x402's own members in it, so that stock clients read
// both.
import { GatewayError } from '../core/errors.ts'
import type { PaymentClaim } from '../store/ports.ts'
import { failure } from './claim-store.ts'
import type { Payment, Settlement, Verdict } from './ports.ts'
import { INVALID_VERSION } from './wire.ts'

type Refused = Extract<Verdict, { ok: false }>

const RETRY_SOON_SECONDS = 5
/** An identifier of x402 2.27, which stock clients know. */
const NONCE_USED = 'invalid_exact_evm_nonce_already_used'

/** A payment that cannot be judged now is not a bad payment, so it has another code. */
function code({ isRetryable, check }: Refused) {
  if (!isRetryable) return 'payment_blocked' as const
  return check === 'route' ? ('no_route' as const) : ('payments_unavailable' as const)
}

const retryAfter = ({ isRetryable, check }: Refused) =>
  isRetryable || check === 'rate' ? { retry_after_seconds: RETRY_SOON_SECONDS } : {}

/** The refusal of /verify for a verdict: payment_blocked for a bad payment, 503 where it cannot be judged now. */
export function blockedVerify(verdict: Refused): GatewayError {
  const { check, reason, message, payer } = verdict
  return new GatewayError(code(verdict), message, {
    reason: check,
    extras: {
      check,
      isValid: false,
      invalidReason: reason,
      invalidMessage: message,
      ...(payer !== undefined && { payer }),
      ...retryAfter(verdict),
    },
  })
}

/** The same for /settle. */
export function blockedSettle(verdict: Refused, payment: Payment): GatewayError {
  const { check, reason, message, payer } = verdict
  return new GatewayError(code(verdict), message, {
    reason: check,
    extras: {
      check,
      ...members(payment, reason, message),
      ...(payer !== undefined && { payer }),
      ...retryAfter(verdict),
    },
  })
}

function members(payment: Payment | undefined, errorReason: string, errorMessage: string, transaction = '') {
  return {
    success: false,
    errorReason,
    errorMessage,
    transaction,
    network: payment?.network ?? '',
    ...(payment && payment.payer !== '' && { payer: payment.payer }),
  }
}

/**
 * Settled before, whoever asks: never a success, because the result of the first one must not be given out twice.
 * @param baseUrl undefined for a copy that differs: the chain tells everybody enough to make one, and a receipt tells more
 */
export function replayed(claim: PaymentClaim, payment: Payment, baseUrl: string | undefined): GatewayError {
  const named = baseUrl === undefined ? '' : ` Its receipt is ${claim.receiptId}.`
  const detail = `This payment was settled before.${named} Sign a new payment to pay again.`
  return new GatewayError('settlement_replayed', detail, {
    extras: {
      ...members(payment, NONCE_USED, detail),
      claim_id: claim.id,
      ...(baseUrl !== undefined && { receipt_id: claim.receiptId }),
      extra: {
        claim_id: claim.id,
        ...(baseUrl !== undefined && {
          receipt_id: claim.receiptId,
          receipt_url: `${baseUrl}/v1/receipts/${claim.receiptId}`,
        }),
      },
    },
  })
}

/** The refusal of /settle for a claim that failed: nothing was charged, and the payment is used up. */
export function failedSettle(
  settlement: Pick<Settlement & { state: 'failed' }, 'claim'>,
  payment: Payment,
): GatewayError {
  const { claim, reason, message } = failure(settlement.claim)
  return new GatewayError('payment_blocked', message, {
    reason,
    extras: {
      check: 'route',
      ...members(payment, reason, message),
      claim_id: claim.id,
      extra: { claim_id: claim.id, state: claim.state },
    },
  })
}

/** The refusal of a payment whose settlement is not known yet; it never invites to sign another payment. */
export function pendingSettlement(claim: PaymentClaim, payment: Payment, baseUrl: string): GatewayError {
  const transaction = claim.state === 'pending' ? claim.transaction : null
  const isPending = transaction !== null
  const detail =
    `The settlement is not decided yet. Do not sign another payment: send this one again, or ask ` +
    `${baseUrl}/v1/payments/${claim.id} with it, in a few seconds.`
  return new GatewayError('settlement_unknown', detail, {
    ...(claim.reason !== null && { reason: claim.reason }),
    extras: {
      ...members(
        payment,
        isPending ? 'settlement_pending' : 'unexpected_settle_error',
        detail,
        transaction ?? '',
      ),
      claim_id: claim.id,
      extra: { claim_id: claim.id, state: isPending ? 'pending' : 'unknown' },
      retry_after_seconds: RETRY_SOON_SECONDS,
    },
  })
}

/** An error that was thrown before there was a verdict, with the members that a client of /verify reads. */
export function asVerifyRefusal(thrown: unknown): unknown {
  if (!(thrown instanceof GatewayError)) return thrown
  return withMembers(thrown, {
    ...(thrown.code !== 'key_required' && { check: 'shape' }),
    isValid: false,
    invalidReason: thrown.code === 'key_required' ? 'key_required' : shapeReason(thrown),
    invalidMessage: thrown.message,
  })
}

/** The same for /settle; a refusal that has its members keeps them. */
export function asSettleRefusal(thrown: unknown, payment: Payment | undefined): unknown {
  if (!(thrown instanceof GatewayError) || thrown.extras['success'] === false) return thrown
  const isShape = thrown.code === 'payment_invalid'
  const reason = isShape ? shapeReason(thrown) : (REASONS[thrown.code] ?? 'unexpected_settle_error')
  return withMembers(thrown, {
    ...(isShape && { check: 'shape' }),
    ...members(payment, reason, thrown.message),
  })
}

const shapeReason = ({ reason }: GatewayError) =>
  reason === INVALID_VERSION ? INVALID_VERSION : 'invalid_payload'

const REASONS: Readonly<Record<string, string>> = {
  no_route: 'unsupported_scheme',
  credits_required: 'credits_required',
  key_required: 'key_required',
}

function withMembers(error: GatewayError, extras: Readonly<Record<string, unknown>>): GatewayError {
  return new GatewayError(error.code, error.message, {
    cause: error.cause,
    ...(error.reason !== undefined && { reason: error.reason }),
    extras: { ...error.extras, ...extras },
  })
}
