// x402 over A2A (x402 transports-v2, a2a-x402 v0.1 and v0.2): what a message's metadata says about a payment, and what ours do.
import type { SettleResponse } from '../../../schemas/x402.ts'
import { GatewayError } from '../../core/errors.ts'
import { paymentFactsOf, type Challenge, type PresentedSignIn } from '../../core/charging.ts'
import { readPayment, type ReadPayment, readSignIn, SIGN_IN_META } from '../message-payment.ts'
import type { SendRequest } from './envelope.ts'
import { extensionsOf, receiptIn, withTextTimes, type X402Form } from './x402-form.ts'
import { type Json, textPart, type WireMessage, type WirePart, type WireTask } from './wire.ts'

const KEY = {
  status: 'x402.payment.status',
  required: 'x402.payment.required',
  payload: 'x402.payment.payload',
  receipts: 'x402.payment.receipts',
  error: 'x402.payment.error',
  /** Ours: the signed quote of a challenge; echoing it is optional. */
  quote: 'gateway.quote',
} as const

export type PaymentStatus =
  | 'payment-required'
  | 'payment-submitted'
  | 'payment-rejected'
  | 'payment-verified'
  | 'payment-completed'
  | 'payment-failed'

export interface Submission extends ReadPayment {
  /** The buyer does not want to pay. */
  readonly isDeclined: boolean
  readonly quote: string | undefined
  /** Whose payment it is, signed by its payer. */
  readonly signIn: PresentedSignIn | undefined
}

/** Payment, quote, sign-in and status of a message's metadata, else of the request's. What is wrong with a payment is in `inputError`. */
export function readSubmission({ message, metadata }: Pick<SendRequest, 'message' | 'metadata'>): Submission {
  const find = (key: string) => message.metadata?.[key] ?? metadata?.[key]
  const quote = find(KEY.quote)
  const status = find(KEY.status)
  const read = readPayment(withTextTimes(find(KEY.payload)), `message.metadata["${KEY.payload}"]`)
  const isMissing =
    status === ('payment-submitted' satisfies PaymentStatus) && !read.payment && !read.inputError
  return {
    ...read,
    ...(isMissing && { inputError: new GatewayError('payment_invalid', MISSING) }),
    isDeclined: status === ('payment-rejected' satisfies PaymentStatus) && !read.payment,
    quote: typeof quote === 'string' ? quote : undefined,
    signIn: readSignIn(find(SIGN_IN_META)),
  }
}

const MISSING = `Put the payment into message.metadata["${KEY.payload}"]: the object that a payment client makes of the challenge.`

/** The payment status that a task's last status message names; undefined when it is not about money. */
export const statusOf = (task: WireTask): unknown => task.status.message?.metadata?.[KEY.status]

/** Every settlement tried for a task so far, oldest first. */
export function receiptsOf(task: WireTask | undefined): readonly SettleResponse[] {
  const receipts = task?.status.message?.metadata?.[KEY.receipts]
  return Array.isArray(receipts) ? (receipts as SettleResponse[]) : []
}

/** The challenge that the task's last status message carries; undefined where it waits for no payment. */
export const requiredOf = (task: WireTask | undefined): Json | undefined =>
  task?.status.message?.metadata?.[KEY.required] as Json | undefined

export interface PaymentFacts {
  readonly required?: unknown
  readonly quote?: string | undefined
  readonly receipts?: readonly SettleResponse[]
  readonly error?: string | undefined
}

/** The form rides along with the metadata to where the message is written; JSON leaves a symbol out. */
const FORM: unique symbol = Symbol('the form of x402 in it')

/** Metadata of a status message, its receipts in the given form; `facts.required` is in it already. */
export function paymentMetadata(status: PaymentStatus, form: X402Form, facts: PaymentFacts = {}): Json {
  const receipts = facts.receipts?.map((receipt) => receiptIn(form, receipt)) ?? []
  const metadata = {
    [KEY.status]: status,
    ...(facts.required === undefined ? {} : { [KEY.required]: facts.required }),
    ...(facts.quote === undefined ? {} : { [KEY.quote]: facts.quote }),
    ...(receipts.length > 0 ? { [KEY.receipts]: receipts } : {}),
    ...(facts.error === undefined ? {} : { [KEY.error]: facts.error }),
  }
  return Object.defineProperty(metadata, FORM, { value: form, enumerable: false })
}

/** Adds metadata to a message, and the names of the extensions that the metadata speaks. */
export function withExtensions(
  message: WireMessage,
  metadata: (Json & { readonly [FORM]?: X402Form }) | undefined,
): WireMessage {
  if (metadata === undefined) return message
  const extensions = metadata[KEY.status] ? { extensions: extensionsOf(metadata[FORM] ?? 'v2') } : {}
  return { ...message, metadata, ...extensions }
}

/** Some clients take `input-required` as a question to a person: this text is for them, and for the person. */
export function challengeText({ asking }: Challenge, form: X402Form, isInputKept: boolean): WirePart {
  const again = isInputKept
    ? 'The input is kept for 5 minutes and need not be repeated.'
    : 'Repeat skill and input with it: they hold secret or personal values, which are not kept.'
  return textPart(
    `${asking.cost} To pay, sign one of the \`accepts\` in metadata["${KEY.required}"] with an x402 (${form}) wallet and send a ` +
      `message with this taskId and metadata {"${KEY.status}": "payment-submitted", "${KEY.payload}": …}. ${again} ${asking.withoutWallet}`,
  )
}

// x402 error string -> code of a2a-x402, section 9.1. The first that fits.
const CODES: readonly (readonly [RegExp, string])[] = [
  [/insufficient/, 'INSUFFICIENT_FUNDS'],
  [/nonce|already|claim/, 'DUPLICATE_NONCE'],
  [/valid_before|valid_after|expired|window/, 'EXPIRED_PAYMENT'],
  [/signature/, 'INVALID_SIGNATURE'],
  [/network/, 'NETWORK_MISMATCH'],
  [/value|amount/, 'INVALID_AMOUNT'],
]

/** The word for `x402.payment.error` (x402 over A2A, section 9.1); our own code in capitals where the list has none. */
export function paymentErrorCode(error: GatewayError): string {
  if (error.code === 'settlement_failed') return 'SETTLEMENT_FAILED'
  if (error.code === 'payment_claimed') return 'DUPLICATE_NONCE'
  const reason = String(error.extras['invalid_reason'] ?? paymentFactsOf(error).challenge?.error)
  return CODES.find(([pattern]) => pattern.test(reason))?.[1] ?? error.code.toUpperCase()
}
