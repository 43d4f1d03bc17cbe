// Tokens that were minted from a credential, sealed, and who is minting one right now.
import type { Millis } from '../model.ts'

/** AES-256-GCM under a key that is a part of the credential. All bytes base64url. */
export interface SealedTokens {
  readonly ciphertext: string
  readonly iv: string
  readonly tag: string
}

export interface MintedRow {
  readonly credentialId: string
  readonly accountId: string
  /** Which key sealed it: another one since the secret was replaced. */
  readonly keyId: string
  /** One more with each change of what is sealed; 0 where nothing was minted yet. */
  readonly generation: number
  readonly sealed: SealedTokens | null
  readonly mintedAt: Millis | null
  /** The access token is not used any more from then on. */
  readonly usableUntil: Millis | null
  /** The exchange that is under way. */
  readonly claim: string | null
  readonly claimedUntil: Millis | null
  /** Facts of the last failure as JSON, and when the provider may be asked again. */
  readonly failure: string | null
  readonly failures: number
  readonly retryAt: Millis | null
}

/** How an exchange failed, as JSON, and when the provider may be asked again. */
export interface MintFailure {
  readonly failure: string
  readonly retryAt: Millis
}

export type MintClaim =
  /** `isInterrupted`: whoever claimed it before never said how it ended. */
  | { readonly outcome: 'claimed'; readonly row: MintedRow; readonly isInterrupted: boolean }
  | { readonly outcome: 'busy'; readonly row: MintedRow }
  /** The credential was revoked, or is not the version any more that was read. */
  | { readonly outcome: 'changed' }
