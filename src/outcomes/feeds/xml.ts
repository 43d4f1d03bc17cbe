// XML, well-formed or nearly, -> bounded tree in one pass: vocabularies by URI, names in lower case, xml:base resolved.
// Entities that a document declares are none of its business (doctype.ts).
import { Parser } from 'htmlparser2'
import { findVocabulary, guessVocabulary, nameVocabulary, type Scope } from './namespaces.ts'
import { resolveUrl } from './urls.ts'

export interface XmlElement {
  /** Vocabulary and local name, such as `atom:title`; `core:` for RSS itself and for what has no namespace. */
  readonly name: string
  /** Attributes by their local name; `xml:lang` and the like with their vocabulary. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: (XmlElement | string)[]
  /** The base that relative addresses in it are resolved against. */
  readonly base: string | undefined
  readonly language: string | undefined
  /** Its end tag was found. */
  isClosed: boolean
}

export type XmlIssue =
  | 'nested_too_deep'
  | 'too_many_elements'
  | 'attributes_dropped'
  | 'undeclared_namespace'
  | 'unclosed_elements'

export interface XmlTree {
  /** Elements at the top: one, where the document is well-formed. */
  readonly roots: readonly XmlElement[]
  readonly issues: ReadonlySet<XmlIssue>
}

const MAX_DEPTH = 200
const MAX_ELEMENTS = 200_000
const MAX_ATTRIBUTES = 64
const MAX_BASE_CHARACTERS = 2048
/** Unwinds the parser where reading on would only cost time. */
const STOP = Symbol('stop')

interface Open {
  readonly element: XmlElement
  readonly scope: Scope | undefined
}

/** @param base address of the document */
export function parseXml(text: string, base: string): XmlTree {
  const roots: XmlElement[] = []
  const issues = new Set<XmlIssue>()
  const open: Open[] = []
  // Vocabularies that nobody knows, but that the document itself is written in.
  const aliases = new Map<string, string>()
  let elements = 0

  const stop = (issue: XmlIssue): never => {
    issues.add(issue)
    throw STOP
  }
  const vocabularyOf = (scope: Scope | undefined, prefix: string): string => {
    const found = findVocabulary(scope, prefix) ?? (prefix === 'xml' ? 'xml' : undefined)
    if (found !== undefined) return aliases.get(found) ?? found
    if (prefix === '') return aliases.get('core') ?? 'core'
    issues.add('undeclared_namespace')
    return guessVocabulary(prefix)
  }

  const parser = new Parser(
    {
      onopentag(tag, raw) {
        if (++elements > MAX_ELEMENTS) stop('too_many_elements')
        if (open.length >= MAX_DEPTH) stop('nested_too_deep')
        const above = open.at(-1)
        const names = Object.keys(raw)
        if (names.length > MAX_ATTRIBUTES) issues.add('attributes_dropped')
        names.length = Math.min(names.length, MAX_ATTRIBUTES)
        const scope = declare(above?.scope, names, raw)
        const [prefix, local] = splitName(tag)
        if (open.length === 0) adopt(local, findVocabulary(scope, prefix) ?? 'core', aliases)
        const attributes = new Map<string, string>()
        for (const name of names) {
          const [ofAttribute, plain] = splitName(name)
          if (name === 'xmlns' || ofAttribute === 'xmlns') continue
          const key = ofAttribute === 'xml' ? name : plain
          // An attribute without a prefix is the element's own.
          if (ofAttribute === '' || !attributes.has(key)) attributes.set(key, raw[name] ?? '')
        }
        const element: XmlElement = {
          name: `${vocabularyOf(scope, prefix)}:${local}`,
          attributes,
          children: [],
          base: baseOf(attributes.get('xml:base'), above ? above.element.base : base),
          language: attributes.get('xml:lang') ?? above?.element.language,
          isClosed: false,
        }
        const siblings = above ? above.element.children : roots
        siblings.push(element)
        open.push({ element, scope })
      },
      ontext(data) {
        const children = open.at(-1)?.element.children
        if (!children) return
        const last = children.length - 1
        const before = children[last]
        if (typeof before === 'string') children[last] = before + data
        else children.push(data)
      },
      onclosetag(_tag, isImplied) {
        const top = open.pop()
        if (!top) return
        // The parser calls `<a/>` implied as well.
        const isSelfClosing = text[parser.endIndex] === '>' && text[parser.endIndex - 1] === '/'
        if (isImplied && !isSelfClosing) issues.add('unclosed_elements')
        else top.element.isClosed = true
      },
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  )
  try {
    parser.write(text)
    parser.end()
  } catch (error) {
    if (error !== STOP) throw error
  }
  return { roots, issues }
}

function splitName(name: string): [prefix: string, local: string] {
  const colon = name.indexOf(':')
  return colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)]
}

function declare(
  parent: Scope | undefined,
  names: readonly string[],
  raw: Readonly<Record<string, string>>,
): Scope | undefined {
  let vocabularies: Map<string, string> | undefined
  for (const name of names) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue
    vocabularies ??= new Map()
    vocabularies.set(name === 'xmlns' ? '' : name.slice(6), nameVocabulary(raw[name] ?? ''))
  }
  return vocabularies ? { parent, vocabularies } : parent
}

/** A feed in a namespace of its own, or in none, still means what its first element says. */
function adopt(local: string, vocabulary: string, aliases: Map<string, string>): void {
  const isKnown = /^[a-z]+$/.test(vocabulary) && vocabulary !== 'core'
  if (isKnown) return
  if (local === 'feed') aliases.set(vocabulary, 'atom')
  else if (local === 'rss' || local === 'channel') aliases.set(vocabulary, 'core')
}

function baseOf(stated: string | undefined, inherited: string | undefined): string | undefined {
  if (stated === undefined || stated.length > MAX_BASE_CHARACTERS) return inherited
  return resolveUrl(stated, inherited) ?? inherited
}

/** The children that are elements, in their order. */
export const elementsOf = (parent: XmlElement): XmlElement[] =>
  parent.children.filter((child): child is XmlElement => typeof child !== 'string')

/** The elements of the first of the names that occurs. */
export function findAll(parent: XmlElement, names: readonly string[]): XmlElement[] {
  const elements = elementsOf(parent)
  for (const name of names) {
    const found = elements.filter((element) => element.name === name)
    if (found.length > 0) return found
  }
  return []
}

/** All text in it, in document order. */
export function rawText(element: XmlElement): string {
  const parts: string[] = []
  const queue: (XmlElement | string)[] = element.children.toReversed()
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (typeof node === 'string') parts.push(node)
    else for (const child of node.children.toReversed()) queue.push(child)
  }
  return parts.join('')
}
