// The contract of charging: what a call costs, what a buyer presents, and what becomes of both. The payments part implements
// it, and no other room needs to know how.
import type { z } from 'zod'
import type { SignedReceipt } from '../../schemas/receipt.ts'
import type { PaymentRequired, SettleResponse } from '../../schemas/x402.ts'
import type { SignInChallenge } from '../../schemas/sign-in.ts'
import type { Secret } from '../lib/secret.ts'
import type { PaymentClaim, Sale, StoredReceipt } from '../store/ports.ts'
import type { Millis } from '../store/model.ts'
import type { Caller } from './caller.ts'
import { type ErrorCode, GatewayError } from './errors.ts'

/** A payment as a door found it: still text, or already JSON; not judged. */
export type PresentedPayment =
  | {
      readonly form: 'header'
      readonly name: 'payment-signature' | 'x-payment'
      readonly value: Secret<string>
    }
  | { readonly form: 'object'; readonly value: Secret<unknown> }

/** Somebody's proof of who they are, of x402's extension sign-in-with-x, as a door found it: still text, or already JSON. */
export interface PresentedSignIn {
  readonly value: Secret<unknown>
}

/** The price of this very call, and the request that it is bound to. From the tool's `terms`. */
export interface Terms {
  readonly amountAtomic: bigint
  /** CAIP-2 ids on which it may be paid; `eip155:84532` alone for test calls, never beside a production network. */
  readonly networks: readonly string[]
  /** base64url SHA-256 over the normalised request: same digest, same request. */
  readonly requestDigest: string
  /**
   * A signed quote over the request; made only when a challenge is, of at most `room` characters. `presented` is what came in
   * `X-Gateway-Quote`:
   * @throws {GatewayError} quote_invalid when it is of another request; an expired one is replaced
   */
  readonly quote?:
    ((presented: string | undefined, room?: number) => { jws: string; expiresAt: Millis }) | undefined
  /** How a challenge speaks of this very job, where one tool sells several; else of the tool and its first example. */
  readonly shown?:
    | {
        /** The same key, the same words: put together once. */
        readonly key: string
        readonly description: string
        readonly example: Readonly<Record<string, unknown>>
        /** JSON Schema of what `example` is one of; that of the tool's input where it is left out. */
        readonly schema?: Readonly<Record<string, unknown>> | undefined
        /** Further extensions of the challenge, by their names: an echo may not change what their `info` says. */
        readonly extensions?: Readonly<Record<string, unknown>> | undefined
      }
    | undefined
  /** What the request was understood as, told beside the challenge and no part of it: plain JSON with a sentence `in_words`. */
  readonly understood?:
    (() => { readonly in_words: string; readonly left_out: readonly unknown[] }) | undefined
  /** Credits that the payment buys, granted in the transaction that settles it. */
  readonly purchase?: { readonly accountId: string; readonly credits: number } | undefined
  /** The sale of a listing that the payment makes: a row beside its claim, in the claim's own transaction. */
  readonly sale?: Sale | undefined
  /**
   * Judges the request itself, for what is priced before it is read. Asked of a payment that fits and has no stored answer, before it is
   * claimed: what is refused here is never charged, and an answer that was paid for outlives a change of mind.
   * @throws {GatewayError}
   */
  readonly check?: (() => void | Promise<void>) | undefined
  /** Told when the payment of this very call has settled, for counting it; never of a replay. Never throws. */
  readonly onSettled?: ((claim: PaymentClaim) => void) | undefined
}

/** A 402 in words. */
export interface Asking {
  readonly cost: string
  /** How it is paid at the door that asks. */
  readonly pay: string
  readonly withoutWallet: string
  /** All three. */
  readonly sentence: string
}

/** The content of a 402, whatever door encodes it. */
export interface Challenge {
  /** `Payment required`, or the x402 reason why what was presented is not enough. */
  readonly error: string
  readonly asking: Asking
  /** Its `error` is the sentence, where it goes into a message and nothing was presented: a header has no room for it. */
  readonly required: PaymentRequired
  /** JSON text of `required`, and its base64 for the HTTP header. */
  readonly json: string
  readonly header: string
  /** The header with the ways to pay and the challenge alone, for an answer whose other headers are long. */
  readonly brief: string
  readonly quote: string | undefined
  /** `accepts` for v1 buyers. */
  readonly acceptsV1: readonly Readonly<Record<string, unknown>>[]
}

