// Turns things of a page into products with their offers, as far as one syntax states them.
import type { Offer, Product } from '../../../schemas/product-offers.ts'
import { resolveLink } from '../extract/links.ts'
import { buildGraph, type Graph, nodesAt, type Role, type Thing } from '../structured/graph.ts'
import { readIdentifiers } from './identify.ts'
import { addressesOf } from '../structured/main.ts'
import { isNode, listOf, type Node, own, scalarOf, textAt, valuesOf } from '../structured/node.ts'
import { readItemCondition, readOffer, readStatedCurrency, urlAt } from './offer.ts'

/** A product of one page, before it has a place in an answer. */
export type PageProduct = Omit<Product, 'id' | 'source'>

/** A product with what its place in the page says about it. */
export interface Draft {
  readonly product: PageProduct
  readonly role: Role
  /** Addresses that it gives itself, absolute, without fragment. */
  readonly urls: ReadonlySet<string>
  readonly isVariant: boolean
}

export interface PageFacts {
  readonly base: string
  readonly region: string | null
  /** The one currency that the page states for everything. */
  readonly currency: string | null
}

const PRODUCTS =
  /^(?:Product|ProductGroup|ProductModel|IndividualProduct|SomeProducts|ProductCollection|ActualProductOrServiceInstance|SomeItems|ProductOrService)$/
/** Things that are sold in shops but called by another name are products where they have an offer. */
const WARES =
  /^(?:Book|Audiobook|Car|Motorcycle|Vehicle|VideoGame|Game|MusicAlbum|MusicRelease|Movie|SoftwareApplication|MobileApplication|WebApplication|Drug|DietarySupplement|CreativeWork|VisualArtwork)$/
const OFFERS = /^(?:Offer|AggregateOffer|Offering|OfferForPurchase)$/
const PRICED = ['price', 'lowPrice', 'priceSpecification', 'salePrice']

const MAX_DRAFTS = 300
const MAX_OFFERS = 50
const MAX_ATTRIBUTES = 30
const ATTRIBUTES = ['color', 'size', 'material', 'pattern', 'model', 'category', 'itemCondition', 'weight']

/** Drafts of the products that one syntax states, in the order of the page. */
export function readDrafts(
  graph: Graph,
  statedIn: Product['stated_in'],
  facts: PageFacts,
): { readonly drafts: readonly Draft[]; readonly truncated: readonly string[] } {
  const truncated = new Set<string>(graph.isCut ? [statedIn] : [])
  const loose = looseOffers(graph)
  const products = graph.things.filter((thing) => isProduct(thing, loose))
  const groupOf = findGroups(products, graph)
  const told = new Set(groupOf.values())
  const drafts: Draft[] = []
  for (const thing of products) {
    // A group is told through its variants, unless it has offers of its own.
    if (told.has(thing.node) && !own(thing.node, 'offers')) continue
    if (drafts.length >= MAX_DRAFTS) {
      truncated.add('products')
      break
    }
    const group = groupOf.get(thing.node)
    const draft = readDraft(thing, {
      graph,
      group,
      loose: loose.get(thing.node) ?? [],
      statedIn,
      facts,
      truncated,
    })
    if (draft) drafts.push(draft)
  }
  return { drafts, truncated: [...truncated] }
}

function isProduct({ node, types, role }: Thing, loose: ReadonlyMap<Node, readonly Node[]>): boolean {
  if (role === 'part' || Object.keys(node).length < 2) return false
  if (types.some((type) => PRODUCTS.test(type))) return true
  return types.some((type) => WARES.test(type)) && (own(node, 'offers') !== undefined || loose.has(node))
}

/** Offers that stand by themselves and say what they offer. */
function looseOffers(graph: Graph): ReadonlyMap<Node, readonly Node[]> {
  const offers = new Map<Node, Node[]>()
  for (const { node, types, role } of graph.things) {
    if (role === 'offered' || role === 'part' || !types.some((type) => OFFERS.test(type))) continue
    const [item, ...others] = nodesAt(graph, node, 'itemOffered')
    // The lowest price of many things is the price of none of them.
    if (item && others.length === 0) offers.set(item, [...(offers.get(item) ?? []), node])
  }
  return offers
}

/** The group of each variant, whichever of the two names the other. */
function findGroups(products: readonly Thing[], graph: Graph): ReadonlyMap<Node, Node> {
  const known = new Set(products.map(({ node }) => node))
  const groupOf = new Map<Node, Node>()
  for (const { node: group } of products)
    for (const node of nodesAt(graph, group, 'hasVariant')) if (known.has(node)) groupOf.set(node, group)
  for (const { node } of products) {
    const [group] = nodesAt(graph, node, 'isVariantOf')
    if (group && group !== node && !groupOf.has(node)) groupOf.set(node, group)
  }
  return groupOf
}

interface DraftContext {
  readonly graph: Graph
  readonly group: Node | undefined
  readonly loose: readonly Node[]
  readonly statedIn: Product['stated_in']
  readonly facts: PageFacts
  readonly truncated: Set<string>
}

