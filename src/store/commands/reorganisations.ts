// Settlements that a chain took back: it replaced the block that they were in. A claim is opened again then, its receipt
// withdrawn, and what becomes of it is written once the chain has decided.
import { newId } from '../../lib/ids.ts'
import { all, type Command, command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import type { StoredReceipt } from '../ports/attempts.ts'
import type { ClaimBlock, PaymentClaim, ReceiptStanding } from '../ports/payments.ts'
import { recordMovement } from './accounts.ts'
import { insertReceipt } from './attempts.ts'
import { unspend } from './claim-budgets.ts'
import { bookSale, unbookSale } from './market-sales.ts'
import { findBought, markUnclaimed, UNCLAIMED } from './bought-credits.ts'
import { CLAIM, type ClaimRow, toClaim } from './claims.ts'
import { addSettled } from './standings.ts'
import { withdrawReceipt } from './transfer-rows.ts'

const OF_NETWORK = `state = 'settled' AND finished_at >= $1 AND network = $2`

/** The blocks that claims of a network were settled in since then, newest first, at most `limit`. */
export const listSettledBlocks = command({ kind: 'read' })(function* (input: {
  network: string
  since: Millis
  limit: number
}): Command<readonly ClaimBlock[]> {
  const rows = yield* all<ClaimBlock>(
    `SELECT DISTINCT block_number AS number, block_hash AS hash FROM payment_claims
     WHERE ${OF_NETWORK} AND block_hash IS NOT NULL ORDER BY 1 DESC LIMIT $3`,
    input.since,
    input.network,
    input.limit,
  )
  return rows.map((row) => ({ ...row }))
})

/** When the newest of the claims that were settled before a moment was settled, on any network; undefined where there is none. */
export const newestSettlement = command({ kind: 'read' })(function* (
  before: Millis,
): Command<Millis | undefined> {
  const row = yield* first<{ at: Millis | null }>(
    `SELECT max(finished_at) AS at FROM payment_claims WHERE state = 'settled' AND finished_at < $1`,
    before,
  )
  return row?.at ?? undefined
})

/** The claims that were settled in a block since then. */
export const listClaimsOfBlock = command({ kind: 'read' })(function* (input: {
  network: string
  since: Millis
  hash: string
}): Command<readonly PaymentClaim[]> {
  const rows = yield* all<ClaimRow>(
    `SELECT ${CLAIM} FROM payment_claims WHERE ${OF_NETWORK} AND block_hash = $3`,
    input.since,
    input.network,
    input.hash,
  )
  return rows.map(toClaim)
})

/** The settlement stands, in another block. */
export const moveToBlock = command({ kind: 'statement', touches: 'records' })(function* (
  id: string,
  block: ClaimBlock,
): Command<void> {
  yield* all(
    `UPDATE payment_claims SET block_number = $1, block_hash = $2 WHERE id = $3 AND state = 'settled'`,
    block.number,
    block.hash,
    id,
  )
})

const REOPEN = `UPDATE payment_claims SET state = 'pending', reason = 'reorganised', finished_at = NULL, block_number = NULL,
    block_hash = NULL WHERE id = $1 AND receipt_id = $2 AND state = 'settled' RETURNING ${CLAIM}`
/**
 * `settled -> pending`, and its receipt is withdrawn. The claim keeps the receipt's id, which tells it from one that never was
 * settled. Credits that it bought stay until it is decided. Undefined when it is not settled under this receipt any more.
 */
export const reopenClaim = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  receiptId: string
  now: Millis
}): Command<PaymentClaim | undefined> {
  const { id, receiptId, now } = input
  const row = yield* first<ClaimRow>(REOPEN, id, receiptId)
  if (!row) return undefined
  yield* withdrawReceipt(receiptId, now)
  yield* unbookSale(id, now)
  return toClaim(row)
})

const RESETTLE = `UPDATE payment_claims SET state = 'settled', reason = NULL, tx = $1, receipt_id = $2, finished_at = $3,
    block_number = $4, block_hash = $5
  WHERE id = $6 AND receipt_id = $7 AND state IN ('pending', 'unknown') RETURNING ${CLAIM}`
/**
 * `pending | unknown -> settled` again, of a claim that was settled under `receiptId` before. In the same transaction as then
 * its receipt stands again; in another one `receipt` takes its place. Credits were granted the first time, and where nobody could have
 * them it says so again.
 */
