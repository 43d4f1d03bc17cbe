// Markdown of a page: what a model reads of images, code, tables, lists, quotes and signs.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { previewHtml } from '../../../src/outcomes/capabilities/preview-html.ts'

const documentOf = (html: string, baseUrl = 'https://a.example/') =>
  previewHtml({ html, baseUrl, isSample: false }).document
const markdownOf = (html: string) => documentOf(html).markdown

describe('images', () => {
  it.each<[string, string, string]>([
    ['with their words', '<p>a <img src=/x.png alt="A cup"></p>', 'a ![A cup](https://a.example/x.png)'],
    [
      'with a caption',
      '<figure><img src=/x.png alt=Cup><figcaption>By *me*</figcaption></figure><p>a</p>',
      '![Cup](https://a.example/x.png)\n\nBy \\*me\\*\n\na',
    ],
    [
      'that are loaded late',
      '<p>a</p><img src="data:image/gif;base64,x" data-src=/late.png><p>b</p>',
      'a\n\n![](https://a.example/late.png)\n\nb',
    ],
    [
      'in the largest size',
      '<p>a <img src=/s.png srcset="/s.png 100w, /l.png 800w, /m.png 400w"></p>',
      'a ![](https://a.example/l.png)',
    ],
    [
      'that are links',
      '<p>a <a href=/big><img src=/x.png alt=Cup></a></p>',
      'a [![Cup](https://a.example/x.png)](https://a.example/big)',
    ],
    ['never as scripts or data', '<p>a <img src="javascript:x"><img src="data:x"></p>', 'a'],
    ['never where they only count visits', '<p>a <img src=/x.gif width=1 height=1></p>', 'a'],
    [
      'with brackets in their words',
      '<p>a <img src=/x.png alt="](/y) [b"></p>',
      'a ![\\](/y) \\[b](https://a.example/x.png)',
    ],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })

  it('keep their captions where those are no text of the page', () => {
    const prose = (about: string) =>
      `<p>One sentence of a text that somebody wrote for people who read about ${about} in the evening.</p>`
    const html = `<article>${prose('tea')}${prose('milk')}<figure><img src=/x.png><figcaption>A cup</figcaption></figure>${prose('water')}</article>`
    const { text, markdown } = documentOf(html)
    expect(text).not.toContain('A cup')
    expect(markdown).toContain('![](https://a.example/x.png)\n\n*A cup*\n\nOne')
  })

  it('stand beside the name of a product in a column of their own', () => {
    const gallery = '<div class=gallery><img src=/1.jpg alt=front></div>'
    expect(markdownOf(`<div>${gallery}<div><h1>Kettle</h1><p>a</p></div></div>`)).toBe(
      '![front](https://a.example/1.jpg)\n\n# Kettle\n\na',
    )
  })

  it('stand above the text of a report, and none of the pictures that lead elsewhere', () => {
    const html =
      '<article><figure><img src=/1.jpg></figure><a href=/b><img src=/2.jpg></a><div><p>a</p></div></article>'
    expect(markdownOf(html)).toBe('![](https://a.example/1.jpg)\n\na')
  })

  it('are no text', () => {
    expect(documentOf('<p>a <img src=/x.png alt="A cup"></p><img src=/y.png>').text).toBe('a')
  })
})

describe('code', () => {
  it.each<[string, string]>([
    ['<pre><code class="language-ts">x</code></pre>', '```ts\nx\n```'],
    ['<pre class="lang-py">x</pre>', '```py\nx\n```'],
    ['<div class="highlight highlight-source-shell"><pre>x</pre></div>', '```shell\nx\n```'],
    ['<pre data-lang=go>x</pre>', '```go\nx\n```'],
    ['<pre class="language-`rm`">x</pre>', '```\nx\n```'],
    [
      '<div class="highlight-python3 notranslate"><div class=highlight><pre>x</pre></div></div>',
      '```python\nx\n```',
    ],
    [
      '<div class="highlight-default notranslate"><div class=highlight><pre>x</pre></div></div>',
      '```\nx\n```',
    ],
    [
      '<div class="highlight-c notranslate"><table><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div><td class=code><div><pre>a\nb</pre></div></table></div>',
      '```c\na\nb\n```',
    ],
    ['<div class="language-py highlight"><pre><code>x</code></pre></div>', '```py\nx\n```'],
    ['<pre>a ```` b</pre>', '`````\na ```` b\n`````'],
    ['<table><tr><td class=gutter><pre>1\n2</pre><td><pre>a\nb</pre></table>', '```\na\nb\n```'],
  ])('%s', (html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })
})

