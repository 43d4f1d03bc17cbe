// Decides whether the name in front of an address can be taken for something that it is not: another address, a site, or a
// text that does not read as it was sent. What a name may be made of is display-form.ts's; whose name it is, nobody knows.
import { faultOfCharacter } from './characters.ts'
import { mixesScripts, skeletonOf } from './confusable.ts'
import { readDomain } from './domain.ts'

/** A longer name pushes the address out of sight. */
const MAX_NAME_CHARS = 64
/** White space that is as wide as it looks: CJK names have the second, word processors write the third. */
const SPACE = /^[ \u3000\u00A0]$/
/** Any @, and the brackets and the scheme that a reader goes by. */
const SIGNS = /[@<>]|[:\u2236\uA789][/\\\u2044\u2215]{2}|\b(?:https?|mailto):|\bwww\./i
/** RFC 2047: mail programs show what it decodes to. */
const ENCODED_WORD = /=\?[^?\s]+\?[bq]\?/i
/** Drawn like a dot: compatibility forms, and of UTS 39 a tone of Lisu, zeros of Arabic and full stops of other scripts. */
const DOTS = /[\u0660\u06F0\u0701\u0702\u2024\u3002\uA4F8\uA60E\uFE12\uFE52\uFF0E\uFF61\u{10A50}\u{1D16D}]/gu
/** A dot that something stands before, and the letters behind it. */
const ENDING = /(?<=[\p{L}\p{M}\p{N}\p{S}]["'\u2019\u201D)\]]?)\.(xn--[a-z0-9-]+|[\p{L}\p{M}]+)/giu
/** A reader of these stops where another script goes on, or a raised letter. */
const FIRST_SCRIPT = /^(?:(?!\p{Lm})\p{Script=Latin})+|^\p{Script=Cyrillic}+|^\p{Script=Greek}+/u
/** UTS 39, 5.4: more marks than that on a letter cover what is around it, as a mark on none does. */
const STACKED = /\p{Mn}{5}|(?:^|\p{Z})\p{M}/u
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/u
/** The flags that are spelled with characters of which nothing is seen otherwise: England, Scotland and Wales. */
const FLAGS = new RegExp(`\u{1F3F4}(?:${['gbeng', 'gbsct', 'gbwls'].map(tagged).join('|')})`, 'gu')
/** A letter by itself in Unicode, drawn as the Greek one and written with Latin ones: a millionth. */
const MICRO = /\u00B5/g

/** @param name without quotes and escapes */
export function isMisleadingName(name: string): boolean {
  const characters = [...name.replace(FLAGS, '\u{1F3F4}')]
  // Full-width, small and mathematical forms read as what they stand for.
  const read = name.normalize('NFKC')
  if (Math.max(characters.length, [...read].length) > MAX_NAME_CHARS) return true
  if (characters.some((one, i) => !SPACE.test(one) && faultOfCharacter(characters, i, false))) return true
  if (STACKED.test(name) || SIGNS.test(read) || ENCODED_WORD.test(read)) return true
  // The name is read as it was sent too: a sign behind an ending is read as letters that would make it longer.
  const dotted = `${read} ${name}`.replace(DOTS, '.')
  const endings = new Set([...dotted.matchAll(ENDING)].map(([, letters = '']) => letters))
  if ([...endings].some(isEnding)) return true
  return name.split(BETWEEN_WORDS).some((word) => mixesScripts(word.replace(MICRO, '').normalize('NFKC')))
}

function tagged(letters: string): string {
  return [...letters, '\u007F'].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join('')
}

/** Whether the letters end a domain, or are drawn like the end of one. */
function isEnding(letters: string): boolean {
  const first = FIRST_SCRIPT.exec(letters)?.[0] ?? letters
  const readings = new Set([letters, first, skeletonOf(letters), skeletonOf(first)])
  return [...readings].some(isTopLevelDomain)
}

function isTopLevelDomain(letters: string): boolean {
  const domain = readDomain(`x.${letters}`)
  return domain.ok && domain.name.isDelegated
}
