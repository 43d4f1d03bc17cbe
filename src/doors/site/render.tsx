// A page as HTML: the body first, since its islands say which scripts the head asks for.
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Layout } from './components/layout.tsx'
import { common } from './texts/common.ts'
import type { PageContext } from './ports.ts'
import { addressInForm, LANGUAGES } from './routes.ts'
import type { PictureName } from './texts/pictures.ts'

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
  const { origin } = new URL(page.siteUrl)
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
      <link rel="icon" sizes="32x32" href={page.asset('icon-32.png')} />
      <link rel="icon" type="image/svg+xml" href={page.asset('icon.svg')} />
      <link rel="apple-touch-icon" href={page.asset('icon-180.png')} />
      <link rel="manifest" href={page.href('/site.webmanifest')} />
      {page.name !== 'error' && <Addresses page={page} />}
      <meta property="og:title" content={full} />
      <meta property="og:description" content={about} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={t.name} />
      <meta property="og:locale" content={page.language} />
      <meta
        property="og:image"
        content={origin + page.asset(`preview-${PICTURES[page.name] ?? 'home'}-${page.language}.png`)}
      />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta name="twitter:card" content="summary_large_image" />
      <script type="module" src={page.asset('site.js')} />
      {scripts.map((name) => (
        <script type="module" src={page.asset(name)} />
      ))}
    </head>
  )
}

/** Where the page is, in which languages, and in which forms besides this one. */
function Addresses({ page }: { readonly page: PageContext }): VNode {
  const { origin } = new URL(page.siteUrl)
  const [first] = LANGUAGES
  const own = page.inLanguage(page.language)
  const [path = ''] = own.split('?', 1)
  const canonical = origin + path
  return (
    <>
      <link rel="canonical" href={canonical} />
      <meta property="og:url" content={canonical} />
      {LANGUAGES.map((language) => (
        <link rel="alternate" hreflang={language} href={origin + page.inLanguage(language)} />
      ))}
      <link rel="alternate" hreflang="x-default" href={origin + page.inLanguage(first)} />
      <link rel="alternate" type="text/markdown" href={addressInForm(own, '.md')} />
      <link rel="alternate" type="application/json" href={addressInForm(own, '.json')} />
    </>
  )
}

/** The picture of a page where it is shared. */
const PICTURES: Readonly<Partial<Record<PageContext['name'], PictureName>>> = {
  catalogue: 'tools',
  tool: 'tools',
  test: 'tools',
  marketplace: 'market',
  seller: 'market',
  service: 'market',
  discovery: 'market',
  receipt: 'proof',
  verify: 'proof',
  docs: 'docs',
  guide: 'docs',
  reference: 'docs',
  problems: 'docs',
  problem: 'docs',
  changelog: 'docs',
  reader: 'docs',
}
