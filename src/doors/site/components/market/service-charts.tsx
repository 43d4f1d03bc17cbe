// What is known of a service over time, drawn from its days: the same numbers stand in the answer that each chart names as its source.
import type { VNode } from 'preact'
import type { MarketDetail } from '../../../../../schemas/market.ts'
import type { PageContext } from '../../ports.ts'
import { marketTexts } from '../../texts/market.ts'
import { BarChart, LineChart } from '../chart.tsx'
import { count, dateOf, duration, fill, lastDays, percent, usdc } from './format.ts'

type Day = MarketDetail['days'][number]

interface ServiceChartsProps {
  readonly detail: MarketDetail
  /** `2026-11-23` */
  readonly today: string
  readonly page: PageContext
  /** Address of the answer that everything here is drawn from. */
  readonly source: string
}

export function ServiceCharts({ detail, today, page, source }: ServiceChartsProps): VNode {
  const t = marketTexts[page.language]
  const byDate = new Map(detail.days.map((day) => [day.date, day]))
  const dates = lastDays(Date.parse(today))
  const days = dates.map((date) => byDate.get(date))
  const isCalled = detail.days.some((day) => day.settled_calls + day.failed_calls > 0)
  const isLookedAt = detail.days.some((day) => day.probes_up + day.probes_down > 0)
  const isPaid = detail.days.some((day) => day.latency.length > 0)
  const paid = days.map((day) => day?.settled_calls ?? 0)
  const failed = days.map((day) => day?.failed_calls ?? 0)
  const total = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0)
  const buckets = histogramOf(detail.days)
  if (!isCalled && !isLookedAt) return <p class="muted">{t.noCharts}</p>
  return (
    <>
      <div class="charts">
        <BarChart
          page={page}
          title={t.callsByDay}
          label={fill(t.callsByDayLabel, {
            n: count(total(paid)),
            f: count(total(failed)),
            m: count(Math.max(0, ...paid.map((one, at) => one + (failed[at] ?? 0)))),
          })}
          times={isCalled ? dates : []}
          series={[
            { name: t.paid, values: isCalled ? paid : [] },
            { name: t.failed, values: isCalled ? failed : [] },
          ]}
          source={`${source}#/days`}
        />
        <LineChart
          page={page}
          title={t.latencyByDay}
          label={t.latencyByDayLabel}
          times={isPaid ? dates : []}
          series={[
            { name: t.median, values: days.map((day) => percentileOf(day, 0.5)) },
            { name: t.p95, values: days.map((day) => percentileOf(day, 0.95)) },
          ]}
          format={duration}
          source={`${source}#/days`}
        />
        <LineChart
          page={page}
          title={t.uptimeByDay}
          label={t.uptimeByDayLabel}
          times={isLookedAt ? dates : []}
          series={[{ name: t.figures.uptime, values: days.map(uptimeOf) }]}
          format={percent}
          top={1}
          source={`${source}#/days`}
        />
        <BarChart
          page={page}
          title={t.histogram}
          label={fill(t.histogramLabel, { n: count(total(buckets.map(({ calls }) => calls))) })}
          times={buckets.map(({ up_to_ms }) => `≤ ${duration(up_to_ms)}`)}
          series={[{ name: t.figures.calls, values: buckets.map(({ calls }) => calls) }]}
          source={`${source}#/days`}
        />
      </div>
      {isCalled && <p class="small muted">{t.allCount}</p>}
    </>
  )
}

/** The prices of one route through all versions: each holds until the next. */
export function PriceHistory({ detail, today, page, source }: ServiceChartsProps): VNode {
  const t = marketTexts[page.language]
  const [route] = detail.service.routes
  const newestFirst = detail.price_history.flatMap(({ since, prices }) => {
    const price = prices.find(({ method, path }) => method === route?.method && path === route.path)
    return since === null || !price ? [] : [{ date: dateOf(since), amount: Number(price.amount_atomic) }]
  })
  const versions = newestFirst.toReversed()
  const [first] = versions
  const last = versions.at(-1)
  if (!first || !last || !route) return <p class="small muted">{t.priceFixed}</p>
  const steps = [...versions, { date: today, amount: last.amount }]
  const name = `${route.method} ${route.path}`
  return (
    <LineChart
      page={page}
      title={`${t.priceHistory}, ${name.slice(0, 80)}`}
      label={fill(t.priceHistoryLabel, {
        r: name,
        n: versions.length,
        d: first.date,
        p: usdc(last.amount),
      })}
      times={steps.map(({ date }) => date)}
      series={[{ name: 'USDC', values: steps.map(({ amount }) => amount) }]}
      format={(value) => usdc(Math.round(value))}
      isStepped
      source={`${source}#/price_history`}
    />
  )
}

/** The upper bound of the bucket that holds this share of the day's settled calls. */
function percentileOf(day: Day | undefined, share: number): number | null {
  const known = day?.latency.reduce((sum, { calls }) => sum + calls, 0) ?? 0
  let seen = 0
  for (const { up_to_ms, calls } of day?.latency ?? []) {
    seen += calls
    if (seen >= Math.ceil(known * share)) return up_to_ms
  }
  return null
}

const uptimeOf = (day: Day | undefined): number | null => {
  const looks = (day?.probes_up ?? 0) + (day?.probes_down ?? 0)
  return looks === 0 || !day ? null : day.probes_up / looks
}

/** Calls of all days by bucket, from the fastest to the slowest that has any. */
function histogramOf(days: readonly Day[]): readonly { up_to_ms: number; calls: number }[] {
  const calls = new Map<number, number>()
  for (const { latency } of days)
    for (const bucket of latency) calls.set(bucket.up_to_ms, (calls.get(bucket.up_to_ms) ?? 0) + bucket.calls)
  return [...calls].sort(([a], [b]) => a - b).map(([up_to_ms, calls]) => ({ up_to_ms, calls }))
}
