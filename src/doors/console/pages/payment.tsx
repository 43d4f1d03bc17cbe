// One payment: what happened, where its chain has it, and its refunds. For the operator of the installation.
import type { VNode } from 'preact'
import { z } from 'zod'
import { OperatorRefund } from '../../../../schemas/refund.ts'
import { paymentsReconcile } from '../../../../tools/payments-reconcile.ts'
import { paymentsRefund } from '../../../../tools/payments-refund.ts'
import { paymentsRefunds } from '../../../../tools/payments-refunds.ts'
import { WINDOW_MS } from '../../../payments/reorganisations.ts'
import { GatewayError } from '../../../core/errors.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { atomicOf, fill, usdc } from '../../site/components/market/format.ts'
import { Transaction } from '../../site/components/transaction.tsx'
import { isUsdc, nameNetwork } from '../../site/story.ts'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import {
  Money,
  PAYMENT_LOOKS,
  type PaymentRecord,
  PaymentStateChip,
  REFUND_LOOKS,
  toPaymentRecord,
} from '../components/payment.tsx'
import { Facts, type Happening, Happenings } from '../components/records.tsx'
import { Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { paymentTexts } from '../texts/payments.ts'

interface PaymentData {
  readonly payment: PaymentRecord
  readonly refunds: readonly z.output<typeof OperatorRefund>[]
  /** Atomic units that may still be refunded. */
  readonly refundable_atomic: string
  /** Block that it settled in; null where that is not known. */
  readonly block: number | null
  /** Whether the gateway still looks whether its chain keeps that block. */
  readonly is_watched: boolean
  readonly environment: string
  readonly done: string | null
}

const mayAct = (signedIn: ConsoleContext['signedIn']) =>
  signedIn?.role === 'owner' || signedIn?.role === 'operator'

const IN_DOUBT: readonly string[] = ['submitted', 'pending', 'unknown']

export const page = defineConsolePage<PaymentData>({
  isWide: true,
  async load({ call, params, query, console }) {
    const id = params['claim_id'] ?? ''
    const claim = await console.store.getClaim(id)
    if (!claim) return undefined
    const { refunds } = paymentsRefunds.output.parse(await call(paymentsRefunds.name, { claim_id: id }))
    const bound = refunds.reduce((sum, { state, amount_atomic: amount }) => {
      return state === 'failed' ? sum : sum + BigInt(amount)
    }, 0n)
    const block = await console.store.getClaimBlock(id)
    return {
      payment: toPaymentRecord(claim),
      refunds,
      refundable_atomic: String(claim.state === 'settled' ? BigInt(claim.amount) - bound : 0n),
      block: block?.number ?? null,
      is_watched: claim.finishedAt !== null && console.now() - claim.finishedAt < WINDOW_MS,
      environment: console.config.mode,
      done: query.get('done'),
    }
  },
  actions: {
    async look(_form, { call, params }) {
      const id = params['claim_id'] ?? ''
      await call(paymentsReconcile.name, { claim_id: id })
      return { goTo: `/console/payments/${id}?done=looked` }
    },
    async refund(form, { call, params, language }) {
      const id = params['claim_id'] ?? ''
      const typed = form.get('amount')?.trim() ?? ''
      const amount = typed === '' ? undefined : atomicOf(typed)
      if (typed !== '' && amount === undefined)
        throw new GatewayError('input_invalid', paymentTexts[language].amountInvalid)
      await call(paymentsRefund.name, {
        claim_id: id,
        ...(amount !== undefined && { amount_atomic: amount }),
        reason: form.get('reason') ?? '',
        reference: form.get('reference') ?? '',
      })
      return { goTo: `/console/payments/${id}?done=refunded` }
    },
  },
  title: ({ payment }, { language }) => `${paymentTexts[language].one} ${usdc(payment.amount_atomic)}`,
  View: ({ data, page }) => <Payment data={data} page={page} />,
})

function Payment({ data, page }: { readonly data: PaymentData; readonly page: ConsoleContext }): VNode {
  const { payment } = data
  const t = paymentTexts[page.language]
  const isActor = mayAct(page.signedIn)
  return (
    <div class="stack">
      <header class="stack tight">
        <p class="eyebrow">
          <Link to={page.href('/console/payments')}>{consoleTexts[page.language].pages.payments}</Link>
        </p>
        <h1>
          <Money atomic={payment.amount_atomic} />
          {isUsdc(payment.network, payment.asset) && <small class="console-unit"> USDC</small>}
        </h1>
        <p class="row">
          <PaymentStateChip payment={payment} page={page} />
          <span class="muted">{t.meaning[payment.state]}</span>
        </p>
      </header>
      {data.done === 'refunded' && (
        <p class="notice" role="status">
          {t.refundDone}
        </p>
      )}
      {data.done === 'looked' && (
        <p class="notice" role="status">
          {t.looked}
        </p>
      )}
      <Refusal page={page} />
      <div class="console-two">
        <section class="panel stack" aria-labelledby="happened">
          <h2 id="happened">{t.timeline}</h2>
          <Happenings page={page} events={eventsOf(data, page)} />
          <div class="console-actions">
            {payment.receipt_id !== null && (
              <Link to={page.href(`/receipts/${payment.receipt_id}`)} class="button">
                {t.receipt}
              </Link>
            )}
            {isActor && IN_DOUBT.includes(payment.state) && <Act page={page} action="look" label={t.look} />}
          </div>
        </section>
        <section class="panel stack" aria-labelledby="facts">
          <h2 id="facts">{t.facts}</h2>
          <PaymentFacts data={data} page={page} />
        </section>
      </div>
      {isActor && payment.origin === 'tool' && payment.state === 'settled' && (
        <Refund data={data} page={page} />
      )}
    </div>
  )
}

function PaymentFacts({ data, page }: { readonly data: PaymentData; readonly page: ConsoleContext }): VNode {
  const { payment, environment } = data
  const t = paymentTexts[page.language]
  const mono = (text: string | null) =>
    text !== null && text !== '' && <Foreign text={text} max={300} class="mono" />
  return (
    <Facts
      facts={[
        [t.id, mono(payment.claim_id)],
        [t.amount, <Money atomic={payment.amount_atomic} />],
        [t.network, <Foreign text={nameNetwork(payment.network)} max={80} />],
        [t.chain, chainWords(data, page)],
        [
          t.transaction,
          payment.transaction !== null && (
            <Transaction hash={payment.transaction} network={payment.network} environment={environment} />
          ),
        ],
        [t.tool, payment.origin === 'settle' ? t.origins.settle : mono(payment.tool)],
        [t.method, mono(payment.method)],
        [t.resource, mono(payment.resource)],
        [
          t.payer,
          payment.payer !== '' && (
            <Link to={page.href(`/console/payments?payer=${encodeURIComponent(payment.payer)}`)}>
              <Ltr class="mono">{payment.payer}</Ltr>
            </Link>
          ),
        ],
        [t.payTo, mono(payment.pay_to)],
        [t.asset, mono(payment.asset)],
        [t.purchase, payment.credits_bought !== null && <Ltr>{String(payment.credits_bought)}</Ltr>],
        [t.identifier, mono(payment.identifier)],
        [t.expires, payment.valid_before !== null && <Time at={payment.valid_before} />],
        [t.nonce, mono(payment.nonce)],
      ]}
    />
  )
}

function chainWords({ payment, block, is_watched: isWatched }: PaymentData, page: ConsoleContext): string {
  const t = paymentTexts[page.language]
  if (block !== null && payment.state === 'settled')
    return fill(isWatched ? t.chainIn : t.chainFinal, { n: block })
  if (payment.state === 'settled') return t.chainForeign
  return IN_DOUBT.includes(payment.state) ? t.chainOpen : t.chainNone
}

function eventsOf({ payment, refunds }: PaymentData, page: ConsoleContext): readonly Happening[] {
  const t = paymentTexts[page.language]
  const { state, reason, upstream } = payment
  const events: Happening[] = [{ title: t.claimed, is: 'done', at: payment.created_at }]
  if (payment.submitted_at !== null)
    events.push({
      title: t.submitted,
      is: 'done',
      at: payment.submitted_at,
      how: upstream === null ? undefined : <Foreign text={fill(t.by, { u: upstream })} max={200} />,
    })
  if (state !== 'claimed' && state !== 'submitted')
    events.push({
      title: t.states[state],
      is: PAYMENT_LOOKS[state],
      at: payment.finished_at,
      how: (
        <>
          {t.meaning[state]} {reason !== null && <Foreign text={reason} max={200} class="mono" />}
        </>
      ),
    })
  for (const refund of refunds)
    events.push({
      title: fill(t.refunded, { s: t.refundStates[refund.state] }),
      is: REFUND_LOOKS[refund.state],
      at: refund.finished_at ?? refund.created_at,
      how: (
        <Facts
          facts={[
            [t.amount, <Money atomic={refund.amount_atomic} />],
            [t.reason, <Foreign text={refund.reason} max={200} />],
            [t.reference, <Foreign text={refund.reference} max={200} />],
            [
              t.transaction,
              refund.transaction !== null && <Foreign text={refund.transaction} max={80} class="mono" />,
            ],
            [t.states.failed, refund.failure !== null && <Foreign text={refund.failure} class="mono" />],
          ]}
        />
      ),
    })
  return events
}

function Refund({ data, page }: { readonly data: PaymentData; readonly page: ConsoleContext }): VNode {
  const t = paymentTexts[page.language]
  if (data.refundable_atomic === '0') return <p class="muted">{t.refundNone}</p>
  return (
    <section class="panel stack" aria-labelledby="refund">
      <h2 id="refund">{t.refund}</h2>
      <p class="muted">
        {t.refundHow} {fill(t.refundLeft, { n: usdc(data.refundable_atomic) })}
      </p>
      <Form page={page} action="refund" class="stack">
        <Field page={page} name="amount" label={t.refundAmount} help={t.refundAmountHelp} />
        <Field page={page} name="reason" label={t.refundReason} isRequired />
        <Field page={page} name="reference" label={t.reference} help={t.referenceHelp} isRequired />
        <p>
          <button class="dangerous">{t.refundAct}</button>
        </p>
      </Form>
    </section>
  )
}
