// Shows a stored receipt under a key that still proves something. A thief of the signing key can forge a receipt, but not the
// row that was written before the answer was sent; so where its key was revoked, the gateway signs the same claims again.
import type { KeyRing } from './key-ring.ts'
import type { ShownReceipt, Signer } from './ports.ts'
import { decodeJws } from './types.ts'
import type { StoredReceipt } from '../store/ports.ts'

/** @returns the receipt as it is stored, or, where its key was revoked, with a fresh signature over the same claims */
export type RenewReceipt = (receipt: StoredReceipt) => ShownReceipt

export function createRenewReceipt(signer: Signer & Pick<KeyRing, 'find'>): RenewReceipt {
  return (receipt) => {
    const { header, payload } = decodeJws(receipt.jws)
    const kid = String(header['kid'])
    const { revokedAt = null, revocationReason } = signer.find(kid) ?? {}
    if (revokedAt === null) return { ...receipt, revokedKey: null }
    return {
      ...receipt,
      jws: signer.sign(String(header['typ']), payload),
      revokedKey: { kid, revokedAt, reason: revocationReason ?? '' },
    }
  }
}
