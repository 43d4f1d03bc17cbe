// Pages of two mebibytes that are made to be slow, each in its own way. What is in them repeats to the end.

/** What is read of a source at most. */
export const MAX_BYTES = 2 * 1024 * 1024

const GOOD = '<main><p>Green tea is steeped in water of seventy degrees for two minutes.</p></main>'

const repeat = (text: string, bytes = MAX_BYTES) => text.repeat(Math.ceil(bytes / text.length))

/** Made when asked for: forty of them at once are more than a test should hold. */
export const HOSTILE_PAGES: readonly (readonly [name: string, make: () => string])[] = [
  ['nested elements', () => repeat('<div>')],
  ['nested elements with text', () => repeat('<div>a')],
  ['nested lists', () => repeat('<ul><li>')],
  ['nested tables', () => repeat('<table><tr><td>')],
  ['nested quotes with text', () => repeat('<blockquote><p>word word word word word word word word word ')],
  ['unclosed paragraphs', () => repeat('<p>word')],
  ['formatting that is never closed', () => repeat('<b><i><a href=x>')],
  ['one element with a million attributes', () => `<div ${repeat('a=b ')}>`],
  [
    'as many different attributes',
    () => `<div ${Array.from({ length: 250_000 }, (_, i) => `a${i}=b`).join(' ')}>`,
  ],
  ['a million attributes without values', () => `<p ${repeat('x ')}>text</p>`],
  ['one long word', () => `<p>${repeat('x')}</p>`],
  ['one long line of spaces', () => `<p>a${repeat(' ')}b</p>`],
  ['line breaks', () => repeat('<br>')],
  ['blank lines', () => `<pre>${repeat('\n')}</pre>`],
  ['opening angles', () => repeat('<')],
  ['opening comments', () => repeat('<!--')],
  ['dashes in a comment', () => `<!--${repeat('-')}`],
  ['entities', () => `<p>${repeat('&amp;')}</p>`],
  ['numeric entities', () => `<p>${repeat('&#x1F600;')}</p>`],
  ['ampersands', () => `<p>${repeat('&')}</p>`],
  ['combining marks', () => `<p>a${repeat('\u0301')}</p>`],
  ['links', () => repeat('<a href="/x">link text that is longer</a> ')],
  ['headings', () => repeat('<h2>heading</h2><p>text</p>')],
  ['wide tables', () => `<table>${repeat('<tr><td>a<td>b<td>c')}</table>`],
  [
    'scripts of JSON-LD',
    () => repeat('<script type="application/ld+json">{"@type":"Product","name":"x"}</script>'),
  ],
  ['deep JSON-LD', () => `<script type="application/ld+json">${repeat('[')}</script>${GOOD}`],
  ['broken JSON-LD', () => `<script type="application/ld+json">${repeat('{"a":')}</script>${GOOD}`],
  ['meta elements', () => repeat('<meta property="og:title" content="x">')],
  ['phrases that address a model', () => `<p>${repeat('ignore all any the your my of previous ')}</p>`],
  ['almost a phrase that addresses a model', () => `<p>${repeat('reveal print send ')}</p>`],
  ['Arabic with vowel signs', () => `<p>${repeat('مُحَمَّدٌ ')}</p>`],
  ['characters without spaces', () => `<p>${repeat('漢字')}</p>`],
  ['prototype names', () => repeat('<div __proto__=x constructor=y id=__proto__ class=constructor>a</div>')],
  ['control characters', () => `<p>${repeat('\u0001\u200b\u202e')}</p>`],
  ['noscript', () => repeat('<noscript><p>word word word word')],
  ['templates', () => repeat('<template><p>word')],
  ['hidden elements', () => repeat('<div hidden style="display:none">word ')],
  ['mixed case end tags', () => repeat('</P></DIV></ScRiPt>')],
  ['frames of styles', () => repeat('<style>a{}')],
  ['SVG in MathML', () => repeat('<svg><math><mi>')],
]