export interface PaidCall {
  readonly tool: {
    readonly name: string
    readonly title: string
    readonly summary: string
    /** Input schema and examples that `bazaar` shows to buyers; left out where there is nothing to show. */
    readonly input?: z.ZodType
    readonly examples?: readonly { readonly input: unknown; readonly output?: unknown }[]
    /** As of `AnyTool`: the payment has to be good for so long, and for its settlement after it. */
    readonly maxDurationMs?: number
  }
  readonly terms: Terms
  /** How the resource is named to the buyer: a URL, and the HTTP method where there is one. */
  readonly resource: { readonly url: string; readonly method: string }
  readonly payment: PresentedPayment | undefined
  /** `X-Gateway-Quote` as sent. */
  readonly quote: string | undefined
  /** The caller's key: of the payments of one payer that come with it, one is taken. */
  readonly idempotencyKey?: string | undefined
  readonly caller: Caller
  readonly requestId: string
  /** The work. Its output's `receipt` member is null; the gate fills it in before it stores the result. */
  readonly work: (claimId: string) => Promise<unknown>
  /** Told in words what the settlement does, as it does it. */
  readonly settling?: ((message: string) => void) | undefined
}

export interface PaidResult {
  readonly output: unknown
  /** Exactly what is stored and sent, byte for byte. */
  readonly json: string
  readonly settlement: SettleResponse
  readonly claimId: string
  /** Answered from the stored result: nothing was run and nothing was charged. */
  readonly replayed: boolean
}

/** What is told of a claim. */
export interface ShownClaim {
  readonly claim: PaymentClaim
  /**
   * Null where the buyer is known: by a secret in the payment, or by a signature. Else only the state is to be told, which is no
   * more than the chain tells, and this is what the payer signs to see the rest.
   */
  readonly signIn: SignInChallenge | null
  /** Exactly what was, or would have been, released for a settled claim. */
  readonly result: string | null
  readonly receipt: SignedReceipt | null
}

export interface PaymentGate {
  /**
   * @throws {GatewayError} payment_required (extras.challenge holds the Challenge), payment_invalid, payment_rejected,
   * payment_claimed, payment_identifier_conflict, idempotency_key_reused, settlement_failed, settlement_unknown, payments_unavailable,
   * and whatever the work throws (then nothing is charged)
   */
  run(call: PaidCall): Promise<PaidResult>
  /**
   * Claim by id for whoever shows the payment that made it, or signs in as its payer.
   * @throws {GatewayError} payment_not_found, payment_invalid, sign_in_refused, payments_unavailable
   */
  claim(
    claimId: string,
    shown: {
      readonly payment?: PresentedPayment | undefined
      readonly signIn?: PresentedSignIn | undefined
    },
  ): Promise<ShownClaim>
  /**
   * Finds out how a call ended that reported `settlement_unknown`, for the door that answers for it: looks at the chain while
   * that is in doubt. `paid`: of a settled claim, as long as its result is kept.
   * @throws {GatewayError} payment_not_found
   */
  outcome(claimId: string): Promise<{ claim: PaymentClaim; paid: PaidResult | null }>
}

/** A call that ended well on the credits that the call path took for it. */
export interface CreditedCall {
  readonly accountId: string
  /** Name of the tool. */
  readonly tool: string
  /** The debit in the ledger. */
  readonly transactionId: string
  readonly credits: number
  /** base64url SHA-256 over tool and input, in RFC 8785 form. */
  readonly requestDigest: string
  /** Hex SHA-256 over the JSON text of the output without its receipt. */
  readonly resultSha256: string
  readonly startedAt: Millis
}

/** @returns the signed receipt as it is stored, and as the answer shows it */
export type SignCallReceipt = (call: CreditedCall) => {
  readonly stored: StoredReceipt
  readonly shown: SignedReceipt
}

/**
 * The one 402 for credits, wherever it is raised: with a PaymentRequired for /v1/credits/purchase and the body to
 * send there, under a one-time reference to the account; without them where credits are not for sale.
 * @param refusal.what says what costs how much, e.g. `One attempt costs 1 credit`
 */
export type CreditsRequired = (refusal: {
  readonly accountId: string
  readonly balance: number
  readonly need: number
  readonly what: string
}) => Promise<GatewayError>

/** Facts in an error about money, for the doors to encode; never part of the problem document as such. */
export interface PaymentFacts {
  readonly challenge?: Challenge | undefined
  /** The value of `Payment-Response`: why a payment that was presented did not settle. */
  readonly settlement?: SettleResponse | undefined
}

/** A refusal about money: the doors encode its facts beside the problem document, each in its own place. */
export class PaymentError extends GatewayError {
  readonly payment: PaymentFacts

  constructor(
    code: ErrorCode,
    detail: string,
    {
      payment,
      ...options
    }: ConstructorParameters<typeof GatewayError>[2] & { readonly payment: PaymentFacts },
  ) {
    super(code, detail, options)
    this.payment = payment
  }
}

/** The facts about money in an error: none, unless it is a PaymentError. */
export const paymentFactsOf = (error: GatewayError): PaymentFacts =>
  error instanceof PaymentError ? error.payment : {}
