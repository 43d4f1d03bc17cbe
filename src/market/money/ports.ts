// The interface that handlers see of the market's money. Types only.
import type { z } from 'zod'
import type {
  FeeExplained,
  PayoutOverview,
  PayoutPage,
  PayoutProof,
  PayoutRun,
  SellerRefund,
  Statement,
} from '../../../schemas/market-money.ts'

export interface StatementQuery {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly network: string
  readonly format: 'json' | 'csv'
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface SellerRefundRequest {
  /** One of both. */
  readonly claimId?: string | undefined
  readonly receiptId?: string | undefined
  /** Atomic units; undefined for all that is left. */
  readonly amount: string | undefined
  readonly reason: string
  readonly reference: string
}

export interface MarketMoney {
  explainFee(amountAtomic: bigint): Promise<z.output<typeof FeeExplained>>
  /** Payouts that their chains have, newest first. */
  payouts(page: {
    readonly seller?: string | undefined
    readonly limit: number
    readonly before?: string | undefined
  }): Promise<z.output<typeof PayoutPage>>
  run(minimumAtomic: number | undefined): Promise<z.output<typeof PayoutRun>>
  overview(): Promise<z.output<typeof PayoutOverview>>
  verify(page: {
    readonly limit: number
    readonly before?: string | undefined
  }): Promise<z.output<typeof PayoutProof>>
  /** @throws {GatewayError} not_found, input_invalid */
  statement(accountId: string, query: StatementQuery): Promise<z.output<typeof Statement>>
  /** @throws {GatewayError} not_found, payment_not_found, state_conflict, payments_unavailable */
  refund(accountId: string, request: SellerRefundRequest): Promise<z.output<typeof SellerRefund>>
}
