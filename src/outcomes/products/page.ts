// Reads the products and offers that a shop page states in a structured form; where it states no price, the one that it shows.
import type { Offer } from '../../../schemas/product-offers.ts'
import { sniffKind } from '../extract/sniff.ts'
import { readHead, refreshStub, usageOf } from '../extract/head.ts'
import { findPoor } from '../extract/poor/judge.ts'
import { type PoorReason, refusePoor } from '../extract/poor/reasons.ts'
import { type ParsedPage, parsePage } from '../extract/tree.ts'
import { resolveLink } from '../extract/links.ts'
import type { PageInput, Reading } from '../reading.ts'
import { readCurrency } from './currencies.ts'
import { buildGraph, type Graph } from '../structured/graph.ts'
import { type JsonLd, parseJsonLd } from '../structured/json-ld.ts'
import { parseLoosely } from '../structured/loose-json.ts'
import { identifyPage, type PageIdentity } from '../structured/main.ts'
import { tidy } from '../structured/node.ts'
import { type PageStatements, scanPage } from '../structured/scan.ts'
import { mergeDrafts, repeatsLabelled } from './merge.ts'
import { metaCurrency, readMeta } from './meta.ts'
import { readOffer } from './offer.ts'
import { findShownPrice } from './shown-price.ts'
import {
  type Draft,
  orphanOffers,
  type PageFacts,
  type PageProduct,
  readDrafts,
  statesPrice,
} from './product.ts'
import { isBuyable } from './terms.ts'
import { decodeSource } from '../text/decode.ts'

export interface PageProducts {
  /** The main one first. */
  readonly products: readonly PageProduct[]
  readonly jsonLd: {
    readonly scripts: number
    readonly invalid: number
    readonly repaired: readonly string[]
  }
  readonly truncated: readonly string[]
}

const MAX_PRODUCTS = 100
/** The size of the products of one page as JSON. */
const MAX_CHARACTERS = 300_000

const NO_PRODUCT =
  'The page states no product in JSON-LD, microdata, RDFa or product meta tags. Send the address of a page of one product.'

/**
 * @returns the products of the page, or `no_product`, `empty`, `binary`, `type_unsupported`, `invalid_json`, or why the answer is no page
 */
export function readProducts(input: PageInput): Reading<PageProducts> {
  const kind = sniffKind(input)
  if (!kind.ok) return kind
  const { format, label } = kind
  const markup = format === 'html' ? 'html' : undefined
  const { text, charset } = decodeSource(input.body, label, { isCut: input.isCut, markup })
  if (format === 'json' && parseLoosely(text).ok === false)
    return {
      ok: false,
      reason: 'invalid_json',
      detail: 'The source says JSON and is none. Send the address of a page of one product.',
    }
  const head = markup && readHead(text, input.url)
  if (head?.refreshUrl) return refreshStub(head.refreshUrl)
  // A document of JSON-LD is read like a page with that one script.
  const page = format === 'json' ? { ...scanPage(''), scripts: [text] } : scanPage(text)
  let poor: PoorReason | undefined
  const value = readStatements(page, input.url, {
    show: (isStated) => {
      if (!markup) return undefined
      const tree = parsePage(text)
      if (!isStated) poor = findPoor(text, { page: tree, url: input.url })
      return poor ? undefined : tree
    },
  })
  if (value.products.length === 0)
    return poor ? refusePoor(poor) : { ok: false, reason: 'no_product', detail: NO_PRODUCT }
  return { ok: true, format, charset, textSha256: null, usage: usageOf(head), value }
}

/**
 * @param url of the page, which the main product is known by
 * @param options.jsonLd of the page, where it was read before
 * @param options.show the page as its readers see it, asked for where no price is stated; without it nothing but statements count
 */