describe('tables', () => {
  const rows = (html: string) => documentOf(`<table>${html}</table>`).tables[0]

  it('keep links, code and emphasis in their cells, and line breaks', () => {
    expect(
      markdownOf('<table><tr><th>a<th>b<tr><td><a href=/x>l</a> <code>c|d</code><td><b>e</b><br>f</table>'),
    ).toBe('| a | b |\n| --- | --- |\n| [l](https://a.example/x) `c\\|d` | **e**<br>f |')
  })

  it('are as wide and as high as a reader sees them', () => {
    expect(
      rows('<tr><th rowspan=2>Tea<th colspan=2>Price<tr><td>2025<td>2026<tr><td>Sencha<td>8<td>9'),
    ).toEqual({
      caption: null,
      header: ['Tea', 'Price', 'Price'],
      rows: [
        ['Tea', '2025', '2026'],
        ['Sencha', '8', '9'],
      ],
    })
  })

  it('say everything once in the text', () => {
    expect(
      documentOf('<table><tr><td colspan=2>Tea<td>x<tr><td rowspan=2>a<td>b<td>c<tr><td>d<td>e</table>').text,
    ).toBe('Tea x\na b c\nd e')
  })

  it('are not multiplied by spans that nobody sees', () => {
    const row = `<tr>${'<td colspan=1000 rowspan=1000>word'.repeat(40)}`
    const document = documentOf(`<table>${row.repeat(40)}</table>`)
    expect(JSON.stringify(document.tables).length).toBeLessThan(200_000)
    expect(document.markdown.length).toBeLessThan(33_000)
  })

  it('copy cells that span only a few times for each cell that is written', () => {
    const table = rows('<tr><td colspan=60>a<td>b'.repeat(60))
    const filled = table!.rows.flat().filter((cell) => cell !== '').length
    expect(filled).toBeGreaterThan(120)
    expect(filled).toBeLessThan(1000)
  })

  it('take a head for one whatever its cells are', () => {
    expect(rows('<thead><tr><td>a<td>b</thead><tr><td>1<td>2')).toMatchObject({ header: ['a', 'b'] })
  })
})

