// Decides whether a single character may stand in an address that is typed, shown and compared. RFC 6531 lets any UTF-8 into
// a local part; what nobody can see, type or tell from a control is named all the same. A domain may not have it, a local
// part is looked at by a person. Spelling of parts and labels is decided elsewhere.

export type CharacterRule =
  | 'control_character'
  | 'whitespace'
  | 'bidi_character'
  | 'invisible_character'
  | 'surrogate'
  | 'private_use_character'
  | 'unassigned_character'

const RULES: readonly (readonly [RegExp, CharacterRule])[] = [
  [/^\p{Cc}$/u, 'control_character'],
  [/^\p{Z}$/u, 'whitespace'],
  [/^\p{Bidi_Control}$/u, 'bidi_character'],
  [/^\p{Cs}$/u, 'surrogate'],
  [/^\p{Co}$/u, 'private_use_character'],
  [/^\p{Cn}$/u, 'unassigned_character'],
  // Soft hyphen, zero-width space, word joiner, byte order mark, tags; and what is drawn as nothing: letters, a cell of
  // Braille, the head of a note.
  [/^[\p{Cf}\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0\u{1D159}]$/u, 'invisible_character'],
]

const JOINER = /^[\u200C\u200D]$/
/** A pictograph, possibly with its presentation or skin tone. */
const PICTURE = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]$/u
/** Says which form of the character before it is meant, and is drawn as nothing behind any other. */
const SELECTOR = /^(?:[\u180B-\u180D\u180F]|[\uFE00-\uFE0F]|[\u{E0100}-\u{E01EF}])$/u
/** Unicode's StandardizedVariants, emoji-variation-sequences and IVD, by what their characters have in common. */
const SELECTABLE: readonly (readonly [selector: RegExp, before: RegExp])[] = [
  [/^[\u180B-\u180F]$/, /^\p{Script=Mongolian}$/u],
  [/^[\uFE0E\uFE0F]$/, /^[\p{Extended_Pictographic}\p{S}]$/u],
  [/./u, /^[\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{S}]$/u],
]
const KEYCAP = '\u20E3'
/** Scripts whose letters join: a non-joiner between two of them changes how they are drawn (RFC 5892, A.1). */
const JOINING =
  /^[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Mandaic}\p{Script=Adlam}]$/u
/** Canonical combining class 9, which JavaScript has no property for (Unicode 16, DerivedCombiningClass). */
const VIRAMAS = new Set(
  (
    '94D 9CD A4D ACD B4D BCD C4D CCD D3B D3C D4D DCA E3A EBA F84 1039 103A 1714 1715 1734 17D2 1A60 1B44 1BAA ' +
    '1BAB 1BF2 1BF3 2D7F A806 A82C A8C4 A953 A9C0 AAF6 ABED 10A3F 11046 11070 1107F 110B9 11133 11134 111C0 11235 ' +
    '112EA 1134D 113CE 113CF 113D0 11442 114C2 115BF 1163F 116B6 1172B 11839 1193D 1193E 119E0 11A34 11A47 11A99 ' +
    '11C3F 11D44 11D45 11D97 11F41 11F42 1612F'
  )
    .split(' ')
    .map((hex) => String.fromCodePoint(Number.parseInt(hex, 16))),
)

/** Why this character has no place in an address; joiners and selectors are judged by where they stand. */
export function faultOfCharacter(
  characters: readonly string[],
  at: number,
  isLabel: boolean,
): CharacterRule | undefined {
  const character = characters[at]
  if (character === undefined) return undefined
  if (character >= ' ' && character <= '~') return character === ' ' ? 'whitespace' : undefined
  if (JOINER.test(character))
    return isJoinerInPlace(characters, at, isLabel) ? undefined : 'invisible_character'
  if (SELECTOR.test(character))
    return isSelectorInPlace(character, characters, at) ? undefined : 'invisible_character'
  return RULES.find(([pattern]) => pattern.test(character))?.[1]
}

/** RFC 5892, A.1 and A.2, for every occurrence; emoji sequences outside of domains. */
function isJoinerInPlace(characters: readonly string[], at: number, isLabel: boolean): boolean {
  const before = characters[at - 1]
  const after = characters[at + 1]
  if (before === undefined) return false
  if (VIRAMAS.has(before)) return true
  if (after === undefined) return false
  if (characters[at] === '\u200C') return JOINING.test(before) && JOINING.test(after)
  return !isLabel && PICTURE.test(before) && PICTURE.test(after)
}

function isSelectorInPlace(selector: string, characters: readonly string[], at: number): boolean {
  const before = characters[at - 1]
  if (before === undefined) return false
  if (/^[0-9#*]$/.test(before)) return selector === '\uFE0F' && characters[at + 1] === KEYCAP
  const rule = SELECTABLE.find(([selectors]) => selectors.test(selector))
  return rule?.[1].test(before) === true
}

/** RFC 6531, 3.3: whatever UTF-8 can say beyond ASCII. Half of a surrogate pair is nothing that it can say. */
export const isInGrammar = (character: string) => character > '\u007F' && !/^\p{Cs}$/u.test(character)

/** A combining mark that begins a part changes what stands before it: the @ or the dot. */
export const beginsWithMark = (text: string) => /^\p{M}/u.test(text)

/** The address as it was sent, safe to print: cut, with controls and lone surrogates escaped. */
export function showAddress(text: string): string {
  const shown = text.length > SHOWN_CHARS ? text.slice(0, SHOWN_CHARS) : text
  if (/^[ -~]*$/.test(shown)) return shown
  return shown.replace(
    /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const SHOWN_CHARS = 320
