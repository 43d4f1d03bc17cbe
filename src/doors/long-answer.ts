// An answer that is too long for a model is cut over MCP and A2A, and says what was left out and how it is read on. It is cut only where it can be
// read on: nothing that was paid for is lost. A position counts the characters of each long text by itself, so the next part begins where this
// one ends, in all of them.
import { isObject } from '../lib/json.ts'

/** Claude Code takes 25,000 tokens and counts up to a third more of them than this estimate was held against. */
const MAX_TOKENS = 14_000
/** Shorter answers are within the bound whatever they are made of. */
const MAX_SHORT = 14_000
/** A text is cut from this length on, and a list or an object without such a text is then shown as JSON text. */
const LONG_TEXT = 2000
const LONG_JSON = 6000

/** Key of the wish for whole answers, in the `_meta` of MCP and the metadata of A2A. */
export const ANSWERS_META = 'agent-gateway/answers'
export const wantsWhole = (meta: Readonly<Record<string, unknown>> | undefined): boolean =>
  meta?.[ANSWERS_META] === 'full'

interface Place {
  /** JSON Pointer into the answer. */
  readonly at: string
  readonly text: string
}

/**
 * @param from the position at which the long texts begin: 0, or `left_out.next` of the part before
 * @param readOn says how the next part is asked for, from its position
 * @returns the answer itself where it is short enough
 */
export function fitAnswer(
  output: unknown,
  { from, readOn }: { readonly from: number; readonly readOn: (next: number) => string },
): unknown {
  if (!isObject(output)) return output
  const json = JSON.stringify(output)
  if (from === 0 && (json.length <= MAX_SHORT || estimateTokens(json) <= MAX_TOKENS)) return output
  const places: Place[] = []
  collect(output, '', places)
  const long = places.filter(({ text }) => text.length > from)
  const inPlaces = places.reduce((sum, { text }) => sum + text.length, 0)
  const perCharacter = Math.max(estimateTokens(json) / json.length, 0.1)
  const room = MAX_TOKENS / perCharacter - Math.max(json.length - inPlaces, 0)
  const size = Math.max(Math.floor(room / Math.max(long.length, 1)), LONG_TEXT / 2)
  const next = from + size
  const shown = new Map(places.map(({ at, text }) => [at, cut(text, from, next)]))
  const answer = replace(output, '', shown)
  const places_ = long.map(({ at, text }) => ({ at, from, to: Math.min(next, text.length), of: text.length }))
  const isMore = long.some(({ text }) => text.length > next)
  if (!isMore && from === 0) return output
  const left_out = { places: places_, ...(isMore && { next, read_on: readOn(next) }) }
  return { ...(answer as Readonly<Record<string, unknown>>), left_out }
}

/** A pair of surrogates that lies across a bound belongs to the part before it. */
function cut(text: string, from: number, to: number): string {
  const begin = from > 0 && isLow(text.charCodeAt(from)) ? from + 1 : from
  return text.slice(begin, to < text.length && isLow(text.charCodeAt(to)) ? to + 1 : to)
}
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

const pointerTo = (at: string, name: string | number) =>
  `${at}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Long texts, and what is long without holding one, as JSON text. Returns whether there is any below. */
function collect(value: unknown, at: string, places: Place[]): boolean {
  if (typeof value === 'string') {
    if (value.length < LONG_TEXT) return false
    places.push({ at, text: value })
    return true
  }
  if (typeof value !== 'object' || value === null) return false
  const before = places.length
  for (const [name, inner] of Object.entries(value)) collect(inner, pointerTo(at, name), places)
  if (places.length > before) return true
  const json = at === '' ? '' : JSON.stringify(value)
  if (json.length < LONG_JSON) return false
  places.push({ at, text: json })
  return true
}

function replace(value: unknown, at: string, shown: ReadonlyMap<string, string>): unknown {
  const text = shown.get(at)
  if (text !== undefined) return text
  if (Array.isArray(value))
    return value.map((item: unknown, index) => replace(item, pointerTo(at, index), shown))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, replace(inner, pointerTo(at, name), shown)]),
  )
}

const SAMPLE = 2048
const MAX_SAMPLES = 32

/** Tokens of a text, rather too many than too few: exact counts need a table of megabytes. A long text is judged by pieces of it. */
export function estimateTokens(text: string): number {
  const pieces = Math.min(Math.ceil(text.length / SAMPLE), MAX_SAMPLES)
  const stride = text.length / pieces
  let tokens = 0
  let characters = 0
  for (let piece = 0; piece < pieces; piece++) {
    const sample = text.slice(Math.floor(piece * stride), Math.floor(piece * stride) + SAMPLE)
    tokens += tokensOfPiece(sample)
    characters += sample.length
  }
  return Math.ceil((tokens / Math.max(characters, 1)) * text.length)
}

/** Words of up to twelve letters are two tokens at most; random letters, as in base64, are one for less than two. */
const PIECES =
  /[A-Za-z0-9+/_=-]{24,}|[A-Za-z]+|[0-9]+|\s+|[\u0080-\u07ff]+|[\u0800-\uffff]+|[^\sA-Za-z0-9\u0080-\uffff]+/g
function tokensOfPiece(text: string): number {
  let tokens = 0
  for (const [run] of text.matchAll(PIECES)) {
    const { length } = run
    const code = run.charCodeAt(0)
    if (length >= 24 && code < 0x80 && !/[\s"]/.test(run)) tokens += length * 0.72
    else if (code >= 0x800) tokens += length * 1.3
    else if (code >= 0x80) tokens += length * 0.75
    else if (/[A-Za-z]/.test(run)) tokens += length <= 12 ? Math.max(1, length / 4.5) : length * 0.65
    else if (/[0-9]/.test(run)) tokens += Math.max(1, length / 2.2)
    else if (/\s/.test(run)) tokens += length === 1 ? 0.1 : 1
    else tokens += Math.max(1, length * 0.7)
  }
  return tokens
}
