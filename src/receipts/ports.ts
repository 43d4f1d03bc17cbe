// Reading stored receipts, and signing documents. Types only; the signer is an adapter.
import type { Millis } from '../store/model.ts'
import type { PublishedKey, ReceiptStanding, StoredReceipt } from '../store/ports.ts'

/** A stored receipt as it is shown today. */
export interface ShownReceipt extends StoredReceipt {
  /** The key that signed it first and was revoked since: `jws` is a fresh signature over the same claims; else null. */
  readonly revokedKey: RevokedKey | null
}

export interface RevokedKey {
  readonly kid: string
  readonly revokedAt: Millis
  readonly reason: string
}

export interface Receipts {
  /** @throws {GatewayError} receipt_not_found */
  get(receiptId: string): Promise<ShownReceipt & { readonly standing: ReceiptStanding | undefined }>
}

export interface SigningKeyRecord extends PublishedKey {
  /**
   * `signing`: this process signs with it. `published`: another replica does, or a rotation that was cut left it behind.
   */
  readonly state: 'signing' | 'published' | 'retired' | 'revoked'
}

/** The keys that sign for this installation, as their operator sees them. */
export interface SigningKeys {
  /** Newest first. */
  list(): Promise<readonly SigningKeyRecord[]>
  /** A new key signs from now on; the ones before it are retired. */
  rotate(): Promise<{ readonly kid: string; readonly retired: readonly string[] }>
  /** @throws {GatewayError} key_not_found; state_conflict for the key that signs */
  retire(kid: string): Promise<SigningKeyRecord>
  /**
   * Nothing that the key signed verifies any more; the key that signs is replaced first. Repeating it changes nothing.
   * @throws {GatewayError} key_not_found
   */
  revoke(kid: string, reason: string): Promise<SigningKeyRecord>
}

/** The worth of a gateway's word: nothing that a sandbox signs speaks of real money. */
export type Environment = 'production' | 'sandbox'

/** Signed documents: compact JWS (EdDSA) over RFC 8785 JSON, told apart by `typ`. */
export interface Signer {
  /** Thumbprint of the key that signs now: another one after a rotation. */
  readonly kid: string
  readonly environment: Environment
  /**
   * @param typ e.g. `gw-receipt+jws`; see receipts/types.ts for the list. What others are handed says its environment as well
   * @param head what the protected header says besides: see `SignedHead`
   */
  sign(typ: string, payload: Readonly<Record<string, unknown>>, head?: SignedHead): string
}

/** Where a reader that does not know us finds the key, and claims of a document that cannot hold them itself. */
export interface SignedHead {
  /** Names the signer: the key id is then a DID URL, else the thumbprint. */
  readonly did?: string
  /** Address of a JWK Set with the key (RFC 7515, 4.1.2). */
  readonly jku?: string
  /** Claims about the payload (RFC 7519, 5.3). */
  readonly claims?: Readonly<Record<'iss' | 'aud' | 'jti' | 'sub', string> & { iat: number }>
}
