// Markdown of strangers: what it becomes, and what hostile texts cost. Work is counted, since a clock says more of the machine.
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { Markdown } from '../../../src/doors/site/components/markdown.tsx'
import {
  MAX_CHARACTERS,
  MAX_NODES,
  parseMarkdown,
} from '../../../src/doors/site/components/markdown/parse.ts'
import type { MarkdownNode } from '../../../src/doors/site/components/markdown/node.ts'

const page = { language: 'en' as const }
const draw = (text: string) => renderToString(<Markdown text={text} page={page} />)

const countOf = (nodes: readonly MarkdownNode[]): number =>
  nodes.reduce((sum, node) => sum + 1 + (typeof node === 'string' ? 0 : countOf(node.children)), 0)
const depthOf = (nodes: readonly MarkdownNode[]): number =>
  nodes.reduce((most, node) => Math.max(most, typeof node === 'string' ? 0 : 1 + depthOf(node.children)), 0)

describe('Markdown', () => {
  it('becomes headings, lists, tables, code and quotes', () => {
    const html = draw(
      '# Tea\n\nA *good* **cup**:\n\n1. one\n2. two\n\n> said\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```ts\nlet x\n```',
    )
    expect(html).toContain('<h3 dir="auto">Tea</h3>')
    expect(html).toContain('<em>good</em> <strong>cup</strong>')
    expect(html).toContain('<ol dir="auto"><li dir="auto">one</li>')
    expect(html).toContain('<blockquote dir="auto"><p dir="auto">said</p></blockquote>')
    expect(html).toContain('<td class="align-end">2</td>')
    expect(html).toContain('<pre class="markdown-code" dir="ltr" tabindex="0"><code>let x\n</code></pre>')
  })

  it('leads elsewhere without a trace of this site', () => {
    expect(draw('[home](https://example.com/)')).toContain(
      '<a href="https://example.com/" rel="noopener noreferrer nofollow ugc">home</a>',
    )
  })

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](java&#10;script:alert(1))',
    '[x](&#x6A;avascript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '[x](blob:https://example.com/x)',
    '[x](feed:https://example.com/)',
    '[x](//evil.example/)',
    '[x](/path/of/this/site)',
    '[x](\u0001javascript:alert(1))',
    '<javascript:alert(1)>',
    '[a]: javascript:alert(1)\n\n[a]',
    '![x](https://tracker.example/pixel.gif)',
    '![x](data:image/svg+xml,<svg/onload=alert(1)>)',
  ])('runs nothing and loads nothing: %s', (text) => {
    const html = draw(text)
    expect(html).not.toMatch(/<(?!\/?(?:div|p|h\d|ul|ol|li|a|em|strong|s|code|pre|span|blockquote)\b)/)
    expect(html).not.toMatch(/href="(?!https:\/\/)/)
    expect(html).not.toMatch(/<[^>]*\son\w+=/)
  })

  it('draws a picture as a link that somebody may follow', () => {
    expect(draw('![a cup](https://example.com/cup.png)')).toBe(
      '<div class="markdown" dir="auto"><p dir="auto"><a href="https://example.com/cup.png" rel="noopener noreferrer nofollow ugc">a cup</a></p></div>',
    )
  })

  it('shows controls that reorder text, also those written as entities', () => {
    expect(draw('gpj&#x202E;exe')).toContain('<span class="chip">U+202E</span>')
    expect(draw('`a\u202Eb`')).toContain('U+202E')
  })

  it('says where it was cut', () => {
    expect(draw('a '.repeat(MAX_CHARACTERS))).toContain('The text goes on')
    expect(draw('a')).not.toContain('The text goes on')
  })

  it.each([
    ['emphasis that never ends', '*a_ '.repeat(30_000)],
    ['quotes in quotes', '>'.repeat(5000)],
    ['brackets', '['.repeat(50_000)],
    ['brackets and images', '![['.repeat(50_000)],
    [
      'lists in lists',
      Array.from({ length: 2000 }, (_, at) => `${' '.repeat(at * 2)}- x`)
        .join('\n')
        .slice(0, MAX_CHARACTERS),
    ],
    ['stars', '*'.repeat(MAX_CHARACTERS)],
    ['backticks of every length', Array.from({ length: 700 }, (_, at) => '`'.repeat(at)).join('a')],
    [
      'a table of many cells',
      `|${'a|'.repeat(3000)}\n|${'-|'.repeat(3000)}\n${`|${'b|'.repeat(3000)}\n`.repeat(7)}`,
    ],
    ['links in links', '[a](b '.repeat(40_000)],
    ['entities', '&#x202E;'.repeat(30_000)],
    ['definitions', '[a]: b\n'.repeat(30_000)],
    ['autolinks', '<a:'.repeat(60_000)],
    ['strikes', '~~a '.repeat(60_000)],
  ])('draws a bounded tree of %s', (_what, text) => {
    const { nodes } = parseMarkdown(text)
    expect(countOf(nodes)).toBeLessThan(2 * MAX_NODES)
    expect(depthOf(nodes)).toBeLessThan(120)
    expect(draw(text).length).toBeLessThan(8_000_000)
  })

  it('links to pages of this site, and gives headings ids, where we wrote it', () => {
    const html = renderToString(
      <Markdown
        text={
          '## Paid web fetch\n\n[limits](../limits.md#sizes) [x](javascript:alert(1)) [y](//evil.example)'
        }
        page={page}
        isOwn
        headingsFrom={1}
        hrefOf={(href) => `/docs/${href.replace('../', '').replace('.md', '')}`}
      />,
    )
    expect(html).toContain('<h2 dir="auto" id="paid-web-fetch">')
    expect(html).toContain('<a href="/docs/limits#sizes">limits</a>')
    expect(html).not.toMatch(/href="(?!\/docs\/limits)/)
  })
})
