// Statements about things, whatever syntax they came in: JSON-LD as parsed, microdata and RDFa brought into its shape.
// Keys and values are a stranger's: own properties only, every value of any type.
import { Parser } from 'htmlparser2'
import { isObject } from '../../lib/json.ts'
import { cleanText, collapseSpaces, cutText } from '../extract/text.ts'
import { typeName } from './types.ts'

export type Node = Readonly<Record<string, unknown>>

export const isNode: (value: unknown) => value is Node = isObject

/** An own member: what a page calls `constructor` is never that of the language. */
export const own = (node: Node, key: string): unknown => (Object.hasOwn(node, key) ? node[key] : undefined)

/** A value of text that readers see, in microdata and RDFa: `1.299` in it is a matter of the language. */
export const shownText = (text: string): Node => ({ '@value': text, '@shown': true })
/** Whether the value is text that readers see, as `shownText` marks it. */
export const isShown = (value: unknown): boolean => isNode(value) && own(value, '@shown') === true

const MAX_LIST = 200

/** The values of a property as a flat list: `@list` and `@set` are lists, null says nothing. */
export function listOf(value: unknown): readonly unknown[] {
  if (isNothing(value)) return []
  const inner = isNode(value) ? (own(value, '@list') ?? own(value, '@set')) : value
  if (!Array.isArray(inner)) return [value]
  return inner
    .slice(0, MAX_LIST)
    .flatMap((one: unknown) => (Array.isArray(one) ? one.slice(0, MAX_LIST) : [one]))
    .filter((one) => !isNothing(one))
    .slice(0, MAX_LIST)
}

const isNothing = (value: unknown) => value === undefined || value === null

/** The values of the first key that has any, as a flat list. */
export const valuesOf = (node: Node, ...keys: readonly string[]): readonly unknown[] => {
  for (const key of keys) {
    const values = listOf(own(node, key))
    if (values.length > 0) return values
  }
  return []
}

/** A string or number as it is written, also as `{"@value": …}`; undefined for anything else. */
export function scalarOf(value: unknown): string | undefined {
  const bare = isNode(value) ? own(value, '@value') : value
  if (typeof bare === 'string') return bare
  return typeof bare === 'number' && Number.isFinite(bare) ? String(bare) : undefined
}

/** Text of a scalar or of a thing with a name. */
function textOf(value: unknown): string | undefined {
  const scalar = scalarOf(value)
  if (scalar !== undefined || !isNode(value)) return scalar
  for (const key of ['name', 'legalName', '@id'])
    for (const named of listOf(own(value, key))) {
      const text = scalarOf(named)
      if (text !== undefined && !(key === '@id' && /^(?:_:|#|https?:)/.test(text))) return text
    }
  return undefined
}

/** Tags that texts in structured data are written with. `Vec<T>` is none: what only looks like a tag is text. */
const TAG =
  /<\/?(?:a|abbr|b|big|br|center|code|dd|div|dl|dt|em|figure|font|h[1-6]|hr|i|img|li|ol|p|pre|script|small|span|strong|style|sub|sup|table|tbody|td|th|tr|u|ul)(?=[\s/>])/i

/** JSON-LD is often filled with text that was written for HTML: its tags and entities are not part of it. */
function readMarkup(written: string): string {
  const text = TAG.test(written) ? written : written.replaceAll('<', '&lt;')
  const pieces: string[] = []
  let isCode = false
  const parser = new Parser({
    onopentagname(name) {
      isCode = name === 'script' || name === 'style'
      pieces.push(' ')
    },
    onclosetag() {
      isCode = false
    },
    ontext(piece) {
      if (!isCode) pieces.push(piece)
    },
  })
  parser.write(text)
  parser.end()
  return pieces.join('')
}

/** One clean line of at most `max` units; null where nothing is left. */
export function tidy(text: string | undefined, max: number): string | null {
  if (text === undefined) return null
  const start = text.slice(0, 8 * max + 200)
  const bare = /[&<]/.test(start) ? readMarkup(start) : start
  return cutText(collapseSpaces(cleanText(bare)), max).trim() || null
}

/** The first value of the first of these properties that is a text. */
export function textAt(node: Node, keys: readonly string[], max: number): string | null {
  for (const key of keys)
    for (const value of listOf(own(node, key))) {
      const text = tidy(textOf(value), max)
      if (text !== null) return text
    }
  return null
}

/** Names of the types: `https://schema.org/Product`, `schema:Product` and `product` are `Product`. */
export function typesOf(node: Node): readonly string[] {
  const types: string[] = []
  for (const type of listOf(own(node, '@type') ?? own(node, 'type')))
    if (typeof type === 'string')
      for (const name of type.slice(0, 500).split(/\s+/)) if (name !== '') types.push(typeName(name))
  return types
}

/** The node's `@id`, or its `id`; undefined where neither is text. */
export const idOf = (node: Node): string | undefined => {
  const id = own(node, '@id') ?? own(node, 'id')
  return typeof id === 'string' && id !== '' ? id : undefined
}
