// Files that systems ask for at addresses of their own: the icon of the site, what a telephone keeps of it, and the list of its pages.
import { fixDocument, type FixedDocument } from '../http/document.ts'
import type { Assets } from './assets.ts'
import { openLibrary } from './documents.ts'
import type { SiteParts } from './ports.ts'
import { LANGUAGES, ROUTES, type SiteFile } from './routes.ts'
import { common } from './texts/common.ts'

/** They change with the gateway alone. */
const CACHED = { 'cache-control': 'public, max-age=86400' }

/** @param name which of them; it is made once */
export async function openSiteFile(
  name: SiteFile,
  { site, assets, root }: { readonly site: SiteParts; readonly assets: Assets; readonly root: string },
): Promise<FixedDocument> {
  switch (name) {
    case '/favicon.ico':
      return fixDocument(await assets.read(assets.fileOf('icon-32.png')), {
        type: 'image/png',
        headers: CACHED,
      })
    case '/site.webmanifest':
      return fixDocument(JSON.stringify(webManifest(assets, root)), {
        type: 'application/manifest+json',
        headers: CACHED,
      })
    case '/sitemap.xml':
      return fixDocument(await siteMap(site), { type: 'application/xml', headers: CACHED })
  }
}

const webManifest = (assets: Assets, root: string) => ({
  name: common.en.name,
  short_name: common.en.name,
  description: common.en.tagline,
  start_url: `${root}/`,
  scope: `${root}/`,
  display: 'browser',
  background_color: '#faf9f5',
  theme_color: '#0b5f63',
  icons: ([192, 512] as const).map((size) => ({
    src: `${root}/site/${assets.fileOf(`icon-${size}.png`)}`,
    sizes: `${size}x${size}`,
    type: 'image/png',
  })),
})

/** Every page that does not depend on who sells or pays, in every language (sitemaps.org, with Google's links between languages). */
async function siteMap({ registry, addresses, documents }: SiteParts): Promise<string> {
  const { entries } = await openLibrary()
  const capabilities = documents.catalogue()['tools'] as readonly { readonly id: string }[]
  const paths = [
    ...Object.values(ROUTES)
      .map(({ path }) => path)
      .filter((path) => !path.includes('{')),
    ...entries.map(({ slug }) => `/docs/${slug}`),
    ...registry.tools.map(({ tool }) => `/tools/${tool.name}`),
    ...capabilities.map(({ id }) => `/capabilities/${id}`),
  ]
  const { siteUrl } = addresses
  const addressIn = (path: string, language: string) =>
    siteUrl.replace(/\/$/, '') +
    (language === LANGUAGES[0] ? path : `/${language}${path === '/' ? '' : path}`)
  const links = (path: string) =>
    LANGUAGES.map(
      (language) =>
        `<xhtml:link rel="alternate" hreflang="${language}" href="${addressIn(path, language)}"/>`,
    ).join('')
  const urls = [...new Set(paths)].flatMap((path) =>
    LANGUAGES.map((language) => `<url><loc>${addressIn(path, language)}</loc>${links(path)}</url>`),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n${urls.join('\n')}\n</urlset>\n`
}
