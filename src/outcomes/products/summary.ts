// The products of a page in a few words, for a document: what product offers would say about it, with less detail.
import type { ExtractedDocument } from '../../../schemas/document.ts'
import type { JsonLd } from '../structured/json-ld.ts'
import type { ParsedPage } from '../extract/tree.ts'
import { isMarked, readHeadStatements } from '../structured/head-statements.ts'
import { scanPage } from '../structured/scan.ts'
import { readStatements } from './page.ts'

type ProductSummary = ExtractedDocument['structured_data']['products'][number]

const MAX_PRODUCTS = 20
const MAX_OFFERS = 10
const IS_WARE = /^(?:Product|Offer|AggregateOffer)/

/**
 * At most 20 products with at most ten offers each, the main one first. A second pass over the page is only worth it where something in its
 * markup is for sale.
 * @param page the same page, read before
 */
export function summariseProducts(
  html: string,
  url: string | undefined,
  { jsonLd, page }: { jsonLd: JsonLd; page: ParsedPage },
): ProductSummary[] {
  const isStated =
    page.statesWare || jsonLd.graph.things.some(({ types }) => types.some((type) => IS_WARE.test(type)))
  if (!isStated) return []
  const statements = isMarked(page) ? scanPage(html) : readHeadStatements(page)
  // Without an address links stay unknown, and nothing else is missed.
  return readStatements(statements, url ?? '', { jsonLd })
    .products.slice(0, MAX_PRODUCTS)
    .map(({ name, brand, identifiers, offers }) => ({
      name,
      brand,
      sku: identifiers.find(({ kind }) => kind === 'sku')?.value ?? null,
      gtin: identifiers.find(({ kind }) => kind === 'gtin')?.value ?? null,
      offers: offers.slice(0, MAX_OFFERS).map(({ price, low_price, availability }) => {
        const stated = price ?? low_price
        return { price: stated?.amount ?? null, currency: stated?.currency ?? null, availability }
      }),
    }))
}
