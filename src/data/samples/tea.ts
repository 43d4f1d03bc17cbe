// Articles: two of one text as two sites would carry it, a third of the same author, one in Arabic, one in an old charset.
import { html, type MakePage, plain, shell } from './page.ts'

const WATER =
  '<p>Green tea is steeped in water of seventy to eighty degrees, never in boiling water. Heat draws the bitter ' +
  'substances out of the leaf first, and a pot that was poured too hot cannot be saved by waiting. Let the kettle stand ' +
  'open for four minutes after it boiled, or pour the water once into the cold cups and back.</p>'
const LEAF =
  '<p>Two grams of leaves are enough for a cup of one hundred and fifty millilitres. Weigh them once, then remember what ' +
  'that looks like on your own spoon: a rolled leaf takes half the room of a flat one, so a spoon says little about the ' +
  'weight. Old leaves need a little more and forgive a little less.</p>'
const TIME =
  '<p>The first infusion takes two minutes, the second only thirty seconds, because the leaves are open by then. The third ' +
  'takes a full minute again. Pour every infusion off to the last drop: leaves that stand in water go on steeping, and the ' +
  'next cup will taste of it.</p>'

interface Article {
  readonly path: string
  readonly title: string
  readonly site: string
  readonly author: string
  readonly published: string
  readonly modified?: string
  readonly description: string
  readonly body: string
}

function article(page: Article, origin: string): string {
  const { path, title, site, author, published, modified, description, body } = page
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Article',
    headline: title,
    author: { '@type': 'Person', name: author },
    datePublished: published,
    ...(modified !== undefined && { dateModified: modified }),
  }
  return shell({
    lang: 'en',
    head: `  <title>${title} | ${site}</title>
  <meta name="description" content="${description}">
  <meta name="author" content="${author}">
  <meta property="og:site_name" content="${site}">
  <meta property="og:title" content="${title}">
  <meta property="article:published_time" content="${published}">${
    modified === undefined ? '' : `\n  <meta property="article:modified_time" content="${modified}">`
  }
  <link rel="canonical" href="${origin}${path}">
  <script type="application/ld+json">${JSON.stringify(data)}</script>`,
    main: `    <article>
      <h1>${title}</h1>
      <p class="byline">By ${author}, <time datetime="${published}">${published.slice(0, 10)}</time></p>
${body}
    </article>`,
  })
}

/** An article in English that an extraction should read whole. */
export const teaOne: MakePage = (origin) =>
  html(
    '/tea/one',
    article(
      {
        path: '/tea/one',
        title: 'How green tea is steeped',
        site: 'The Sample Leaf',
        author: 'Mina Sample',
        published: '2026-01-15T09:00:00Z',
        modified: '2026-02-03T16:30:00Z',
        description: 'Water, leaves and time: what a cup of green tea needs.',
        body: `${WATER}
<h2>How much leaf</h2>
${LEAF}
<h2>How long</h2>
${TIME}
<table>
  <caption>Temperatures and times</caption>
  <tr><th>Tea</th><th>Water</th><th>First infusion</th></tr>
  <tr><td>Sencha</td><td>75 °C</td><td>2 minutes</td></tr>
  <tr><td>Gyokuro</td><td>60 °C</td><td>2 minutes</td></tr>
  <tr><td>Gunpowder</td><td>80 °C</td><td>3 minutes</td></tr>
</table>
<p>More about it in <a href="/tea/three">how black tea got its name</a>.</p>`,
      },
      origin,
    ),
    'en',
  )

/** The same text with another title, another first sentence and no table. */
export const teaTwo: MakePage = (origin) =>
  html(
    '/tea/two',
    article(
      {
        path: '/tea/two',
        title: 'Steeping green tea, step by step',
        site: 'Kettle Weekly',
        author: 'Mina Sample',
        published: '2026-01-20T07:15:00+01:00',
        description: 'A reprint: water, leaves and time for green tea.',
        body: `<p><em>This guide first appeared at The Sample Leaf.</em></p>
${WATER}
<h2>How much leaf</h2>
${LEAF}
<h2>How long</h2>
${TIME}`,
      },
      origin,
    ),
    'en',
  )

