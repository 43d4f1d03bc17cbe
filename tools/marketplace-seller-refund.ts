import { z } from 'zod'
import { ClaimId } from '../schemas/refund.ts'
import { SellerRefund } from '../schemas/market-money.ts'
import { GatewayError } from '../src/core/errors.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellerRefund = defineTool({
  name: 'gateway.seller.refund',
  toolset: 'market',
  title: 'Marketplace: refund a sale',
  summary:
    "Sends a sale of the key's seller back to its buyer, all of it or a part, from what the seller holds. Never more than was " +
    'paid. The reference makes it safe to repeat.',
  brief: 'Refunds a sale of yours, whole or in part; the reference makes a repeat safe.',
  input: z.strictObject({
    claim_id: ClaimId.optional(),
    receipt_id: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Instead of the claim: the receipt of the payment'),
    amount_atomic: z
      .string()
      .regex(/^[1-9]\d{0,17}$/)
      .optional()
      .describe('Atomic units; all by default'),
    reason: z.string().trim().min(1).max(200).describe('For your records and the operator'),
    reference: z.string().trim().min(1).max(190).describe('Yours; refunded once'),
  }),
  output: SellerRefund,
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
  rest: {
    method: 'POST',
    path: '/v1/marketplace/seller/refunds',
    operationId: 'refundSale',
    status: 201,
  },
  errors: ['key_required', 'not_found', 'payment_not_found', 'state_conflict', 'payments_unavailable'],
  examples: [
    {
      title: 'Half of a sale',
      input: {
        claim_id: 'clm_00000000000000000000000000000000000',
        amount_atomic: '50000',
        reason: 'the data was a day old',
        reference: 'ticket 12',
      },
    },
  ],
  handle: function marketplaceSellerRefund(
    { claim_id, receipt_id, amount_atomic, ...words },
    { money, caller },
  ) {
    if ((claim_id === undefined) === (receipt_id === undefined))
      throw new GatewayError('input_invalid', 'Send either `claim_id` or `receipt_id`.')
    return money.refund(caller.accountId, {
      ...words,
      claimId: claim_id,
      receiptId: receipt_id,
      amount: amount_atomic,
    })
  },
})
