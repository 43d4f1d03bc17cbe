// Writes raised and lowered signs in a line, so that ten to the sixth does not read as a hundred and six: `10^6`, `H_2O`,
// `x^(n+1)`. Marks of notes become `[1]`; ordinals and trade marks stay as they are.

export interface ScriptPlace {
  /** The characters beside it; a space at an end. */
  readonly before: string
  readonly after: string
  /** The link that it is or stands in. */
  readonly href: string | undefined
}

/** More than this is small print and no sign. */
const MAX_SIGN_CHARACTERS = 24
const ORDINAL = /^(?:st|nd|rd|th|er|ers|re|ère|e|è|eme|ème|d|de|o|a|os|as|ste)\.?$/i
const TRADE_MARK = /^(?:TM|SM|MC|MD)$/i
const NOTE_MARK = /^[\p{L}\p{N}*†‡§,–-]{1,8}$/u
const SIMPLE = /^[+\-−–]?(?:\p{L}+|[\p{N}.,]+)[+\-−]?$/u

/** @param kind raised or lowered */
export function writeScript(text: string, kind: 'sup' | 'sub', { before, after, href }: ScriptPlace): string {
  const sign = text.trim()
  if (sign === '' || sign.length > MAX_SIGN_CHARACTERS || sign.includes('\n')) return text
  // Brackets, stars and daggers say themselves what they are.
  if (!/[\p{L}\p{N}]/u.test(sign) || /^[[(].*[\])]$/.test(sign)) return text
  const around = (inner: string) => text.replace(sign, () => inner)
  if (kind === 'sup') {
    if (href?.includes('#') === true && NOTE_MARK.test(sign)) return around(`[${sign}]`)
    if (TRADE_MARK.test(sign) || (ORDINAL.test(sign) && /[\p{L}\p{N}.]/u.test(before))) return text
  }
  const standsAlone = (isSpace(before) || isSpace(text[0])) && (isSpace(after) || isSpace(text.at(-1)))
  if (standsAlone) return text
  const isClear = SIMPLE.test(sign) && !(runsOn(sign, after) && !isSpace(text.at(-1)))
  return around(`${kind === 'sup' ? '^' : '_'}${isClear ? sign : `(${sign})`}`)
}

const isSpace = (character: string | undefined) => character === undefined || /\s/.test(character)

/** Whether what follows would be read as a part of the sign. */
const runsOn = (sign: string, after: string) =>
  /\p{N}$/u.test(sign) ? /[\p{N}]/u.test(after) : /\p{L}$/u.test(sign) && /[\p{L}\p{N}]/u.test(after)
