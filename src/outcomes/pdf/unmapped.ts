// Tells a text whose characters are numbers of glyphs: its font does not say what they show, and the library takes them for characters.

const SAMPLE_CHARACTERS = 20_000
/** Characters that no text has: controls, private use, unassigned. The space of such a font is one of them. */
const NEVER = /[\uFFFD]|\p{Co}|\p{Cn}|(?![\t\n\r])\p{Cc}/gu
const MAX_SHARE = 0.08
/** Letters of scripts that fill many rows of Unicode each. */
const LARGE_SCRIPTS = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Yi}]/u
/** Rows of 256 characters: a text in several languages has fewer than ten. */
const MAX_ROWS = 12
const MIN_LETTERS_A_ROW = 8

/** @param text as the file has it, before anything is cleaned */
export function isUnmapped(text: string): boolean {
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  const signs = sample.match(/\S/gu)?.length ?? 0
  if (signs === 0) return false
  if ((sample.match(NEVER)?.length ?? 0) > signs * MAX_SHARE) return true
  const rows = new Set<number>()
  let letters = 0
  for (const [letter] of sample.matchAll(/\p{L}/gu)) {
    letters++
    if (!LARGE_SCRIPTS.test(letter)) rows.add((letter.codePointAt(0) ?? 0) >> 8)
  }
  return rows.size > MAX_ROWS && letters < rows.size * MIN_LETTERS_A_ROW
}
