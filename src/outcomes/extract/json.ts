// Reads a JSON source: its value where it is small, and a linear form of it that people and models can read: one line a
// value.
import { hasInexactNumber } from '../../outbound/numbers.ts'
import type { PageInput } from '../reading.ts'
import { emptyDocument } from './empty.ts'
import { PAGE_LIMITS } from './limits.ts'
import type { PageReading } from '../reading.ts'
import { cleanText, collapseSpaces, countWords, cutText } from './text.ts'
import { findTextWarnings } from './warnings.ts'
import { writeDocument } from './written.ts'

/** Characters of JSON that are sent along as they are, and how deep. */
const MAX_VALUE_CHARACTERS = 64 * 1024
const MAX_VALUE_DEPTH = 32
const MAX_PATH_CHARACTERS = 200
const MAX_LINES = 20_000
/** Of the linear form, in which paths repeat: what an answer has no room for is there to go on with. */
const MAX_CHARACTERS = 4_000_000

/**
 * `truncated` names `json` where the value is too large or too deep, `text` where the linear form is cut, and
 * `json_numbers` where a number is more exact than a double, so that what is sent along is rounded.
 */
export function readJson(
  source: string,
  { isCut, start = 0 }: Pick<PageInput, 'isCut' | 'start'>,
): PageReading | { reason: 'invalid_json' | 'no_content'; detail: string } {
  let value: unknown
  try {
    value = JSON.parse(source.replace(/^\uFEFF/, ''))
  } catch {
    const detail = isCut
      ? 'The JSON is longer than what is read of a source, so its end is missing. Ask the source for less at once.'
      : 'The source says JSON and is none. Send an address that answers with a JSON document, or with HTML.'
    return { reason: 'invalid_json', detail }
  }
  const { lines, depth, isComplete } = linearise(value)
  const truncated: string[] = []
  const fits = source.length <= MAX_VALUE_CHARACTERS && depth <= MAX_VALUE_DEPTH
  if (!fits) truncated.push('json')
  if (fits && hasInexactNumber(source)) truncated.push('json_numbers')
  const full = lines.join('\n').trimEnd()
  if (full === '') return { reason: 'no_content', detail: 'The JSON holds no value. Send another address.' }
  const written = writeDocument(
    [{ kind: 'code', text: full }],
    { start, maxCharacters: PAGE_LIMITS.textCharacters },
    { resolve: () => undefined },
  )
  const { text } = written.document
  if (!isComplete) truncated.push('text')
  for (const what of written.truncated) if (!truncated.includes(what)) truncated.push(what)
  return {
    document: {
      ...emptyDocument(),
      ...written.document,
      word_count: countWords(text),
    },
    ...(fits ? { json: cleanValue(value) } : {}),
    cuts: written.cuts,
    mode: 'json',
    truncated: truncated.sort(),
    warnings: findTextWarnings(source, full),
  }
}

/** `a.b[0]: text`, depth first in the order of the source, without recursion. */
function linearise(value: unknown): { lines: string[]; depth: number; isComplete: boolean } {
  const lines: string[] = []
  let depth = 0
  let characters = 0
  const stack: { path: string; value: unknown; depth: number }[] = [{ path: '', value, depth: 1 }]
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    depth = Math.max(depth, item.depth)
    if (lines.length >= MAX_LINES || characters > MAX_CHARACTERS) continue
    if (typeof item.value === 'object' && item.value !== null) {
      const isList = Array.isArray(item.value)
      for (const [key, child] of Object.entries(item.value).toReversed())
        stack.push({ path: stepInto(item.path, key, isList), value: child, depth: item.depth + 1 })
      continue
    }
    const text = collapseSpaces(cleanText(String(item.value)))
    const line = item.path === '' ? text : `${item.path}: ${text}`
    lines.push(line)
    characters += line.length + 1
  }
  return { lines, depth, isComplete: lines.length < MAX_LINES && characters <= MAX_CHARACTERS }
}

/**
 * The same value with every text and name in it cleaned: what has no UTF-8 has no digest, and nobody sees what is invisible.
 */
function cleanValue(value: unknown): unknown {
  const top: { value?: unknown } = {}
  const stack: { into: object; key: PropertyKey; value: unknown }[] = [{ into: top, key: 'value', value }]
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { into, key, value: given } = item
    const isContainer = typeof given === 'object' && given !== null
    const cleaned = isContainer ? (Array.isArray(given) ? [] : {}) : cleanScalar(given)
    // Assigning would take `__proto__` for what it is not.
    Object.defineProperty(into, key, { value: cleaned, enumerable: true, writable: true, configurable: true })
    if (!isContainer) continue
    for (const [name, child] of Object.entries(given).toReversed())
      stack.push({ into: cleaned as object, key: cleanText(name), value: child })
  }
  return top.value
}

const cleanScalar = (value: unknown) => (typeof value === 'string' ? cleanText(value) : value)

function stepInto(path: string, key: string, isList: boolean): string {
  if (path.length > MAX_PATH_CHARACTERS) return path
  if (isList) return `${path}[${key}]`
  const name = cutText(collapseSpaces(cleanText(key)), MAX_PATH_CHARACTERS)
  return path === '' ? name : `${path}.${name}`
}
