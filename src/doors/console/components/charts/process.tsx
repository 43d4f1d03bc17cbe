// What this process counted of every call in the last hour, and what it does without being called. For who looks after the installation.
import type { VNode } from 'preact'
import type { LastHour } from '../../../../core/call-watch.ts'
import type { UpkeepRun } from '../../../../core/upkeep.ts'
import { BarChart, LineChart } from '../../../site/components/chart.tsx'
import { Link } from '../../../site/components/link.tsx'
import { State } from '../../../site/components/state.tsx'
import type { ConsoleContext } from '../../ports.ts'
import type { ChartsTexts } from '../../texts/charts.ts'
import { Time } from '../table.tsx'
import { Figures, Plain } from './parts.tsx'

/** The newest rotation of the wrapping key (schemas/authority.ts). */
export interface Rotation {
  readonly rotation_id: string
  readonly state: 'running' | 'done' | 'failed'
  readonly rewrapped: number
  readonly total: number | null
  readonly started_at: string
}

interface ProcessProps {
  readonly calls: LastHour
  readonly upkeep: readonly UpkeepRun[]
  readonly rotation: Rotation | null
  readonly page: ConsoleContext
  readonly t: ChartsTexts
}

const MOST = 12

export function Process({ calls, upkeep, rotation, page, t }: ProcessProps): VNode {
  const times = calls.minutes.map(({ at }) => `${new Date(at).toISOString().slice(11, 16)} UTC`)
  const [before = '', after = ''] = t.hereLead.split('{time}')
  return (
    <>
      <section class="stack">
        <h2>{t.here}</h2>
        <p class="muted">
          {before}
          <Time at={calls.since} />
          {after}
        </p>
        <Figures
          figures={[
            [t.calls, calls.delivered + calls.refused],
            [t.delivered, calls.delivered],
            [t.refused, calls.refused],
            [`${t.p50} (${t.ms})`, calls.p50Ms],
            [`${t.p95} (${t.ms})`, calls.p95Ms],
            [`${t.p99} (${t.ms})`, calls.p99Ms],
          ]}
        />
        <div class="charts-two">
          <BarChart
            page={page}
            title={t.calls}
            label={t.callsLabel}
            times={times}
            series={[
              { name: t.delivered, values: calls.minutes.map(({ delivered }) => delivered) },
              { name: t.refused, values: calls.minutes.map(({ refused }) => refused) },
            ]}
          />
          <LineChart
            page={page}
            title={`${t.callTook} (${t.ms})`}
            label={t.callTookLabel}
            times={times}
            series={[
              { name: t.p50, values: calls.minutes.map(({ p50Ms }) => p50Ms) },
              { name: t.p95, values: calls.minutes.map(({ p95Ms }) => p95Ms) },
            ]}
          />
        </div>
        <div class="charts-two">
          <div class="stack">
            <h3>{t.refusals}</h3>
            {calls.refusals.length === 0 ? (
              <p class="muted">{t.noRefusals}</p>
            ) : (
              <Plain
                label={t.refusals}
                heads={[t.outcome, t.count]}
                rows={calls.refusals.slice(0, MOST).map(({ code, count }) => [
                  <Link to={page.href(`/console/live?code=${code}`)}>
                    <code>{code}</code>
                  </Link>,
                  count,
                ])}
              />
            )}
          </div>
          <div class="stack">
            <h3>{t.tools}</h3>
            <Plain
              label={t.tools}
              heads={[t.tool, t.delivered, t.refused, t.p50, t.p99]}
              rows={calls.tools
                .slice(0, MOST)
                .map(({ tool, delivered, refused, p50Ms, p99Ms }) => [
                  <code>{tool}</code>,
                  delivered,
                  refused,
                  p50Ms,
                  p99Ms,
                ])}
            />
          </div>
        </div>
      </section>
      <section class="stack">
        <h2>{t.jobs}</h2>
        <p class="muted">
          {t.jobsLead} <Link to={page.href('/status')}>{t.status}</Link>
        </p>
        {upkeep.length === 0 ? (
          <p class="muted">{t.noJobs}</p>
        ) : (
          <Plain
            label={t.jobs}
            heads={[t.job, t.state, t.last, t.ms, t.failures]}
            rows={upkeep.map(({ name, failed, startedAt, ms, failures }) => [
              t.jobNames[name] ?? name,
              <State is={failed === null ? 'done' : 'failed'} page={page} words={failed ?? t.well} />,
              <Time at={startedAt} />,
              ms,
              failures,
            ])}
          />
        )}
        <h3>{t.rotation}</h3>
        {rotation === null ? (
          <p class="muted">{t.noRotation}</p>
        ) : (
          <p>
            <State is={ROTATION[rotation.state]} page={page} />{' '}
            {t.rewrapped
              .replace('{n}', String(rotation.rewrapped))
              .replace('{total}', String(rotation.total ?? '–'))}{' '}
            <Time at={rotation.started_at} />
          </p>
        )}
      </section>
    </>
  )
}

const ROTATION = { running: 'waiting', done: 'done', failed: 'failed' } as const
