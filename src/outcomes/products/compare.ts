// Two offers may stand side by side with the same validated identifier and the same currency, or not at all. Whoever is left
// out is told why. What is used, sold out or over stands behind what is not, and says so.
import type { ComparableGroup, Offer, Product } from '../../../schemas/product-offers.ts'
import { type Candidate, flagsOf } from './flags.ts'
import { foldIdentifier } from './identifiers.ts'
import { compareAmounts } from './money.ts'

export interface Comparison {
  readonly groups: readonly ComparableGroup[]
  readonly unranked: readonly { readonly product: string; readonly reason: string }[]
}

/** The page that a product was read from. */
export interface OfferSource {
  /** That was read: what a page says of its address proves no shop. */
  readonly host: string
  /** RFC 3339: when it said so. */
  readonly retrievedAt: string | undefined
}

type Entry = ComparableGroup['entries'][number]
interface Priced extends Candidate {
  readonly product: string
  readonly at: number
  readonly price: Entry['price']
}
type Keyed = { readonly ok: true; readonly key: string } | { readonly ok: false; readonly reason: string }

/** Doubts about a price that a ranking would turn into a claim. */
const DOUBTS = [
  'currency_contradicted',
  'currency_inferred',
  'ambiguous_decimal',
  'inexact_number',
  'price_range',
  'price_zero',
] as const

/**
 * @param products of all pages, with their ids
 * @param sources of the products, by their number
 */
export function compareOffers(
  products: readonly Product[],
  sources: ReadonlyMap<number, OfferSource>,
): Comparison {
  const groups = new Map<string, Map<string, Priced[]>>()
  const reasons = new Map<string, Set<string>>()
  const keyOf = new Map<string, string>()
  for (const product of products) {
    const why = new Set<string>()
    const source = sources.get(product.source)
    reasons.set(product.id, why)
    if (product.offers.length === 0) why.add('no_offer')
    for (const [at, offer] of product.offers.entries()) {
      const keyed = keyFor(product, offer, source?.host ?? '')
      const refusal = keyed.ok ? refusalOf(offer) : keyed.reason
      const { price } = offer
      // An offer that is not refused has a price in some currency.
      if (refusal !== undefined || !keyed.ok || !price || price.currency === null) {
        why.add(refusal ?? 'identifier_missing')
        continue
      }
      const byCurrency = groups.get(keyed.key) ?? new Map<string, Priced[]>()
      groups.set(keyed.key, byCurrency)
      keyOf.set(product.id, keyed.key)
      const candidates = byCurrency.get(price.currency) ?? []
      byCurrency.set(price.currency, candidates)
      const retrievedAt = Date.parse(source?.retrievedAt ?? '')
      candidates.push({
        product: product.id,
        at,
        price,
        offer,
        name: product.name,
        retrievedAt: Number.isNaN(retrievedAt) ? undefined : retrievedAt,
      })
    }
  }
  const ranked: ComparableGroup[] = []
  for (const [key, byCurrency] of groups)
    for (const [currency, candidates] of byCurrency)
      if (candidates.length > 1) ranked.push({ key, currency, entries: rank(candidates) })
  const isRanked = new Set(ranked.flatMap(({ entries }) => entries.map(({ product }) => product)))
  const unranked = products
    .filter(({ id }) => !isRanked.has(id))
    .map(({ id }) => ({
      product: id,
      reason: whyAlone(reasons.get(id) ?? new Set(), groups.get(keyOf.get(id) ?? '')),
    }))
  return { groups: ranked, unranked }
}

/** What a buyer can have as it stands goes first, each part lowest price first. */
const rank = (candidates: readonly Priced[]): Entry[] =>
  candidates
    .map((candidate): Entry => {
      const { product, at, price, offer } = candidate
      const { availability, condition } = offer
      return { product, offer: at, price, availability, condition, flags: flagsOf(candidate, candidates) }
    })
    .sort((a, b) => placeOf(a) - placeOf(b) || compareAmounts(a.price.amount, b.price.amount))

/** A condition that nobody states is a smaller doubt than one that is known to be worse. */
const placeOf = ({ flags }: Entry): number =>
  flags.length === 0 ? 0 : flags.every((flag) => flag === 'condition_unknown') ? 1 : 2

function whyAlone(
  reasons: ReadonlySet<string>,
  byCurrency: ReadonlyMap<string, unknown> | undefined,
): string {
  if (byCurrency) return byCurrency.size > 1 ? 'currency_differs' : 'only_one_offer'
  return [...reasons][0] ?? 'identifier_missing'
}

function refusalOf(offer: Offer): string | undefined {
  if (offer.price === null) {
    if (offer.low_price !== null) return 'aggregate_only'
    return offer.issues.find((issue) => /^only_\w+_price$/.test(issue)) ?? 'offer_without_price'
  }
  if (offer.price.currency === null) return 'currency_missing'
  return DOUBTS.find((doubt) => offer.issues.includes(doubt))
}

/** An identifier of the offer itself goes before that of its product: the offers of one product may be its sizes. */
function keyFor(product: Product, offer: Offer, host: string): Keyed {
  const own = keyOfIdentifiers(offer.identifiers, product, host)
  if (own.ok && own.key.startsWith('gtin:')) return own
  const isSplit = product.offers.some((other) =>
    other.identifiers.some(({ kind, valid }) => valid && kind === 'gtin'),
  )
  if (isSplit || areVariants(product.offers))
    return own.ok ? own : { ok: false, reason: 'variants_not_identified' }
  return keyOfIdentifiers(product.identifiers, product, host)
}

/** Several article numbers from one seller: several articles. */
function areVariants(offers: readonly Offer[]): boolean {
  const numbers = new Set<string>()
  const sellers = new Set<string>()
  for (const { identifiers, name, seller } of offers) {
    const number =
      identifiers.find(({ kind, valid }) => valid && (kind === 'sku' || kind === 'mpn'))?.normalised ?? name
    if (number === null || number === undefined) continue
    if (numbers.has(number)) continue
    numbers.add(number)
    sellers.add(seller ?? '')
  }
  return numbers.size > 1 && sellers.size < numbers.size
}

function keyOfIdentifiers(identifiers: Product['identifiers'], product: Product, host: string): Keyed {
  const valid = identifiers.filter((one) => one.valid)
  const gtins = new Set(
    valid
      .filter(({ kind, reason }) => (kind === 'gtin' || kind === 'isbn') && reason !== 'restricted')
      .map(({ normalised }) => normalised),
  )
  // Two different numbers for one product: one of them is wrong, and nobody knows which.
  if (gtins.size > 1) return { ok: false, reason: 'identifiers_contradict' }
  for (const gtin of gtins) return { ok: true, key: `gtin:${gtin}` }
  const mpn = valid.find(({ kind }) => kind === 'mpn')?.normalised
  const brand = product.brand === null ? '' : foldIdentifier(product.brand)
  if (mpn && brand !== '' && /\d/.test(mpn) && mpn.length >= 3 && mpn !== brand)
    return { ok: true, key: `brand+mpn:${brand}+${mpn}` }
  const sku = valid.find(({ kind }) => kind === 'sku')?.normalised
  if (sku) return { ok: true, key: `sku:${host}/${sku}` }
  return { ok: false, reason: valid.length === 0 ? 'identifier_missing' : 'identifier_not_comparable' }
}
