// The written documents, the reference and the pages of problems: all are there, in both languages, and no link of them is dead.
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/core/errors.ts'
import { SHELVES } from '../../src/documents/shelves.ts'
import { linkFrom, openLibrary } from '../../src/doors/site/documents.ts'
import { parseMarkdown } from '../../src/doors/site/components/markdown/parse.ts'
import { type MarkdownNode } from '../../src/doors/site/components/markdown/node.ts'
import { type Harness, startRestHarness } from '../support/door-harness.ts'

let gateway: Harness
beforeAll(async () => {
  gateway = await startRestHarness()
})
afterAll(() => gateway?.close())

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const get = (path: string, headers: Record<string, string> = browser) =>
  fetch(gateway.baseUrl + path, { headers, redirect: 'manual' })
const textOf = async (path: string, headers?: Record<string, string>) => (await get(path, headers)).text()

const hrefsOf = (nodes: readonly MarkdownNode[]): string[] =>
  nodes.flatMap((node) =>
    typeof node === 'string'
      ? []
      : [...(node.href === undefined ? [] : [node.href]), ...hrefsOf(node.children)],
  )

describe('the documents', () => {
  it('are all on a shelf, and every shelf holds what there is', async () => {
    const { entries } = await openLibrary()
    const slugs = entries.map(({ slug }) => slug)
    expect(slugs.filter((slug, at) => slugs.indexOf(slug) !== at)).toEqual([])
    expect(
      Object.values(SHELVES)
        .flat()
        .filter((slug) => !slugs.includes(slug)),
    ).toEqual([])
    const guides = readdirSync('docs/guides').map((name) => name.replace(/\.md$/, ''))
    expect(guides.filter((slug) => !(Object.values(SHELVES).flat() as string[]).includes(slug))).toEqual([])
  })

  it('link to pages that are there, at headings that they have', async () => {
    const { entries, read } = await openLibrary()
    const everything = [...entries, { slug: 'changelog', source: 'CHANGELOG.md', title: '', summary: '' }]
    const dead: string[] = []
    const pages = new Map<string, string>()
    for (const { slug, source } of everything)
      for (const href of hrefsOf(parseMarkdown(await read(slug), 'own').nodes)) {
        const to = linkFrom(source, href, entries)
        if (to === undefined) dead.push(`${source}: ${href}`)
        if (to === undefined || /^https?:/.test(to)) continue
        const [path = '', fragment] = (to.startsWith('#') ? `/docs/${slug}${to}` : to).split('#')
        if (!pages.has(path)) {
          const answer = await get(path)
          pages.set(path, answer.status === 200 ? await answer.text() : '')
        }
        const page = pages.get(path) ?? ''
        if (page === '' || (fragment !== undefined && !page.includes(` id="${fragment}"`)))
          dead.push(`${source}: ${href} -> ${to}`)
      }
    expect(dead).toEqual([])
    expect(pages.size).toBeGreaterThan(25)
  })

  it('name this gateway in commands, and their own machine to operators', async () => {
    expect(await textOf('/docs/mcp')).toContain(`agent-gateway ${gateway.baseUrl}/mcp`)
    for (const guide of ['mcp', 'frameworks', 'payments', 'example-ai-sdk'])
      expect(await textOf(`/docs/${guide}`)).not.toMatch(/(?:127\.0\.0\.1|localhost):8402/)
    expect(await textOf('/docs/configuration')).toMatch(/8402/)
  })

  it('say in Arabic that they are English, with a frame in Arabic', async () => {
    const html = await textOf('/ar/docs/mcp')
    expect(html).toMatch(/<html lang="ar" dir="rtl">/)
    expect(html).toMatch(/<div lang="en" dir="ltr"><div class="markdown"/)
    expect(html).toContain('href="/ar/docs/frameworks"')
    expect(html).toContain('في هذه الصفحة')
  })

  it('are the text itself for whoever asks for Markdown, with whole addresses', async () => {
    const text = await textOf('/docs/mcp', { accept: 'text/markdown' })
    expect(text).toContain('\n# Connect an MCP client\n')
    expect(text).toContain(`](${gateway.baseUrl}/docs/credential-broker)`)
    expect(text).not.toMatch(/\]\((?!https?:|#)/)
  })

  it.each(['/docs/nothing', '/docs/index', '/docs/..%2fmanifest', '/docs/__proto__', '/docs/changelog'])(
    '%s is no document',
    async (path) => {
      expect((await get(path)).status).toBe(404)
    },
  )
})

describe('search', () => {
  it('finds a section by its words, and shows the sentence that has them', async () => {
    const answer = (await (await get('/docs?q=refund+seller', { accept: 'application/json' })).json()) as {
      hits: { path: string; sentence: string }[]
    }
    expect(answer.hits.length).toBeGreaterThan(3)
    expect(answer.hits.length).toBeLessThanOrEqual(12)
    expect(answer.hits.map(({ path }) => path)).toContain('/docs/seller-money#giving-money-back')
    expect(answer.hits[0]?.sentence).not.toBe('')
    expect(await textOf('/docs?q=refund+seller')).toContain('href="/docs/seller-money#giving-money-back"')
  })

  it.each(['zzzqqqxxx', '<qqzz>"zzqq', '%F0%9F%92%A5', 'x'.repeat(5000)])(
    'says in words that nothing has %.20s',
    async (words) => {
      const html = await textOf(`/docs?q=${words.startsWith('%') ? words : encodeURIComponent(words)}`)
      expect(html).toContain('Nothing has these words')
      expect(html).not.toContain('<qqzz>')
    },
  )
})

describe('the reference', () => {
  it('has every tool, with a link to where it is tried, and every error', async () => {
    const page = (await (await get('/reference', { accept: 'application/json' })).json()) as {
      toolsets: { tools: { name: string; path: string; routes: { path: string }[] }[] }[]
      errors: { code: string }[]
    }
    const tools = page.toolsets.flatMap((toolset) => toolset.tools)
    const { paths } = (await (await get('/openapi.json')).json()) as { paths: Record<string, object> }
    // No tools: a balancer asks them.
    const described = new Set([
      '/livez',
      '/readyz',
      ...tools.flatMap(({ routes }) => routes.map(({ path }) => path)),
    ])
    expect(Object.keys(paths).filter((path) => !described.has(path))).toEqual([])
    expect(page.errors.map(({ code }) => code)).toEqual(Object.keys(ERRORS))
    const html = await textOf('/reference')
    for (const { path } of tools) expect(html).toContain(`href="${path}"`)
  })
})

describe('the page of a problem', () => {
  it('says what to do, leads to the next step, and names who answers so', async () => {
    const problem = (await (await get('/problems/key_required', { accept: 'application/json' })).json()) as {
      next: { path: string }[]
      answered_by: unknown[]
      guide: { path: string }
    }
    expect(problem.next.map(({ path }) => path)).toEqual(['/tools/gateway.keys.free'])
    expect(problem.guide.path).toMatch(/^\/docs\//)
    const html = await textOf('/problems/key_required')
    expect(html).toContain('href="/tools/gateway.keys.free"')
    expect(html).toContain(`href="${problem.guide.path}"`)
  })

  it('has a guide that is there, for every code', async () => {
    const { entries } = await openLibrary()
    const known = new Set(entries.map(({ slug }) => `/docs/${slug}`))
    for (const code of Object.keys(ERRORS)) {
      const { guide } = (await (await get(`/problems/${code}`, { accept: 'application/json' })).json()) as {
        guide: { path: string }
      }
      expect(known, code).toContain(guide.path)
    }
  })

  it.each(['nothing', '__proto__', 'toString', 'constructor'])('there is none of %s', async (code) => {
    expect((await get(`/problems/${code}`)).status).toBe(404)
  })
})