describe('lists, quotes and parts', () => {
  it.each<[string, string, string]>([
    ['where a list begins', '<ol start=3><li>a<li>b<li value=9>c</ol>', '3. a\n4. b\n9. c'],
    ['a list under a number', '<ol><li>a<ul><li>b</ul><li>c</ol>', '1. a\n   - b\n2. c'],
    [
      'further paragraphs of an item',
      '<ol><li><p>a</p><p>b</p><pre>c</pre></li><li>d</ol>',
      '1. a\n\n   b\n\n   ```\n   c\n   ```\n\n2. d',
    ],
    ['boxes to tick off that are no tasks', '<ul><li><span><input type=checkbox></span>a</ul>', '- a'],
    ['tasks', '<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>', '- [x] a\n- [ ] b'],
    ['terms and what they mean', '<dl><dt>a<dd>b<dt>c<dd>d</dl>', '**a**\n: b\n\n**c**\n: d'],
    [
      'quotes in quotes',
      '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>',
      '> a\n>\n> > b',
    ],
    ['lists in quotes', '<blockquote><p>a</p><ul><li>b<li>c</ul></blockquote>', '> a\n>\n> - b\n> - c'],
    ['two quotes apart', '<blockquote>a</blockquote><blockquote>b</blockquote>', '> a\n\n> b'],
    ['rules', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb'],
    ['call-outs', '<div class="admonition warning"><p>Hot</p></div>', '> [!WARNING]\n> Hot'],
    [
      'call-outs that say their kind above their text',
      '<div class="admonition note"><p class=admonition-title>Note</p><p>Hot</p></div><p>a</p>',
      '> [!NOTE]\n> Hot\n\na',
    ],
    [
      'call-outs of parts, which are none themselves',
      '<div class="theme-admonition theme-admonition-tip admonition_x"><div class=admonitionHeading_x>Use it</div><div class=admonitionContent_x><p>Hot</p></div></div>',
      '> [!TIP]\n> Use it\n>\n> Hot',
    ],
    [
      'call-outs that are laid out as a table',
      '<div class="admonitionblock tip"><table><tr><td class=icon><div class=title>Tip</div><td class=content><p>Hot</p></table></div>',
      '> [!TIP]\n> Hot',
    ],
    [
      'boxes of facts beside a text',
      '<article><p>a</p><aside class=fact-box><p>b</p></aside></article>',
      'a\n\n> [!NOTE]\n> b',
    ],
    [
      'how a function is called',
      '<dl><dt class="sig sig-object">steep(<em>minutes</em>, <em>*</em>)<a href="#steep">¶</a><dd>a</dl>',
      '**`steep(minutes, *)`**\n: a',
    ],
    ['terms of several looks', '<dl><dt>a <em>b</em><dd>c</dl>', '**a b**\n: c'],
    [
      'who is quoted above the quote',
      '<blockquote><cite>Ada wrote:</cite>b <cite>Tea</cite> c</blockquote>',
      '> Ada wrote:  \n> b Tea c',
    ],
    ['a quote in an item', '<ul><li>a<blockquote>b</blockquote></ul>', '- a\n\n  > b'],
    ['what is folded away', '<details><summary>a</summary><p>b</p></details>', '**a**\n\nb'],
    ['line breaks', '<p>a<br>b</p>', 'a  \nb'],
    ['what is struck out', '<p>a <del>b</del></p>', 'a ~~b~~'],
    ['links in emphasis', '<p><b>a <a href=/x>b</a> c</b></p>', '**a [b](https://a.example/x) c**'],
    ['no emphasis in headings', '<h2><b>a</b></h2>', '## a'],
  ])('write %s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })

  it('write no code out of an item whose list was left out', () => {
    expect(markdownOf('<ul><li><ul><li><ul><li>a</ul></ul></ul>')).toMatch(/^ {0,3}- a$/)
  })
})

describe('signs of Markdown in a text', () => {
  it.each<[string, string]>([
    ['snake_case_name', 'snake_case_name'],
    ['_a_', '\\_a\\_'],
    ['2 * 3', '2 * 3'],
    ['*a*', '\\*a\\*'],
    ['#tag', '#tag'],
    ['# a', '\\# a'],
    ['- a', '\\- a'],
    ['-5 degrees', '-5 degrees'],
    ['a < b > c & d', 'a < b > c & d'],
    ['&amp;lt;b>', '\\&lt;b>'],
    ['see [1], page 2', 'see [1], page 2'],
    ['[a][b]', '[a\\][b]'],
    ['[<b>a</b>] b', '[**a**] b'],
    ['[a]<b>(b)</b>', '[a\\]**(b)**'],
    ['[a]: http://b.example', '[a\\]: http://b.example'],
    ['[x] done', '\\[x] done'],
    ['about ~5 of them', 'about ~5 of them'],
    ['~~a~~', '\\~\\~a\\~\\~'],
    ['2026. A year', '2026\\. A year'],
    ['3.5 kg', '3.5 kg'],
    ['C:\\dir\\*', 'C:\\dir\\\\\\*'],
    ['a | b<br>--- | ---', 'a | b  \n\\--- | ---'],
    ['a<br>===', 'a  \n\\==='],
    ['Wow!<a href=/x>b</a>', 'Wow\\![b](https://a.example/x)'],
  ])('%s', (html, markdown) => {
    expect(markdownOf(`<p>${html}</p>`)).toBe(markdown)
  })

  it('never become a link, an image or HTML, whatever looks cut them apart', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '(',
      ')',
      '!',
      '<',
      '>',
      'a',
      '//e.example',
      ':',
      '\\',
      '`',
      '&lt;',
      '&amp;',
      ' ',
      '*',
      '_',
      '\n',
    )
    const look = fc.constantFrom(['', ''], ['<b>', '</b>'], ['<i>', '</i>'], ['<sup>', '</sup>'])
    fc.assert(
      fc.property(fc.array(fc.tuple(look, fc.array(piece, { maxLength: 6 })), { maxLength: 8 }), (parts) => {
        const html = parts
          .map(
            ([[before, after], text]) =>
              before + text.map((sign) => sign.replace('<', '&lt;')).join('') + after,
          )
          .join('')
        const markdown = markdownOf(`<p>x ${html}</p>`)
        // What is escaped is no sign any more.
        const signs = markdown.replace(/\\[!-/:-@[-`{-~]/g, '·')
        expect(signs).not.toMatch(/\]\(|\]\[|<[a-z/!?]/i)
      }),
      { numRuns: 1000 },
    )
  })
})
