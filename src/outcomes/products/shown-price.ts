// The price that a page shows beside the name of its one product, for pages that state none for machines. A wrong price is worse than
// none: only what is called a price is looked at, what may be another kind of price is left out, and where two are left there is none.
import type { Element, ParsedPage } from '../extract/tree.ts'
import { elementsBelow, textOf } from '../extract/elements.ts'
import { foldName } from '../structured/main.ts'
import { createNameReader, type PartNames } from './shown-names.ts'
import { readShownPrice, type ShownMoney } from './shown-text.ts'
import { compareAmounts } from './money.ts'

interface Candidate extends ShownMoney {
  readonly element: Element
  /** Where it stands, in characters of shown text. */
  readonly at: number
  readonly rank: number
}

const RANKS = { net: 0, regular: 1, plain: 2, current: 3 } as const
/** A price is shown at most so far behind the name, or before it, in characters of text. */
const MAX_BEHIND = 1500
const MAX_BEFORE = 1500
/** A button that buys is at most so far from the price. */
const MAX_TO_BUTTON = 1500
const MAX_TO_DOUBT = 200
/** A page with more prices is a list of things. */
const MAX_CANDIDATES = 300
const MAX_BUTTONS = 200
/** Elements between a price and what is called a price. */
const MAX_LEVELS = 3
const MAX_HEADINGS = 20
const MAX_PIECES = 60
const MAX_TEXT_CHARACTERS = 160
const MAX_TITLE_CHARACTERS = 500
const MIN_TITLE_CHARACTERS = 3
const MAX_ANCESTORS = 256

const STRUCK = new Set(['del', 's', 'strike'])
const STRUCK_STYLE = /text-decoration[^;]{0,40}line-through/i
/** Parts of a page that are about something else. */
const CHROME = new Set(['nav', 'footer', 'select', 'option', 'noscript', 'blockquote'])
const CHROME_ROLES = new Set(['navigation', 'contentinfo', 'dialog', 'search', 'menu'])
const BUTTON_TEXT =
  /^(?:add to (?:cart|bag|basket|trolley)|buy(?: it)?(?: now)?|order now|pre-?order(?: now)?|in den (?:waren|einkaufs)korb|in den korb|(?:jetzt )?kaufen|(?:jetzt )?bestellen|ajouter au panier|acheter|añadir (?:al carrito|a la (?:cesta|bolsa))|agregar al carrito|comprar(?: ahora| agora| já)?|adicionar (?:ao carrinho|à sacola)|aggiungi al carrello|acquista(?: ora)?|in winkelwagen|(?:toevoegen )?aan winkelwagen(?: toevoegen)?|lägg i (?:varukorg|kundvagn)(?:en)?|köp(?: nu)?|legg i (?:handlekurv|handlevogn)(?:en)?|kjøp|læg i (?:kurv|indkøbskurv)(?:en)?|køb|lisää (?:ostos)?koriin|osta|do koszyka|dodaj do koszyka|kup teraz|(?:vložit |přidat )?do košíku|koupit|(?:vložiť |pridať )?do košíka|kúpiť|kosárba(?: teszem| rakom)?|adaugă în coș|adauga in cos|dodaj u ko[sš]aricu|kupi(?:te)?(?: odmah| sada)?|sepete ekle|(?:hemen|şimdi) (?:satın )?al|satın al|купить|в корзину|добавить в корзину|додати в кошик|купити|купи|أضف (?:إلى|الى) (?:السلة|سلة التسوق|العربة)|اضف (?:إلى|الى) (?:السلة|العربة)|إضافة إلى السلة|اشتر الآن|اشتري الآن|カートに入れる|かごに追加|買い物かごに入れる|購入する|今すぐ買う|今すぐ購入|加入购物车|加入購物車|立即购买|立即購買|장바구니(?: 담기)?|구매하기|바로구매|הוסף לסל|הוספה לסל|thêm vào giỏ(?: hàng)?|mua ngay|tambah ke keranjang|beli sekarang|หยิบใส่ตะกร้า|ซื้อเลย)[\s!»›>]*$/iu
