import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PageProducts, readProducts } from '../../../src/outcomes/products/page.ts'

const URL_OF_PAGE = 'https://shop.example/p/kettle'

const readBytes = (body: Uint8Array, contentType: string | null = 'text/html', url = URL_OF_PAGE) =>
  readProducts({ body, isCut: false, contentType, contentLanguage: null, url })

function readHtml(html: string, url?: string): PageProducts {
  const reading = readBytes(Buffer.from(html), 'text/html; charset=utf-8', url)
  if (!reading.ok) throw new Error(reading.reason)
  return reading.value
}

const script = (value: unknown) =>
  `<script type="application/ld+json">${typeof value === 'string' ? value : JSON.stringify(value)}</script>`
const page = (...values: unknown[]) =>
  `<!doctype html><html lang="en"><head>${values.map(script).join('')}</head></html>`
const firstOf = (html: string, url?: string) => readHtml(html, url).products[0]!
const offerOf = (html: string) => firstOf(html).offers[0]!
const withOffer = (offer: unknown, more: object = {}) =>
  page({ '@type': 'Product', name: 'Kettle', offers: offer, ...more })

describe('JSON-LD', () => {
  it('reads a product with its offer, in exact terms', () => {
    const product = firstOf(
      page({
        '@context': 'https://schema.org',
        '@type': 'Product',
        name: 'Kettle &amp; <b>Lid</b>',
        brand: { '@type': 'Brand', name: 'Hob' },
        sku: 'K-1',
        mpn: 'HOB-77',
        gtin13: ['4006381333931'],
        image: [{ '@type': 'ImageObject', contentUrl: '/kettle.jpg' }],
        color: 'red',
        additionalProperty: [{ '@type': 'PropertyValue', name: 'Volume', value: 1.7 }],
        offers: {
          '@type': 'Offer',
          price: '1299.90',
          priceCurrency: 'EUR',
          availability: 'https://schema.org/inStock',
          itemCondition: 'http://schema.org/NewCondition',
          seller: { name: 'Kettle House' },
          priceValidUntil: '2027-01-01',
          url: '/p/kettle?v=1',
          shippingDetails: {
            shippingRate: { value: '4.90', currency: 'EUR' },
            shippingDestination: { addressCountry: ['DE', 'AT'] },
          },
          hasMerchantReturnPolicy: { '@type': 'MerchantReturnPolicy', returnFees: 'x' },
        },
      }),
    )
    expect(product).toMatchObject({
      stated_in: 'json-ld',
      main: true,
      name: 'Kettle & Lid',
      brand: 'Hob',
      image: 'https://shop.example/kettle.jpg',
      attributes: { color: 'red', Volume: '1.7' },
      main_offer: 0,
      issues: [],
    })
    expect(product.identifiers.map(({ kind, valid }) => [kind, valid])).toEqual([
      ['gtin', true],
      ['mpn', true],
      ['sku', true],
    ])
    expect(product.offers).toEqual([
      {
        name: null,
        price: { amount: '1299.90', currency: 'EUR', minor_units: '129990', raw: '1299.90' },
        other_prices: [],
        list_price: null,
        low_price: null,
        high_price: null,
        offer_count: null,
        availability: 'InStock',
        condition: 'NewCondition',
        seller: 'Kettle House',
        url: 'https://shop.example/p/kettle?v=1',
        valid_until: '2027-01-01',
        shipping: [
          {
            amount: { amount: '4.90', currency: 'EUR', minor_units: '490', raw: '4.90' },
            destination: 'DE, AT',
            free: false,
          },
        ],
        identifiers: [],
        stated_in: 'json-ld',
        issues: [],
      },
    ])
  })

  const offer = { '@type': 'Offer', price: 5, priceCurrency: 'EUR' }
  const product = { '@type': 'Product', name: 'Kettle', offers: offer }
  it.each<[name: string, value: unknown]>([
    ['an array at the top', [{ '@type': 'WebSite', name: 'x' }, product]],
    ['@graph', { '@context': 'https://schema.org', '@graph': [{ '@type': 'WebPage', name: 'x' }, product] }],
    ['mainEntity of an ItemPage', { '@type': 'ItemPage', mainEntity: product }],
    ['types in a list', { ...product, '@type': ['Thing', 'https://schema.org/Product'] }],
    ['a prefixed type', { ...product, '@type': 'schema:Product' }],
    [
      'names with the address of the vocabulary',
      {
        '@type': 'http://schema.org/Product',
        'http://schema.org/name': 'Kettle',
        'http://schema.org/offers': {
          '@type': 'http://schema.org/Offer',
          'http://schema.org/price': { '@value': '5' },
          'http://schema.org/priceCurrency': 'EUR',
        },
      },
    ],
    ['offers in a list', { ...product, offers: [offer] }],
    [
      'offers by reference',
      {
        '@graph': [
          { ...product, offers: { '@id': '#o' } },
          { ...offer, '@id': '#o' },
        ],
      },
    ],
    ['an offer that names its item', { ...offer, itemOffered: { '@type': 'Product', name: 'Kettle' } }],
    [
      'an offer that refers to its item',
      {
        '@graph': [
          { ...offer, itemOffered: { '@id': '#p' } },
          { '@type': 'Product', '@id': '#p', name: 'Kettle' },
        ],
      },
    ],
    [
      'a price specification',
      {
        ...product,
        offers: {
          '@type': 'Offer',
          priceSpecification: [{ '@type': 'UnitPriceSpecification', price: '5', priceCurrency: 'EUR' }],
        },
      },
    ],
    [
      'a price on the product itself',
      { '@type': 'Product', name: 'Kettle', price: '5', priceCurrency: 'EUR' },
    ],
    [
      'the currency on the aggregate',
      {
        ...product,
        offers: {
          '@type': 'AggregateOffer',
          priceCurrency: 'EUR',
          offers: [{ '@type': 'Offer', price: '5' }],
        },
      },
    ],
    ['a price of a float', { ...product, offers: { ...offer, price: 5.0 } }],
    ['a book', { '@type': 'Book', name: 'Kettle', offers: offer }],
    [
      'a list of values',
      { '@type': 'Product', name: { '@value': 'Kettle', '@language': 'en' }, offers: { '@set': [offer] } },
    ],
  ])('reads %s', (_name, value) => {
    const [first, ...more] = readHtml(page(value)).products
    expect(more).toEqual([])
    expect(first).toMatchObject({ name: 'Kettle', main: true })
    expect(first!.offers.map(({ price }) => [price?.amount, price?.currency])).toEqual([['5', 'EUR']])
  })

  it('takes the price a buyer pays from a list of specifications, and the struck one aside', () => {
    const money = { '@type': 'UnitPriceSpecification', priceCurrency: 'EUR' }
    const one = offerOf(
      withOffer({
        '@type': 'Offer',
        priceSpecification: [
          { ...money, price: '19.90', priceType: 'https://schema.org/ListPrice' },
          { ...money, price: '3.98', referenceQuantity: { value: 1, unitCode: 'KGM' } },
          { ...money, price: '9.00', eligibleQuantity: { minValue: 10 } },
          { ...money, price: '9.90' },
        ],
      }),
    )
    expect([one.price?.amount, one.list_price?.amount]).toEqual(['9.90', '19.90'])
  })

  it('gives the condition of a product to its offers that state none', () => {
    const used = { itemCondition: 'https://schema.org/UsedCondition' }
    expect(offerOf(withOffer({ '@type': 'Offer', price: 5 }, used)).condition).toBe('UsedCondition')
    const own = { '@type': 'Offer', price: 5, itemCondition: 'NewCondition' }
    expect(offerOf(withOffer(own, used)).condition).toBe('NewCondition')
  })

  it('lets a new thing speak for a product before a used one', () => {
    const stock = { '@type': 'Offer', priceCurrency: 'EUR', availability: 'InStock' }
    const { main_offer } = firstOf(
      withOffer([
        { ...stock, price: 3, itemCondition: 'UsedCondition' },
        { ...stock, price: 5, itemCondition: 'NewCondition' },
      ]),
    )
    expect(main_offer).toBe(1)
  })

  it('keeps an aggregate apart from a price', () => {
    const one = offerOf(
      withOffer({
        '@type': 'AggregateOffer',
        lowPrice: 10.5,
        highPrice: '20',
        priceCurrency: 'USD',
        offerCount: '3',
      }),
    )
    expect(one).toMatchObject({
      price: null,
      low_price: { amount: '10.5' },
      high_price: { amount: '20' },
      offer_count: 3,
    })
    expect(one.issues).toEqual(['aggregate_only'])
  })

  it('lists the offers inside an aggregate, then the aggregate', () => {
    const { offers, main_offer } = firstOf(
      withOffer({
        '@type': 'AggregateOffer',
        lowPrice: '5',
        highPrice: '6',
        priceCurrency: 'EUR',
        offers: [
          { '@type': 'Offer', price: '6', availability: 'OutOfStock' },
          { '@type': 'Offer', price: '5', availability: 'InStock' },
        ],
      }),
    )
    expect(offers.map(({ price, low_price }) => price?.amount ?? low_price?.amount)).toEqual(['6', '5', '5'])
    expect(main_offer).toBe(1)
  })

  it.each<[value: unknown, amount: string | undefined, issue: string]>([
    [{ price: '5' }, '5', 'currency_missing'],
    [{ priceCurrency: 'EUR' }, undefined, 'offer_without_price'],
    [{ price: 'call us', priceCurrency: 'EUR' }, undefined, 'price_unreadable'],
    [{ price: '1,299', priceCurrency: 'EUR' }, '1299', 'ambiguous_decimal'],
    [{ price: '0', priceCurrency: 'EUR' }, '0', 'price_zero'],
    [{ price: '12.50 - 15.00', priceCurrency: 'EUR' }, '12.50', 'price_range'],
    [{ price: 19.990000000000002, priceCurrency: 'EUR' }, '19.990000000000002', 'inexact_number'],
    [{ price: '$5', priceCurrency: 'XYZ' }, '5', 'currency_missing'],
    [{ price: '5 USD', priceCurrency: 'EUR' }, '5', 'currency_contradicted'],
    [
      { price: '5', priceCurrency: 'EUR', availability: 'https://schema.org/Perhaps' },
      '5',
      'availability_unknown',
    ],
  ])('names what is wrong with the offer %j', (value, amount, issue) => {
    const one = offerOf(withOffer({ '@type': 'Offer', ...(value as object) }))
    expect(one.price?.amount).toBe(amount)
    expect(one.issues).toContain(issue)
  })

  it('says that a shared sign was understood by the country of the page', () => {
    const html = page({ '@type': 'Product', name: 'Kettle', offers: { price: '$5' } }).replace(
      '"en"',
      '"en-CA"',
    )
    expect(offerOf(html)).toMatchObject({ price: { currency: 'CAD' }, issues: ['currency_inferred'] })
  })

  it('tells every variant of a group with its own identifiers, and what they share', () => {
    const variant = (size: string, gtin: string) => ({
      '@type': 'Product',
      name: `Shirt ${size}`,
      size,
      gtin13: gtin,
      offers: { price: '20', priceCurrency: 'EUR' },
    })
    const { products } = readHtml(
      page(
        {
          '@type': 'ProductGroup',
          name: 'Shirt',
          productGroupID: 'S',
          brand: 'Loom',
          hasVariant: [variant('M', '4006381333931'), { '@id': '#l' }],
        },
        { '@id': '#l', ...variant('L', '4006381333948') },
      ),
    )
    const told = products.map(({ name, brand, variant_of, attributes }) =>
      [name, brand, variant_of, attributes['size']].join('/'),
    )
    expect(told.toSorted()).toEqual(['Shirt L/Loom/Shirt/L', 'Shirt M/Loom/Shirt/M'])
    expect(products.map(({ main }) => main)).toEqual([true, false])
  })

  it.each<[name: string, values: unknown[], url?: string]>([
    [
      'its address',
      [
        { ...product, name: 'Cup', url: '/p/cup' },
        { ...product, url: '/p/kettle' },
      ],
    ],
    [
      'its place as main entity',
      [
        { ...product, name: 'Cup' },
        { '@type': 'WebPage', mainEntity: product },
      ],
    ],
    ['a price, where the others have none', [{ '@type': 'Product', name: 'Cup' }, product]],
    [
      'not standing in a list',
      [
        {
          '@type': 'ItemList',
          itemListElement: [{ '@type': 'ListItem', item: { ...product, name: 'Cup' } }],
        },
        product,
      ],
    ],
    ['not being related to it', [{ ...product, isRelatedTo: [{ ...product, name: 'Cup' }] }]],
  ])('knows the product of the page by %s', (_name, values) => {
    const { products } = readHtml(page(...values))
    expect(products.length).toBe(2)
    expect(products[0]).toMatchObject({ name: 'Kettle', main: true })
    expect(products[1]!.main).toBe(false)
  })

  it('calls no product of a list the one that the page is about', () => {
    const listed = (name: string) => ({ '@type': 'ListItem', item: { ...product, name } })
    const { products } = readHtml(
      page({ '@type': 'ItemList', itemListElement: [listed('Cup'), listed('Pan')] }),
    )
    expect(products.map(({ name, main }) => [name, main])).toEqual([
      ['Cup', false],
      ['Pan', false],
    ])
  })

  it('prefers what stands by itself to what stands in a list, wherever both stand', () => {
    const list = { '@type': 'ItemList', itemListElement: [{ ...product, name: 'Cup' }] }
    const deep = { '@type': 'WebPage', hasPart: { '@type': 'WebPageElement', hasPart: product } }
    expect(firstOf(page(list, deep))).toMatchObject({ name: 'Kettle', main: true })
  })

  it('lists what a page offers, each with its own price and not with the lowest of all', () => {
    const { products } = readHtml(
      page({
        '@type': 'WebPage',
        offers: {
          '@type': 'AggregateOffer',
          lowPrice: '1',
          itemOffered: [
            { ...product, name: 'Cup' },
            { '@type': 'Product', name: 'Pan' },
          ],
        },
      }),
    )
    expect(products.map(({ name, offers }) => [name, offers.map(({ price }) => price?.amount)])).toEqual([
      ['Cup', ['5']],
      ['Pan', []],
    ])
  })

  it('takes the item of an offer of a product for that product', () => {
    const item = { '@type': 'Product', name: 'Kettle, red', sku: 'K-2' }
    expect(readHtml(page({ ...product, offers: [{ ...offer, itemOffered: item }] })).products.length).toBe(1)
  })

  it('keeps two products of one name apart by their numbers', () => {
    const numbered = (sku: string) => ({ ...product, sku })
    expect(readHtml(page(numbered('1'), numbered('2'), numbered('2'))).products.length).toBe(2)
  })

  it('reads a page whose scripts need repairs, and says which', () => {
    const broken =
      '/*<![CDATA[*/{"@type":"Product","name":"Kettle\n1.7","offers":{"price":"5","priceCurrency":"EUR",},}/*]]>*/'
    const value = readHtml(`${script(broken)}${script('nothing')}`)
    expect(value.products[0]).toMatchObject({ name: 'Kettle 1.7' })
    expect(value.jsonLd).toEqual({
      scripts: 2,
      invalid: 1,
      repaired: ['control_character', 'trailing_comma', 'wrapper'],
    })
  })
})

