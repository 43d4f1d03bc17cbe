// Answers for a page: finds its data, draws it in the form and language that the visitor wants, and keeps what never changes.
import { API_VERSION } from '../../core/config.ts'
import { GatewayError, type Problem } from '../../core/errors.ts'
import { readBytes } from '../http/body.ts'
import { watchDisconnect } from '../http/disconnect.ts'
import { fixDocument, type FixedDocument, isFromEverybody, sendPublicText } from '../http/document.ts'
import { type Headers, problemHeaders, problemOf, sendText } from '../http/reply.ts'
import { mediaTypeOf } from '../http/request.ts'
import { isAtOtherName } from '../http/own-name.ts'
import type { Exchange } from '../http/resource.ts'
import type { ShownPrice } from '../http/site-pages.ts'
import { openAssets } from './assets.ts'
import { pageHeaders } from './headers.ts'
import { chooseForm, type Form } from './negotiation.ts'
import { markdownOf } from './markdown-form.ts'
import { nearestPages } from './nearest.ts'
import { ErrorView } from './pages/error.tsx'
import { PAGES } from './pages/index.ts'
import { PriceView } from './pages/price.tsx'
import { senderOf } from './own-page.ts'
import type { AnyPage, PageContext, SiteParts } from './ports.ts'
import { createKeptPages } from './kept-pages.ts'
import { createPageLimit } from './page-limit.ts'
import { renderPage } from './render.tsx'
import {
  addressInForm,
  FORM_SUFFIXES,
  type Language,
  LANGUAGES,
  type PageName,
  type PageRoute,
  ROUTES,
  type SiteFile,
} from './routes.ts'
import { openSiteFile } from './site-files.ts'
import { common } from './texts/common.ts'

export interface SiteServer {
  /** Answers GET and POST of a page. */
  page(name: PageName, language: Language, exchange: Exchange): Promise<void>
  /** Answers with a built file. @throws {GatewayError} not_found */
  file(exchange: Exchange): Promise<void>
  /** Answers with one of the files at addresses of their own. */
  siteFile(name: SiteFile, exchange: Exchange): Promise<void>
  /** Shows a price to a person who opened an address that is sold to programs. */
  price(shown: ShownPrice, exchange: Exchange): void
  /** Shows a refusal to a person; false where the address has had its pages for this minute, and a problem document is all it gets. */
  refusal(error: GatewayError, exchange: Exchange): Promise<boolean>
}

const MAX_FORM_BYTES = 64 * 1024

const TYPES: Readonly<Record<Form, string>> = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  json: 'application/json',
}

const PROBLEM = 'application/problem+json'

