// The site as resources of the door: forms, languages, files, refusals. What a browser makes of it is test/browser's.
import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

let gateway: Harness
beforeAll(async () => {
  gateway = await startRestHarness()
})
afterAll(() => gateway?.close())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(gateway.baseUrl + path, { headers, redirect: 'manual' })
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('a page', () => {
  it('is HTML for people and JSON for programs, at one address', async () => {
    const [page, json] = await Promise.all([get('/', browser), get('/', { accept: 'application/json' })])
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(json.headers.get('content-type')).toBe('application/json')
    expect(page.headers.get('vary')).toContain('accept')
    expect(await json.json()).toMatchObject({ base_url: gateway.baseUrl })
  })

  it('is Arabic from right to left under /ar, and links to pages in the same language', async () => {
    const html = await (await get('/ar', browser)).text()
    expect(html).toContain('<html lang="ar" dir="rtl">')
    expect(html).toContain('href="/ar/catalogue"')
    expect(html).toContain('href="/openapi.json"')
    expect(html).toContain('href="/"')
  })

  it('forbids whatever is inline or elsewhere', async () => {
    const response = await get('/', browser)
    const html = await response.text()
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'")
    expect(response.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
    expect(html).not.toMatch(/<script(?![^>]* src="\/)[^>]*>|<style|style="|\son\w+="/)
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it('loads only files that are there, kept for a year', async () => {
    const html = await (await get('/', browser)).text()
    const files = [...html.matchAll(/(?:src|href)="(\/site\/[^"]+)"/g)].map(([, path]) => path!)
    expect(files.length).toBeGreaterThan(2)
    for (const path of files) {
      const file = await get(path, { 'accept-encoding': 'br' })
      expect([path, file.status]).toEqual([path, 200])
      expect(file.headers.get('cache-control')).toContain('immutable')
    }
  })

  it('loads an island by its own script, and no part of it that has the same name', async () => {
    const manifest = JSON.parse(await readFile('dist/site/manifest.json', 'utf8')) as Record<string, string>
    for (const source of await readdir('src/doors/site/browser', { withFileTypes: true }))
      if (source.isFile()) {
        const name = source.name.replace(/\.tsx?$/, '')
        expect(manifest[`${name}.js`]).toMatch(new RegExp(`^${name}-`))
      }
  })

  it.each(['/site/manifest.json', '/site/..%2fserve.ts', '/site/site.css'])('serves no %s', async (path) => {
    expect((await get(path)).status).toBe(404)
  })
})

describe('the forms of a page', () => {
  it.each(['text/markdown', 'text/markdown, text/html;q=0.5'])('it is Markdown for %s', async (accept) => {
    const page = await get('/', { accept })
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(page.headers.get('vary')).toContain('accept')
    const text = await page.text()
    expect(text).toMatch(/^> Sandbox: .*\n\n(?:.*\n)*# /)
    expect(text).not.toMatch(/<\/?(?:h1|p|div|a|script)\b/)
  })

  it.each([undefined, '*/*', 'text/html', 'text/*', 'application/xml'])(
    'it is HTML for %s',
    async (accept) => {
      const page = await get('/', accept === undefined ? {} : { accept })
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      await page.arrayBuffer()
    },
  )

  it.each([
    ['/index.md', 'text/markdown; charset=utf-8'],
    ['/index.json', 'application/json'],
    ['/ar.md', 'text/markdown; charset=utf-8'],
    ['/docs.md', 'text/markdown; charset=utf-8'],
    ['/ar/docs.json', 'application/json'],
  ])('%s is the page in that form, whatever the client accepts', async (path, type) => {
    const page = await get(path, browser)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, type])
    await page.arrayBuffer()
  })

  it('names its other forms, each at an address and with a tag of its own', async () => {
    const page = await get('/docs', browser)
    const links = [
      ...(page.headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="alternate"; type="([^"]+)"/g),
    ]
    expect(links.map(([, path, type]) => [path, type])).toEqual([
      ['/docs.md', 'text/markdown'],
      ['/docs.json', 'application/json'],
    ])
    const forms = await Promise.all(['/docs', '/docs.md', '/docs.json'].map((path) => get(path, browser)))
    expect(new Set(forms.map(({ headers }) => headers.get('etag'))).size).toBe(3)
    expect((await get('/docs.md', { 'if-none-match': forms[1]?.headers.get('etag') ?? '' })).status).toBe(304)
  })
})

describe('the head of a page', () => {
  it('says where it is, in which languages and forms, and what a link to it shows', async () => {
    const html = await (await get('/ar/docs?q=x', browser)).text()
    const tags = [
      `<link rel="canonical" href="${gateway.baseUrl}/ar/docs"/>`,
      `<link rel="alternate" hreflang="en" href="${gateway.baseUrl}/docs?q=x"/>`,
      `<link rel="alternate" hreflang="x-default" href="${gateway.baseUrl}/docs?q=x"/>`,
      '<link rel="alternate" type="text/markdown" href="/ar/docs.md?q=x"/>',
      `<meta property="og:url" content="${gateway.baseUrl}/ar/docs"/>`,
      '<meta name="robots" content="noindex"/>',
    ]
    for (const tag of tags) expect(html).toContain(tag)
    const [, image = ''] = /property="og:image" content="([^"]+preview-docs-ar[^"]+\.png)"/.exec(html) ?? []
    const picture = Buffer.from(await (await fetch(image)).arrayBuffer())
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1200, 630])
  })

  it('gives systems the icon of the site, and telephones what they keep of it', async () => {
    const icon = await get('/favicon.ico')
    expect(icon.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await icon.arrayBuffer()).readUInt32BE(16)).toBe(32)
    const manifest = (await (await get('/site.webmanifest')).json()) as {
      icons: { src: string; sizes: string }[]
    }
    for (const { src, sizes } of manifest.icons) {
      const bytes = Buffer.from(await (await get(src)).arrayBuffer())
      expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes)
    }
  })

  it('is listed in the map of the site, in every language', async () => {
    const map = await (await get('/sitemap.xml')).text()
    for (const path of ['/', '/ar', '/ar/docs/mcp', '/tools/gateway_execute'])
      expect(map).toContain(`<loc>${gateway.baseUrl}${path}</loc>`)
    // Nobody should find the test money of a sandbox.
    expect(await (await get('/robots.txt')).text()).not.toContain('Sitemap')
  })
})

