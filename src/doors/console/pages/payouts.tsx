// What sellers are owed, what they were paid, and the proof of both on their chains and in the ledger.
import type { VNode } from 'preact'
import type { z } from 'zod'
import type { PayoutOverview, PayoutPage, PayoutProof } from '../../../../schemas/market-money.ts'
import { marketplacePayouts } from '../../../../tools/marketplace-payouts.ts'
import { marketplacePayoutsRun } from '../../../../tools/marketplace-payouts-run.ts'
import { marketplacePayoutsState } from '../../../../tools/marketplace-payouts-state.ts'
import { marketplacePayoutsVerify } from '../../../../tools/marketplace-payouts-verify.ts'
import { GatewayError } from '../../../core/errors.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { atomicOf, fill } from '../../site/components/market/format.ts'
import { State, type StateName } from '../../site/components/state.tsx'
import { nameNetwork } from '../../site/story.ts'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { Money, Short } from '../components/payment.tsx'
import { Facts } from '../components/records.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { PAGE_ROWS } from '../records/fill.ts'
import * as read from '../records/query.ts'
import { consoleTexts } from '../texts/common.ts'
import { moneyTexts } from '../texts/money.ts'
import { paymentTexts } from '../texts/payments.ts'

type Proof = z.output<typeof PayoutProof>
const RUN_STATES = ['done', 'running', 'busy', 'no_account'] as const

interface PayoutsData extends z.output<typeof PayoutPage> {
  readonly overview: z.output<typeof PayoutOverview>
  /** Where somebody has just asked for it. */
  readonly proof: Proof | null
  /** Of the run that was just asked for. */
  readonly run: (typeof RUN_STATES)[number] | null
}

async function load({ call, query }: SignedInRequest): Promise<PayoutsData> {
  const before = read.cursor(query)
  const [overview, payouts] = await Promise.all([
    call(marketplacePayoutsState.name, {}),
    call(marketplacePayouts.name, { limit: PAGE_ROWS, ...(before !== undefined && { before }) }),
  ])
  return {
    overview: marketplacePayoutsState.output.parse(overview),
    ...marketplacePayouts.output.parse(payouts),
    proof: null,
    run: read.oneOf(query, 'done', RUN_STATES) ?? null,
  }
}