function readDraft({ node, role }: Thing, context: DraftContext): Draft | undefined {
  const { graph, group, statedIn, facts } = context
  const inherit = (keys: readonly string[], max: number) =>
    textAt(node, keys, max) ?? (group ? textAt(group, keys, max) : null)
  const brand = nodesAt(graph, node, 'brand', 'manufacturer')[0]
  const name = inherit(['name', 'title'], 300)
  const offers = readOffers(node, context)
  const identifiers = readIdentifiers(node, graph)
  if (name === null && offers.length === 0 && identifiers.length === 0) return undefined
  const address = urlAt(node, facts.base)
  const product: PageProduct = {
    url: address ?? facts.base,
    stated_in: statedIn,
    also_stated_in: [],
    main: false,
    name,
    brand: (brand ? textAt(brand, ['name', '@value'], 120) : null) ?? inherit(['brand', 'manufacturer'], 120),
    description: inherit(['description'], 500),
    image: imageOf(node, graph, facts.base) ?? (group ? imageOf(group, graph, facts.base) : null),
    variant_of: group ? textAt(group, ['name', 'productGroupID'], 300) : null,
    attributes: attributesOf(node, graph),
    identifiers,
    offers,
    main_offer: null,
    issues: [],
  }
  return { product, role, urls: addressesOf(node, facts.base), isVariant: group !== undefined }
}

function readOffers(node: Node, { graph, loose, statedIn, facts, truncated }: DraftContext): Offer[] {
  const currency = readStatedCurrency(node) ?? facts.currency
  const condition = readItemCondition(node)
  const stated = nodesAt(graph, node, 'offers').concat(loose)
  const offers: Offer[] = []
  const add = (offer: Node, inherited: string | null) => {
    if (offers.length >= MAX_OFFERS) truncated.add('offers')
    else
      offers.push(
        readOffer(offer, {
          graph,
          base: facts.base,
          currency: inherited,
          region: facts.region,
          statedIn,
          condition,
        }),
      )
  }
  const aggregates: [node: Node, currency: string | null][] = []
  for (const offer of stated) {
    const inside = nodesAt(graph, offer, 'offers', 'itemListElement')
    const inner = readStatedCurrency(offer) ?? currency
    if (inside.length > 0) {
      aggregates.push([offer, currency])
      for (const one of inside) if (!isReferenceOnly(one)) add(one, inner)
    } else add(offer, currency)
  }
  for (const [offer, inherited] of aggregates)
    if (PRICED.some((key) => own(offer, key) !== undefined)) add(offer, inherited)
  // Product pages of old put the price on the product itself.
  if (offers.length === 0 && PRICED.some((key) => own(node, key) !== undefined)) add(node, currency)
  return dropRepeated(offers)
}

const isReferenceOnly = (node: Node) => Object.keys(node).every((key) => key === '@id' || key === '@type')

function dropRepeated(offers: readonly Offer[]): Offer[] {
  const seen = new Set<string>()
  return offers.filter((offer) => {
    const key = JSON.stringify(offer)
    return !seen.has(key) && seen.add(key)
  })
}

function imageOf(node: Node, graph: Graph, base: string): string | null {
  for (const value of listOf(own(node, 'image'))) {
    const image = graph.deref(value)
    const text =
      scalarOf(image) ??
      (isNode(image) ? (scalarOf(own(image, 'contentUrl')) ?? scalarOf(own(image, 'url'))) : undefined)
    const resolved = text === undefined ? undefined : resolveLink(text, base)
    if (resolved?.absolute && /^https?:/.test(resolved.url)) return resolved.url
  }
  return null
}

function attributesOf(node: Node, graph: Graph): Record<string, string> {
  const attributes = new Map<string, string>()
  const add = (name: string | null, value: string | null) => {
    if (name !== null && value !== null && attributes.size < MAX_ATTRIBUTES && !attributes.has(name))
      attributes.set(name, value)
  }
  for (const name of ATTRIBUTES) add(name === 'itemCondition' ? 'condition' : name, textAt(node, [name], 200))
  for (const property of nodesAt(graph, node, 'additionalProperty', 'variesBy'))
    add(textAt(property, ['name', 'propertyID'], 60), textAt(property, ['value'], 200))
  // `fromEntries` makes own properties, whatever they are called.
  return Object.fromEntries(attributes)
}

/** Whether orphaned properties are those of one offer. */
export const statesPrice = (node: Node): boolean =>
  new Set(valuesOf(node, ...PRICED).map((value) => scalarOf(value)?.trim())).size === 1

/** Offers that belong to nothing, for pages with one product and its offer beside it. */
export function orphanOffers(
  values: readonly unknown[],
  statedIn: Product['stated_in'],
  facts: PageFacts,
): Offer[] {
  const graph = buildGraph(values)
  return graph.things
    .filter(
      ({ node, types, role, parent }) =>
        role === 'top' &&
        parent === undefined &&
        types.some((type) => OFFERS.test(type)) &&
        !own(node, 'itemOffered'),
    )
    .slice(0, MAX_OFFERS)
    .map(({ node }) =>
      readOffer(node, {
        graph,
        base: facts.base,
        currency: facts.currency,
        region: facts.region,
        statedIn,
        condition: null,
      }),
    )
}
