// Signs the receipt of a payout that its chain has: whoever reads it can find the transfer, and compare.
import { signMoneyReceipt } from '../../payments/receipt.ts'
import type { Signer } from '../../receipts/ports.ts'
import type { Payout, StoredReceipt } from '../../store/ports.ts'

export function signPayoutReceipt(
  parts: { readonly signer: Signer; readonly baseUrl: string; readonly now: () => number },
  payout: Payout,
  transaction: string,
): StoredReceipt {
  return signMoneyReceipt(parts, '', {
    kind: 'payout',
    payout_id: payout.id,
    batch_id: payout.batchId,
    seller: payout.sellerId,
    network: payout.network,
    asset: payout.asset,
    amount: payout.amount.toString(),
    from: payout.sender,
    to: payout.recipient,
    nonce: payout.nonce,
    transaction,
    revenue: false,
  })
}