export const page = defineConsolePage<PayoutsData>({
  isWide: true,
  load,
  actions: {
    async run(form, { call, language }) {
      const typed = form.get('minimum')?.trim() ?? ''
      const minimum = typed === '' ? undefined : atomicOf(typed)
      if (typed !== '' && minimum === undefined)
        throw new GatewayError('input_invalid', paymentTexts[language].amountInvalid)
      const run = await call(marketplacePayoutsRun.name, {
        ...(minimum !== undefined && { minimum_atomic: Number(minimum) }),
      })
      return { goTo: `/console/payouts?done=${marketplacePayoutsRun.output.parse(run).state}` }
    },
    async verify(_form, request) {
      const proof = marketplacePayoutsVerify.output.parse(
        await request.call(marketplacePayoutsVerify.name, { limit: 50 }),
      )
      return { show: { ...(await load(request)), proof } }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.payouts,
  View: ({ data, page }) => <Payouts data={data} page={page} />,
})

function Payouts({ data, page }: { readonly data: PayoutsData; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].payouts
  const { overview } = data
  const mayAct = page.signedIn?.role === 'owner' || page.signedIn?.role === 'operator'
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{consoleTexts[page.language].pages.payouts}</h1>
        <p class="muted">{t.intro}</p>
      </header>
      {data.run && (
        <p class="notice" role="status">
          {t.states[data.run]}
        </p>
      )}
      <Refusal page={page} />
      {data.proof && <Proven proof={data.proof} page={page} />}
      <section class="stack" aria-labelledby="owed">
        <h2 id="owed">{t.owed}</h2>
        <p>
          <span class="muted">{t.account}</span>{' '}
          {overview.account === null ? t.noAccount : <Ltr class="mono">{overview.account}</Ltr>}
        </p>
        <Table
          page={page}
          label={t.owed}
          rows={overview.networks}
          empty={<p>{t.empty}</p>}
          columns={[
            {
              head: t.network,
              cell: ({ network, held_atomic: held, owed_atomic: owed }) => (
                <>
                  <Foreign text={nameNetwork(network)} max={60} />
                  {held !== null && BigInt(held) < BigInt(owed) && (
                    <span class="sub">
                      <State is="waiting" page={page} words={t.short} />
                    </span>
                  )}
                </>
              ),
            },
            {
              head: t.held,
              isNumber: true,
              cell: ({ held_atomic: held }) => (held === null ? t.silent : <Money atomic={held} />),
            },
            { head: t.owed, isNumber: true, cell: ({ owed_atomic: owed }) => <Money atomic={owed} /> },
            {
              head: t.underWay,
              isNumber: true,
              cell: ({ under_way_atomic: underWay }) => <Money atomic={underWay} />,
            },
            { head: t.cash, isNumber: true, cell: ({ cash_atomic: cash }) => <Money atomic={cash} /> },
            { head: t.fees, isNumber: true, cell: ({ fees_atomic: fees }) => <Money atomic={fees} /> },
            {
              head: t.retained,
              isNumber: true,
              cell: ({ retained_atomic: retained }) => <Money atomic={retained} />,
            },
          ]}
        />
      </section>
      {mayAct && <Acts page={page} canPay={overview.account !== null} />}
      {overview.kept.length > 0 && <Kept data={data} page={page} />}
      <Batches data={data} page={page} />
      <List data={data} page={page} />
    </div>
  )
}

function Acts({ page, canPay }: { readonly page: ConsoleContext; readonly canPay: boolean }): VNode {
  const t = moneyTexts[page.language].payouts
  return (
    <div class="console-two">
      {canPay && (
        <section class="panel stack" aria-labelledby="run">
          <h2 id="run">{t.run}</h2>
          <p class="muted small">{t.runHow}</p>
          <Form page={page} action="run" class="stack">
            <Field page={page} name="minimum" label={t.runMinimum} help={t.runMinimumHelp} />
            <p>
              <button class="dangerous">{t.runAct}</button>
            </p>
          </Form>
        </section>
      )}
      <section class="panel stack" aria-labelledby="verify">
        <h2 id="verify">{t.verify}</h2>
        <p class="muted small">{t.verifyHow}</p>
        <Act page={page} action="verify" label={t.verifyAct} />
      </section>
    </div>
  )
}

function Kept({ data, page }: { readonly data: PayoutsData; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].payouts
  return (
    <section class="stack" aria-labelledby="kept">
      <h2 id="kept">{t.kept}</h2>
      <Table
        page={page}
        label={t.kept}
        rows={data.overview.kept}
        empty=""
        columns={[
          { head: t.seller, cell: ({ seller }) => <Seller seller={seller} page={page} /> },
          { head: t.network, cell: ({ network }) => <Foreign text={nameNetwork(network)} max={60} /> },
          { head: t.why, cell: ({ reason }) => <Ltr class="mono small">{reason}</Ltr> },
          { head: t.since, cell: ({ since }) => <Time at={since} /> },
        ]}
      />
    </section>
  )
}

function Batches({ data, page }: { readonly data: PayoutsData; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].payouts
  return (
    <section class="stack" aria-labelledby="batches">
      <h2 id="batches">{t.batches}</h2>
      <Table
        page={page}
        label={t.batches}
        rows={data.overview.batches}
        empty={<p>{t.noBatches}</p>}
        columns={[
          { head: t.started, cell: ({ created_at: at }) => <Time at={at} /> },
          {
            head: t.finished,
            cell: ({ finished_at: at }) =>
              at === null ? <State is="waiting" page={page} words={t.running} /> : <Time at={at} />,
          },
          { head: t.network, cell: ({ network }) => <Foreign text={nameNetwork(network)} max={60} /> },
          { head: t.period, cell: ({ period }) => <Ltr>{period}</Ltr> },
          { head: t.paid, isNumber: true, cell: ({ paid }) => <Ltr>{String(paid)}</Ltr> },
          { head: t.amount, isNumber: true, cell: ({ paid_atomic: paid }) => <Money atomic={paid} /> },
          {
            head: t.underWay,
            isNumber: true,
            cell: ({ under_way: underWay }) => <Ltr>{String(underWay)}</Ltr>,
          },
          { head: t.failed, isNumber: true, cell: ({ failed }) => <Ltr>{String(failed)}</Ltr> },
        ]}
      />
    </section>
  )
}

function List({ data, page }: { readonly data: PayoutsData; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].payouts
  return (
    <section class="stack" aria-labelledby="payouts">
      <h2 id="payouts">{t.list}</h2>
      <Table
        page={page}
        label={t.list}
        rows={data.payouts}
        next={data.next}
        empty={<p>{t.empty}</p>}
        columns={[
          { head: t.when, cell: ({ paid_at: at }) => <Time at={at} /> },
          { head: t.seller, cell: ({ seller }) => <Seller seller={seller} page={page} /> },
          { head: t.amount, isNumber: true, cell: ({ amount_atomic: amount }) => <Money atomic={amount} /> },
          { head: t.network, cell: ({ network }) => <Foreign text={nameNetwork(network)} max={60} /> },
          { head: t.to, cell: ({ to }) => <Short text={to} /> },
          {
            head: t.transaction,
            cell: ({ transaction }) => (transaction === null ? '–' : <Short text={transaction} />),
          },
          {
            head: t.receipt,
            cell: ({ receipt }) =>
              receipt === null ? (
                '–'
              ) : (
                <Link to={page.href(`/receipts/${receipt.receipt_id}`)}>{t.receipt}</Link>
              ),
          },
        ]}
      />
    </section>
  )
}

const Seller = ({ seller, page }: { readonly seller: string; readonly page: ConsoleContext }): VNode => (
  <Link to={page.href(`/marketplace/${encodeURIComponent(seller)}`)}>
    <Foreign text={seller} max={40} class="mono" />
  </Link>
)

const CHAIN_LOOKS = {
  proven: 'done',
  missing: 'failed',
  unanswered: 'unknown',
} satisfies Record<Proof['payouts'][number]['chain'], StateName>

function Proven({ proof, page }: { readonly proof: Proof; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].payouts
  const count = proof.payouts.length
  const proven = count === 0 ? t.provenNone : fill(t.proven, { n: count })
  const verdict = proof.ok ? proven : t.unproven
  return (
    <section class={`notice stack ${proof.ok ? '' : 'fails'}`} role="status">
      <p>
        <strong>{verdict}</strong>
      </p>
      {proof.ledger.map((ledger) => (
        <Facts
          facts={[
            [t.network, <Foreign text={nameNetwork(ledger.network)} max={60} />],
            [t.sum, <Money atomic={ledger.sum_atomic} />],
            [t.underWay, <Money atomic={ledger.under_way_atomic} />],
            [t.transit, <Money atomic={ledger.transit_atomic} />],
            [t.unbalanced, <Ltr>{String(ledger.unbalanced_accounts)}</Ltr>],
          ]}
        />
      ))}
      {proof.payouts.length > 0 && (
        <Table
          page={page}
          label={t.verify}
          rows={proof.payouts}
          empty=""
          columns={[
            { head: t.seller, cell: ({ seller }) => <Seller seller={seller} page={page} /> },
            {
              head: t.amount,
              isNumber: true,
              cell: ({ amount_atomic: amount }) => <Money atomic={amount} />,
            },
            {
              head: t.transaction,
              cell: ({ chain }) => <State is={CHAIN_LOOKS[chain]} page={page} words={t.chains[chain]} />,
            },
            {
              head: t.receipt,
              cell: ({ receipt }) => (
                <State is={receipt === 'valid' ? 'done' : 'failed'} page={page} words={t.receipts[receipt]} />
              ),
            },
          ]}
        />
      )}
    </section>
  )
}
