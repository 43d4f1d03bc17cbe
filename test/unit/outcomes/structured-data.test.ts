import { describe, expect, it } from 'vitest'
import { extractDocument } from '../../../src/outcomes/extract/document.ts'
import { PAGE_LIMITS } from '../../../src/outcomes/extract/limits.ts'
import { readProducts } from '../../../src/outcomes/products/page.ts'
import { buildGraph } from '../../../src/outcomes/structured/graph.ts'
import { parseJsonLd } from '../../../src/outcomes/structured/json-ld.ts'
import { tidy } from '../../../src/outcomes/structured/node.ts'

const URL_OF_PAGE = 'https://shop.example/tea/kettle'
const script = (value: unknown) =>
  `<script type="application/ld+json">${typeof value === 'string' ? value : JSON.stringify(value)}</script>`
const documentOf = (html: string, url = URL_OF_PAGE) => extractDocument(html, url, PAGE_LIMITS).document
const offersOf = (html: string) => {
  const reading = readProducts({
    body: Buffer.from(html),
    isCut: false,
    contentType: 'text/html',
    contentLanguage: null,
    url: URL_OF_PAGE,
  })
  return reading.ok ? reading.value.products : []
}

const OFFER = { '@type': 'Offer', price: '19.90', priceCurrency: 'EUR', availability: 'InStock' }

describe('one reader for documents and for offers', () => {
  it.each([
    'Product',
    'product',
    'PRODUCT',
    'http://schema.org/Product',
    'https://schema.org/product',
    'https://schema.org/Product/',
    'schema:Product',
    's:product',
    'productGroup',
  ])('takes %s for a product', (type) => {
    const html = script({ '@type': type, name: 'Kettle', sku: 'K1', offers: OFFER })
    const [product] = offersOf(html)
    expect(product).toMatchObject({ name: 'Kettle', main: true })
    const { types, products } = documentOf(html).structured_data
    expect(types).toEqual(['Offer', type === 'productGroup' ? 'ProductGroup' : 'Product'])
    expect(products).toEqual([
      {
        name: 'Kettle',
        brand: null,
        sku: 'K1',
        gtin: null,
        offers: [{ price: '19.90', currency: 'EUR', availability: 'InStock' }],
      },
    ])
  })

  it('says the same of a price of a month and of one in microdata, and nothing of one that is only shown', () => {
    const monthly = {
      ...OFFER,
      price: undefined,
      priceSpecification: { price: 5, priceCurrency: 'EUR', billingDuration: 'P1M' },
    }
    const micro = `<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Kettle</b><p itemprop="offers" itemscope itemtype="http://schema.org/Offer"><b itemprop="price">118, 99 TL</b></p></div>`
    for (const [html, price] of [
      [script({ '@type': 'Product', name: 'Kettle', offers: monthly }), null],
      [micro, '118.99'],
    ] as const) {
      expect(offersOf(html)[0]?.offers[0]?.price?.amount ?? null).toBe(price)
      expect(documentOf(html).structured_data.products[0]?.offers[0]?.price).toBe(price)
    }
    const shown =
      '<title>Copper Kettle</title><h1>Copper Kettle</h1><b class="price">€ 5,00</b><button>Add to cart</button>'
    expect(offersOf(shown)[0]?.offers[0]).toMatchObject({ price: { amount: '5.00' }, stated_in: 'text' })
    expect(documentOf(shown).structured_data.products).toEqual([])
  })

  it('takes an offer of any spelling for an offer', () => {
    const html = script([
      { '@id': '#k', '@type': 'product', name: 'Kettle' },
      { ...OFFER, '@type': 'http://schema.org/offer', itemOffered: { '@id': '#k' } },
    ])
    expect(offersOf(html)[0]?.offers[0]?.price?.amount).toBe('19.90')
    expect(documentOf(html).structured_data.products[0]?.offers[0]?.price).toBe('19.90')
  })

  it.each<[string, string]>([
    ['a trailing comma', '{"@type":"Product","name":"Kettle","offers":{"price":"5","priceCurrency":"EUR"},}'],
    [
      'a line break in a string',
      '{"@type":"Product","name":"Kettle","description":"a\nb","offers":{"price":"5","priceCurrency":"EUR"}}',
    ],
  ])('repairs %s for both, and both say so', (_, written) => {
    const html = script(written)
    expect(offersOf(html)[0]?.name).toBe('Kettle')
    const { products, repaired, invalid_scripts } = documentOf(html).structured_data
    expect(products[0]).toMatchObject({ name: 'Kettle', offers: [{ price: '5' }] })
    expect(invalid_scripts).toBe(0)
    expect(repaired).toHaveLength(1)
  })

  it('reads microdata and meta tags for both', () => {
    const html =
      '<div itemscope itemtype="https://schema.org/product"><h1 itemprop=name>Kettle</h1><span itemprop=offers itemscope itemtype="https://schema.org/offer"><meta itemprop=price content="5.00"><meta itemprop=priceCurrency content=EUR></span></div>'
    expect(offersOf(html)[0]?.offers[0]?.price?.amount).toBe('5.00')
    expect(documentOf(html).structured_data.products).toMatchObject([
      { name: 'Kettle', offers: [{ price: '5.00', currency: 'EUR' }] },
    ])
    const meta =
      '<meta property="og:title" content="Kettle"><meta property="product:price:amount" content="7"><meta property="product:price:currency" content="EUR">'
    expect(documentOf(meta).structured_data.products).toMatchObject([
      { name: 'Kettle', offers: [{ price: '7' }] },
    ])
  })

  it('names the same main product, not the first', () => {
    const html = `<h1>Kettle</h1>${script([
      { '@type': 'Product', name: 'Lid', offers: OFFER },
      { '@type': 'Product', name: 'Kettle', offers: OFFER },
    ])}`
    expect(offersOf(html)[0]?.name).toBe('Kettle')
    expect(documentOf(html).structured_data.products.map(({ name }) => name)).toEqual(['Kettle', 'Lid'])
  })

  it('turns @reverse around', () => {
    const html = script({
      '@type': 'Product',
      name: 'Kettle',
      '@reverse': { itemOffered: [{ ...OFFER }, 'x', null] },
    })
    expect(offersOf(html)[0]?.offers[0]?.price?.amount).toBe('19.90')
    const { things } = buildGraph([{ '@reverse': { '@reverse': { '@reverse': {} } } }, { '@reverse': [1] }])
    expect(things.length).toBeGreaterThan(0)
  })

  it('stays bounded whatever is nested or repeated', () => {
    const many = parseJsonLd(Array<string>(500).fill('{"@type":"Product"}'))
    expect(many).toMatchObject({ scripts: 500, truncated: true })
    expect(many.nodes).toHaveLength(200)
    const wide = parseJsonLd([`[${'{"@reverse":{"a":[{},{}]}},'.repeat(40_000)}{}]`])
    expect(wide.truncated).toBe(true)
    expect(wide.nodes.length).toBeLessThanOrEqual(20_000)
  })
})

