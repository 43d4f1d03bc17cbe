// A tool of the registry. There is no line about any one of them here: what its file says is what its page says.
import type { VNode } from 'preact'
import { hasPlaceholder, snippetsOf, TOKEN_VARIABLES } from '../../../documents/snippets.ts'
import { isAlwaysPaid } from '../../../core/price.ts'
import type { AnyTool, RegisteredTool, Registry } from '../../../core/registry.ts'
import { English, inEnglish } from '../components/english.tsx'
import { Link } from '../components/link.tsx'
import { Price } from '../components/price.tsx'
import { Prose } from '../components/code.tsx'
import { Shapes } from '../components/tool/shapes.tsx'
import { type ShownExample, ToolExamples } from '../components/tool/examples.tsx'
import { Facts } from '../components/tool/facts.tsx'
import { type Missing, MissingView } from '../components/tool/missing.tsx'
import { nearestNames } from '../nearest-names.ts'
import { definePage, type PageContext, type SiteParts } from '../ports.ts'
import { catalogueTexts } from '../texts/catalogue.ts'
import { priceTexts } from '../texts/price.ts'
import { toolTexts } from '../texts/tool.ts'
import { type ToolFacts, toolFacts } from '../tool-facts.ts'
import { tryFacts, tryTool } from '../trying.ts'
import type { TryFacts, TryState } from '../components/try/facts.ts'
import { TryIt } from '../components/try-it.tsx'

interface ToolData extends ToolFacts {
  /** What the form is made of, and what it holds and was answered; nothing where no form can call the tool. */
  readonly try_it: { readonly facts: TryFacts | undefined; readonly state: TryState | undefined }
  readonly example: ShownExample
  /** Goals that are reached with this tool and others. */
  readonly goals: readonly { readonly name: string; readonly description: string; readonly url: string }[]
  /** Tools that act on the same things. */
  readonly related: readonly { readonly name: string; readonly title: string }[]
  readonly schema_url: string
}

export const page = definePage<ToolData | Missing>({
  isWide: true,
  isFixed: 'by path',
  async load(request) {
    const { site, params, query } = request
    const { registry } = site
    const name = params['name'] ?? ''
    const entry = registry.find(name)
    if (!entry) return missing(name, site)
    const { tool } = entry
    const facts = tryFacts(entry, site.config.mode)
    const at = Number(query.get('example') ?? 1) - 1
    return {
      ...toolFacts(entry, site),
      try_it: { facts, state: await tryTool(request, entry, facts?.examples[at]?.input) },
      example: shownExample(entry, site, facts?.examples ?? tool.examples, at),
      goals: (site.skills ?? [])
        .filter(({ tools }) => tools.includes(tool.name))
        .map(({ name, description }) => ({
          name,
          description,
          url: `${site.addresses.baseUrl}/skills/${name}/SKILL.md`,
        })),
      related: relatedTo(entry, registry),
      schema_url: `${site.addresses.baseUrl}/schemas/${entry.portableName}.json`,
    }
  },
  status: (data) => ('status' in data ? data.status : 200),
  path: (data) => ('status' in data ? undefined : `/tools/${data.name}`),
  title: (data, { language }) => ('status' in data ? toolTexts[language].unknownTool : data.title),
  description: (data) => ('status' in data ? '' : data.summary),
  View: ({ data, page }) =>
    'status' in data ? (
      <MissingView data={data} page={page} title={toolTexts[page.language].unknownTool} />
    ) : (
      <ToolView data={data} page={page} />
    ),
})

/** One of the tool's examples; the first one where there is none at this position. */
function shownExample(
  entry: RegisteredTool,
  { addresses }: Pick<SiteParts, 'addresses'>,
  examples: AnyTool['examples'],
  wanted: number,
): ShownExample {
  const { tool } = entry
  const at = examples[wanted] ? wanted : 0
  const input = examples[at]?.input
  return {
    at,
    titles: examples.map(({ title }) => title),
    snippets: snippetsOf(entry, addresses, input),
    has_placeholder: hasPlaceholder(input),
    is_paid: isAlwaysPaid(tool),
    token_variable: TOKEN_VARIABLES[tool.caller] ?? null,
  }
}

const MAX_RELATED = 8

/** `gateway.egress.attempts.get` and `gateway.egress.attempts.list`: what shares all but the last word of its name. */
function relatedTo({ tool }: RegisteredTool, registry: Registry): ToolData['related'] {
  const group = tool.name.split('.').slice(0, -1).join('.')
  if (!group.includes('.')) return []
  return registry.tools
    .filter((other) => other.tool !== tool && other.tool.name.startsWith(`${group}.`))
    .slice(0, MAX_RELATED)
    .map((other) => ({ name: other.tool.name, title: other.tool.title }))
}

