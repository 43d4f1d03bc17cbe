// A seller gives a sale back. The money comes from what the seller holds, never from what others are owed: who was paid out before
// refunds once later sales have filled the balance, or asks the operator.
import type { z } from 'zod'
import type { SellerRefund } from '../../../schemas/market-money.ts'
import { GatewayError } from '../../core/errors.ts'
import { isObject } from '../../lib/json.ts'
import type { Refunds } from '../../payments/refunds.ts'
import { JWS_TYPES } from '../../receipts/types.ts'
import type { Store } from '../../store/ports.ts'
import type { SellerRefundRequest } from './ports.ts'

export interface SellerRefundParts {
  readonly store: Store
  readonly refunds: Refunds
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
}

const notFound = () =>
  new GatewayError('payment_not_found', 'No sale of yours has this claim or receipt. A statement names both.')

/** @throws {GatewayError} payment_not_found, state_conflict, payments_unavailable */
export async function refundSale(
  { store, refunds, verifyOwn }: SellerRefundParts,
  { sellerId, accountId }: { readonly sellerId: string; readonly accountId: string },
  request: SellerRefundRequest,
): Promise<z.output<typeof SellerRefund>> {
  const claimId = request.claimId ?? (await claimOf(request.receiptId ?? ''))
  const sale = await store.findSale(claimId)
  if (sale?.sellerId !== sellerId) throw notFound()
  const { refund, repeated } = await refunds.refund({
    claimId,
    amount: request.amount,
    reason: request.reason,
    // The operator's references are others, even where they are spelled the same.
    reference: `seller ${request.reference}`,
    accountId,
    asker: sellerId,
  })
  const [shown, shares, balances] = await Promise.all([
    refunds.showPayer(claimId),
    store.findRefundShares(refund.id),
    store.marketBalancesOf(`seller:${sellerId}`),
  ])
  const record = shown.refunds.find(({ refund_id }) => refund_id === refund.id)
  if (!record) throw new Error(`the refund ${refund.id} was just written`)
  return {
    ...record,
    claim_id: claimId,
    reference: request.reference,
    from_you_atomic: (shares?.proceeds ?? 0).toString(),
    fee_returned_atomic: (shares?.fee ?? 0).toString(),
    balance_atomic: (balances.find(({ network }) => network === sale.network)?.balance ?? 0).toString(),
    repeated,
  }

  async function claimOf(receiptId: string): Promise<string> {
    const stored = await store.getReceipt(receiptId)
    const said = stored && verifyOwn(stored.jws, JWS_TYPES.receipt)
    const named = isObject(said) ? said['claim_id'] : undefined
    if (typeof named !== 'string') throw notFound()
    return named
  }
}
