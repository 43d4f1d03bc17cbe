// A sentence as comparable words: case, accents, Arabic diacritics and letter variants, digits and drawn-out letters fold
// together. Every word keeps its place in the text, so that what a caller said can be cut out as it was said.

export interface Token {
  /** Folded; `URL_MARK` where a URL stood. */
  readonly word: string
  /** The position in the text that was split. */
  readonly start: number
  readonly end: number
  /** A comma, full stop or line end stands before it. */
  readonly afterBreak: boolean
}

/** Stands for a URL that was taken out of the text. */
export const URL_MARK = '\uFFFC'

const PIECES =
  /[\p{L}\p{M}\p{N}'\u2019]+|[.,;:!?()\u061F\u060C\u061B\n\u3002\u2014|]|[+&\u2192](?=\s)|\uFFFC/gu
const IN_NUMBER = /^\p{N}[.,:]\p{N}/u
const MAX_WORD_CHARACTERS = 60

/** The words of a text in their folded form, each with its place. */
export function splitWords(text: string): Token[] {
  const tokens: Token[] = []
  let afterBreak = true
  for (const match of text.matchAll(PIECES)) {
    const [piece] = match
    const isUrl = piece === URL_MARK
    if (!isUrl && !/[\p{L}\p{N}]/u.test(piece)) {
      // An apostrophe alone separates nothing, nor does the point of "version 2.4".
      if (IN_NUMBER.test(text.slice(Math.max(match.index - 1, 0), match.index + 2))) continue
      if (!/^['\u2019\p{M}]+$/u.test(piece)) afterBreak = true
      continue
    }
    const word = isUrl ? URL_MARK : piece.length > MAX_WORD_CHARACTERS ? '' : foldWord(piece)
    if (word !== '') tokens.push({ word, start: match.index, end: match.index + piece.length, afterBreak })
    afterBreak = false
  }
  return tokens
}

const LETTERS: Readonly<Record<string, string>> = {
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ې: 'ي',
  ک: 'ك',
  ة: 'ه',
  ہ: 'ه',
  ە: 'ه',
  ھ: 'ه',
}

/** Hamza carriers lose their hamza with the other marks: the decomposed form has it as one. */
export function foldWord(word: string): string {
  return word
    .normalize('NFKD')
    .replace(/[\p{M}\u0640'\u2019]/gu, '')
    .toLowerCase()
    .replace(/[ٱىیېکةہەھ]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replace(/(\p{L})\1{2,}/gu, '$1')
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** Names of several words, folded the same way, with single spaces. */
export const foldPhrase = (text: string) =>
  splitWords(text)
    .map(({ word }) => word)
    .join(' ')

const ARABIC = /^[\u0621-\u064A]+$/
const AR_PREFIXES = [
  'وبال', 'بهال', 'عهال', 'لهال', 'ولل', 'وال', 'بال', 'كال', 'فال', 'هال', 'عال', 'لل', 'ال', 'و', 'ف', 'ب', 'ل', 'ك',
] // prettier-ignore
const AR_SUFFIXES = [
  'هالي', 'يات', 'لنا', 'لي', 'ها', 'هم', 'كم', 'نا', 'ني', 'ان', 'ات', 'ون', 'ين', 'يه', 'ه', 'ي', 'ك', 'ت', 'ا',
] // prettier-ignore
const MIN_STEM = 3

/** The word itself, then what is left of it without the endings (and Arabic prefixes) that grammar puts on. */
export function stemsOf(word: string): string[] {
  return ARABIC.test(word) ? arabicStems(word) : englishStems(word)
}

function arabicStems(word: string): string[] {
  const bare = [
    word,
    ...AR_PREFIXES.filter((prefix) => word.startsWith(prefix)).map((prefix) => word.slice(prefix.length)),
  ].filter((stem) => stem.length >= MIN_STEM || stem === word)
  const shorter = bare.flatMap((stem) =>
    AR_SUFFIXES.filter((suffix) => stem.endsWith(suffix) && stem.length - suffix.length >= MIN_STEM).flatMap(
      (suffix) => {
        const root = stem.slice(0, -suffix.length)
        // صفحتها is صفحة with a pronoun.
        return root.endsWith('ت') ? [root, `${root.slice(0, -1)}ه`] : [root]
      },
    ),
  )
  return [...new Set([...bare, ...shorter])]
}

function englishStems(word: string): string[] {
  const stems = [word]
  const cut = (ending: string, ...instead: string[]) => {
    if (!word.endsWith(ending) || word.length - ending.length < MIN_STEM) return
    const root = word.slice(0, -ending.length)
    for (const tail of instead) stems.push(root + tail)
    // shopping, scrapped
    if (ending !== 's' && root.at(-1) === root.at(-2)) stems.push(root.slice(0, -1))
  }
  cut('ies', 'y')
  cut('es', '', 'e')
  cut('s', '')
  cut('ing', '', 'e')
  cut('ed', '', 'e')
  return stems
}
