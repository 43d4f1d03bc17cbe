// Decides what bytes are: by the Content-Type where it can be true, by the first bytes where it is missing or wrong.
import { isJson, isTextual, parseContentType } from '../../outbound/media-type.ts'
import type { PageInput } from '../reading.ts'

export type Kind =
  | { readonly ok: true; readonly format: 'html' | 'json' | 'text'; readonly label: string | undefined }
  | { readonly ok: false; readonly reason: 'empty' | 'binary' | 'type_unsupported'; readonly detail: string }

const HEAD_BYTES = 1024
const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml', 'application/vnd.wap.xhtml+xml'])
// Servers send these types when they know nothing: the bytes decide.
const UNKNOWN_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'text/plain', '*/*'])
const HTML_START =
  /^<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|main|article|section|header|nav|div|p|h[1-6]|table|ul|ol|a|img|span|br|b)\b/i
const FEED_START = /^<(?:rss|feed|rdf:rdf)\b/i
const JSON_START = /^(?:[[{]|"|-?\d|true\b|false\b|null\b)/
const FEED_DETAIL =
  'This is a feed. Send its address to the capability feed-digest, or send the page that it belongs to.'
const TYPES_DETAIL = 'Only HTML, plain text and JSON are read. Send the address of such a page.'

/** The kind of the bytes, or the reason why they are not read and what to send instead. */
export function sniffKind({ body, contentType }: Pick<PageInput, 'body' | 'contentType'>): Kind {
  const { essence, charset } = parseContentType(contentType ?? undefined)
  if (isBlank(body))
    return {
      ok: false,
      reason: 'empty',
      detail: 'The source answered without content. Send another address of the page.',
    }
  const isWide = startsWith(body, [0xff, 0xfe]) || startsWith(body, [0xfe, 0xff]) || isSixteenBits(charset)
  if (!isWide && looksBinary(body))
    return isOffered(essence)
      ? {
          ok: false,
          reason: 'binary',
          detail: 'What the source calls text is binary data. Send the address of a page or a JSON document.',
        }
      : unsupported()
  const start = headOf(body, isWide)
  if (/^application\/(?:rss|atom|rdf)\+xml$/.test(essence) || FEED_START.test(start)) return feed()
  const as = (format: 'html' | 'json' | 'text'): Kind => ({ ok: true, format, label: charset })
  if (HTML_TYPES.has(essence)) return as(looksJson(start) ? 'json' : 'html')
  // Error pages and old servers: HTML under the name of something else.
  if (HTML_START.test(start)) return isMarkupHolder(essence) ? as('html') : unsupported()
  if (isJson(essence)) return as('json')
  if (UNKNOWN_TYPES.has(essence)) {
    if (looksJson(start)) return as('json')
    return start.startsWith('<?xml') ? unsupported() : as('text')
  }
  if (/[/+]xml$/.test(essence)) return unsupported()
  return isTextual(essence) ? as('text') : unsupported()
}

const unsupported = (): Kind => ({ ok: false, reason: 'type_unsupported', detail: TYPES_DETAIL })
const feed = (): Kind => ({ ok: false, reason: 'type_unsupported', detail: FEED_DETAIL })

/** A type under which text may come: an image that starts with `<p` is a lie nobody needs to read. */
const isOffered = (essence: string) =>
  UNKNOWN_TYPES.has(essence) || HTML_TYPES.has(essence) || isJson(essence) || isTextual(essence)
const isMarkupHolder = (essence: string) => isOffered(essence) || /[/+]xml$/.test(essence)
const isSixteenBits = (label: string | undefined) => label !== undefined && /^utf-?16/i.test(label)
const startsWith = (body: Uint8Array, bytes: readonly number[]) =>
  bytes.every((byte, at) => body[at] === byte)

/** White space, and a byte order mark before it. */
function isBlank(body: Uint8Array): boolean {
  for (const byte of body) if (!BLANK.has(byte)) return false
  return true
}
const BLANK = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x20, 0xef, 0xbb, 0xbf])

const MAGIC: readonly (readonly number[])[] = [
  [0x25, 0x50, 0x44, 0x46], // PDF
  [0x50, 0x4b, 0x03, 0x04], // ZIP and what is made of it
  [0x1f, 0x8b], // gzip that nobody declared
  [0x89, 0x50, 0x4e, 0x47],
  [0xff, 0xd8, 0xff],
  [0x47, 0x49, 0x46, 0x38],
  [0x00, 0x61, 0x73, 0x6d],
]

/** A NUL or more than a few control characters in the first kilobyte: no charset of a page has them. */
function looksBinary(body: Uint8Array): boolean {
  if (MAGIC.some((bytes) => startsWith(body, bytes))) return true
  const head = body.subarray(0, HEAD_BYTES)
  let controls = 0
  let nuls = 0
  for (const byte of head) {
    if (byte === 0) nuls++
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b)
      controls++
  }
  return nuls > 1 || controls > head.length * 0.02 + 1
}

/** First characters after spaces, comments and the XML declaration. */
function headOf(body: Uint8Array, isWide: boolean): string {
  const bytes = Buffer.from(body.subarray(0, HEAD_BYTES))
  // Every second byte of ASCII in sixteen bits is 0.
  const text = isWide ? bytes.toString('latin1').replaceAll('\0', '') : bytes.toString('latin1')
  const start = text.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').trimStart()
  const bare = start.replace(/<!--[^]*?(?:-->|$)/g, '').trimStart()
  const markup = bare.replace(/^<\?xml[^>]*>\s*/i, '').replace(/^<\?xml-stylesheet[^>]*>\s*/i, '')
  return HTML_START.test(markup) || FEED_START.test(markup) ? markup : bare
}

const looksJson = (start: string) =>
  /^[[{]\s*(?:["[{\]}\d-]|true|false|null)/.test(start) && JSON_START.test(start)
