// The values of agent commerce that everybody who judges a transaction shares: /v1/inspect (policy), /v1/test (rubric), the edge and
// the marketplace. Everything in this room is pure: no clock, no network, no key. Reading finds what is there and where; judging
// (policy/*, rubric/*) never parses anything itself.
//
//   TransactionInput -> readMessage -> Message -> analyse -> Analysis { detection, spoken, bindings }
//                                                             |-> policy/   -> allow | review | deny, with reasons
//                                                             '-> rubric/   -> checks, dimensions, score
//
// A part that decoded its documents itself (the payment firewall) calls the rules of x402/shape.ts and x402/bind-rules.ts, which
// take plain values. It maps `mismatch` to codes of its own and treats `unverifiable` as refused wherever it needs the statement.

import type { InspectResult, TestReport, Transaction } from '../../schemas/commerce.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

/** A transaction as it came in: nothing is trusted, nothing but its shape is checked. */
export interface TransactionInput {
  readonly target: string
  readonly method?: string | undefined
  /** A list is a header that was sent more than once. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** A string is the raw body; anything else is JSON whose raw bytes nobody has: digests of it can match, but not mismatch. */
  readonly body?: unknown
}

/**
 * A place where something was found: a JSON Pointer into the input, `#` and a pointer into what is encoded there, e.g.
 * `/headers/PAYMENT-SIGNATURE#/accepted/amount`. Never the value.
 */
export type Place = string

export interface Found<T> {
  readonly value: T
  readonly at: Place
}

export interface HeaderField {
  /** Lower case. */
  readonly name: string
  /** Trimmed. */
  readonly value: string
  readonly at: Place
}

export type Body =
  | { readonly kind: 'absent' }
  /** `raw` where the text is known; `bytes` as they were sent, where they are and something else was read (BOM, Content-Encoding). */
  | {
      readonly kind: 'json'
      readonly value: Json
      readonly raw: string | undefined
      readonly bytes?: Uint8Array
    }
  | { readonly kind: 'text'; readonly raw: string; readonly bytes?: Uint8Array }
  /** Says it is JSON and is not, is too deep or too large: nothing of it is used. */
  | { readonly kind: 'unreadable'; readonly why: Unreadable }

/** Why nothing of a JSON text may be used: it is none, or is nested too deep, or is larger than any protocol needs. */
export type Unreadable = 'malformed' | 'too_deep' | 'oversize'

/** Part of a message that a text stands in. */
export type Where = 'url' | 'header' | 'body'

/** Source that texts were read from. */
export interface TextSource {
  readonly at: Place
  readonly where: Where
  /** Decoded out of something else, e.g. a payment header. */
  readonly isDecoded: boolean
}

/** An object or list, which holds other values. */
export interface Container {
  readonly value: readonly Json[] | JsonObject
  /** Name of the member it is the value of; items have the name of their list. */
  readonly name: string
  /** Its member or index in what holds it. */
  readonly key: string | number
  readonly up: Container | undefined
  /** The root is at 1. */
  readonly depth: number
  /** Undefined until somebody asks: few are asked about, and it may be as long as the body. */
  place: Place | undefined
}

export interface Text {
  readonly value: string
  /** Name of the member or header it is the value of, its end where it is long; list items have that of their list. */
  readonly name: string
  /** It is the name of a member, not its value. */
  readonly isName: boolean
  readonly source: TextSource
  /** The object or list that it stands in; undefined where it is all of its source. */
  readonly holder: Container | undefined
  /** Its member or index there. */
  readonly key: string | number
}

/** A member or item that may be a mandate, by its name or by how it begins. */
export interface Mark extends Pick<Text, 'name' | 'source' | 'key'> {
  readonly value: Json
  readonly holder: Container
}

export interface Outline {
  /** Why nothing of it may be used, where it was held against the limits. */
  readonly why: Unreadable | undefined
  readonly texts: readonly Text[]
  readonly marks: readonly Mark[]
}

export interface Message {
  readonly target: {
    readonly text: string
    /** Undefined where it is not an absolute URL. */
    readonly url: URL | undefined
  }
  /** Upper case; GET without a body, POST with one, where none was given. */
  readonly method: string
  /** They are in order, repeated ones apart. */
  readonly headers: readonly HeaderField[]
  /** The first field, of each name that is there more than MAX_FIELDS_OF_A_NAME times, that was not read. */
  readonly unreadHeaders: readonly Place[]
  readonly body: Body
  /** Texts of a JSON body, and what in it may be a mandate; empty where there is none. */
  readonly outline: Outline
  /** Header value by lower-case name, the first where there are several. */
  header(name: string): HeaderField | undefined
}

export type Confidence = 'high' | 'medium' | 'low'

/** Why something was recognised. The mark is never a value that could be secret. */
export interface Evidence {
  readonly mark: string
  readonly at: Place
}

