// What the gateway asks of a store: domain commands, each one atomic and durable when its promise resolves.
// No SQL, no engine and no policy here; `test/contract/store.test.ts` holds every engine to the same behaviour.

import type { Attempt, AttemptKind, AttemptState, Millis, Page, PageRequest } from './model.ts'
import type { Scope } from '../../schemas/http.ts'
import type { ActionStore, EdgeStore } from './action-ports.ts'
import type { EmailStore } from './email-ports.ts'

export type * from './action-ports.ts'
export type * from './email-ports.ts'

export interface Account {
  readonly id: string
  readonly name: string
  readonly createdAt: Millis
}

export interface ServiceKey {
  readonly id: string
  readonly accountId: string
  readonly label: string
  /** May grant credits, create accounts and rotate the authority. */
  readonly admin: boolean
  readonly createdAt: Millis
  readonly revokedAt: Millis | null
}

/** AES-256-GCM record under its own key, that key wrapped by HPKE to the authority `kid`. All bytes base64url. */
export interface SealedSecret {
  readonly ciphertext: string
  readonly iv: string
  readonly tag: string
  /** The wrapped record key: the only part that a rotation of the authority touches. */
  readonly wrap: WrappedKey
}

export interface WrappedKey {
  readonly kid: string
  readonly enc: string
  readonly wrapped: string
}

export interface Credential {
  readonly id: string
  readonly accountId: string
  readonly provider: string
  readonly label: string
  readonly scope: Scope
  /** Lower-case header name the secret is sent in, and the scheme word before it ("" for none). */
  readonly header: string
  readonly scheme: string
  /** 1 at creation, one more per rotation of the secret. */
  readonly version: number
  readonly createdAt: Millis
  readonly rotatedAt: Millis | null
  readonly revokedAt: Millis | null
}

export interface SealedCredential extends Credential {
  readonly sealed: SealedSecret
}

export interface Capability {
  readonly id: string
  readonly accountId: string
  readonly credentialId: string
  /** The capability this one was narrowed from. Revoking a parent revokes what was narrowed from it. */
  readonly parentId: string | null
  readonly label: string
  readonly scope: Scope
  readonly maxUses: number | null
  readonly uses: number
  readonly createdAt: Millis
  readonly expiresAt: Millis
  readonly revokedAt: Millis | null
}

/** What was issued, without the counter that every attempt moves. */
export type HeldCapability = Omit<Capability, 'uses'>

export interface StoredReceipt {
  readonly id: string
  /** Empty for a payment that no account made. */
  readonly accountId: string
  /** Compact JWS. */
  readonly jws: string
  readonly createdAt: Millis
}

export interface LedgerEntry {
  readonly transactionId: string
  /** An account id, or `system:<purpose>` for the other side. */
  readonly account: string
  /** Signed credits; the entries of one transaction sum to zero. */
  readonly amount: number
  readonly kind: 'grant' | 'egress' | 'action' | 'edge' | 'call' | 'refund' | 'purchase' | 'settlement'
  /** What it was for: an attempt id, or the reference given with a grant or with the debit of a call. */
  readonly reference: string
  readonly createdAt: Millis
}

export type ClaimState = 'claimed' | 'submitted' | 'pending' | 'settled' | 'failed' | 'canceled' | 'unknown'

/**
 * A payment that somebody presented, bound to what it pays for. At most one claim that is not `canceled` holds
 * (network, asset, payer, nonce). Nothing in it can move money: the signature is never stored.
 *
 * `claimed -> submitted -> settled | pending | unknown | failed`; `pending | unknown -> settled | failed`;
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
  /** `payment-identifier` of the buyer, unique per (tool, payer) while not canceled. */
  readonly identifier: string | null
  /** Credits that settling grants. */
  readonly purchase: { readonly accountId: string; readonly credits: number } | null
  /** Whose service key called /settle. */
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

export interface StoredTask {
  readonly id: string
  readonly contextId: string
  /** Who may see it: account or capability id; null for anonymous, who must hold the 128-bit task id. */
  readonly owner: string | null
  /** A2A 1.0 TaskState name. */
  readonly state: string
  /** Compare-and-set token: 1 at creation. */
  readonly revision: number
  /** The task as wire JSON, history redacted. */
  readonly json: string
  readonly updatedAt: Millis
  readonly expiresAt: Millis
}

/** A resource that others run, as discovery remembers it. */
export interface DiscoveredResource {
  readonly id: string
  readonly firstSeen: Millis
  /** Exact to the hour. */
  readonly lastSeen: Millis
  /** Oldest first. `price` is text that only discovery reads. */
  readonly prices: readonly { readonly at: Millis; readonly price: string }[]
  readonly liveness: string | null
}

export type ReserveResult =
  | { ok: true; balance: number }
  | { ok: false; reason: 'credits'; balance: number }
  | { ok: false; reason: 'capability_gone' | 'capability_used_up' | 'credential_gone' | 'credential_changed' }

/** How an attempt ends, in the one transaction that also stores its receipt. */
export interface FinishAttempt {
  readonly id: string
  /** As it was reserved. */
  readonly kind: AttemptKind
  readonly bootId: string
  readonly state: 'settled' | 'ambiguous'
  readonly outcome: string
  readonly upstreamStatus: number | null
  readonly responseDigest: string | null
  readonly receipt: StoredReceipt
  readonly now: Millis
}

export interface PublishedKey {
  readonly kid: string
  readonly purpose: 'sign' | 'wrap'
  /** Public JWK as JSON text. */
  readonly jwk: string
  readonly notBefore: Millis
  /** Set when a newer key took over; verification keys stay published after it. */
  readonly retiredAt: Millis | null
}

export interface Store extends ActionStore, EdgeStore, EmailStore {
  readonly engine: 'sqlite' | 'postgres'

  // accounts and keys ------------------------------------------------------------------------------------------
  /** Creates the account with its first key and its one-time free credits. Fails on a duplicate key hash. */
  createAccount(input: {
    account: Account
    key: ServiceKey
    keyHash: Buffer
    grant: { transactionId: string; amount: number; reference: string }
  }): Promise<void>
  /** A further key of an existing account brings no credits. False when there is no such account. */
  addKey(input: { key: ServiceKey; keyHash: Buffer }): Promise<boolean>
  /** Hot: one indexed read. Revoked keys are not found. */
  findKey(keyHash: Buffer): Promise<ServiceKey | undefined>
  listKeys(accountId: string | undefined, page: PageRequest): Promise<Page<ServiceKey>>
  /** Idempotent; undefined when the account has no such key. `accountId` undefined: any account (admin). */
  revokeKey(input: {
    id: string
    accountId: string | undefined
    now: Millis
  }): Promise<ServiceKey | undefined>
  getAccount(id: string): Promise<Account | undefined>

