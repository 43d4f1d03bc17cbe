// Splits HTML into tags, text and comments, as the tokenizer of htmlparser2 does (a test compares the two): it looks for the next sign
// instead of at every character, which halves the time of a page. What opens and closes what is left to `events.ts`.
import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'

/** Places are offsets in the source. */
export interface TokenHandlers {
  /** The name of an opening tag, before its attributes. */
  onOpenName(name: string): void
  /** @param valueStart equal to `valueEnd` where there is no value */
  onAttribute(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void
  onOpenEnd(hasSlash: boolean): void
  onClose(name: string): void
  /** Never empty; what stands between two tags comes at once, unless a comment stands between. */
  onText(text: string): void
  onComment(text: string): void
  /** Inside SVG or MathML no element holds raw text. */
  isForeign(): boolean
}

const [TAB, LF, FF, CR, SPACE] = [0x09, 0x0a, 0x0c, 0x0d, 0x20]
const [BANG, DOUBLE_QUOTE, SINGLE_QUOTE, SLASH, EQUALS, GT, QUESTION] = [
  0x21, 0x22, 0x27, 0x2f, 0x3d, 0x3e, 0x3f,
]

const isSpace = (code: number) => code === SPACE || code === LF || code === TAB || code === CR || code === FF
const isLetter = (code: number) => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
const endsName = (code: number) => code === GT || code === SLASH || isSpace(code)

/** Elements whose inside is text up to their own end tag. */
const RAW_TEXT = new Set('script style iframe noembed noframes xmp title textarea'.split(' '))
/** Those in whose text references are characters. */
const DECODED = new Set(['title', 'textarea'])
const MAX_NAMES = 1000

/** The value of an attribute, of which references are characters. */
export const attributeValue = (html: string, start: number, end: number): string => {
  const written = html.slice(start, end)
  return written.includes('&') ? decodeHTMLAttribute(written) : written
}

/** Calls the handlers in the order of the source. A tag that the source ends in is none. */
export function readTokens(html: string, handlers: TokenHandlers): void {
  const { length } = html
  // The same few names over and over: one string of each, which is compared by its address.
  const names = new Map<string, string>()

  let textStart = 0
  for (let at = 0; at < length;) {
    const sign = html.indexOf('<', at)
    if (sign < 0) break
    const code = html.charCodeAt(sign + 1)
    if (!isLetter(code) && code !== SLASH && code !== BANG && code !== QUESTION) {
      at = sign + 1
      continue
    }
    if (code === SLASH && sign + 2 >= length) break
    emitText(textStart, sign, true)
    if (isLetter(code)) at = readOpening(sign + 1)
    else if (code === SLASH) at = readClosing(sign + 2)
    else if (code === BANG) at = readDeclaration(sign + 2)
    else at = readBogusComment(sign + 1)
    textStart = at
  }
  emitText(textStart, length, true)

  function emitText(start: number, end: number, isDecoded: boolean): void {
    if (start >= end) return
    const written = html.slice(start, end)
    handlers.onText(isDecoded && written.includes('&') ? decodeHTML(written) : written)
  }

  /** The place behind a name. */
  function skipName(start: number): number {
    let at = start
    while (at < length && !endsName(html.charCodeAt(at))) at++
    return at
  }

  function nameAt(start: number, end: number): string {
    const written = html.slice(start, end)
    const known = names.get(written)
    if (known !== undefined) return known
    const name = written.toLowerCase()
    if (names.size < MAX_NAMES) names.set(written, name)
    return name
  }

  function readOpening(start: number): number {
    const nameEnd = skipName(start)
    if (nameEnd >= length) return length
    const name = nameAt(start, nameEnd)
    const isHtml = !handlers.isForeign()
    handlers.onOpenName(name)
    let hasSlash = false
    for (let at = nameEnd; at < length;) {
      const code = html.charCodeAt(at)
      if (code === GT) {
        handlers.onOpenEnd(hasSlash)
        if (isHtml && RAW_TEXT.has(name)) return readRawText(name, at + 1)
        if (!isHtml || name !== 'plaintext') return at + 1
        emitText(at + 1, length, false)
        return length
      }
      if (code === SLASH) hasSlash = true
      else if (!isSpace(code)) {
        hasSlash = false
        at = readAttribute(at)
        continue
      }
      at++
    }
    return length
  }

  /** The place behind an attribute; the end of the source where that comes first. */
  function readAttribute(nameStart: number): number {
    // A name may begin with anything, even the sign that ends it.
    let at = nameStart + 1
    for (; at < length; at++) {
      const code = html.charCodeAt(at)
      if (code === EQUALS || endsName(code)) break
    }
    const nameEnd = at
    while (at < length && isSpace(html.charCodeAt(at))) at++
    if (at >= length) return length
    if (html.charCodeAt(at) !== EQUALS) {
      handlers.onAttribute(nameStart, nameEnd, nameEnd, nameEnd)
      return at
    }
    at++
    while (at < length && isSpace(html.charCodeAt(at))) at++
    const quote = html.charCodeAt(at)
    if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
      const end = html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", at + 1)
      if (end < 0) return length
      handlers.onAttribute(nameStart, nameEnd, at + 1, end)
      return end + 1
    }
    const valueStart = at
    for (; at < length; at++) {
      const code = html.charCodeAt(at)
      if (code === GT || isSpace(code)) break
    }
    if (at < length) handlers.onAttribute(nameStart, nameEnd, valueStart, at)
    return at
  }

