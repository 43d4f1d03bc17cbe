// Revenue of the installation by day, tool and payer, for its operator; and for everybody what the credits of their account were for.
import type { VNode } from 'preact'
import { facilitatorIdentity } from '../../../../tools/facilitator-identity.ts'
import { BarChart } from '../../site/components/chart.tsx'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { count, fill, percent, usdc } from '../../site/components/market/format.ts'
import { isUsdc } from '../../site/story.ts'
import { Figures } from '../components/figures.tsx'
import { Money, Short } from '../components/payment.tsx'
import { Choice, Filters } from '../components/records.tsx'
import { Table } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import {
  type Credits,
  daysUntil,
  type Period,
  PERIODS,
  readCredits,
  readRevenue,
  type Revenue,
  type Sum,
} from '../records/money.ts'
import * as read from '../records/query.ts'
import { consoleTexts } from '../texts/common.ts'
import { moneyTexts } from '../texts/money.ts'

const WHICH = ['real', 'test'] as const

interface MoneyData {
  readonly period: Period
  /** Of the operator of the installation alone. */
  readonly revenue: Revenue | null
  readonly money: (typeof WHICH)[number]
  /** Networks whose money is counted. */
  readonly networks: readonly string[]
  /** Kinds of money that are taken at all. */
  readonly kinds: readonly (typeof WHICH)[number][]
  readonly credits: Credits
}

export const page = defineConsolePage<MoneyData>({
  isWide: true,
  async load({ query, console, signedIn, call }) {
    const { store, now } = console
    const period = PERIODS.find((days) => String(days) === query.get('period')) ?? 30
    const days = daysUntil(now(), period)
    const credits = await readCredits(store, signedIn.accountId, days)
    if (!signedIn.admin) return { period, revenue: null, money: 'real', networks: [], kinds: [], credits }
    const known = facilitatorIdentity.output.parse(await call(facilitatorIdentity.name, {})).networks
    const kinds = WHICH.filter((which) => known.some((network) => network.revenue === (which === 'real')))
    const money = read.oneOf(query, 'money', WHICH) ?? kinds[0] ?? 'real'
    const isTest = (network: string) => known.find((one) => one.network === network)?.revenue === false
    const isCounted = (network: string) => isTest(network) === (money === 'test')
    const revenue = await readRevenue(store, days, isCounted, isUsdc)
    const networks = known.filter(({ network }) => isCounted(network)).map(({ name }) => name)
    return { period, revenue, money, networks, kinds, credits }
  },
  title: (_data, { language }) => consoleTexts[language].pages.money,
  View: ({ data, page }) => <Report data={data} page={page} />,
})

function Report({ data, page }: { readonly data: MoneyData; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language]
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{consoleTexts[page.language].pages.money}</h1>
        <p class="muted">
          {data.revenue ? t.revenue.intro : t.revenue.credits} {t.utc}
        </p>
      </header>
      <Filters page={page}>
        <Choice
          page={page}
          name="period"
          label={t.period}
          usual={String(data.period)}
          options={PERIODS.map((days) => [String(days), t.periods[days]])}
        />
        {data.kinds.length > 1 && (
          <Choice
            page={page}
            name="money"
            label={t.revenue.which}
            usual={data.money}
            options={WHICH.map((which) => [which, t.revenue[which]])}
          />
        )}
      </Filters>
      {data.revenue && <Paid data={data} revenue={data.revenue} page={page} />}
      <CreditsReport data={data} page={page} />
    </div>
  )
}

function Paid({
  data,
  revenue,
  page,
}: {
  readonly data: MoneyData
  readonly revenue: Revenue
  readonly page: ConsoleContext
}): VNode {
  const t = moneyTexts[page.language].revenue
  const since = revenue.days[0]?.date ?? ''
  const source = page.href(`/console/payments?state=settled&origin=tool&since=${since}`)
  const paid = revenue.days.map((day) => Number(day.paid))
  const hasAny = revenue.payments > 0
  const times = revenue.days.map(({ date }) => date)
  return (
    <section class="stack" aria-labelledby="revenue">
      <h2 id="revenue">{consoleTexts[page.language].pages.money}</h2>
      <p class="small muted">
        {data.networks.join(', ')}. {page.isSandbox && t.sandbox}
      </p>
      <Figures
        figures={[
          [`${t.net} (USDC)`, <Money atomic={BigInt(revenue.paid) - BigInt(revenue.refunded)} />],
          [t.paid, <Money atomic={revenue.paid} />],
          [t.refunded, <Money atomic={revenue.refunded} />],
          [t.payments, <Ltr>{count(revenue.payments)}</Ltr>],
          [t.payers, <Ltr>{count(revenue.payer_count)}</Ltr>],
        ]}
      />
      {hasAny ? (
        <>
          <div class="charts">
            <BarChart
              page={page}
              title={t.byDay}
              label={fill(t.byDayLabel, {
                n: usdc(revenue.paid),
                r: usdc(revenue.refunded),
                d: data.period,
                m: usdc(Math.max(0, ...paid)),
              })}
              times={times}
              series={[{ name: t.paid, values: paid }]}
              format={(value) => usdc(Math.round(value))}
              source={source}
            />
            <BarChart
              page={page}
              title={t.countByDay}
              label={fill(t.countByDayLabel, { n: count(revenue.payments), d: data.period })}
              times={times}
              series={[{ name: t.payments, values: revenue.days.map(({ payments }) => payments) }]}
              source={source}
            />
          </div>
          <div class="console-two">
            <Sums
              page={page}
              title={t.byTool}
              head={t.tool}
              total={revenue.paid}
              rows={revenue.tools}
              nameOf={({ tool }) => tool}
            />
            <Sums
              page={page}
              title={t.byPayer}
              head={t.payer}
              total={revenue.paid}
              rows={revenue.payers}
              nameOf={({ payer }) => payer}
              note={
                revenue.payer_count > revenue.payers.length
                  ? fill(t.topPayers, { n: revenue.payers.length })
                  : undefined
              }
            />
          </div>
        </>
      ) : (
        <p class="console-empty">{t.none}</p>
      )}
      <p class="small muted">
        {t.source} {revenue.left_out > 0 && fill(t.notUsdc, { n: revenue.left_out })}{' '}
        <Link to={source}>{t.sourceAct}</Link>
      </p>
    </section>
  )
}

