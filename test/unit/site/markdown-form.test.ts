// The Markdown form of a page: what it keeps, what it leaves out, and that nobody's words become markup.
import markdownIt from 'markdown-it'
import { describe, expect, it } from 'vitest'
import { markdownOf } from '../../../src/doors/site/markdown-form.ts'

const of = (html: string) => markdownOf(html, 'https://gw.example/ar/docs/mcp?q=x').trimEnd()

describe('what a page says', () => {
  it.each([
    ['headings', '<h1>One</h1><h2 id="two">Two</h2><p>a</p>', '# One\n\n## Two\n\na'],
    ['paragraphs and breaks', '<p>a <b>b</b> <em>c</em></p><p>d<br>e</p>', 'a **b** *c*\n\nd\\\ne'],
    ['lists', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>', '- a\n\n- b\n\n  - c'],
    ['numbered lists', '<ol><li>a</li><li><p>b</p></li></ol>', '1. a\n2. b'],
    ['terms', '<dl><dt>Price</dt><dd>0.003</dd></dl>', '- **Price**\n  - 0.003'],
    ['quotations', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    [
      'tables',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>x|y</td><td><code>p|q</code></td></tr></tbody></table>',
      '| a | b |\n| --- | --- |\n| x\\|y | `p\\|q` |',
    ],
    [
      'tables without a head',
      '<table><tr><th>a</th><td>1</td></tr></table>',
      '|  |  |\n| --- | --- |\n| a | 1 |',
    ],
    [
      'code with its language',
      '<pre><code class="language-sh">curl \\\n  ```\n</code></pre>',
      '````sh\ncurl \\\n  ```\n````',
    ],
    ['code in a line', '<p><code>a`b</code> <code>c</code></p>', '`` a`b `` `c`'],
    [
      'links with their whole addresses',
      '<p><a href="/x">x</a> <a href="#y">y</a> <a href="z">z</a></p>',
      '[x](https://gw.example/x) [y](https://gw.example/ar/docs/mcp?q=x#y) [z](https://gw.example/ar/docs/z)',
    ],
    ['what is folded', '<details><summary>More</summary><p>inside</p></details>', '**More**\n\ninside'],
    ['pictures by their words', '<p><svg role="img" aria-label="Rising"><path/></svg></p>', 'Rising'],
    [
      'tabs by their names',
      '<div role="group"><input type="radio"><label>curl</label><div><section aria-label="curl"><pre>a</pre></section></div></div>',
      '**curl**\n\n```\na\n```',
    ],
    [
      'the name of a section once',
      '<section aria-label="a"><figcaption>a</figcaption><p>b</p></section>',
      '**a**\n\nb',
    ],
    [
      'sections that say something',
      '<h1>A</h1><h2>Try it</h2><form>x</form><h2>B</h2><h3>C</h3><p>c</p><h2>End</h2><form>x</form>',
      '# A\n\n## B\n\n### C\n\nc',
    ],
    ['neighbours apart', '<div><span>a</span><span>b</span></div>', 'a b'],
  ])('keeps %s', (_, html, expected) => {
    expect(of(html)).toBe(expected)
  })

  it.each([
    '<script>x</script>',
    '<style>x</style>',
    '<form><label>Name <input value="x"></label><button>Go</button></form>',
    '<button>Copy</button>',
    '<span class="copy needs-script">Copy</span>',
    '<p aria-hidden="true">●</p>',
    '<p hidden>x</p>',
    '<svg><text>x</text></svg>',
  ])('leaves out %s', (html) => {
    expect(of(`<p>kept</p>${html}`)).toBe('kept')
  })
})

describe('words of strangers', () => {
  const hostile = [
    '[click](javascript:alert(1))',
    '![x](https://evil.example/p.png)',
    '<img src=x onerror=alert(1)>',
    '# heading',
    '- item',
    '1. item',
    '> quote',
    '*strong* __strong__ `code`',
    '&lt;b&gt; &#106;',
    '| a | b |',
    '~~~\ncode',
    '=====',
    '\\[x](y)',
  ]
  const text = (markdown: string) =>
    markdownIt({ html: true })
      .parse(markdown, {})
      .flatMap((token) => token.children ?? [token])
      .filter(({ type }) => !['paragraph_open', 'paragraph_close'].includes(type))
  const escape = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

  it.each(hostile)('%s stays words in a paragraph', (words) => {
    const tokens = text(of(`<p>${escape(words)}</p>`))
    const markup = tokens.filter(({ type }) => !['text', 'text_special', 'softbreak'].includes(type))
    expect(markup).toEqual([])
    expect(tokens.map(({ content }) => content).join('')).toBe(words.replaceAll('\n', ' '))
  })

  it.each(hostile)('%s stays words in a cell', (words) => {
    const tokens = text(of(`<table><tr><th>h</th></tr><tr><td>${escape(words)}</td></tr></table>`))
    const types = new Set(tokens.map(({ type }) => type))
    for (const type of ['link_open', 'image', 'html_inline', 'html_block', 'heading_open', 'em_open'])
      expect(types).not.toContain(type)
    expect(tokens.filter(({ type }) => type === 'td_open')).toHaveLength(1)
  })

  it('an address with brackets does not end its link', () => {
    expect(of('<p><a href="https://a.example/x)(y">w</a></p>')).toBe('[w](https://a.example/x%29%28y)')
  })
})
