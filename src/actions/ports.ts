// What permits need from the rest of the gateway. A permit is prepared (request judged, mandate charged, signed) and later
// executed: that is one attempt of the egress engine, whose warrant is the permit instead of a capability.
import type { Forward } from '../egress/forward.ts'
import type { Purchases, Signer } from '../core/services.ts'
import type { Store } from '../store/ports.ts'

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
    | 'getPermit'
    | 'listPermits'
    | 'decidePermit'
    | 'reserveAction'
    | 'countActions'
  >
  /** The one engine: judges a request without sending it, and sends it on a warrant. */
  readonly forward: Forward
  readonly signer: Signer
  /** Tells a permit that we signed from one we did not, once its row is gone. */
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly creditsRequired: Purchases['creditsRequired']
  /** Ports and names that a mandate's host may have. */
  readonly egressPorts: readonly number[]
  readonly allowSandboxName: boolean
  readonly baseUrl: string
  readonly now: () => number
}

/** From preparation, or from approval (contract, section 7). */
export const PERMIT_TTL_MS = 300_000
/** How long a permit waits for a person; its mandate's expiry cuts it. */
export const APPROVAL_WINDOW_MS = 24 * 3600 * 1000
export const MANDATE_MAX_MS = 90 * 24 * 3600 * 1000
/** Of one account: preparing is free, and each of them holds up to 128 KiB that a person would have to read. */
export const MAX_PENDING_PERMITS = 500