describe('other syntaxes', () => {
  const micro = `<div itemscope itemtype="https://schema.org/Product">
    <a itemprop="name" href="/x">Ket<b>tle</b></a><meta itemprop="sku" content="K-1">
    <span itemprop="brand" itemscope itemtype="http://schema.org/Brand"><span itemprop="name">Hob</span></span>
    <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
      <span itemprop="price">1.234,50</span> <span itemprop="priceCurrency" content="EUR">€</span>
      <link itemprop="availability" href="http://schema.org/OutOfStock"></div></div>`
  const rdfa = `<div vocab="https://schema.org/" typeof="Product"><h1 property="name">Kettle</h1>
    <meta property="schema:sku" content="K-1"><div property="brand" typeof="Brand"><b property="name">Hob</b></div>
    <div property="offers" typeof="Offer"><b property="price" content="1234.50">1,234</b>
    <meta property="priceCurrency" content="EUR"><link property="availability" href="OutOfStock"></div></div>`
  const goodRelations = `<div typeof="gr:SomeItems"><b property="gr:name">Kettle</b><i property="gr:hasStockKeepingUnit">K-1</i>
    <div rel="gr:hasBrand" typeof="gr:Brand"><b property="gr:name">Hob</b></div>
    <div property="offers" typeof="gr:Offering"><div rel="gr:hasPriceSpecification" typeof="gr:UnitPriceSpecification">
    <b property="gr:hasCurrencyValue" content="1234.50"></b><b property="gr:hasCurrency" content="EUR"></b></div>
    <link property="availability" href="OutOfStock"></div></div>`
  const graph = `<meta property="og:type" content="product"><meta property="og:title" content="Kettle">
    <meta property="product:retailer_item_id" content="K-1"><meta property="product:brand" content="Hob">
    <meta property="product:price:amount" content="1234.50"><meta property="product:price:currency" content="eur">
    <meta property="product:availability" content="out of stock">`

  it.each([
    ['microdata', micro],
    ['rdfa', rdfa],
    ['rdfa', goodRelations],
    ['opengraph', graph],
  ])('reads the same product from %s, marked as such', (statedIn, html) => {
    const [first, ...more] = readHtml(html).products
    expect(more).toEqual([])
    expect(first).toMatchObject({ name: 'Kettle', brand: 'Hob', stated_in: statedIn, also_stated_in: [] })
    expect(first!.identifiers.map(({ kind, value }) => [kind, value])).toEqual([['sku', 'K-1']])
    expect(first!.offers).toMatchObject([
      { price: { amount: '1234.50', currency: 'EUR' }, availability: 'OutOfStock', stated_in: statedIn },
    ])
  })

  it('takes a product of a page once, from JSON-LD first, and names what filled the gaps', () => {
    const bare = script({ '@type': 'Product', name: 'Kettle', gtin13: '4006381333931' })
    const [first, ...more] = readHtml(bare + micro + graph).products
    expect(more).toEqual([])
    expect(first).toMatchObject({ stated_in: 'json-ld', also_stated_in: ['microdata'], brand: 'Hob' })
    expect(first!.offers).toMatchObject([{ price: { amount: '1234.50' }, stated_in: 'microdata' }])
  })

  it('does not let another syntax correct what JSON-LD states', () => {
    const [first] = readHtml(
      page({ '@type': 'Product', name: 'Kettle', offers: { price: '7', priceCurrency: 'EUR' } }) + micro,
    ).products
    expect(first!.offers).toMatchObject([{ price: { amount: '7' }, availability: 'OutOfStock' }])
  })

  it('follows itemref to properties that stand elsewhere', () => {
    const html = `<div id="far"><b itemprop="name">Kettle</b></div>
      <div itemscope itemtype="http://schema.org/Product" itemref="far"><i itemprop="sku">K-1</i></div>`
    expect(firstOf(html)).toMatchObject({ name: 'Kettle' })
  })

  it('links the one offer beside the product to it, and says that the page did not', () => {
    const html = `<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Kettle</b></div>
      <div itemscope itemtype="http://schema.org/Offer"><b itemprop="price">5,00 €</b></div>`
    expect(offerOf(html)).toMatchObject({
      price: { amount: '5.00', currency: 'EUR' },
      issues: ['offer_not_linked'],
    })
  })

  it('calls the one thing that is priced what the page is called, and says that nobody stated a product', () => {
    const html = '<h1>Kettle</h1><b itemprop="price" content="5.00"></b><i itemprop="priceCurrency">EUR</i>'
    expect(firstOf(html)).toMatchObject({
      name: 'Kettle',
      offers: [{ price: { amount: '5.00', currency: 'EUR' } }],
      issues: ['product_not_stated', 'identifier_missing'],
    })
    expect(readBytes(Buffer.from(`${html}<b itemprop="price">7</b>`))).toMatchObject({ reason: 'no_product' })
    const offers = '<div itemscope itemtype="http://schema.org/Offer"><b itemprop="price">7</b></div>'
    expect(readBytes(Buffer.from(`<h1>Kettle</h1>${offers}`))).toMatchObject({ ok: true })
    expect(readBytes(Buffer.from(`<h1>Kettle</h1>${offers}${offers}`))).toMatchObject({
      reason: 'no_product',
    })
  })

  it('takes a sale price for the price and the price for the list price', () => {
    expect(offerOf(`${graph}<meta property="product:sale_price:amount" content="999">`)).toMatchObject({
      price: { amount: '999', currency: 'EUR' },
      list_price: { amount: '1234.50' },
    })
  })

  it('finds no product in a title and a picture', () => {
    const html =
      '<meta property="og:type" content="product"><meta property="og:title" content="Kettle"><p>5 €</p>'
    expect(readBytes(Buffer.from(html))).toMatchObject({ ok: false, reason: 'no_product' })
  })
})