describe('texts of structured data', () => {
  it.each<[string, string]>([
    ['Tea &amp; Kettle', 'Tea & Kettle'],
    ['<b>Tea</b> &#8211; one', 'Tea – one'],
    ['How Vec<T> grows', 'How Vec<T> grows'],
    ['a < b &lt; c', 'a < b < c'],
  ])('reads %s as %s', (written, read) => {
    expect(tidy(written, 100)).toBe(read)
    expect(documentOf(script({ '@type': 'Article', headline: written })).title).toBe(read)
  })
})

describe('what a page is about', () => {
  const teaser = {
    '@type': 'Article',
    headline: 'A teaser',
    author: 'Tess',
    datePublished: '2020-01-01',
    url: 'https://shop.example/other',
  }
  const own = { '@type': 'newsarticle', headline: 'Of kettles', author: 'Ana', datePublished: '2026-01-02' }

  it.each<[string, string]>([
    ['its heading', `<h1>Of kettles</h1>${script([teaser, own])}`],
    ['its address', script([teaser, { ...own, url: URL_OF_PAGE }])],
    ['its relative address', script([teaser, { ...own, mainEntityOfPage: '/tea/kettle#top' }])],
    ['mainEntityOfPage', script([teaser, { ...own, mainEntityOfPage: { '@id': URL_OF_PAGE } }])],
    ['mainEntity', script([teaser, { '@type': 'WebPage', mainEntity: own }])],
    [
      'mainEntity by reference',
      script([
        teaser,
        {
          '@graph': [
            { ...own, '@id': '#a', url: URL_OF_PAGE },
            { '@type': 'WebPage', mainEntity: { '@id': '#a' } },
          ],
        },
      ]),
    ],
    [
      'its canonical address',
      `<link rel=canonical href="/of-kettles">${script([teaser, { ...own, url: 'https://shop.example/of-kettles' }])}`,
    ],
  ])('is known by %s', (_, html) => {
    expect(documentOf(html)).toMatchObject({
      title: 'Of kettles',
      byline: 'Ana',
      authors: ['Ana'],
      published_time: '2026-01-02',
    })
  })

  it('is none of several teasers', () => {
    const html = `<title>Home</title>${script([teaser, { ...teaser, headline: 'Another', author: 'Tom' }])}`
    expect(documentOf(html)).toMatchObject({ title: 'Home', authors: [], published_time: null })
    const list = { '@type': 'Blog', blogPost: [{ ...teaser }] }
    expect(documentOf(`<title>Home</title>${script(list)}`)).toMatchObject({ title: 'Home', byline: null })
  })

  it('is dated by the page where the work is not', () => {
    const html = script({
      '@graph': [
        {
          '@type': 'WebPage',
          datePublished: '2026-01-02',
          dateModified: '2026-02-03',
          author: { '@id': '#p' },
        },
        { '@id': '#p', '@type': 'Person', name: 'Ana' },
      ],
    })
    expect(documentOf(html)).toMatchObject({
      published_time: '2026-01-02',
      modified_time: '2026-02-03',
      authors: ['Ana'],
    })
  })
})

