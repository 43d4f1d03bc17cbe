// Places of a report, found in the text: `/headers/PAYMENT-SIGNATURE#/accepted/amount` is a member of what that header's value encodes.
// What is encoded becomes a document of its own, laid out to be read, so that a finding can be shown where it stands.
import { type JsonNode, nodeAt, type Range, readJsonRanges } from '../../../../lib/json-ranges.ts'
import { type Part, partOf, type Pasted } from './pasted.ts'

export interface SourceDocument {
  /** Place that it was decoded from; empty for what was pasted. */
  readonly place: string
  readonly text: string
}

/** A place in one of the documents. */
export interface Spot {
  /** Index in `documents`. */
  readonly document: number
  readonly range: Range
}

export interface Located {
  /** What was pasted first, then what places led into. */
  readonly documents: readonly SourceDocument[]
  /** In the order of the places asked about; undefined where the place is nowhere, or is the whole. */
  readonly spots: readonly (Spot | undefined)[]
}

/** Never throws, whatever the places are. */
export function locate(pasted: Pasted, places: readonly string[]): Located {
  const documents: SourceDocument[] = [{ place: '', text: pasted.text }]
  const opened = new Map<string, number>()
  const roots = new Map<string, JsonNode | undefined>()
  /** Many places lie in one text, which is read once. */
  const rootOf = (text: string) => {
    if (!roots.has(text)) roots.set(text, readJsonRanges(text))
    return roots.get(text)
  }

  /** The part at a pointer into what the text of another part encodes. */
  function enter(outer: Found, at: string, pointer: string): Found | undefined {
    const { part, document } = outer
    if (part.says === undefined) return undefined
    if (part.isVerbatim) {
      const root = rootOf(part.says)
      const inner = root && partOf(part.says, nodeAt(root, pointer))
      if (!inner) return undefined
      const { from } = part.value
      const shift = (range: Range): Range => ({ from: range.from + from, to: range.to + from })
      return {
        document,
        part: { ...inner, value: shift(inner.value), name: inner.name && shift(inner.name) },
      }
    }
    let index = opened.get(at)
    if (index === undefined) {
      const unfolded = unfold(part.says)
      if (unfolded === undefined) return undefined
      index = documents.push({ place: at, text: unfolded }) - 1
      opened.set(at, index)
    }
    const { text } = documents[index] ?? { text: '' }
    const root = rootOf(text)
    const inner = root && partOf(text, nodeAt(root, pointer))
    return inner && { document: index, part: inner }
  }

  function find(place: string): Spot | undefined {
    const [first = '', ...layers] = place.split('#')
    const part = first === '' ? undefined : pasted.partAt(first)
    if (!part) return undefined
    let found: Found = { document: 0, part }
    let at = first
    for (const pointer of layers) {
      const inner = enter(found, at, pointer)
      // What holds it is shown where it itself cannot be: in a form that is not unfolded here.
      if (!inner) break
      found = inner
      at += `#${pointer}`
    }
    const { value, name, isContainer } = found.part
    return { document: found.document, range: isContainer ? (name ?? firstOf(value)) : value }
  }

  return { documents, spots: places.map(find) }
}

interface Found {
  readonly document: number
  readonly part: Part
}

/** The bracket that opens a list or object without a name. */
const firstOf = ({ from }: Range): Range => ({ from, to: from + 1 })

/** What a text encodes, laid out to be read. */
function unfold(text: string): string | undefined {
  try {
    const decoded = decode(text)
    return decoded === undefined ? undefined : JSON.stringify(decoded, undefined, 2)
  } catch {
    // It is nested more deeply than can be written down.
    return undefined
  }
}

const MAX_ENCODED_CHARS = 64 * 1024

/** JSON that a text encodes: as it is, in base64, as a JWS, or behind the word `Payment`. Undefined where it encodes none. */
export function decode(text: string): unknown {
  const bare = text.trim().replace(/^payment[ \t]+/i, '')
  if (bare.length > MAX_ENCODED_CHARS) return undefined
  const parts = bare.split('.')
  if (parts.length === 3) {
    const [header, payload] = parts.map(decodeBase64)
    return header === undefined ? undefined : { header, ...(payload !== undefined && { payload }) }
  }
  return parseContainer(bare) ?? decodeBase64(bare)
}

function decodeBase64(text: string): unknown {
  if (!/^[\w+/-]{4,}={0,2}$/.test(text)) return undefined
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    )
    return parseContainer(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function parseContainer(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
