// The interfaces between the payment parts, and what they need from the world. Types only; one file per factory.
//
//   door -> call path -> gate -> verifier (firewall, recover, chain)      is this payment good for this request?
//                             -> store claim                              has anyone else used it?
//                             -> the tool's handler                       the work
//                             -> settlements -> router -> upstream        submitted on disk first, then one settle
//                             -> receipt, stored result, answer
//   POST /verify, /settle ----> verifier, claim, settlements               the same parts, for other sellers
//   reconciler ---------------> chain logs                                decides what nobody answered
import type {
  PaymentPayloadV1,
  PaymentPayloadV2,
  PaymentRequirements,
  SupportedKind,
  SupportedResponse,
} from '../../schemas/x402.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import type { Secret } from '../lib/secret.ts'
import type { Funds, PaymentClaim, StoredReceipt } from '../store/ports.ts'
import type { Millis } from '../store/model.ts'
import type { SettleResponse, VerifyResponse } from '../../schemas/x402.ts'
import type { Caller } from '../core/caller.ts'
import type { CreditCharge } from '../core/credit-charge.ts'

// payments ---------------------------------------------------------------------------------------------------------

export interface Eip3009Authorization {
  /** Lower-case addresses and nonce. */
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** Seconds since the epoch. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 0x and 64 lower-case hex digits. */
  readonly nonce: string
}

/** A decoded payment. Whatever can move money is inside a Secret. */
export interface Payment {
  readonly x402Version: 1 | 2
  readonly scheme: string
  /** CAIP-2, also for v1. */
  readonly network: string
  /** The requirement that the buyer says it accepted (v2); null for v1. */
  readonly accepted: PaymentRequirements | null
  /** URL the buyer says it pays for (v2, optional). */
  readonly resourceUrl: string | null
  readonly extensions: Readonly<Record<string, unknown>>
  readonly kind:
    | {
        readonly type: 'eip3009'
        readonly authorization: Eip3009Authorization
        readonly signature: Secret<string>
      }
    /** Another scheme, or another family of chains: an upstream judges it. `exact` on an EVM by Permit2: nobody here does. */
    | { readonly type: 'foreign' }
  /**
   * Payer and nonce identify a claim, with network and asset. Lower-case where the chain is EVM. For `foreign` payments
   * the payer is '' until an upstream names it and the nonce is a digest of the payload.
   */
  readonly payer: string
  readonly nonce: string
  /** When the payment itself expires. Null when it does not say. */
  readonly validBefore: Millis | null
  /** Every member as it came, whether or not anybody reads it. */
  readonly presented: Secret<unknown>
  /** The payment as an upstream must get it. */
  readonly wire: Secret<PaymentPayloadV2 | PaymentPayloadV1>
}

/** Checks in the order in which they are made (research x402.md, "Firewall order"). */
export const CHECKS = [
  'shape',
  'version',
  'scheme',
  'network',
  'asset',
  'pay_to',
  'amount',
  'timeout',
  'accepted',
  'resource',
  'window',
  'signature_form',
  'deny_list',
  'rate',
  'claim',
  'signature',
  'authorization_state',
  'balance',
  'simulation',
  'route',
] as const
export type Check = (typeof CHECKS)[number]

export type Verdict =
  | {
      readonly ok: true
      readonly payer: string
      /** What the payer was seen to hold; whoever claims the payment has the store check it. */
      readonly funds?: Funds | undefined
      /** The most payments of this payer that may be open, where it is fewer than of others. */
      readonly maxOpen?: number | undefined
    }
  | {
      readonly ok: false
      readonly check: Check
      /** x402 error string that stock clients know, e.g. `invalid_exact_evm_payload_signature`. */
      readonly reason: string
      /** A sentence for people: what is wrong and what to do. */
      readonly message: string
      readonly payer?: string | undefined
      /** The payment is not at fault (a chain did not answer): 503, never "invalid". */
      readonly isRetryable: boolean
      /** An upstream answered that it cannot check this very payment, which says nothing of other payments. */
      readonly isOfThisPayment?: boolean
    }

