// Requests that went out with a credential: how many, how fast, where to, and why some did not settle.
import type { VNode } from 'preact'
import { BarChart, LineChart } from '../../../site/components/chart.tsx'
import { Ltr } from '../../../site/components/foreign.tsx'
import { Link } from '../../../site/components/link.tsx'
import type { AttemptCharts, Span } from '../../figures.ts'
import type { ConsoleContext } from '../../ports.ts'
import type { ChartsTexts } from '../../texts/charts.ts'
import { Time } from '../table.tsx'
import { Figures, Plain } from './parts.tsx'

interface OutgoingProps {
  readonly data: AttemptCharts & { readonly span: Span; readonly cutAt: number | null }
  readonly page: ConsoleContext
  readonly t: ChartsTexts
}

export function Outgoing({ data, page, t }: OutgoingProps): VNode {
  if (data.attempts === 0)
    return (
      <div class="console-empty">
        <p>{t.none}</p>
        <p>
          <Link to={page.href('/connect')}>{t.connect}</Link>
        </p>
      </div>
    )
  const times = data.slots.map(({ at }) => timeText(at, data.span))
  const [before = '', after = ''] = t.cut.split('{time}')
  return (
    <>
      {data.cutAt !== null && (
        <p class="notice warns">
          {before}
          <Time at={data.cutAt} />
          {after}
        </p>
      )}
      <Figures
        figures={[
          [t.attempts, data.attempts],
          [t.settled, data.settled],
          [t.ambiguous, data.ambiguous],
          [t.refunded, data.refunded],
          [`${t.p50} (${t.ms})`, data.p50],
          [`${t.p95} (${t.ms})`, data.p95],
          [`${t.p99} (${t.ms})`, data.p99],
        ]}
      />
      <div class="charts-two">
        <BarChart
          page={page}
          title={t.attempts}
          label={t.attemptsLabel}
          times={times}
          series={[
            { name: t.settled, values: data.slots.map(({ settled }) => settled) },
            { name: t.others, values: data.slots.map(({ others }) => others) },
          ]}
        />
        <LineChart
          page={page}
          title={`${t.took} (${t.ms})`}
          label={t.tookLabel}
          times={times}
          series={[
            { name: t.p50, values: data.slots.map(({ p50 }) => p50) },
            { name: t.p95, values: data.slots.map(({ p95 }) => p95) },
          ]}
        />
      </div>
      <section class="stack">
        <h2>{t.hosts}</h2>
        <Plain
          label={t.hosts}
          heads={[t.host, t.attempts, t.settled, t.broken, t.ambiguous, t.refunded, t.p50, t.p95, t.p99]}
          rows={data.hosts.map((row) => [
            <Link to={page.href(`/console/attempts?host=${encodeURIComponent(row.host)}`)}>
              <Ltr>{row.host}</Ltr>
            </Link>,
            row.attempts,
            row.settled,
            row.broken,
            row.ambiguous,
            row.refunded,
            row.p50,
            row.p95,
            row.p99,
          ])}
        />
      </section>
      {data.reasons.length > 0 && (
        <section class="stack">
          <h2>{t.reasons}</h2>
          <Plain
            label={t.reasons}
            heads={[t.outcome, t.count]}
            rows={data.reasons.map(({ outcome, count }) => [<code>{outcome}</code>, count])}
          />
        </section>
      )}
    </>
  )
}

/** Short, as it stands below a chart; in UTC, as everything that the server draws. */
function timeText(at: number, span: Span): string {
  const iso = new Date(at).toISOString()
  return span === 'hour' || span === 'day' ? `${iso.slice(11, 16)} UTC` : iso.slice(5, 10)
}