describe('a refusal', () => {
  it('is a page for a browser and a problem document for a program', async () => {
    const [page, problem] = await Promise.all([get('/nowhere', browser), get('/nowhere')])
    expect([page.status, problem.status]).toEqual([404, 404])
    expect(await page.text()).toContain('<h1>There is nothing here</h1>')
    expect(problem.headers.get('content-type')).toBe('application/problem+json')
  })

  it('is in the language of the address', async () => {
    expect(await (await get('/ar/nowhere', browser)).text()).toContain('lang="ar"')
  })
})

describe('a visitor who wants everything', () => {
  it('has so many pages drawn in a minute, and then a problem document; kept pages are no part of it', async () => {
    const limited = await startRestHarness({ env: { GATEWAY_RATE_LIMIT: '1' } })
    const statuses = new Map<number, number>()
    await fetch(`${limited.baseUrl}/catalogue`, { headers: browser })
    const askers = Array.from({ length: 8 }, async (_asker, at) => {
      for (let turn = 0; turn < 80; turn++) {
        const { status } = await fetch(`${limited.baseUrl}/test.json?${at}-${turn}`, { method: 'HEAD' })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    await Promise.all(askers)
    expect(Object.fromEntries(statuses)).toEqual({ 200: 599, 429: 41 })
    for (const path of ['/catalogue?q=pay', '/nothing-here']) {
      const answer = await fetch(limited.baseUrl + path, { headers: browser })
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      await answer.arrayBuffer()
    }
    expect(
      (await fetch(`${limited.baseUrl}/docs?q=pay`, { headers: browser })).headers.get('retry-after'),
    ).toMatch(/^\d+$/)
    expect((await fetch(`${limited.baseUrl}/catalogue`, { headers: browser })).status).toBe(200)
    await limited.close()
  })

  it('gets a head that every client reads, however long the address is', async () => {
    const { headers } = await get(`/test?${'a'.repeat(9000)}`, browser)
    expect(headers.get('link')).toBeNull()
    const short = await get('/test?a', browser)
    expect(short.headers.get('link')).toContain('</test.md?a>; rel="alternate"')
  })
})
