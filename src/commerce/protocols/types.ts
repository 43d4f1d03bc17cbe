// What each protocol says, field by field, for those who judge it. Read by readX402, readMpp, readAp2, readUcp, readAcp and
// readMcp (protocols/*.ts) out of the layer that detection found; readHttp gives what all of them share. A null is a field
// that is not there or has the wrong type; `credential` members hold the secret itself: use their place and form, never show them.
import type { Found, Json, JsonObject, Place } from '../ports.ts'

/** A number of the protocol, as text: JSON strings and JSON numbers alike. */
export interface Numeral extends Found<string> {
  /** Decimal digits without sign, fraction or exponent (as JSON number: a safe integer of 0 or more). */
  readonly isInteger: boolean
  readonly isNumber: boolean
}

/** RFC 9421, one label of it. */
export interface HttpSignature {
  readonly label: string
  /** Component names, lower case, in order, parameters cut off. */
  readonly components: readonly string[]
  readonly created: Found<number> | null
  readonly expires: Found<number> | null
  readonly nonce: Found<string> | null
  readonly keyId: Found<string> | null
  readonly tag: Found<string> | null
  /** Of Signature-Input. */
  readonly at: Place
  /** Bytes of the label in `Signature`; null where there is none. `isPlaceholder`: elided in an example. */
  readonly value: { readonly at: Place; readonly bytes: number; readonly isPlaceholder: boolean } | null
}

/** A signature, token or proof by its form alone. */
export interface Credential {
  readonly at: Place
  readonly length: number
  /** Holds `...` or is one repeated character: an example's ellipsis. */
  readonly isPlaceholder: boolean
  readonly form: 'hex' | 'base64' | 'jws' | 'other'
  /** Bytes it stands for; null where the form does not tell. */
  readonly bytes: number | null
}

/** What any HTTP message may carry. */
export interface HttpFacts {
  readonly idempotencyKey: Found<string> | null
  readonly requestId: Found<string> | null
  readonly traceparent: Found<string> | null
  /** Scheme of Authorization in lower case. */
  readonly authorization: Found<string> | null
  readonly host: Found<string> | null
  /** Content-Digest (and MPP-style) members: algorithm -> base64 value. */
  readonly contentDigests: readonly (Found<string> & { readonly algorithm: string })[]
  readonly signatures: readonly HttpSignature[]
  /** `Signature-Input` or `Content-Digest` that cannot be parsed. */
  readonly unreadable: readonly Place[]
}

export interface X402Requirement {
  readonly at: Place
  readonly scheme: Found<string> | null
  /** As written. */
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
  /** Of the scheme: for EIP-3009 the domain that is signed for. */
  readonly extra: Found<JsonObject> | null
}

/** What the payer signed: EIP-3009 or Permit2; SVM and others are one opaque transaction. */
export interface X402Authorization {
  readonly kind: 'eip3009' | 'permit2' | 'transaction'
  readonly at: Place
  readonly from: Found<string> | null
  /** `authorization.to`, `witness.to`. */
  readonly to: Found<string> | null
  readonly amount: Numeral | null
  /** Permit2 only. */
  readonly asset: Found<string> | null
  readonly nonce: Found<string> | null
  /** Seconds. `validAfter`, `witness.validAfter`. */
  readonly notBefore: Numeral | null
  /** Seconds. `validBefore`, `deadline`. */
  readonly expiresAt: Numeral | null
}

export interface X402Offer {
  readonly at: Place
  readonly format: Found<string> | null
  readonly acceptIndex: Found<number> | null
  readonly signature: Credential | null
  /** What was signed (decoded JWS, or `payload` of eip712); null where it cannot be read. */
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
  /** Over MCP: name of the tool in the envelope. */
  readonly toolName: Found<string> | null
  /** Over A2A. */
  readonly taskId: Found<string> | null
}

export interface MppChallenge {
  readonly at: Place
  readonly id: Found<string> | null
  readonly realm: Found<string> | null
  readonly method: Found<string> | null
  readonly intent: Found<string> | null
  /** `request` is there, in whatever form. */
  readonly requestAt: Place | null
  readonly isRequestReadable: boolean
  readonly expires: Found<string> | null
  /** Milliseconds; null where `expires` is not RFC 3339. */
  readonly expiresAtMs: number | null
  readonly digest: Found<string> | null
  readonly opaque: Found<Json> | null
  readonly description: Found<string> | null
  readonly amount: Numeral | null
  readonly currency: Found<string> | null
  readonly recipient: Found<string> | null
  readonly chainId: Numeral | null
  readonly splitsAt: Place | null
  readonly splits: readonly { readonly amount: Numeral | null; readonly recipient: Found<string> | null }[]
}

export interface MppFacts {
  readonly stage: 'challenge' | 'payment' | 'settlement'
  /** `{id, payload}` without the echoed challenge. */
  readonly isLegacy: boolean
  readonly isJsonRpc: boolean
  /** Payment: the echoed one. Challenge: the first. */
  readonly challenge: MppChallenge | null
  readonly challenges: readonly MppChallenge[]
  readonly source: Found<string> | null
  readonly payloadAt: Place | null
  /** The proof inside the payload, by its form. */
  readonly proof: Credential | null
  readonly receipt: {
    readonly at: Place
    readonly status: Found<string> | null
    readonly method: Found<string> | null
    readonly timestamp: Found<string> | null
    readonly reference: Found<string> | null
    readonly externalId: Found<string> | null
  } | null
  readonly idempotencyKey: Found<string> | null
}

