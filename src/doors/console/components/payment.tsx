// A payment as tables and its own page show it.
import type { VNode } from 'preact'
import type { ClaimState, PaymentClaim, RefundState } from '../../../store/ports.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { usdc } from '../../site/components/market/format.ts'
import { State, type StateName } from '../../site/components/state.tsx'
import { toTimestamp, toTimestampOrNull } from '../../../lib/timestamp.ts'
import type { ConsoleContext } from '../ports.ts'
import { paymentTexts } from '../texts/payments.ts'

/** What a payment is to its operator. Digests that tell a buyer from another are left out. */
export interface PaymentRecord {
  readonly claim_id: string
  readonly origin: 'tool' | 'settle'
  readonly state: ClaimState
  readonly reason: string | null
  readonly network: string
  readonly asset: string
  readonly amount_atomic: string
  readonly payer: string
  readonly pay_to: string
  readonly tool: string
  readonly method: string
  readonly resource: string
  readonly transaction: string | null
  readonly upstream: string | null
  readonly nonce: string
  readonly identifier: string | null
  readonly credits_bought: number | null
  readonly account_id: string | null
  readonly created_at: string
  readonly submitted_at: string | null
  readonly finished_at: string | null
  readonly valid_before: string | null
  readonly receipt_id: string | null
}

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
] as const satisfies readonly (keyof PaymentRecord)[]

export const toPaymentRecord = (claim: PaymentClaim): PaymentRecord => ({
  claim_id: claim.id,
  origin: claim.origin,
  state: claim.state,
  reason: claim.reason,
  network: claim.network,
  asset: claim.asset,
  amount_atomic: claim.amount,
  payer: claim.payer,
  pay_to: claim.payTo,
  tool: claim.tool,
  method: claim.method,
  resource: claim.resource,
  transaction: claim.transaction,
  upstream: claim.upstream,
  nonce: claim.nonce,
  identifier: claim.identifier,
  credits_bought: claim.purchase?.credits ?? null,
  account_id: claim.accountId ?? claim.purchase?.accountId ?? null,
  created_at: toTimestamp(claim.createdAt),
  submitted_at: toTimestampOrNull(claim.submittedAt),
  finished_at: toTimestampOrNull(claim.finishedAt),
  valid_before: toTimestampOrNull(claim.validBefore),
  receipt_id: claim.receiptId,
})

export const PAYMENT_LOOKS = {
  claimed: 'unknown',
  submitted: 'waiting',
  pending: 'waiting',
  settled: 'done',
  failed: 'failed',
  canceled: 'unknown',
  unknown: 'waiting',
} satisfies Record<ClaimState, StateName>

export const REFUND_LOOKS = {
  recorded: 'waiting',
  submitted: 'waiting',
  settled: 'done',
  failed: 'failed',
} satisfies Record<RefundState, StateName>

export const PaymentStateChip = ({
  payment: { state },
  page,
}: {
  readonly payment: Pick<PaymentRecord, 'state'>
  readonly page: Pick<ConsoleContext, 'language'>
}): VNode => <State is={PAYMENT_LOOKS[state]} page={page} words={paymentTexts[page.language].states[state]} />

/** Assets that are taken have six decimals (core/networks.ts). */
export const Money = ({ atomic }: { readonly atomic: string | bigint }): VNode => <Ltr>{usdc(atomic)}</Ltr>

/** `0x1234…abcd`: enough to tell two apart; the whole of it is in the title. */
export const Short = ({ text }: { readonly text: string }): VNode =>
  text.length <= 16 ? (
    <Ltr class="mono">{text}</Ltr>
  ) : (
    <span title={text}>
      <Ltr class="mono">{`${text.slice(0, 8)}…${text.slice(-6)}`}</Ltr>
    </span>
  )
