// Shop pages: the same tin in two shops, in a third with another currency, one page in microdata, one without a product.
import { html, json, type MakePage, shell } from './page.ts'

/** GS1 keeps this prefix for examples; the check digit is right. */
const SENCHA_GTIN = '9506000134352'

interface Tin {
  readonly path: string
  readonly shop: string
  readonly name: string
  readonly sku: string
  readonly price: string
  readonly currency: string
  readonly shown: string
  readonly availability: 'InStock' | 'LimitedAvailability' | 'OutOfStock'
  readonly shipping?: { readonly price: string; readonly country: string }
}

function productPage(tin: Tin, origin: string): string {
  const { path, shop, name, sku, price, currency, shown, availability, shipping } = tin
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name,
    sku,
    gtin13: SENCHA_GTIN,
    brand: { '@type': 'Brand', name: 'Sample Gardens' },
    description: 'Japanese green tea of the first harvest in a tin of 100 g.',
    image: `${origin}${path}.jpg`,
    offers: {
      '@type': 'Offer',
      url: `${origin}${path}`,
      price,
      priceCurrency: currency,
      availability: `https://schema.org/${availability}`,
      itemCondition: 'https://schema.org/NewCondition',
      priceValidUntil: '2026-12-31',
      seller: { '@type': 'Organization', name: shop },
      ...(shipping && {
        shippingDetails: {
          '@type': 'OfferShippingDetails',
          shippingRate: { '@type': 'MonetaryAmount', value: shipping.price, currency },
          shippingDestination: { '@type': 'DefinedRegion', addressCountry: shipping.country },
        },
      }),
    },
  }
  return shell({
    lang: 'en',
    head: `  <title>${name} | ${shop}</title>
  <meta name="description" content="${name}, 100 g, at ${shop}.">
  <meta property="og:type" content="product">
  <meta property="og:site_name" content="${shop}">
  <link rel="canonical" href="${origin}${path}">
  <script type="application/ld+json">${JSON.stringify(data)}</script>`,
    main: `    <h1>${name}</h1>
    <p class="price">${shown}</p>
    <p>Leaves of the first harvest are steamed within a day of picking, which keeps their colour and their fresh, slightly
    sweet taste. One tin holds 100 g.</p>
    <dl><dt>Article</dt><dd>${sku}</dd><dt>GTIN</dt><dd>${SENCHA_GTIN}</dd></dl>`,
  })
}

/** The first of two offers of one tea, in a shop of its own. */
export const senchaA: MakePage = (origin) =>
  html(
    '/shop/sencha-a',
    productPage(
      {
        path: '/shop/sencha-a',
        shop: 'Example Tea Room',
        name: 'Sencha, first harvest, 100 g',
        sku: 'ETR-100',
        price: '12.50',
        currency: 'EUR',
        shown: '12.50 €',
        availability: 'InStock',
        shipping: { price: '3.90', country: 'DE' },
      },
      origin,
    ),
  )

/** The same tea in another shop and in other words, so that offers can be compared. */
export const senchaB: MakePage = (origin) =>
  html(
    '/shop/sencha-b',
    productPage(
      {
        path: '/shop/sencha-b',
        shop: 'Leaf and Kettle',
        name: 'Sample Gardens Sencha (first flush), tin of 100 g',
        sku: 'LK-2207',
        price: '11.90',
        currency: 'EUR',
        shown: '11.90 EUR',
        availability: 'LimitedAvailability',
      },
      origin,
    ),
  )

/** Same identifier, another currency: never ranked beside the other two. */
export const senchaDollars: MakePage = (origin) =>
  html(
    '/shop/sencha-usd',
    productPage(
      {
        path: '/shop/sencha-usd',
        shop: 'Overseas Leaves',
        name: 'Sencha First Harvest 3.5 oz',
        sku: 'OL-350',
        price: '14.00',
        currency: 'USD',
        shown: '$14.00',
        availability: 'InStock',
      },
      origin,
    ),
  )

/** Microdata only. */
export const kettle: MakePage = (origin) =>
  html(
    '/shop/kettle',
    shell({
      lang: 'en',
      head: `  <title>Kettle with thermometer | Example Tea Room</title>
  <link rel="canonical" href="${origin}/shop/kettle">`,
      main: `    <div itemscope itemtype="https://schema.org/Product">
      <h1 itemprop="name">Kettle with thermometer</h1>
      <p>By <span itemprop="brand">Sample Gardens</span>, article <span itemprop="sku">ETR-K1</span></p>
      <p itemprop="description">Holds one litre and shows the temperature of the water on its lid.</p>
      <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
        <span itemprop="price" content="49.00">49,00</span>
        <span itemprop="priceCurrency" content="EUR">€</span>
        <link itemprop="availability" href="https://schema.org/InStock">in stock
      </div>
    </div>`,
    }),
  )

/** A page of a shop without any product. */
export const aboutShop: MakePage = (origin) =>
  html(
    '/shop/about',
    shell({
      lang: 'en',
      head: `  <title>About us | Example Tea Room</title>
  <link rel="canonical" href="${origin}/shop/about">`,
      main: `    <article>
      <h1>About the Example Tea Room</h1>
      <p>We have sold tea on this corner for as long as this page exists, which is to say never: it is a sample. Prices
      stand on the pages of the teas, and this page has none on purpose.</p>
    </article>`,
    }),
  )

/** JSON that is no feed and no product: a list to extract. */
export const teaList: MakePage = (origin) =>
  json('/data/teas.json', {
    title: 'Teas in the sample shop',
    updated: '2026-02-01',
    teas: [
      { name: 'Sencha', kind: 'green', water_celsius: 75, page: `${origin}/shop/sencha-a` },
      { name: 'Gunpowder', kind: 'green', water_celsius: 80, page: null },
      { name: 'Assam', kind: 'black', water_celsius: 95, page: null },
    ],
  })