export interface Layer {
  /** Name of a protocol (protocols.ts), or `a2a`, `l402`, `web-bot-auth`. */
  readonly name: string
  /** Version as the protocol writes it (`2`, `draft-httpauth-payment-00`, `2026-08-25` …); null where nothing says. */
  readonly version: string | null
  /** `http`, `mcp`, `a2a`, `rest`, `sd-jwt`, `streamable-http`, `jsonrpc` … */
  readonly transport: string
  /** `challenge`, `payment`, `settlement`, `checkout.create|update|complete|cancel|get`, `delegate`, `intent`, `tools/call` … */
  readonly stage: string
  readonly confidence: Confidence
  /** E.g. `header PAYMENT-SIGNATURE decodes with x402Version 2`. */
  readonly evidence: readonly Evidence[]
  /** A document of the protocol that could be decoded, and where; undefined where there is none or it does not decode. */
  readonly document: Found<JsonObject> | undefined
  /** Whether a document should be there and cannot be decoded. */
  readonly isUndecodable: boolean
}

/** The money and its bounds as the transaction states them, in words every protocol shares. Null: it does not say. */
export interface TransactionFacts {
  /** Integer of the smallest unit as decimal text; as written where it is not one. */
  readonly amount: Found<string> | null
  readonly amountIsInteger: boolean
  /** ISO 4217 in upper case, or null where `asset` says. */
  readonly currency: Found<string> | null
  /** Token address or mint, as written. */
  readonly asset: Found<string> | null
  /** CAIP-2 where the protocol's own name has one, else as written. */
  readonly network: Found<string> | null
  readonly scheme: Found<string> | null
  readonly payee: Found<string> | null
  readonly payer: Found<string> | null
  readonly resource: Found<string> | null
  /** Seconds since the epoch. */
  readonly notBefore: Found<number> | null
  readonly expiresAt: Found<number> | null
  readonly nonce: Found<string> | null
  readonly idempotencyKey: Found<string> | null
  /** Places of credentials, proofs and signatures, which must never be shown. */
  readonly credentials: readonly Place[]
}

/** Facts of a message that says nothing about money. */
export const NO_FACTS: TransactionFacts = {
  amount: null,
  amountIsInteger: false,
  currency: null,
  asset: null,
  network: null,
  scheme: null,
  payee: null,
  payer: null,
  resource: null,
  notBefore: null,
  expiresAt: null,
  nonce: null,
  idempotencyKey: null,
  credentials: [],
}

export interface Conflict {
  readonly code: 'DETECT-CONFLICT' | 'HEADER_CONFLICT' | 'DUPLICATE_PAYMENT' | 'VERSION_CONFLICT'
  readonly at: Place
  readonly message: string
}

export interface Detection {
  /** Name of the primary protocol, or `unknown`. */
  readonly protocol: string
  /** The primary protocol's layer; undefined where unknown. */
  readonly primary: Layer | undefined
  readonly version: string | null
  readonly transport: string | null
  readonly stage: string | null
  readonly confidence: Confidence
  /** Every protocol and envelope that was recognised, the primary first. */
  readonly layers: readonly Layer[]
  readonly facts: TransactionFacts
  readonly conflicts: readonly Conflict[]
}

/** Two statements that have to agree, and whether they do. */
export interface Binding {
  readonly kind:
    | 'payee'
    /** Who may take the money, against who may do so in this scheme. */
    | 'spender'
    | 'amount'
    | 'resource'
    | 'host'
    | 'digest'
    /** sd_hash, checkout_hash, disclosure digests: recomputed. */
    | 'hash'
    /** A signature whose key stands in the message: verified. */
    | 'signature'
    | 'header_body'
    | 'offer'
    | 'constraint'
    | 'scheme_https'
  readonly verdict: 'match' | 'partial' | 'mismatch' | 'unverifiable'
  readonly at: Place
  /** The other side. */
  readonly with: Place
  readonly message: string
}

/** Decode limits: what is larger is not read. */
export const MAX_HEADER_CHARS = 16 * 1024
export const MAX_BODY_CHARS = 256 * 1024
export const MAX_FIELDS_OF_A_NAME = 32
export const MAX_DEPTH = 32

/** Transactions of agent commerce, recognised and judged. Nothing is forwarded and no target is contacted, not even by DNS. */
export interface Commerce {
  /** @param caller whose policy and spend windows apply; undefined: the default policy, and no window */
  inspect(
    transaction: Transaction,
    caller:
      | {
          readonly accountId: string
          /** Counts on the windows what is not denied. */
          readonly isCounted: boolean
        }
      | undefined,
  ): Promise<InspectResult>
  /** Same input, same bytes: no clock, no network, no key. */
  test(
    transaction: Transaction,
    options: {
      /** Milliseconds; windows are held against it where given. */
      readonly evaluateAt?: number | undefined
      /** Hints that the server declares of an MCP tool; no request carries them. */
      readonly annotations?:
        | { readonly readOnlyHint?: boolean | undefined; readonly idempotentHint?: boolean | undefined }
        | undefined
    },
  ): TestReport
  /** Protocols, checks, caps and reason codes, generated from the rules themselves. */
  testSchema(): Record<string, unknown>
}
