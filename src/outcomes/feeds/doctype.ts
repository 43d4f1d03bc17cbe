// Takes the document type declaration out of an XML document before it is parsed. An entity that stands for a few plain
// characters is put in its places; nothing else that it declares is expanded, and nothing fetched: that is reported.

export interface Undeclared {
  readonly text: string
  /** Entities that the declaration defines and that are not plain characters. */
  readonly entities: number
  /** Declares something that stands in another file. */
  readonly isExternal: boolean
}

const START = '<!doctype'

/** The text without its declaration, and how much that declared. */
export function dropDoctype(text: string): Undeclared {
  const start = findDoctype(text)
  if (start < 0) return { text, entities: 0, isExternal: false }
  const end = findEnd(text, start + START.length)
  const declaration = text.slice(start, end)
  const literals = readLiterals(declaration)
  return {
    text: text.slice(0, start) + expand(text.slice(end), literals),
    entities: Math.max((declaration.match(/<!ENTITY\s/gi)?.length ?? 0) - literals.size, 0),
    isExternal: /<!ENTITY\s[^>"']{1,200}\b(?:SYSTEM|PUBLIC)\s/i.test(declaration),
  }
}

/** Without a sign that could begin markup, end an attribute or name another entity. */
const LITERAL =
  /<!ENTITY\s{1,20}([A-Za-z_][\w.-]{0,63})\s{1,20}(?:"([^"'&%<>]{0,256})"|'([^"'&%<>]{0,256})')\s{0,20}>/g
const MAX_LITERALS = 100
/** Characters that all of them add: a small name for a long text is used at most so often. */
const MAX_ADDED = 65_536
/** What stands in a CDATA section is written as it is meant. One that does not end reaches to the end. */
const REFERENCE = /<!\[CDATA\[[^]*?(?:\]\]>|$)|&([A-Za-z_][\w.-]{0,63});/g

/** The first declaration of a name counts (XML 1.0, 4.2). */
function readLiterals(declaration: string): ReadonlyMap<string, string> {
  const literals = new Map<string, string>()
  for (const [, name = '', double, single] of declaration.matchAll(LITERAL)) {
    if (literals.size >= MAX_LITERALS) break
    if (!literals.has(name)) literals.set(name, double ?? single ?? '')
  }
  return literals
}

function expand(text: string, literals: ReadonlyMap<string, string>): string {
  if (literals.size === 0) return text
  let added = 0
  return text.replace(REFERENCE, (whole, name: string | undefined) => {
    const literal = name === undefined ? undefined : literals.get(name)
    return literal === undefined || (added += literal.length) > MAX_ADDED ? whole : literal
  })
}

/** A doctype stands before the first element: further down it is text of an entry, or nonsense. */
function findDoctype(text: string): number {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0
  for (;;) {
    at = text.indexOf('<', at)
    if (at < 0) return -1
    if (text.startsWith('<!--', at)) at = text.indexOf('-->', at + 4)
    else if (text.startsWith('<?', at)) at = text.indexOf('?>', at + 2)
    else return text.slice(at, at + START.length).toLowerCase() === START ? at : -1
    if (at < 0) return -1
  }
}

/** Past the `>` that closes it: quotes, comments and the internal subset hold others. To the end where there is none. */
function findEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === '"' || char === "'") at = skipTo(text, char, at + 1)
    else if (char === '[') depth++
    else if (char === ']') depth--
    else if (char === '<') {
      if (text.startsWith('<!--', at)) at = skipTo(text, '-->', at + 4)
      else if (text.startsWith('<?', at)) at = skipTo(text, '?>', at + 2)
      else depth++
    } else if (char === '>') {
      if (depth <= 0) return at + 1
      depth--
    }
  }
  return text.length
}

/** Index of the last character of the next `mark`; past the end where there is none. */
function skipTo(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  return found < 0 ? text.length : found + mark.length - 1
}
