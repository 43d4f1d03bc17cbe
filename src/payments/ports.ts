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
import type { ChainBlock, Eip3009Authorization } from './chain-ports.ts'
import type { Secret } from '../lib/secret.ts'
import type { Funds, PaymentClaim, StoredReceipt } from '../store/ports.ts'
import type { Millis } from '../store/model.ts'
import type { SettleResponse, VerifyResponse } from '../../schemas/x402.ts'
import type { Caller } from '../core/caller.ts'
import type { CreditCharge } from '../core/credit-charge.ts'

// payments ---------------------------------------------------------------------------------------------------------

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
      /** The most of them that may be worked on or being sent, where the last ones could not be settled. */
      readonly maxWorking?: number | undefined
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
   * @param options.workMs how long the work may take that is done before the payment is settled; none where it is left out
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
      workMs?: number | undefined
      withBalance?: boolean | undefined
      skipChain?: boolean | undefined
    },
  ): Promise<Verdict>
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
  /** Shown to callers: `local`, or the host of a facilitator. */
  readonly id: string
  /** Shown to callers, so without a path, which may hold a key; null of the one in this process. */
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
  /**
   * Only of the upstream in this process: so much waits to be sent on a network (CAIP-2) that it is offered to nobody for the moment.
   * What is worked on already is settled all the same. Nothing is asked for this.
   */
  isBusy?(network: string): boolean
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
  /**
   * Asks again whoever was not asked for a while, for somebody who only watches: `states` tell of it, and what fails keeps no buyer away. Never
   * throws.
   */
  look(): Promise<void>
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
   * Asks the store for a claim. Where it is ok, the claim is in hand until `settle` or `giveBack` ends it: whoever begins it calls one of them,
   * and `giveBack` where `settle` throws. A store that throws does not say whether it has the claim; nothing is submitted for one, so it is
   * canceled as soon as it turns up, however late, and the payment is free again.
   */
  begin<T extends { readonly ok: boolean }>(claimId: string, claim: () => Promise<T>): Promise<T>
  /**
   * Cancels a claim that was not submitted, and gives back what `/settle` took for it. Never throws: what cannot be given back now is given
   * back as soon as the store can.
   * @returns whether the payment is free again; undefined while the store does not say
   */
  giveBack(claim: PaymentClaim, reason: string): Promise<boolean | undefined>
  /**
   * `claimed -> submitted` on disk (with the result), one settle, then what became of it on disk, with the receipt.
   * Never throws once submitted; a claim that is not `claimed` any more is answered as it stands.
   */
  settle(input: {
    claim: PaymentClaim
    payment: Payment
    requirements: PaymentRequirements
    result: StoredResult | null
    /** Told when the payment is written as submitted and goes out. */
    onSubmitted?: (() => void) | undefined
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
  settle(
    body: unknown,
    caller: Caller,
    charge: CreditCharge,
    onSubmitted?: () => void,
  ): Promise<SettleResponse>
  /** Kinds of live upstreams only. */
  supported(): Promise<SupportedResponse>
  identity(): Promise<Record<string, unknown>>
  /** @throws {GatewayError} no_route */
  route(selector: { network: string; scheme: string }): Promise<Record<string, unknown>>
}