export function readStatements(
  page: PageStatements,
  url: string,
  { jsonLd = parseJsonLd(page.scripts), show }: { jsonLd?: JsonLd; show?: ShowPage } = {},
): PageProducts {
  const base = baseOf(page, url)
  const facts: PageFacts = { base, region: regionOf(page, url), currency: currencyOf(page) }
  const truncated = new Set(page.truncated)
  if (jsonLd.truncated) truncated.add('json_ld')
  const drafts: Draft[] = []
  const collect = (graph: Graph, statedIn: 'json-ld' | 'microdata' | 'rdfa') => {
    const read = readDrafts(graph, statedIn, facts)
    for (const name of read.truncated) truncated.add(name)
    drafts.push(...read.drafts)
  }
  collect(jsonLd.graph, 'json-ld')
  collect(buildGraph(page.microdata.items), 'microdata')
  collect(buildGraph(page.rdfa.items), 'rdfa')
  const meta = readMeta(page.meta, facts)
  if (meta) drafts.push(meta)
  const products = mergeDrafts(drafts, identityOf(page, base))
  linkOrphans(products, page, facts)
  if (show) addShownPrice(products, { page, facts, show })
  return {
    products: limit(products.filter(saysSomething).map(withIssues), truncated),
    jsonLd: { scripts: jsonLd.scripts, invalid: jsonLd.invalidScripts, repaired: jsonLd.repaired },
    truncated: [...truncated].sort(),
  }
}

function baseOf(page: PageStatements, url: string): string {
  const declared = page.base === null ? undefined : resolveLink(page.base, url)
  return declared?.absolute && /^https?:/.test(declared.url) ? declared.url : url
}

function identityOf(page: PageStatements, base: string): PageIdentity {
  const resolve = (href: string | null | undefined) => {
    const link = href ? resolveLink(href, base) : undefined
    return link?.absolute ? link.url : undefined
  }
  return identifyPage(
    [base, resolve(page.canonical), resolve(page.meta.get('og:url'))],
    [page.heading, page.meta.get('og:title'), page.title],
  )
}

/** Country of the page: its language tag, its locale, the country code of its host. */
function regionOf(page: PageStatements, url: string): string | null {
  for (const tag of [page.language, page.meta.get('og:locale')]) {
    const region = /^[a-z]{2,3}[-_]([a-z]{2})\b/i.exec(tag?.trim() ?? '')?.[1]
    if (region) return region.toUpperCase()
  }
  const top = URL.canParse(url) ? (new URL(url).hostname.split('.').at(-1) ?? '') : ''
  return /^[a-z]{2}$/.test(top) ? (top === 'uk' ? 'GB' : top.toUpperCase()) : null
}

const currencyOf = (page: PageStatements): string | null => {
  const stated = metaCurrency(page.meta)
  return stated === undefined ? null : readCurrency(stated.slice(0, 40))
}

/** Offers and prices outside every product belong to the page's product where that has no price of its own. */
function linkOrphans(products: PageProduct[], page: PageStatements, facts: PageFacts): void {
  const [main] = products
  if (main?.offers.some(({ price, low_price }) => price ?? low_price)) return
  for (const [annotations, statedIn] of [
    [page.microdata, 'microdata'],
    [page.rdfa, 'rdfa'],
  ] as const) {
    const orphan = statesPrice(annotations.orphan) ? [{ ...annotations.orphan, '@type': 'Offer' }] : []
    const [offer, ...more] = orphanOffers([...annotations.items, ...orphan], statedIn, facts)
    if (!offer || more.length > 0 || !(offer.price ?? offer.low_price)) continue
    const offers = [{ ...offer, issues: [...offer.issues, 'offer_not_linked'] }]
    if (!main) products.push({ ...nameless(page, facts, statedIn), offers })
    else if (repeatsLabelled(main, { offers })) return
    else {
      main.offers = offers
      if (statedIn !== main.stated_in) main.also_stated_in.push(statedIn)
    }
    return
  }
}

/** @returns the page as a tree, unless it is none that anybody would pay for */
type ShowPage = (isStated: boolean) => ParsedPage | undefined

