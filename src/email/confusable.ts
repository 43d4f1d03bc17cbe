// Domains that look like another one: labels that mix Latin with the scripts that imitate it, labels made of imitations
// only, and names of providers in disguise. A reason to look, never to refuse: people do own such names.
import type { DomainName } from './domain.ts'
import { PROVIDERS } from './providers.ts'

/** Letters that are drawn like a Latin one in common fonts (a part of UTS 39's table). */
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    // Cyrillic, Greek, Armenian, Latin beyond ASCII
    a: 'аαɑ',
    b: 'ьЬ',
    c: 'сϲⅽᴄ',
    d: 'ԁɗ',
    e: 'еҽ',
    g: 'ɡց',
    h: 'һհ',
    i: 'іιıɩ',
    j: 'јϳ',
    k: 'кκ',
    l: 'ӏ',
    m: 'м',
    n: 'пոηռ',
    o: 'оοօσᴏ',
    p: 'рρ',
    q: 'ԛգ',
    r: 'г',
    s: 'ѕꜱ',
    t: 'тτ',
    u: 'υսцʋᴜ',
    v: 'ѵνᴠ',
    w: 'ѡԝωաᴡ',
    x: 'хχ',
    y: 'уүγ',
    z: 'ᴢ',
    // Capitals, where they look like another letter than the small ones do. Domains have none; names do.
    A: 'АΑ',
    B: 'ВΒ',
    E: 'Ε',
    H: 'НΗ',
    I: 'ӀΙ',
    K: 'Κ',
    M: 'Μ',
    N: 'Ν',
    P: 'Ρ',
    T: 'Τ',
    X: 'Χ',
    Y: 'УΥ',
    Z: 'Ζ',
  }).flatMap(([latin, others]) => [...others].map((other): [string, string] => [other, latin])),
)

/** Scripts that imitate Latin. Nobody writes words of the latter ones with Latin letters in them. */
const IMITATORS = [
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Canadian_Aboriginal',
  'Carian',
  'Coptic',
  'Deseret',
  'Lisu',
  'Lycian',
  'Lydian',
  'Old_Italic',
  'Osage',
  'Tifinagh',
]
const IMITATOR = new RegExp(`[${IMITATORS.map((name) => `\\p{Script=${name}}`).join('')}]`, 'u')
const SCRIPTS = ['Latin', ...IMITATORS].map((name) => new RegExp(`\\p{Script=${name}}`, 'u'))
const known = new Set(PROVIDERS)

export interface Resemblance {
  readonly isConfusable: boolean
  /** The provider that it imitates. */
  readonly imitates: string | undefined
}

export const NO_RESEMBLANCE: Resemblance = { isConfusable: false, imitates: undefined }

/** Compares a domain with the names that it could be taken for. */
export function findResemblance({ ascii, unicode }: DomainName): Resemblance {
  if (ascii === unicode) return NO_RESEMBLANCE
  const labels = unicode.split('.')
  const imitated = skeletonOf(unicode)
  const imitates = known.has(imitated) ? imitated : undefined
  const tld = labels.at(-1) ?? ''
  const isConfusable =
    imitates !== undefined ||
    labels.some((label) => mixesScripts(label) || (!IMITATOR.test(tld) && isAllImitation(label)))
  return { isConfusable, imitates }
}

/** Latin with a script that imitates it, or two of those, in one label or word. */
export const mixesScripts = (label: string): boolean =>
  IMITATOR.test(label) && SCRIPTS.filter((script) => script.test(label)).length > 1

/** Letters that all pass for Latin ones, under a top-level domain that is not written in that script. */
const isAllImitation = (label: string) => IMITATOR.test(label) && /^[a-z0-9-]+$/.test(skeletonOf(label))

/**
 * Whether a local part reads as another one: letters of two scripts in one word; letters that all pass for Latin ones beside
 * Latin words, or in front of a domain in Latin; digits of two kinds; letters drawn like plain ones in Unicode's other
 * alphabets. Words of several scripts side by side are somebody's name in two languages.
 * @param content without quotes
 * @param host Unicode form of the domain; empty for an address literal
 */
export function isConfusableLocalPart(content: string, host: string): boolean {
  if (isPlain(content)) return false
  if (DRAWN_LIKE_PLAIN.test(content)) return true
  const words = content.split(BETWEEN_WORDS)
  if (words.some((word) => mixesScripts(word) || mixesDigits(word))) return true
  const imitating = words.filter((word) => IMITATOR.test(word))
  const isAmongLatin = LATIN.test(content) || !IMITATOR.test(host)
  return isAmongLatin && imitating.length > 0 && imitating.every(isAllImitation)
}

const isPlain = (text: string) => /^[\0-\x7F]*$/.test(text)
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/u
const LATIN = /\p{Script=Latin}/u
/** Full-width, mathematical, enclosed and raised forms of letters and digits, letters of phonetics, small capitals. */
const DRAWN_LIKE_PLAIN =
  /[\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A\u{1D400}-\u{1D7FF}\u{1F130}-\u{1F189}\u2460-\u24FF\u2070-\u209C\u2100-\u214F\u2160-\u217F\u1D00-\u1D7F\u{1FBF0}-\u{1FBF9}\uA730\uA731\u0251\u0261]/u
const DIGIT = /\p{Nd}/u

function mixesDigits(word: string): boolean {
  const zeros = new Set([...word].filter((one) => DIGIT.test(one)).map(zeroOf))
  return zeros.size > 1
}

/** The zero of a digit's own kind: digits stand in runs of ten, and behind each run there is a gap. */
function zeroOf(digit: string): number {
  let code = digit.codePointAt(0) ?? 0
  while (DIGIT.test(String.fromCodePoint(code - 1))) code--
  return code
}

/** The text as a reader takes it in: accents gone, imitations as what they imitate. */
export const skeletonOf = (text: string) =>
  [...text.normalize('NFD').replace(/\p{Mn}/gu, '')]
    .map((one) => LOOKS_LIKE.get(one) ?? LOOKS_LIKE.get(one.toLowerCase()) ?? one)
    .join('')