export interface Verifier {
  /**
   * The whole firewall, cheapest check first. Changes nothing, claims nothing, never throws for a bad payment.
   * @param requirements what must be paid, ours or another seller's
   * @param options.claimId a claim that holds this payment and may (settling re-verifies)
   * @param options.isOurs our own tool's requirement: payTo and amount were set by us, so policy about them is moot
   * @param options.withBalance asks the chain what the payer holds, also where none of its other payments is open
   * @param options.skipChain signature and shape only: proof of who paid, for a payment already used
   */
  verify(
    payment: Payment,
    requirements: PaymentRequirements,
    options?: {
      claimId?: string | undefined
      resourceUrl?: string | undefined
      isOurs?: boolean | undefined
      withBalance?: boolean | undefined
      skipChain?: boolean | undefined
    },
  ): Promise<Verdict>
}

// chains -----------------------------------------------------------------------------------------------------------

/** A block as a transaction was seen in it: another one may take its place. */
export interface ChainBlock {
  readonly number: bigint
  readonly hash: string
}

/** The state of one authorization on its chain (research x402.md, "Reconcile result table"). */
export type AuthorizationStatus =
  | { readonly state: 'unused' }
  /** `transferred`: the Transfer that this very authorization caused, and no other's, is (from, to, value) as asked. */
  | {
      readonly state: 'used'
      readonly transaction: string
      readonly transferred: boolean
      readonly block: ChainBlock
      readonly submittedBy: string
    }
  | { readonly state: 'canceled'; readonly transaction: string }

/** One transfer of the asset to an account. Hex is lower-case. */
export interface IncomingTransfer {
  readonly from: string
  /** Atomic units. */
  readonly amount: bigint
  readonly block: number
  readonly transactionHash: string
}

export interface Chain {
  readonly network: PaymentNetwork
  /**
   * Code at the payer and a simulated transfer; where that fails also the state of the nonce and the balance.
   * @param options.withBalance also where the transfer would succeed: other payments of the payer are open
   * @param options.isDecisive the node must say with the answer which chain it is of: somebody is told to pay again
   * @throws {ChainError} when the chain does not answer, or answers for another chain id
   */
  probe(
    authorization: Eip3009Authorization,
    signature: Secret<string>,
    options?: { readonly withBalance?: boolean; readonly isDecisive?: boolean },
  ): Promise<ChainProbe>
  /** Atomic units of the asset that an account holds. @throws {ChainError} */
  balanceOf(address: string): Promise<bigint>
  /**
   * Whether the token would move so much from one account to another now, without any signature: a token that refuses either
   * account, or is paused, says so. @throws {ChainError}
   * @returns the token's words; null where it would
   */
  findRefusal(transfer: {
    readonly from: string
    readonly to: string
    readonly value: bigint
  }): Promise<string | null>
  /**
   * By event log, never by authorizationState alone: a canceled nonce is not a paid one.
   * @throws {ChainError}
   */
  authorizationStatus(input: {
    from: string
    to: string
    value: bigint
    nonce: string
    /** The search begins here; the block time is compared with it. */
    since: Millis
    /** A transaction that is said to hold it: looked at first, believed only when it does. */
    transaction?: string | undefined
  }): Promise<AuthorizationStatus>
  /**
   * ERC-1271: whether the contract at this address takes the signature of its owner. False where there is no contract.
   * @param question.digest 32 bytes
   * @throws {ChainError}
   */
  acceptsSignature(question: {
    readonly account: string
    readonly digest: Uint8Array
    readonly signature: Uint8Array
  }): Promise<boolean>
  /** What stands at an address, and whether the token refuses to move anything to it. @throws {ChainError} */
  accountFacts(address: string): Promise<AccountFacts>
  /**
   * Transfers of the asset to an account in about the last week of blocks; at most 200, newest first.
   * @throws {ChainError}
   */
  incomingTransfers(account: string): Promise<readonly IncomingTransfer[]>
  /** Hashes of the blocks at these heights now; null where there is none. @throws {ChainError} */
  blockHashes(heights: readonly bigint[]): Promise<readonly (string | null)[]>
  /** Latest block: its time decides whether a payment's window has passed for good. @throws {ChainError} */
  head(): Promise<{ number: bigint; time: Millis }>
  state(): { state: 'ok' | 'failing' | 'unknown'; detail: string; age_ms: number | null }
  close(): Promise<void>
}

