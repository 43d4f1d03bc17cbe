// Signs the receipt of a payout that its chain has: whoever reads it can find the transfer, and compare.
import { newId } from '../../lib/ids.ts'
import type { Signer } from '../../receipts/ports.ts'
import { JWS_TYPES } from '../../receipts/types.ts'
import type { Payout, StoredReceipt } from '../../store/ports.ts'

export function signPayoutReceipt(
  parts: { readonly signer: Signer; readonly baseUrl: string; readonly now: () => number },
  payout: Payout,
  transaction: string,
): StoredReceipt {
  const at = parts.now()
  const id = newId('rcp', at)
  const jws = parts.signer.sign(JWS_TYPES.receipt, {
    iss: parts.baseUrl,
    jti: id,
    iat: Math.floor(at / 1000),
    kind: 'payout',
    receipt_id: id,
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
    issued_at: new Date(at).toISOString(),
  })
  return { id, accountId: '', jws, createdAt: at }
}
