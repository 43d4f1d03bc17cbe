// The steps of every payment as one statement each. `claimPayment` is not among them: see claim-lock.ts.
import { type Command, first } from '../../command.ts'
import {
  CLAIM,
  type ClaimRow,
  HOUR_MS,
  IS_OPEN,
  NEVER_SETTLED,
  type SettleClaimInput,
  type SubmitClaimInput,
  toClaim,
} from '../../commands/claims.ts'
import type { PaymentClaim } from '../../ports/payments.ts'
import { BRIEFLY } from '../patience.ts'

const SUBMIT = `WITH done AS (
    UPDATE payment_claims SET state = 'submitted', upstream = $3, result_sha256 = $4, submitted_at = $5
    WHERE id = $1 AND boot_id = $2 AND state = 'claimed' ${BRIEFLY} RETURNING id
  ), kept AS (
    INSERT INTO claim_results (claim_id, json, sha256, expires_at)
    SELECT id, $6, $4, $7::bigint FROM done WHERE $6::text IS NOT NULL
  )
  SELECT id FROM done`

/** The command `submitClaim` as one statement. */
export function* submitClaim(input: SubmitClaimInput): Command<boolean> {
  const { id, bootId, upstream, result, now } = input
  const row = yield* first(SUBMIT, id, bootId, upstream, result?.sha256, now, result?.json, result?.expiresAt)
  return row !== undefined
}

const SETTLE = `WITH done AS (
    UPDATE payment_claims SET state = 'settled', tx = $2, receipt_id = $3, reason = NULL,
      upstream = COALESCE($4, upstream), finished_at = $5, block_number = $10::bigint, block_hash = $11
    WHERE id = $1 AND ${IS_OPEN} AND ${NEVER_SETTLED}
      AND purchase_account_id IS NULL AND submitted_at > $6
      AND NOT EXISTS (SELECT 1 FROM market_sales WHERE claim_id = $1) ${BRIEFLY}
    RETURNING ${CLAIM}
  ), kept AS (
    INSERT INTO receipts (id, account_id, jws, created_at) SELECT $3, $7, $8, $9::bigint FROM done
  ), counted AS (
    INSERT INTO payer_totals (payer, network, asset, settled)
    SELECT payer, network, asset, amount FROM done WHERE payer <> ''
    ON CONFLICT (payer, network, asset)
    DO UPDATE SET settled = (payer_totals.settled::numeric + excluded.settled::numeric)::text
  )
  SELECT * FROM done`

/** The command `settleClaim` as one statement: undefined when there was nothing to settle, or credits to grant, or a sale to count, or a result to keep longer, or it rests on an upstream's word. */
export function* settleClaim(input: SettleClaimInput): Command<PaymentClaim | undefined> {
  const { id, transaction, receipt, upstream, block, now } = input
  if (input.isTrusted === true) return undefined
  const row = yield* first<ClaimRow>(
    SETTLE,
    id,
    transaction,
    receipt.id,
    upstream,
    now,
    now - HOUR_MS,
    receipt.accountId,
    receipt.jws,
    receipt.createdAt,
    block?.number,
    block?.hash,
  )
  return row && toClaim(row)
}
