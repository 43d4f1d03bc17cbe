// Every payment that was presented here: narrowed by the address, a page at a time. For the operator of the installation.
import type { VNode } from 'preact'
import type { z } from 'zod'
import { PAYMENT_COLUMNS } from '../../../../schemas/payment-record.ts'
import { paymentsSpend } from '../../../../tools/payments-spend.ts'
import type { ClaimSearch } from '../../../store/ports.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { nameNetwork } from '../../site/story.ts'
import {
  Money,
  PAYMENT_LOOKS,
  type PaymentRecord,
  PaymentStateChip,
  Short,
  toPaymentRecord,
} from '../components/payment.tsx'
import { Choice, Cut, Days, Exports, Filters, Nothing, Typed } from '../components/records.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { EXPORT_ROWS, sendFile } from '../records/export.ts'
import { fill, pages } from '../records/fill.ts'
import * as read from '../records/query.ts'
import { consoleTexts } from '../texts/common.ts'
import { paymentTexts } from '../texts/payments.ts'

const STATES = Object.keys(PAYMENT_LOOKS) as (keyof typeof PAYMENT_LOOKS)[]
const ORIGINS = ['tool', 'settle'] as const

type Spend = z.output<typeof paymentsSpend.output>['spend']

interface PaymentsData {
  readonly payments: readonly PaymentRecord[]
  readonly next: string | null
  readonly looked: number | null
  /** By month, where the table is narrowed to one payer. */
  readonly spend: Spend | null
}

const filterOf = (query: URLSearchParams): ClaimSearch => ({
  state: read.oneOf(query, 'state', STATES),
  origin: read.oneOf(query, 'origin', ORIGINS),
  network: read.text(query, 'network'),
  tool: read.text(query, 'tool'),
  payer: read.text(query, 'payer')?.toLowerCase(),
  ...read.days(query),
})

export const page = defineConsolePage<PaymentsData>({
  isWide: true,
  async load({ query, console, call }) {
    const filter = filterOf(query)
    const { payer } = filter
    const report = payer === undefined ? undefined : await call(paymentsSpend.name, { payer })
    const found = await fill((page) => console.store.searchClaims(filter, page), {
      before: read.cursor(query),
      now: console.now,
    })
    return {
      payments: found.items.map(toPaymentRecord),
      next: found.next,
      looked: found.looked,
      spend: report === undefined ? null : paymentsSpend.output.parse(report).spend,
    }
  },
  actions: {
    export(form, request) {
      const { store } = request.console
      const filter = filterOf(request.query)
      return sendFile({ form, request, name: 'payments', columns: PAYMENT_COLUMNS }, records())
      async function* records() {
        for await (const page of pages((asked) => store.searchClaims(filter, asked), EXPORT_ROWS))
          yield page.map(toPaymentRecord)
      }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.payments,
  View: ({ data, page }) => <Payments data={data} page={page} />,
})

function Payments({ data, page }: { readonly data: PaymentsData; readonly page: ConsoleContext }): VNode {
  const t = paymentTexts[page.language]
  return (
    <div class="stack">
      <header class="console-head">
        <div class="stack tight">
          <h1>{consoleTexts[page.language].pages.payments}</h1>
          <p class="muted">{t.intro}</p>
        </div>
        <Exports page={page} />
      </header>
      <Filters page={page}>
        <Choice
          page={page}
          name="state"
          label={t.state}
          options={STATES.map((state) => [state, t.states[state]])}
        />
        <Choice
          page={page}
          name="origin"
          label={t.origin}
          options={ORIGINS.map((origin) => [origin, t.origins[origin]])}
        />
        <Typed page={page} name="tool" label={t.tool} />
        <Typed page={page} name="payer" label={t.payer} />
        <Typed page={page} name="network" label={t.network} />
        <Days page={page} />
      </Filters>
      {data.spend && data.spend.length > 0 && <Spent spend={data.spend} page={page} />}
      <Cut page={page} looked={data.looked} found={data.payments.length} />
      <Table
        page={page}
        label={t.label}
        columns={columnsOf(page)}
        rows={data.payments}
        next={data.next}
        empty={
          <Nothing page={page}>
            <p>{t.empty}</p>
            {page.isSandbox && (
              <p>
                <Link to={page.href('/test')}>{t.emptyAct}</Link>
              </p>
            )}
          </Nothing>
        }
      />
    </div>
  )
}

function Spent({ spend, page }: { readonly spend: Spend; readonly page: ConsoleContext }): VNode {
  const t = paymentTexts[page.language]
  return (
    <details>
      <summary>{t.spent}</summary>
      <Table
        page={page}
        label={t.spent}
        rows={spend}
        empty=""
        columns={[
          { head: t.month, cell: ({ month }) => <Ltr>{month}</Ltr> },
          { head: t.tool, cell: ({ tool }) => <Foreign text={tool} max={80} class="mono" /> },
          { head: t.network, cell: ({ network }) => <Foreign text={nameNetwork(network)} max={60} /> },
          { head: t.payments, isNumber: true, cell: ({ payments }) => <Ltr>{String(payments)}</Ltr> },
          {
            head: t.amount,
            isNumber: true,
            cell: ({ settled_atomic: settled }) => <Money atomic={settled} />,
          },
          {
            head: t.refunds,
            isNumber: true,
            cell: ({ refunded_atomic: refunded }) => <Money atomic={refunded} />,
          },
        ]}
      />
    </details>
  )
}

function columnsOf(page: ConsoleContext): readonly Column<PaymentRecord>[] {
  const t = paymentTexts[page.language]
  return [
    {
      head: t.when,
      cell: ({ claim_id: id, created_at: at }) => (
        <Link to={page.href(`/console/payments/${id}`)}>
          <Time at={at} />
        </Link>
      ),
    },
    {
      head: t.state,
      cell: (payment) => (
        <>
          <PaymentStateChip payment={payment} page={page} />
          {payment.reason !== null && (
            <span class="sub">
              <Foreign text={payment.reason} max={60} class="mono" />
            </span>
          )}
        </>
      ),
    },
    { head: t.amount, isNumber: true, cell: ({ amount_atomic: atomic }) => <Money atomic={atomic} /> },
    {
      head: t.tool,
      cell: ({ tool, origin }) =>
        origin === 'settle' ? t.origins.settle : <Foreign text={tool} max={80} class="mono" />,
    },
    {
      head: t.payer,
      cell: ({ payer }) =>
        payer === '' ? (
          '–'
        ) : (
          <Link to={page.href(`/console/payments?payer=${encodeURIComponent(payer)}`)}>
            <Short text={payer} />
          </Link>
        ),
    },
    {
      head: t.network,
      cell: ({ network }) => <Foreign text={nameNetwork(network)} max={60} class="small" />,
    },
    {
      head: t.transaction,
      cell: ({ transaction }) => (transaction === null ? '–' : <Short text={transaction} />),
    },
  ]
}
