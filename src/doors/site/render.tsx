// A page as HTML: the body first, since its islands say which scripts the head asks for.
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Layout } from './components/layout.tsx'
import { common } from './texts/common.ts'
import type { PageContext } from './ports.ts'
import { LANGUAGES } from './routes.ts'

export interface Rendering {
  readonly page: Omit<PageContext, 'needScript'>
  readonly title: string
  readonly description: string | undefined
  readonly isWide?: boolean | undefined
  readonly isIndexed: boolean
  content(page: PageContext): VNode
}

/** The document, and its content alone for those who read it in another form. */
export function renderPage({ page, title, description, isWide, isIndexed, content }: Rendering): {
  readonly html: string
  readonly main: string
} {
  const scripts = new Set<string>()
  const context: PageContext = { ...page, needScript: (name) => void scripts.add(name) }
  const main = renderToString(content(context))
  const body = renderToString(
    <Layout page={context} isWide={isWide}>
      {CONTENT_HERE}
    </Layout>,
  ).replace(CONTENT_HERE, () => main)
  const head = renderToString(
    <Head
      page={context}
      title={title}
      description={description}
      isIndexed={isIndexed}
      scripts={[...scripts]}
    />,
  )
  const html = `<!doctype html><html lang="${page.language}" dir="${page.direction}">${head}<body>${body}</body></html>`
  return { html, main }
}

/** The content is rendered once, and stands where this text is in what is around it. */
const CONTENT_HERE = '\u0001content\u0001'

interface HeadProps {
  readonly page: PageContext
  readonly title: string
  readonly description: string | undefined
  readonly isIndexed: boolean
  readonly scripts: readonly string[]
}

function Head({ page, title, description, isIndexed, scripts }: HeadProps): VNode {
  const t = common[page.language]
  const full = title === t.name ? title : `${title} · ${t.name}`
  const about = description ?? t.tagline
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{full}</title>
      <meta name="description" content={about} />
      {!isIndexed && <meta name="robots" content="noindex" />}
      <meta name="color-scheme" content="light dark" />
      <script src={page.asset('theme.js')} />
      <link rel="stylesheet" href={page.asset('site.css')} />
      <link rel="icon" type="image/svg+xml" href={page.asset('icon.svg')} />
      {LANGUAGES.map((language) => (
        <link rel="alternate" hreflang={language} href={page.siteUrl + page.inLanguage(language)} />
      ))}
      <meta property="og:title" content={full} />
      <meta property="og:description" content={about} />
      <meta property="og:type" content="website" />
      <script type="module" src={page.asset('site.js')} />
      {scripts.map((name) => (
        <script type="module" src={page.asset(name)} />
      ))}
    </head>
  )
}
