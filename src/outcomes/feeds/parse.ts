// Reads bytes as a feed, or says why they are none.
import { isJson, parseContentType } from '../../outbound/media-type.ts'
import { readHead, refreshStub } from '../extract/head.ts'
import { findPoor } from '../extract/poor/judge.ts'
import { refusePoor } from '../extract/poor/reasons.ts'
import type { Charset, PageInput, Reading } from '../reading.ts'
import { dropDoctype } from './doctype.ts'
import { mapJsonFeed } from './json-feed.ts'
import type { ParsedFeed } from './model.ts'
import { mapXmlFeed } from './xml-feed.ts'
import { parseXml } from './xml.ts'
import { decodeSource } from '../text/decode.ts'

export type FeedParsing =
  | { readonly ok: true; readonly feed: ParsedFeed; readonly charset: Charset }
  | (Reading<never> & { readonly ok: false })

const DETAILS = {
  empty: 'The source is empty. Send the address of an RSS, Atom or JSON feed.',
  binary: 'The source is not text. Send the address of an RSS, Atom or JSON feed.',
  feed_is_html:
    'The source is a web page. Send the address of its feed; pages usually name it in a link with rel="alternate".',
  not_a_feed: 'The source is no RSS, RDF, Atom or JSON feed. Send the address of one.',
  invalid_json: 'The source says it is JSON, but it is not valid JSON.',
  invalid_xml: 'The source starts as XML, but no feed can be read out of it.',
} as const

const refuse = (reason: keyof typeof DETAILS, detail: string = DETAILS[reason]) =>
  ({ ok: false, reason, detail }) as const

/** Decodes the bytes and maps the feed that they hold, or says why they hold none. */
export function parseFeed(input: PageInput): FeedParsing {
  const { body, isCut } = input
  if (body.length === 0) return refuse('empty')
  const { essence, charset: label } = parseContentType(input.contentType ?? undefined)
  const wide = guessWide(body)
  if (wide === undefined && isBinary(body)) return refuse('binary')
  const decoded = decodeSource(body, wide ?? label, { isCut, markup: 'xml' })
  const { text } = decoded
  const charset: Charset =
    wide !== undefined && decoded.charset.from === 'header'
      ? { ...decoded.charset, from: 'content' }
      : decoded.charset
  const trimmed = text.trimStart()
  if (trimmed.trimEnd() === '') return refuse('empty')
  const parsing =
    trimmed.startsWith('{') || (isJson(essence) && !trimmed.startsWith('<'))
      ? readJson(trimmed, charset, input)
      : readXml(text, charset, input)
  if (!parsing.ok || parsing.feed.language !== null) return parsing
  return { ...parsing, feed: { ...parsing.feed, language: languageOf(input.contentLanguage) } }
}

/** The language that the answer says it is in; several say nothing of the feed. */
const languageOf = (header: string | null): string | null =>
  header !== null && /^\s*[a-z]{2,8}(?:-[a-z\d]{1,8}){0,4}\s*$/i.test(header) ? header.trim() : null

/** A page that names its feed, or that sends its readers on, leads there. */
function refuseHtml(text: string, url: string): FeedParsing {
  const { refreshUrl, feedUrl } = readHead(text, url)
  if (refreshUrl) return refreshStub(refreshUrl)
  const poor = feedUrl ? undefined : findPoor(text, { url })
  if (poor) return refusePoor(poor)
  return { ...refuse('feed_is_html'), ...(feedUrl && { lead: { kind: 'feed_link', url: feedUrl } }) }
}

function readJson(text: string, charset: Charset, input: PageInput): FeedParsing {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    if (!input.isCut) return refuse('invalid_json')
    return refuse('invalid_json', 'The source is JSON, but longer than the 2 MiB that are read of it.')
  }
  const feed = mapJsonFeed(value, input.url)
  return feed ? { ok: true, feed, charset } : refuse('not_a_feed')
}

function readXml(text: string, charset: Charset, input: PageInput): FeedParsing {
  const { text: document, entities, isExternal } = dropDoctype(text)
  const tree = parseXml(document, input.url)
  const mapped = mapXmlFeed(tree, input.isCut)
  if (!mapped.ok) {
    if (mapped.reason === 'feed_is_html' || /^\s*<!doctype\s+html\b/i.test(text))
      return refuseHtml(text, input.url)
    const isBroken = tree.issues.size > 0 || tree.roots.length === 0
    return refuse(isBroken && /^\s*<\?xml\s/.test(text) ? 'invalid_xml' : mapped.reason)
  }
  const issues = [
    ...mapped.feed.issues,
    ...(entities > 0 ? ['entity_declarations_ignored'] : []),
    ...(isExternal ? ['external_entities_ignored'] : []),
    ...(charset.replaced > 0 ? ['characters_replaced'] : []),
  ]
  return { ok: true, feed: { ...mapped.feed, issues }, charset }
}

/** UTF-16 without a byte order mark, as XML lets it be told from its first character (XML 1.0, appendix F). */
function guessWide(body: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [a, b, c, d] = body
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0 && d === 0)) return 'utf-16le'
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c && c === 0)) return 'utf-16be'
  return undefined
}

const SNIFFED_BYTES = 1024

/** Control characters that no text has (WHATWG MIME Sniffing, "binary data byte"). */
function isBinary(body: Uint8Array): boolean {
  if (body[0] === 0x1f && body[1] === 0x8b) return true
  if (body[0] === 0x25 && body[1] === 0x50 && body[2] === 0x44 && body[3] === 0x46) return true
  return body
    .subarray(0, SNIFFED_BYTES)
    .some((byte) => byte < 9 || byte === 11 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32))
}
