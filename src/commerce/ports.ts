// What a transaction of agent commerce looks like to everybody who judges one: /v1/inspect (policy), /v1/test (rubric), the
// edge and the marketplace. Everything here is pure: no clock, no network, no key. Reading (message.ts, detect.ts, protocols/*)
// finds what is there and where; judging (bindings.ts, policy/*, rubric/*) never parses anything itself.
//
//   TransactionInput -> readMessage -> Message -> detect -> Detection { layers, reading, facts } -> bindings -> Binding[]
//                                                             |-> policy/   -> allow | review | deny, with reasons
//                                                             '-> rubric/   -> checks, dimensions, score
//
// What another part calls (the edge and the marketplace have a message, the payment firewall has documents that it decoded itself):
//   a message    readMessage(input), detect(message), findBindings(message, detection)
//                  -> what it is, what it says about the money, and every pair of statements with its verdict and places
//   documents    readX402Shape(payment)                  bindings of x402 without places and text, and nothing decoded twice:
//                  -> version, stage, method             version and method say which members there are to read;
//                X402_RULES[rule](paid, asked), judgeX402(paid, asked)
//                  -> Verdict of `scheme`, `network`, `asset`, `pay_to`, `amount`, `accepted`; amounts are bigint, networks CAIP-2
//                findDifference(accepted, asked)         -> the first member in which a payer's choice is not the requirement
//                findDomainDifference(extra, domain, …)  -> whether the EIP-712 domain is that of the token
//                findWindowProblems(window, bounds)      -> seconds; the caller knows the time and how much it tolerates
//                compareResourceTexts(paid, spent)       -> whether two URLs are one resource
// Whoever refuses maps `mismatch` to codes of its own and treats `unverifiable` as refused wherever it needs the statement.
import type { InspectResult, TestReport, Transaction } from '../../schemas/commerce.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

/** As it came in: nothing is trusted, nothing but its shape is checked. */
export interface TransactionInput {
  readonly target: string
  readonly method?: string | undefined
  /** A list is a header that was sent more than once. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  /** A string is the raw body; anything else is JSON whose raw bytes nobody has: digests of it can match, but not mismatch. */
  readonly body?: unknown
}

/**
 * Where something was found: a JSON Pointer into the input, `#` and a pointer into what is encoded there, e.g.
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
  | { readonly kind: 'unreadable'; readonly why: 'malformed' | 'too_deep' | 'oversize' }

export interface Message {
  readonly target: {
    readonly text: string
    /** Undefined where it is not an absolute URL. */
    readonly url: URL | undefined
  }
  /** Upper case; GET without a body, POST with one, where none was given. */
  readonly method: string
  /** In order, repeated ones apart. */
  readonly headers: readonly HeaderField[]
  /** The first field, of each name that is there more than MAX_FIELDS_OF_A_NAME times, that was not read. */
  readonly unreadHeaders: readonly Place[]
  readonly body: Body
  /** Header value by lower-case name, the first where there are several. */
  header(name: string): HeaderField | undefined
}

export type Protocol = 'x402' | 'mpp' | 'ucp' | 'acp' | 'ap2' | 'mcp'
export type LayerName = Protocol | 'a2a' | 'l402' | 'web-bot-auth'
export type Confidence = 'high' | 'medium' | 'low'

export interface Layer {
  readonly name: LayerName
  /** As the protocol writes it (`2`, `draft-httpauth-payment-00`, `2026-08-25` …); null where nothing says. */
  readonly version: string | null
  /** `http`, `mcp`, `a2a`, `rest`, `sd-jwt`, `streamable-http`, `jsonrpc` … */
  readonly transport: string
  /** `challenge`, `payment`, `settlement`, `checkout.create|update|complete|cancel|get`, `delegate`, `intent`, `tools/call` … */
  readonly stage: string
  readonly confidence: Confidence
  /** Why: marks with their places, e.g. `header PAYMENT-SIGNATURE decodes with x402Version 2`. Never a value that could be secret. */
  readonly evidence: readonly { readonly mark: string; readonly at: Place }[]
  /** A document of the protocol that could be decoded, and where; undefined where there is none or it does not decode. */
  readonly document: Found<JsonObject> | undefined
  /** Whether a document should be there and cannot be decoded. */
  readonly isUndecodable: boolean
}

/** What the transaction says about the money and its bounds, in words every protocol shares. Null: it does not say. */
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
  /** Where a credential, proof or signature stands that must never be shown. */
  readonly credentials: readonly Place[]
}

export interface Conflict {
  readonly code: 'DETECT-CONFLICT' | 'HEADER_CONFLICT' | 'DUPLICATE_PAYMENT' | 'VERSION_CONFLICT'
  readonly at: Place
  readonly message: string
}

export interface Detection {
  readonly protocol: Protocol | 'unknown'
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
    | 'amount'
    | 'resource'
    | 'host'
    | 'digest'
    /** sd_hash, checkout_hash, disclosure digests: recomputed. */
    | 'hash'
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
  /** @param accountId whose policy applies; undefined: the default one */
  inspect(transaction: Transaction, accountId: string | undefined): Promise<InspectResult>
  /** Same input, same bytes: no clock, no network, no key. */
  test(
    transaction: Transaction,
    options: {
      /** Milliseconds; windows are held against it where given. */
      readonly evaluateAt?: number | undefined
      /** What the server declares of an MCP tool; no request carries it. */
      readonly annotations?:
        | { readonly readOnlyHint?: boolean | undefined; readonly idempotentHint?: boolean | undefined }
        | undefined
    },
  ): TestReport
  /** Protocols, checks, caps and reason codes, generated from the rules themselves. */
  testSchema(): Record<string, unknown>
}
