// Receipts: reading stored ones. Holding the 128-bit id is the right to read (contract, section 8).
import { GatewayError } from '../core/errors.ts'
import type { Receipts } from './ports.ts'
import type { RenewReceipt } from './renewal.ts'
import type { Store } from '../store/ports.ts'

/**
 * Reads receipts by their id, which is all that a reader needs.
 * @throws {GatewayError} receipt_not_found
 */
export function createReceipts({
  store,
  renewReceipt,
}: {
  readonly store: Pick<Store, 'getReceipt' | 'getReceiptStanding'>
  readonly renewReceipt: RenewReceipt
}): Receipts {
  return {
    async get(receiptId) {
      const [receipt, standing] = await Promise.all([
        store.getReceipt(receiptId),
        store.getReceiptStanding(receiptId),
      ])
      if (!receipt)
        throw new GatewayError(
          'receipt_not_found',
          'Check the id: it is `receipt.receipt_id` of the answer that charged.',
        )
      return { ...renewReceipt(receipt), standing }
    },
  }
}
