// All things that statements are about, in the order of the page, with what their place says: the thing that the page is
// about, one of a list, a variant. References by @id are followed inside the page only; no context is ever loaded.
import { idOf, isNode, listOf, type Node, own, typesOf } from './node.ts'

export type Role = 'top' | 'main' | 'listed' | 'variant' | 'offered' | 'part'

export interface Thing {
  readonly node: Node
  readonly types: readonly string[]
  readonly role: Role
  /** The node whose property it is. */
  readonly parent: Node | undefined
}

export interface Graph {
  readonly things: readonly Thing[]
  /** The thing itself where the value is only a reference to it. */
  deref(value: unknown): unknown
  readonly isCut: boolean
}

const MAX_NODES = 20_000

const LISTS = new Set([
  'itemListElement',
  'isRelatedTo',
  'isSimilarTo',
  'isAccessoryOrSparePartFor',
  'isConsumableFor',
  'itemReviewed',
  'significantLink',
  'relatedLink',
  'mentions',
  'blogPost',
  'blogPosts',
])
const MAIN = new Set(['mainEntity', 'mainEntityOfPage', 'about'])
/** Properties whose values belong to a product and are no product on this page. */
const PARTS = new Set([
  'review',
  'reviews',
  'subjectOf',
  'isPartOf',
  'hasMerchantReturnPolicy',
  'isVariantOf',
  'material',
])
const ALIASED = /^(?:https?:\/\/schema\.org\/|schema:)(?=\w)/

/** @param values statements of one page, in its order */
export function buildGraph(values: readonly unknown[]): Graph {
  const things: Thing[] = []
  const byId = new Map<string, Node>()
  /** The node to read instead of one whose names were made plain. */
  const plain = new Map<unknown, Node>()
  const seen = new Set<object>()
  const queue: { value: unknown; role: Role; parent: Node | undefined }[] = values.map((value) => ({
    value,
    role: 'top',
    parent: undefined,
  }))
  let isCut = false
  // A node that is found below is added behind, and read in its turn.
  for (const { value, role, parent } of queue) {
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (seen.size > MAX_NODES) {
      isCut = true
      break
    }
    if (Array.isArray(value)) {
      for (const child of value) if (isContainer(child)) queue.push({ value: child, role, parent })
      continue
    }
    const node = withPlainKeys(value as Node)
    if (node !== value) plain.set(value, node)
    const types = typesOf(node)
    const id = idOf(node)
    if (id !== undefined) {
      const before = byId.get(id)
      // Two statements about one thing: the one that says more.
      if (!before || Object.keys(before).length < Object.keys(node).length) byId.set(id, node)
    }
    things.push({ node, types, role, parent })
    for (const [key, child] of Object.entries(node))
      if (key === '@reverse' && isNode(child))
        for (const value of turnAround(child, node, plain)) queue.push({ value, role, parent: undefined })
      else if (isContainer(child)) queue.push({ value: child, role: roleOf(key, role, types), parent: node })
    if (queue.length > 4 * MAX_NODES) {
      queue.length = 4 * MAX_NODES
      isCut = true
    }
  }
  return {
    things,
    isCut,
    deref(value) {
      const id =
        typeof value === 'string' ? value : isNode(value) && isReference(value) ? idOf(value) : undefined
      return (id === undefined ? undefined : byId.get(id)) ?? plain.get(value) ?? value
    },
  }
}

/** Lists are containers too. */
const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

const isWare = (type: string) =>
  /Product|Model|Item|Offer|Book|Vehicle|Car$|Cycle|Game|Album|Release|Movie|Application|Work|Drug|Supplement/.test(
    type,
  )

const isReference = (node: Node): boolean => {
  const keys = Object.keys(node)
  return (
    keys.length <= 2 &&
    keys.every((key) => key === '@id' || key === '@type' || key === 'id' || key === 'type')
  )
}

function roleOf(key: string, role: Role, types: readonly string[]): Role {
  if (role === 'listed' || role === 'part') return role
  if (LISTS.has(key)) return 'listed'
  if (PARTS.has(key)) return 'part'
  if (key === 'hasVariant' || key === 'model') return 'variant'
  // Offers of a product are its own; those of a page or a company are a list of things.
  if (key === 'offers') return role === 'offered' || types.some(isWare) ? 'offered' : 'listed'
  if (MAIN.has(key) && role === 'top') return 'main'
  if (key === '@graph') return role
  // A thing inside an offer of a product, or inside a variant, describes that.
  return role === 'offered' || role === 'variant' ? 'part' : role
}

/** Names with the address of the vocabulary are the same names. */
function withPlainKeys(node: Node): Node {
  const keys = Object.keys(node)
  if (!keys.some((key) => ALIASED.test(key))) return node
  const plain = Object.create(null) as Record<string, unknown>
  for (const key of keys) {
    const name = key.replace(ALIASED, '')
    if (!(name in plain)) plain[name] = own(node, key)
  }
  return plain
}

/** `{"@reverse": {"itemOffered": offer}}` in a product says that the offer offers it: the same, from the other end. */
function turnAround(reverse: Node, node: Node, plain: Map<unknown, Node>): Node[] {
  const turned: Node[] = []
  for (const key of Object.keys(reverse))
    for (const value of listOf(own(reverse, key))) {
      if (!isNode(value)) continue
      const stated = Object.assign(Object.create(null) as Record<string, unknown>, value)
      stated[key.replace(ALIASED, '')] ??= node
      plain.set(value, stated)
      turned.push(stated)
    }
  return turned
}

/** Nodes among the values of these properties, references followed. */
export function nodesAt(graph: Graph, node: Node, ...keys: readonly string[]): readonly Node[] {
  for (const key of keys) {
    const found = listOf(own(node, key))
      .map((value) => graph.deref(value))
      .filter(isNode)
    if (found.length > 0) return found
  }
  return []
}
