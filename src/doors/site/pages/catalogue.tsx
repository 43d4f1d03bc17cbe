// Everything that there is to call, in groups; searched and filtered by the server, and as one types by the same search.
import { Catalogue, type CatalogueList } from '../components/catalogue.tsx'
import { listCatalogue } from '../catalogue-data.ts'
import { definePage, type PageContext } from '../ports.ts'
import { catalogueTexts } from '../texts/catalogue.ts'

export const page = definePage<CatalogueList>({
  isWide: true,
  isFixed: 'by path',
  load: ({ site, query }) => listCatalogue(site, query),
  title: (_data, { language }) => catalogueTexts[language].title,
  description: (data, page) => leadOf(data, page),
  View: ({ data, page }) => {
    const t = catalogueTexts[page.language]
    page.needScript('catalogue.js')
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{leadOf(data, page)}</p>
        <Form list={data} page={page} />
        <div
          data-catalogue={page.language}
          data-prefix={page.href('/catalogue').slice(0, -'/catalogue'.length)}
        >
          <Catalogue list={data} page={page} />
        </div>
      </>
    )
  },
})

const leadOf = ({ counts }: CatalogueList, { language }: Pick<PageContext, 'language'>) =>
  catalogueTexts[language].lead
    .replace('{a}', String(counts.tools))
    .replace('{b}', String(counts.capabilities))

function Form({ list, page }: { readonly list: CatalogueList; readonly page: PageContext }) {
  const t = catalogueTexts[page.language]
  const { q, who, price, door } = list.query
  return (
    <form class="catalogue-form" role="search" action={page.href('/catalogue')} method="get">
      <div class="field">
        <label for="q">{t.search}</label>
        <input
          type="search"
          id="q"
          name="q"
          value={q}
          maxLength={200}
          autocomplete="off"
          aria-describedby="q-hint"
        />
      </div>
      <Choice name="who" label={t.filters.who} value={who} all={t.anything} choices={t.whoChoice} />
      <Choice name="price" label={t.filters.price} value={price} all={t.anything} choices={t.priceChoice} />
      <Choice name="door" label={t.filters.door} value={door} all={t.anything} choices={DOORS} />
      <button class="primary">{t.show}</button>
      <p class="hint small muted" id="q-hint">
        {t.searchHint}
      </p>
    </form>
  )
}

const DOORS = { rest: 'HTTP', mcp: 'MCP', a2a: 'A2A' }

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly all: string
  readonly choices: Readonly<Record<string, string>>
}

const Choice = ({ name, label, value, all, choices }: ChoiceProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      <option value="">{all}</option>
      {Object.entries(choices).map(([choice, words]) => (
        <option value={choice} selected={choice === value}>
          {words}
        </option>
      ))}
    </select>
  </div>
)
