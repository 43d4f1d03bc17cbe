// The facts of MPP, field by field. A null is a field that is not there or has the wrong type.
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import type { Numeral } from '../decode/value.ts'
import type { Credential } from '../decode/jws.ts'
import type { MppAsset } from './assets.ts'
import type { MppPayload } from './payload.ts'

/** An amount besides the price that the challenge wants put in or signed. */
export interface MppDemand {
  readonly amount: Numeral
  /** The payer may put in less. */
  readonly isSuggested: boolean
}

export interface MppChallenge extends MppAsset {
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
  /** `currency` as the request writes it. */
  readonly stated: Found<string> | null
  readonly recipient: Found<string> | null
  /** Decoded; null where it does not decode. */
  readonly request: Found<JsonObject> | null
  readonly details: Found<JsonObject> | null
  /** In satoshis, as the invoices themselves say. */
  readonly invoices: { readonly charge: Numeral | null; readonly deposit: Numeral | null }
  readonly demands: readonly MppDemand[]
  /** Those who get a share in hundredths of a percent (solana session). */
  readonly shareRecipients: readonly Found<string>[]
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
  /** Null where it is no object. */
  readonly payload: MppPayload | null
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
  /** Places of secrets. */
  readonly credentials: readonly Place[]
}

/** One thing in the message that is MPP, decoded or not. */
export interface MppSight {
  readonly stage: MppFacts['stage']
  readonly transport: 'http' | 'mcp' | 'jsonrpc'
  readonly what: string
  readonly at: Place
  readonly document: Found<JsonObject> | undefined
  /** Place of a secret. */
  readonly credentialAt: Place | null
  readonly isAmbiguous?: boolean
}
