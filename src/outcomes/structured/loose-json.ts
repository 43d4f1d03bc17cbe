// JSON as shops write it: what a strict parser refuses is read once more, leniently, and every leniency is named.
// One pass with a stack of its own: no recursion, linear in the input.

export type Repair =
  | 'wrapper'
  | 'comment'
  | 'missing_comma'
  | 'trailing_comma'
  | 'control_character'
  | 'bad_escape'
  | 'quotes'
  | 'unquoted'
  | 'html_entities'
  | 'several_values'
  | 'unterminated'
  | 'stray_text'

export type LooseJson =
  | {
      readonly ok: true
      readonly value: unknown
      readonly repaired: readonly Repair[]
    }
  | { readonly ok: false; readonly reason: 'empty' | 'not_json' }

/** Parses what is nearly JSON; `repaired` names what had to be forgiven. */
export function parseLoosely(script: string): LooseJson {
  const text = script.replace(/^\uFEFF/, '').trim()
  if (text === '') return { ok: false, reason: 'empty' }
  const strict = parse(text)
  if (strict) return { ok: true, value: strict.value, repaired: [] }
  const repaired = new Set<Repair>()
  let bare = text
  if (bare.startsWith('<') || bare.startsWith('/') || bare.endsWith('>') || bare.endsWith('*/')) {
    bare = unwrap(text)
    if (bare !== text) repaired.add('wrapper')
  }
  // Quotes around names are entities too: all of it was escaped for HTML.
  if (/^[[{\s]*&(?:quot|#34|#x22);/i.test(bare)) {
    bare = bare.replace(/&(?:quot|#34|#x22);/gi, '"').replace(/&amp;/gi, '&')
    repaired.add('html_entities')
  }
  const again = bare === text ? undefined : parse(bare)
  if (again) return { ok: true, value: again.value, repaired: [...repaired] }
  const value = readLeniently(bare, repaired)
  if (value === undefined) return { ok: false, reason: bare.trim() === '' ? 'empty' : 'not_json' }
  return { ok: true, value, repaired: [...repaired].sort() }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Comment and CDATA marks around the whole, from times when browsers needed them. */
function unwrap(text: string): string {
  const from = text.search(/[[{&]/)
  const head = text.slice(0, Math.max(from, 0))
  // The bracket may be the one of `<![CDATA[`.
  const marks = /<!\[CDATA\[/.exec(text.slice(0, 200))
  const start = marks ? text.slice(marks.index + 9).replace(/^\s*(?:\*\/|-->)/, '') : text.slice(head.length)
  return start.slice(0, -1000) + start.slice(-1000).replace(/[\s/*]*(?:\]\]>|-->)[\s/*;]*$/, '')
}

type Container =
  { readonly list: unknown[] } | { readonly map: Record<string, unknown>; key: string | undefined }

/** Shops nest no deeper; what does is not worth a repair. */
const MAX_DEPTH = 200
const SPACE = /\s/
const BARE = /[\w$+\-.@:/]/
const BARE_NAME = /[\w$+\-.@/]/

function readLeniently(text: string, repaired: Set<Repair>): unknown {
  const roots: unknown[] = []
  const stack: Container[] = []
  let at = 0
  // Whether a value stands before, without a comma in between.
  let isAfterValue = false
  let isAfterComma = false

  const put = (value: unknown) => {
    const top = stack.at(-1)
    if (isAfterValue && top) repaired.add('missing_comma')
    if (!top) roots.push(value)
    else if ('list' in top) top.list.push(value)
    else if (top.key !== undefined) {
      define(top.map, top.key, value)
      top.key = undefined
    } else if (typeof value === 'string' || typeof value === 'number') top.key = String(value)
    else repaired.add('stray_text')
    isAfterValue = !(top && 'map' in top && top.key !== undefined)
    isAfterComma = false
  }

  const open = (bracket: '{' | '[') => {
    const top = stack.at(-1)
    // A bare object where a name has to stand belongs to nothing.
    if (top && 'map' in top && top.key === undefined) {
      if (isAfterValue) repaired.add('missing_comma')
      top.key = ''
    }
    const container: Container =
      bracket === '[' ? { list: [] } : { map: Object.create(null) as Record<string, unknown>, key: undefined }
    put('list' in container ? container.list : container.map)
    stack.push(container)
    isAfterValue = false
  }

  const close = (bracket: '}' | ']') => {
    if (isAfterComma) repaired.add('trailing_comma')
    const opened = stack.findLastIndex((container) => 'list' in container === (bracket === ']'))
    if (opened < 0) repaired.add('stray_text')
    else {
      if (opened < stack.length - 1) repaired.add('unterminated')
      stack.length = opened
    }
    isAfterValue = true
    isAfterComma = false
  }

  const separate = (sign: ',' | ';') => {
    if (stack.length > 0) {
      if (!isAfterValue) repaired.add('trailing_comma')
      isAfterComma = true
    } else if (sign === ',') repaired.add('stray_text')
    const top = stack.at(-1)
    if (top && 'map' in top) top.key = undefined
    isAfterValue = false
  }

  while (at < text.length) {
    const char = text.charAt(at)
    if (SPACE.test(char) || char === '\ufeff') at++
    else if (char === '{' || char === '[') {
      open(char)
      if (stack.length > MAX_DEPTH) return undefined
      at++
    } else if (char === '}' || char === ']') {
      close(char)
      at++
    } else if (char === ',' || char === ';') {
      separate(char)
      at++
    } else if (char === ':') at++
    else if (char === '"' || char === "'" || char === '“' || char === '”') {
      if (char !== '"') repaired.add('quotes')
      const string = readString(text, at, repaired)
      put(string.value)
      at = string.end
    } else if (char === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) {
      repaired.add('comment')
      const end = text[at + 1] === '*' ? text.indexOf('*/', at + 2) : text.indexOf('\n', at)
      at = end < 0 ? text.length : end + (text[at + 1] === '*' ? 2 : 1)
    } else if (BARE.test(char)) {
      const from = at
      const top = stack.at(-1)
      const isKey = top !== undefined && 'map' in top && top.key === undefined
      const part = isKey ? BARE_NAME : BARE
      while (at < text.length && part.test(text.charAt(at))) at++
      if (at === from) at++
      const word = text.slice(from, at)
      if (stack.length === 0) repaired.add('stray_text')
      else put(readWord(word, isKey, repaired))
    } else {
      repaired.add('stray_text')
      at++
    }
  }
  if (stack.length > 0) repaired.add('unterminated')
  const values = roots.filter((root) => typeof root === 'object' && root !== null)
  if (values.length > 1) repaired.add('several_values')
  return values.length === 0 ? undefined : values.length === 1 ? values[0] : values
}

function readWord(word: string, isKey: boolean, repaired: Set<Repair>): unknown {
  if (!isKey) {
    if (word === 'true') return true
    if (word === 'false') return false
    if (word === 'null') return null
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word)) return Number(word)
  }
  repaired.add('unquoted')
  return word === 'undefined' || word === 'NaN' ? null : word
}

const ESCAPES: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
})

/** A quote ends the string only where something of JSON follows: shops forget to escape the inch in `5" disk`. */
function readString(text: string, from: number, repaired: Set<Repair>): { value: string; end: number } {
  const quote = text[from] === "'" ? /'/ : text[from] === '"' ? /"/ : /[“”"]/
  const pieces: string[] = []
  let start = from + 1
  let at = start
  for (; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '\\') {
      pieces.push(text.slice(start, at))
      const next = text[at + 1] ?? ''
      const hex = next === 'u' ? /^[\da-f]{4}/i.exec(text.slice(at + 2, at + 6))?.[0] : undefined
      if (hex !== undefined) pieces.push(String.fromCharCode(Number.parseInt(hex, 16)))
      else {
        if (!(next in ESCAPES)) repaired.add('bad_escape')
        pieces.push(ESCAPES[next] ?? next)
      }
      at += hex === undefined ? 1 : 5
      start = at + 1
    } else if (char < ' ') repaired.add('control_character')
    else if (quote.test(char)) {
      if (endsHere(text, at + 1)) {
        pieces.push(text.slice(start, at))
        return { value: pieces.join(''), end: at + 1 }
      }
      repaired.add('quotes')
    }
  }
  repaired.add('unterminated')
  pieces.push(text.slice(start, at))
  return { value: pieces.join(''), end: text.length }
}

function endsHere(text: string, from: number): boolean {
  let at = from
  let isNewLine = false
  for (; at < text.length && SPACE.test(text.charAt(at)); at++) isNewLine ||= text[at] === '\n'
  if (at === text.length) return true
  const next = text.charAt(at)
  if (next === '/') return text[at + 1] === '/' || text[at + 1] === '*'
  return ',:}];'.includes(next) || (isNewLine && /["'[{]/.test(next))
}

/** `__proto__` is a name like any other in data. */
function define(map: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true })
}
