// Payments that were presented.
import type { Millis } from '../model.ts'

export type ClaimState = 'claimed' | 'submitted' | 'pending' | 'settled' | 'failed' | 'canceled' | 'unknown'

/**
 * A payment that somebody presented, bound to what it pays for. At most one claim that is not `canceled` holds
 * (network, asset, payer, nonce). Nothing in it can move money: the signature is never stored.
 *
 * `claimed -> submitted -> settled | pending | unknown | failed`; `pending | unknown -> settled | failed`;
 * a `failed` claim without `finishedAt` is watched, because its authorization could still be used: `failed -> settled`;
 * `settled -> pending -> settled | failed` where its chain replaced the block: it keeps the `receiptId` of the first time;
 * `claimed -> canceled` (the work failed, or its process died: nothing was charged and the payment is free again).
 */
export interface PaymentClaim {
  readonly id: string
  /** `tool`: pays for a call of ours; `settle`: another seller's, through POST /settle. */
  readonly origin: 'tool' | 'settle'
  /** CAIP-2. */
  readonly network: string
  /** Lower-case, as is the payer and the nonce. */
  readonly asset: string
  readonly payer: string
  readonly nonce: string
  readonly payTo: string
  /** Atomic units as decimal text. */
  readonly amount: string
  readonly validBefore: Millis | null
  readonly state: ClaimState
  /** Tool name for `tool`; for `settle` the word `settle`. */
  readonly tool: string
  readonly method: string
  readonly resource: string
  /** base64url SHA-256 of the normalised request, and of the requirement that was accepted. */
  readonly requestDigest: string
  readonly requirementDigest: string
  /** Keyed digest of the whole payment as presented: who shows it again is its buyer. Says nothing without the key. */
  readonly presentationDigest: string
  /**
   * The part of the payment that only its buyer can know: the challenge of a 402 of ours, or a random identifier. Null where
   * everything in it can be read on the chain or guessed; then the payment alone releases nothing.
   */
  readonly secret: 'challenge' | 'identifier' | null
  /** `payment-identifier` of the buyer, unique per (tool, payer) while not canceled. */
  readonly identifier: string | null
  /** Credits that settling grants. */
  readonly purchase: { readonly accountId: string; readonly credits: number } | null
  /** Account whose service key called /settle. */
  readonly accountId: string | null
  readonly upstream: string | null
  readonly transaction: string | null
  /** Stable word for why it failed, was canceled or is unknown. */
  readonly reason: string | null
  /** hex SHA-256 of the stored result's JSON. */
  readonly resultSha256: string | null
  readonly receiptId: string | null
  readonly createdAt: Millis
  readonly submittedAt: Millis | null
  readonly finishedAt: Millis | null
}

/** What a payer has bound and what it has paid, of one asset on one network. Amounts are atomic units as decimal text. */
export interface PayerStanding {
  readonly open: OpenClaims
  /** The sum of all its claims whose transfers were seen in a block; it never falls. What it rose by was seen in between. */
  readonly settled: string
}

/** Claims that are not decided: the amount of each may still leave the payer. */
export interface OpenClaims {
  readonly count: number
  readonly amount: string
  /** Those that were sent and not answered: their transfers may be in a block already. */
  readonly submitted: number
  /** Those that are worked on or being sent; the others wait for what their chain says. */
  readonly working: number
}

/** What a payer was found to hold, and what it had paid before anybody asked. */
export interface Funds {
  /** Atomic units, or a lower bound of them. */
  readonly balance: string
  /** `PayerStanding.settled`, read before the balance was. */
  readonly settled: string
}

/** What a claim has to fit into; without them, anything does. */
export interface ClaimLimits {
  /** Where it is given, the payer's open claims and this one fit into it, or nothing is claimed. */
  readonly funds?: Funds | undefined
  /** The most claims of this payer, asset and network that may be open at once. */
  readonly maxOpen?: number | undefined
  /** The most of them that may be worked on or being sent. */
  readonly maxWorking?: number | undefined
}

/** The block that a claim was settled in. */
export interface ClaimBlock {
  readonly number: number
  readonly hash: string
}

/** A receipt that its chain took back. */
export interface ReceiptStanding {
  readonly withdrawnAt: Millis
  /** The receipt that says the same of another transaction. */
  readonly replacedBy: string | null
}

/** How a claim begins: what is not known yet is left out. */
export type NewPaymentClaim = Omit<
  PaymentClaim,
  | 'state'
  | 'upstream'
  | 'transaction'
  | 'reason'
  | 'resultSha256'
  | 'receiptId'
  | 'submittedAt'
  | 'finishedAt'
>

/** What a settlement for another seller was paid with. */
export interface SettlementTake {
  /** e.g. `2026-11`. */
  readonly month: string
  readonly paidBy: 'allowance' | 'credits'
}

/** What an operator decided of a payment that nobody else could decide. */
export interface ClaimClosure {
  readonly claimId: string
  readonly was: 'pending' | 'unknown'
  /** In the operator's words. */
  readonly reason: string
  /** Who decided: a key, or a person. */
  readonly closedBy: string
  readonly closedAt: Millis
}
