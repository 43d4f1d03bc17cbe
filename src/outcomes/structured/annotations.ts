// Microdata and RDFa of a page, brought into the shape of JSON-LD while the tags go by: two languages of one kind, items
// with properties, so one collector with two dialects. Nothing is kept but statements; depth and numbers are bounded.
import { cutText } from '../extract/text.ts'
import { attribute } from '../extract/tree.ts'
import { type Node, shownText } from './node.ts'

type Attributes = Readonly<Record<string, string>>

/** The statements of an element. */
interface Statement {
  /** Opens an item of these types. */
  readonly types?: readonly string[] | undefined
  readonly id?: string | undefined
  /** Properties of the item around it. */
  readonly properties: readonly string[]
}

export interface Dialect {
  read(name: string, attributes: Attributes): Statement | undefined
}

interface Item {
  readonly node: Record<string, unknown>
  readonly refs: readonly string[]
}

interface Frame {
  readonly depth: number
  readonly item?: Item | undefined
  /** Collects the text of the element for these properties of `owner`. */
  readonly capture?:
    { readonly owner: Owner; readonly properties: readonly string[]; text: string } | undefined
}

type Owner =
  | { readonly kind: 'item'; readonly item: Item }
  | { readonly kind: 'orphan'; readonly ids: readonly string[] }

const MAX_ITEMS = 5000
const MAX_STATEMENTS = 40_000
const MAX_OPEN_FRAMES = 200
const MAX_CAPTURES = 16
const MAX_TEXT_CHARACTERS = 4000
const MAX_VALUES = 300

export interface Annotations {
  /** Items that stand in no other. */
  readonly items: readonly Node[]
  /** Properties outside every item: pages that forget the item still state a price. */
  readonly orphan: Node
  readonly isCut: boolean
}

export interface Collector {
  open(name: string, attributes: Attributes, depth: number): void
  text(text: string): void
  close(depth: number): void
  end(): Annotations
}

/** @param dialect which attributes state something: microdata or RDFa */
export function createCollector(dialect: Dialect): Collector {
  const roots: Item[] = []
  const orphans: { ids: readonly string[]; property: string; value: unknown }[] = []
  const frames: Frame[] = []
  const ids: { depth: number; id: string }[] = []
  let captures = 0
  let items = 0
  let statements = 0
  let isCut = false

  const add = (owner: Owner, properties: readonly string[], value: unknown) => {
    for (const property of properties) {
      if (++statements > MAX_STATEMENTS) isCut = true
      else if (owner.kind === 'orphan') orphans.push({ ids: owner.ids, property, value })
      else append(owner.item.node, property, value)
    }
  }
  const ownerNow = (): Owner => {
    const item = frames.findLast((frame) => frame.item !== undefined)?.item
    return item ? { kind: 'item', item } : { kind: 'orphan', ids: ids.map(({ id }) => id) }
  }

  return {
    open(name, attributes, depth) {
      const id = attribute(attributes, 'id')
      if (id !== undefined && ids.length < 64) ids.push({ depth, id })
      const statement = dialect.read(name, attributes)
      if (!statement) return
      if (frames.length >= MAX_OPEN_FRAMES || items >= MAX_ITEMS || statements >= MAX_STATEMENTS) {
        isCut = true
        return
      }
      const { types, properties } = statement
      const owner = ownerNow()
      if (types) {
        items++
        const node = Object.create(null) as Record<string, unknown>
        node['@type'] = types
        if (statement.id !== undefined) node['@id'] = statement.id
        const item: Item = { node, refs: (attribute(attributes, 'itemref') ?? '').split(/\s+/).slice(0, 20) }
        if (properties.length > 0 && owner.kind === 'item') add(owner, properties, node)
        else roots.push(item)
        frames.push({ depth, item })
        return
      }
      const value = attributeValue(name, attributes, properties)
      if (value !== undefined) {
        add(owner, properties, value)
        return
      }
      if (captures >= MAX_CAPTURES) {
        isCut = true
        return
      }
      captures++
      frames.push({ depth, capture: { owner, properties, text: '' } })
    },
    text(text) {
      if (captures === 0) return
      for (const { capture } of frames)
        if (capture && capture.text.length < MAX_TEXT_CHARACTERS)
          capture.text += cutText(text, MAX_TEXT_CHARACTERS)
    },
    close(depth) {
      for (let last = ids.at(-1); last && last.depth >= depth; last = ids.at(-1)) ids.pop()
      for (let frame = frames.at(-1); frame && frame.depth >= depth; frame = frames.at(-1)) {
        frames.pop()
        const { capture } = frame
        if (!capture) continue
        captures--
        const text = capture.text.trim()
        if (text !== '') add(capture.owner, capture.properties, shownText(text))
      }
    },
    end() {
      this.close(0)
      const orphan = Object.create(null) as Record<string, unknown>
      for (const { property, value } of orphans) append(orphan, property, value)
      for (const { node, refs } of roots)
        if (refs.some((ref) => ref !== ''))
          for (const { ids: around, property, value } of orphans)
            if (around.some((id) => refs.includes(id))) append(node, property, value)
      return { items: roots.map(({ node }) => node), orphan, isCut }
    },
  }
}