/** The price that stands beside the name of the product, where no markup has one. */
function addShownPrice(
  products: PageProduct[],
  of: { page: PageStatements; facts: PageFacts; show: ShowPage },
): void {
  const { page, facts } = of
  const [main] = products.filter(saysSomething)
  // Several offers without a price are variants, and a price of another kind is no place for a guess.
  if (main && (!main.main || main.offers.length > 1 || main.offers.some(hasAnyPrice))) return
  const tree = of.show(main !== undefined)
  const shown =
    tree &&
    findShownPrice(tree, {
      titles: [page.meta.get('og:title'), page.title, main?.name].flatMap(
        (title) => title?.slice(0, 500) ?? [],
      ),
      currency: facts.currency,
      region: facts.region,
      isProduct: main !== undefined || /product/i.test(page.meta.get('og:type') ?? ''),
    })
  if (!shown) return
  const stated =
    main?.offers[0] ?? readOffer({}, { ...facts, graph: buildGraph([]), statedIn: 'text', condition: null })
  const offer: Offer = {
    ...stated,
    price: shown.money,
    stated_in: 'text',
    issues: [
      ...stated.issues.filter((issue) => issue !== 'offer_without_price' && issue !== 'price_unreadable'),
      ...shown.issues,
      'price_from_text',
    ],
  }
  if (main) {
    main.offers = [offer]
    if (!main.also_stated_in.includes('text')) main.also_stated_in.push('text')
  } else products.push({ ...nameless(page, facts, 'text'), name: tidy(shown.name, 300), offers: [offer] })
}

const hasAnyPrice = ({ price, low_price, other_prices }: Offer) =>
  price !== null || low_price !== null || other_prices.length > 0

/** A page that states one price and no product: what it is about is what it is called. */
const nameless = (
  page: PageStatements,
  facts: PageFacts,
  statedIn: PageProduct['stated_in'],
): PageProduct => ({
  url: facts.base,
  stated_in: statedIn,
  also_stated_in: [],
  main: true,
  name: tidy(page.meta.get('og:title') ?? page.heading ?? page.title ?? undefined, 300),
  brand: null,
  description: null,
  image: null,
  variant_of: null,
  attributes: {},
  identifiers: [],
  offers: [],
  main_offer: null,
  issues: ['product_not_stated'],
})

/** A product without a name, a number or a price is nothing that anybody would pay to know. */
const saysSomething = ({ name, identifiers, offers }: PageProduct): boolean =>
  name !== null ||
  identifiers.length > 0 ||
  offers.some((offer) =>
    [offer.price, offer.list_price, offer.low_price, offer.high_price].some((money) => money !== null),
  )

function withIssues(product: PageProduct): PageProduct {
  const issues = [...product.issues]
  const { identifiers, offers } = product
  if (offers.length === 0) issues.push('no_offer')
  if (!identifiers.some(({ valid }) => valid)) issues.push('identifier_missing')
  if (identifiers.some(({ kind, valid }) => kind === 'gtin' && !valid)) issues.push('gtin_invalid')
  if (product.name === null) issues.push('name_missing')
  return { ...product, main_offer: speakingOffer(offers), issues }
}

/** The offer that a buyer gets: one in stock with a price, new before used, else one with a price. */
function speakingOffer(offers: PageProduct['offers']): number | null {
  const candidates = [
    offers.findIndex(
      ({ price, availability, condition }) =>
        price !== null && isBuyable(availability) && (condition === null || condition === 'NewCondition'),
    ),
    offers.findIndex(({ price, availability }) => price !== null && isBuyable(availability)),
    offers.findIndex(({ price }) => price !== null),
    offers.findIndex(({ low_price }) => low_price !== null),
    offers.length > 0 ? 0 : -1,
  ]
  return candidates.find((at) => at >= 0) ?? null
}

function limit(products: readonly PageProduct[], truncated: Set<string>): PageProduct[] {
  const kept: PageProduct[] = []
  let characters = 0
  for (const product of products) {
    characters += JSON.stringify(product).length
    if (kept.length >= MAX_PRODUCTS || (characters > MAX_CHARACTERS && kept.length > 0)) {
      truncated.add('products')
      break
    }
    kept.push(product)
  }
  return kept
}
