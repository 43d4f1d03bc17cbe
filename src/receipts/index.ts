import type { Receipts, Signer } from '../services.ts'
import type { Store } from '../store/ports.ts'

/** Ed25519 key file (JWK, 0600), generated when absent; its public half is published through the store. */
export async function openSigner(_options: {
  file: string
  store: Store
  now: () => number
}): Promise<Signer> {
  throw new Error('being written')
}

export function createReceipts(_parts: { store: Store }): Receipts {
  throw new Error('being written')
}