function append(node: Record<string, unknown>, property: string, value: unknown): void {
  const values = (node[property] ??= []) as unknown[]
  if (values.length < MAX_VALUES) values.push(value)
}

/** A value that stands in an attribute; undefined where the text of the element is the value. */
function attributeValue(name: string, attributes: Attributes, properties: readonly string[]): unknown {
  const content = attribute(attributes, 'content')
  if (content !== undefined) return content
  // A linked name is a name: what the standard would read is where the link leads.
  if (name === 'a' && !properties.some((property) => ADDRESSES.has(property))) return undefined
  const reference = REFERENCES.get(name)
  const value = reference === undefined ? undefined : attribute(attributes, reference)
  if (value !== undefined) return value
  if (name === 'meta') return ''
  // RDFa, and itemprop on what is no link in HTML.
  return (
    attribute(attributes, 'resource') ??
    (name === 'span' || name === 'div' ? attribute(attributes, 'href') : undefined)
  )
}

const ADDRESSES = new Set([
  'url',
  'image',
  'availability',
  'itemCondition',
  'logo',
  'sameAs',
  'mainEntityOfPage',
])

const REFERENCES: ReadonlyMap<string, string> = new Map([
  ['a', 'href'],
  ['area', 'href'],
  ['link', 'href'],
  ['img', 'src'],
  ['audio', 'src'],
  ['embed', 'src'],
  ['iframe', 'src'],
  ['source', 'src'],
  ['track', 'src'],
  ['video', 'src'],
  ['object', 'data'],
  ['data', 'value'],
  ['meter', 'value'],
  ['time', 'datetime'],
])

// schema.org under its older names, and the vocabularies that it took the place of.
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['currency', 'priceCurrency'],
  ['offerDetails', 'offers'],
  ['hasCurrencyValue', 'price'],
  ['hasCurrency', 'priceCurrency'],
  ['hasPriceSpecification', 'priceSpecification'],
  ['hasStockKeepingUnit', 'sku'],
  ['hasMPN', 'mpn'],
  ['hasEAN_UCC-13', 'gtin13'],
  ['hasGTIN-14', 'gtin14'],
  ['hasGTIN-8', 'gtin8'],
  ['includes', 'itemOffered'],
  ['hasBrand', 'brand'],
  ['hasManufacturer', 'manufacturer'],
  ['validThrough', 'validThrough'],
])

const words = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.slice(0, 500).split(/\s+/).filter(Boolean).slice(0, 8)

const rename = (property: string) => RENAMED.get(property) ?? property

export const microdata: Dialect = {
  read(_name, attributes) {
    const property = attribute(attributes, 'itemprop')
    if (property === undefined && attribute(attributes, 'itemscope') === undefined) return undefined
    const properties = words(property).map((word) => rename(localName(word)))
    if (attribute(attributes, 'itemscope') !== undefined)
      return {
        types: words(attribute(attributes, 'itemtype')).map(localName),
        id: attribute(attributes, 'itemid'),
        properties,
      }
    return properties.length > 0 ? { properties } : undefined
  },
}

const localName = (word: string) =>
  word
    .replace(/[/#]+$/, '')
    .replace(/^.*[/#]/s, '')
    .replace(/^schema:/, '')

/** RDFa Lite with the vocabularies of shops. `og:title` and the like are meta data of another kind. */
export const rdfa: Dialect = {
  read(_name, attributes) {
    const property = attribute(attributes, 'property')
    const type = attribute(attributes, 'typeof')
    const rel = attribute(attributes, 'rel')
    if (property === undefined && type === undefined && !rel?.includes(':')) return undefined
    const types = words(type).map(vocabularyName).filter(isWord)
    const properties = [...words(property), ...words(rel).filter((word) => /^(?:schema|s|gr|v):/.test(word))]
      .map(vocabularyName)
      .filter(isWord)
      .map(rename)
    if (types.length > 0)
      return {
        types,
        id: attribute(attributes, 'resource') ?? attribute(attributes, 'about'),
        properties,
      }
    return properties.length > 0 ? { properties } : undefined
  },
}

const isWord = (word: string | undefined): word is string => word !== undefined

/** Local name in schema.org, GoodRelations or data-vocabulary; undefined for another vocabulary. */
function vocabularyName(word: string): string | undefined {
  const full =
    /^https?:\/\/(?:schema\.org|purl\.org\/goodrelations\/v1|rdf\.data-vocabulary\.org)[/#]+([\w-]+)$/.exec(
      word,
    )
  if (full) return full[1]
  const prefixed = /^(?:schema|s|gr|v):([\w-]+)$/.exec(word)
  if (prefixed) return prefixed[1]
  return /^[\w-]+$/.test(word) ? word : undefined
}