function missing(
  name: string,
  { registry, addresses: { baseUrl } }: Pick<SiteParts, 'registry' | 'addresses'>,
): Missing {
  const known = new Map(
    registry.tools.map(({ tool }) => [
      tool.name,
      `${tool.title} ${tool.skills.map(({ id }) => id).join(' ')}`,
    ]),
  )
  const nearest = nearestNames(name, known).flatMap((found) => {
    const title = registry.find(found)?.tool.title
    return title === undefined ? [] : { title, name: found, path: `/tools/${found}` }
  })
  const [first] = nearest
  return {
    type: `${baseUrl}/problems/tool_not_found`,
    status: 404,
    code: 'tool_not_found',
    title: toolTexts.en.unknownTool,
    detail: first ? `Did you mean ${first.name}?` : 'GET /catalogue lists every tool.',
    wanted: name,
    nearest,
  }
}

function ToolView({ data, page }: { readonly data: ToolData; readonly page: PageContext }): VNode {
  const t = toolTexts[page.language]
  const { goals, related, limitations } = data
  const phrases = [...new Set(data.skills.flatMap(({ examples }) => examples))].filter(
    (said) => said !== data.title,
  )
  return (
    <>
      <header class="stack">
        <p class="eyebrow">
          <Link to={page.href('/catalogue')}>{t.catalogue}</Link> ·{' '}
          <Link to={page.href(`/catalogue#${data.toolset}`)}>
            {catalogueTexts[page.language].toolsets[data.toolset].name}
          </Link>
        </p>
        <h1>
          <English text={data.title} page={page} />
        </h1>
        <p class="row">
          <code dir="ltr">{data.name}</code>
          <Price price={data.price} page={page} />
          <span class="tag">{priceTexts[page.language].who[data.caller]}</span>
        </p>
        <English text={data.summary} page={page} as="p" class="lead" />
      </header>
      <div class="tool-columns">
        <div class="stack">
          <section class="stack" aria-labelledby="try">
            <h2 id="try">{t.tryIt}</h2>
            <TryIt facts={data.try_it.facts} state={data.try_it.state} page={page} />
          </section>
        </div>
        <aside class="stack">
          <ToolExamples example={data.example} page={page} path={`/tools/${data.name}`} />
        </aside>
        <div class="stack">
          {phrases.length + goals.length > 0 && (
            <section class="stack" aria-labelledby="use">
              <h2 id="use">{t.whenToUse}</h2>
              {phrases.length > 0 && (
                <ul class="tool-said">
                  {phrases.map((said) => (
                    <li>
                      <bdi lang={/[\u0600-\u06ff]/.test(said) ? 'ar' : 'en'}>{said}</bdi>
                    </li>
                  ))}
                </ul>
              )}
              {goals.length > 0 && (
                <>
                  <h3>{t.goals}</h3>
                  <ul {...inEnglish(page)}>
                    {goals.map(({ name, description, url }) => (
                      <li>
                        <Link to={url}>
                          <code dir="ltr">{name}</code>
                        </Link>{' '}
                        <English text={description} page={page} />
                      </li>
                    ))}
                  </ul>
                </>
              )}
            </section>
          )}
          {(limitations.length > 0 || data.caller !== 'anyone') && (
            <section class="stack" aria-labelledby="not">
              <h2 id="not">{t.whenNot}</h2>
              {data.caller !== 'anyone' && (
                <p>
                  {t.needs} {priceTexts[page.language].who[data.caller]}
                </p>
              )}
              {limitations.length > 0 && (
                <ul {...inEnglish(page)}>
                  {limitations.map((words) => (
                    <li>
                      <Prose text={words} />
                    </li>
                  ))}
                </ul>
              )}
            </section>
          )}
          <section class="stack" aria-labelledby="facts">
            <h2 id="facts">{t.facts}</h2>
            <Facts tool={data} page={page} />
          </section>
          <Shapes data={data} page={page} link={t.schema} />
          {related.length > 0 && (
            <section class="stack" aria-labelledby="related">
              <h2 id="related">{t.related}</h2>
              <ul>
                {related.map(({ name, title }) => (
                  <li>
                    <Link to={page.href(`/tools/${name}`)}>
                      <English text={title} page={page} />
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </>
  )
}