const MAX_BUTTON_CHARACTERS = 40

export interface ShownContext {
  /** What the head of the page and its statements call it: no heading vouches for itself. */
  readonly titles: readonly string[]
  readonly currency: string | null
  readonly region: string | null
  /** Markup or meta tags say that the page is about a product. */
  readonly isProduct: boolean
}

export interface ShownPrice extends ShownMoney {
  /** What the page calls the thing. */
  readonly name: string
}

/** The one price that the page shows for the thing it is called after; undefined where that is not certain. */
export function findShownPrice(page: ParsedPage, context: ShownContext): ShownPrice | undefined {
  const heading = findHeading(page.root, context.titles)
  if (!heading) return undefined
  const found = collect(page.root, heading.element, context)
  if (!found) return undefined
  const { candidates, buttons, doubts } = found
  const own = withoutCards(candidates, heading.element).filter(
    ({ at }) => at >= found.headingAt - MAX_BEFORE && at <= found.headingAt + MAX_BEHIND,
  )
  const bought = context.isProduct
    ? own
    : own.filter(({ at }) => buttons.some((button) => Math.abs(button - at) <= MAX_TO_BUTTON))
  const chosen = choose(bought, heading.element)
  // Beside `from 59` a price without the word is that of something else, or an older one.
  if (!chosen || doubts.some((doubt) => Math.abs(doubt - chosen.at) <= MAX_TO_DOUBT)) return undefined
  return { money: chosen.money, issues: chosen.issues, name: heading.name }
}

/** The heading that says most of what the page is called. One that leads elsewhere is that of a card. */
function findHeading(
  root: Element,
  titles: readonly string[],
): { element: Element; name: string } | undefined {
  let best: { element: Element; name: string } | undefined
  let left = MAX_HEADINGS
  for (const element of elementsBelow(root)) {
    if (element.name !== 'h1') continue
    const name = textOf(element, ' ', MAX_PIECES).replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARACTERS)
    if (name.length > (best?.name.length ?? 0) && isCalled(name, titles) && !isLinked(element))
      best = { element, name }
    if (--left === 0) break
  }
  return best
}

function isLinked(element: Element): boolean {
  let at: Element | undefined = element.parent
  for (let left = MAX_ANCESTORS; at && left > 0; left--, at = at.parent)
    if (at.name === 'a' && isLeading(at.attributes['href'])) return true
  return false
}

const SHARED_WORDS = 0.6

/** Whether a heading and a title are one name: one holds the other, or they share most of their words. */
function isCalled(name: string, titles: readonly string[]): boolean {
  const folded = foldName(name)
  if (folded.length < MIN_TITLE_CHARACTERS) return false
  const own = wordsOf(name)
  return titles.some((title) => {
    const other = foldName(title)
    if (other.includes(folded) || (other.length >= 8 && folded.includes(other))) return true
    const theirs = wordsOf(title)
    const shared = [...own].filter((word) => theirs.has(word)).length
    return shared >= 2 && shared >= SHARED_WORDS * own.size
  })
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu))

interface Found {
  readonly headingAt: number
  readonly candidates: readonly Candidate[]
  readonly buttons: readonly number[]
  /** Where prices stand that only say where prices begin. */
  readonly doubts: readonly number[]
}

interface Step {
  readonly node: Element | string
  /** Levels up to the next part that is called a price, itself 0; more than the limit where there is none. */
  readonly levels: number
  readonly rank: number
}

const holds = (element: Element, below: Element) => element.start <= below.start && below.start <= element.end

