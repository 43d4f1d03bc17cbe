// Reading stored receipts, and signing documents. Types only; the signer is an adapter.
import type { ReceiptStanding, StoredReceipt } from '../store/ports.ts'

export interface Receipts {
  /** @throws {GatewayError} receipt_not_found */
  get(receiptId: string): Promise<StoredReceipt & { readonly standing: ReceiptStanding | undefined }>
}

/** The worth of a gateway's word: nothing that a sandbox signs speaks of real money. */
export type Environment = 'production' | 'sandbox'

/** Signed documents: compact JWS (EdDSA) over RFC 8785 JSON, told apart by `typ`. */
export interface Signer {
  readonly kid: string
  readonly environment: Environment
  /**
   * @param typ e.g. `gw-receipt+jws`; see receipts/types.ts for the list. What others are handed says its environment as well
   * @param kid how a reader that does not know us finds the key: a DID URL; the key's thumbprint unless given
   */
  sign(typ: string, payload: Readonly<Record<string, unknown>>, kid?: string): string
}
