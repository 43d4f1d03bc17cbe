// Fits a document into a size: an answer holds up to three, and one that is made to be large must not push the others out.
// Each cut is named, and the digest is of what is left.
import type { ExtractedDocument } from '../../../schemas/document.ts'
import { digestText } from '../digest.ts'
import { countCharacters, countWords } from '../extract/text.ts'
import { type Cut, lastCutWithin, MIN_SHARE } from './cut.ts'
import type { PageReading } from '../reading.ts'
import type { Reading } from '../reading.ts'

/** The lists of a document take at most this share of its size; text and Markdown share the rest. */
const SHARES = { json: 0.15, tables: 0.15, links: 0.1, headings: 0.05, products: 0.05 } as const

/** @param maxBytes of the reading as JSON in UTF-8; one that is smaller comes back as it is */
export function fitPage(reading: Reading<PageReading>, maxBytes: number): Reading<PageReading> {
  if (!reading.ok) return reading
  const { cuts, ...whole } = reading.value
  if (sizeOf(whole) <= maxBytes) return cuts === undefined ? reading : { ...reading, value: whole }
  const truncated = new Set(whole.truncated)
  const { json, ...value } = fitLists(whole, maxBytes, truncated)
  const { document } = value
  const fixed = sizeOf({ ...value, json, document: { ...document, text: '', markdown: '' } })
  const left = Math.max(maxBytes - fixed - MARGIN, 0)
  const { text, markdown, next } = cutBoth(document, cuts ?? [], left, truncated)
  return {
    ...reading,
    textSha256: digestText(text),
    value: {
      ...value,
      ...(json === undefined ? {} : { json }),
      document: { ...document, text, markdown, ...next, word_count: countWords(text) },
      truncated: [...truncated].sort(),
    },
  }
}

/** The names of what was cut, and word counts that have fewer digits. */
const MARGIN = 200

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

function fitLists(value: PageReading, maxBytes: number, truncated: Set<string>): PageReading {
  const { document } = value
  const capped = <T>(name: keyof typeof SHARES, items: readonly T[]): T[] => {
    const kept = takeWhileFits(items, maxBytes * SHARES[name])
    if (kept.length < items.length) truncated.add(name === 'products' ? 'structured_data' : name)
    return kept
  }
  const keepsJson = sizeOf(value.json) <= maxBytes * SHARES.json
  if (!keepsJson) truncated.add('json')
  return {
    ...value,
    json: keepsJson ? value.json : undefined,
    document: {
      ...document,
      headings: capped('headings', document.headings),
      links: capped('links', document.links),
      tables: fitTables(document.tables, maxBytes * SHARES.tables, truncated),
      structured_data: {
        ...document.structured_data,
        products: capped('products', document.structured_data.products),
      },
    },
  }
}

/** Items are kept from the first on, up to the one that does not fit. */
function takeWhileFits<T>(items: readonly T[], maxBytes: number): T[] {
  let bytes = 2
  const kept: T[] = []
  for (const item of items) {
    bytes += sizeOf(item) + 1
    if (bytes > maxBytes) break
    kept.push(item)
  }
  return kept
}

/** The table that does not fit keeps the rows that do; what follows it is left out. */
function fitTables(
  tables: ExtractedDocument['tables'],
  maxBytes: number,
  truncated: Set<string>,
): ExtractedDocument['tables'] {
  const kept = takeWhileFits(tables, maxBytes)
  const next = tables[kept.length]
  if (!next) return kept
  truncated.add('tables')
  const left = maxBytes - sizeOf(kept) - sizeOf({ ...next, rows: [] })
  const rows = takeWhileFits(next.rows, left)
  return rows.length > 0 ? [...kept, { ...next, rows }] : kept
}

/** At the end of a block, of text and of Markdown the same one; where none ends near, each where it has to. */
function cutBoth(
  document: ExtractedDocument,
  cuts: readonly Cut[],
  left: number,
  truncated: Set<string>,
): Pick<ExtractedDocument, 'text' | 'markdown'> & { next: Pick<ExtractedDocument, 'next_start'> } {
  const whole = sizeOf(document.text) + sizeOf(document.markdown)
  if (whole <= left) return { text: document.text, markdown: document.markdown, next: {} }
  const bytesOfText = createMeter(document.text)
  const bytesOfMarkdown = createMeter(document.markdown)
  const end = lastCutWithin(
    cuts,
    (each) => bytesOfText(each.text) + bytesOfMarkdown(each.markdown) + 4 <= left,
  )
  const share = end ? (end.text + end.markdown) / (document.text.length + document.markdown.length) : 0
  if (end && share * whole >= left * MIN_SHARE) {
    truncated.add('text').add('markdown')
    return {
      text: document.text.slice(0, end.text).trimEnd(),
      markdown: document.markdown.slice(0, end.markdown).trimEnd(),
      next: { next_start: end.next },
    }
  }
  const text = cut('text', document.text, Math.max(left / 2, left - sizeOf(document.markdown)), truncated)
  const markdown = cut('markdown', document.markdown, left - sizeOf(text), truncated)
  const isCut = text.length < document.text.length
  const next =
    isCut && document.start !== undefined ? { next_start: document.start + countCharacters(text) } : {}
  return { text, markdown, next }
}

/** Bytes of ever longer beginnings as JSON in UTF-8: each character is looked at once. */
function createMeter(text: string): (end: number) => number {
  let at = 0
  let bytes = 0
  return (end) => {
    while (at < Math.min(end, text.length)) {
      const code = text.codePointAt(at) ?? 0
      bytes += bytesOf(code)
      at += code > 0xffff ? 2 : 1
    }
    return bytes
  }
}

function cut(name: string, text: string, maxBytes: number, truncated: Set<string>): string {
  const end = endWithin(text, maxBytes - 2)
  if (end === text.length) return text
  truncated.add(name)
  // Whole blocks, or at least whole words, where that costs little.
  const block = text.lastIndexOf('\n\n', end)
  const at = block > end * 0.8 ? block : Math.max(text.lastIndexOf(' ', end), text.lastIndexOf('\n', end))
  return text.slice(0, at > end * 0.8 ? at : end).trimEnd()
}

/** The longest beginning that is no longer than this as a JSON string, without its quotes, in UTF-8. */
function endWithin(text: string, maxBytes: number): number {
  let bytes = 0
  let at = 0
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0
    bytes += bytesOf(code)
    if (bytes > maxBytes) return at
    at += code > 0xffff ? 2 : 1
  }
  return at
}

function bytesOf(code: number): number {
  if (code < 0x20) return code >= 8 && code <= 13 && code !== 11 ? 2 : 6
  if (code < 0x80) return code === 0x22 || code === 0x5c ? 2 : 1
  if (code < 0x800) return 2
  if (code >= 0xd800 && code <= 0xdfff) return 6
  return code > 0xffff ? 4 : 3
}
