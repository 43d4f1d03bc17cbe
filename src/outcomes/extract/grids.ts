// Finds what a page repeats: products of a shop, results, topics, teasers. Such cards are equal siblings, each short and with
// a link and something to recognise it by. Text density never finds them, since there is little prose in them.
import type { Block } from './blocks.ts'
import { textOfRuns } from './runs.ts'
import type { Element } from './tree.ts'

/** Siblings of one look, each of which stands for one thing. */
export interface Grid {
  readonly cards: readonly Element[]
  readonly words: number
  readonly linkWords: number
  /** Cards with a price. */
  readonly priced: number
  /** Cards with a picture. */
  readonly pictured: number
}

const MIN_CARDS = 3
/** Longer ones are sections of a text, or posts. */
const MAX_CARD_WORDS = 120
/** Fewer words are a menu; a headline has more. */
const MIN_HEADLINE_WORDS = 4
const MIN_GRID_WORDS = 20
const CARDS_SHARE = 0.7
const MAX_PRICED_CHARACTERS = 200
const PRICE =
  /(?:[$€£¥₹₽₺]|\b(?:USD|EUR|GBP|CHF|AED|SAR|kr|zł|Rs\.?)) ?\d|\d ?(?:[€£₽₺]|(?:USD|EUR|GBP|CHF|AED|SAR|kr|zł)\b)/

interface Held {
  words: number
  linkWords: number
  hasHeading: boolean
  hasPrice: boolean
}

/**
 * Grids of a page, outermost first where one lies in another. Linear in blocks and elements.
 * @param blocks those that are not boilerplate: a menu is no grid
 */
export function findGrids(blocks: readonly Block[], pictures: ReadonlySet<Element>): Grid[] {
  const held = new Map<Element, Held>()
  for (const block of blocks) {
    // Every ancestor is added once, so that deep pages cost no more than flat ones.
    for (let at = block.at; at && !held.has(at); at = at.parent)
      held.set(at, { words: 0, linkWords: 0, hasHeading: false, hasPrice: false })
    const own = block.at && held.get(block.at)
    if (!own) continue
    own.words += block.words ?? 0
    own.linkWords += block.linkWords ?? 0
    own.hasHeading ||= block.kind === 'heading'
    own.hasPrice ||= 'runs' in block && PRICE.test(textOfRuns(block.runs).slice(0, MAX_PRICED_CHARACTERS))
  }
  // What lies below has a later number: it is complete when its turn comes.
  const inOrder = [...held.keys()].sort((one, other) => one.start - other.start)
  const groups = new Map<Element, Map<string, Element[]>>()
  for (const element of inOrder.toReversed()) {
    const { parent } = element
    const above = parent && held.get(parent)
    if (!above) continue
    const own = held.get(element)!
    above.words += own.words
    above.linkWords += own.linkWords
    above.hasHeading ||= own.hasHeading
    above.hasPrice ||= own.hasPrice
    const siblings = groups.get(parent) ?? new Map<string, Element[]>()
    groups.set(parent, siblings)
    const look = lookOf(element)
    const same = siblings.get(look)
    if (same) same.push(element)
    else siblings.set(look, [element])
  }
  const grids: Grid[] = []
  for (const parent of inOrder)
    for (const siblings of groups.get(parent)?.values() ?? []) {
      const grid = siblings.length >= MIN_CARDS ? gridOf(siblings.toReversed()) : undefined
      if (grid) grids.push(grid)
    }
  return grids

  function gridOf(siblings: readonly Element[]): Grid | undefined {
    const cards = siblings.filter(isCard)
    if (cards.length < Math.max(MIN_CARDS, siblings.length * CARDS_SHARE)) return undefined
    const words = cards.reduce((sum, card) => sum + held.get(card)!.words, 0)
    if (words < MIN_GRID_WORDS) return undefined
    return {
      cards,
      words,
      linkWords: cards.reduce((sum, card) => sum + held.get(card)!.linkWords, 0),
      priced: cards.filter((card) => held.get(card)!.hasPrice).length,
      pictured: cards.filter((card) => pictures.has(card)).length,
    }
  }

  function isCard(element: Element): boolean {
    const { words, linkWords, hasHeading, hasPrice } = held.get(element)!
    if (linkWords === 0 || words > MAX_CARD_WORDS) return false
    return hasPrice || words >= MIN_HEADLINE_WORDS || (words > 1 && (hasHeading || pictures.has(element)))
  }
}

/** The first name of the class says what it is, further ones which of them. */
const lookOf = ({ name, attributes }: Element): string =>
  `${name} ${/^\s*(\S{0,100})/.exec(attributes['class'] ?? '')?.[1] ?? ''}`

/** Elements of a name, and every element that one of them lies in; each is visited once. */
export function withAncestors(elements: Iterable<Element>, name: string): Set<Element> {
  const found = new Set<Element>()
  for (const element of elements)
    if (element.name === name)
      for (let at: Element | undefined = element; at && !found.has(at); at = at.parent) found.add(at)
  return found
}