  /** The place of the end tag of the same name; without one all the rest is text. */
  function readRawText(name: string, start: number): number {
    let end = html.indexOf('</', start)
    for (; end >= 0; end = html.indexOf('</', end + 2)) {
      const behind = end + 2 + name.length
      if (behind < length && endsName(html.charCodeAt(behind)) && nameAt(end + 2, behind) === name) break
    }
    emitText(start, end < 0 ? length : end, DECODED.has(name))
    return end < 0 ? length : end
  }

  function readClosing(start: number): number {
    const code = html.charCodeAt(start)
    if (code === GT) return start + 1
    if (!isLetter(code)) return readBogusComment(start)
    const nameEnd = skipName(start)
    if (nameEnd >= length) return length
    handlers.onClose(nameAt(start, nameEnd))
    const end = html.indexOf('>', nameEnd)
    return end < 0 ? length : end + 1
  }

  /** @param start behind `<!` */
  function readDeclaration(start: number): number {
    if (html.startsWith('--', start)) return readComment(start + 2)
    if (html.startsWith('[CDATA[', start)) return readCommentUntil(']]>', start + '[CDATA['.length)
    if (!/^doctype/i.test(html.slice(start, start + 7))) return readBogusComment(start)
    const end = html.indexOf('>', start)
    return end < 0 ? length : end + 1
  }

  function readComment(start: number): number {
    // HTML Standard, "comment start state": an empty comment may end too early.
    for (const end of ['>', '->'])
      if (html.startsWith(end, start)) {
        handlers.onComment('')
        return start + end.length
      }
    for (let dashes = html.indexOf('--', start); dashes >= 0; dashes = html.indexOf('--', dashes + 1))
      for (const end of ['>', '!>'])
        if (html.startsWith(end, dashes + 2)) {
          handlers.onComment(html.slice(start, dashes))
          return dashes + 2 + end.length
        }
    handlers.onComment(html.slice(start))
    return length
  }

  function readBogusComment(start: number): number {
    return readCommentUntil('>', start)
  }

  function readCommentUntil(sign: string, start: number): number {
    const end = html.indexOf(sign, start)
    handlers.onComment(html.slice(start, end < 0 ? length : end))
    return end < 0 ? length : end + sign.length
  }
}
