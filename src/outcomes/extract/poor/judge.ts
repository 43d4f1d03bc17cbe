// Tells pages that are none: checks, walls, errors, placeholders and remnants that answer 200. A good page that is refused is worse than a
// poor one that is sold, so one sign is enough only where a page says nothing else.
import { isObject } from '../../../lib/json.ts'
import { parsePage, estimateWords, type ParsedPage } from '../tree.ts'
import { findGate } from './gate.ts'
import { MAX_SHORT_WORDS, readSaid, type Said } from './lines.ts'
import { isLost } from './lost.ts'
import { POOR_REASONS, type PoorReason } from './reasons.ts'
import { isFurniture, isRemnant } from './remnant.ts'
import { ADDRESSES, SIGNS } from './signs.ts'

/** Points that a page of at most so many words needs; a longer one is never refused for what it says. */
const NEEDED: readonly (readonly [words: number, points: number])[] = [
  [30, 1],
  [100, 2],
  [MAX_SHORT_WORDS, 3],
]
/** What a page is called counts for this much, and alone only where it says next to nothing. */
const NAME_POINTS = 2
/** What is said to the visitor of such a page and to nobody else. */
const TOLD_POINTS = 2
/** Beside its name: the name of a server or of a site, but no definition. */
const BARE_WORDS = 3
/** The same where it speaks to its visitor. */
const ADDRESSED_WORDS = 14
/** One sign is enough only where so few words are left: a notice about a lift, an issue and a recipe have a sentence of it, and others. */
const MAX_REST_WORDS = 6
/** So few words beside a dialog or a form are no page of their own. */
const BESIDE_WORDS = 4
/** With so much text behind a declared wall the text is there. */
const FREE_WORDS = 150

const CHECK_SCRIPTS =
  /_cf_chl_opt|\/cdn-cgi\/challenge-platform|captcha-delivery\.com|id="?px-captcha|sec-if-cpt-container|\/_sec\/cp_challenge|_Incapsula_Resource|awsWafCookieDomainList|id="?captcha-form/
/** With words of its own a page that has one is a form with protection. */
const CHECK_WIDGETS = /class="[^"]{0,80}(?:g-recaptcha|h-captcha|cf-turnstile)/
const PRICE = /[$€£¥₹]\s?\d|\d\s?(?:[€£$]|usd|eur|sar|aed|ريال|درهم|جنيه|円|元|руб)/
const MAX_SCANNED_CHARACTERS = 32 * 1024
const APP_ROOT = /^(?:root|app|__next|__nuxt|app-root)$/

/**
 * @param html the source of `page`
 * @param known.words of the main text, as they are estimated, where it is known
 * @param known.url of the page
 * @returns why the page is nothing to sell, if so
 */
export function findPoor(
  html: string,
  {
    words = 0,
    page = parsePage(html),
    url,
  }: { readonly words?: number; readonly page?: ParsedPage; readonly url?: string | undefined } = {},
): PoorReason | undefined {
  if (words > MAX_SHORT_WORDS) return undefined
  const said = readSaid(page)
  if (said.isLong) return isHalfSold(page, words) ? 'paywall' : undefined
  const facts = { html: html.slice(0, MAX_SCANNED_CHARACTERS), page, words: Math.max(words, said.words) }
  let best: PoorReason | undefined
  let most = 0
  for (const reason of POOR_REASONS) {
    if (reason === 'remnant') continue
    const points = score(reason, said, facts)
    if (points > most) [best, most] = [reason, points]
  }
  best ??= findGate(facts.html, page)
  if (best) return best
  if (isHalfSold(page, words)) return 'paywall'
  if (isRemnant(said)) return 'remnant'
  return url !== undefined && isLost(said, url) ? 'soft_404' : undefined
}

/** A few words of plain text, such as the error of a server that says success. */
const MAX_TEXT_CHARACTERS = 1000

