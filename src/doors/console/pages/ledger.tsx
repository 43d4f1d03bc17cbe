// Every movement of the account's credits; and for the operator of the installation, credits that are given by hand.
import type { VNode } from 'preact'
import { creditsBalance } from '../../../../tools/credits-balance.ts'
import { creditsGrant } from '../../../../tools/credits-grant.ts'
import { toTimestamp } from '../../../lib/timestamp.ts'
import type { LedgerEntry, LedgerSearch } from '../../../store/ports.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { count } from '../../site/components/market/format.ts'
import { Figures } from '../components/figures.tsx'
import { Field, Form, Refusal } from '../components/form.tsx'
import { Short } from '../components/payment.tsx'
import { Choice, Cut, Days, Exports, Filters, Nothing } from '../components/records.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { EXPORT_ROWS, sendFile } from '../records/export.ts'
import { fill, pages } from '../records/fill.ts'
import * as read from '../records/query.ts'
import { consoleTexts } from '../texts/common.ts'
import { moneyTexts } from '../texts/money.ts'

const KINDS = Object.keys(moneyTexts.en.kinds) as LedgerEntry['kind'][]
const COLUMNS = ['transaction_id', 'amount', 'kind', 'reference', 'created_at'] as const

type Line = Readonly<Record<'transaction_id' | 'reference' | 'created_at', string>> & {
  readonly amount: number
  readonly kind: LedgerEntry['kind']
}

interface LedgerData {
  readonly balance: number
  readonly ledger: readonly Line[]
  readonly next: string | null
  readonly looked: number | null
  readonly done: boolean
}

const toLine = (entry: LedgerEntry): Line => ({
  transaction_id: entry.transactionId,
  amount: entry.amount,
  kind: entry.kind,
  reference: entry.reference,
  created_at: toTimestamp(entry.createdAt),
})

const filterOf = ({ query, signedIn }: SignedInRequest): LedgerSearch => ({
  accountId: signedIn.accountId,
  kind: read.oneOf(query, 'kind', KINDS),
  ...read.days(query),
})

export const page = defineConsolePage<LedgerData>({
  isWide: true,
  async load(request) {
    const { query, console, call } = request
    const filter = filterOf(request)
    const found = await fill((page) => console.store.searchLedger(filter, page), {
      before: read.cursor(query),
      now: console.now,
    })
    const { balance } = creditsBalance.output.parse(await call(creditsBalance.name, { limit: 1 }))
    return {
      balance: balance ?? 0,
      ledger: found.items.map(toLine),
      next: found.next,
      looked: found.looked,
      done: query.has('done'),
    }
  },
  actions: {
    export(form, request) {
      const filter = filterOf(request)
      const { store } = request.console
      return sendFile({ form, request, name: 'credits', columns: COLUMNS }, records())
      async function* records() {
        for await (const page of pages((asked) => store.searchLedger(filter, asked), EXPORT_ROWS))
          yield page.map(toLine)
      }
    },
    async grant(form, { call }) {
      const account = form.get('account_id')?.trim()
      await call(creditsGrant.name, {
        ...(account && { account_id: account }),
        amount: Number(form.get('amount') || Number.NaN),
        reference: form.get('reference') ?? '',
      })
      return { goTo: '/console/ledger?done=granted' }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.ledger,
  View: ({ data, page }) => <Ledger data={data} page={page} />,
})

function Ledger({ data, page }: { readonly data: LedgerData; readonly page: ConsoleContext }): VNode {
  const words = moneyTexts[page.language]
  const t = words.ledger
  const mayGrant =
    page.signedIn?.admin === true && (page.signedIn.role === 'owner' || page.signedIn.role === 'operator')
  return (
    <div class="stack">
      <header class="console-head">
        <div class="stack tight">
          <h1>{consoleTexts[page.language].pages.ledger}</h1>
          <p class="muted">{t.intro}</p>
        </div>
        <Exports page={page} />
      </header>
      {data.done && (
        <p class="notice" role="status">
          {t.granted}
        </p>
      )}
      <Refusal page={page} />
      <Figures figures={[[t.balance, <Ltr>{count(data.balance)}</Ltr>]]} />
      {mayGrant && <Grant page={page} />}
      <Filters page={page}>
        <Choice
          page={page}
          name="kind"
          label={t.kind}
          options={KINDS.map((kind) => [kind, words.kinds[kind]])}
        />
        <Days page={page} />
      </Filters>
      <Cut page={page} looked={data.looked} found={data.ledger.length} />
      <Table
        page={page}
        label={t.label}
        rows={data.ledger}
        next={data.next}
        empty={
          <Nothing page={page}>
            <p>{t.empty}</p>
          </Nothing>
        }
        columns={[
          { head: t.when, cell: ({ created_at: at }) => <Time at={at} /> },
          { head: t.kind, cell: ({ kind }) => words.kinds[kind] },
          {
            head: t.amount,
            isNumber: true,
            cell: ({ amount }) => <Ltr>{`${amount > 0 ? '+' : '−'}${count(Math.abs(amount))}`}</Ltr>,
          },
          { head: t.reference, cell: ({ reference }) => <Reference reference={reference} page={page} /> },
          { head: t.id, cell: ({ transaction_id: id }) => <Short text={id} /> },
        ]}
      />
    </div>
  )
}

/** An attempt or a payment leads to its page; anything else is what somebody noted. */
function Reference({
  reference,
  page,
}: {
  readonly reference: string
  readonly page: ConsoleContext
}): VNode {
  if (/^att_[0-9a-z]{35}$/.test(reference))
    return (
      <Link to={page.href(`/console/attempts/${reference}`)}>
        <Short text={reference} />
      </Link>
    )
  if (page.signedIn?.admin && /^clm_[0-9a-z]{35}$/.test(reference))
    return (
      <Link to={page.href(`/console/payments/${reference}`)}>
        <Short text={reference} />
      </Link>
    )
  return <Foreign text={reference} max={80} />
}

function Grant({ page }: { readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].ledger
  return (
    <details open={page.refused !== undefined}>
      <summary>{t.grant}</summary>
      <Form page={page} action="grant" class="stack panel">
        <p class="muted small">{t.grantHow}</p>
        <Field page={page} name="amount" label={t.number} type="number" isRequired />
        <Field page={page} name="reference" label={t.noted} help={t.notedHelp} isRequired />
        <Field page={page} name="account_id" label={t.account} help={t.accountHelp} />
        <p>
          <button class="primary">{t.grantAct}</button>
        </p>
      </Form>
    </details>
  )
}
