// How the gateway does, drawn from one document; where a script runs, it is fetched anew while somebody looks.
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Language } from '../../routes.ts'
import type { CallFigures, Status } from '../../status.ts'
import type { StatusTexts } from '../../texts/status.ts'
import { BarChart, LineChart } from '../chart.tsx'
import { English } from '../english.tsx'
import { Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { Scrolling, State, type StateName } from '../state.tsx'

export interface BoardProps {
  readonly status: Status
  readonly language: Language
  /** Where the document is. */
  readonly address: string
  /** Addresses of pages about something, with `{name}` in them. */
  readonly problem: string
  readonly tool: string
  readonly catalogue: string
  readonly keys: string
  readonly t: StatusTexts
}

const EVERY_MS = 15_000

const STATES: Readonly<Record<Status['store']['state'], StateName>> = {
  ok: 'done',
  failing: 'failed',
  unknown: 'unknown',
}

/** The whole page below its heading. */
export function Board(props: BoardProps): VNode {
  const { language, address, t } = props
  const [{ status, isStale }, show] = useState({ status: props.status, isStale: false })

  useEffect(() => {
    async function refresh(): Promise<void> {
      // A tab that nobody sees asks for nothing.
      if (document.visibilityState !== 'visible') return
      try {
        const response = await fetch(address, { headers: { accept: 'application/json' } })
        if (!response.ok) throw new Error(String(response.status))
        const status = (await response.json()) as Status
        show({ status, isStale: false })
      } catch {
        show((before) => ({ ...before, isStale: true }))
      }
    }
    const timer = setInterval(() => void refresh(), EVERY_MS)
    const onVisible = () => void refresh()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [address])

  const isGood = status.status === 'ok'
  const page = { language }
  return (
    <div class="stack board">
      <div class={isGood ? 'notice board-word' : 'notice fails board-word'} role="status">
        <p>
          <State is={isGood ? 'done' : 'failed'} page={page} words={isGood ? t.ok : t.degraded} />
        </p>
        <p class="small muted">
          <WithTime text={t.updated} time={status.checked_at.slice(11, 19)} />{' '}
          <span class="needs-script">{t.live}</span>
          <Link to={address} class="without-script">
            {t.refresh}
          </Link>
        </p>
      </div>
      {isStale && <p class="notice warns">{t.stale}</p>}
      {status.mode === 'sandbox' && <p class="muted">{t.sandbox}</p>}
      <Parts {...props} status={status} />
      <LastHour {...props} status={status} />
    </div>
  )
}

/** A sentence with a time in it, which keeps its order among Arabic words. */
function WithTime({ text, time }: { readonly text: string; readonly time: string }): VNode {
  const [before = '', after = ''] = text.split('{time}')
  return (
    <>
      {before}
      <Ltr>{time}</Ltr>
      {after}
    </>
  )
}

function ago(age: number | null, t: StatusTexts): string {
  if (age === null) return t.never
  const seconds = Math.round(age / 1000)
  if (seconds < 2) return t.ago.now
  if (seconds < 120) return t.ago.seconds.replace('{n}', String(seconds))
  if (seconds < 7200) return t.ago.minutes.replace('{n}', String(Math.round(seconds / 60)))
  return t.ago.hours.replace('{n}', String(Math.round(seconds / 3600)))
}

const within = (ms: number | null, t: StatusTexts): string =>
  ms === null ? '–' : t.ms.replace('{n}', ms.toLocaleString('en', { maximumFractionDigits: 1 }))

interface TableProps {
  readonly caption: string
  readonly heads: readonly string[]
  /** Columns, from 0, that hold numbers. */
  readonly numbers?: readonly number[]
  readonly rows: readonly (readonly ComponentChildren[])[]
}

function Table({ caption, heads, numbers = [], rows }: TableProps): VNode {
  const classOf = (at: number) => (numbers.includes(at) ? 'number' : undefined)
  return (
    <Scrolling label={caption}>
      <table aria-label={caption}>
        <thead>
          <tr>
            {heads.map((head, at) => (
              <th scope="col" class={classOf(at)}>
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
                <td class={classOf(at + 1)}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  )
}

function Parts({ status, language, keys, t }: BoardProps): VNode {
  const page = { language }
  const stateOf = (state: Status['store']['state']) => (
    <State is={STATES[state]} page={page} words={t.states[state]} />
  )
  return (
    <div class="board-parts">
      <section class="stack" aria-labelledby="parts">
        <h2 id="parts">{t.parts}</h2>
        <Table
          caption={t.parts}
          heads={[t.part, t.state, t.seen, t.time]}
          numbers={[3]}
          rows={[
            [
              t.names.store,
              stateOf(status.store.state),
              ago(status.store.age_ms, t),
              <Ltr>{within(status.store.latency_ms, t)}</Ltr>,
            ],
            [t.names.resolver, stateOf(status.resolver.state), ago(status.resolver.age_ms, t), '–'],
            [
              t.names.signing,
              stateOf('ok'),
              <>
                {status.signing_key.since !== null && (
                  <>
                    {t.since.split('{date}')[0]}
                    <Ltr>{status.signing_key.since.slice(0, 10)}</Ltr>
                    <br />
                  </>
                )}
                <Link to={keys}>{t.keys}</Link>
              </>,
              '–',
            ],
          ]}
        />
      </section>
      <section class="stack" aria-labelledby="facilitators">
        <h2 id="facilitators">{t.facilitators}</h2>
        <Table
          caption={t.facilitators}
          heads={[t.facilitator, t.state, t.networks, t.seen, t.latency]}
          numbers={[4]}
          rows={status.facilitators.map((facilitator) => [
            facilitator.id === 'local' ? t.local : <Ltr>{facilitator.id}</Ltr>,
            <>
              {facilitator.breaker === 'half_open' ? (
                <State is="waiting" page={page} words={t.states.half} />
              ) : (
                stateOf(facilitator.state)
              )}
              {facilitator.needs_attention && <span class="small board-note">{t.settling}</span>}
            </>,
            <span class="board-networks">
              {facilitator.networks.map((network) => (
                <Ltr class="mono">{network}</Ltr>
              ))}
              {facilitator.networks.length === 0 && '–'}
            </span>,
            ago(facilitator.age_ms, t),
            <Ltr>{within(facilitator.latency_ms, t)}</Ltr>,
          ])}
        />
      </section>
      <section class="stack" aria-labelledby="chains">
        <h2 id="chains">{t.chains}</h2>
        <Table
          caption={t.chains}
          heads={[t.chain, t.state, t.token, t.seen, t.block]}
          numbers={[4]}
          rows={status.chains.map((chain) => [
            <Ltr class="mono">{chain.network}</Ltr>,
            stateOf(chain.state),
            chain.takes_payments === null ? '–' : chain.takes_payments ? t.taken : t.notTaken,
            ago(chain.age_ms, t),
            chain.latest_block === null ? '–' : <Ltr>{Number(chain.latest_block).toLocaleString('en')}</Ltr>,
          ])}
        />
      </section>
    </div>
  )
}

function LastHour(props: BoardProps): VNode {
  const { status, language, catalogue, problem, tool, t } = props
  const hour = status.last_hour
  const { delivered, refused } = hour
  const page = { language }
  const times = hour.minutes.map(({ at }) => at.slice(11, 16))
  const byMinute = (name: keyof CallFigures) => hour.minutes.map((minute) => minute[name])
  const figure = (name: string, value: string) => (
    <div>
      <dt>{name}</dt>
      <dd>
        <Ltr class="figure-number">{value}</Ltr>
      </dd>
    </div>
  )
  return (
    <section class="stack" aria-labelledby="hour">
      <h2 id="hour">{t.hour}</h2>
      <p class="small muted reading">
        <WithTime text={t.hourNote} time={hour.since.slice(11, 16)} /> <Link to="#method">{t.method}</Link>
      </p>
      <dl class="board-figures">
        {figure(t.delivered, delivered.toLocaleString('en'))}
        {figure(t.refused, refused.toLocaleString('en'))}
        {figure(t.p50, within(hour.p50_ms, t))}
        {figure(t.p95, within(hour.p95_ms, t))}
      </dl>
      {delivered + refused === 0 ? (
        <p>
          {t.none} <Link to={catalogue}>{t.tryOne}</Link>
        </p>
      ) : (
        <>
          <div class="columns">
            <BarChart
              page={page}
              title={t.calls}
              label={t.callsLabel
                .replace('{delivered}', delivered.toLocaleString('en'))
                .replace('{refused}', refused.toLocaleString('en'))}
              times={times}
              series={[
                { name: t.delivered, values: byMinute('delivered') },
                { name: t.refused, values: byMinute('refused') },
              ]}
              source="#method"
            />
            <LineChart
              page={page}
              title={t.times}
              label={t.timesLabel}
              times={times}
              series={[
                { name: t.p50, values: byMinute('p50_ms') },
                { name: t.p95, values: byMinute('p95_ms') },
              ]}
              format={(ms) => within(ms, t)}
              source="#method"
            />
          </div>
          {hour.tools.length > 0 && (
            <section class="stack" aria-labelledby="tools">
              <h3 id="tools">{t.tools}</h3>
              <Table
                caption={t.tools}
                heads={[t.tool, t.delivered, t.refused, t.p50, t.p95]}
                numbers={[1, 2, 3, 4]}
                rows={hour.tools.map((figures) => [
                  <Link to={tool.replace('{name}', figures.tool)}>
                    <Ltr class="mono">{figures.tool}</Ltr>
                  </Link>,
                  <Ltr>{figures.delivered.toLocaleString('en')}</Ltr>,
                  <Ltr>{figures.refused.toLocaleString('en')}</Ltr>,
                  <Ltr>{within(figures.p50_ms, t)}</Ltr>,
                  <Ltr>{within(figures.p95_ms, t)}</Ltr>,
                ])}
              />
            </section>
          )}
          {hour.refusals.length > 0 && (
            <section class="stack" aria-labelledby="refusals">
              <h3 id="refusals">{t.refusals}</h3>
              <Table
                caption={t.refusals}
                heads={[t.reason, t.means, t.whose, t.count]}
                numbers={[3]}
                rows={hour.refusals.map(({ code, title, turn, count }) => [
                  <Link to={problem.replace('{name}', code)}>
                    <Ltr class="mono">{code}</Ltr>
                  </Link>,
                  <English text={title} page={page} as="span" />,
                  t.turns[turn],
                  <Ltr>{count.toLocaleString('en')}</Ltr>,
                ])}
              />
            </section>
          )}
        </>
      )}
      <section class="stack" aria-labelledby="method">
        <h3 id="method">{t.method}</h3>
        <p class="reading">{t.methodText}</p>
      </section>
    </section>
  )
}