/** The same of plain text. */
export function findPoorText(text: string): PoorReason | undefined {
  if (text.length > MAX_TEXT_CHARACTERS) return undefined
  const lines = text.split('\n').map((line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  return findPoor(`<p>${lines.join('</p><p>')}</p>`)
}

interface Facts {
  readonly html: string
  readonly page: ParsedPage
  /** Of the main text or of all that the page says, whichever is more. */
  readonly words: number
}

/** The points of one reason, or 0 where they are too few for a page of that length. */
function score(reason: Exclude<PoorReason, 'remnant'>, said: Said, facts: Facts): number {
  const { names, says, tells = [], adds = [], about } = SIGNS[reason]
  const lines = [
    ...said.lines,
    ...(said.words <= BESIDE_WORDS && facts.page.root.words <= MAX_SHORT_WORDS
      ? [...said.around, ...said.unscripted]
      : []),
  ]
  const count = (patterns: readonly RegExp[]) =>
    patterns.filter((pattern) => lines.some((line) => pattern.test(line))).length
  const spoken = count(says) + TOLD_POINTS * count(tells)
  const built = readStructure(reason, said, facts)
  const isNamed = [...said.names, ...said.lines.slice(0, 2)].some((name) => names.test(name))
  const rest = restOf(said, [names, ...says, ...tells, ...adds])
  const isAddressed = said.lines.some((line) => ADDRESSES.test(line) && !names.test(line))
  const most = isAddressed ? ADDRESSED_WORDS : BARE_WORDS
  const isBare = isNamed && rest <= most && said.lines.some((line) => names.test(line))
  if (spoken + built === 0 && !isBare && !(isNamed && count(adds) > 0)) return 0
  const points = spoken + built + count(adds) + (isNamed ? NAME_POINTS : 0)
  const short = NEEDED.find(([words]) => facts.words <= words)?.[1] ?? Infinity
  // The beginning of an article is what stands before a wall of payment, and a statement without a choice is no wall.
  const isAlone = (rest <= MAX_REST_WORDS || reason === 'paywall') && reason !== 'consent_wall'
  const needed = isAlone ? short : Math.max(short, 2)
  const isAbout =
    (said.names.some((name) => about?.test(name)) && !(rest <= BARE_WORDS && hasButton(said, says))) ||
    // A product that is gone is one as long as it has a price.
    (reason === 'soft_404' && said.lines.some((line) => PRICE.test(line)))
  return points >= needed + (isAbout ? 1 : 0) ? points : 0
}

/** What asks, with the answers in lines of their own, and says nothing else is no policy, whatever it is called. */
const hasButton = ({ lines }: Said, says: readonly RegExp[]): boolean =>
  lines.some((line) => estimateWords(line) <= BARE_WORDS && says.some((sign) => sign.test(line)))

/** The words of a page without its furniture and the sentences that have a sign. */
function restOf({ lines, words }: Said, signs: readonly RegExp[]): number {
  let rest = words
  for (const line of lines) {
    const found = signs.filter((sign) => sign.test(line))
    if (found.length === 0) {
      if (isFurniture(line)) rest -= estimateWords(line)
      continue
    }
    const sentences = line.split(/(?<=[.!?…])\s|(?<=[。！？؟])/)
    const told = sentences.filter((sentence) => found.some((sign) => sign.test(sentence)))
    rest -= estimateWords((told.length > 0 ? told : sentences).join(' '))
  }
  return rest
}

function readStructure(reason: PoorReason, said: Said, { html, page }: Facts): number {
  switch (reason) {
    case 'captcha':
      if (CHECK_SCRIPTS.test(html)) return 3
      return CHECK_WIDGETS.test(html) && said.words <= BESIDE_WORDS ? 1 : 0
    case 'login_wall':
      return /<input[^>]{1,200}type="?password/i.test(html) ? 1 : 0
    case 'script_shell':
      // What stands beside the empty root of an application is shown until its scripts have filled it.
      return said.words <= MAX_REST_WORDS && !said.hasHeading && hasEmptyRoot(page) ? 1 : 0
    default:
      return 0
  }
}

function hasEmptyRoot(page: ParsedPage): boolean {
  for (const { name, attributes, words } of page.all)
    if (words === 0 && (APP_ROOT.test(attributes['id'] ?? '') || name === 'app-root')) return true
  return false
}

/** Structured data says that the text is not free, and the part that it names is not there. */
function isHalfSold(page: ParsedPage, words: number): boolean {
  if (words > FREE_WORDS) return false
  const selectors = new Set<string>()
  let isSold = false
  for (const script of page.jsonLd) {
    if (!script.includes('isAccessibleForFree')) continue
    let value: unknown
    try {
      value = JSON.parse(script)
    } catch {
      continue
    }
    const queue: unknown[] = [value]
    for (let i = 0; i < queue.length && i < MAX_NODES; i++) {
      const item = queue[i]
      if (Array.isArray(item)) queue.push(...item.slice(0, MAX_NODES))
      if (!isObject(item)) continue
      isSold ||= /^false$/i.test(String(item['isAccessibleForFree']))
      if (typeof item['cssSelector'] === 'string' && selectors.size < MAX_SELECTORS)
        selectors.add(item['cssSelector'])
      const children = Object.values(item).filter((child) => typeof child === 'object')
      queue.push(...children.slice(0, MAX_NODES))
    }
  }
  return isSold && ![...selectors].some((selector) => hasWords(page, selector))
}

const MAX_NODES = 200
const MAX_SELECTORS = 5
const MIN_SOLD_WORDS = 80

/** Of the selectors only those of one class are read, which is what they are in practice. */
function hasWords(page: ParsedPage, selector: string): boolean {
  const name = /^\s*\.([\w-]{1,100})\s*$/.exec(selector)?.[1]
  if (name === undefined) return false
  for (const { attributes, words } of page.all)
    if (words >= MIN_SOLD_WORDS && (attributes['class'] ?? '').split(/\s+/).includes(name)) return true
  return false
}