interface SumsProps<T> {
  readonly page: ConsoleContext
  readonly title: string
  readonly head: string
  readonly rows: readonly T[]
  readonly total: string
  readonly note?: string | undefined
  nameOf(row: T): string
}

/** What each brought, most first. */
function Sums<T extends Sum>({ page, title, head, rows, total, note, nameOf }: SumsProps<T>): VNode {
  const t = moneyTexts[page.language].revenue
  const field = head === t.tool ? 'tool' : 'payer'
  return (
    <section class="panel stack">
      <h3>{title}</h3>
      <Table
        page={page}
        label={title}
        rows={rows}
        empty={t.none}
        columns={[
          {
            head,
            cell: (row) => (
              <Link
                to={page.href(
                  `/console/payments?${new URLSearchParams({ [field]: nameOf(row) }).toString()}`,
                )}
              >
                {field === 'payer' ? (
                  <Short text={nameOf(row)} />
                ) : (
                  <Foreign text={nameOf(row)} max={48} class="mono small" />
                )}
              </Link>
            ),
          },
          { head: t.payments, isNumber: true, cell: ({ payments }) => <Ltr>{count(payments)}</Ltr> },
          { head: t.paid, isNumber: true, cell: ({ paid }) => <Money atomic={paid} /> },
          { head: t.refunded, isNumber: true, cell: ({ refunded }) => <Money atomic={refunded} /> },
          {
            head: t.share,
            isNumber: true,
            cell: ({ paid }) => <Ltr>{percent(total === '0' ? null : Number(paid) / Number(total))}</Ltr>,
          },
        ]}
      />
      {note !== undefined && <p class="small muted">{note}</p>}
    </section>
  )
}

function CreditsReport({ data, page }: { readonly data: MoneyData; readonly page: ConsoleContext }): VNode {
  const { credits } = data
  const words = moneyTexts[page.language]
  const t = words.revenue
  const hasAny = credits.kinds.length > 0
  const source = page.href(`/console/ledger?since=${credits.days[0]?.date ?? ''}`)
  return (
    <section class="stack" aria-labelledby="credits">
      <h2 id="credits">{consoleTexts[page.language].pages.ledger}</h2>
      <div class="console-two">
        <BarChart
          page={page}
          title={t.creditsByDay}
          label={fill(t.creditsByDayLabel, {
            t: count(credits.taken),
            a: count(credits.added),
            d: data.period,
          })}
          times={hasAny ? credits.days.map(({ date }) => date) : []}
          series={[{ name: t.taken, values: hasAny ? credits.days.map(({ taken }) => taken) : [] }]}
          source={source}
        />
        <section class="panel stack">
          <h3>{t.byKind}</h3>
          <Table
            page={page}
            label={t.byKind}
            rows={credits.kinds}
            empty={t.none}
            columns={[
              {
                head: words.ledger.kind,
                cell: ({ kind }) => (
                  <Link to={page.href(`/console/ledger?kind=${kind}`)}>{words.kinds[kind]}</Link>
                ),
              },
              { head: t.movements, isNumber: true, cell: ({ movements }) => <Ltr>{count(movements)}</Ltr> },
              { head: t.taken, isNumber: true, cell: ({ taken }) => <Ltr>{count(taken)}</Ltr> },
              { head: t.added, isNumber: true, cell: ({ added }) => <Ltr>{count(added)}</Ltr> },
            ]}
          />
        </section>
      </div>
      <p class="small muted">
        {t.creditsSource} <Link to={source}>{t.creditsAct}</Link>
      </p>
    </section>
  )
}
