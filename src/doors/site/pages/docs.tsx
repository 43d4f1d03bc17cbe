// The index of the documentation: by who reads, and by words.
import type { VNode } from 'preact'
import { english, GuideTitle } from '../components/document.tsx'
import { Link } from '../components/link.tsx'
import { type DocumentEntry, openLibrary, SHELF_NAMES } from '../documents.ts'
import { type DocumentHit, searchDocuments } from '../document-search.ts'
import { definePage, type PageContext } from '../ports.ts'
import { docsTexts } from '../texts/docs.ts'
import { guideWords } from '../texts/guides.ts'

/** Characters that are searched for and shown again. */
const MAX_QUERY = 200

export const page = definePage({
  isWide: true,
  async load({ query }) {
    const library = await openLibrary()
    const words = query.get('q')?.trim().slice(0, MAX_QUERY) ?? ''
    return {
      query: words,
      hits: words === '' ? [] : await searchDocuments(library, words),
      guides: library.entries,
    }
  },
  title: (_data, { language }) => docsTexts[language].title,
  description: (_data, { language }) => docsTexts[language].description,
  View({ data: { query, hits, guides }, page }) {
    const t = docsTexts[page.language]
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
        <form class="docs-search" role="search" action={page.href('/docs')}>
          <label class="visually-hidden" for="docs-q">
            {t.search}
          </label>
          <input
            id="docs-q"
            name="q"
            type="search"
            value={query}
            placeholder={t.search}
            maxLength={200}
            dir="auto"
          />
          <button class="primary">{t.find}</button>
        </form>
        {query !== '' && <Hits query={query} hits={hits} page={page} />}
        <div class="docs-shelves">
          {SHELF_NAMES.map((shelf) => (
            <section>
              <h2>{t.shelves[shelf]}</h2>
              <ul class="docs-shelf">
                {guides
                  .filter(
                    (guide) => guide.shelf === shelf && (shelf !== 'examples' || guide.slug === 'examples'),
                  )
                  .map((guide) => (
                    <li>
                      <Link to={page.href(`/docs/${guide.slug}`)}>
                        <GuideTitle guide={guide} page={page} />
                      </Link>
                      <Summary guide={guide} page={page} />
                    </li>
                  ))}
              </ul>
            </section>
          ))}
          <section>
            <h2>{t.alsoHere}</h2>
            <ul class="docs-shelf">
              {(['reference', 'problems', 'changelog'] as const).map((name) => (
                <li>
                  <Link to={page.href(`/${name}`)}>{t[name]}</Link>
                  <span class="muted small">{t.also[name]}</span>
                </li>
              ))}
              <li>
                <Link to={page.href('/llms.txt')}>llms.txt</Link>
                <span class="muted small">{t.also.forAgents}</span>
              </li>
            </ul>
          </section>
        </div>
      </>
    )
  },
})

interface SummaryProps {
  readonly guide: DocumentEntry
  readonly page: PageContext
}

/** What a guide is read for. */
function Summary({ guide: { slug, summary }, page }: SummaryProps): VNode | undefined {
  const words = guideWords(page.language, slug)
  if (words) return <span class="muted small">{words.summary}</span>
  if (summary === '') return undefined
  return (
    <span class="muted small">
      <span {...english(page)}>{summary}</span>
    </span>
  )
}

interface HitsProps {
  readonly query: string
  readonly hits: readonly DocumentHit[]
  readonly page: PageContext
}

function Hits({ query, hits, page }: HitsProps): VNode {
  const t = docsTexts[page.language]
  if (hits.length === 0)
    return (
      <p class="notice" role="status">
        {t.found.none}
      </p>
    )
  return (
    <section class="docs-hits" aria-label={t.search}>
      <p class="muted" role="status">
        {t.found.some} <q dir="auto">{query}</q>: {hits.length}
      </p>
      <ol>
        {hits.map(({ path, title, heading, sentence }) => (
          <li>
            <Link to={page.href(path)}>
              <span {...english(page)}>{heading === undefined ? title : `${title}: ${heading}`}</span>
            </Link>
            <span class="small">
              <span {...english(page)}>{sentence}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
