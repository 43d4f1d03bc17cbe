// Normalised text: what a digest is taken over. Changing a rule here changes digests, so the version goes with them.
import { toUSVString } from 'node:util'

/** Goes into every answer's verification: same version, same source, same text. */
export const NORMALISER = 'agw-text/1'

// Invisible in every script and without meaning in running text. ZWJ and ZWNJ stay: emoji, Persian and Indic need them.
const ZERO_WIDTH = /[\u200B\u2060-\u2064\u206A-\u206F\u180E\uFEFF]/g
const BIDI_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g
// Copies of ASCII that no font shows, and the supplementary variation selectors: both carry smuggled text.
const TAG_CHARACTERS = /[\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]/gu
// oxlint-disable-next-line no-control-regex -- removing control characters is the point
const CONTROLS = /[\u0000-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F\u00AD]/g

export const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Any of the three in one look, by code units: U+DB40 starts every tag character and little else. */
const ANY_INVISIBLE = /[\u180E\u200B\u202A-\u202E\u2060-\u2064\u2066-\u206F\uDB40\uFEFF]/

export const hasInvisible = (text: string): boolean => ANY_INVISIBLE.test(text)

export const invisible = { ZERO_WIDTH, BIDI_CONTROLS, TAG_CHARACTERS } as const

// Nothing below changes any of these: most text of most pages is left as it is after one look.
const ORDINARY = /^[\t\n\u0020-\u007E\u00A0-\u00AC\u00AE-\u02FF\u2010-\u2027\u2030-\u205E\u20A0-\u20BF]*$/

/** Lone surrogates replaced, invisible and control characters removed, NFC, line ends as \n. */
export function cleanText(text: string): string {
  if (ORDINARY.test(text)) return text
  return toUSVString(text)
    .replace(/\r\n?|\u0085|\u2028|\u2029/g, '\n')
    .replace(ZERO_WIDTH, '')
    .replace(BIDI_CONTROLS, '')
    .replace(TAG_CHARACTERS, '')
    .replace(CONTROLS, '')
    .normalize('NFC')
}

/** One line: every run of white space is one space. */
export const collapseSpaces = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Scripts without spaces between words are counted by character, everything else by runs of letters and digits. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}])+(?:['’.,-](?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}])+)*/gu

export const countWords = (text: string): number => countMatches(text, WORD)

/** Unicode characters, as JSON Schema's maxLength counts them. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** At most `max` UTF-16 units, never half a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  const code = text.charCodeAt(max - 1)
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? max - 1 : max)
}
