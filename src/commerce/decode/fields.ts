// The two grammars of header fields that payments use: challenges with parameters (RFC 9110), and the part of structured
// fields (RFC 9651) that signatures, digests and UCP-Agent need. One pass each; what does not parse is undefined.

export interface AuthChallenge {
  /** Lower case. */
  readonly scheme: string
  readonly token68: string | undefined
  /** Names in lower case; the first of a repeated one. */
  readonly params: ReadonlyMap<string, string>
  readonly hasRepeatedParam: boolean
}

const TOKEN = /[!#$%&'*+.^_`|~\dA-Za-z-]+/y
const TOKEN68 = /[\dA-Za-z._~+/-]+=*(?=[ \t]*(?:,|$))/y
const SPACE = /[ \t]*/y

interface Cursor {
  readonly text: string
  index: number
}

const isAtEnd = (cursor: Cursor): boolean => cursor.index >= cursor.text.length

function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.index
  const match = pattern.exec(cursor.text)?.[0]
  if (match !== undefined) cursor.index += match.length
  return match
}

function skip(cursor: Cursor, char: string): boolean {
  if (cursor.text[cursor.index] !== char) return false
  cursor.index++
  return true
}

/** Reads a quoted string from behind its opening quote. */
function takeQuoted(cursor: Cursor): string | undefined {
  let value = ''
  for (; !isAtEnd(cursor); cursor.index++) {
    const char = cursor.text.charAt(cursor.index)
    if (char === '"') {
      cursor.index++
      return value
    }
    value += char === '\\' ? (cursor.text[++cursor.index] ?? '') : char
  }
  return undefined
}

// A server offers no more, and no client answers twice.
const MAX_CHALLENGES = 32

/** `WWW-Authenticate`, `Authorization`: the challenges up to where it stops to be readable. */
export function readChallenges(text: string): AuthChallenge[] {
  const cursor = { text, index: 0 }
  const found: AuthChallenge[] = []
  while (found.length < MAX_CHALLENGES) {
    do take(cursor, SPACE)
    while (skip(cursor, ','))
    const scheme = take(cursor, TOKEN)
    if (scheme === undefined) return found
    take(cursor, SPACE)
    // token68 first: unpadded base64url looks like a parameter name, but no `=` and value follow it.
    const token68 = take(cursor, TOKEN68)
    const read =
      token68 === undefined
        ? readAuthParams(cursor)
        : { params: new Map<string, string>(), hasRepeatedParam: false }
    if (read === undefined) return found
    found.push({ scheme: scheme.toLowerCase(), token68, ...read })
  }
  return found
}

function readAuthParams(cursor: Cursor): Pick<AuthChallenge, 'params' | 'hasRepeatedParam'> | undefined {
  const params = new Map<string, string>()
  let hasRepeatedParam = false
  for (;;) {
    const start = cursor.index
    const name = take(cursor, TOKEN)?.toLowerCase()
    take(cursor, SPACE)
    if (name === undefined || !skip(cursor, '=')) {
      // Nothing more, or the scheme of the next challenge.
      cursor.index = start
      return { params, hasRepeatedParam }
    }
    take(cursor, SPACE)
    const value = skip(cursor, '"') ? takeQuoted(cursor) : take(cursor, TOKEN)
    if (value === undefined) return undefined
    if (params.has(name)) hasRepeatedParam = true
    else params.set(name, value)
    take(cursor, SPACE)
    if (!skip(cursor, ',')) return { params, hasRepeatedParam }
    take(cursor, SPACE)
  }
}

export type BareItem =
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'string' | 'token' | 'bytes'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }

interface StructuredItem {
  readonly item: BareItem
  readonly params: ReadonlyMap<string, BareItem>
}
export type StructuredMember =
  | ({ readonly kind: 'item' } & StructuredItem)
  | {
      readonly kind: 'list'
      readonly items: readonly StructuredItem[]
      readonly params: ReadonlyMap<string, BareItem>
    }

const KEY = /[a-z*][a-z\d_.*-]*/y
const INTEGER = /-?\d{1,15}(?![\d.])/y
const SF_TOKEN = /[A-Za-z*][!#$%&'*+.^_`|~\dA-Za-z:/-]*/y
// Examples elide bytes with dots; that they are no base64 is for those who look at them.
const BYTES = /:[^:"\s]*:/y

/** Dictionary of items and inner lists. Undefined where it is malformed; the last of a repeated key holds. */
export function readDictionary(text: string): ReadonlyMap<string, StructuredMember> | undefined {
  const cursor = { text: text.trim(), index: 0 }
  const members = new Map<string, StructuredMember>()
  while (!isAtEnd(cursor)) {
    const key = take(cursor, KEY)
    if (key === undefined) return undefined
    const value = skip(cursor, '=') ? readMember(cursor) : readFlag(cursor)
    if (value === undefined) return undefined
    members.set(key, value)
    take(cursor, SPACE)
    if (isAtEnd(cursor)) return members
    if (!skip(cursor, ',')) return undefined
    take(cursor, SPACE)
    if (isAtEnd(cursor)) return undefined
  }
  return members
}

function readFlag(cursor: Cursor): StructuredMember | undefined {
  const params = readParams(cursor)
  return params && { kind: 'item', item: { kind: 'boolean', value: true }, params }
}

function readMember(cursor: Cursor): StructuredMember | undefined {
  if (!skip(cursor, '(')) {
    const item = readItem(cursor)
    return item && { kind: 'item', ...item }
  }
  const items: StructuredItem[] = []
  for (;;) {
    take(cursor, SPACE)
    if (skip(cursor, ')')) break
    const item = readItem(cursor)
    if (item === undefined) return undefined
    items.push(item)
  }
  const params = readParams(cursor)
  return params && { kind: 'list', items, params }
}

function readItem(cursor: Cursor): StructuredItem | undefined {
  const item = readBare(cursor)
  if (item === undefined) return undefined
  const params = readParams(cursor)
  return params && { item, params }
}

function readParams(cursor: Cursor): ReadonlyMap<string, BareItem> | undefined {
  const params = new Map<string, BareItem>()
  while (skip(cursor, ';')) {
    take(cursor, SPACE)
    const key = take(cursor, KEY)
    if (key === undefined) return undefined
    const value: BareItem | undefined = skip(cursor, '=')
      ? readBare(cursor)
      : { kind: 'boolean', value: true }
    if (value === undefined) return undefined
    params.set(key, value)
  }
  return params
}

function readBare(cursor: Cursor): BareItem | undefined {
  if (skip(cursor, '"')) {
    const value = takeQuoted(cursor)
    return value === undefined ? undefined : { kind: 'string', value }
  }
  if (skip(cursor, '?')) {
    if (skip(cursor, '1')) return { kind: 'boolean', value: true }
    return skip(cursor, '0') ? { kind: 'boolean', value: false } : undefined
  }
  const bytes = take(cursor, BYTES)
  if (bytes !== undefined) return { kind: 'bytes', value: bytes.slice(1, -1) }
  const integer = take(cursor, INTEGER)
  if (integer !== undefined) return { kind: 'integer', value: Number(integer) }
  const token = take(cursor, SF_TOKEN)
  return token === undefined ? undefined : { kind: 'token', value: token }
}
