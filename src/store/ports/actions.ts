// Mandates, the permits that are prepared against them, and what became of those.
import type { ApprovalRule } from '../../../schemas/approval.ts'
import type { Millis } from '../model.ts'
import type { SignInMethod } from './identity.ts'
import type { Budget } from './budgets.ts'
import type { Repeated } from './idempotency.ts'

/**
 * Statement of what an operator allows to be asked for, and how often. Known by its digest too: the same mandate given
 * again is the same row, its counters and its revocation included.
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
  /** One of the two is set at least. */
  readonly maxCalls: number | null
  readonly maxCredits: number | null
  readonly requiresApproval: boolean
  /** Who has to approve; null where that is said of nobody in particular. */
  readonly approval: ApprovalRule | null
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

/** The kinds of those who act for an account. */
export type PartyKind = 'service_key' | 'person' | 'connection'

/** A capability on which a request was made that waits for people. */
export type PreparerKind = PartyKind | 'capability'

/** Whoever decides about a permit. */
export interface Decider {
  readonly kind: PartyKind
  /** Of the person, the key or the connection. */
  readonly id: string
  /** How a person had signed in, and under which session. */
  readonly method: SignInMethod | null
  readonly sessionId: string | null
  readonly address: string
}

/** One word on a permit, as it is kept beside it. */
export interface Decision extends Decider {
  readonly permitId: string
  readonly decision: 'approve' | 'refuse'
  readonly decidedAt: Millis
}

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
  /** Credits of the mandate that its execution takes. */
  readonly cost: number
  /** Summary of what will be sent, as JSON, for the one who decides; null where nobody is asked, and once it is decided. */
  readonly summary: string | null
  readonly createdAt: Millis
  /** While `pending_approval`: until when it can be approved. */
  readonly expiresAt: Millis
  readonly decidedAt: Millis | null
  /** Id of the person or key whose word let it go out, or ended it. */
  readonly decidedBy: string | null
  /** The one attempt it was executed by. */
  readonly attemptId: string | null
  /** The rule as JSON that approvals are held to; null where nobody, or anybody may approve. */
  readonly approval: string | null
  /** Who prepared it: all three are null for what an earlier release prepared. */
  readonly preparedKind: PreparerKind | null
  readonly preparedBy: string | null
  /** The person behind that, where one is known. */
  readonly preparedPerson: string | null
  /** Where that came from; null too for what an earlier release prepared. */
  readonly preparedAddress: string | null
  /** Length of the sealed request that was approved, where it is kept. */
  readonly evidenceBytes: number | null
}

export type NewPermit = Omit<Permit, 'decidedAt' | 'decidedBy' | 'attemptId' | 'evidenceBytes'>

/** What of a permit may have changed while somebody waits. */
export interface PermitLook extends Pick<Permit, 'id' | 'state' | 'expiresAt'> {
  /** Words that people have said about it. */
  readonly decisions: number
  /** Its mandate or its credential is gone, or is another version now. */
  readonly isRevoked: boolean
}

export type DecideResult =
  /** `missing`: further people who have to approve before it may go out. */
  | { readonly changed: true; readonly permit: Permit; readonly missing: number }
  /** `repeated`: they approved it before. `not_member`: the person may not approve for this account any more. */
  | { readonly changed: false; readonly permit: Permit; readonly reason?: 'repeated' | 'not_member' }

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
  /** A budget of the credential has too little left; nothing was counted on any. */
  | { readonly ok: false; readonly reason: 'budget'; readonly budget: Budget }
  | Repeated
  | { readonly ok: false; readonly reason: 'credits'; readonly balance: number }
  | { readonly ok: false; readonly reason: 'credential_gone' | 'credential_changed' | 'mandate_gone' }
  /** The permit as it stands, when it is not `ready` or past its time. Undefined when there is no such permit. */
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