/** Everything of the page that matters, in its order; undefined where there are too many prices for one product. */
function collect(root: Element, heading: Element, context: ShownContext): Found | undefined {
  const namesOf = createNameReader()
  const candidates: Candidate[] = []
  const buttons: number[] = []
  const doubts: number[] = []
  let at = 0
  let headingAt = 0
  const stack: Step[] = [{ node: root, levels: Infinity, rank: RANKS.plain }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { node } = step
    if (typeof node === 'string') {
      at += node.trim().length
      continue
    }
    const names = namesOf(node)
    if (node === heading) headingAt = at
    if (buttons.length < MAX_BUTTONS && isBuying(node, names)) buttons.push(at)
    const levels = names.isPrice ? 0 : step.levels + 1
    // What holds the name is about the thing, whatever it is called.
    if (!holds(node, heading) && isOther(node, names, levels <= MAX_LEVELS)) {
      at += lengthOf(node)
      continue
    }
    const rank = rankOf(node, names, step)
    if (levels <= MAX_LEVELS) {
      const shown = shownText(node, namesOf)
      const price = shown === undefined ? undefined : readShownPrice(shown, context)
      if (price === 'from' && doubts.length < MAX_BUTTONS) doubts.push(at)
      if (price && price !== 'from') {
        if (candidates.length >= MAX_CANDIDATES) return undefined
        const issues = rank === RANKS.net ? [...price.issues, 'tax_excluded'] : price.issues
        candidates.push({ ...price, issues, element: node, at, rank })
        at += lengthOf(node)
        continue
      }
    }
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index]
      if (child !== undefined) stack.push({ node: child, levels, rank })
    }
  }
  return { headingAt, candidates, buttons, doubts }
}

function rankOf(node: Element, names: PartNames, above: Step): number {
  if (above.rank === RANKS.net || (names.isNet && (names.isPrice || above.levels <= MAX_LEVELS)))
    return RANKS.net
  if (node.name === 'ins' || (names.isCurrent && (names.isPrice || above.levels <= MAX_LEVELS)))
    return RANKS.current
  if (names.isPrice && names.isRegular) return RANKS.regular
  return names.isPrice && above.levels > MAX_LEVELS ? RANKS.plain : above.rank
}

/** What stands in it is not the price of the product. */
function isOther({ name, attributes }: Element, names: PartNames, isPrice: boolean): boolean {
  if (names.isOtherPart || (isPrice && names.isOtherPrice) || STRUCK.has(name) || CHROME.has(name))
    return true
  if (name === 'a' && isLeading(attributes['href'])) return true
  const { role, style } = attributes
  return (
    (role !== undefined && CHROME_ROLES.has(role.toLowerCase())) ||
    (style !== undefined && STRUCK_STYLE.test(style))
  )
}

