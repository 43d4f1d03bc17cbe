// Payouts, batches and lines of statements as answers show them.
import type { z } from 'zod'
import type { PublicPayout, Statement } from '../../../schemas/market-money.ts'
import type { SignedReceipt } from '../../../schemas/receipt.ts'
import { csvRow } from '../../lib/csv.ts'
import { toTimestamp, toTimestampOrNull } from '../../lib/timestamp.ts'
import type { Payout, PayoutBatch, StatementEntry } from '../../store/ports.ts'

export const toPublicPayout = (
  payout: Payout,
  receipt: SignedReceipt | null,
): z.output<typeof PublicPayout> => ({
  payout_id: payout.id,
  batch_id: payout.batchId,
  seller: payout.sellerId,
  network: payout.network,
  asset: payout.asset,
  amount_atomic: payout.amount.toString(),
  from: payout.sender,
  to: payout.recipient,
  transaction: payout.transaction,
  receipt,
  paid_at: toTimestampOrNull(payout.finishedAt),
})

/** @param payouts those of the batch, as far as they were read */
export function toBatch(batch: PayoutBatch, payouts: readonly Payout[]) {
  const paid = payouts.filter(({ state }) => state === 'settled')
  const failed = payouts.filter(({ state }) => state === 'failed')
  return {
    batch_id: batch.id,
    network: batch.network,
    period: batch.period,
    minimum_atomic: batch.minimum.toString(),
    created_at: toTimestamp(batch.createdAt),
    finished_at: toTimestampOrNull(batch.finishedAt),
    paid: paid.length,
    paid_atomic: paid.reduce((sum, { amount }) => sum + amount, 0).toString(),
    under_way: payouts.length - paid.length - failed.length,
    failed: failed.length,
  }
}

type Line = z.output<typeof Statement>['lines'][number]

export const toLine = (entry: StatementEntry): Line => ({
  at: toTimestamp(entry.at),
  kind: entry.kind,
  amount_atomic: entry.amount.toString(),
  balance_atomic: entry.balance.toString(),
  gross_atomic: entry.gross.toString(),
  fee_atomic: entry.fee.toString(),
  service_id: entry.serviceId,
  route: entry.route,
  claim_id: entry.claimId,
  reference: entry.reference,
  state: entry.state,
  transaction: entry.transaction,
  receipt_id: entry.receiptId,
  transaction_id: entry.transactionId,
})

const COLUMNS = [
  'at',
  'kind',
  'amount_atomic',
  'balance_atomic',
  'gross_atomic',
  'fee_atomic',
  'service_id',
  'route',
  'claim_id',
  'reference',
  'state',
  'transaction',
  'receipt_id',
  'transaction_id',
] as const satisfies readonly (keyof Line)[]

/** RFC 4180, with a row of names. */
export const toCsv = (lines: readonly Line[]): string =>
  csvRow(COLUMNS) + lines.map((line) => csvRow(COLUMNS.map((name) => line[name]))).join('')
