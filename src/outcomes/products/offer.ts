// One stated offer -> price, availability, seller and shipping; what is missing or doubtful is named, never guessed.
import type { Offer, OtherPrice } from '../../../schemas/product-offers.ts'
import { resolveLink } from '../extract/links.ts'
import { inferCurrency, readCurrency } from './currencies.ts'
import { type Graph, nodesAt } from '../structured/graph.ts'
import { readIdentifiers } from './identify.ts'
import { isZero, readAmount, toMoney } from './money.ts'
import { type PriceTerms, readPriceTerms, readShownTerms } from './price-kind.ts'
import { isShown, listOf, type Node, own, scalarOf, textAt, tidy, valuesOf } from '../structured/node.ts'
import { isBuyable, readAvailability, readCondition } from './terms.ts'

export interface OfferContext {
  readonly graph: Graph
  readonly base: string
  /** The thing that the offer stands in. */
  readonly currency: string | null
  /** ISO 3166 country that the page is made for, where it says so. */
  readonly region: string | null
  readonly statedIn: Offer['stated_in']
  /** Of the thing itself, for offers that do not say their own. */
  readonly condition: string | null
}

type Money = NonNullable<Offer['price']>

const MAX_SHIPPING = 5
const MAX_OTHER_PRICES = 10
const NOT_A_PRICE = /ListPrice|SRP|Strikethrough|Invoice|MinimumAdvertised/i

/** An offer or the product that carries the price itself. */
export function readOffer(node: Node, context: OfferContext): Offer {
  const { graph } = context
  const issues = new Set<string>()
  const specifications = nodesAt(graph, node, 'priceSpecification')
  const inherited = readStatedCurrency(node) ?? specifications.map(readStatedCurrency).find(Boolean) ?? null
  const money = (value: unknown, currency = inherited) =>
    readMoney(value, { currency: currency ?? context.currency, region: context.region }, issues)

  const terms = readPriceTerms(node, graph)
  const others = readOtherPrices(node, { terms, specifications, context, inherited })
  const direct = others.some(({ isDirect }) => isDirect) ? null : pick(node, ['price', 'salePrice'], money)
  const selling = terms
    ? []
    : specifications.filter((one) => !isListPrice(one) && !readPriceTerms(one, graph))
  const specified = selling
    .map((one) => pick(one, ['price'], (value) => money(value, readStatedCurrency(one))))
    .find((found) => found && !readShownTerms(found.raw))
  const listed = specifications
    .filter(isListPrice)
    .map((one) => pick(one, ['price'], (value) => money(value, readStatedCurrency(one))))
    .find(Boolean)
  const low =
    pick(node, ['lowPrice'], money) ??
    selling.map((one) => pick(one, ['minPrice'], money)).find(Boolean) ??
    null
  const high =
    pick(node, ['highPrice'], money) ??
    selling.map((one) => pick(one, ['maxPrice'], money)).find(Boolean) ??
    null
  let price = direct ?? specified ?? null
  if (!price && low) {
    issues.add('aggregate_only')
    // All of them ask the same.
    if (low.amount === high?.amount) price = low
  }
  const availability = termAt(node, 'availability', readAvailability)
  if (availability.isUnknown) issues.add('availability_unknown')
  if (price && isZero(price.amount)) {
    issues.add('price_zero')
    // A zero beside what cannot be had stands for a price that nobody knows.
    if (availability.term !== null && !isBuyable(availability.term)) price = null
  }
  const stated = price ?? low
  if (!stated) issues.add(others[0] ? `only_${others[0].kind}_price` : 'offer_without_price')
  else if (stated.currency === null) issues.add('currency_missing')
  if (price && [node, ...selling].some(excludesTax)) issues.add('tax_excluded')
  return {
    name: textAt(node, ['name'], 200),
    price,
    other_prices: others.map(({ kind, price: other, per }) => ({ kind, price: other, per })),
    list_price: listed ?? pick(node, ['listPrice', 'msrp'], money),
    low_price: low,
    high_price: high,
    offer_count: countAt(node),
    availability: availability.term,
    condition: readItemCondition(node) ?? context.condition,
    seller: textAt(derefAt(node, graph), ['seller', 'offeredBy', 'merchant'], 200),
    url: urlAt(node, context.base),
    valid_until: textAt(node, ['priceValidUntil', 'validThrough'], 40),
    shipping: nodesAt(graph, node, 'shippingDetails')
      .slice(0, MAX_SHIPPING)
      .map((one) => readShipping(one, context)),
    identifiers: readIdentifiers(node, graph),
    stated_in: context.statedIn,
    issues: [...issues],
  }
}

/** Sellers may be references. */
function derefAt(node: Node, graph: Graph): Node {
  const found: Record<string, unknown> = Object.create(null)
  for (const key of ['seller', 'offeredBy', 'merchant'])
    found[key] = listOf(own(node, key)).map((value) => graph.deref(value))
  return found
}

const isListPrice = (node: Node) =>
  NOT_A_PRICE.test(textAt(node, ['priceType'], 100) ?? '') || valuesOf(node, 'priceType').some(isStruck)
const isStruck = (value: unknown) => NOT_A_PRICE.test(scalarOf(value) ?? '')

interface Labelled extends OtherPrice {
  /** It is what stands on the offer itself. */
  readonly isDirect: boolean
}

