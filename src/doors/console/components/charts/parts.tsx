// Numbers in a row, and a table of few rows, as the charts' page has them.
import type { ComponentChildren, VNode } from 'preact'
import { Ltr } from '../../../site/components/foreign.tsx'
import { Scrolling } from '../../../site/components/state.tsx'

const numberText = (value: number | null) => (value === null ? '–' : value.toLocaleString('en'))

/** One number after the other, each with its name. */
export const Figures = ({
  figures,
}: {
  readonly figures: readonly (readonly [name: string, value: number | null])[]
}): VNode => (
  <dl class="figures">
    {figures.map(([name, value]) => (
      <div class="figure">
        <dt class="small muted">{name}</dt>
        <dd class="figure-number">
          <Ltr>{numberText(value)}</Ltr>
        </dd>
      </div>
    ))}
  </dl>
)

/** A short table: the first column names its row, and numbers stand at its end. */
export const Plain = ({
  label,
  heads,
  rows,
}: {
  readonly label: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly (number | null | Exclude<ComponentChildren, number | null>)[])[]
}): VNode => {
  const isNumber = (at: number) => rows.every((row) => row[at] === null || typeof row[at] === 'number')
  return (
    <Scrolling label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head, at) => (
              <th scope="col" class={isNumber(at) ? 'number' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...others]) => (
            <tr>
              <th scope="row">{first}</th>
              {others.map((cell, at) => (
                <td class={isNumber(at + 1) ? 'number' : undefined}>
                  {cell === null || typeof cell === 'number' ? <Ltr>{numberText(cell)}</Ltr> : cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  )
}
