// The word on which a request goes out with a credential, and what is asked of it before anything is sent.
import type { GatewayError } from '../core/errors.ts'
import type { Attempt, AttemptKind } from '../store/model.ts'
import type { KeyClaim, Repeated, SealedCredential } from '../store/ports.ts'
import type { Approval, EgressRequest } from './ports.ts'
import type { Provider } from './providers/index.ts'
import type { PreparedRequest } from './request.ts'

/** The rows that a grant writes, all of them in one transaction with its own use. */
export interface Reservation {
  readonly attempt: Attempt
  readonly bootId: string
  readonly transactionId: string
  readonly cost: number
  /** Whether the capability or the credential has a budget. */
  readonly isBudgeted: boolean
  readonly now: number
  /** The caller's key, where it gave one: claimed with the rest, and unclaimed with it. */
  readonly once?: KeyClaim | undefined
}

export type GrantOutcome =
  | { readonly ok: true; readonly balance: number }
  | { readonly ok: false; readonly reason: 'credits'; readonly balance: number }
  | Repeated
  | { readonly ok: false; readonly reason: 'credential_gone' | 'credential_changed' }
  /** The grant itself does not hold any more. */
  | { readonly ok: false; readonly reason: 'refused'; readonly error: GatewayError }

/** The word on which a request goes out with a credential: a capability's, or a permit's. */
export interface Grant {
  readonly kind: Exclude<AttemptKind, 'edge'>
  readonly accountId: string
  readonly credentialId: string
  readonly capabilityId: string | null
  readonly permitId: string | null
  /** Who approved the permit, where people had to. */
  readonly approvals?: readonly Approval[]
  /** Whether it counts on budgets of its own, beside the credential's. */
  readonly isBudgeted: boolean
  /** The id that a caller's idempotency key is unique under. */
  readonly keyScope: string
  /** @throws {GatewayError} where it does not cover this request under this credential as both stand now */
  check(asked: CheckedRequest): void
  /** Words for its holder about a request that nobody could send (`target_invalid` and so on); left out: the error itself. */
  unsendable?(asked: EgressRequest, error: GatewayError): GatewayError
  /** Asks whether it still holds, apart from its credential, once its attempt is reserved. @returns why it does not; left out: nothing ends it then */
  findWithdrawal?(): Promise<GatewayError | undefined>
  /** Words for its holder when the credential behind it was revoked. */
  credentialGone(): GatewayError
  /** Words for its holder when that was edited or rotated once the attempt was reserved; left out: to send it again. */
  credentialReplaced?(): GatewayError
  /** Debit, use and attempt in one transaction; nothing changes unless all of it holds. */
  reserve(reservation: Reservation): Promise<GrantOutcome>
}

/** A request as it would be sent, and the credential it would be sent with. */
export interface CheckedRequest {
  readonly request: PreparedRequest
  readonly credential: SealedCredential
  readonly provider: Provider
  /** Digest of everything that is sent, the credential by id and version. */
  readonly digest: string
}
