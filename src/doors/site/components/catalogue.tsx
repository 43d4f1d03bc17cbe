// What there is, as lists: in groups, or by rank where somebody searched. Runs in browsers too, where it is drawn anew as one types.
import type { VNode } from 'preact'
import type { CallerKind } from '../../../core/caller.ts'
import type { Toolset } from '../../../core/tool.ts'
import type { PageContext } from '../ports.ts'
import { type CatalogueTexts, catalogueTexts } from '../texts/catalogue.ts'
import { English } from './english.tsx'
import { Foreign } from './foreign.tsx'
import { Link } from './link.tsx'
import { Price, type PriceFacts } from './price.tsx'

/** A tool or a capability in a list. */
export interface CatalogueRow {
  readonly kind: 'tool' | 'capability'
  readonly name: string
  readonly title: string
  readonly summary: string
  /** Of its page, without language. */
  readonly path: string
  readonly caller: CallerKind
  readonly price: PriceFacts
  readonly toolset: Toolset
}

export interface CatalogueGoal {
  readonly name: string
  readonly description: string
  readonly url: string
}

export interface CatalogueList {
  readonly query: { readonly q: string; readonly who: string; readonly price: string; readonly door: string }
  /** Of everything, whatever was asked for. */
  readonly counts: { readonly tools: number; readonly capabilities: number }
  /** Whether words were searched for: then `results` are by rank, else in the order of the registry. */
  readonly is_ranked: boolean
  readonly results: readonly CatalogueRow[]
  readonly goals: readonly CatalogueGoal[]
  /** What may have been meant where nothing was found. */
  readonly nearest: readonly CatalogueRow[]
}

type Place = Pick<PageContext, 'language' | 'href'>

/** The lists below the form. */
export function Catalogue({ list, page }: { readonly list: CatalogueList; readonly page: Place }): VNode {
  const t = catalogueTexts[page.language]
  const { results, goals, is_ranked: isRanked } = list
  const isAll = results.length === list.counts.tools + list.counts.capabilities
  const count = results.length + (isAll ? 0 : goals.length)
  return (
    <div class="stack">
      <p role="status" class={isAll ? 'visually-hidden' : undefined}>
        {foundWords(count, page, t)} {!isAll && <Link to={page.href('/catalogue')}>{t.clear}</Link>}
      </p>
      {count === 0 && <Nothing list={list} page={page} t={t} />}
      {isRanked ? (
        <Shelf rows={results} page={page} t={t} isMixed />
      ) : (
        <Groups rows={results} goals={goals} page={page} t={t} hasJumps={isAll} />
      )}
      {isRanked && goals.length > 0 && <Goals goals={goals} page={page} t={t} />}
    </div>
  )
}

interface PartProps {
  readonly page: Place
  readonly t: CatalogueTexts
}

function Groups({
  rows,
  goals,
  hasJumps,
  ...part
}: PartProps & {
  readonly rows: readonly CatalogueRow[]
  readonly goals: readonly CatalogueGoal[]
  readonly hasJumps: boolean
}): VNode {
  const { t } = part
  const capabilities = rows.filter(({ kind }) => kind === 'capability')
  const byToolset = Map.groupBy(
    rows.filter(({ kind }) => kind === 'tool'),
    ({ toolset }) => toolset,
  )
  const toolsets = (Object.keys(t.toolsets) as Toolset[]).flatMap((toolset) => {
    const theirs = byToolset.get(toolset)
    return theirs ? [{ toolset, theirs, ...t.toolsets[toolset] }] : []
  })
  return (
    <>
      {hasJumps && (
        <ul class="shelf-jump">
          {capabilities.length > 0 && (
            <li>
              <Link to="#capabilities">{t.capabilities}</Link>
            </li>
          )}
          {goals.length > 0 && (
            <li>
              <Link to="#goals">{t.byGoal}</Link>
            </li>
          )}
          {toolsets.map(({ toolset, name, theirs }) => (
            <li>
              <Link to={`#${toolset}`}>{name}</Link> <span class="small muted">{theirs.length}</span>
            </li>
          ))}
        </ul>
      )}
      {capabilities.length > 0 && (
        <section class="shelf-group" aria-labelledby="capabilities">
          <h2 id="capabilities">{t.capabilities}</h2>
          <p class="muted">{t.capabilitiesHint}</p>
          <Shelf rows={capabilities} {...part} />
        </section>
      )}
      {goals.length > 0 && <Goals goals={goals} {...part} />}
      {toolsets.map(({ toolset, name, words, theirs }) => (
        <section class="shelf-group" aria-labelledby={toolset}>
          <h2 id={toolset}>{name}</h2>
          <p class="muted">{words}</p>
          <Shelf rows={theirs} {...part} />
        </section>
      ))}
    </>
  )
}

interface ShelfProps extends PartProps {
  readonly rows: readonly CatalogueRow[]
  /** Tools and capabilities beside each other: which is which has to be said. */
  readonly isMixed?: boolean
}

function Shelf({ rows, page, t, isMixed }: ShelfProps): VNode | null {
  if (rows.length === 0) return null
  return (
    <ul class="shelf">
      {rows.map((row) => (
        <li key={row.path}>
          <Link to={page.href(row.path)} class="name">
            <English text={row.title} page={page} />
          </Link>
          <English text={row.summary} page={page} as="p" class="small muted" />
          <p class="tags">
            <Price price={row.price} page={page} />
            {t.keyMark[row.caller] !== '' && <span class="tag">{t.keyMark[row.caller]}</span>}
            {isMixed && row.kind === 'capability' && <span class="tag">{t.capability}</span>}
          </p>
        </li>
      ))}
    </ul>
  )
}

function Goals({ goals, page, t }: PartProps & { readonly goals: readonly CatalogueGoal[] }): VNode {
  return (
    <section class="shelf-group" aria-labelledby="goals">
      <h2 id="goals">{t.byGoal}</h2>
      <p class="muted">{t.byGoalHint}</p>
      <ul class="shelf">
        {goals.map(({ name, description, url }) => (
          <li key={name}>
            <Link to={url} class="name">
              <English text={titleOf(name)} page={page} />
            </Link>
            <English text={description} page={page} as="p" class="small muted" />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** `pay-for-a-web-page` -> `Pay for a web page` */
const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ')

function Nothing({ list, page, t }: PartProps & { readonly list: CatalogueList }): VNode {
  return (
    <div class="notice stack">
      <p>
        {t.nothing} {list.query.q !== '' && <Foreign text={list.query.q} max={80} />}
      </p>
      {list.nearest.length > 0 && (
        <>
          <h2>{t.didYouMean}</h2>
          <Shelf rows={list.nearest} page={page} t={t} />
        </>
      )}
    </div>
  )
}

function foundWords(count: number, { language }: Place, t: CatalogueTexts): string {
  if (count === 0) return t.found.none
  const form = new Intl.PluralRules(language).select(count)
  return t.found[form === 'zero' ? 'other' : form].replace('{a}', String(count))
}