export const resettleClaim = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  receiptId: string
  receipt: StoredReceipt | null
  transaction: string
  block: ClaimBlock | undefined
  now: Millis
}): Command<PaymentClaim | undefined> {
  const { id, receiptId, receipt, transaction, block, now } = input
  const current = receipt?.id ?? receiptId
  const row = yield* first<ClaimRow>(
    RESETTLE,
    transaction,
    current,
    now,
    block?.number,
    block?.hash,
    id,
    receiptId,
  )
  if (!row) return undefined
  const claim = toClaim(row)
  // Whoever reserves by what was settled since some moment must see this one, even though it was counted before.
  yield* addSettled(claim)
  yield* bookSale(id, now, 'sale_restored')
  if (receipt) {
    yield* insertReceipt(receipt)
    yield* all('UPDATE receipt_withdrawals SET replaced_by = $1 WHERE receipt_id = $2', receipt.id, receiptId)
  } else {
    yield* all('DELETE FROM receipt_withdrawals WHERE receipt_id = $1', receiptId)
  }
  const bought = claim.purchase ? yield* findBought(id) : undefined
  return bought?.account === UNCLAIMED ? yield* markUnclaimed(claim) : claim
})

const REVERSE = `UPDATE payment_claims SET state = 'failed', reason = $1, finished_at = $2
  WHERE id = $3 AND receipt_id IS NOT NULL AND state IN ('pending', 'unknown') RETURNING ${CLAIM}`
/**
 * `pending | unknown -> failed`, of a claim that was settled before: its money can never come any more. The credits that it
 * bought are taken back as far as they are there (kind `reversal`); the rest stands on `system:losses`. Budgets get back what was not paid.
 * @returns credits that are lost
 */
export const reverseClaim = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  reason: string
  now: Millis
}): Command<{ claim: PaymentClaim; lost: number } | undefined> {
  const { id, reason, now } = input
  const row = yield* first<ClaimRow>(REVERSE, reason, now, id)
  if (!row) return undefined
  yield* all('DELETE FROM claim_results WHERE claim_id = $1', id)
  // Budgets are locked before accounts, as by whoever debits credits.
  yield* unspend(id)
  const lost = yield* reversePurchase(id, now)
  yield* unbookSale(id, now)
  return { claim: toClaim(row), lost }
})

/** Credits of a purchase that refunds have taken back. */
function* creditsReturned(claimId: string): Command<number> {
  const row = yield* first<{ credits: number }>(
    `SELECT CAST(COALESCE(sum(credits), 0) AS BIGINT) AS credits FROM refunds WHERE claim_id = $1 AND state <> 'failed'`,
    claimId,
  )
  return row?.credits ?? 0
}

function* reversePurchase(claimId: string, now: Millis): Command<number> {
  const bought = yield* findBought(claimId)
  if (!bought) return 0
  const { account } = bought
  const amount = bought.amount - (yield* creditsReturned(claimId))
  const isAccount = !account.startsWith('system:')
  const held = isAccount
    ? yield* first<{ balance: number }>(
        'SELECT balance FROM accounts WHERE id = $1 FOR NO KEY UPDATE',
        account,
      )
    : { balance: amount }
  const taken = Math.min(amount, held?.balance ?? 0)
  if (isAccount && taken > 0)
    yield* all('UPDATE accounts SET balance = balance - $1 WHERE id = $2', taken, account)
  for (const [accountId, credits] of [
    [account, taken],
    ['system:losses', amount - taken],
  ] as const)
    if (credits > 0)
      yield* recordMovement({
        transactionId: newId('txn', now),
        accountId,
        against: 'purchase',
        amount: -credits,
        kind: 'reversal',
        reference: claimId,
        now,
      })
  return amount - taken
}

/** Undefined for a receipt that stands, as nearly all do. */
export const getReceiptStanding = command({ kind: 'lookup' })(function* (
  receiptId: string,
): Command<ReceiptStanding | undefined> {
  const row = yield* first<ReceiptStanding>(
    `SELECT withdrawn_at AS "withdrawnAt", replaced_by AS "replacedBy" FROM receipt_withdrawals WHERE receipt_id = $1`,
    receiptId,
  )
  return row && { ...row }
})
