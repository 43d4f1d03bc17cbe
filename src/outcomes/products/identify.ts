// Every identifier that a product or an offer states, each with its verdict.
import { type Graph, nodesAt } from '../structured/graph.ts'
import { type Identifier, readGtin, readIsbn, readLabelled, readPlain } from './identifiers.ts'
import { listOf, type Node, own, scalarOf, textAt, tidy } from '../structured/node.ts'

const MAX_IDENTIFIERS = 12
const MAX_CHARACTERS = 100

const GTINS = ['gtin', 'gtin14', 'gtin13', 'gtin12', 'gtin8', 'ean', 'upc'] as const

/** The different identifiers that a product states, up to a limit. */
export function readIdentifiers(node: Node, graph: Graph): Identifier[] {
  const found: Identifier[] = []
  const add = (keys: readonly string[], read: (text: string, isNumber: boolean) => Identifier) => {
    for (const key of keys)
      for (const value of listOf(own(node, key))) {
        const text = tidy(scalarOf(value), MAX_CHARACTERS)
        if (text === null || found.length >= MAX_IDENTIFIERS) continue
        const identifier = read(text, typeof value === 'number')
        if (!found.some((one) => isSame(one, identifier))) found.push(identifier)
      }
  }
  add(GTINS, (text, isNumber) => readGtin(text, { isNumber }))
  add(['isbn'], readIsbn)
  add(['mpn'], (text) => readPlain('mpn', text))
  add(['sku'], (text) => readPlain('sku', text))
  add(['asin'], (text) => readPlain('asin', text))
  add(['productID', 'productId'], readLabelled)
  // data-vocabulary and plain text: `upc:…`
  add(['identifier'], readLabelled)
  for (const property of nodesAt(graph, node, 'identifier', 'additionalProperty')) {
    const label = textAt(property, ['propertyID', 'name'], 40)
    const value = textAt(property, ['value'], MAX_CHARACTERS)
    const identifier = label === null || value === null ? undefined : readNamed(label, value)
    if (identifier && found.length < MAX_IDENTIFIERS && !found.some((one) => isSame(one, identifier)))
      found.push(identifier)
  }
  return found
}

const isSame = (a: Identifier, b: Identifier) =>
  a.kind === b.kind && (a.valid && b.valid ? a.normalised === b.normalised : a.value === b.value)

function readNamed(label: string, value: string): Identifier | undefined {
  const name = label.toLowerCase().replace(/[^a-z]/g, '')
  if (/^(?:gtin|ean|upc|jan|eancode|upccode|barcode)$/.test(name)) return readGtin(value)
  if (name === 'isbn') return readIsbn(value)
  if (/^(?:mpn|manufacturerpartnumber|partnumber|herstellernummer)$/.test(name))
    return readPlain('mpn', value)
  if (name === 'sku') return readPlain('sku', value)
  return name === 'asin' ? readPlain('asin', value) : undefined
}
