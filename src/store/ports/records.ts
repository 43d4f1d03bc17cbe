// Records that the doors, discovery and the key ring keep.
import type { Millis } from '../model.ts'

export interface StoredTask {
  readonly id: string
  readonly contextId: string
  /** Owner, who may see it: account or capability id; null for anonymous, who must hold the 128-bit task id. */
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

/** A resource that others run, as discovery knows it. */
export interface DiscoveredResource {
  readonly id: string
  readonly firstSeen: Millis
  /** Exact to the hour. */
  readonly lastSeen: Millis
  /** Oldest first. `price` is text that only discovery reads. */
  readonly prices: readonly { readonly at: Millis; readonly price: string }[]
  readonly liveness: string | null
}

/** A resource that was paid through our own facilitator; one row for each payee that it was paid to. */
export interface StoredSettledListing {
  readonly id: string
  /** Network and address that were paid. */
  readonly payee: string
  /** The listing as JSON text, which only discovery reads. */
  readonly item: string
  /** Counted once for each payer and day. */
  readonly settlements: number
  readonly payers: number
  readonly firstSettled: Millis
  readonly lastSettled: Millis
}

export interface PublishedKey {
  readonly kid: string
  readonly purpose: 'sign' | 'wrap'
  /** Public JWK as JSON text. */
  readonly jwk: string
  readonly notBefore: Millis
  /**
   * Set when a newer key took over, which may be a moment from now: what the key signed until then stays valid, and nothing
   * that claims to be younger is.
   */
  readonly retiredAt: Millis | null
  /** Set when somebody else may hold the private half: nothing that the key ever signed is proof of anything. */
  readonly revokedAt: Millis | null
  /** The operator's words; everybody may read them. */
  readonly revocationReason: string | null
}

/** A key as it is first published: nobody has retired or revoked it. */
export type NewPublishedKey = Omit<PublishedKey, 'revokedAt' | 'revocationReason'>
