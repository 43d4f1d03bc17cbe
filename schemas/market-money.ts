// Wire shapes of the market's money: payouts with their proofs, what is owed, statements, fees.
import { z } from 'zod'
import { Timestamp } from './http.ts'
import { FeePolicy } from './market.ts'
import { Receipt } from './receipt.ts'
import { RefundRecord } from './refund.ts'

const Atomic = z.string().regex(/^\d{1,18}$/)
const Signed = z.string().regex(/^-?\d{1,18}$/)
const Network = z.string().describe('CAIP-2 id')
export const Month = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/)
  .describe('e.g. `2026-11`, UTC')
export const AmountAtomic = Atomic.describe('Atomic units of USDC (6 decimals)')

/** A transfer of what was owed to a seller: public, so that anybody can find it on its chain. */
export const PublicPayout = z.strictObject({
  payout_id: z.string(),
  batch_id: z.string(),
  seller: z.string(),
  network: Network,
  asset: z.string(),
  amount_atomic: Atomic,
  from: z.string().describe('The payout account of the gateway'),
  to: z.string(),
  transaction: z.string().nullable(),
  receipt: Receipt.nullable(),
  paid_at: Timestamp.nullable(),
})

export const PayoutPage = z.strictObject({
  payouts: z.array(PublicPayout).describe('Newest first; only those that their chain has'),
  next: z.string().nullable().describe('Goes back in as `before`'),
})

export const FeeExplained = z.strictObject({
  gross_atomic: Atomic,
  platform_fee_atomic: Atomic,
  seller_proceeds_atomic: Atomic,
  policy: FeePolicy,
  steps: z.array(z.string()).describe('The calculation in words, in order'),
  notes: z.array(z.string()),
})

const Batch = z.strictObject({
  batch_id: z.string(),
  network: Network,
  period: z.string(),
  minimum_atomic: Atomic,
  created_at: Timestamp,
  finished_at: Timestamp.nullable().describe('`null`: it is being run, or is gone on with within a minute'),
  paid: z.int().min(0).describe('Payouts of it that their chain has, of the newest hundred'),
  paid_atomic: Atomic,
  under_way: z.int().min(0),
  failed: z.int().min(0).describe('Owed again'),
})

export const PayoutRun = z.strictObject({
  state: z
    .enum(['done', 'running', 'busy', 'no_account'])
    .describe(
      '`running`: it goes on behind this answer. `busy`: another process is at it. `no_account`: no key pays out',
    ),
  batches: z.array(Batch),
})

export const PayoutOverview = z.strictObject({
  account: z.string().nullable().describe('Payouts leave from it'),
  networks: z.array(
    z.strictObject({
      network: Network,
      held_atomic: Atomic.nullable().describe(
        'By the payout account; `null` where the chain does not answer',
      ),
      cash_atomic: Signed.describe(
        'Taken for sales and not paid out or back: what the gateway must hold for the market',
      ),
      fees_atomic: Signed.describe("The platform's"),
      owed_atomic: Signed.describe('To sellers; what a seller owes counts against it'),
      retained_atomic: Signed.describe('Of our own listings'),
      under_way_atomic: Signed,
    }),
  ),
  batches: z.array(Batch).describe('The newest ten'),
  kept: z
    .array(z.strictObject({ seller: z.string(), network: Network, reason: z.string(), since: Timestamp }))
    .describe('Owed, and why it was not paid; at most a hundred'),
})

export const PayoutProof = z.strictObject({
  ok: z.boolean().describe('Nothing contradicts the ledger. What a chain did not answer contradicts nothing'),
  payouts: z.array(
    z.strictObject({
      payout_id: z.string(),
      seller: z.string(),
      network: Network,
      amount_atomic: Atomic,
      transaction: z.string().nullable(),
      chain: z
        .enum(['proven', 'missing', 'unanswered'])
        .describe('`proven`: the transfer of this nonce, account and amount is on its chain'),
      receipt: z
        .enum(['valid', 'invalid'])
        .describe('Its signature, and that it says the same as the ledger'),
    }),
  ),
  ledger: z.array(
    z.strictObject({
      network: Network,
      sum_atomic: Signed.describe('Of all accounts: 0'),
      under_way_atomic: Signed.describe('Open payouts and refunds'),
      transit_atomic: Signed.describe('What the ledger says of them: the same'),
      unbalanced_accounts: z.int().min(0),
      ok: z.boolean(),
    }),
  ),
  next: z.string().nullable().describe('Goes back in as `before`: older payouts'),
})

const StatementLine = z.strictObject({
  at: Timestamp,
  kind: z
    .string()
    .describe('`sale`, `refund`, `payout`, and what became of them; docs/guides/selling.md lists all'),
  amount_atomic: Signed.describe('What it changes'),
  balance_atomic: Signed.describe('After it'),
  gross_atomic: Atomic.describe('What the buyer paid or got back; of a payout what was sent'),
  fee_atomic: Atomic.describe("The platform's share of it"),
  service_id: z.string().nullable(),
  route: z.string().nullable(),
  claim_id: z.string().nullable().describe("As in the `jti` of the call's `Agent-Gateway-Call` header"),
  reference: z.string().describe('Claim, refund or payout'),
  state: z.string().describe('Of it, now'),
  transaction: z.string().nullable(),
  receipt_id: z.string().nullable(),
  transaction_id: z.string().describe('Of the ledger'),
})

export const Statement = z.strictObject({
  seller: z.string(),
  network: Network,
  from: Month,
  to: Month,
  opening_atomic: Signed,
  closing_atomic: Signed.describe('Opening and all amounts between them'),
  minimum_payout_atomic: Atomic,
  kept_because: z.string().nullable().describe('Why what is owed was not paid the last time'),
  lines: z.array(StatementLine),
  csv: z.string().optional().describe('The same lines, where `format` is `csv`'),
  next: z.string().nullable().describe('Goes back in as `cursor`'),
})

export const SellerRefund = RefundRecord.extend({
  claim_id: z.string(),
  reference: z.string(),
  from_you_atomic: Atomic,
  fee_returned_atomic: Atomic,
  balance_atomic: Signed.describe('Yours, after it'),
  repeated: z.boolean(),
})
