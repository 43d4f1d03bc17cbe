// Escapes the text of a page for Markdown: what would become markup, a link or HTML, and nothing else.

/** The engine keeps a note of forty bytes about every match until all are replaced: two million of them are a page's memory. */
const ESCAPED_AT_ONCE = 32 * 1024

/**
 * A character at the end of a piece is taken for the worst: nobody knows what stands behind it.
 * A backslash before punctuation, stars and lines that could open or close emphasis, brackets that could end in an address, tags, entities, and
 * what would turn a link behind it into an image.
 */
const MARKUP =
  /\\(?=[!-/:-@[-`{-~]|$)|`|(?<!\s)\*|\*(?!\s)|(?<![\p{L}\p{N}_])_|_(?![\p{L}\p{N}_])|\](?=[([:]|$)|<(?=[a-z/!?]|$)|&(?=#?\w{1,32};|$)|~(?!\d)|!$/giu
/** Most texts have no sign of any of this, and cost one plain look. */
const ANY_MARKUP = /[\\`*_\]<&~!]/
/** Inside the words of a link or of an image a bracket would end them. */
const IN_LABEL = /[\\[\]`*_<&~]/g
const DOLLAR = /\$/g

function replaceInPieces(text: string, pattern: RegExp): string {
  let escaped = ''
  for (let at = 0; at < text.length; at += ESCAPED_AT_ONCE)
    escaped += text.slice(at, at + ESCAPED_AT_ONCE).replace(pattern, '\\$&')
  return escaped
}

/**
 * @param options.after the character behind it, where that is known: the end of its line, or more text
 * @param options.hasFormulas a dollar beside formulas would open or close one
 */
export function escapeText(
  text: string,
  { after, hasFormulas = false }: { after?: string | undefined; hasFormulas?: boolean } = {},
): string {
  if (!ANY_MARKUP.test(text)) return hasFormulas ? replaceInPieces(text, DOLLAR) : text
  const escaped =
    after === undefined || !/[\n\p{L}\p{N} .,;]/u.test(after)
      ? replaceInPieces(text, MARKUP)
      : replaceInPieces(text + after, MARKUP).slice(0, -1)
  return hasFormulas ? replaceInPieces(escaped, DOLLAR) : escaped
}

export const escapeLabel = (text: string): string => replaceInPieces(text, IN_LABEL).replaceAll('\n', ' ')

/** What at the start of a line would make a heading, a list, a quote, a rule, the line under a heading or under the head of a table. */
const LINE_START =
  /^(\s{0,3})(#{1,6}(?=\s|$)|[+*-](?=\s|$)|>|[=-](?=[-=|:\s]*$)|\|(?=[-|:\s]*$)|:(?=-[-|:\s]*$)|\[(?=[ x]\]\s)|\d{1,9}(?=[.)](?:\s|$)))/gim

/** What such a line begins with. */
const ANY_LINE_START = /(?:^|[\n\r\u2028\u2029])\s{0,3}[#+*>=|:[\d-]/

export const escapeLineStarts = (text: string): string =>
  !ANY_LINE_START.test(text)
    ? text
    : text.replace(LINE_START, (_, space: string, mark: string) =>
        /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`,
      )
