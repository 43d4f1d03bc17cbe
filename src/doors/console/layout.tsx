// A page of the console as HTML: the menu that a role has, the content, and what its scripts need.
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Link } from '../site/components/link.tsx'
import { Mark } from '../site/components/mark.tsx'
import { LANGUAGES, type Language } from '../site/routes.ts'
import { common } from '../site/texts/common.ts'
import type { AnyConsolePage, ConsoleContext } from './ports.ts'
import { CONSOLE_ROUTES, type ConsolePageName, type ConsoleRoute, maySee } from './routes.ts'
import { consoleTexts } from './texts/common.ts'

interface Rendering {
  readonly page: Omit<ConsoleContext, 'needScript'>
  readonly view: AnyConsolePage
  readonly data: unknown
}

/** The document. Its content is drawn first, since its islands say which scripts the head asks for. */
export function renderConsole({ page, view, data }: Rendering): string {
  const scripts = new Set<string>()
  const context: ConsoleContext = { ...page, needScript: (name) => void scripts.add(name) }
  const { View } = view
  const main = renderToString(<View data={data} page={context} />)
  const body = renderToString(
    <Around page={context} isWide={view.isWide === true}>
      {CONTENT_HERE}
    </Around>,
  ).replace(CONTENT_HERE, () => main)
  const t = consoleTexts[page.language]
  const head = renderToString(
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{`${view.title(data, context)} · ${t.console}`}</title>
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content="light dark" />
      <script src={page.asset('theme.js')} />
      <link rel="stylesheet" href={page.asset('site.css')} />
      <link rel="stylesheet" href={page.asset('console.css')} />
      <link rel="icon" type="image/svg+xml" href={page.asset('icon.svg')} />
      <script type="module" src={page.asset('site.js')} />
      <script type="module" src={page.asset('console-page.js')} />
      {[...scripts].map((name) => (
        <script type="module" src={page.asset(name)} />
      ))}
    </head>,
  )
  return `<!doctype html><html lang="${page.language}" dir="${page.direction}">${head}<body class="console">${body}</body></html>`
}

/** Sends a browser that another site sent here to the same page once more, from here. */
export const renderAway = (address: string, language: Language): string =>
  `<!doctype html>${renderToString(
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="refresh" content={`0; url=${address}`} />
        <title>{consoleTexts[language].console}</title>
      </head>
      <body>
        <a href={address}>{consoleTexts[language].goOn}</a>
      </body>
    </html>,
  )}`

const CONTENT_HERE = '\u0001content\u0001'
const GROUPS = ['now', 'access', 'records', 'money', 'rules', 'house'] as const

interface AroundProps {
  readonly page: ConsoleContext
  readonly isWide: boolean
  readonly children: string
}

function Around({ page, isWide, children }: AroundProps): VNode {
  const t = common[page.language]
  const words = consoleTexts[page.language]
  const other = LANGUAGES.find((language) => language !== page.language) ?? 'en'
  return (
    <>
      <a class="skip" href="#content">
        {t.skip}
      </a>
      {page.isSandbox && (
        <p class="banner" role="note">
          <span aria-hidden="true">◆</span> {t.sandbox}
        </p>
      )}
      <header class="top">
        <Link to={page.href('/console')} class="brand">
          <Mark /> {words.console}
        </Link>
        <span class="console-ways">
          <Link to={page.href('/')}>{words.site}</Link>
          <Link to={page.inLanguage(other)} class="language" lang={other}>
            {t.otherLanguage}
          </Link>
          {page.signedIn && (
            <Link to={page.href('/console/me')} current={page.route === 'me'}>
              <bdi>{page.signedIn.name}</bdi>
            </Link>
          )}
        </span>
      </header>
      <div class="console-body">
        {page.signedIn && <Menu page={page} />}
        <main id="content" class={isWide ? 'wide' : undefined} tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  )
}

function Menu({ page }: { readonly page: ConsoleContext }): VNode {
  const t = consoleTexts[page.language]
  const { signedIn } = page
  const routes = Object.entries(CONSOLE_ROUTES as Readonly<Record<ConsolePageName, ConsoleRoute>>) as [
    ConsolePageName,
    ConsoleRoute,
  ][]
  return (
    <nav class="console-menu" aria-label={t.menu}>
      <details class="console-fold">
        <summary>{t.menu}</summary>
        {GROUPS.map((group) => {
          const seen = routes.filter(
            ([name, route]) => route.group === group && signedIn && maySee(name, signedIn),
          )
          if (seen.length === 0) return null
          return (
            <section>
              <h2>{t.groups[group]}</h2>
              <ul>
                {seen.map(([name, { path }]) => (
                  <li>
                    <Link to={page.href(path)} current={isWithin(page.path, path)}>
                      {t.pages[name as keyof typeof t.pages]}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          )
        })}
      </details>
    </nav>
  )
}

const isWithin = (path: string, way: string) => {
  const [bare = ''] = path.split('?', 1)
  return bare === way || (way !== '/console' && bare.startsWith(`${way}/`))
}
