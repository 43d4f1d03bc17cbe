// Charts at the ends of what they are given.
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { BarChart, type ChartProps, LineChart } from '../../../src/doors/site/components/chart.tsx'

const page = { language: 'en' } as const
const chart = (values: readonly (number | null)[], over: Partial<ChartProps> = {}): ChartProps => ({
  page,
  title: 'Calls',
  label: 'Calls of each day',
  times: values.map((_, at) => `day ${at}`),
  series: [{ name: 'calls', values }],
  ...over,
})
const pathOf = (drawn: VNode, name: string) =>
  new RegExp(`class="${name}" d="([^"]*)"`).exec(renderToString(drawn))?.[1]
const line = (values: readonly (number | null)[], over: Partial<ChartProps> = {}) => (
  <LineChart {...chart(values, over)} />
)
const bars = (values: readonly (number | null)[], over: Partial<ChartProps> = {}) => (
  <BarChart {...chart(values, over)} />
)

describe('a line', () => {
  it('runs from the first to the last value, on a round scale', () => {
    expect(pathOf(line([0, 3, 5]), 'chart-line-0')).toBe('M0 160L300 64L600 0')
    expect(renderToString(line([0, 3, 7]))).toContain('>10</span>')
  })

  it('breaks at gaps, and shows a value between gaps as a dot', () => {
    expect(pathOf(line([1, 1, null, 1, null]), 'chart-line-0')).toBe('M0 0L150 0M450 0')
    expect(pathOf(line([1, 1, null, 1, null]), 'chart-dots-0')).toBe('M450 0h0')
  })

  it('has a dot where it is too short to be seen, and at its newest value', () => {
    expect(pathOf(line([1, null, 1, 1]), 'chart-dots-0')).toBe('M0 0h0M600 0h0')
  })

  it('stands in the middle where there is one value', () => {
    expect(pathOf(line([4]), 'chart-dots-0')).toBe('M300 32h0')
  })

  it('goes in steps where a value holds until the next', () => {
    expect(pathOf(<LineChart {...chart([1, 2])} isStepped />, 'chart-line-0')).toBe('M0 80H600V0')
  })

  it('is level where all values are equal, at zero too', () => {
    expect(pathOf(line([2, 2]), 'chart-line-0')).toBe('M0 0L600 0')
    expect(pathOf(line([0, 0]), 'chart-line-0')).toBe('M0 160L600 160')
  })
})

describe('bars', () => {
  it('stand on each other, and leave out what is nothing', () => {
    const drawn = bars([2, 0, null], {
      series: [
        { name: 'counted', values: [2, 0, null] },
        { name: 'excluded', values: [2, 0, 4] },
      ],
    })
    expect(pathOf(drawn, 'chart-bar-0')).toBe('M28 160V96H172V160Z')
    expect(pathOf(drawn, 'chart-bar-1')).toBe('M28 96V32H172V96ZM428 160V32H572V160Z')
  })
})

describe('either', () => {
  it.each([
    ['nothing', []],
    ['gaps alone', [null, null]],
    ['no numbers', [Number.NaN, Number.POSITIVE_INFINITY]],
  ])('says that there is nothing to draw, of %s', (_name, values) => {
    for (const html of [renderToString(line(values)), renderToString(bars(values))]) {
      expect(html).toContain('Nothing to draw yet.')
      expect(html).not.toMatch(/role="img"|<details|NaN|Infinity/)
    }
  })

  it.each([[[1e300, 5e299]], [[Number.MAX_VALUE, 1]], [[5e-324, 0]], [[-4, 9]]])(
    'stays within its picture, of %j',
    (values) => {
      for (const drawn of [line(values), bars(values)]) {
        const paths = [...renderToString(drawn).matchAll(/class="chart-(?:line|dots|bar)-0" d="([^"]*)"/g)]
        expect(paths.length).toBeGreaterThan(0)
        for (const [, path] of paths) {
          expect(path).not.toMatch(/NaN|Infinity|e/)
          for (const number of path?.match(/-?[\d.]+/g) ?? []) {
            expect(Number(number)).toBeGreaterThanOrEqual(0)
            expect(Number(number)).toBeLessThanOrEqual(600)
          }
          for (const [, height] of path?.matchAll(/(?: |V)([\d.]+)/g) ?? [])
            expect(Number(height)).toBeLessThanOrEqual(160)
        }
      }
    },
  )

  it('has a sentence for who does not see it, its numbers as a table, and no style of its own', () => {
    const html = renderToString(line([1, null], { source: '/v1/x', format: (value) => `${value} ms` }))
    expect(html).toContain('role="img" aria-label="Calls of each day"')
    expect(html).toMatch(/<details>.*<th scope="row"><bdi dir="ltr">day 0<\/bdi><\/th>.*1 ms.*–.*<\/details>/)
    expect(html).toContain('href="/v1/x"')
    expect(html).not.toContain('style=')
  })

  it('runs from left to right in Arabic too, with Arabic words around it', () => {
    const html = renderToString(line([1, 2], { page: { language: 'ar' } }))
    expect(html).toContain('class="chart-plot" dir="ltr"')
    expect(html).toContain('الأرقام')
  })

  it('shows names of strangers as text', () => {
    expect(renderToString(line([1], { title: '<script>alert(1)</script>' }))).not.toContain('<script')
  })
})
