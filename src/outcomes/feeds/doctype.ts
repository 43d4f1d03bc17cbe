// Takes the document type declaration out of an XML document before it is parsed. Nothing it declares is ever expanded or
// fetched; that something was declared is reported.

export interface Undeclared {
  readonly text: string
  /** Entities that the declaration defines. */
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
  return {
    text: text.slice(0, start) + text.slice(end),
    entities: declaration.match(/<!ENTITY\s/gi)?.length ?? 0,
    isExternal: /<!ENTITY\s[^>"']{1,200}\b(?:SYSTEM|PUBLIC)\s/i.test(declaration),
  }
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
