// Sealed secrets, and the capabilities that are cut from them.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import type { RuledScope } from '../../../schemas/egress-rule.ts'
import type { Scope } from '../../../schemas/http.ts'
import type { Millis } from '../model.ts'

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
  /** Everything else about it that is not secret; `{}` for one secret in that header. */
  readonly settings: CredentialSettings
  /** 1 at creation, one more whenever the secret is replaced or anything else about it is edited. */
  readonly version: number
  /** Whether it has a budget; as of this version. */
  readonly isBudgeted: boolean
  readonly createdAt: Millis
  readonly rotatedAt: Millis | null
  /** Last change of scope, label, settings or budgets. */
  readonly editedAt: Millis | null
  readonly revokedAt: Millis | null
}

export interface SealedCredential extends Credential {
  readonly sealed: SealedSecret
}

export interface Capability {
  readonly id: string
  readonly accountId: string
  /** Null at the root of a connection, which has one capability for each credential below it. */
  readonly credentialId: string | null
  /** The capability this one was narrowed from. Revoking a parent revokes what was narrowed from it. */
  readonly parentId: string | null
  /** The capability at the beginning of the lineage, its own id where it was narrowed from none: limits count there. */
  readonly rootId: string
  readonly label: string
  readonly scope: RuledScope
  readonly maxUses: number | null
  readonly uses: number
  /** Whether it, or one that it was narrowed from, has a budget: as issued, or as its connection was last changed. */
  readonly isBudgeted: boolean
  /** Whether its holder may see the balance of the account. */
  readonly showsBalance: boolean
  readonly createdAt: Millis
  readonly expiresAt: Millis
  readonly revokedAt: Millis | null
}

/** A capability that is to be stored: what follows from its lineage is found there. */
export type NewCapability = Omit<Capability, 'rootId' | 'isBudgeted'>

/** A capability as issued, without the counter that every attempt moves. */
export interface HeldCapability extends Omit<Capability, 'uses'> {
  /** At the root of a connection, as its access token found it: the live ones right below, that of the oldest credential first. */
  readonly parts?: readonly CredentialCapability[]
}

/** A capability that a request may go out on. */
export interface CredentialCapability extends HeldCapability {
  readonly credentialId: string
}

/** Reason of the refusal of a record that has to be sealed again: its wrapping key was retired while it was being stored. */
export const RETIRED_KEY = 'wrapping_key_retired'
