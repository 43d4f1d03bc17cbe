// Normalised text: what a digest is taken over. Changing a rule here changes digests, so the version goes with them.
import { toUSVString } from 'node:util'

/** Goes into every answer's verification: same version, same source, same text. */
export const NORMALISER = 'agw-text/2026-11-23'

// Invisible, and without meaning in running text: joiners of words, fillers, selectors of variants, annotations.
const ZERO_WIDTH =
  // oxlint-disable-next-line no-misleading-character-class -- each of them stands for itself
  /[\u034F\u115F\u1160\u17B4\u17B5\u180E\u200B\u2060-\u2065\u206A-\u206F\uFE00-\uFE0D\uFEFF\uFFF0-\uFFFB]|[\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}]/gu
const BIDI_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g
/** Marks beside punctuation in every other Arabic or Hebrew page: removed like the controls, and no cause for a warning. */
const BIDI_MARKS = /[\u061C\u200E\u200F]/g
// Copies of ASCII that no font shows, and the supplementary variation selectors: both carry smuggled text.
const TAG_CHARACTERS = /[\u{E0000}-\u{E0FFF}]/gu
/**
 * ZWJ, ZWNJ and the two selectors of emoji stay, which Persian, Indic and emoji need: two of them, never a message in them.
 */
const JOINERS = /(?:\u200C|\u200D|\uFE0E|\uFE0F){3,}/g
/** These are as wide as a letter, and blank. */
const BLANK_LETTERS = /[\u3164\uFFA0]/g
// oxlint-disable-next-line no-control-regex -- removing control characters is the point
const CONTROLS = /[\u0000-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F\u00AD]/g

/** @param pattern with the flag `g` */
export const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** The counted characters by code units: U+DB40 to U+DB43 start every tag character and little else. */
const ANY_INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- each of them stands for itself
  /[\u034F\u115F\u1160\u17B4\u17B5\u180E\u200B\u202A-\u202E\u2060-\u206F\uDB40-\uDB43\uFE00-\uFE0D\uFEFF\uFFF0-\uFFFB]/g

export interface Invisible {
  zeroWidth: number
  bidi: number
  tags: number
}

/** How many characters of each kind nobody sees. */
export function countInvisible(text: string): Invisible {
  const found: Invisible = { zeroWidth: 0, bidi: 0, tags: 0 }
  for (ANY_INVISIBLE.lastIndex = 0; ANY_INVISIBLE.test(text);) {
    const code = text.codePointAt(ANY_INVISIBLE.lastIndex - 1) ?? 0
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) found.bidi++
    else if (code < 0x10000) found.zeroWidth += code >= 0xdb40 && code <= 0xdb43 ? 0 : 1
    else if (code <= 0xe0fff) found.tags++
  }
  return found
}

// Nothing below changes any of these: most text of most pages is left as it is after one look.
const ORDINARY = /^[\t\n\u0020-\u007E\u00A0-\u00AC\u00AE-\u02FF\u2010-\u2027\u2030-\u205E\u20A0-\u20BF]*$/

/** Anything that the rules below take away or replace; most text that is not ordinary is only in another script. */
const CHANGED =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- see above
  /[\u0000-\u0008\u000E-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uD82F\uD834\uDB40-\uDB43\uFE00-\uFE0D\uFEFF\uFFA0\uFFF0-\uFFFB]|(?:\u200C|\u200D|\uFE0E|\uFE0F){3}/

/** Scripts put no more marks on a letter than the standard's Stream-Safe Text Format allows; sorting them is quadratic. */
const PILED_MARKS = /(\p{M}{30})\p{M}+/gu
/** Where marks are piled up, so many units of text stand behind each other that Latin never needs: a cheap look. */
const MANY_BEYOND_LATIN = /[\u0300-\uFFFF]{31}/

const unpile = (text: string): string =>
  MANY_BEYOND_LATIN.test(text) ? text.replace(PILED_MARKS, '$1') : text

/** Lone surrogates replaced, invisible and control characters removed, NFC, line ends as \n, at most 30 marks a letter. */
export function cleanText(source: string): string {
  const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source
  if (ORDINARY.test(text)) return text
  const whole = unpile(toUSVString(text))
  if (!CHANGED.test(whole)) return whole.normalize('NFC')
  const visible = whole
    .replace(/[\u0085\u2028\u2029]/g, '\n')
    .replace(ZERO_WIDTH, '')
    .replace(BIDI_CONTROLS, '')
    .replace(BIDI_MARKS, '')
    .replace(BLANK_LETTERS, ' ')
    .replace(TAG_CHARACTERS, '')
    .replace(CONTROLS, '')
    .replace(JOINERS, '')
  // Marks that stood apart until here may be piled up now.
  return unpile(visible).normalize('NFC')
}

/** Most spaces between words are one space already, and cost nothing this way. */
export const MORE_THAN_A_SPACE = /\s{2,}|[^\S ]/g

/** One line: every run of white space is one space. */
export const collapseSpaces = (text: string): string => text.replace(MORE_THAN_A_SPACE, ' ').trim()

/** Scripts without spaces between words are counted by character, everything else by runs of letters and digits. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}])+(?:['’.,-](?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}])+)*/gu

/** The characters that Latin text is made of: 1 in a word, 2 between two parts of one, 0 between words. */
const LATIN = Uint8Array.from({ length: 0x250 }, (_, code) => {
  const char = String.fromCharCode(code)
  return /[\p{L}\p{N}\p{M}]/u.test(char) ? 1 : /['.,-]/.test(char) ? 2 : 0
})

/** Words of a text in any script: ideographs one by one, everything else by runs of letters and digits. */
export function countWords(text: string): number {
  let words = 0
  // The kind of the last character, as above.
  let before = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    let kind: number
    if (code < 0x250) kind = LATIN[code] ?? 0
    else if (code >= 0x2010 && code <= 0x205f) kind = code === 0x2019 ? 2 : 0
    // Any other script: by the rule itself, from the start.
    else return countMatches(text, WORD)
    if (kind === 1) {
      if (before === 0) words++
      before = 1
    } else before = kind === 2 && before === 1 ? 2 : 0
  }
  return words
}

/** Unicode characters, as JSON Schema's maxLength counts them. */
export function countCharacters(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++) {
    const isPair = isLowSurrogate(text.charCodeAt(i)) && isHighSurrogate(text.charCodeAt(i - 1))
    if (isPair) count--
  }
  return count
}

/** Cuts to at most `max` UTF-16 units, never through a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  return text.slice(0, isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max)
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff
