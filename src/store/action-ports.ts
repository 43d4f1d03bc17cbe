// What the action permits and the edge ask of a store. Part of ports.ts, which everybody imports.
import type { Attempt, Millis, Page, PageRequest } from './model.ts'

/**
 * What an operator allows to be asked for, and how often. Known by its digest too: the same mandate given again is the
 * same row, its counters and its revocation included.
 */
export interface Mandate {
  readonly id: string
  readonly accountId: string
  /** base64url SHA-256 over the RFC 8785 form of everything the mandate says. Unique per account. */
  readonly digest: string
  readonly purpose: string
  readonly credentialId: string
  /** Exact host, or `host:port`. */
  readonly host: string
  readonly pathPrefix: string
  readonly methods: readonly string[]
  /** At least one of the two is set. */
  readonly maxCalls: number | null
  readonly maxCredits: number | null
  readonly requiresApproval: boolean
  readonly expiresAt: Millis
  /** Held by permits that may still be executed, or were: given back where nothing was sent and nothing will be. */
  readonly calls: number
  readonly credits: number
  readonly createdAt: Millis
  readonly revokedAt: Millis | null
}
export type NewMandate = Omit<Mandate, 'calls' | 'credits' | 'revokedAt'>

/**
 * `pending_approval -> ready | refused`; `ready -> executed`; `pending_approval | ready -> expired`, which is only written
 * down when its share of the mandate is wanted back: judge by `expiresAt`.
 */
export type PermitState = 'pending_approval' | 'ready' | 'refused' | 'executed' | 'expired'

export interface Permit {
  readonly id: string
  readonly accountId: string
  readonly mandateId: string
  readonly credentialId: string
  readonly credentialVersion: number
  readonly state: PermitState
  /** hex SHA-256 of the compact JWS: who shows these very bytes holds the permit. */
  readonly tokenSha256: string
  /** base64url SHA-256 over the canonical request. */
  readonly requestDigest: string
  readonly method: string
  readonly host: string
  /** What its execution takes of the mandate. */
  readonly cost: number
  /** What will be sent, as JSON, for the one who decides; null where nobody is asked, and once it is decided. */
  readonly summary: string | null
  readonly createdAt: Millis
  /** While `pending_approval`: until when it can be approved. */
  readonly expiresAt: Millis
  readonly decidedAt: Millis | null
  /** Id of the service key that approved or refused. */
  readonly decidedBy: string | null
  /** The one attempt it was executed by. */
  readonly attemptId: string | null
}
export type NewPermit = Omit<Permit, 'decidedAt' | 'decidedBy' | 'attemptId'>

export type PrepareResult =
  | { readonly ok: true; readonly balance: number }
  | { readonly ok: false; readonly reason: 'credits'; readonly balance: number }
  | {
      readonly ok: false
      readonly reason:
        'mandate_gone' | 'mandate_used_up' | 'credential_gone' | 'credential_changed' | 'too_many_pending'
    }

export type ActionResult =
  | { readonly ok: true; readonly balance: number }
  | { readonly ok: false; readonly reason: 'credits'; readonly balance: number }
  | { readonly ok: false; readonly reason: 'credential_gone' | 'credential_changed' | 'mandate_gone' }
  /** Not `ready`, or past its time: as it stands. Undefined when there is no such permit. */
  | { readonly ok: false; readonly reason: 'permit'; readonly permit: Permit | undefined }

/** Counted in the transactions that they count; they agree with the ledger at every moment. */
export interface ActionCounts {
  readonly permitsPrepared: number
  readonly permitsApproved: number
  readonly permitsRefused: number
  /** Attempts made, in whatever state they are. */
  readonly executions: number
  readonly settled: number
  readonly ambiguous: number
  readonly refunded: number
  /** Debited for executions, and given back of it. */
  readonly creditsCharged: number
  readonly creditsRefunded: number
}

export interface ActionStore {
  // mandates ---------------------------------------------------------------------------------------------------
  /** Idempotent by (account, digest): what comes back is the row that stands, which may be used up or revoked. */
  insertMandate(mandate: NewMandate): Promise<Mandate>
  getMandate(id: string, accountId: string): Promise<Mandate | undefined>
  listMandates(accountId: string, page: PageRequest): Promise<Page<Mandate>>
  /** Idempotent. No permit of it is executed from then on. */
  revokeMandate(input: { id: string; accountId: string; now: Millis }): Promise<Mandate | undefined>

  // permits ----------------------------------------------------------------------------------------------------
  /**
   * In one transaction: the mandate is the account's, unrevoked, unexpired and has `cost` and one call left (after what
   * expired permits still held is given back, a hundred at a time); the credential is unrevoked and at
   * `credentialVersion`; the account has at least `needsBalance`; then mandate counters and the permit, which never
   * outlives its mandate. Nothing changes when any of it does not hold, but that expiry is written down.
   * @param input.maxPending of the account's permits may wait for approval, expired ones until that is written down: one
   * more that would have to wait is refused. Those who ask at the same time may each be the last
   */
  preparePermit(input: {
    permit: NewPermit
    needsBalance: number
    maxPending?: number
    now: Millis
  }): Promise<PrepareResult>
  /** Hot: one indexed read. Of whatever account: who asks has shown the permit itself, or compares `accountId`. */
  getPermit(id: string): Promise<Permit | undefined>
  /** By the state that stands at `now`: an open permit whose time is over is `expired`, written down or not. */
  listPermits(
    filter: { accountId: string; state?: PermitState | undefined; now: Millis },
    page: PageRequest,
  ): Promise<Page<Permit>>
  /**
   * `pending_approval -> ready | refused`, once, before it expires; `expiresAt` is that of the approved permit, cut to
   * its mandate's. Refusing gives the mandate its share back. `changed` false: it was in another state, as returned.
   */
  decidePermit(input: {
    id: string
    accountId: string
    decision: 'approve' | 'refuse'
    keyId: string
    expiresAt: Millis
    now: Millis
  }): Promise<{ permit: Permit; changed: boolean } | undefined>
  /**
   * Transaction A of an execution: the permit is `ready` and unexpired and becomes `executed` by this attempt
   * (`attempt.permitId`); its mandate is unrevoked; the credential is unrevoked and at `credentialVersion`; the account pays
   * `cost` (kind `action`); the attempt appears as it is given. A permit is not used up by what is refused here.
   */
  reserveAction(input: {
    attempt: Attempt
    bootId: string
    transactionId: string
    cost: number
    now: Millis
  }): Promise<ActionResult>
  /** Of one account; of all of them where none is named. */
  countActions(accountId: string | undefined): Promise<ActionCounts>
}

export interface EdgeStore {
  /** Notes that this account asked to serve the host, under the token that its consent record shall carry. Idempotent. */
  saveEdgeHost(input: { token: string; host: string; accountId: string; now: Millis }): Promise<void>
  /** Hot: one indexed read. */
  findEdgeHost(token: string): Promise<{ host: string; accountId: string } | undefined>
  /** Transaction A of an edge call: the account pays `cost` (kind `edge`) and the attempt appears as it is given. */
  reserveEdgeCall(input: {
    attempt: Attempt
    bootId: string
    transactionId: string
    cost: number
    now: Millis
  }): Promise<{ ok: true; balance: number } | { ok: false; reason: 'credits'; balance: number }>
}