describe('what a page is', () => {
  it.each<[reason: string, body: string, contentType: string | null]>([
    ['no_product', '<html><body><p>Hello</p></body></html>', 'text/html'],
    ['no_product', page({ '@type': 'Organization', name: 'x' }), 'text/html'],
    ['no_product', page({ '@type': 'Product', offers: { '@type': 'Offer' } }), 'text/html'],
    [
      'no_product',
      page({ '@type': 'Product', name: '\u200B', offers: { availability: 'InStock' } }),
      'text/html',
    ],
    ['empty', '  ', 'text/html'],
    ['binary', 'ab\0\0\0\0\0\0', 'text/html'],
    ['type_unsupported', '%PDF-1.7', 'application/pdf'],
    ['invalid_json', 'nothing', 'application/json'],
  ])('is refused as %s', (reason, body, contentType) => {
    expect(readBytes(Buffer.from(body), contentType)).toMatchObject({ ok: false, reason })
  })

  it('may be a document of JSON-LD', () => {
    const body = JSON.stringify({
      '@type': 'Product',
      name: 'Kettle',
      offers: { price: 5, priceCurrency: 'EUR' },
    })
    expect(readBytes(Buffer.from(body), 'application/ld+json')).toMatchObject({
      ok: true,
      format: 'json',
      value: { products: [{ name: 'Kettle' }] },
    })
  })

  it('is decoded as it says', () => {
    const html =
      '<meta charset="windows-1252"><div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Caf\u00e9</b><i itemprop="price">5 \u0080</i></div>'
    expect(readBytes(Buffer.from(html, 'latin1'), 'text/html')).toMatchObject({
      charset: { name: 'windows-1252' },
      value: { products: [{ name: 'Café', offers: [{ price: { currency: 'EUR' } }] }] },
    })
  })

  it('carries no invisible character into the answer', () => {
    const name = 'Ket\u200btle\u202e\u{e0041}'
    expect(
      firstOf(page({ '@type': 'Product', name, sku: 'K\u200b1', offers: { price: '5\u200b' } })),
    ).toMatchObject({
      name: 'Kettle',
      identifiers: [{ value: 'K1' }],
    })
  })
})

