// What stands around every page: name, ways, language, colours, and the word that this is a sandbox.
import type { VNode } from 'preact'
import { common } from '../texts/common.ts'
import type { Children, PageContext } from '../ports.ts'
import { addressInForm, LANGUAGES } from '../routes.ts'
import { Link } from './link.tsx'
import { Mark } from './mark.tsx'

const WAYS = [
  ['/catalogue', 'catalogue'],
  ['/marketplace', 'marketplace'],
  ['/discovery', 'discovery'],
  ['/test', 'test'],
  ['/verify', 'verify'],
  ['/status', 'status'],
  ['/docs', 'docs'],
] as const

/** Whether a page is one of those that a way leads to. */
const isWithin = (path: string, way: string) =>
  path.split('?')[0] === way || path.startsWith(`${way}/`) || ALSO[way]?.test(path) === true

/** Pages that stand at addresses of their own. */
const ALSO: Readonly<Record<string, RegExp>> = {
  '/catalogue': /^\/(?:tools|capabilities)\//,
  '/docs': /^\/(?:reference|problems|changelog)(?:[/?]|$)/,
  '/verify': /^\/receipts\//,
}

/** The console has the address that people sign in at, wherever the site is. */
function consoleAddress({ siteUrl, baseUrl, language, href }: PageContext): string {
  const path = language === LANGUAGES[0] ? '/console' : `/${language}/console`
  return new URL(siteUrl).origin === new URL(baseUrl).origin ? href(path) : baseUrl + path
}

interface LayoutProps extends Children {
  readonly page: PageContext
  readonly isWide?: boolean | undefined
}

/** The body of a page. */
export function Layout({ page, isWide, children }: LayoutProps): VNode {
  const t = common[page.language]
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
        <Link to={page.href('/')} class="brand" current={page.path === '/'}>
          <Mark /> {t.name}
        </Link>
        <nav aria-label={t.menu}>
          <ul>
            {WAYS.map(([path, name]) => (
              <li>
                <Link to={page.href(path)} current={isWithin(page.path, path)}>
                  {t.nav[name]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <Link to={consoleAddress(page)} class="language">
          {t.console}
        </Link>
        <Link to={page.inLanguage(other)} class="language" lang={other}>
          {t.otherLanguage}
        </Link>
      </header>
      <main id="content" class={isWide ? 'wide' : undefined} tabIndex={-1}>
        {children}
      </main>
      <footer class="bottom">
        <p>
          {t.forAgents}: <Link to={page.href('/agent.txt')}>agent.txt</Link> ·{' '}
          <Link to={page.href('/llms.txt')}>llms.txt</Link> ·{' '}
          <Link to={page.href('/openapi.json')}>OpenAPI</Link> ·{' '}
          <Link to={page.href('/.well-known/agent-card.json')}>A2A</Link> ·{' '}
          <Link to={page.href('/v1/capabilities')}>JSON</Link>
        </p>
        <p>
          {page.name !== 'error' && (
            <>
              {t.footer} <Link to={addressInForm(page.inLanguage(page.language), '.md')}>Markdown</Link> ·{' '}
              <Link to={addressInForm(page.inLanguage(page.language), '.json')}>JSON</Link>.{' '}
            </>
          )}
          {t.notEnglish}
        </p>
        <p class="needs-script">
          <label>
            {t.theme.label}{' '}
            <select data-theme-choice="">
              <option value="auto">{t.theme.auto}</option>
              <option value="light">{t.theme.light}</option>
              <option value="dark">{t.theme.dark}</option>
            </select>
          </label>
        </p>
      </footer>
    </>
  )
}
