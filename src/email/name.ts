// Whether the name in front of an address can be taken for something that it is not: another address, a site, or a text
// that does not read as it was sent. What a name may be made of is display-form.ts's; whose name it is, nobody knows.
import { faultOfCharacter } from './characters.ts'
import { mixesScripts } from './confusable.ts'
import { readDomain } from './domain.ts'

/** Longer ones push the address out of sight. */
const MAX_NAME_CHARS = 64
/** White space that is as wide as it looks: CJK names have the second, word processors write the third. */
const SPACE = /^[ \u3000\u00A0]$/
/** Any @, and the brackets and the scheme that a reader goes by. */
const SIGNS = /[@<>]|:\/\//
/** RFC 2047: mail programs show what it decodes to. */
const ENCODED_WORD = /=\?[^?\s]+\?[bq]\?/i
/** A dot that something stands before, and the letters behind it. Compatibility forms of the dot are gone by then. */
const ENDING = /(?<=[\p{L}\p{M}\p{N}])[.\u3002](xn--[a-z0-9-]+|[\p{L}\p{M}]+)(?![\p{L}\p{M}\p{N}])/giu
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/u

/** @param name without quotes and escapes */
export function isMisleadingName(name: string): boolean {
  const characters = [...name]
  if (characters.length > MAX_NAME_CHARS) return true
  if (characters.some((one, i) => !SPACE.test(one) && faultOfCharacter(characters, i, false))) return true
  // Full-width, small and mathematical forms read as what they stand for.
  const read = name.normalize('NFKC')
  if (SIGNS.test(read) || ENCODED_WORD.test(read)) return true
  if ([...read.matchAll(ENDING)].some(([, letters]) => isTopLevelDomain(letters!))) return true
  return name.split(BETWEEN_WORDS).some(mixesScripts)
}

function isTopLevelDomain(letters: string): boolean {
  const domain = readDomain(`x.${letters}`)
  return domain.ok && domain.name.isDelegated
}
