// Three syntaxes, one product: which one the page is about, what the others add to it, and what is listed twice.
import type { Offer } from '../../../schemas/product-offers.ts'
import { foldName, isNamed, type PageIdentity, scorePlace } from '../structured/main.ts'
import { compareAmounts } from './money.ts'
import { isBuyable } from './terms.ts'
import type { Draft, PageProduct } from './product.ts'

/**
 * The products of a page, the main one first, each once.
 * @param drafts those of JSON-LD first, then microdata, RDFa and meta tags, each in the order of the page
 */
export function mergeDrafts(drafts: readonly Draft[], page: PageIdentity): PageProduct[] {
  const kept: Draft[] = []
  for (const draft of drafts) {
    const same = kept.find((one) => isSame(one, draft))
    if (same) fill(same.product, draft.product)
    else kept.push(draft)
  }
  const main = chooseMain(kept, page)
  if (!main) return []
  // A page that only lists products is about none of them.
  main.product.main = main.role !== 'listed' || isNamed(placeOf(main), page)
  const others: PageProduct[] = []
  for (const draft of kept) {
    if (draft === main) continue
    // Another syntax speaks of the one thing that the page is about, under a title that may differ by a word.
    if (draft.product.stated_in !== main.product.stated_in && isAboutPage(draft, page))
      fill(main.product, draft.product)
    else others.push(draft.product)
  }
  return [main.product, ...others]
}

function chooseMain(drafts: readonly Draft[], page: PageIdentity): Draft | undefined {
  let best: Draft | undefined
  let bestScore = -Infinity
  for (const draft of drafts) {
    const score = scoreMain(draft, page)
    if (score > bestScore) [best, bestScore] = [draft, score]
  }
  return best
}

const placeOf = ({ role, urls, product: { name } }: Draft) => ({ role, urls, name })

function scoreMain(draft: Draft, page: PageIdentity): number {
  const { product } = draft
  let score = scorePlace(placeOf(draft), page)
  if (product.offers.some(hasPrice)) score += 3
  // One size of a dress that can be had stands for all.
  if (product.offers.some(({ availability }) => isBuyable(availability))) score += 1
  if (product.stated_in === 'opengraph') score -= 2
  return score
}

const hasPrice = (offer: Offer) => offer.price !== null || offer.low_price !== null

function isAboutPage(draft: Draft, page: PageIdentity): boolean {
  if (draft.role === 'listed' || draft.isVariant) return false
  return draft.product.stated_in === 'opengraph' || isNamed(placeOf(draft), page)
}

const STRONG = new Set(['gtin', 'isbn', 'sku', 'mpn', 'asin'])

function isSame(a: Draft, b: Draft): boolean {
  const shared = compareIdentifiers(a.product, b.product)
  if (shared !== 'unknown') return shared === 'same'
  if (a.isVariant !== b.isVariant) return false
  const [nameA, nameB] = [foldName(a.product.name ?? ''), foldName(b.product.name ?? '')]
  if (nameA !== '' && nameA === nameB) return true
  return (nameA === '' || nameB === '') && [...a.urls].some((url) => b.urls.has(url))
}

/** One identifier that differs makes two products, whatever else they share. */
function compareIdentifiers(a: PageProduct, b: PageProduct): 'same' | 'different' | 'unknown' {
  let isShared = false
  for (const one of a.identifiers) {
    if (!one.valid || !STRONG.has(one.kind)) continue
    const peers = b.identifiers.filter(({ kind, valid }) => valid && kind === one.kind)
    if (peers.length === 0) continue
    if (peers.some(({ normalised }) => normalised === one.normalised)) isShared = true
    else if (a.stated_in === b.stated_in) return 'different'
  }
  return isShared ? 'same' : 'unknown'
}

/** A source that cannot say what a price is for repeats one that did. */
export function repeatsLabelled(known: PageProduct, { offers }: Pick<PageProduct, 'offers'>): boolean {
  const labelled = known.offers.flatMap(({ other_prices }) => other_prices)
  return offers.some(({ price, low_price }) => {
    const stated = price ?? low_price
    return stated !== null && labelled.some((one) => compareAmounts(one.price.amount, stated.amount) === 0)
  })
}

/** A field that the better source does not state is taken from the other one, and that is said. */
function fill(into: PageProduct, from: PageProduct): void {
  let hasFilled = false
  for (const key of ['name', 'brand', 'description', 'image'] as const)
    if (into[key] === null && from[key] !== null) {
      into[key] = from[key]
      hasFilled = true
    }
  for (const identifier of from.identifiers)
    if (!into.identifiers.some(({ kind }) => kind === identifier.kind) && into.identifiers.length < 12) {
      into.identifiers.push(identifier)
      hasFilled = true
    }
  const [mine] = into.offers
  const [theirs] = from.offers
  if (!into.offers.some(hasPrice) && from.offers.some(hasPrice) && !repeatsLabelled(into, from)) {
    const labelled = into.offers.flatMap(({ other_prices }) => other_prices)
    into.offers = from.offers.map((offer) => ({
      ...offer,
      other_prices: offer.other_prices.length > 0 ? offer.other_prices : labelled,
      availability: offer.availability ?? mine?.availability ?? null,
      condition: offer.condition ?? mine?.condition ?? null,
      seller: offer.seller ?? mine?.seller ?? null,
    }))
    hasFilled = true
  } else if (mine && into.offers.length === 1 && theirs) {
    for (const key of ['availability', 'condition'] as const)
      if (mine[key] === null && theirs[key] !== null) {
        mine[key] = theirs[key]
        hasFilled = true
      }
  }
  if (hasFilled && from.stated_in !== into.stated_in && !into.also_stated_in.includes(from.stated_in))
    into.also_stated_in.push(from.stated_in)
}
