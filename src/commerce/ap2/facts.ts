// The facts of AP2, field by field. A null is a field that is not there or has the wrong type.
import type { Verdict } from '../compare.ts'
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import type { Numeral } from '../decode/value.ts'
import type { Credential } from '../decode/jws.ts'
import type { Ap2Sights } from './detect.ts'
import type { Party } from './party.ts'

export interface Ap2Constraint {
  readonly at: Place
  /** All of it, for what one type alone has. */
  readonly source: Found<Json>
  /** The digest of a constraint that was not disclosed. */
  readonly isHidden: boolean
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
  /** Its disclosures are filled in, as far as they are there. */
  readonly mandate: Found<JsonObject> | null
  /** That of the key binding JWT, where the mandate is delegated in one. */
  readonly signature: Credential | null
  readonly alg: Found<string> | null
  /** Claim of the JWT's payload or member of the mandate. Seconds. */
  readonly issuedAt: Found<number> | null
  /** The latest `nbf`, where there is one. */
  readonly notBefore: Found<number> | null
  /** The earliest, where the token and the mandate in it say one each. */
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
  /** All that detection found, of other chains too. */
  readonly sights: Ap2Sights
  readonly version: '0.1' | '0.2' | null
  readonly kind: 'payment' | 'checkout' | 'intent' | 'cart' | null
  /** 0.2: as sent; closed last. */
  readonly chain: readonly Ap2Token[]
  readonly open: Ap2Token | null
  readonly closed: Ap2Token | null
  /** Of every open mandate that the closed one was made under. */
  readonly constraints: readonly Ap2Constraint[]
  /** transaction_id, or checkout_hash of a checkout mandate. */
  readonly transactionId: Found<string> | null
  /** The merchant's JWT; never shown. */
  readonly checkoutJwt: Credential | null
  readonly payee: Party | null
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

/** A statement against what bounds it, and why in a sentence. */
export type Judged = readonly [verdict: Verdict, message: string]
