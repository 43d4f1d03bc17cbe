// A chain as the payment parts ask it: what became of an authorization, what an account holds, what a block is. `adapters/chain.ts`
// answers over JSON-RPC; tests answer what they like.
import type { PaymentNetwork } from '../core/networks.ts'
import type { Secret } from '../lib/secret.ts'
import type { Millis } from '../store/model.ts'

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

/**
 * A node whose newest block is so much older than our clock is behind its chain: what it does not show may have happened. Clocks
 * differ by up to ten minutes.
 */
export const BEHIND_MS = 15 * 60_000

export interface Chain {
  readonly network: PaymentNetwork
  /** Blocks come only when somebody pays, as on the chains of the sandbox: the time of the newest one says nothing about now. */
  readonly minesOnDemand: boolean
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
  state(): ChainState
  close(): Promise<void>
}

/** What is known of a chain; nothing is asked for it. */
export interface ChainState {
  readonly state: 'ok' | 'failing' | 'unknown'
  readonly detail: string
  readonly age_ms: number | null
  /** Number of the newest block that was asked for; absent where none was. */
  readonly latest_block?: string
  /** False: its token has not shown itself to be the one that it must be. Absent where nobody looked. */
  readonly takes_payments?: boolean
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
