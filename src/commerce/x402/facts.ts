// The facts of x402, field by field. A null is a field that is not there or has the wrong type.
import type { Found, JsonObject, Place } from '../ports.ts'
import type { Numeral } from '../decode/value.ts'
import type { Credential } from '../decode/jws.ts'

export interface X402Requirement {
  readonly at: Place
  readonly scheme: Found<string> | null
  /** Network as the requirement writes it. */
  readonly network: Found<string> | null
  /** CAIP-2 of `network`; null where it has none. */
  readonly caip2: string | null
  /** Whether `network` itself is CAIP-2. */
  readonly isCaip2: boolean
  /** v2 `amount`, v1 `maxAmountRequired`. */
  readonly amount: Numeral | null
  readonly asset: Found<string> | null
  readonly payTo: Found<string> | null
  readonly maxTimeoutSeconds: Numeral | null
  /** v1 only: it stands in each requirement. */
  readonly resource: Found<string> | null
  /** Terms of the scheme: for EIP-3009 the domain that is signed for. */
  readonly extra: Found<JsonObject> | null
}

/** The payer signed this: EIP-3009 or Permit2; SVM and others are one opaque transaction, and ERC-7710 is an opaque delegation. */
export interface X402Authorization {
  readonly kind: 'eip3009' | 'permit2' | 'transaction'
  readonly at: Place
  readonly from: Found<string> | null
  /** `authorization.to`, `witness.to`. */
  readonly to: Found<string> | null
  readonly amount: Numeral | null
  /** Permit2, and a transaction that could be read. */
  readonly asset: Found<string> | null
  /** Permit2 only: the contract that may take the money. */
  readonly spender: Found<string> | null
  /** Permit2 of `upto` only: who may ask that contract to. */
  readonly facilitator: Found<string> | null
  readonly nonce: Found<string> | null
  /** Seconds. `validAfter`, `witness.validAfter`. */
  readonly notBefore: Numeral | null
  /** Seconds. `validBefore`, `deadline`. */
  readonly expiresAt: Numeral | null
  /** Of a transaction: whether what it moves could be read. */
  readonly isSealed: boolean
  /** Of a transaction that could be read: what rides along with the transfer, in words. */
  readonly alongside: readonly string[]
}

export interface X402Offer {
  readonly at: Place
  readonly format: Found<string> | null
  readonly acceptIndex: Found<number> | null
  readonly signature: Credential | null
  /** The signed terms (decoded JWS, or `payload` of eip712); null where they cannot be read. */
  readonly terms: {
    readonly at: Place
    readonly resourceUrl: Found<string> | null
    readonly scheme: Found<string> | null
    readonly network: Found<string> | null
    readonly asset: Found<string> | null
    readonly payTo: Found<string> | null
    readonly amount: Numeral | null
    readonly validUntil: Numeral | null
  } | null
}

export interface X402Facts {
  readonly stage: 'challenge' | 'payment' | 'settlement'
  readonly version: Found<number> | null
  /** v2 `resource.url`; v1 challenge: of the first requirement. */
  readonly resource: Found<string> | null
  /** Payment: the chosen requirement (v1: scheme and network only). */
  readonly accepted: X402Requirement | null
  /** Challenge: all. */
  readonly accepts: readonly X402Requirement[]
  readonly signature: Credential | null
  readonly authorization: X402Authorization | null
  /** extensions["payment-identifier"]; in a challenge: advertised. */
  readonly identifier: {
    readonly at: Place
    readonly id: Found<string> | null
    readonly required: Found<boolean> | null
    readonly hasInfo: boolean
  } | null
  /** extensions["offer-receipt"] is there. */
  readonly offerReceipt: Found<JsonObject> | null
  readonly offers: readonly X402Offer[]
  /** Settlement. */
  readonly settlement: {
    readonly success: Found<boolean> | null
    readonly transaction: Found<string> | null
    readonly network: Found<string> | null
    readonly payer: Found<string> | null
    readonly hasReceipt: boolean
  } | null
  /** Name of the tool in the envelope, over MCP. */
  readonly toolName: Found<string> | null
  /** Id of the task, over A2A. */
  readonly taskId: Found<string> | null
}
