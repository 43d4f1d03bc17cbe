// What the tables of records share: filters that live in the address, a table as a file, facts, and what happened in order.
import type { ComponentChildren, VNode } from 'preact'
import { Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { State, type StateName } from '../../site/components/state.tsx'
import { count, fill } from '../../site/components/market/format.ts'
import type { ConsoleContext } from '../ports.ts'
import { FORMATS } from '../records/export.ts'
import { consoleTexts } from '../texts/common.ts'
import { recordTexts } from '../texts/records.ts'
import { Form } from './form.tsx'
import { Time } from './table.tsx'

const queryOf = ({ path }: Pick<ConsoleContext, 'path'>) => new URLSearchParams(path.split('?')[1])
const bareOf = ({ path }: Pick<ConsoleContext, 'path'>) => path.split('?')[0] ?? path

interface FilterProps {
  readonly page: Pick<ConsoleContext, 'path' | 'language'>
  readonly name: string
  readonly label: string
}

/** One of the words that a filter knows; all of them by default. */
export function Choice({
  page,
  name,
  label,
  options,
  usual,
}: FilterProps & {
  readonly options: readonly (readonly [value: string, text: string])[]
  /** What is chosen where the address says nothing; without one, all. */
  readonly usual?: string
}): VNode {
  const chosen = queryOf(page).get(name) ?? usual ?? ''
  return (
    <label class="field">
      <span>{label}</span>
      <select name={name}>
        {usual === undefined && <option value="">{consoleTexts[page.language].all}</option>}
        {options.map(([value, text]) => (
          <option value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A text that must be met exactly, or a day. */
export const Typed = ({
  page,
  name,
  label,
  type = 'text',
}: FilterProps & { readonly type?: 'text' | 'date' }): VNode => (
  <label class="field">
    <span>{label}</span>
    <input
      name={name}
      {...({ type } as { type: 'text' })}
      value={queryOf(page).get(name) ?? ''}
      dir="ltr"
      autoComplete="off"
      spellcheck={false}
    />
  </label>
)

/** From a day to a day. */
export function Days({ page }: Pick<FilterProps, 'page'>): VNode {
  const t = recordTexts[page.language]
  return (
    <>
      <Typed page={page} name="since" label={t.since} type="date" />
      <Typed page={page} name="until" label={t.until} type="date" />
    </>
  )
}

/** The filters of a table: a form whose fields are the address. */
export function Filters({
  page,
  children,
}: {
  readonly page: ConsoleContext
  readonly children: ComponentChildren
}): VNode {
  const t = consoleTexts[page.language]
  const isNarrowed = [...queryOf(page)].some(([name, value]) => name !== 'before' && value !== '')
  return (
    <form method="get" action={page.href(bareOf(page))} class="console-filters" role="search">
      {children}
      <div class="console-filters-act">
        <button class="primary">{t.filter}</button>
        {isNarrowed && (
          <Link to={page.href(bareOf(page))} class="button">
            {recordTexts[page.language].clear}
          </Link>
        )}
      </div>
    </form>
  )
}

/** The table as a file, with everything that its filters show. */
export function Exports({ page }: { readonly page: ConsoleContext }): VNode {
  const t = recordTexts[page.language]
  const query = queryOf(page)
  query.delete('before')
  const narrowed = query.toString()
  const to = page.href(bareOf(page)) + (narrowed === '' ? '' : `?${narrowed}`)
  return (
    <div class="console-exports">
      {FORMATS.map((format) => (
        <Form page={page} action="export" to={to} values={{ format }}>
          <button title={t.exportHow}>{fill(t.exportAs, { f: format === 'csv' ? 'CSV' : 'JSONL' })}</button>
        </Form>
      ))}
    </div>
  )
}

/** Says how far a filter that fits little has come. */
export function Cut({
  page,
  looked,
  found,
}: {
  readonly page: Pick<ConsoleContext, 'language'>
  readonly looked: number | null
  readonly found: number
}): VNode | null {
  const t = recordTexts[page.language]
  if (looked === null) return null
  return (
    <p class="notice warns small" role="status">
      {fill(t.cut, { n: count(looked) })} {fill(t.cutHere, { n: found })}
    </p>
  )
}

/** What an empty table says: nothing fits, or what to do first. */
export function Nothing({
  page,
  children,
}: {
  readonly page: ConsoleContext
  readonly children: ComponentChildren
}): VNode {
  const isNarrowed = [...queryOf(page)].some(([, value]) => value !== '')
  return <>{isNarrowed ? <p>{recordTexts[page.language].nothingFits}</p> : children}</>
}

/** Facts as names and values; what there is nothing of is left out. */
export const Facts = ({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[]
}): VNode => (
  <dl class="pairs">
    {facts.map(
      ([name, value]) =>
        value !== null &&
        value !== undefined &&
        value !== false &&
        value !== '' && (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ),
    )}
  </dl>
)

export interface Happening {
  readonly title: string
  readonly is: StateName
  readonly at: string | number | null
  readonly how?: ComponentChildren
}

/** What happened, first to last, each with how long after the one before it. */
export function Happenings({
  page,
  events,
}: {
  readonly page: Pick<ConsoleContext, 'language'>
  readonly events: readonly Happening[]
}): VNode {
  const times = events.map(({ at }) => (at === null ? null : new Date(at).getTime()))
  return (
    <ol class="console-timeline">
      {events.map(({ title, is, at, how }, index) => {
        const here = times[index] ?? null
        const before = times.slice(0, index).findLast((time) => time !== null) ?? null
        return (
          <li class={`is-${is}`}>
            <p class="row between">
              <State is={is} page={page} words={title} />
              <span class="muted small">
                {here !== null && before !== null && <Ltr class="offset">{`+${span(here - before)}`}</Ltr>}{' '}
                <Time at={at} />
              </span>
            </p>
            {how !== undefined && <div class="small muted">{how}</div>}
          </li>
        )
      })}
    </ol>
  )
}

/** `240 ms`, `3.1 s`, `2 min`, `5 h`, `3 d` */
export function span(millis: number): string {
  const ms = Math.max(millis, 0)
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  return ms < 86_400_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`
}