export interface AccountFacts {
  readonly hasCode: boolean
  readonly isBlacklisted: boolean
}

/** A transfer that would succeed says the rest: its nonce is unused and its payer can pay. */
export interface ChainProbe {
  readonly nonceUsed: boolean
  /** Atomic units; null when the transfer would succeed and nobody asked. */
  readonly balance: bigint | null
  /** A contract wallet: an ERC-1271 check decides, not the recovered address. */
  readonly payerHasCode: boolean
  /** Null when the transfer would succeed; else the revert reason in words. */
  readonly revert: string | null
  /** It would succeed with more gas than a settlement gets here; `revert` says so in words. */
  readonly exceedsGas?: true
}

export class ChainError extends Error {
  readonly reason: 'timeout' | 'unreachable' | 'malformed' | 'wrong_chain' | 'refused'
  /** @param options.cause for the log alone: it may name the node's address */
  constructor(reason: ChainError['reason'], network: string, options?: ErrorOptions) {
    super(`${network}: ${reason}`, options)
    this.name = 'ChainError'
    this.reason = reason
  }
}

// upstream facilitators --------------------------------------------------------------------------------------------

/** The answer to one settle. `refused` and `failed` both mean: no money moved, and none will through this call. */
export type UpstreamSettlement =
  | {
      readonly state: 'settled'
      readonly transaction: string
      readonly payer?: string | undefined
      /**
       * Only of an upstream in this process: its node showed the receipt and said, in the same answer, which chain it is
       * of; and the receipt holds this very transfer. The evidence reader would ask just that.
       */
      readonly isWitnessed?: true
      /** Where it was witnessed. */
      readonly block?: ChainBlock | undefined
    }
  /** Broadcast, not yet final. */
  | { readonly state: 'pending'; readonly transaction: string }
  /** Refused before a byte left, or with proof that nothing was broadcast: another upstream may try. */
  | { readonly state: 'refused'; readonly reason: string; readonly message?: string | undefined }
  /** The upstream said no after it got the payment: only the chain can prove that nothing was broadcast. */
  | { readonly state: 'failed'; readonly reason: string; readonly message?: string | undefined }
  | { readonly state: 'unknown'; readonly reason: string; readonly transaction?: string | undefined }

export interface UpstreamRequest {
  readonly payment: Payment
  readonly requirements: PaymentRequirements
  readonly deadlineMs: number
}

/** An account of the operator that submits settlements on one chain. */
export interface SettlerState {
  /** Checksummed. */
  readonly address: string
  readonly network: string
  readonly state: 'ok' | 'low_on_gas' | 'out_of_gas' | 'stuck' | 'unknown'
  /** Transactions that are in no block yet, and how long the oldest has been waiting. */
  readonly waiting: number
  readonly oldest_ms: number | null
  readonly gas_wei: string | null
  /** At what the next blocks ask. */
  readonly settlements_left: number | null
}

export interface Upstream {
  /** Stable, shown to callers: `local`, or the host of a facilitator. */
  readonly id: string
  readonly url: string | null
  /** Atomic units of the asset that one settlement costs the seller; 0 when free or not known. */
  readonly feeAtomic: bigint
  /** The kinds that it takes now. @throws when it is not reachable or its answer is not valid */
  supported(deadlineMs: number): Promise<SupportedResponse>
  verify(request: UpstreamRequest): Promise<Verdict>
  /** A settlement may be near: what `settle` would ask its chain first can be asked now. Sends nothing, never throws. */
  prepare?(payment: Payment): void
  /**
   * Exactly one submission; the upstream in this process may put the same authorization out again, which is spent once.
   * Never throws.
   */
  settle(request: UpstreamRequest): Promise<UpstreamSettlement>
  /** Only of the upstream in this process: its accounts, as far as is known. Nothing is asked for this. */
  settlers?(): readonly SettlerState[]
  close(): Promise<void>
}

export interface Route {
  readonly upstream: Upstream
  readonly kind: SupportedKind
  readonly latencyMs: number | null
}

