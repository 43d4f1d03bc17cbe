// The world and the rest of the gateway as the edge needs them. One call: is the host's consent record in DNS for
// this gateway and an account that asked for this host; does policy let the transaction through; then one attempt of the
// egress engine without a credential, paid by the merchant's account.
import type { KeyObject } from 'node:crypto'
import type { EdgeRefusal } from '../../schemas/edge.ts'
import type { Policy } from '../commerce/policy/document.ts'
import type { AddressPolicy } from '../egress/address.ts'
import type { Resolver } from '../egress/ports.ts'
import type { PreparedRequest } from '../egress/request.ts'
import type { Runner } from '../egress/run.ts'
import type { Fault } from '../lib/fault-points.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import type { RateLimiter } from '../core/rate-limit.ts'
import type { Logger } from '../lib/log.ts'
import type { Signer } from '../receipts/ports.ts'
import type { Store } from '../store/ports.ts'
import type { EdgeCheck } from '../../schemas/edge.ts'
import type { HttpMessage } from '../core/message.ts'

/** The answer of one resolver about the TXT records of one name. */
export type TxtAnswer =
  | {
      readonly status: 'found'
      /** Records in any order, the strings of one joined. */
      readonly records: readonly string[]
      /** Smallest of the answer, an alias included. */
      readonly ttlSeconds: number
      /** Aliases (CNAME) followed from the name to the records. */
      readonly aliases: number
    }
  /** There is no such name, or no TXT record there. */
  | { readonly status: 'absent'; readonly ttlSeconds: number | null; readonly aliases: number }
  | {
      readonly status: 'failed'
      readonly reason: 'timeout' | 'server_failure' | 'malformed' | 'too_large' | 'alias_loop'
    }

/** Asks one resolver, UDP first and TCP where the answer was truncated. Never throws. */
export interface TxtResolver {
  /** `ip:port`, as shown to operators. */
  readonly name: string
  ask(name: string, timeoutMs: number): Promise<TxtAnswer>
}

/** The permissions of a consent record, once it is known to be one for us. */
export interface Consent {
  readonly accountToken: string
  /** Path prefixes at `/` boundaries; `/` allows every path. */
  readonly paths: readonly string[]
  readonly methods: readonly string[]
  /** Milliseconds; null: until it is removed. */
  readonly until: number | null
  /** base64url SHA-256 of the record itself, for evidence. */
  readonly recordDigest: string
}

export type ConsentVerdict =
  | { readonly ok: true; readonly consent: Consent; readonly accountId: string }
  | { readonly ok: false; readonly refusal: EdgeRefusal; readonly detail: string }

/** Cached: positive for min(TTL, 300 s), negative for 60 s, failures not at all; a failure is a refusal. */
export interface ConsentSource {
  /** Judges the host alone; path and method are judged per call. */
  find(host: string): Promise<ConsentVerdict>
}

/** One finding about a transaction; `blocks` decides whether it is forwarded. */
export interface Finding {
  /** A code of /v1/inspect, or a name of the edge's own where that has none. */
  readonly rule: string
  readonly blocks: boolean
  /** Tells a buyer's agent what to change; never quotes the transaction. */
  readonly detail: string
}

/** A finding that refuses the transaction. */
export const block = (rule: string, detail: string): Finding => ({ rule, blocks: true, detail })
/** A finding that is told in the receipt and refuses nothing. */
export const note = (rule: string, detail: string): Finding => ({ rule, blocks: false, detail })

export interface Inspection {
  /** Payment protocols that were recognised by their headers or body, e.g. `x402`. */
  readonly protocols: readonly string[]
  readonly findings: readonly Finding[]
}

export interface EdgeParts {
  readonly store: Pick<Store, 'saveEdgeHost' | 'findEdgeHost' | 'reserveEdgeCall'>
  readonly runner: Pick<Runner, 'recall' | 'begin' | 'run'>
  /** Asks the operator's egress policy. @throws {GatewayError} egress_paused, target_blocked */
  readonly applyPolicy: (request: PreparedRequest) => Promise<void>
  /** The operator's policy about transactions, as /v1/inspect holds it against them. */
  readonly readPolicy: (accountId: string) => Promise<Policy>
  /** All of them have to agree. */
  readonly txtResolvers: readonly TxtResolver[]
  readonly resolver: Resolver
  readonly addresses: AddressPolicy
  readonly signer: Signer
  /** Bounds what goes to one merchant, whoever sends it. */
  readonly limiter: RateLimiter
  /** Key of the Idempotency-Key values that this installation hands out. */
  readonly idempotencyKey: KeyObject
  /** Key that account tokens of consent records are derived with. */
  readonly tokenKey: KeyObject
  /** The `gw=` value of consent records: a host name. */
  readonly edgeName: string
  readonly egressPorts: readonly number[]
  readonly allowSandboxName: boolean
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

export const MAX_ANSWER_BYTES = 1024 * 1024
export const CONSENT_LABEL = '_agent-gateway'

/** The merchant's answer, with the gateway's headers added. */
export interface EdgeReply {
  readonly status: number
  /** Lower-case names, repeated ones apart. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** Transactions passed on to merchants who said so in their DNS. */
export interface Edge {
  /**
   * @throws {GatewayError} target_invalid, target_blocked, header_forbidden, headers_too_large, edge_not_authorized,
   * transaction_blocked, credits_required, egress_paused, upstream_unreachable, outcome_ambiguous, response_too_large, response_unacceptable
   */
  forward(transaction: HttpMessage, charge: CreditCharge): Promise<EdgeReply>
  /** Says what the record is, what it should be for this account, and why it is refused. Asks every resolver anew. */
  check(accountId: string, host: string): Promise<EdgeCheck>
}
