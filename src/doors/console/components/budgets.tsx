// Budgets: a grid in which they are written, one line each in which they are read.
import type { VNode } from 'preact'
import { BudgetWish, type BudgetState } from '../../../../schemas/budget.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import type { ConsoleContext } from '../ports.ts'
import { budgetTexts } from '../texts/budgets.ts'
import { textOf } from './fields.tsx'

const UNITS = BudgetWish.shape.unit.options
const PERIODS = BudgetWish.shape.per.options

type Wish = BudgetWish
type State = (typeof BudgetState)['_output']

const nameOf = (unit: string, per: string) => `budget.${unit}.${per}`

/** One cell for each unit and period; an empty one is no limit. */
export function BudgetFields({
  page,
  budgets = [],
}: {
  readonly page: ConsoleContext
  readonly budgets?: readonly State[]
}): VNode {
  const t = budgetTexts[page.language]
  return (
    <fieldset class="console-section">
      <legend>{t.legend}</legend>
      <p class="muted small">{t.hint}</p>
      <BudgetGrid page={page} budgets={budgets} />
    </fieldset>
  )
}

/** The grid alone; of the periods that are named, and of those that have a budget. */
export function BudgetGrid({
  page,
  budgets,
  periods = PERIODS,
}: {
  readonly page: ConsoleContext
  readonly budgets: readonly State[]
  readonly periods?: readonly State['per'][]
}): VNode {
  const t = budgetTexts[page.language]
  const known = new Map(budgets.map(({ unit, per, limit }) => [nameOf(unit, per), limit]))
  const shown = PERIODS.filter(
    (period) => periods.includes(period) || budgets.some(({ per }) => per === period),
  )
  return (
    <table class="console-budgets">
      <thead>
        <tr>
          <td />
          {shown.map((per) => (
            <th scope="col">{t.per[per]}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {UNITS.map((unit) => (
          <tr>
            <th scope="row">{t.units[unit]}</th>
            {shown.map((per) => {
              const name = nameOf(unit, per)
              return (
                <td>
                  <input
                    name={name}
                    inputMode="decimal"
                    dir="ltr"
                    autoComplete="off"
                    aria-label={`${t.units[unit]}, ${t.per[per]}`}
                    value={page.refused?.form.get(name) ?? known.get(name) ?? ''}
                  />
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The budgets that a form asks for, as tools take them. */
export const budgetsOf = (form: URLSearchParams): Wish[] =>
  UNITS.flatMap((unit) =>
    PERIODS.flatMap((per) => {
      const limit = textOf(form, nameOf(unit, per))
      return limit === undefined ? [] : [{ unit, per, limit }]
    }),
  )

/** How much of each budget is used, as a bar and in numbers. */
export function BudgetBars({
  page,
  budgets,
}: {
  readonly page: ConsoleContext
  readonly budgets: readonly State[]
}): VNode | null {
  const t = budgetTexts[page.language]
  if (budgets.length === 0) return null
  return (
    <ul class="console-bars">
      {budgets.map(({ unit, per, limit, used }) => (
        <li>
          <span class="small">
            {t.units[unit]}, {t.per[per]}
          </span>
          <meter min={0} max={Number(limit)} value={Number(used)} high={Number(limit) * 0.9} />
          <Ltr class="small">{`${used} / ${limit}`}</Ltr>
        </li>
      ))}
    </ul>
  )
}
