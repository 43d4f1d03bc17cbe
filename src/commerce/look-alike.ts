// Hosts that look like another host: letters of several scripts in one label, letters in another dress (full width, mathematical), a whole
// label of letters that look like Latin ones, and names that look like one other name. A host of one script, whichever it is, is ordinary.
import { domainToUnicode } from 'node:url'
import { parse } from 'tldts'
import { LETTERS, ORDINARY_TLDS, SHAPES, STRONG } from './look-alike-letters.ts'

/** `whole`: it may well be a word of its own language. */
export type Likeness = 'mixed' | 'dressed' | 'hidden' | 'target' | 'whole'

/** Ends of labels (UTS 46); some keyboards write the wide ones. */
const DOTS = /[.\u3002\uFF0E\uFF61]/
const ASCII = /^[ -~]*$/

/**
 * What a host looks like that it is not; undefined for ordinary ones.
 * @param host as it was written, without port
 * @param target host that the transaction goes to, as a URL writes it; a name that looks like it is somebody else's
 */
export function judgeLikeness(host: string, target?: string): Likeness | undefined {
  const written = host.includes('%') ? decode(host) : host
  if (!ASCII.test(written) || /xn--/i.test(written)) {
    const labels = written.split(DOTS).map((label) => (/^xn--/i.test(label) ? domainToUnicode(label) : label))
    for (const label of labels) {
      const likeness = judgeLabel(label)
      if (likeness !== undefined) return likeness
    }
    if (target === undefined || !looksLike(labels.join('.'), target)) {
      const top = labels.at(-1)?.toLowerCase() ?? ''
      return labels.some((label) => isWhole(label, top)) ? 'whole' : undefined
    }
    return 'target'
  }
  return target !== undefined && looksLike(written, target) ? 'target' : undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function judgeLabel(label: string): Likeness | undefined {
  if (ASCII.test(label)) return undefined
  const scripts = new Set<string>()
  for (const char of label) {
    if (ASCII.test(char)) {
      if (/[a-z]/i.test(char)) scripts.add('Latin')
      continue
    }
    // A letter in another dress is ASCII once it is undressed; a letter with an accent is not.
    if (ASCII.test(char.normalize('NFKC'))) return 'dressed'
    const script = SCRIPTS.find(([, form]) => form.test(char))?.[0]
    if (script !== undefined) scripts.add(script)
    else if (/\p{Cf}|\p{Variation_Selector}|[\u115F\u1160\u3164]/u.test(char)) scripts.add('hidden')
  }
  // Persian and the languages of India write joiners inside of words, where no Latin letter is.
  if (scripts.delete('hidden') && (scripts.size === 0 || [...scripts].some((name) => IMITATING.has(name))))
    return 'hidden'
  return isMixture(scripts) ? 'mixed' : undefined
}

const SCRIPTS: readonly (readonly [string, RegExp])[] = (
  'Latin Cyrillic Greek Armenian Hebrew Arabic Devanagari Bengali Thai Lao Han Hiragana Katakana Bopomofo Hangul Georgian Cherokee ' +
  'Coptic Lisu Deseret Osage Tifinagh Canadian_Aboriginal Glagolitic Gothic Ethiopic Tamil Telugu Kannada Malayalam Gujarati ' +
  'Gurmukhi Sinhala Khmer Myanmar Tibetan'
)
  .split(' ')
  .map((name) => [name, new RegExp(`\\p{Script=${name}}`, 'u')])

/** Languages write these together. */
const TOGETHER = new Set(['Latin', 'Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul'])
/** Letters of these look like Latin ones. */
const IMITATING = new Set(
  'Latin Cyrillic Greek Armenian Cherokee Coptic Lisu Deseret Osage Tifinagh Canadian_Aboriginal Glagolitic Gothic'.split(
    ' ',
  ),
)

/** Beside Latin a label may hold one further script, unless that one imitates it (UTS 39, 5.2: moderately restrictive). */
function isMixture(scripts: ReadonlySet<string>): boolean {
  if (scripts.size < 2 || [...scripts].every((name) => TOGETHER.has(name))) return false
  return (
    scripts.size > 2 ||
    !scripts.has('Latin') ||
    [...scripts].some((name) => name !== 'Latin' && IMITATING.has(name))
  )
}

/** Every letter of it looks like a Latin one, and nothing says that it is of the language that writes so. */
function isWhole(label: string, top: string): boolean {
  if (ASCII.test(label) || !ASCII.test(top) || ORDINARY_TLDS.has(top)) return false
  return [...label.toLowerCase()].every((char) => /[\d-]/.test(char) || STRONG.has(char))
}

/** Two names of different owners that look the same. */
function looksLike(host: string, target: string): boolean {
  // What somebody registered has two labels at least: where these look different, nobody needs the list of endings.
  if (toSkeleton(endOf(host)) !== toSkeleton(endOf(target))) return false
  const [one, other] = [nameOf(host), nameOf(target)]
  return one !== other && one !== '' && other !== '' && toSkeleton(one) === toSkeleton(other)
}

/** The last two labels, in Unicode. */
function endOf(host: string): string {
  const end = host.split('.').slice(-2).join('.')
  return ASCII.test(end) && !/xn--/i.test(end) ? end : domainToUnicode(end) || end
}

/** What somebody registered; whole where nobody registers under that ending. In Unicode. */
function nameOf(host: string): string {
  const { domain, hostname, isIp } = parse(host, { allowPrivateDomains: true })
  return isIp === true ? '' : domainToUnicode(domain ?? hostname ?? '')
}

function toPlainLetters(name: string): string {
  let plain = ''
  for (const char of name.toLowerCase().normalize('NFKD')) {
    if (/\p{M}/u.test(char)) continue
    plain += LETTERS.get(char) ?? char
  }
  return plain
}

/** What it looks like from afar: accents aside, letters by their shape, digits as the letters that they look like. */
function toSkeleton(name: string): string {
  let shape = ASCII.test(name) ? name.toLowerCase() : toPlainLetters(name)
  for (const [digraph, letter] of SHAPES) shape = shape.replaceAll(digraph, letter)
  return shape
}