/** @throws {Error} where the site was not built */
export async function openSite(site: SiteParts): Promise<SiteServer> {
  const { addresses, config } = site
  const assets = await openAssets()
  const root = new URL(addresses.siteUrl).pathname.replace(/\/$/, '')
  const base = new URL(addresses.baseUrl)
  const own = new URL(addresses.siteUrl)
  // A visitor may know this host by another name than the one that it is configured with.
  const isSameOrigin = base.origin === own.origin
  const api = (isSameOrigin ? base.pathname : addresses.baseUrl).replace(/\/$/, '')
  const headers = pageHeaders(addresses)
  const kept = createKeptPages()
  const limit = createPageLimit(config.rateLimit)
  const siteFiles = new Map<SiteFile, Promise<FixedDocument>>()

  function contextOf(
    name: PageContext['name'],
    language: Language,
    path: string,
  ): Omit<PageContext, 'needScript'> {
    const addressIn = (language: Language, to: string) =>
      root + (language === LANGUAGES[0] ? to : to === '/' ? `/${language}` : `/${language}${to}`)
    return {
      name,
      language,
      direction: language === 'ar' ? 'rtl' : 'ltr',
      isSandbox: config.mode === 'sandbox',
      version: API_VERSION,
      path,
      ...addresses,
      api,
      href: (to) => (isPage(to) ? addressIn(language, to) : to.startsWith('/') ? root + to : to),
      inLanguage: (language) => addressIn(language, path || '/'),
      asset: (file) => `${root}/site/${assets.fileOf(file)}`,
    }
  }

  async function draw(
    page: AnyPage,
    data: unknown,
    context: Omit<PageContext, 'needScript'>,
    form: Form,
  ): Promise<string> {
    if (form === 'json') return JSON.stringify(data)
    const { View } = page
    const full = { ...context, needScript: () => {} }
    if (form === 'markdown' && page.toMarkdown) return withSandbox(page.toMarkdown(data, full), context)
    const { html, main } = renderPage({
      page: context,
      title: page.title(data, full),
      description: page.description?.(data, full),
      isWide: page.isWide,
      isIndexed: !context.isSandbox && page.isUnlisted !== true,
      content: (page) => <View data={data} page={page} />,
    })
    if (form === 'html') return html
    const address =
      addresses.siteUrl.replace(/\/$/, '') + context.inLanguage(context.language).slice(root.length)
    return withSandbox(markdownOf(main, address), context)
  }

  return {
    async page(name, language, { req, res, context, params }) {
      const route: PageRoute = ROUTES[name]
      const asked = formOf(context.path)
      const form = asked?.form ?? chooseForm(req.headers.accept, route.usually ?? 'html')
      if (isAtOtherName(req, own) && req.method !== 'POST' && req.headers.accept?.includes('text/html')) {
        const query = context.query === '' ? '' : `?${context.query}`
        return sendText(res, 302, '', {
          ...headers,
          vary: 'accept, host',
          'cache-control': 'no-store',
          location: `${own.origin}${context.path}${query}`,
          'x-request-id': context.requestId,
        })
      }
      const path = pathOf({ path: asked?.path ?? context.path }, language)
      const key = `${form} ${language} ${path}`
      const known = req.method === 'POST' ? undefined : kept.find(key, context.query)
      if (known) return known.send(req, res, { 'x-request-id': context.requestId })

      await limit.count(context.address)
      const { page } = await PAGES[name]()
      const disconnect = watchDisconnect(res)
      const data = await page.load({
        site,
        language,
        params: asked ? withoutSuffix(params) : params,
        query: new URLSearchParams(context.query),
        form: req.method === 'POST' ? await readForm(req) : undefined,
        visitor: { address: context.address, requestId: context.requestId, signal: disconnect.signal },
      })
      if (data === undefined)
        throw new GatewayError('not_found', `See ${addresses.siteUrl}/ for what there is.`)
      const isAnswer = req.method === 'POST'
      const query = page.isFixed === true || isAnswer || context.query === '' ? '' : `?${context.query}`
      const drawn = contextOf(name, language, (page.path?.(data) ?? path) + query)
      const text = await draw(page, data, drawn, form)
      const shared = {
        vary: 'accept',
        ...alternates(drawn.inLanguage(language), form),
        ...(page.isUnlisted && { 'x-robots-tag': 'noindex' }),
        ...headers,
      }
      const all = { 'content-type': TYPES[form], ...shared }
      const status = page.status?.(data) ?? 200
      const isForAnyQuery = page.isFixed === true
      const isKept = isForAnyQuery || (page.isFixed === 'by path' && context.query === '')
      if (isKept && !isAnswer && status === 200) {
        const document = fixDocument(text, { type: TYPES[form], headers: shared })
        kept.keep(key, { document, bytes: text.length, isForAnyQuery })
        return document.send(req, res, { 'x-request-id': context.requestId })
      }
      if (status !== 200 || isAnswer)
        return sendText(res, status, text, {
          ...all,
          // What is not there is the same problem for a program as anywhere else.
          ...(form === 'json' && status === 404 && { 'content-type': PROBLEM }),
          'cache-control': 'no-store',
          'x-request-id': context.requestId,
        })
      await sendPublicText(req, res, {
        text,
        headers: { ...all, 'cache-control': 'no-cache', 'x-request-id': context.requestId },
        isTagged: true,
        isForEverybody: isFromEverybody(req),
      })
    },

    async file({ req, res, context, params }) {
      const file = await assets.find(params['file'] ?? '')
      if (!file) throw new GatewayError('not_found', 'The site was built anew: load the page again.')
      await file.send(req, res, { 'x-request-id': context.requestId })
    },

    async siteFile(name, { req, res, context }) {
      const made = siteFiles.get(name) ?? openSiteFile(name, { site, assets, root })
      siteFiles.set(name, made)
      // What failed once is tried again.
      made.catch(() => siteFiles.delete(name))
      await (await made).send(req, res, { 'x-request-id': context.requestId })
    },

    price({ problem, challenge, headers: others }, { req, res, context }) {
      const { html } = renderPage({
        page: contextOf('error', languageOf(context.path, req), ''),
        title: problem.title,
        description: undefined,
        isIndexed: false,
        content: (page) => (
          <PriceView problem={problem} challenge={challenge} registry={site.registry} page={page} />
        ),
      })
      // Proxies read the head of a 402 into a small buffer: of the page's own headers only what guards it is said.
      const { 'permissions-policy': _policy, 'cross-origin-resource-policy': _resource, ...guards } = headers
      sendText(res, problem.status, req.method === 'HEAD' ? '' : html, {
        ...others,
        ...guards,
        'content-type': TYPES.html,
      })
    },

    async refusal(error, { req, res, context }) {
      if (!(await limit.allows(context.address))) return false
      const problem: Problem = problemOf(error, context, addresses)
      const near = problem.status === 404 ? await nearestPages(context.path, site) : []
      const { html } = renderPage({
        page: contextOf('error', languageOf(context.path, req), ''),
        title: problem.title,
        description: undefined,
        isIndexed: false,
        content: (page) => <ErrorView problem={problem} near={near} page={page} />,
      })
      sendText(res, error.status, req.method === 'HEAD' ? '' : html, {
        ...problemHeaders(error, context.requestId),
        ...headers,
        'content-type': TYPES.html,
        'cache-control': 'no-store',
      })
      return true
    },
  }
}

