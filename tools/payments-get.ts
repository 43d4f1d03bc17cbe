import { z } from 'zod'
import { answerFrom } from '../schemas/answer-from.ts'
import { Timestamp } from '../schemas/http.ts'
import { formatAtomic } from '../schemas/money.ts'
import { free } from '../src/core/price.ts'
import { SignInChallenge } from '../schemas/sign-in.ts'
import { Receipt } from '../schemas/receipt.ts'
import { RefundRecord } from '../schemas/refund.ts'
import { defineTool } from './services.ts'

const RETRY_SECONDS = 5
const moment = (millis: number | null) => (millis === null ? null : new Date(millis).toISOString())

/** Reports the state of a payment, and what it bought, to whoever shows that very payment. */
export const paymentsGet = defineTool({
  name: 'gateway.payments.get',
  toolset: 'payments',
  title: 'Read a payment',
  summary:
    'State, receipt and stored result of an x402 payment. Show the payment that made it, unchanged: as ' +
    '`Payment-Signature` (or `X-PAYMENT`), or as `_meta["x402/payment"]` over MCP. Where nothing in it is secret (clients that ' +
    'do not echo the challenge, all of v1) it shows the state alone, and `sign_in` says what the payer signs to see the rest. ' +
    'Charges nothing and settles nothing; a payment whose outcome is not known yet is looked up on its chain.',
  brief:
    'State, receipt and result of a payment. Send the payment that made it, unchanged, in _meta["x402/payment"], or sign in as `sign_in` says.',
  input: z.strictObject({
    claim_id: z.string().min(1).max(64).describe('clm_…, from the answer that named it'),
    answer_from: answerFrom,
  }),
  output: z.strictObject({
    claim_id: z.string(),
    state: z
      .enum(['claimed', 'submitted', 'pending', 'settled', 'failed', 'canceled', 'unknown'])
      .describe(
        '`settled`: paid, see `result`. `failed` and `canceled`: nothing was charged. All others: not known yet, do not ' +
          'pay again',
      ),
    network: z.string().describe('CAIP-2 id'),
    asset: z.string(),
    amount_atomic: z.string().describe('Atomic units'),
    amount: z.string().describe('Decimal, for display'),
    payer: z.string(),
    pay_to: z.string(),
    transaction: z.string().nullable(),
    reason: z.string().nullable().describe('Stable word for why it failed, was canceled or is not known'),
    tool: z.string().nullable().describe('Null, as the three below, until `sign_in` is answered'),
    method: z.string().nullable(),
    resource: z.string().nullable(),
    created_at: Timestamp,
    submitted_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
    receipt: Receipt.nullable(),
    result: z
      .looseObject({})
      .nullable()
      .describe('What the payment bought, with its receipt: once settled, and for 24 hours'),
    refunded_atomic: z.string().describe('Atomic units that were sent back to the payer'),
    refunds: z.array(RefundRecord).describe('Oldest first'),
    sign_in: SignInChallenge.nullable().describe(
      'What the payer signs to see more than the state; null where the buyer is known',
    ),
    retry_after_seconds: z.int().nullable().describe('When to ask again; null when nothing will change'),
  }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/payments/{claim_id}', operationId: 'getPayment' },
  errors: ['payment_not_found', 'payment_invalid', 'sign_in_refused', 'payments_unavailable'],
  examples: [{ title: 'One payment', input: { claim_id: 'clm_00000000000000000000000000000000000' } }],
  readOn: () => (next) => `Send the same call with "answer_from": ${next}.`,
  handle: async function paymentsGet({ claim_id }, { payments, refunds, payment, signIn }) {
    const { claim, signIn: challenge, result, receipt } = await payments.claim(claim_id, { payment, signIn })
    const { refunded, refunds: sentBack } = await refunds.showPayer(claim.id)
    const isBuyer = challenge === null
    const isDecided = ['settled', 'failed', 'canceled'].includes(claim.state)
    return {
      claim_id: claim.id,
      state: claim.state,
      network: claim.network,
      asset: claim.asset,
      amount_atomic: claim.amount,
      amount: formatAtomic(BigInt(claim.amount)),
      payer: claim.payer,
      pay_to: claim.payTo,
      transaction: claim.transaction,
      reason: claim.reason,
      tool: isBuyer ? claim.tool : null,
      method: isBuyer ? claim.method : null,
      resource: isBuyer ? claim.resource : null,
      created_at: new Date(claim.createdAt).toISOString(),
      submitted_at: moment(claim.submittedAt),
      finished_at: moment(claim.finishedAt),
      receipt,
      result: result === null ? null : (JSON.parse(result) as Record<string, unknown>),
      refunded_atomic: refunded.toString(),
      // The receipt of a refund says what was bought.
      refunds: sentBack.map((refund) => (isBuyer ? refund : { ...refund, receipt: null })),
      sign_in: challenge,
      retry_after_seconds: isDecided ? null : RETRY_SECONDS,
    }
  },
})