export interface Ap2Constraint {
  readonly at: Place
  readonly type: Found<string> | null
  /** payment.amount_range. Minor units. */
  readonly min: Numeral | null
  readonly max: Numeral | null
  readonly currency: Found<string> | null
  /** Allowed payees, merchants or instruments that were disclosed. */
  readonly allowed: readonly Found<JsonObject>[]
  /** Digests of alternatives that were not disclosed. */
  readonly undisclosed: number
  /** payment.reference. */
  readonly conditionalTransactionId: Found<string> | null
}

/** One SD-JWT of the chain with the mandate it carries. */
export interface Ap2Token {
  readonly at: Place
  readonly isOpen: boolean
  readonly vct: Found<string> | null
  /** With its disclosures filled in, as far as they are there. */
  readonly mandate: Found<JsonObject> | null
  readonly signature: Credential | null
  readonly alg: Found<string> | null
  /** Of the JWT's payload or the mandate. Seconds. */
  readonly issuedAt: Found<number> | null
  readonly expiresAt: Found<number> | null
  readonly aud: Found<string> | null
  readonly nonce: Found<string> | null
  readonly jti: Found<string> | null
  readonly sdHash: Found<string> | null
  readonly disclosuresAt: Place
  readonly disclosures: number
  /** Disclosures whose digest stands nowhere in the token. */
  readonly unmatchedDisclosures: number
  readonly unreadableDisclosures: number
  /** Digests in the token that nothing was disclosed for. */
  readonly undisclosed: number
}

export interface Ap2Facts {
  readonly version: '0.1' | '0.2' | null
  readonly kind: 'payment' | 'checkout' | 'intent' | 'cart' | null
  /** 0.2: as sent; closed last. */
  readonly chain: readonly Ap2Token[]
  readonly open: Ap2Token | null
  readonly closed: Ap2Token | null
  readonly constraints: readonly Ap2Constraint[]
  /** transaction_id, or checkout_hash of a checkout mandate. */
  readonly transactionId: Found<string> | null
  /** The merchant's JWT; never shown. */
  readonly checkoutJwt: Credential | null
  readonly payee: {
    readonly id: Found<string> | null
    readonly name: Found<string> | null
    readonly website: Found<string> | null
  } | null
  /** 0.2: minor units. */
  readonly amount: Numeral | null
  readonly currency: Found<string> | null
  readonly instrumentAt: Place | null
  /** 0.1: what the data part under `ap2.mandates.*` holds. */
  readonly v01: {
    readonly document: Found<JsonObject>
    /** payment_mandate_id, cart id. */
    readonly mandateId: Found<string> | null
    readonly reference: Found<string> | null
    /** user_authorization, merchant_authorization. */
    readonly authorization: Credential | null
    readonly jti: Found<string> | null
    readonly expiry: Found<string> | null
    readonly createdAt: Found<string> | null
    readonly confirmationRequired: Found<boolean> | null
    readonly merchants: Found<Json> | null
    readonly skus: Found<Json> | null
    readonly total: Numeral | null
  } | null
  readonly taskId: Found<string> | null
  readonly transportKey: Found<string> | null
}

export interface UcpFacts {
  readonly operation: 'create' | 'get' | 'update' | 'complete' | 'cancel' | null
  readonly profile: Found<string> | null
  readonly idempotencyKey: Found<string> | null
  readonly requestId: Found<string> | null
  readonly checkoutId: Found<string> | null
  readonly version: Found<string> | null
  readonly signature: HttpSignature | null
  readonly currency: Found<string> | null
  /** Entry of `totals` with type total; minor units. */
  readonly total: Numeral | null
  readonly handlerId: Found<string> | null
  readonly expiresAt: Found<string> | null
  readonly credentials: readonly Place[]
  readonly hasAp2: boolean
  readonly webhookId: Found<string> | null
}

export interface AcpFacts {
  readonly operation: 'create' | 'get' | 'update' | 'complete' | 'cancel' | 'delegate' | 'webhook' | null
  readonly apiVersion: Found<string> | null
  readonly idempotencyKey: Found<string> | null
  readonly requestId: Found<string> | null
  readonly timestamp: Found<string> | null
  readonly timestampMs: number | null
  readonly signature: Credential | null
  /** In the path, the arguments or the allowance. */
  readonly sessionId: Found<string> | null
  readonly handlerId: Found<string> | null
  readonly currency: Found<string> | null
  readonly allowance: {
    readonly at: Place
    readonly reason: Found<string> | null
    readonly maxAmount: Numeral | null
    readonly currency: Found<string> | null
    readonly sessionId: Found<string> | null
    readonly merchantId: Found<string> | null
    readonly expiresAt: Found<string> | null
    readonly expiresAtMs: number | null
  } | null
  readonly merchantSignature: {
    readonly at: Place
    readonly timestamp: Found<number> | null
    readonly isWellFormed: boolean
  } | null
  readonly credentials: readonly Place[]
  readonly authorization: Found<string> | null
}

export interface McpFacts {
  readonly id: Found<string> | null
  readonly method: Found<string> | null
  readonly name: Found<string> | null
  readonly arguments: Found<JsonObject> | null
  readonly argumentsAreMalformed: boolean
  readonly version: Found<string> | null
  readonly headerVersion: Found<string> | null
  readonly metaVersion: Found<string> | null
  readonly headerMethod: Found<string> | null
  readonly headerName: Found<string> | null
  readonly sessionId: Found<string> | null
  readonly clientInfo: Found<JsonObject> | null
  readonly traceparent: Found<string> | null
  /** `_meta["x402/idempotency-key"]` or another *idempotency-key*, else the header. */
  readonly idempotencyKey: Found<string> | null
  readonly requestState: Found<string> | null
  readonly hasInputResponses: boolean
}
