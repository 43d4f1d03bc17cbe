// OpenGraph and product meta tags: one product, the one that the page is about, with at most one offer.
import type { Offer } from '../../../schemas/product-offers.ts'
import { resolveLink } from '../extract/links.ts'
import { buildGraph } from '../structured/graph.ts'
import { tidy } from '../structured/node.ts'
import { readOffer } from './offer.ts'
import { readIdentifiers } from './identify.ts'
import type { Draft, PageFacts } from './product.ts'

type Meta = ReadonlyMap<string, string>

const first = (meta: Meta, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = meta.get(name)?.trim()
    if (value) return value
  }
  return undefined
}

/** The currency that the page states once, for everything that does not say its own. */
export const metaCurrency = (meta: Meta): string | undefined =>
  first(
    meta,
    'product:price:currency',
    'og:price:currency',
    'product:sale_price:currency',
    'currency',
    'pricecurrency',
  )

/** The product that meta tags state; undefined where they state none. */
export function readMeta(meta: Meta, facts: PageFacts): Draft | undefined {
  const sale = first(meta, 'product:sale_price:amount', 'og:sale_price:amount')
  const regular = first(meta, 'product:price:amount', 'og:price:amount', 'product:price', 'og:price')
  const price = sale ?? regular ?? labelledPrice(meta)
  const availability = first(meta, 'product:availability', 'og:availability')
  const isProduct = /product/i.test(first(meta, 'og:type') ?? '')
  const node: Record<string, unknown> = Object.create(null)
  const say = (key: string, value: string | undefined) => {
    if (value !== undefined) node[key] = value
  }
  say('sku', first(meta, 'product:retailer_item_id', 'product:sku', 'og:sku'))
  say('mpn', first(meta, 'product:mfr_part_no', 'product:mpn'))
  say('gtin', first(meta, 'product:gtin', 'product:ean', 'product:upc', 'og:upc', 'og:ean'))
  say('isbn', first(meta, 'product:isbn', 'book:isbn', 'og:isbn'))
  const graph = buildGraph([])
  const identifiers = readIdentifiers(node, graph)
  // A title and a picture are stated by every page.
  if (price === undefined && !(isProduct && (availability !== undefined || identifiers.length > 0)))
    return undefined
  const offers: Offer[] = []
  if (price !== undefined || availability !== undefined) {
    const stated: Record<string, unknown> = Object.create(null)
    stated['price'] = price
    stated['priceCurrency'] = metaCurrency(meta)
    stated['availability'] = availability
    stated['itemCondition'] = first(meta, 'product:condition', 'og:condition')
    if (sale !== undefined) stated['listPrice'] = regular
    stated['listPrice'] ??= first(meta, 'product:original_price:amount', 'og:standard_price:amount')
    offers.push(
      readOffer(stated, {
        graph,
        base: facts.base,
        currency: facts.currency,
        region: facts.region,
        statedIn: 'opengraph',
        condition: null,
      }),
    )
  }
  const address = resolveLink(first(meta, 'og:url') ?? '', facts.base)
  const image = resolveLink(first(meta, 'og:image', 'og:image:secure_url') ?? '', facts.base)
  return {
    product: {
      url: address?.absolute ? address.url : facts.base,
      stated_in: 'opengraph',
      also_stated_in: [],
      main: false,
      name: tidy(first(meta, 'og:title', 'twitter:title'), 300),
      brand: tidy(first(meta, 'product:brand', 'og:brand'), 120),
      description: tidy(first(meta, 'og:description', 'description'), 500),
      image: image?.absolute ? image.url : null,
      variant_of: null,
      attributes: {},
      identifiers,
      offers,
      main_offer: null,
      issues: [],
    },
    role: 'main',
    urls: new Set(),
    isVariant: false,
  }
}

/** `twitter:label1` = Price, `twitter:data1` = the price. */
function labelledPrice(meta: Meta): string | undefined {
  for (const at of ['1', '2', '3'])
    if (/^(?:price|preis|prix|precio|prezzo|cena|السعر)$/i.test(meta.get(`twitter:label${at}`)?.trim() ?? ''))
      return first(meta, `twitter:data${at}`)
  return undefined
}
