import { z } from 'zod'
import { Timestamp } from './http.ts'

/** Id of a payment that is asked about: nothing that a database would not take. */
export const KnownClaimId = z
  .string()
  .regex(/^clm_\w{1,60}$/, 'must be clm_ and letters and digits')
  .describe('clm_…')

/** States of a payment that was presented here. */
export const PaymentState = z.enum([
  'claimed',
  'submitted',
  'pending',
  'settled',
  'failed',
  'canceled',
  'unknown',
])

/** A payment as its operator sees it. Wallets are in it, and nothing with which its result could be read. */
export const PaymentRecord = z.strictObject({
  claim_id: z.string(),
  state: PaymentState,
  reason: z.string().nullable().describe('Stable word for why it failed, was canceled or is not known'),
  origin: z
    .enum(['tool', 'settle'])
    .describe('`tool`: to this gateway. `settle`: to another seller through /settle'),
  tool: z.string().describe('`settle` for another seller'),
  method: z.string(),
  resource: z.string(),
  network: z.string().describe('CAIP-2 id'),
  asset: z.string(),
  amount_atomic: z.string().describe('Atomic units'),
  amount: z.string().describe('Decimal, for display'),
  payer: z.string(),
  pay_to: z.string(),
  nonce: z.string(),
  transaction: z.string().nullable(),
  upstream: z.string().nullable().describe('Facilitator that it was submitted to, or settled by'),
  credits_bought: z.int().nullable(),
  account_id: z.string().nullable().describe('Account whose credits it buys, or whose key called /settle'),
  created_at: Timestamp,
  submitted_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  valid_before: Timestamp.nullable().describe(
    'From then on its authorization moves no money; null where it names no end',
  ),
  receipt_id: z.string().nullable(),
})
export type PaymentRecord = z.output<typeof PaymentRecord>

/** Columns of an exported table of payments, in their order. Scripts rest on them: add at the end, never rename. */
export const PAYMENT_COLUMNS = [
  'claim_id',
  'state',
  'reason',
  'origin',
  'tool',
  'method',
  'resource',
  'network',
  'asset',
  'amount_atomic',
  'payer',
  'pay_to',
  'transaction',
  'upstream',
  'credits_bought',
  'account_id',
  'created_at',
  'submitted_at',
  'finished_at',
  'receipt_id',
  'amount',
] as const satisfies readonly (keyof PaymentRecord)[]

/** One thing that happened to a payment. */
export const PaymentEvent = z.strictObject({
  at: Timestamp,
  event: z.enum([
    'claimed',
    'submitted',
    'settled',
    'failed',
    'canceled',
    'receipt_withdrawn',
    'closed_by_operator',
    'refund_recorded',
    'refund_settled',
    'refund_failed',
  ]),
  detail: z.string().nullable(),
})

/** What its chain says of a payment at this moment. */
export const ChainFinding = z.enum(['paid', 'void', 'shallow', 'unused', 'unanswered', 'unprovable'])
