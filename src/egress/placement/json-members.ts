// Members of objects in a JSON text, where they stand in it: each character is looked at once, and what no pointer leads into is passed over
// without a value being made of it.

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

export interface Member {
  readonly name: string
  /** Of its name. */
  readonly start: number
  /** Of its value, and where that ends. */
  readonly value: number
  readonly end: number
  /** The comma behind it, or the brace that closes the object. */
  readonly delimiter: number
}

/**
 * @param text what is no JSON ends the members where it is met
 * @param open an opening brace
 */
export function* membersOf(text: string, open: number): Generator<Member> {
  for (let at = open; at === open || text[at] === ',';) {
    const start = behindSpace(text, at + 1)
    if (text[start] !== '"') return
    const nameEnd = endOfString(text, start)
    const name = readString(text.slice(start, nameEnd))
    const colon = behindSpace(text, nameEnd)
    if (name === undefined || text[colon] !== ':') return
    const value = behindSpace(text, colon + 1)
    const end = endOfValue(text, value)
    const delimiter = behindSpace(text, end)
    if (text[delimiter] !== ',' && text[delimiter] !== '}') return
    yield { name, start, value, end, delimiter }
    at = delimiter
  }
}

export function behindSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** @param json a string with its quotes */
export function readString(json: string): string | undefined {
  try {
    return JSON.parse(json) as string
  } catch {
    return undefined
  }
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at) - 1
      if (depth === 0) return at + 1
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (code === COMMA || isSpace(code))) return at
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at + 1
  }
  return text.length
}
