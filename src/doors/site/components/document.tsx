// A written document as a page: the guides beside it, the text, and what stands in it.
import type { VNode } from 'preact'
import { type DocumentEntry, linkFrom, type Shelf, SHELF_NAMES } from '../documents.ts'
import type { PageContext } from '../ports.ts'
import { docsTexts } from '../texts/docs.ts'
import { guideWords } from '../texts/guides.ts'
import { Code } from './code.tsx'
import { Link } from './link.tsx'
import { type MarkdownTree, wordsOf } from './markdown/node.ts'
import { headingId, MarkdownView } from './markdown/tree.tsx'

type Entry = DocumentEntry & { readonly shelf: Shelf }

interface DocumentProps {
  readonly page: PageContext
  readonly tree: MarkdownTree
  /** The document's path in the repository, which its links are relative to. */
  readonly source: string
  readonly entries: readonly Entry[]
  /** The guide that this is; undefined for a document beside them. */
  readonly current?: Entry | undefined
}

/** More headings than these are told by the upper ones alone. */
const MAX_HEADINGS = 30

export function Document({ page, tree, source, entries, current }: DocumentProps): VNode {
  const t = docsTexts[page.language]
  const contents = contentsOf(tree)
  const at = current ? entries.indexOf(current) : -1
  const drawCode = (text: string, language: string) =>
    Code({ text: text.replace(/\n$/, ''), language, page, ...(language !== '' && { label: language }) })
  return (
    <div class="document">
      <nav class="document-guides" aria-label={t.guides}>
        <Guides page={page} entries={entries} current={current} />
      </nav>
      <article class="document-text">
        <p class="eyebrow">
          <Link to={page.href('/docs')}>{t.title}</Link>
          {current && ` / ${t.shelves[current.shelf]}`}
        </p>
        {contents.length > 1 && (
          <details class="document-fold">
            <summary>{t.onThisPage}</summary>
            <Contents contents={contents} page={page} />
          </details>
        )}
        <div {...english(page)}>
          <MarkdownView
            tree={tree}
            cutWords={t.cut}
            headingsFrom={1}
            isOwn
            hrefOf={(href) => ownAddress(page, linkFrom(source, href, entries))}
            code={drawCode}
          />
        </div>
        {at >= 0 && <Neighbours page={page} before={entries[at - 1]} after={entries[at + 1]} />}
      </article>
      {contents.length > 1 && (
        <nav class="document-contents" aria-label={t.onThisPage}>
          <p class="eyebrow">{t.onThisPage}</p>
          <Contents contents={contents} page={page} />
        </nav>
      )}
    </div>
  )
}

/** Under another language the text is still English. */
export const english = ({ language }: Pick<PageContext, 'language'>) =>
  language === 'en' ? {} : ({ lang: 'en', dir: 'ltr' } as const)

interface GuideTitleProps {
  readonly guide: Pick<DocumentEntry, 'slug' | 'title'>
  readonly page: Pick<PageContext, 'language'>
}

/** The title of a guide in the page's language, where it has one. */
export function GuideTitle({ guide: { slug, title }, page }: GuideTitleProps): VNode {
  const words = guideWords(page.language, slug)
  return words ? <>{words.title}</> : <span {...english(page)}>{title}</span>
}

function ownAddress(page: PageContext, to: string | undefined): string {
  if (to === undefined) return ''
  const [path = '', fragment] = to.split('#', 2)
  const href = path === '' ? '' : page.href(path)
  return fragment === undefined ? href : `${href}#${fragment}`
}

interface GuidesProps {
  readonly page: PageContext
  readonly entries: readonly Entry[]
  readonly current: Entry | undefined
}

/** Programs are many: they are listed where one looks for them, and where one reads one. */
function Guides({ page, entries, current }: GuidesProps): VNode {
  const t = docsTexts[page.language]
  return (
    <>
      {SHELF_NAMES.map((shelf) => (
        <div>
          <p class="eyebrow">{t.shelves[shelf]}</p>
          <ul>
            {entries
              .filter((entry) => entry.shelf === shelf)
              .filter(
                ({ slug }) => shelf !== 'examples' || slug === 'examples' || current?.shelf === 'examples',
              )
              .map((entry) => (
                <li>
                  <Link to={page.href(`/docs/${entry.slug}`)} current={entry === current}>
                    <GuideTitle guide={entry} page={page} />
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
      <div>
        <p class="eyebrow">{t.alsoHere}</p>
        <ul>
          {(['reference', 'problems', 'changelog'] as const).map((name) => (
            <li>
              <Link to={page.href(`/${name}`)} current={page.path === `/${name}`}>
                {t[name]}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

interface Heading {
  readonly id: string
  readonly words: string
  readonly level: number
}

function contentsOf({ nodes }: MarkdownTree): readonly Heading[] {
  const headings = nodes.flatMap((node) => {
    if (typeof node === 'string' || node.tag !== 'h' || node.level === undefined || node.level > 3) return []
    const words = wordsOf(node)
    return node.level === 1 ? [] : [{ id: headingId(words), words, level: node.level }]
  })
  return headings.length > MAX_HEADINGS ? headings.filter(({ level }) => level === 2) : headings
}

const Contents = ({
  contents,
  page,
}: {
  readonly contents: readonly Heading[]
  readonly page: PageContext
}): VNode => (
  <ul>
    {contents.map(({ id, words, level }) => (
      <li class={level === 3 ? 'deeper' : undefined}>
        <Link to={`#${id}`}>
          <span {...english(page)}>{words}</span>
        </Link>
      </li>
    ))}
  </ul>
)

interface NeighboursProps {
  readonly page: PageContext
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

function Neighbours({ page, before, after }: NeighboursProps): VNode {
  const t = docsTexts[page.language]
  const neighbour = (entry: Entry, words: string, name: string) => (
    <Link to={page.href(`/docs/${entry.slug}`)} class={name}>
      <span class="small muted">{words}</span> <GuideTitle guide={entry} page={page} />
    </Link>
  )
  return (
    <nav class="document-neighbours" aria-label={`${t.previous}, ${t.next}`}>
      {before && neighbour(before, t.previous, 'before')}
      {after && neighbour(after, t.next, 'after')}
    </nav>
  )
}