export interface UpstreamState {
  readonly id: string
  readonly url: string | null
  readonly state: 'ok' | 'failing' | 'unknown'
  readonly detail: string
  readonly age_ms: number | null
  readonly kinds: readonly SupportedKind[]
  readonly latency_ms: number | null
  readonly breaker: 'closed' | 'open' | 'half_open'
  /** Only of the upstream in this process, once its accounts are open. */
  readonly settlers?: readonly SettlerState[]
}

/** Choice of the upstream that takes a kind of payment, by price, latency, health and finality. */
export interface Router {
  /** Best first; empty when nobody alive takes it. */
  routes(selector: {
    x402Version?: number | undefined
    scheme: string
    network: string
  }): Promise<readonly Route[]>
  supported(): Promise<SupportedResponse>
  states(): readonly UpstreamState[]
  /**
   * Tells how a call to an upstream ended, which feeds breaker and latency. Without `kind` it is about the upstream as a
   * whole.
   */
  report(
    upstreamId: string,
    result: {
      ok: boolean
      ms: number
      kind?: { readonly scheme: string; readonly network: string } | undefined
    },
  ): void
  close(): Promise<void>
}

// settlements ------------------------------------------------------------------------------------------------------

/** The answer that is stored before money moves, and released after. */
export interface StoredResult {
  /** JSON text exactly as it will be sent. */
  readonly json: string
  readonly sha256: string
}

export type Settlement =
  | { readonly state: 'settled'; readonly claim: PaymentClaim; readonly receipt: StoredReceipt }
  | { readonly state: 'pending' | 'unknown'; readonly claim: PaymentClaim }
  | {
      readonly state: 'failed'
      readonly claim: PaymentClaim
      readonly reason: string
      readonly message: string
    }

export interface Settlements {
  /** Lets whoever will settle get ready while the work is done: it reads what it needs meanwhile. Never throws. */
  prepare?(payment: Payment): void
  /**
   * `claimed -> submitted` on disk (with the result), one settle, then what became of it on disk, with the receipt.
   * Never throws once submitted; a claim that is not `claimed` any more is answered as it stands.
   */
  settle(input: {
    claim: PaymentClaim
    payment: Payment
    requirements: PaymentRequirements
    result: StoredResult | null
  }): Promise<Settlement>
  /**
   * Asks once about every open claim of no living process and every doubtful one, and whether what was settled lately still
   * is. Nothing is sent but what our own settler had sent and a reorganisation took back.
   */
  reconcile(): Promise<{ looked: number; settled: number; failed: number; open: number }>
  /** Asks about one claim, when its owner wants to know. */
  reconcileOne(claim: PaymentClaim): Promise<PaymentClaim>
}

/** A payment that was settled for another seller. */
export interface SettledSale {
  readonly payment: Payment
  readonly requirements: PaymentRequirements
  /** Empty where nobody could tell. */
  readonly payer: string
}

/**
 * Told of every payment that the facilitator settled. Never throws.
 * @returns what became of the payment's extensions, by their names; undefined where there is nothing to say
 */
export type OnSettled = (sale: SettledSale) => Promise<Readonly<Record<string, unknown>> | undefined>

/** x402 facilitator for anybody's payments (POST /verify, /settle and what describes them). */
export interface Facilitator {
  /**
   * @param body as sent: {x402Version, paymentPayload, paymentRequirements}
   * @param caller who would have it settled: without a key a payment may be too small, or its payee unknown
   * @throws {GatewayError} payment_blocked with `check`, `isValid`, `invalidReason`, `payer`; key_required;
   * payments_unavailable; no_route
   */
  verify(body: unknown, caller: Caller): Promise<VerifyResponse>
  /**
   * @throws {GatewayError} payment_blocked, settlement_replayed, credits_required, key_required, payments_unavailable, no_route, each
   * with x402's own members beside the problem
   */
  settle(body: unknown, caller: Caller, charge: CreditCharge): Promise<SettleResponse>
  /** Kinds of live upstreams only. */
  supported(): Promise<SupportedResponse>
  identity(): Promise<Record<string, unknown>>
  /** @throws {GatewayError} no_route */
  route(selector: { network: string; scheme: string }): Promise<Record<string, unknown>>
}
