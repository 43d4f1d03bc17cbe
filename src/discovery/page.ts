// Splits a page of a catalogue into its entries before any of them is parsed, so that one hostile entry costs itself and
// nothing beside it. Whether an entry is worth listing is entry.ts's business.
import { hasRepeatedMember, isObject, MAX_JSON_DEPTH, parseJson } from '../lib/json.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import { GatewayError } from '../core/errors.ts'
import { memberOf } from './data.ts'

export interface Page {
  /** The text of each entry, at most as many as were asked for; they share the memory of the page. */
  readonly entries: readonly Uint8Array[]
  /** Entries of the page, also those beyond what was asked for. */
  readonly count: number
  /** Entries of the whole catalogue, where the page says that. */
  readonly total: number | undefined
}

export type PageVerdict =
  | { readonly ok: true; readonly page: Page }
  /** `damaged`: it begins as a page and breaks off or does not fit together, which one of its entries can have caused. */
  | { readonly ok: false; readonly reason: 'damaged' | 'not_a_page' }

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

interface List {
  readonly from: number
  entries: Uint8Array[]
  count: number
  to: number
}

/**
 * Finds the entries of `items` (or `resources`) by walking the bytes once: no recursion, and nothing is copied.
 * @param maxEntries that are kept; the others are counted
 */
export function splitPage(body: Buffer, maxEntries: number): PageVerdict {
  const lists = new Map<string, List>()
  let list: List | undefined
  let name = ''
  let depth = 0
  let entryFrom = 0
  const endEntry = (of: List, at: number) => {
    if (of.count++ < maxEntries) of.entries.push(body.subarray(entryFrom, at))
    entryFrom = at + 1
  }
  if (!beginsWith(body, OPEN_OBJECT)) return { ok: false, reason: 'not_a_page' }
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === QUOTE) {
      const end = endOfString(body, at)
      if (end < 0) return { ok: false, reason: 'damaged' }
      // The last string before a list that is a member is the name of that member.
      if (depth === 1) name = body.toString('latin1', at + 1, Math.min(end, at + 17))
      at = end
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth++
      if (depth === 2 && byte === OPEN_LIST && (name === 'items' || name === 'resources')) {
        list = { from: at, entries: [], count: 0, to: at }
        entryFrom = at + 1
      }
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--
      if (depth === 1 && list) {
        if (list.count > 0 || !isBlank(body, entryFrom, at)) endEntry(list, at)
        list.to = at
        lists.set(name, list)
        list = undefined
      }
    } else if (byte === COMMA && depth === 2 && list) endEntry(list, at)
  }
  if (depth !== 0) return { ok: false, reason: 'damaged' }
  return readAround(body, lists)
}

/** Reads what stands around the lists, which is JSON with each of them empty. */
function readAround(body: Buffer, lists: ReadonlyMap<string, List>): PageVerdict {
  const pieces: string[] = []
  let from = 0
  for (const { from: start, to } of lists.values()) {
    pieces.push(body.toString('utf8', from, start + 1))
    from = to
  }
  pieces.push(body.toString('utf8', from))
  let around: unknown
  try {
    around = parseJson(pieces.join(''))
  } catch {
    return { ok: false, reason: 'damaged' }
  }
  const found = lists.get('items') ?? lists.get('resources')
  if (!found || !isObject(around)) return { ok: false, reason: 'not_a_page' }
  const total = memberOf(around, 'pagination', 'total')
  const isCount = typeof total === 'number' && Number.isSafeInteger(total) && total >= 0
  return {
    ok: true,
    page: { entries: found.entries, count: found.count, total: isCount ? total : undefined },
  }
}

export type ParseFailure = 'too_large' | 'not_utf8' | 'too_deep' | 'malformed' | 'repeated_member'
export type Parsed =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: ParseFailure }

/** More than every part of an entry that is kept can be together. */
const MAX_ENTRY_BYTES = 256 * 1024
/** Two levels are the page's own. */
const MAX_ENTRY_DEPTH = MAX_JSON_DEPTH - 2

/** Parses one entry. Never throws. */
export function parseEntry(bytes: Uint8Array): Parsed {
  if (bytes.length > MAX_ENTRY_BYTES) return { ok: false, reason: 'too_large' }
  const text = decodeUtf8(bytes)
  if (text === undefined) return { ok: false, reason: 'not_utf8' }
  let value: unknown
  try {
    value = parseJson(text, MAX_ENTRY_DEPTH)
  } catch (thrown) {
    const isDeep = thrown instanceof GatewayError && thrown.code === 'json_too_deep'
    return { ok: false, reason: isDeep ? 'too_deep' : 'malformed' }
  }
  // Two readers may take two different payees from it.
  if (hasRepeatedMember(text, value)) return { ok: false, reason: 'repeated_member' }
  return { ok: true, value }
}

/** The position of the quote that ends a string; -1 where nothing does. */
function endOfString(body: Buffer, start: number): number {
  for (let at = body.indexOf(QUOTE, start + 1); at >= 0; at = body.indexOf(QUOTE, at + 1)) {
    let escapes = 0
    while (body[at - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return -1
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function isBlank(body: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isSpace(body[at])) return false
  return true
}

function beginsWith(body: Buffer, byte: number): boolean {
  let at = 0
  while (isSpace(body[at])) at++
  return body[at] === byte
}
