// A payment as tables and its own page show it.
import type { VNode } from 'preact'
import type { PaymentRecord as PaymentRow } from '../../../../schemas/payment-record.ts'
import { toPaymentRecord as toPaymentRow } from '../../../payments/payment-record.ts'
import type { ClaimState, PaymentClaim, RefundState } from '../../../store/ports.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { usdc } from '../../site/components/market/format.ts'
import { State, type StateName } from '../../site/components/state.tsx'
import type { ConsoleContext } from '../ports.ts'
import { paymentTexts } from '../texts/payments.ts'

/** A payment, with the identifier that its buyer chose: for the page of one. */
export interface PaymentRecord extends PaymentRow {
  readonly identifier: string | null
}

export const toPaymentRecord = (claim: PaymentClaim): PaymentRecord => ({
  ...toPaymentRow(claim),
  identifier: claim.identifier,
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
