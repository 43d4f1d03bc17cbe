// Decides what a hyphen at the end of a line is: a mark of the break, or a part of the word.

const BROKEN = /(\p{Ll}+)[-\u2010]$/u
const GOES_ON = /^\p{Ll}+/u
const WORD = /\p{L}+(?:[-\u2010]\p{L}+)*/gu

/** No part of a word is longer; a pattern that looks for the start of one must not run over a whole page. */
const MAX_PART = 60

export type Joiner = (before: string, after: string) => string

/**
 * The document itself tells: a word that it writes whole somewhere is whole, one that it writes with a hyphen within a line keeps
 * it. A word that stands nowhere else is taken for broken, as most are. A hyphen before a capital or a digit stays as written.
 * @param lines of the whole document
 */
export function createJoiner(lines: readonly string[]): Joiner {
  const known = new Set<string>()
  for (const line of lines) for (const [word] of line.matchAll(WORD)) known.add(word.toLowerCase())
  return (before, after) => {
    if (before.endsWith('\u00AD')) return before.slice(0, -1) + after
    const tail = before.slice(-MAX_PART)
    const start = BROKEN.exec(tail)?.[1]
    const end = GOES_ON.exec(after.slice(0, MAX_PART))?.[0]
    if (start === undefined || end === undefined) {
      const isOneWord = /[^\s-][-\u2010]$/u.test(tail)
      return isOneWord || (isIdeographic(tail.at(-1)) && isIdeographic(after.at(0)))
        ? before + after
        : `${before} ${after}`
    }
    const keeps = known.has(`${start}-${end}`) && !known.has(start + end)
    return (keeps ? before : before.slice(0, -1)) + after
  }
}

/** Scripts that put no space between words. */
const isIdeographic = (char: string | undefined) =>
  char !== undefined &&
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303F\uFF00-\uFFEF]/u.test(char)
