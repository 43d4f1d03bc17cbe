// Finds where the value at a JSON pointer stands in a text, as whoever wrote it laid it out: white space, escapes and repeated members
// included. Runs on the server and in browsers.

/** Offsets into a text: `from` is inside, `to` is behind. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** A value of JSON and its place in the text. */
export interface JsonNode extends Range {
  readonly kind: 'object' | 'array' | 'string' | 'other'
  /** The name in front of it, in quotes; undefined for items and the root. */
  readonly name: Range | undefined
  /** Members by their names with escapes undone, or items by their index; of a name that is there twice the last, as JSON.parse takes it. */
  readonly children: ReadonlyMap<string, JsonNode>
}

const MAX_DEPTH = 64
const NO_CHILDREN: ReadonlyMap<string, JsonNode> = new Map()

/** Undefined where the text is no JSON, or is nested more deeply than any protocol is. */
export function readJsonRanges(text: string): JsonNode | undefined {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  return readValue(text, skipSpace(text, 0), undefined, 0)
}

/** The value at a pointer (RFC 6901); undefined where there is none. */
export function nodeAt(root: JsonNode, pointer: string): JsonNode | undefined {
  if (pointer === '') return root
  if (!pointer.startsWith('/')) return undefined
  let node: JsonNode | undefined = root
  for (const segment of pointer.slice(1).split('/')) {
    node = node?.children.get(segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (node === undefined) return undefined
  }
  return node
}

/** The text is known to be JSON, so that what is not expected cannot be there. */
function readValue(text: string, at: number, name: Range | undefined, depth: number): JsonNode | undefined {
  if (depth > MAX_DEPTH) return undefined
  const first = text.charAt(at)
  if (first === '"')
    return { kind: 'string', from: at, to: endOfString(text, at), name, children: NO_CHILDREN }
  if (first === '{' || first === '[') return readContainer(text, at, name, depth)
  let to = at
  while (to < text.length && !/[\s,\]}]/.test(text.charAt(to))) to++
  return { kind: 'other', from: at, to, name, children: NO_CHILDREN }
}

function readContainer(
  text: string,
  from: number,
  name: Range | undefined,
  depth: number,
): JsonNode | undefined {
  const isObject = text.charAt(from) === '{'
  const children = new Map<string, JsonNode>()
  let at = skipSpace(text, from + 1)
  for (let index = 0; text.charAt(at) !== '}' && text.charAt(at) !== ']'; index++) {
    let key = String(index)
    let memberName: Range | undefined
    if (isObject) {
      memberName = { from: at, to: endOfString(text, at) }
      key = String(JSON.parse(text.slice(memberName.from, memberName.to)))
      // The colon is behind the name, with space on both sides where the writer liked it.
      at = skipSpace(text, skipSpace(text, memberName.to) + 1)
    }
    const child = readValue(text, at, memberName, depth + 1)
    if (!child) return undefined
    children.set(key, child)
    at = skipSpace(text, child.to)
    if (text.charAt(at) === ',') at = skipSpace(text, at + 1)
  }
  return { kind: isObject ? 'object' : 'array', from, to: at + 1, name, children }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
  return at + 1
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \n\r\t'.includes(text.charAt(at))) at++
  return at
}
