// Rules for one label of an international domain, and for labels side by side, that UTS 46 mapping leaves open or that
// versions of Node differ in: RFC 5892 (which characters, in which company) and RFC 5893 (direction of writing).
import { faultOfCharacter, beginsWithMark } from './characters.ts'

export type LabelRule = 'label_hyphen' | 'hyphens_3_4' | 'combining_mark_first' | 'idna' | 'context'

// RFC 5892, 2.6: letters by their category, and exceptions in both directions.
const LABEL_CHARACTER =
  /^(?:\u200C|\u200D|[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{Nd}\u00B7\u0375\u05F3\u05F4\u06FD\u06FE\u0F0B\u3007\u30FB]|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})$/u
const NEVER = /[\u0640\u07FA\u302E\u302F\u3031-\u3035\u303B]/

/** @param unicode a label that had to be encoded, as it decodes */
export function findLabelFault(unicode: string): LabelRule | undefined {
  const characters = [...unicode]
  // RFC 5891, 4.2.3.1: the prefix of its other spelling hides a hyphen at the start, and its digits one at the end.
  if (characters[0] === '-' || characters.at(-1) === '-') return 'label_hyphen'
  if (characters[2] === '-' && characters[3] === '-') return 'hyphens_3_4'
  if (beginsWithMark(unicode)) return 'combining_mark_first'
  for (const [i, character] of characters.entries()) {
    if (NEVER.test(character)) return 'idna'
    if (character > '\u007F' && !LABEL_CHARACTER.test(character)) return 'idna'
    if (faultOfCharacter(characters, i, true)) return 'context'
    if (!isInContext(characters, i)) return 'context'
  }
  return undefined
}

/** CONTEXTO: RFC 5892, A.3 to A.9. */
function isInContext(characters: readonly string[], at: number): boolean {
  const before = characters[at - 1] ?? ''
  const after = characters[at + 1] ?? ''
  switch (characters[at]) {
    case '\u00B7':
      return before === 'l' && after === 'l'
    case '\u0375':
      return /^\p{Script=Greek}$/u.test(after)
    case '\u05F3':
    case '\u05F4':
      return /^\p{Script=Hebrew}$/u.test(before)
    case '\u30FB':
      return characters.some((one) => /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(one))
    default: {
      const character = characters[at] ?? ''
      if (character >= '\u0660' && character <= '\u0669')
        return !characters.some((one) => one >= '\u06F0' && one <= '\u06F9')
      return true
    }
  }
}

type Direction = 'L' | 'R' | 'AN' | 'EN' | 'NSM' | 'neutral'

// Bidi classes by block: JavaScript has no property for them. R stands for AL too.
const RIGHT_TO_LEFT = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u

function directionOf(character: string): Direction {
  if (/[0-9\u06F0-\u06F9]/.test(character)) return 'EN'
  if (/[\u0600-\u0605\u0660-\u0669\u066B\u066C\u06DD]/.test(character)) return 'AN'
  if (/\p{Mn}/u.test(character)) return 'NSM'
  if (RIGHT_TO_LEFT.test(character)) return 'R'
  return /[\p{L}\p{Mc}]/u.test(character) ? 'L' : 'neutral'
}

/**
 * RFC 5893, 2, for all labels as soon as one is written from right to left.
 * @returns index of the first label that breaks it
 */
export function findBidiFault(labels: readonly string[]): number | undefined {
  if (!labels.some((label) => RIGHT_TO_LEFT.test(label))) return undefined
  const directions = labels.map((label) => [...label].map(directionOf))
  // Digits of the Persian block alone run like European ones.
  if (!directions.some((label) => label.includes('R') || label.includes('AN'))) return undefined
  const at = directions.findIndex((label) => !isOneDirection(label))
  return at === -1 ? undefined : at
}

function isOneDirection(directions: readonly Direction[]): boolean {
  const has = (direction: Direction) => directions.includes(direction)
  const last = directions.findLast((direction) => direction !== 'NSM')
  if (directions[0] === 'L') return !has('R') && !has('AN') && (last === 'L' || last === 'EN')
  if (directions[0] !== 'R' || has('L') || (has('EN') && has('AN'))) return false
  return last === 'R' || last === 'EN' || last === 'AN'
}