describe('hostile pages', () => {
  const nested = (depth: number) =>
    '{"@type":"Product","name":"x","offers":'.repeat(depth) + '{}' + '}'.repeat(depth)
  const cyclic = {
    '@graph': Array.from({ length: 500 }, (_, at) => ({
      '@type': 'Product',
      '@id': `#${at}`,
      name: `x${at}`,
      isVariantOf: { '@id': `#${(at + 1) % 500}` },
      hasVariant: { '@id': `#${(at + 7) % 500}` },
      offers: { '@id': `#${at}` },
    })),
  }
  it.each<[name: string, html: string]>([
    ['10,000 levels of JSON', script(nested(10_000))],
    [
      '10,000 levels of a list',
      script('['.repeat(10_000) + ']'.repeat(10_000)) + page({ '@type': 'Product', name: 'x' }),
    ],
    [
      '100,000 offers',
      page({ '@type': 'Product', name: 'x', offers: Array.from({ length: 100_000 }, () => ({ price: 1 })) }),
    ],
    [
      '20,000 products',
      page(
        Array.from({ length: 20_000 }, (_, at) => ({ '@type': 'Product', name: `x${at}`, sku: `s${at}` })),
      ),
    ],
    ['references in a circle', page(cyclic)],
    [
      'names of the prototype',
      script(
        '{"@type":"Product","name":"x","__proto__":{"polluted":true},"constructor":1,"offers":{"__proto__":{"price":1},"hasOwnProperty":1,"toString":[{}]}}',
      ),
    ],
    [
      'values of every wrong type',
      page({
        '@type': ['Product', 5, null, {}],
        name: [null, {}, [], 7],
        brand: [[null]],
        sku: { a: 1 },
        gtin: [true],
        image: [null, { url: 5 }],
        offers: [
          null,
          5,
          'x',
          [{ price: {} }],
          {
            price: [[]],
            priceSpecification: [null, 5],
            availability: [null, {}, 5],
            shippingDetails: [{ shippingRate: 5, shippingDestination: [{ addressCountry: [{}] }] }],
            eligibleQuantity: 5,
          },
        ],
        additionalProperty: [{}, { name: 5, value: {} }],
      }),
    ],
    [
      '50,000 open items',
      '<div itemscope itemtype="http://schema.org/Product" itemprop="offers"><b itemprop="name">x'.repeat(
        50_000,
      ),
    ],
    ['50,000 elements in each other', `${'<div>'.repeat(50_000)}${page({ '@type': 'Product', name: 'x' })}`],
    ['a million attributes', `<div ${'a=1 '.repeat(200_000)}>${page({ '@type': 'Product', name: 'x' })}`],
    [
      'texts of a megabyte',
      page({
        '@type': 'Product',
        name: '<b>'.repeat(300_000),
        sku: '&amp;'.repeat(100_000),
        description: '<'.repeat(500_000),
      }),
    ],
    [
      'long texts everywhere',
      page(
        Array.from({ length: 100 }, (_, at) => ({
          '@type': 'Product',
          name: `${at} ${'n'.repeat(2000)}`,
          description: 'd'.repeat(2000),
          url: `/${at}${'u'.repeat(2000)}`,
          offers: Array.from({ length: 50 }, (_, n) => ({
            price: n + 1,
            seller: 's'.repeat(500),
            url: `/${'v'.repeat(1900)}`,
          })),
        })),
      ),
    ],
  ])('with %s give a small answer or a reason', (_name, html) => {
    const reading = readBytes(Buffer.from(html))
    if (!reading.ok) expect(reading.reason).toBe('no_product')
    else {
      expect(JSON.stringify(reading.value).length).toBeLessThan(700_000)
      expect(reading.value.products.length).toBeLessThanOrEqual(100)
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('do not hide a product behind 50,000 elements that are never closed', () => {
    expect(firstOf(`${'<div>'.repeat(50_000)}${page({ '@type': 'Product', name: 'x' })}`).name).toBe('x')
  })

  it('name what was cut', () => {
    const { products, truncated } = readHtml(
      page({
        '@type': 'Product',
        name: 'x',
        offers: Array.from({ length: 60 }, (_, at) => ({ price: at + 1 })),
      }),
    )
    expect(products[0]!.offers.length).toBe(50)
    expect(truncated).toEqual(['offers'])
  })

  it('never throw, whatever a product is made of', () => {
    const key = fc.constantFrom(
      '@type',
      '@id',
      '@graph',
      'name',
      'offers',
      'price',
      'priceCurrency',
      'priceSpecification',
      'hasVariant',
      'isVariantOf',
      'brand',
      'sku',
      'gtin',
      'url',
      'image',
      'itemOffered',
      'mainEntity',
      'availability',
      'shippingDetails',
      'shippingRate',
      '__proto__',
      '@value',
      '@list',
      'seller',
      'additionalProperty',
      'eligibleQuantity',
    )
    const leaf = fc.oneof(
      fc.constantFrom(
        'Product',
        'ProductGroup',
        'Offer',
        'AggregateOffer',
        '#a',
        'EUR',
        '1.234',
        'https://schema.org/InStock',
        '4006381333931',
      ),
      fc.string(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 6 }),
      ),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        const reading = readBytes(
          Buffer.from(page({ '@type': 'Product', name: 'x', offers: value, hasVariant: value }, value)),
        )
        expect(reading.ok || reading.reason === 'no_product').toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('never throw, whatever markup a product is made of', () => {
    const piece = fc.constantFrom(
      '<div itemscope>',
      '<div itemscope itemtype="http://schema.org/Product">',
      '<div itemprop="offers" itemscope itemtype="http://schema.org/Offer">',
      '<b itemprop="price">',
      '<b itemprop="name" content="x">',
      '</div>',
      '</b>',
      '5,00 €',
      '<div typeof="Product">',
      '<b property="name">',
      '<meta property="product:price:amount" content="5">',
      '<script type="application/ld+json">',
      '</script>',
      '{"@type":"Product","name":"x"}',
      '<!--',
      '-->',
      '<h1>',
      '<title>',
      '<base href="//[">',
      '<link rel=canonical href="::">',
      '<a itemprop="url" href="javascript:1">',
      '\0',
      '&#0;',
      '<',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const reading = readBytes(Buffer.from(`x${pieces.join('')}`))
        expect(reading.ok || typeof reading.reason === 'string').toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})