const PAGE_PATHS = Object.values(ROUTES as Readonly<Record<string, PageRoute>>).map(
  ({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?#]+')}/?(?:[?#]|$)`),
)
/** Whether a path is a page of the site, which has an address in every language. */
const isPage = (path: string) => PAGE_PATHS.some((pattern) => pattern.test(path))

/** The page and the form that an address with a suffix means: `/docs.md`, `/index.json`. */
function formOf(path: string): { readonly path: string; readonly form: Form } | undefined {
  const found = FORM_SUFFIXES.find(({ suffix }) => path.endsWith(suffix))
  if (!found) return undefined
  const bare = path.slice(0, -found.suffix.length)
  return { path: bare.endsWith('/index') ? bare.slice(0, -'/index'.length) || '/' : bare, form: found.form }
}

/** The last name in the path is what the suffix was put behind. */
const withoutSuffix = (params: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value], at, { length }) => [
      name,
      at === length - 1 ? (formOf(`/${value}`)?.path.slice(1) ?? value) : value,
    ]),
  )

/** Clients and proxies read a head of 4 to 16 KB, and the visitor decides how long an address is. */
const MAX_LINKED = 1024

/** The addresses of the other forms (RFC 8288), for whoever reads the head alone; a very long one is said in the page only. */
function alternates(address: string, form: Form): Headers {
  if (address.length > MAX_LINKED) return {}
  const link = FORM_SUFFIXES.filter((other) => other.form !== form)
    .map(
      ({ suffix, form }) =>
        `<${addressInForm(address, suffix).replaceAll(/[<>"]/g, encodeURIComponent)}>; rel="alternate"; type="${mediaOf(form)}"`,
    )
    .join(', ')
  return { link }
}

/** A page says that money is test money in every form. */
const withSandbox = (text: string, { isSandbox, language }: Pick<PageContext, 'isSandbox' | 'language'>) =>
  isSandbox ? `> ${common[language].sandbox}\n\n${text}` : text

const mediaOf = (form: Form) => TYPES[form].replace(/;.*/, '')

/** The language that a path begins with; an address for programs has none, and what the visitor reads first is taken. */
function languageOf(path: string, req: Exchange['req']): Language {
  const named = LANGUAGES.find((language) => path === `/${language}` || path.startsWith(`/${language}/`))
  if (named || isPage(path)) return named ?? LANGUAGES[0]
  const [first = ''] = (req.headers['accept-language'] ?? '').toLowerCase().split(/[-,;]/, 1)
  return LANGUAGES.find((language) => language === first.trim()) ?? LANGUAGES[0]
}

/** Path of the page without its language. */
const pathOf = ({ path }: { readonly path: string }, language: Language): string =>
  (language === LANGUAGES[0] ? path : path.slice(language.length + 1)) || '/'

/**
 * A form that a page of this site sent. Another site's could act in the name of the visitor's address.
 * @throws {GatewayError} origin_denied, content_type_unsupported, body_too_large
 */
async function readForm(req: Exchange['req']): Promise<URLSearchParams> {
  if (senderOf(req) === 'elsewhere')
    throw new GatewayError('origin_denied', 'This form is for the pages of this site.')
  if (mediaTypeOf(req) !== 'application/x-www-form-urlencoded')
    throw new GatewayError(
      'content_type_unsupported',
      'Send the form as `application/x-www-form-urlencoded`.',
    )
  return new URLSearchParams((await readBytes(req, MAX_FORM_BYTES)).toString('utf8'))
}
