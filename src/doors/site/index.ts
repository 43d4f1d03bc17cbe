// The site as resources of the HTTP door. Everything that draws pages is loaded with the first request for one.
import { type GatewayError, toGatewayError } from '../../core/errors.ts'
import { sendText } from '../http/reply.ts'
import type { Exchange, Handler, Resource } from '../http/resource.ts'
import type { ShownPrice, SitePages } from '../http/site-pages.ts'
import type { SiteParts } from './ports.ts'
import {
  FORM_SUFFIXES,
  type Language,
  LANGUAGES,
  type PageName,
  type PageRoute,
  ROUTES,
  SITE_FILES,
} from './routes.ts'
import type { SiteServer } from './serve.tsx'

/** Makes the addresses of the site; nothing of it is loaded yet. */
export function createSite(parts: SiteParts): SitePages {
  let opened: Promise<SiteServer> | undefined
  function open(): Promise<SiteServer> {
    opened ??= import('./serve.tsx').then(({ openSite }) => openSite(parts))
    // What failed once is tried again.
    opened.catch(() => (opened = undefined))
    return opened
  }

  /** The site where it opens; a page is no reason that an answer fails. */
  const openForRefusal = ({ context }: Exchange): Promise<SiteServer | undefined> =>
    open().catch((err: unknown) => {
      parts.log.error({ err, request_id: context.requestId }, 'the site does not open')
      return undefined
    })

  async function refuse(error: GatewayError, exchange: Exchange): Promise<boolean> {
    if (!isBrowser(exchange) || exchange.res.headersSent) return false
    const server = await openForRefusal(exchange)
    return (await server?.refusal(error, exchange)) ?? false
  }

  async function price(shown: ShownPrice, exchange: Exchange): Promise<boolean> {
    const server = await openForRefusal(exchange)
    server?.price(shown, exchange)
    return server !== undefined
  }

  const pageHandler =
    (name: PageName, language: Language): Handler =>
    async (exchange) => {
      try {
        await (await open()).page(name, language, exchange)
      } catch (thrown) {
        const error = toGatewayError(thrown)
        if (error.code === 'internal')
          parts.log.error(
            { err: thrown, request_id: exchange.context.requestId, page: name },
            'a page failed',
          )
        if (!(await refuse(error, exchange))) throw error
      }
    }

  const pages = Object.entries(ROUTES as Readonly<Record<PageName, PageRoute>>).flatMap(([name, route]) =>
    LANGUAGES.flatMap((language): Resource[] => {
      const handler = pageHandler(name as PageName, language)
      const path = inLanguage(route.path, language)
      return [
        { path, methods: { GET: handler, ...(route.takesForm && { POST: handler }) } },
        // A path with a name in it takes the suffix as part of the name.
        ...(path.endsWith('}')
          ? []
          : FORM_SUFFIXES.map(({ suffix }) => ({
              path: (path === '/' ? '/index' : path) + suffix,
              methods: { GET: handler },
            }))),
      ]
    }),
  )
  const file: Resource = {
    path: '/site/{file}',
    methods: { GET: async (exchange) => (await open()).file(exchange) },
  }
  let payForTest: Handler | undefined
  const testPayment: Resource = {
    path: '/site/test-payment',
    methods: {
      POST: async (exchange) => {
        payForTest ??= (await import('./test-payment.ts')).testPaymentHandler(parts)
        await payForTest(exchange)
      },
    },
  }
  const badge: Resource = {
    path: '/badges/{seller}/{service_id}',
    methods: {
      GET: async (exchange) => (await import('./badge.ts')).sendServiceBadge(parts, exchange),
    },
  }
  const sampleBadge: Resource = {
    path: '/badges/{statement}',
    methods: {
      GET: async (exchange) => (await import('./badge.ts')).sendSampleBadge(parts, exchange),
    },
  }
  const named = SITE_FILES.map((path): Resource => ({
    path,
    methods: { GET: async (exchange) => (await open()).siteFile(path, exchange) },
  }))
  const root = new URL(parts.addresses.siteUrl).pathname.replace(/\/$/, '')
  // What people type: the page itself has the address that programs know.
  const sell = LANGUAGES.map((language): Resource => ({
    path: inLanguage('/sell', language),
    methods: {
      GET: ({ res, context }) =>
        sendText(res, 308, '', {
          location: root + inLanguage('/marketplace/sell', language),
          'x-request-id': context.requestId,
        }),
    },
  }))
  return { resources: [...pages, file, ...named, testPayment, badge, sampleBadge, ...sell], refuse, price }
}

/** The first language has no prefix; the others' first pages have no slash behind theirs. */
const inLanguage = (path: string, language: Language): string =>
  language === LANGUAGES[0] ? path : path === '/' ? `/${language}` : `/${language}${path}`

/** Programs that take anything say so with a star. */
const isBrowser = ({ req }: Exchange) => /\btext\/html\b/i.test(req.headers.accept ?? '')
