// Reads JSON-LD as an inventory: which types a page declares, and what it says about products. No context is ever loaded.
import { isObject } from '../../lib/json.ts'
import { cleanText, collapseSpaces, cutText } from './text.ts'

export interface JsonLd {
  readonly nodes: readonly Readonly<Record<string, unknown>>[]
  readonly invalidScripts: number
  readonly truncated: boolean
}

const MAX_NODES = 2000
const MAX_TYPES = 50
const MAX_PRODUCTS = 20
const MAX_OFFERS = 10
const MAX_VALUE_CHARACTERS = 300

/** Reads every script for itself: one that is no JSON does not take the others with it. */
export function parseJsonLd(scripts: readonly string[]): JsonLd {
  const nodes: Record<string, unknown>[] = []
  let invalidScripts = 0
  let visited = 0
  for (const script of scripts) {
    let value: unknown
    try {
      value = JSON.parse(
        script.trim().replace(/^(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/)|(?:-->|\/\*\s*\]\]>\s*\*\/)$/g, ''),
      )
    } catch {
      invalidScripts++
      continue
    }
    // Breadth first, in document order; a queue instead of recursion.
    const queue: unknown[] = [value]
    for (let i = 0; i < queue.length && visited < MAX_NODES; i++) {
      const item = queue[i]
      if (typeof item !== 'object' || item === null) continue
      visited++
      if (!Array.isArray(item)) nodes.push(item as Record<string, unknown>)
      for (const child of Object.values(item))
        if (typeof child === 'object' && child !== null) queue.push(child)
    }
  }
  return { nodes, invalidScripts, truncated: visited >= MAX_NODES }
}

const own = (node: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(node, key) ? node[key] : undefined

const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]

/** Text of a value that may be a string, a number, a list of them, or a node with a name. */
export function textValue(value: unknown): string | null {
  const first = listOf(value)[0]
  if (typeof first === 'number') return String(first)
  if (typeof first === 'string')
    return cutText(collapseSpaces(cleanText(first)), MAX_VALUE_CHARACTERS).trim() || null
  if (typeof first !== 'object' || first === null) return null
  const name =
    own(first as Record<string, unknown>, 'name') ?? own(first as Record<string, unknown>, '@value')
  return typeof name === 'string' ? textValue(name) : null
}

/** `https://schema.org/Product`, `schema:Product` and `Product` are the same type. */
const lastSegment = (value: string) => value.replace(/^.*[/#:]/s, '')

const typesOf = (node: Readonly<Record<string, unknown>>): string[] =>
  listOf(own(node, '@type'))
    .filter((type): type is string => typeof type === 'string')
    .map((type) => cutText(collapseSpaces(cleanText(lastSegment(type))), 80))
    .filter((type) => type !== '')

/** Lists at most 50 different types, sorted. */
export function allTypes({ nodes }: JsonLd): string[] {
  return [...new Set(nodes.flatMap(typesOf))].sort().slice(0, MAX_TYPES)
}

/** Whether a node declares an article, a posting or a report. */
export const isArticle = (node: Readonly<Record<string, unknown>>) =>
  typesOf(node).some((type) => /(?:Article|Posting|Report)$/.test(type))

export interface Product {
  name: string | null
  brand: string | null
  sku: string | null
  gtin: string | null
  offers: { price: string | null; currency: string | null; availability: string | null }[]
}

/** Lists at most 20 products with at most ten offers each. */
export function productsIn({ nodes }: JsonLd): Product[] {
  return nodes
    .filter((node) => typesOf(node).some((type) => type === 'Product' || type === 'ProductGroup'))
    .slice(0, MAX_PRODUCTS)
    .map((node) => ({
      name: textValue(own(node, 'name')),
      brand: textValue(own(node, 'brand')),
      sku: textValue(own(node, 'sku')),
      gtin: textValue(
        ['gtin', 'gtin14', 'gtin13', 'gtin12', 'gtin8'].map((key) => own(node, key)).find(Boolean),
      ),
      offers: listOf(own(node, 'offers')).filter(isObject).slice(0, MAX_OFFERS).map(offer),
    }))
}

function offer(node: Record<string, unknown>): Product['offers'][number] {
  const specification = listOf(own(node, 'priceSpecification')).find(isObject) ?? {}
  const availability = textValue(own(node, 'availability'))
  return {
    price: textValue(own(node, 'price') ?? own(specification, 'price') ?? own(node, 'lowPrice')),
    currency: textValue(own(node, 'priceCurrency') ?? own(specification, 'priceCurrency')),
    availability: availability === null ? null : lastSegment(availability) || null,
  }
}
