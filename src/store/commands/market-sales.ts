// A sale is a row beside its claim. The ledger counts it in the transaction that settles the claim, and takes it back in the one that
// opens the claim again, because its chain replaced the block.
import { GatewayError } from '../../core/errors.ts'
import { all, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { MarketAccount, StoredSale } from '../ports/market-money.ts'
import type { Sale } from '../ports/market.ts'
import type { NewPaymentClaim } from '../ports/payments.ts'
import { holdBalance, post } from './market-ledger.ts'
import { countRefundOnce, uncountRefund, uncountSale } from './market-recount.ts'
import type { CountedService } from './market-trust.ts'

const INSERT = insertInto('market_sales', [
  'claimId',
  'sellerId',
  'serviceId',
  'listingVersion',
  'route',
  'network',
  'feeBps',
  'feeFixed',
  'feeMinimum',
  'amount',
  'fee',
  'proceeds',
  'payoutMode',
  'createdAt',
])

/**
 * Writes under which terms a claim buys.
 * @throws {GatewayError} internal, when fee and proceeds are not what is paid: such a sale would never balance
 */
export function* insertSale({ id, network, amount, createdAt }: NewPaymentClaim, sale: Sale): Command<void> {
  const paid = Number(amount)
  const fee = Number(sale.feeAtomic)
  const proceeds = Number(sale.proceedsAtomic)
  const isSound = [paid, fee, proceeds].every((part) => Number.isSafeInteger(part) && part >= 0)
  if (!isSound || fee + proceeds !== paid)
    throw new GatewayError('internal', 'The shares of a sale do not sum to its price.')
  yield* all(
    INSERT,
    id,
    sale.sellerId,
    sale.serviceId,
    sale.listingVersion,
    sale.route,
    network,
    sale.fee.bps,
    sale.fee.fixedAtomic,
    sale.fee.minimumAtomic,
    paid,
    fee,
    proceeds,
    sale.payoutMode,
    createdAt,
  )
}

interface SaleRow {
  readonly claimId: string
  readonly sellerId: string
  readonly serviceId: string
  readonly listingVersion: number
  readonly route: string
  readonly network: string
  readonly bps: number
  readonly fixedAtomic: number
  readonly minimumAtomic: number
  readonly amount: number
  readonly fee: number
  readonly proceeds: number
  readonly payoutMode: Sale['payoutMode']
  readonly isBooked: number
  readonly createdAt: Millis
}
const SALE = `claim_id AS "claimId", seller_id AS "sellerId", service_id AS "serviceId", listing_version AS "listingVersion",
  route, network, fee_bps AS bps, fee_fixed AS "fixedAtomic", fee_minimum AS "minimumAtomic", amount, fee, proceeds,
  payout_mode AS "payoutMode", is_booked AS "isBooked", created_at AS "createdAt"`

const FIND = `SELECT ${SALE} FROM market_sales WHERE claim_id = $1`
/** The terms under which a claim bought; undefined where it bought nothing from a listing. */
export const findSale = command({ kind: 'lookup' })(function* (
  claimId: string,
): Command<StoredSale | undefined> {
  const row = yield* first<SaleRow>(FIND, claimId)
  if (!row) return undefined
  const { bps, fixedAtomic, minimumAtomic, amount, fee, proceeds, isBooked, ...rest } = row
  return {
    ...rest,
    fee: { bps, fixedAtomic, minimumAtomic },
    amountAtomic: amount.toString(),
    feeAtomic: fee.toString(),
    proceedsAtomic: proceeds.toString(),
    isBooked: isBooked === 1,
  }
})

const accountOf = ({ payoutMode, sellerId }: Pick<SaleRow, 'payoutMode' | 'sellerId'>): MarketAccount =>
  payoutMode === 'same_owner_retained' ? `retained:${sellerId}` : `seller:${sellerId}`

const BOOK = `UPDATE market_sales SET is_booked = $1 WHERE claim_id = $2 AND is_booked = $3 RETURNING ${SALE}`

/** Counts the sale of a claim that is settled, if it is one and is not counted yet. */
export function* bookSale(
  claimId: string,
  now: Millis,
  kind: 'sale' | 'sale_restored' = 'sale',
): Command<void> {
  const sale = yield* first<SaleRow>(BOOK, 1, claimId, 0)
  if (!sale) return
  const { network, amount, fee, proceeds } = sale
  const amounts = { [accountOf(sale)]: proceeds, fees: fee, cash: -amount }
  yield* post({ network, kind, reference: claimId, now, amounts })
}

/** Counts it no more: its chain took the payment back. The seller may owe it, where it was paid out. */
export function* unbookSale(claimId: string, now: Millis): Command<void> {
  const sale = yield* first<SaleRow>(BOOK, 0, claimId, 1)
  if (!sale) return
  const { network, amount, fee, proceeds } = sale
  const amounts = { [accountOf(sale)]: -proceeds, fees: -fee, cash: amount }
  yield* post({ network, kind: 'sale_reversed', reference: claimId, now, amounts })
  yield* uncountSale(claimId, now)
}

export interface RefundOfSale {
  readonly refundId: string
  readonly claimId: string
  readonly amount: bigint
  /** What refunds bound before this one. */
  readonly before: bigint
  /** Whether the platform gives back its share of it. */
  readonly returnsFee: boolean
  /** The seller who asks; it may only refund what is its own, and what it holds. */
  readonly asker: string | undefined
  readonly now: Millis
}

const FEES_RETURNED = `SELECT CAST(COALESCE(sum(m.fee), 0) AS BIGINT) AS fees FROM market_refunds m
  JOIN refunds r ON r.id = m.refund_id WHERE m.claim_id = $1 AND r.state <> 'failed'`

/**
 * Takes a refund from who got the money: the platform's share in proportion, the rest from the seller, who may owe it afterwards
 * where the operator asks. The caller holds the claim's row.
 * @returns why not: the claim is not the asking seller's, or the seller does not hold as much
 */
export function* takeRefund(input: RefundOfSale): Command<'claim' | 'balance' | undefined> {
  const { refundId, claimId, amount, before, returnsFee, asker, now } = input
  const sale = yield* first<SaleRow>(FIND, claimId)
  if (asker !== undefined && sale?.sellerId !== asker) return 'claim'
  if (!sale) return undefined
  const account = accountOf(sale)
  const returned = yield* first<{ fees: number }>(FEES_RETURNED, claimId)
  const part = feeOf(sale, before + amount) - feeOf(sale, before)
  const most = Math.min(Number(amount), sale.fee - (returned?.fees ?? 0))
  const fee = returnsFee ? Math.max(0, Math.min(part, most)) : 0
  const proceeds = Number(amount) - fee
  if (asker !== undefined && (yield* holdBalance(account, sale.network)) < proceeds) return 'balance'
  yield* all(
    'INSERT INTO market_refunds (refund_id, claim_id, account, fee, proceeds) VALUES ($1, $2, $3, $4, $5)',
    refundId,
    claimId,
    account,
    fee,
    proceeds,
  )
  yield* post({
    network: sale.network,
    kind: 'refund',
    reference: refundId,
    now,
    amounts: { [account]: -proceeds, fees: -fee, [`transit:${refundId}`]: Number(amount) },
  })
  return undefined
}

/** The platform's share of so much of a sale, down to a whole unit: all of it is the share itself. */
const feeOf = ({ fee, amount }: SaleRow, part: bigint): number =>
  amount === 0 ? 0 : Number((BigInt(fee) * part) / BigInt(amount))

interface Shares {
  readonly account: MarketAccount
  readonly fee: number
  readonly proceeds: number
  readonly network: string
}

/** What becomes of a refund: it left, or it never comes, or its chain took it back. Nothing is written of those of other claims. */
export function* concludeRefund(
  refundId: string,
  kind: 'refund_settled' | 'refund_failed' | 'refund_reopened',
  now: Millis,
): Command<void> {
  const shares = yield* first<Shares & CountedService>(
    `SELECT m.account, m.fee, m.proceeds, s.network, s.seller_id AS "sellerId", s.service_id AS "serviceId"
     FROM market_refunds m JOIN market_sales s ON s.claim_id = m.claim_id
     WHERE m.refund_id = $1`,
    refundId,
  )
  if (!shares) return
  const { account, fee, proceeds, network } = shares
  const transit = `transit:${refundId}` as const
  const amount = fee + proceeds
  const amounts = {
    refund_settled: { [transit]: -amount, cash: amount },
    refund_reopened: { [transit]: amount, cash: -amount },
    refund_failed: { [account]: proceeds, fees: fee, [transit]: -amount },
  }[kind]
  yield* post({ network, kind, reference: refundId, now, amounts })
  if (kind === 'refund_settled') yield* countRefundOnce(shares, { refundId, amount, now })
  if (kind === 'refund_reopened') yield* uncountRefund(shares, { refundId, amount, now })
}

/** How a refund of a sale was shared; undefined for one of another claim. */
export const findRefundShares = command({ kind: 'lookup' })(function* (
  refundId: string,
): Command<{ readonly fee: number; readonly proceeds: number } | undefined> {
  const row = yield* first<{ fee: number; proceeds: number }>(
    'SELECT fee, proceeds FROM market_refunds WHERE refund_id = $1',
    refundId,
  )
  return row && { ...row }
})
