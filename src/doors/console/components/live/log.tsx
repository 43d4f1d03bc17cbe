// The live log: what is decided appears above what was decided before. Drawn empty by the server, filled by its script.
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Decision } from '../../../../core/live-events.ts'
import { Ltr } from '../../../site/components/foreign.tsx'
import { Link } from '../../../site/components/link.tsx'
import { Scrolling, State, type StateName } from '../../../site/components/state.tsx'
import type { Language } from '../../../site/routes.ts'
import { listen } from '../../browser/lib/events.ts'
import type { LiveTexts } from '../../texts/live.ts'
import { type Gap, isGap, keep, type LiveFilter, queryOf, type Row, shown } from './kept.ts'

export interface LogProps {
  readonly language: Language
  readonly t: LiveTexts
  readonly filter: LiveFilter
  readonly tools: readonly string[]
  /** Codes that a call may end in. */
  readonly codes: readonly string[]
  /** Of the stream. */
  readonly address: string
  /** Pages about something, with `{name}` in them. */
  readonly problem: string
  readonly attempt: string
  /** Where one makes a call. */
  readonly makeOne: string
}

type Line = 'starting' | 'open' | 'lost' | 'ended'

const STATES: Readonly<Record<Line | 'paused', StateName>> = {
  starting: 'unknown',
  open: 'done',
  paused: 'waiting',
  lost: 'failed',
  ended: 'failed',
}

/** How many seconds the rate is taken over. */
const RATE_OVER = 5

/** Filter, state of the line, and the decisions. */
export function Log(props: LogProps): VNode {
  const { t, address, language } = props
  const [filter, setFilter] = useState(props.filter)
  const [line, setLine] = useState<Line>('starting')
  const [entries, setEntries] = useState<readonly (Row | Gap)[]>([])
  const [held, setHeld] = useState<readonly (Row | Gap)[] | undefined>()
  const [rate, setRate] = useState(0)
  const count = useRef(0)
  const recent = useRef<number[]>([])

  useEffect(() => {
    const add = (news: readonly (Row | Gap)[]) => setEntries((before) => keep(before, news))
    const stop = listen(
      { address, topics: ['decision'] },
      {
        news(items) {
          const rows = items.map(([, data]): Row => ({ ...(data as Decision), n: count.current++ }))
          recent.current.push(...rows.map(() => Date.now()))
          add(rows)
        },
        gap: (missed) => add([{ n: count.current++, missed }]),
        state: setLine,
      },
    )
    const timer = setInterval(() => {
      const from = Date.now() - RATE_OVER * 1000
      recent.current = recent.current.filter((at) => at > from)
      setRate(recent.current.length / RATE_OVER)
    }, 1000)
    return () => {
      clearInterval(timer)
      stop()
    }
  }, [address])

  function change(part: Partial<LiveFilter>): void {
    const next = { ...filter, ...part }
    setFilter(next)
    history.replaceState(null, '', location.pathname + queryOf(next))
  }

  const all = held ?? entries
  const rows = useMemo(() => shown(all, filter), [all, filter])
  const state = held && line === 'open' ? 'paused' : line
  const since = held ? entries.filter(({ n }) => n > (held.at(-1)?.n ?? -1)).length : 0
  const isFiltered = queryOf(filter) !== ''
  return (
    <div class="stack">
      <form class="console-filters" method="get" role="search" onSubmit={(event) => event.preventDefault()}>
        <Choice name="tool" label={t.tool} value={filter.tool} onChange={(tool) => change({ tool })}>
          <option value="">{t.any}</option>
          {withOwn(props.tools, filter.tool).map((tool) => (
            <option value={tool}>{tool}</option>
          ))}
        </Choice>
        <Choice name="code" label={t.code} value={filter.code} onChange={(code) => change({ code })}>
          <option value="">{t.any}</option>
          <option value="ok">{t.delivered}</option>
          <option value="refused">{t.refused}</option>
          {withOwn(props.codes, ['ok', 'refused'].includes(filter.code) ? '' : filter.code).map((code) => (
            <option value={code}>{code}</option>
          ))}
        </Choice>
        <label class="field">
          <span>{t.caller}</span>
          <input
            type="search"
            name="caller"
            value={filter.caller}
            title={t.callerHelp}
            autoComplete="off"
            onInput={({ currentTarget }) => change({ caller: currentTarget.value })}
          />
        </label>
        {isFiltered && (
          <button type="button" onClick={() => change({ tool: '', code: '', caller: '' })}>
            {t.clear}
          </button>
        )}
      </form>
      <div class="live-bar">
        <button
          type="button"
          class="needs-script"
          aria-pressed={held !== undefined}
          onClick={() => setHeld(held ? undefined : entries)}
        >
          {held ? t.resume : t.pause}
        </button>
        <span role="status" class="needs-script">
          <State is={STATES[state]} page={{ language }} words={t.states[state]} />
        </span>
        {held && since > 0 && <span class="muted small">{t.waiting.replace('{n}', String(since))}</span>}
        <span class="muted small live-rate">
          {t.perSecond.replace(
            '{n}',
            rate.toLocaleString('en', { maximumFractionDigits: rate < 10 ? 1 : 0 }),
          )}
        </span>
      </div>
      {rows.length === 0 ? (
        <div class="console-empty needs-script">
          {all.length > 0 ? (
            <p>{t.noMatch.replace('{n}', String(all.length))}</p>
          ) : (
            <p>
              {t.nothing} <Link to={props.makeOne}>{t.makeOne}</Link>
            </p>
          )}
        </div>
      ) : (
        <Decisions {...props} rows={rows} change={change} />
      )}
    </div>
  )
}

