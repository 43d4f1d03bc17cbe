// The addresses of the site's pages. Nothing here loads a page: a gateway that nobody looks at pays for this table alone.

export interface PageRoute {
  /** OpenAPI style. */
  readonly path: string
  /** Whether its form is sent to it, which works without a script. */
  readonly takesForm?: boolean
  /** What a client gets that asks for nothing in particular; HTML unless this was an address for programs first. */
  readonly usually?: 'json'
}

export const ROUTES = {
  home: { path: '/', takesForm: true },
  catalogue: { path: '/catalogue' },
  tool: { path: '/tools/{name}', takesForm: true },
  capability: { path: '/capabilities/{id}' },
  marketplace: { path: '/marketplace' },
  sell: { path: '/marketplace/sell', usually: 'json' },
  figures: { path: '/marketplace/figures', usually: 'json' },
  seller: { path: '/marketplace/{seller}' },
  service: { path: '/marketplace/{seller}/{service_id}' },
  discovery: { path: '/discovery' },
  receipt: { path: '/receipts/{receipt_id}' },
  verify: { path: '/verify' },
  test: { path: '/test', takesForm: true },
  status: { path: '/status' },
  docs: { path: '/docs' },
  guide: { path: '/docs/{guide}' },
  reference: { path: '/reference' },
  changelog: { path: '/changelog' },
  reader: { path: '/reader' },
  problems: { path: '/problems' },
  problem: { path: '/problems/{code}' },
} as const satisfies Record<string, PageRoute>

export type PageName = keyof typeof ROUTES

/** Files that systems ask for at addresses of their own (site-files.ts). */
export const SITE_FILES = ['/favicon.ico', '/site.webmanifest', '/sitemap.xml'] as const
export type SiteFile = (typeof SITE_FILES)[number]

/** The languages of the site; the first one has no prefix in its addresses. */
export const LANGUAGES = ['en', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

/** An address with one of these behind it is the page in that form, for whoever cannot set a header. The first page is `/index.md`. */
export const FORM_SUFFIXES = [
  { suffix: '.md', form: 'markdown' },
  { suffix: '.json', form: 'json' },
] as const

/** The address of a page in that form, with its query behind it. */
export function addressInForm(address: string, suffix: (typeof FORM_SUFFIXES)[number]['suffix']): string {
  const [path = '', query] = address.split('?', 2)
  const bare = path.endsWith('/') ? `${path}index` : path
  return bare + suffix + (query === undefined ? '' : `?${query}`)
}