/** A price per kilogram, for members, from ten pieces on, for a month or for the delivery is not the price. */
function readOtherPrices(
  node: Node,
  of: {
    /** Of the whole offer. */
    terms: PriceTerms | undefined
    specifications: readonly Node[]
    context: OfferContext
    inherited: string | null
  },
): Labelled[] {
  const { graph, currency, region } = of.context
  const found: Labelled[] = []
  const moneyAt = (one: Node, keys: readonly string[]) =>
    pick(one, keys, (value) =>
      readMoney(
        value,
        { currency: readStatedCurrency(one) ?? of.inherited ?? currency, region },
        new Set<string>(),
      ),
    )
  const add = (terms: PriceTerms | undefined, price: Money | null, isDirect: boolean) => {
    if (!terms || !price || found.length >= MAX_OTHER_PRICES) return
    const at = found.findIndex((one) => one.kind === terms.kind && one.price.amount === price.amount)
    if (at < 0 || isDirect) found.splice(at < 0 ? found.length : at, 1, { ...terms, price, isDirect })
  }
  const direct = moneyAt(node, ['price', 'salePrice'])
  add(of.terms ?? (direct ? readShownTerms(direct.raw) : undefined), direct, true)
  const parts = of.specifications.flatMap((one) => [one, ...nodesAt(graph, one, 'priceComponent')])
  for (const one of parts.slice(0, 4 * MAX_OTHER_PRICES)) {
    if (isListPrice(one)) continue
    const price = moneyAt(one, ['price'])
    const terms = readPriceTerms(one, graph) ?? of.terms ?? (price ? readShownTerms(price.raw) : undefined)
    // What is asked every month and stands on the offer as well is asked every month.
    const isDirect = terms?.kind === 'subscription' && direct !== null && direct.amount === price?.amount
    add(terms, price, isDirect)
  }
  return found
}

const excludesTax = (node: Node) =>
  valuesOf(node, 'valueAddedTaxIncluded').some(
    (value) => value === false || /^\s*(?:false|0)\s*$/i.test(scalarOf(value) ?? ''),
  )

/** The currency that a node states for its prices; null where it states none. */
export function readStatedCurrency(node: Node): string | null {
  for (const value of valuesOf(node, 'priceCurrency', 'currency')) {
    const text = scalarOf(value)
    const code = text === undefined ? null : readCurrency(text.slice(0, 40))
    if (code !== null) return code
  }
  return null
}

function pick(node: Node, keys: readonly string[], money: (value: unknown) => Money | null): Money | null {
  for (const key of keys)
    for (const value of listOf(own(node, key))) {
      const found = money(value)
      if (found) return found
    }
  return null
}

/**
 * @param issues gains a word for everything that was guessed
 * @returns null where there is no amount
 */
export function readMoney(
  value: unknown,
  hints: { currency: string | null; region: string | null },
  issues: Set<string>,
): Money | null {
  const text = scalarOf(value)
  if (text === undefined || text.trim() === '') return null
  const written = readCurrency(text.slice(0, 200))
  let currency = hints.currency ?? written
  if (currency !== null && written !== null && written !== currency) issues.add('currency_contradicted')
  if (currency === null) {
    currency = inferCurrency(text.slice(0, 200), hints.region)
    if (currency !== null) issues.add('currency_inferred')
  }
  const isData = typeof value === 'number' || !isShown(value)
  const read = readAmount(text, { isData, currency })
  if (!read) {
    issues.add('price_unreadable')
    return null
  }
  if (read.isAmbiguous) issues.add('ambiguous_decimal')
  if (read.isRange) issues.add('price_range')
  // More digits than a double has: what was written is not what a parser of JSON gave us.
  if (typeof value === 'number' && text.replace(/\D/g, '').length > 15) issues.add('inexact_number')
  return toMoney(read.amount, currency, tidy(text, 60) ?? read.amount)
}

function termAt(
  node: Node,
  key: string,
  read: (text: string) => string | null,
): { term: string | null; isUnknown: boolean } {
  let isUnknown = false
  for (const value of listOf(own(node, key))) {
    const text = scalarOf(value) ?? scalarOf((value as Node)['@id']) ?? scalarOf((value as Node)['name'])
    if (text === undefined || text.trim() === '') continue
    const term = read(text)
    if (term !== null) return { term, isUnknown: false }
    isUnknown = true
  }
  return { term: null, isUnknown }
}

/** The condition that an offer or a product states; null where it states none that is known. */
export const readItemCondition = (node: Node): string | null =>
  termAt(node, 'itemCondition', readCondition).term

function countAt(node: Node): number | null {
  const [value] = valuesOf(node, 'offerCount')
  const text = value === undefined ? undefined : scalarOf(value)
  return text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}

/** The address of an offer, resolved against that of the page; null where there is none. */
export function urlAt(node: Node, base: string): string | null {
  for (const value of listOf(own(node, 'url'))) {
    const text = scalarOf(value) ?? (value as Node | undefined)?.['@id']
    if (typeof text !== 'string') continue
    const resolved = resolveLink(text, base)
    if (resolved?.absolute && /^https?:/.test(resolved.url)) return resolved.url
  }
  return null
}

function readShipping(node: Node, context: OfferContext): Offer['shipping'][number] {
  const { graph } = context
  const [rate] = nodesAt(graph, node, 'shippingRate')
  const currency = rate ? (readStatedCurrency(rate) ?? context.currency) : context.currency
  const amount = rate
    ? pick(rate, ['value', 'maxValue', 'price'], (value) =>
        readMoney(value, { currency, region: context.region }, new Set()),
      )
    : null
  const destinations = nodesAt(graph, node, 'shippingDestination').flatMap((one) =>
    listOf(own(one, 'addressCountry')).map((country) =>
      tidy(scalarOf(country) ?? textAt(country as Node, ['name'], 60) ?? undefined, 60),
    ),
  )
  return {
    amount,
    destination: destinations.filter(Boolean).slice(0, 20).join(', ') || null,
    free: amount === null ? null : isZero(amount.amount),
  }
}
