// How people show who they are, and how they become members.
import type { Role } from '../../../schemas/role.ts'
import type { Millis } from '../model.ts'
import type { Membership, Person } from './identity.ts'

/** A passkey of a person. Its private half never leaves their device. */
export interface Passkey {
  readonly id: string
  readonly personId: string
  /** As the authenticator names it, base64url. */
  readonly credentialId: string
  /** COSE. */
  readonly publicKey: Uint8Array
  /** Uses that the authenticator has counted; 0 where it counts none. */
  readonly counter: number
  readonly transports: readonly string[]
  readonly label: string
  /** It is kept by a password manager, on several devices. */
  readonly isBackedUp: boolean
  readonly createdAt: Millis
  readonly usedAt: Millis | null
}

/** Lets somebody become a member, or a member get a new passkey, once. */
export interface Invitation {
  readonly id: string
  readonly accountId: string
  readonly role: Role
  readonly admin: boolean
  /** Of whoever is meant, as the inviting person wrote it. */
  readonly name: string
  /** A member who lost their passkey; null: somebody new. */
  readonly personId: string | null
  /** Id of a person or a service key. */
  readonly invitedBy: string
  readonly createdAt: Millis
  readonly expiresAt: Millis
  readonly usedAt: Millis | null
  readonly revokedAt: Millis | null
}

/** A member as lists show them. */
export interface MemberRow extends Membership {
  readonly person: Person
  readonly passkeys: number
  readonly lastSeenAt: Millis | null
}

/** An account that a person is a member of. */
export interface OwnMembership extends Membership {
  readonly accountName: string
}

/** What a challenge was made for; one made for something else is no answer to it. */
export type ChallengePurpose = 'sign_in' | 'join' | 'add' | 'fresh' | 'oidc'

/** The end of a sign-in at an identity provider. */
export interface ProviderSignIn {
  readonly issuer: string
  readonly subject: string
  readonly person: Person
  readonly accountId: string
  readonly role: Role
  readonly admin: boolean
  readonly now: Millis
}