describe('authors', () => {
  const article = (author: unknown) => script({ '@type': 'Article', headline: 'x', author })
  const near = (html: string) => `<h1>Of kettles</h1>${html}<p>${'Water boils. '.repeat(20)}</p>`

  it.each<[string, string, string[]]>([
    ['several of JSON-LD', article([{ name: 'Ana' }, { name: 'Tom' }, 'ana']), ['Ana', 'Tom']],
    [
      'a reference',
      script({
        '@graph': [
          { '@type': 'Article', author: [{ '@id': '#p' }] },
          { '@id': '#p', '@type': 'person', name: 'Ana &amp; Co' },
        ],
      }),
      ['Ana & Co'],
    ],
    ['given and family name', article({ givenName: 'Ana', familyName: 'Lee' }), ['Ana Lee']],
    ['an address, which is no name', article('https://shop.example/ana'), []],
    [
      'citation_author',
      '<meta name=citation_author content="Ana Lee"><meta name=citation_author content="Tom Roe">',
      ['Ana Lee', 'Tom Roe'],
    ],
    ['dc.creator', '<meta name="DC.creator" content="Ana Lee">', ['Ana Lee']],
    [
      'article:author with an address',
      '<meta property="article:author" content="https://facebook.com/ana">',
      [],
    ],
    ['nobody', '<meta name=author content=admin>', []],
    [
      'itemprop',
      near('<div itemprop=author itemscope><a href=/ana><span itemprop=name>Ana Lee</span></a></div>'),
      ['Ana Lee'],
    ],
    [
      'rel',
      near('<p>By <a rel=author href=/ana>Ana Lee</a> and <a rel=author href=/tom>Tom Roe</a></p>'),
      ['Ana Lee', 'Tom Roe'],
    ],
    [
      'a byline',
      near('<div class=byline>By Ana Lee and Tom Roe | 3 March 2026</div>'),
      ['Ana Lee', 'Tom Roe'],
    ],
    [
      'a byline with a role in an element of its own',
      near('<div class=byline>By <a>Ana Lee</a> <i>and</i> <a>Tom Roe</a><p>EdTech Content</p></div>'),
      ['Ana Lee', 'Tom Roe'],
    ],
    [
      'a box whose role comes first',
      near('<p class=author-title>Licensed Grader</p><p class=author-name>Ana Lee</p>'),
      ['Ana Lee'],
    ],
    ['a line that begins with By', near('<div><span>By</span> <b>Ana Lee</b></div>'), ['Ana Lee']],
    ['an Arabic line', near('<div class=author>بقلم: سارة علي</div>'), ['سارة علي']],
    ['a sentence that begins with By', near('<p>By the time water boils it is late.</p>'), []],
    ['the author of a comment', near('<div class=comments><a rel=author href=/x>Max Poe</a></div>'), []],
    ['the author of a teaser', near('<aside><span class=byline>By Max Poe</span></aside>'), []],
  ])('are read from %s', (_, html, authors) => {
    const document = documentOf(html)
    expect(document.authors).toEqual(authors)
    expect(document.byline).toBe(authors.length === 0 ? null : authors.join(', '))
  })

  it('are the people whom readers see, before the house that a system puts for all of them', () => {
    const stated = script({ '@type': 'Article', author: { name: 'Kettle House' } })
    const site = '<meta property="og:site_name" content="Kettle house">'
    expect(documentOf(`${site}${stated}${near('<div class=byline>By Ana Lee</div>')}`).authors).toEqual([
      'Ana Lee',
    ])
    expect(documentOf(`${site}${stated}${near('')}`).authors).toEqual(['Kettle House'])
    expect(documentOf(`${stated}${near('<div class=byline>By Ana Lee</div>')}`).authors).toEqual([
      'Kettle House',
    ])
  })

  it.each(['⋅ Founder', 'Founder', '| Editor', 'on 3 March'])('end before %s', (rest) => {
    expect(documentOf(near(`<div class=byline>By Ana Lee ${rest}</div>`)).authors).toEqual(['Ana Lee'])
  })
})

describe('times', () => {
  it.each([
    ['<time itemprop=datePublished datetime="2026-01-02">x</time>', '2026-01-02'],
    ['<span itemprop=datePublished>January 2, 2026</span>', '2026-01-02'],
    ['<span itemprop=datePublished>02/01/2026</span>', null],
  ])('are read from %s', (html, published) => {
    expect(documentOf(html).published_time).toBe(published)
    expect(documentOf(html.replace('datePublished', 'dateModified'))).toMatchObject({
      modified_time: published,
    })
  })
})
