// The JSON-LD of a page, read once for every capability: what a strict parser refuses is repaired and that is said, types
// have one spelling, references inside the page are followed. No context is ever loaded.
import { cleanText, collapseSpaces, cutText } from '../extract/text.ts'
import { buildGraph, type Graph } from './graph.ts'
import { parseLoosely } from './loose-json.ts'
import { type Node, typesOf } from './node.ts'

export interface JsonLd {
  /** As parsed, one for each script that could be read. */
  readonly values: readonly unknown[]
  readonly graph: Graph
  /** All nodes in the order of the page, what stands outside before what stands in it. */
  readonly nodes: readonly Node[]
  readonly scripts: number
  /** Scripts in which no JSON was found, even after repairs. */
  readonly invalidScripts: number
  /** Names of the repairs, sorted. */
  readonly repaired: readonly string[]
  readonly truncated: boolean
}

const MAX_SCRIPTS = 200
const MAX_TYPES = 50
const MAX_TYPE_CHARACTERS = 80

/** Reads every script for itself: one that is no JSON does not take the others with it. */
export function parseJsonLd(scripts: readonly string[]): JsonLd {
  const values: unknown[] = []
  const repaired = new Set<string>()
  let invalidScripts = 0
  for (const script of scripts.slice(0, MAX_SCRIPTS)) {
    const read = parseLoosely(script)
    if (!read.ok) {
      if (read.reason === 'not_json') invalidScripts++
    } else if (read.repaired.length > 0 && Object.keys(read.value as object).length === 0) invalidScripts++
    else {
      values.push(read.value)
      for (const repair of read.repaired) repaired.add(repair)
    }
  }
  const graph = buildGraph(values)
  return {
    values,
    graph,
    nodes: graph.things.map(({ node }) => node),
    scripts: scripts.length,
    invalidScripts,
    repaired: [...repaired].sort(),
    truncated: graph.isCut || scripts.length > MAX_SCRIPTS,
  }
}

/** Lists at most 50 different types, sorted. */
export function allTypes({ graph }: JsonLd): string[] {
  const types = new Set<string>()
  for (const thing of graph.things) for (const type of thing.types) types.add(type)
  return [...types]
    .map((type) => cutText(collapseSpaces(cleanText(type)), MAX_TYPE_CHARACTERS))
    .filter((type) => type !== '')
    .sort()
    .slice(0, MAX_TYPES)
}

/** Whether a node declares an article, a posting or a report. */
export const isArticle = (node: Node) => typesOf(node).some(isArticleType)

export const isArticleType = (type: string) => /(?:Article|Posting|Report)$/.test(type)