  // credits ----------------------------------------------------------------------------------------------------
  /** Undefined when there is no such account. */
  balance(accountId: string): Promise<number | undefined>
  ledger(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>>
  /** Idempotent by (account, reference): granting the same reference again changes nothing and says so. */
  grant(input: {
    accountId: string
    amount: number
    reference: string
    transactionId: string
    now: Millis
  }): Promise<{ balance: number; repeated: boolean } | undefined>
  /**
   * The account pays for a call that makes no attempt: one double-entry transaction of kind `call`. Idempotent by
   * `transactionId`. Not ok, and nothing is written, when the balance is less than `amount` or there is no such account;
   * not ok either when this very transaction was given back already.
   * @throws {GatewayError} input_invalid when `amount` is no whole number of credits, at least 1
   */
  debitCredits(input: {
    accountId: string
    amount: number
    transactionId: string
    reference: string
    now: Millis
  }): Promise<{ ok: boolean; balance: number }>
  /**
   * Gives back what `debitCredits` took in this transaction, once (kind `refund`, the debit's reference). Not ok when it was
   * given back before, or nothing was debited: then `balance` is 0 where no debit names an account.
   */
  refundCredits(input: { transactionId: string; now: Millis }): Promise<{ ok: boolean; balance: number }>

  // credentials ------------------------------------------------------------------------------------------------
  insertCredential(credential: SealedCredential): Promise<void>
  /** Scoped to the account; another account's credential is not found. */
  getCredential(id: string, accountId: string): Promise<SealedCredential | undefined>
  listCredentials(accountId: string, page: PageRequest): Promise<Page<Credential>>
  /** Compare-and-set on version: false when somebody else rotated or revoked first. */
  rotateCredential(input: {
    id: string
    accountId: string
    fromVersion: number
    sealed: SealedSecret
    now: Millis
  }): Promise<boolean>
  /** Idempotent. Also revokes every capability on it. */
  revokeCredential(input: { id: string; accountId: string; now: Millis }): Promise<Credential | undefined>
  /** Rows whose record key is wrapped to another authority key than `kid`, oldest first. */
  listWrapsNotUnder(
    kid: string,
    limit: number,
  ): Promise<readonly { id: string; accountId: string; version: number; wrap: WrappedKey }[]>
  /** Compare-and-set on (version, old enc): false when the row changed meanwhile. The ciphertext is not touched. */
  replaceWrap(input: { id: string; version: number; from: WrappedKey; to: WrappedKey }): Promise<boolean>

  // capabilities -----------------------------------------------------------------------------------------------
  insertCapability(input: { capability: Capability; tokenHash: Buffer }): Promise<void>
  /** Hot: one indexed read. Returns revoked and expired ones too: the caller says which it was. */
  findCapability(tokenHash: Buffer): Promise<HeldCapability | undefined>
  listCapabilities(
    filter: { accountId: string; credentialId?: string | undefined },
    page: PageRequest,
  ): Promise<Page<Capability>>
  /** Idempotent; revokes descendants too. Returns how many became revoked; undefined when not found. */
  revokeCapability(input: { id: string; accountId: string; now: Millis }): Promise<number | undefined>

  // attempts ---------------------------------------------------------------------------------------------------
  /**
   * Transaction A. In one transaction: the capability (and its ancestors) is unrevoked, unexpired and has uses left;
   * the credential is unrevoked and still at `credentialVersion`; the account pays `cost`; uses + 1 along the
   * capability's ancestors; the attempt appears as it is given, `reserved` or (A and B
   * at once, where nothing has to be asked in between) `sending`. Nothing changes when any of it does not hold.
   */
  reserveAttempt(input: {
    attempt: Attempt
    bootId: string
    transactionId: string
    cost: number
    now: Millis
  }): Promise<ReserveResult>
  /** Transaction B: `reserved -> sending`. False when recovery (or anyone) got there first: then do not send. */
  markSending(input: { id: string; bootId: string; now: Millis }): Promise<boolean>
  /**
   * Transaction C: `sending -> settled | ambiguous` with the receipt. False when it is no longer ours to finish.
   * Of an `action` it is counted too; so is its refund, which also gives the mandate its share back.
   */
  finishAttempt(input: FinishAttempt): Promise<{ ok: boolean; balance: number }>
  /** `reserved | sending -> refunded`, credit returned, once. Only for attempts of which no request byte left. */
  refundAttempt(input: {
    id: string
    bootId: string
    outcome: string
    transactionId: string
    now: Millis
  }): Promise<{ ok: boolean; balance: number }>
  getAttempt(id: string, accountId: string): Promise<Attempt | undefined>
  listAttempts(
    filter: { accountId: string; capabilityId?: string | undefined; state?: AttemptState | undefined },
    page: PageRequest,
  ): Promise<Page<Attempt>>
  /**
   * Settles what dead processes left behind: `reserved` is refunded, `sending` becomes `ambiguous` (still charged).
   * Attempts of live processes are not touched. Ambiguous ones come back so that a receipt can be signed and attached.
   */
  recoverAttempts(input: { bootId: string; now: Millis }): Promise<{
    refunded: readonly Attempt[]
    ambiguous: readonly Attempt[]
  }>
  /** For attempts that recovery made ambiguous: attaches the receipt once. */
  attachReceipt(input: { attemptId: string; receipt: StoredReceipt }): Promise<boolean>
  /** Attempts that ended charged without a receipt: a crash between recovery and signing. */
  listAttemptsWithoutReceipt(limit: number): Promise<readonly Attempt[]>

  // payments ---------------------------------------------------------------------------------------------------
  /** Inserts as `claimed`, or names the claim that is in the way: same payment, or same (tool, payer, identifier). */
  claimPayment(input: {
    claim: NewPaymentClaim
    bootId: string
  }): Promise<
    { ok: true; claim: PaymentClaim } | { ok: false; reason: 'payment' | 'identifier'; claim: PaymentClaim }
  >
  /** Hot: one indexed read each. A canceled claim is found by id only. */
  getClaim(id: string): Promise<PaymentClaim | undefined>
  findClaim(key: {
    network: string
    asset: string
    payer: string
    nonce: string
  }): Promise<PaymentClaim | undefined>
  findIdentifiedClaim(key: {
    tool: string
    payer: string
    identifier: string
  }): Promise<PaymentClaim | undefined>
  /**
   * `claimed -> submitted`, with the result (if any) that will be released once settled. Durable before the first
   * settle byte leaves. False when it is no longer ours: then do not settle.
   */
  submitClaim(input: {
    id: string
    bootId: string
    upstream: string
    result: { json: string; sha256: string; expiresAt: Millis } | null
    now: Millis
  }): Promise<boolean>
  /**
   * `submitted | pending | unknown -> settled`, once, with its receipt, and with the credits it bought (double entry,
   * kind `purchase`, reference the claim id) in the same transaction. Undefined when it was not in such a state.
   * When the account is gone or full, it settles all the same with reason `purchase_unclaimed`, and the credits stand
   * on `system:unclaimed` until the operator grants them by hand.
   */
  settleClaim(input: {
    id: string
    transaction: string
    /** Where it was settled, when that is not where it was submitted first. */
    upstream?: string | undefined
    receipt: StoredReceipt
    transactionId: string
    now: Millis
  }): Promise<PaymentClaim | undefined>
  /**
   * `submitted | pending | unknown -> pending | unknown | failed`. Undefined when it was not in such a state.
   * A transaction once known stays when `transaction` is null. Failed is final: the stored result is deleted.
   */
  moveClaim(input: {
    id: string
    to: 'pending' | 'unknown' | 'failed'
    reason: string | null
    transaction: string | null
    /** As in `settleClaim`. */
    upstream?: string | undefined
    now: Millis
  }): Promise<PaymentClaim | undefined>
  /** `claimed -> canceled`: nothing was submitted. False when it was already submitted or is another process's. */
  cancelClaim(input: { id: string; bootId: string; reason: string; now: Millis }): Promise<boolean>
  /** Claims of dead processes: `claimed -> canceled`, `submitted -> unknown`. Living processes' are not touched. */
  recoverClaims(input: { bootId: string; now: Millis }): Promise<{ canceled: number; unknown: number }>
  /**
   * `pending` and `unknown` claims without a look since before `now`, longest first; marks them as looked at `now`. Asked
   * again with the same `now` it goes on where it stopped, and is empty in the end. No two processes get the same one.
   */
  takeDoubtfulClaims(input: { limit: number; now: Millis }): Promise<readonly PaymentClaim[]>
  /** The stored result of a claim, until its 24 hours are over and it is swept; settling late starts them anew. */
  getClaimResult(id: string): Promise<{ json: string; sha256: string; expiresAt: Millis } | undefined>
  /** What is not decided yet, for health: read from an index that holds nothing else. */
  countOpenClaims(): Promise<{ pending: number; unknown: number }>

  /**
   * One settlement of the monthly free allowance of `holder` (account id, or `<network>:<payTo>`), else one credit of
   * `accountId` (kind `settlement`, reference the claim id). Idempotent by claim id until it is returned. `left`: of the
   * allowance or the balance, whichever paid. Not ok: `balance` is null without an account.
   */
  takeSettlement(input: {
    holder: string
    /** e.g. `2026-11`. */
    month: string
    allowance: number
    accountId: string | null
    claimId: string
    transactionId: string
    now: Millis
  }): Promise<
    { ok: true; paidBy: 'allowance' | 'credits'; left: number } | { ok: false; balance: number | null }
  >
  /** Gives back what `takeSettlement` took for this claim, once: nothing was settled. */
  returnSettlement(input: { claimId: string; transactionId: string; now: Millis }): Promise<boolean>

  /** Quotes that were asked for explicitly or paid; the rest verify without a row. Kept 5 minutes beyond expiry. */
  saveQuote(quote: { id: string; jws: string; createdAt: Millis; expiresAt: Millis }): Promise<void>

  /**
   * Binds a one-time account reference to the claim that pays by it; again for the same claim is fine. Another claim
   * that holds it is named, unless that one was canceled or failed: then the reference is free again.
   */
  takeReference(input: {
    id: string
    claimId: string
    now: Millis
  }): Promise<{ ok: true } | { ok: false; claim: { id: string; state: ClaimState } }>

  // receipts ---------------------------------------------------------------------------------------------------
  getReceipt(id: string): Promise<StoredReceipt | undefined>

  // published keys ---------------------------------------------------------------------------------------------
  publishKey(key: PublishedKey): Promise<void>
  retireKey(kid: string, now: Millis): Promise<void>
  listPublishedKeys(): Promise<readonly PublishedKey[]>

  // A2A tasks --------------------------------------------------------------------------------------------------
  /** revision 1 inserts; n+1 replaces n. False when the stored revision is another. */
  saveTask(task: StoredTask): Promise<boolean>
  /** Whether the caller may see it is the caller's business: compare `owner`. */
  getTask(id: string): Promise<StoredTask | undefined>
  listTasks(
    filter: {
      owner: string
      contextId?: string | undefined
      state?: string | undefined
      since?: Millis | undefined
    },
    page: PageRequest,
  ): Promise<Page<StoredTask> & { total: number }>

  // discovery --------------------------------------------------------------------------------------------------
  /**
   * Remembers resources that a catalogue lists: `firstSeen` once, and every price that differs from the last one (the
   * newest `keepPrices`). Returns what is known of each, liveness included.
   */
  seeResources(input: {
    seen: readonly { id: string; price: string }[]
    keepPrices: number
    now: Millis
  }): Promise<readonly DiscoveredResource[]>
  /** What our own look at a resource found; nothing when the resource is not remembered. */
  recordLiveness(input: { id: string; liveness: string }): Promise<void>
  /** Removes up to `limit` that no catalogue listed since then, and up to `limit` beyond the newest `keep`. */
  forgetResources(input: { notSeenSince: Millis; keep: number; limit: number }): Promise<number>

  // operation --------------------------------------------------------------------------------------------------
  /** Deletes what retention allows (contract, section 10). Returns rows removed by kind. */
  sweep(now: Millis): Promise<Readonly<Record<string, number>>>
  /** Counters for health and statistics; cheap. */
  health(): Promise<{ ok: boolean; latencyMs: number; detail: string }>
  /** Finishes what is queued, then closes. Later calls reject with `store_unavailable`. */
  close(): Promise<void>
}

/** Operator-edited documents: lowdb JSON files in the data directory, or a table when PostgreSQL is set. */
export interface DocumentStore {
  /** The validated document; the last good copy if a hand edit broke it (and `problem` says so). */
  read<T>(document: DocumentKind<T>): Promise<{ value: T; problem?: string }>
  /** Read-modify-write; refuses (state_conflict) when the file changed underneath. */
  update<T>(document: DocumentKind<T>, change: (value: T) => T): Promise<T>
  close(): Promise<void>
}

export interface DocumentKind<T> {
  readonly name: string
  readonly parse: (value: unknown) => T
  readonly initial: T
}

/** The input of one command of the store. */
export type Input<K extends keyof Store> = Store[K] extends (input: infer I) => unknown ? I : never
