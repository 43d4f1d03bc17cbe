// Pictures of numbers, drawn on the server. The picture stretches and its words do not: lines and bars are SVG without text, scale and
// times stand around it as text. Time runs from left to right in every language, and the numbers themselves are a table below.
import type { VNode } from 'preact'
import type { PageContext } from '../ports.ts'
import { chartTexts } from '../texts/chart.ts'
import { Link } from './link.tsx'
import { Scrolling } from './state.tsx'

/** One line, or one part of each bar. Null and what is no number are gaps. */
export interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

export interface ChartProps {
  readonly page: Pick<PageContext, 'language'>
  /** What it is called; the table has the same name. */
  readonly title: string
  /** What it shows in a sentence, for who does not see it. */
  readonly label: string
  /** What stands under each value, in order: a day, a bucket. */
  readonly times: readonly string[]
  /** At most two: the second is told from the first by its pattern, not by its colour alone. */
  readonly series: readonly Series[]
  readonly format?: (value: number) => string
  /** Where the numbers come from. */
  readonly source?: string
  /** Upper end of the scale; the least round number above all values otherwise. */
  readonly top?: number
}

/** Lines over time. A value beside gaps is a dot. */
export function LineChart({ isStepped, ...chart }: ChartProps & { readonly isStepped?: boolean }): VNode {
  const { times, series } = chart
  const top = topOf(chart)
  const x = (at: number) => round(times.length < 2 ? WIDTH / 2 : (at / (times.length - 1)) * WIDTH)
  return (
    <Frame {...chart} top={top}>
      {series.map(({ values }, at) => {
        const points = values.map((value, i) =>
          isNumber(value) ? { x: x(i), y: heightOf(value, top) } : null,
        )
        return (
          <>
            <path class={`chart-line-${at}`} d={pathOf(points, isStepped)} />
            <path class={`chart-dots-${at}`} d={dotsOf(points)} />
          </>
        )
      })}
    </Frame>
  )
}

/** Bars over times or buckets; the parts of a bar stand on each other. */
export function BarChart(chart: ChartProps): VNode {
  const { times, series } = chart
  const top = topOf({ ...chart, series: [{ name: '', values: sumsOf(chart) }] })
  const slot = WIDTH / Math.max(times.length, 1)
  return (
    <Frame {...chart} top={top}>
      {series.map(({ values }, part) => {
        const bars = times.flatMap((_, at) => {
          const value = values[at]
          if (!isNumber(value) || value <= 0) return []
          const below = series.slice(0, part).reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
          const [foot, head] = [heightOf(below, top), heightOf(below + value, top)]
          const [left, right] = [round((at + 0.14) * slot), round((at + 0.86) * slot)]
          return `M${left} ${foot}V${head}H${right}V${foot}Z`
        })
        return <path class={`chart-bar-${part}`} d={bars.join('')} />
      })}
    </Frame>
  )
}

const WIDTH = 600
const HEIGHT = 160

const isNumber = (value: number | null | undefined): value is number => Number.isFinite(value)
const round = (value: number) => Math.round(value * 10) / 10
const heightOf = (value: number, top: number) => round(HEIGHT * (1 - Math.min(Math.max(value / top, 0), 1)))

const sumsOf = ({ times, series }: Pick<ChartProps, 'times' | 'series'>) =>
  times.map((_, at) =>
    series.reduce((sum, { values }) => sum + (isNumber(values[at]) ? (values[at] ?? 0) : 0), 0),
  )

/** The least of 1, 2 and 5 times a power of ten that no value is above. */
function topOf({ series, top }: Pick<ChartProps, 'series' | 'top'>): number {
  if (top !== undefined) return top
  let most = 0
  for (const { values } of series)
    for (const value of values) if (isNumber(value)) most = Math.max(most, value)
  if (most <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((step) => step * power).find((round) => round >= most) ?? most
}

type Point = { readonly x: number; readonly y: number } | null

/** A new stroke begins behind each gap. */
function pathOf(points: readonly Point[], isStepped = false): string {
  let before: Point = null
  return points
    .map((point) => {
      const from = before
      before = point
      if (!point) return ''
      if (!from) return `M${point.x} ${point.y}`
      return isStepped === true ? `H${point.x}V${point.y}` : `L${point.x} ${point.y}`
    })
    .join('')
}

/** Dots where a line would be too short to be seen, and at its newest value. */
const dotsOf = (points: readonly Point[]) => {
  const last = points.findLastIndex((point) => point !== null)
  return points
    .map((point, at) => {
      const isAlone = !points[at - 1] && !points[at + 1]
      return point && (isAlone || at === last) ? `M${point.x} ${point.y}h0` : ''
    })
    .join('')
}

function Frame({
  page,
  title,
  label,
  times,
  series,
  format = (value) => value.toLocaleString('en'),
  source,
  top,
  children,
}: ChartProps & { readonly top: number; readonly children: VNode[] }): VNode {
  const t = chartTexts[page.language]
  const isEmpty = !series.some(({ values }) => values.some(isNumber))
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        {series.length > 1 &&
          series.map(({ name }, at) => (
            <span class="chart-key">
              <svg viewBox="0 0 16 8" width="16" height="8" aria-hidden="true" focusable="false">
                <path class={`chart-key-${at}`} d="M0 4h16" />
              </svg>
              {name}
            </span>
          ))}
      </figcaption>
      {isEmpty ? (
        <p class="chart-empty muted">{t.empty}</p>
      ) : (
        <div class="chart-plot" dir="ltr">
          <span class="chart-top" aria-hidden="true">
            {format(top)}
          </span>
          <svg
            role="img"
            aria-label={label}
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            width={WIDTH}
            height={HEIGHT}
            preserveAspectRatio="none"
          >
            <path class="chart-grid" d={`M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
            {children}
          </svg>
          <span class="chart-first" aria-hidden="true">
            {times[0]}
          </span>
          <span class="chart-last" aria-hidden="true">
            {times.length > 1 ? times.at(-1) : ''}
          </span>
        </div>
      )}
      <div class="chart-below">
        {!isEmpty && (
          <details>
            <summary>{t.numbers}</summary>
            <Scrolling label={title}>
              <table>
                <caption class="visually-hidden">{title}</caption>
                <thead>
                  <tr>
                    <th scope="col">{t.at}</th>
                    {series.map(({ name }) => (
                      <th scope="col" class="number">
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {times.map((time, at) => (
                    <tr>
                      <th scope="row">
                        <bdi dir="ltr">{time}</bdi>
                      </th>
                      {series.map(({ values }) => {
                        const value = values[at]
                        return (
                          <td class="number">
                            <bdi dir="ltr">{isNumber(value) ? format(value) : '–'}</bdi>
                          </td>
                        )
                      })}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scrolling>
          </details>
        )}
        {source !== undefined && (
          <p class="small">
            <Link to={source}>{t.source}</Link>
          </p>
        )}
      </div>
    </figure>
  )
}