/** A value of the address that is no choice (any more) stays one: it is what is shown. */
const withOwn = (names: readonly string[], own: string) =>
  own === '' || names.includes(own) ? names : [own, ...names]

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly children: VNode | (VNode | VNode[])[]
}

const Choice = ({ name, label, value, onChange, children }: ChoiceProps): VNode => (
  <label class="field">
    <span>{label}</span>
    <select name={name} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {children}
    </select>
  </label>
)

function Decisions({
  t,
  language,
  rows,
  change,
  problem,
  attempt,
}: LogProps & {
  readonly rows: readonly (Row | Gap)[]
  readonly change: (part: Partial<LiveFilter>) => void
}): VNode {
  return (
    <Scrolling label={t.decisions}>
      <table class="live-log">
        <thead>
          <tr>
            <th scope="col">{t.at}</th>
            <th scope="col">{t.code}</th>
            <th scope="col">{t.tool}</th>
            <th scope="col">{t.host}</th>
            <th scope="col">{t.who}</th>
            <th scope="col" class="number">
              {t.ms}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) =>
            isGap(row) ? (
              <tr key={row.n}>
                <td colSpan={6} class="live-gap">
                  {row.missed === null ? t.gapUnknown : t.gap.replace('{n}', String(row.missed))}
                </td>
              </tr>
            ) : (
              <tr key={row.n}>
                <td>
                  <time dateTime={new Date(row.at).toISOString()} dir="ltr">
                    {clock(row.at)}
                  </time>
                </td>
                <td>
                  {row.code === 'ok' ? (
                    <State is="done" page={{ language }} words={t.delivered} />
                  ) : (
                    <Link to={problem.replace('{name}', row.code)} class="live-code">
                      <State is="failed" page={{ language }} words={row.code} />
                    </Link>
                  )}
                </td>
                <td>
                  <Pick value={row.tool} onPick={(tool) => change({ tool })} />
                </td>
                <td>
                  {row.host !== null && <Pick value={row.host} onPick={(caller) => change({ caller })} />}
                </td>
                <td>
                  <span class="muted small">{row.door}</span>{' '}
                  {row.caller === null ? (
                    <span class="muted">{t.nobody}</span>
                  ) : (
                    <Pick value={row.caller} onPick={(caller) => change({ caller })} isId />
                  )}
                </td>
                <td class="number">
                  {row.attempt === null ? (
                    <Ltr>{msText(row.ms)}</Ltr>
                  ) : (
                    <Link to={attempt.replace('{name}', row.attempt)} label={`${t.attempt} ${row.attempt}`}>
                      <Ltr>{msText(row.ms)}</Ltr>
                    </Link>
                  )}
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </Scrolling>
  )
}

/** A value that becomes the filter when it is pressed. */
const Pick = ({
  value,
  onPick,
  isId,
}: {
  readonly value: string
  readonly onPick: (value: string) => void
  readonly isId?: boolean
}): VNode => (
  <button type="button" class="live-pick" dir="ltr" title={value} onClick={() => onPick(value)}>
    {isId ? `${value.slice(0, value.indexOf('_') + 1)}…${value.slice(-6)}` : value}
  </button>
)

const msText = (ms: number) => ms.toLocaleString('en', { maximumFractionDigits: ms < 10 ? 1 : 0 })

/** The person's own clock, to the millisecond. */
function clock(at: number): string {
  const time = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`
}
