// Text of strangers, made safe to read: characters that are not seen, or that move what is seen, are written out.

/**
 * Matches control characters, direction marks, invisible and unassigned characters, odd spaces; and the bracket that the escapes
 * are written with, so that none can be forged.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u27e8\u27e9]|(?! )\p{Zs}/gu

/**
 * Matches what is seen, but not as what it is: blanks to the edge of a window, so that what follows stands where lines begin; and
 * marks on a letter that reach into the lines around it.
 */
const SPREADING = /([ \t]{16,}|(?<=\p{M}{4})\p{M}+)/u

/** `a\u202eb` -> `a⟨U+202E⟩b`. Line ends are written out too. */
export const sanitiseText = (text: string): string => spellOut(text, HIDDEN)

const spellOut = (text: string, hidden: RegExp) =>
  text
    .split(SPREADING)
    .map((part, index) => (index % 2 === 0 ? part.replaceAll(hidden, name) : nameRuns(part)))
    .join('')

/** A body may hold a hundred thousand of them and nothing else, so those of the first plane are spelled once. */
const names = new Map<string, string>()

function name(char: string): string {
  const known = names.get(char)
  if (known !== undefined) return known
  const code = char.codePointAt(0) ?? 0
  const spelled = `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  if (char.length === 1) names.set(char, spelled)
  return spelled
}

const nameRuns = (run: string) =>
  run.replaceAll(/(.)\1*/gu, (same, char: string) => {
    const count = same.length / char.length
    return count === 1 ? name(char) : name(char).replace('⟩', ` ×${count}⟩`)
  })

const HIDDEN_BUT_TABS = new RegExp(`(?!\\t)(?:${HIDDEN.source})`, 'gu')

/** Each line behind a mark, so that no line of it passes for one of its surroundings. A tab is left as it is. */
export function sanitiseLines(text: string, mark: string): string {
  return text
    .split('\n')
    .map((line) => `${mark}${spellOut(line, HIDDEN_BUT_TABS)}`)
    .join('\n')
}