/** A price inside a link to somewhere is that of what is there. */
const isLeading = (href: string | undefined): boolean =>
  href !== undefined && !/^\s*(?:#|javascript:|$)/i.test(href)

function isBuying(element: Element, names: PartNames): boolean {
  if (names.isBuying) return true
  if (element.name !== 'button' && element.name !== 'a' && element.attributes['role'] !== 'button')
    return false
  if (element.words > 8) return false
  const text = textOf(element, ' ', MAX_PIECES).replace(/\s+/g, ' ').trim()
  return text.length <= MAX_BUTTON_CHARACTERS && BUTTON_TEXT.test(text)
}

/** Characters of text below. Each element is measured once, since nobody goes below it again. */
function lengthOf(element: Element): number {
  let length = 0
  const stack: Element[] = [element]
  for (let node = stack.pop(); node; node = stack.pop())
    for (const child of node.children)
      if (typeof child === 'string') length += child.trim().length
      else stack.push(child)
  return length
}

/**
 * The text of what may be a price, without the prices that are not; undefined where it is too long for one, or where digits
 * of two elements run into each other and nothing says that the latter are cents.
 */
function shownText(element: Element, namesOf: (element: Element) => PartNames): string | undefined {
  let text = ''
  let pieces = 0
  let isJoined = false
  const stack: { node: Element | string; isCents: boolean }[] = [{ node: element, isCents: false }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { node } = step
    if (++pieces > MAX_PIECES || text.length > MAX_TEXT_CHARACTERS) return undefined
    if (typeof node !== 'string') {
      const names = namesOf(node)
      if (node !== element && isOther(node, names, true)) continue
      const isCents = step.isCents || node.name === 'sup' || names.isCents
      isJoined = true
      for (let index = node.children.length - 1; index >= 0; index--) {
        const child = node.children[index]
        if (child !== undefined) stack.push({ node: child, isCents })
      }
      continue
    }
    const piece = node.slice(0, MAX_TEXT_CHARACTERS)
    if (isJoined && /\p{Nd}\s*$/u.test(text) && /^\s*\p{Nd}/u.test(piece)) {
      if (!step.isCents || !/^\s*\p{Nd}{2}(?!\p{Nd})/u.test(piece) || /[.,٫]\s*\p{Nd}+\s*$/u.test(text))
        return undefined
      text = `${text.trimEnd()}.${piece.trimStart()}`
    } else text += piece
    isJoined = false
  }
  return text
}

/** Without those that stand in one of several equal parts with prices of their own: cards, variants, steps of a discount. */
function withoutCards(candidates: readonly Candidate[], heading: Element): Candidate[] {
  const groups = new Map<Element, Map<string, Map<Element, string>>>()
  const climb = function* ({ element }: Candidate) {
    let child = element
    for (let left = MAX_ANCESTORS; child.parent && left > 0 && !holds(child, heading); left--) {
      yield [child.parent, child] as const
      child = child.parent
    }
  }
  const several = new Set<Map<Element, string>>()
  for (const candidate of candidates)
    for (const [parent, child] of climb(candidate)) {
      const looks = groups.get(parent) ?? new Map<string, Map<Element, string>>()
      groups.set(parent, looks)
      const look = lookOf(child)
      const siblings = looks.get(look) ?? new Map<Element, string>()
      looks.set(look, siblings)
      for (const [, amount] of siblings)
        if (compareAmounts(amount, candidate.money.amount) !== 0) several.add(siblings)
      if (siblings.size < 2) siblings.set(child, candidate.money.amount)
    }
  return candidates.filter((candidate) =>
    [...climb(candidate)].every(([parent, child]) => {
      const siblings = groups.get(parent)?.get(lookOf(child))
      return !siblings || siblings.size < 2 || !several.has(siblings)
    }),
  )
}

/** The first word of the class says what it is, further ones which of them. */
const lookOf = ({ name, attributes }: Element): string =>
  `${name} ${/^\s*(\S{0,100})/.exec(attributes['class'] ?? '')?.[1] ?? ''}`

/** The one amount that is left: of all, of those that are called the price of today, of those nearest to the name. */
function choose(candidates: readonly Candidate[], heading: Element): Candidate | undefined {
  const depths = new Map(candidates.map((candidate) => [candidate, sharedDepth(candidate.element, heading)]))
  const deepest = Math.max(...depths.values())
  const nearest = candidates.filter((candidate) => depths.get(candidate) === deepest)
  for (const list of [candidates, nearest])
    for (const rank of Object.values(RANKS)) {
      const left = list.filter((candidate) => candidate.rank >= rank)
      const [first] = left
      if (first && left.every(({ money }) => compareAmounts(money.amount, first.money.amount) === 0))
        return first
    }
  return undefined
}

/** How deep the smallest part lies that holds both. */
function sharedDepth(element: Element, heading: Element): number {
  let shared: Element | undefined = element
  for (let left = MAX_ANCESTORS; shared && left > 0; left--, shared = shared.parent)
    if (holds(shared, heading)) break
  let depth = 0
  for (let at = shared; at && depth < MAX_ANCESTORS; at = at.parent) depth++
  return depth
}
