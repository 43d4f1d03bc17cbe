// The rest of the gateway as permits need it. A permit is prepared (request judged, mandate charged, signed) and later
// executed: that is one attempt of the egress engine, whose grant is the permit instead of a capability.
import type { KeyObject } from 'node:crypto'
import type { Forward } from '../egress/forward.ts'
import type { AskPeople } from '../egress/relay/ask.ts'
import type { Logger } from '../lib/log.ts'
import type { Operator } from '../core/caller.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import type { CreditsRequired } from '../core/charging.ts'
import type { Signer } from '../receipts/ports.ts'
import type { NewPermit, Permit, Store } from '../store/ports.ts'
import type {
  ActionReply,
  ActionRequest,
  ActionStats,
  MandateRecord,
  MandateTerms,
  PermitEvidence,
  PermitRecord,
  PermitStanding,
  PermitState,
  PreparedPermit,
} from '../../schemas/actions.ts'
import type { PageRequest } from '../store/model.ts'
import type { Wait } from './until-decided.ts'

export interface ActionParts {
  readonly store: Pick<
    Store,
    | 'balance'
    | 'getCredential'
    | 'insertMandate'
    | 'getMandate'
    | 'listMandates'
    | 'revokeMandate'
    | 'preparePermit'
    | 'usePermit'
    | 'withdrawPermit'
    | 'getPermit'
    | 'listPermits'
    | 'decidePermit'
    | 'listDecisions'
    | 'lookAtPermits'
    | 'getEvidence'
    | 'findPersonBehind'
    | 'findConnectionOfCapability'
    | 'reserveAction'
    | 'countActions'
  >
  /** The one engine: judges a request without sending it, and sends it on a grant. */
  readonly forward: Forward
  readonly signer: Signer
  /** Tells a permit that we signed from one we did not, once its row is gone. */
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly creditsRequired: CreditsRequired
  /** Ports and names that a mandate's host may have. */
  readonly egressPorts: readonly number[]
  readonly allowSandboxName: boolean
  readonly baseUrl: string
  /** Told of a permit that waits for a person, and of what became of it. */
  readonly onApproval?: (permit: Permit | NewPermit) => void
  /** Key of the requests that were approved, as they are kept. */
  readonly evidenceKey: KeyObject
  readonly log: Pick<Logger, 'warn'>
  readonly now: () => number
}

/** It runs from preparation, or from approval (contract, section 7). */
export const PERMIT_TTL_MS = 300_000
/** The time that a permit waits for a person; its mandate's expiry cuts it short. */
export const APPROVAL_WINDOW_MS = 24 * 3600 * 1000
export const MANDATE_MAX_MS = 90 * 24 * 3600 * 1000
/** One account may have this many: preparing is free, and each holds up to 128 KiB that a person would have to read. */
export const MAX_PENDING_PERMITS = 500

/** Whoever may hear of a permit. */
export type PermitHolder =
  { readonly permit: string } | { readonly accountId: string; readonly permitId: string }

export interface FollowedPermit {
  readonly permitId: string
  /** False once the gateway closes: then nothing more is told. */
  readonly isOpen: boolean
  read(): Promise<PermitStanding>
  end(): void
}

export interface OpenActions extends Actions {
  /** A request of an unmodified program waits for people: a permit that nobody holds, used up by that very request. */
  readonly ask: AskPeople
  /** Lets go whoever waits for people: a gateway that stops waits for its answers. */
  endWaits(): void
}

/** Signed single-use permits for one exact request, under mandates (contract, section 7). */
export interface Actions {
  /**
   * The same terms again are the same mandate, with its counters and its revocation.
   * @throws {GatewayError} input_invalid, credential_not_found, scope_denied where the credential covers less, state_conflict
   * where the credential or this very mandate was revoked
   */
  storeMandate(accountId: string, terms: MandateTerms): Promise<MandateRecord>
  listMandates(accountId: string, page: PageRequest): Promise<{ items: MandateRecord[]; next: string | null }>
  /** @throws {GatewayError} mandate_not_found */
  revokeMandate(accountId: string, mandateId: string): Promise<MandateRecord>
  /**
   * Free, but the account must hold a credit.
   * @throws {GatewayError} as the request is judged by a fetch (400, 403); mandate_required where none is given or it does not
   * cover the request, is revoked, expired or used up, saying which; credits_required
   */
  prepare(
    by: Operator,
    input: {
      credential_id: string
      request: ActionRequest
      mandate?: MandateTerms | undefined
      mandate_id?: string | undefined
    },
  ): Promise<PreparedPermit>
  /**
   * @param wait for people, where it waits for them: it is answered with how the permit stands when that ends
   * @throws {GatewayError} permit_not_found; rate_limited where too many wait
   */
  getPermit(accountId: string, permitId: string, wait?: Wait): Promise<PermitRecord>
  /**
   * The same for whoever holds the permit itself.
   * @throws {GatewayError} permit_invalid; permit_expired where its row is gone; rate_limited
   */
  standing(permit: string, wait?: Wait): Promise<PermitStanding>
  /**
   * Listens to one permit: `news` is called when it may stand otherwise. Read it once after this.
   * @param whose the permit itself, or the account and the id of the permit
   * @throws {GatewayError} as `getPermit` and `standing`
   */
  follow(whose: PermitHolder, news: () => void): Promise<FollowedPermit>
  /** Those who wait for people now, calls and streams. */
  readonly waiting: number
  listPermits(
    accountId: string,
    filter: { state?: Exclude<PermitState, 'revoked'> | undefined },
    page: PageRequest,
  ): Promise<{ items: PermitRecord[]; next: string | null }>
  /**
   * One word of one person, or key. A permit that two have to approve waits on after the first.
   * @throws {GatewayError} permit_not_found, permit_expired, permit_revoked; state_conflict naming the earlier decision; approval_refused
   * where somebody else has to say yes, fresh_sign_in_required where they have to show first that it is them
   */
  decide(by: Operator, permitId: string, decision: 'approve' | 'refuse'): Promise<PermitRecord>
  /** What was approved, as it was kept. @throws {GatewayError} permit_not_found, not_found where nothing is kept */
  evidence(accountId: string, permitId: string): Promise<PermitEvidence>
  /**
   * Exactly the request of the permit, once, through the engine of every fetch.
   * @throws {GatewayError} permit_invalid; permit_used, permit_pending, permit_refused, permit_expired, permit_revoked,
   * permit_mismatch (all 409, with `conflict` replay, state or binding and, where there is one, the first attempt);
   * then everything `Egress.fetch` throws. An executed permit under the idempotency key of its execution: the same answer again
   */
  execute(
    input: { permit: string; request: ActionRequest; idempotency_key?: string | undefined },
    charge: CreditCharge,
    wait?: Wait,
  ): Promise<ActionReply>
  /** @param accountId whose; undefined: of all accounts together */
  stats(accountId: string | undefined): Promise<ActionStats>
}