/** Another article of the same site. */
export const teaThree: MakePage = (origin) =>
  html(
    '/tea/three',
    article(
      {
        path: '/tea/three',
        title: 'How black tea got its name',
        site: 'The Sample Leaf',
        author: 'Jonas Sample',
        published: '2025-11-02T12:00:00Z',
        description: 'Why the same drink is called black in one language and red in another.',
        body: `<p>Ask for red tea in one country and you get what another one calls black. The first named it after the colour in
the cup, the second after the colour of the dry leaf, and both stayed with it for three hundred years.</p>
<h2>Trade by the chest</h2>
<p>Merchants bought by the chest and saw leaves, not cups. What survived a year at sea was fully oxidised, dark and
dry, and so the word on the bill of lading became the word in the shop.</p>
<blockquote><p>A name is what the ledger needed, not what the cup shows.</p></blockquote>
<h2>Why it matters today</h2>
<p>Labels still disagree. Look for the words fully oxidised, or for the garden and the harvest, and read the colour on
the front as a habit rather than as a fact.</p>`,
      },
      origin,
    ),
    'en',
  )

/** An article in Arabic, right to left. */
export const teaArabic: MakePage = (origin) =>
  html(
    '/tea/ar',
    shell({
      lang: 'ar',
      dir: 'rtl',
      head: `  <title>كيف يُحضَّر الشاي الأخضر</title>
  <meta name="description" content="الماء والأوراق والوقت: ما يحتاجه كوب من الشاي الأخضر.">
  <meta name="author" content="مينا سامبل">
  <meta property="article:published_time" content="2026-01-18T10:00:00+03:00">
  <link rel="canonical" href="${origin}/tea/ar">`,
      main: `    <article>
      <h1>كيف يُحضَّر الشاي الأخضر</h1>
      <p>يُنقع الشاي الأخضر في ماء حرارته بين سبعين وثمانين درجة، ولا يُصب عليه الماء المغلي أبدًا. فالحرارة تُخرج
      المواد المرّة من الورقة أولًا، وما أفسدته الحرارة لا يصلحه الانتظار. اترك الغلاية مفتوحة أربع دقائق بعد الغليان.</p>
      <h2>كمية الأوراق</h2>
      <p>يكفي غرامان من الأوراق لكوب سعته مئة وخمسون مليلترًا. زن الكمية مرة واحدة ثم تذكّر شكلها في ملعقتك،
      فالورقة الملفوفة تأخذ نصف مكان الورقة المسطحة.</p>
      <h2>المدة</h2>
      <p>تحتاج النقعة الأولى إلى دقيقتين، والثانية إلى ثلاثين ثانية فقط لأن الأوراق تكون قد تفتحت. واسكب الماء كله في
      كل مرة حتى آخر قطرة.</p>
    </article>`,
    }),
    'ar',
  )

/** The page is in windows-1252 and says so in its own head only: quotes, a dash and the euro sign are where that charset has them. */
export const teaOldCharset: MakePage = (origin) => ({
  path: '/tea/cp1252',
  contentType: 'text/html',
  body: Buffer.from(
    `<!doctype html>
<html lang="fr">
<head>
<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">
<title>Le th\xe9 vert, pas \xe0 pas</title>
<meta name="author" content="Ren\xe9e Sample">
<link rel="canonical" href="${origin}/tea/cp1252">
</head>
<body>
<div id="menu"><a href="/">Accueil</a> | <a href="/tea/one">Guides</a></div>
<article>
<h1>Le th\xe9 vert, pas \xe0 pas</h1>
<p>\x93On ne verse jamais l\x92eau bouillante sur le th\xe9 vert\x94, disait ma grand-m\xe8re \x96 et elle avait raison.
Laissez la bouilloire ouverte quatre minutes, puis versez doucement.</p>
<p>Une bo\xeete de cent grammes co\xfbte environ 12,50 \x80 et suffit pour cinquante tasses, si l\x92on p\xe8se les feuilles
au lieu de les compter \xe0 la cuill\xe8re.</p>
</article>
</body>
</html>
`,
    'latin1',
  ),
})

/** Plain text, without a title or a paragraph that HTML would mark. */
export const teaNotes: MakePage = () =>
  plain(
    '/tea/notes.txt',
    `Tasting notes, spring 2026

Sencha, first harvest: grass after rain, a little sweetness, no bitterness below 75 °C.

Gunpowder: smoke and honey. Steeped three minutes at 80 °C it keeps its shape for a second cup.

Old leaves from 2023 were flat whatever the water; throw them away.
`,
  )
