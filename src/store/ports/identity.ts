// People, their sessions, and the assistants that they allowed to connect.
import type { Scope } from '../../../schemas/http.ts'
import type { Role } from '../../../schemas/role.ts'
import type { Millis } from '../model.ts'
import type { BudgetLimit } from './budgets.ts'
import type { HeldCapability } from './credentials.ts'

export interface Person {
  readonly id: string
  readonly name: string
  readonly createdAt: Millis
  /** Nobody signs in as this person any more. */
  readonly disabledAt: Millis | null
}

/** What a person may do for an account. */
export interface Membership {
  readonly accountId: string
  readonly personId: string
  readonly role: Role
  /** Of the installation's first account: may do what its first key may. */
  readonly admin: boolean
  readonly createdAt: Millis
}

export type SignInMethod = 'passkey' | 'recovery' | 'oidc'

export interface Session {
  readonly id: string
  readonly personId: string
  /** The account whose pages it shows. */
  readonly accountId: string
  readonly method: SignInMethod
  readonly address: string
  readonly userAgent: string
  readonly createdAt: Millis
  readonly seenAt: Millis
  /** When the person last showed that it is them. */
  readonly freshAt: Millis
  readonly expiresAt: Millis
  readonly revokedAt: Millis | null
}

/** Who holds a session, as every call of a page needs it. */
export interface SignedIn {
  readonly sessionId: string
  readonly personId: string
  readonly name: string
  readonly accountId: string
  readonly role: Role
  readonly admin: boolean
  readonly method: SignInMethod
  readonly freshAt: Millis
  readonly expiresAt: Millis
}

/** An assistant that a person allowed to act for their account (OAuth grant). */
export interface Connection {
  readonly id: string
  readonly accountId: string
  readonly personId: string
  /** The capability at its root: budgets, uses and the end of all that it may do. */
  readonly capabilityId: string
  readonly clientId: string
  /** As the client calls itself. */
  readonly clientName: string
  /** The host that the client proved to be of (its metadata document); null where anybody may call itself so. */
  readonly clientHost: string | null
  readonly redirectHost: string
  /** Of the authorization server. */
  readonly grantId: string
  readonly mayPay: boolean
  readonly mayOperate: boolean
  readonly createdAt: Millis
  readonly changedAt: Millis
  readonly usedAt: Millis | null
  /** When it, or the capability at its root, was ended. */
  readonly revokedAt: Millis | null
  /** The end date that the person set. */
  readonly expiresAt: Millis
}

/** The facts of a connection that a call needs. */
export interface HeldConnection {
  readonly id: string
  readonly clientId: string
  readonly clientName: string
  /** Who allowed it. */
  readonly personId: string
  /** The role of that person today: it may operate no further than they may. */
  readonly role: Role
  readonly admin: boolean
  readonly mayPay: boolean
  readonly mayOperate: boolean
}

/** What a person allows an assistant on one of the credentials. */
export interface ConnectionPartRow {
  readonly capabilityId: string
  readonly credentialId: string
  readonly scope: Scope
}

/** All that a person decided of a connection, as it is stored: its limits stand at the root, and count for all parts together. */
export interface ConnectionTerms {
  /** What all parts cover together. */
  readonly scope: Scope
  readonly parts: readonly ConnectionPartRow[]
  readonly budgets: readonly BudgetLimit[]
  readonly maxUses: number | null
  readonly expiresAt: Millis
  readonly mayPay: boolean
  readonly mayOperate: boolean
  readonly showsBalance: boolean
}

/** What an access token leads to; revoked and expired ones too, so that the refusal can say which. */
export interface FoundAccess {
  readonly capability: HeldCapability
  readonly connection: HeldConnection
  readonly expiresAt: Millis
}
