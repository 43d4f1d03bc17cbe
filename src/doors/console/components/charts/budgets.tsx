// Budgets and how much of them is used.
import type { VNode } from 'preact'
import type { BudgetState } from '../../../../../schemas/budget.ts'
import { Foreign, Ltr } from '../../../site/components/foreign.tsx'
import { Link } from '../../../site/components/link.tsx'
import type { ConsoleContext } from '../../ports.ts'
import type { ChartsTexts } from '../../texts/charts.ts'
import { Time } from '../table.tsx'
import { Plain } from './parts.tsx'

export interface BudgetRow extends BudgetState {
  /** Of the capability or credential that it is a budget of. */
  readonly id: string
  readonly label: string
}

interface BudgetsProps {
  readonly rows: readonly BudgetRow[]
  readonly page: ConsoleContext
  readonly t: ChartsTexts
}

export const Budgets = ({ rows, page, t }: BudgetsProps): VNode => (
  <section class="stack">
    <h2>{t.budgets}</h2>
    {rows.length === 0 ? (
      <p class="muted">{t.noBudgets}</p>
    ) : (
      <>
        <p class="muted">{t.budgetsLead}</p>
        <Plain
          label={t.budgets}
          heads={[t.holder, t.used, '', t.frees]}
          rows={rows.map((row) => [
            <Link to={page.href(addressOf(row.id))}>
              <Foreign text={row.label} max={60} />
            </Link>,
            <Meter row={row} />,
            <span>
              <Ltr>{`${row.used} / ${row.limit}`}</Ltr> {t.units[row.unit]} {t.periods[row.per]}
            </span>,
            <Time at={row.frees_at} />,
          ])}
        />
      </>
    )}
  </section>
)

const addressOf = (id: string) =>
  id.startsWith('cred_') ? `/console/credentials/${id}` : '/console/capabilities'

const Meter = ({ row }: { readonly row: BudgetRow }): VNode => {
  const [used, limit] = [Number(row.used), Number(row.limit)]
  return (
    <meter
      class="budget-meter"
      min={0}
      max={limit}
      high={limit * 0.8}
      optimum={0}
      value={Math.min(used, limit)}
      aria-label={`${row.used} / ${row.limit}`}
    />
  )
}
