// Decides which blocks of a page are its main text: what kind of page it is, which blocks are good by that kind, which part of
// the page holds them, and what stands between them and belongs to them.
import type { Block } from './blocks.ts'
import { findGrids, type Grid } from './grids.ts'
import type { PageHints } from './hints.ts'
import { withoutRepeated, withoutRepeatedStatements } from './repeated.ts'
import {
  commonAncestor,
  createAncestry,
  markedRoot,
  plainWords,
  smallestRoot,
  wholeOf,
  within,
} from './root.ts'
import { createBetween } from './alike.ts'
import type { Element } from './tree.ts'

/** `other`: pages of services and organisations, documentation, everything that says nothing of itself. */
type Kind = 'article' | 'forum' | 'board' | 'product' | 'listing' | 'other'

interface Profile {
  /** Share of the good words that the root must hold. */
  readonly root: number
  /** Share that a part marked as the body must hold, to be taken for the root; undefined where there is no such part. */
  readonly marked: number | undefined
  /** Short blocks this near to a good one belong to it. */
  readonly near: number
}

const PROFILES: Readonly<Record<Kind, Profile>> = {
  article: { root: 0.8, marked: 0.3, near: 4 },
  // Every post counts, also the one outside the list of replies. Names, ranks and buttons stand around each.
  forum: { root: 0.9, marked: 0.9, near: 2 },
  // Only its address says so: rules of the board and other notices lie around the thread.
  board: { root: 0.75, marked: 0.9, near: 2 },
  // Labels, values and prices are short, and there are many between two sentences.
  product: { root: 0.85, marked: 0.5, near: 8 },
  // What stands on one side of the cards is about all of them.
  listing: { root: 0.9, marked: undefined, near: 8 },
  other: { root: 0.75, marked: 0.5, near: 8 },
}

const MIN_GOOD_WORDS = 8
const MIN_PARAGRAPH_WORDS = 6
/** A whole sentence inside a link is a teaser with words of its own. */
const MIN_LINKED_WORDS = 20
const MAX_LINK_SHARE = 0.5
/** Short blocks that are mostly links are navigation, even between good ones. */
const NAVIGATION_LINK_SHARE = 0.7
const MIN_NAVIGATION_WORDS = 4
/** A byline and a date stand between the name of a text and its summary. */
const MAX_BETWEEN_HEAD = 3
/** Systems call every page an article in Open Graph; one with more prose than this beside its cards is one. */
const MAX_LISTING_PROSE = 40
/** @param pictures elements with a picture in them */
export function scoreBlocks(
  blocks: readonly Block[],
  hints: PageHints,
  pictures: ReadonlySet<Element>,
): { blocks: Block[]; isListing: boolean } {
  const { kind, good, inCards } = judge(blocks, hints, pictures)
  const profile = PROFILES[kind]
  const weigh = (block: Block, i: number) =>
    kind === 'listing' && inCards[i] ? (block.words ?? 0) : plainWords(block)
  const part =
    (profile.marked === undefined ? undefined : markedRoot(blocks, good, profile.marked)) ??
    smallestRoot(blocks, good, profile.root, weigh)
  if (!part) return { blocks: [], isListing: false }
  const found = wholeOf(part, blocks)
  // Price, stock and choices stand beside the name, which is often far from the description, and the question above many answers.
  const isThread = kind === 'forum' || kind === 'board'
  const title = kind === 'listing' || kind === 'article' ? undefined : blocks.find(isTitle)
  const titleIndex = title ? blocks.indexOf(title) : -1
  const root = title?.at ? commonAncestor(found, title.at) : found
  const first = blocks.findIndex((block, i) => (good[i] || block === title) && within(root, block))
  const last = blocks.findLastIndex((block, i) => good[i] && within(root, block))
  const isProperty = createAncestry(({ name }) => name === 'dl')
  const isBelonging = (block: Block, i: number): boolean => {
    if (inCards[i]) return kind !== 'product'
    // Lists, tables and properties in the text are parts of it, whatever is in them; a forum has the figures of its members in lists.
    if (
      i >= first &&
      i <= last &&
      (block.kind === 'table' || ((isOfList(block) || isProperty(block.at)) && !hints.isForum))
    )
      return true
    // Bylines, dates and tags above the text are metadata.
    if (i < first && block.kind !== 'heading') return false
    if (!isThread && kind !== 'article' && isAfterSentences(i)) return true
    if ((block.words ?? 0) >= MIN_NAVIGATION_WORDS && isMostlyLinks(block))
      return block.kind === 'heading' && isHeadOf(i)
    for (let distance = 1; distance <= profile.near; distance++)
      if (good[i + distance] || good[i - distance]) return true
    return false
  }
  /** A paragraph of links right behind one of sentences ends it; in news it leads to other ones. */
  const isAfterSentences = (i: number): boolean => {
    const at = blocks[i]?.at
    const before = blocks[i - 1]?.at
    return at?.name === 'p' && good[i - 1] === true && before?.name === 'p' && before.parent === at.parent
  }
  /** The name of what stands right below it in the same part, such as a title over its summary. */
  const isHeadOf = (i: number): boolean => {
    const part = blocks[i]?.at?.parent?.parent
    for (let below = i + 1; below <= i + MAX_BETWEEN_HEAD; below++) {
      const block = blocks[below]
      if (!block || block.kind === 'heading') return false
      if (good[below]) return part !== undefined && within(part, block)
    }
    return false
  }
  const isKept = (block: Block, i: number): boolean => {
    // Above the answers of a thread its question is taken, above a text what introduces it, and nothing below them.
    if (kind !== 'product' && !within(found, block))
      return (isThread && block === title) || (good[i] === true && i > titleIndex && isBefore(block, found))
    return good[i] === true || isBelonging(block, i)
  }
  const isChosen = blocks.map((block, i) => within(root, block) && !isCaption(block) && isKept(block, i))
  const isBetween = createBetween(blocks.filter((_, i) => isChosen[i]))
  const kept = blocks.filter(
    (block, i) =>
      isChosen[i] ||
      (!isThread &&
        within(found, block) &&
        !isCaption(block) &&
        !inCards[i] &&
        !isMostlyLinks(block) &&
        isBetween(block)),
  )
  const blocksOnce = withoutRepeated(kept, { isProse: kind === 'article' || isThread })
  return {
    blocks: kind === 'product' ? withoutRepeatedStatements(blocksOnce) : blocksOnce,
    isListing: kind === 'listing',
  }
}

interface Judgement {
  readonly kind: Kind
  readonly good: readonly boolean[]
  /** Blocks in the cards of a listing, or of the other things that the page of a product offers. */
  readonly inCards: readonly boolean[]
}

function judge(blocks: readonly Block[], hints: PageHints, pictures: ReadonlySet<Element>): Judgement {
  const { isArticle, isForum, isProduct } = hints
  const good = blocks.map((block) => isGood(block, isArticle))
  if (isForum) return { kind: hints.isStatedForum ? 'forum' : 'board', good, inCards: [] }
  if (hints.isStatedArticle) return { kind: 'article', good, inCards: [] }
  const grids = findGrids(blocks, pictures)
  if (isProduct) {
    const inCards = areInCards(blocks, grids.filter(isOffering))
    return { kind: 'product', good: good.map((isGood, i) => isGood && !inCards[i]), inCards }
  }
  const inCards = areInCards(blocks, grids)
  let listed = 0
  let prose = 0
  blocks.forEach((block, i) => {
    if (inCards[i]) listed += block.words ?? 0
    else if (good[i]) prose += plainWords(block)
  })
  if (listed >= prose && (!isArticle || prose < MAX_LISTING_PROSE))
    return { kind: 'listing', good: good.map((isGood, i) => isGood || inCards[i] === true), inCards }
  // Cards below an article lead to other ones.
  return isArticle ? { kind: 'article', good, inCards: [] } : { kind: 'other', good, inCards }
}

function isGood(block: Block, isArticle: boolean): boolean {
  if (block.kind === 'code') return true
  const { words = 0, linkWords = 0 } = block
  if (linkWords >= words * MAX_LINK_SHARE) return !isArticle && words >= MIN_LINKED_WORDS
  return words >= (block.at?.name === 'p' ? MIN_PARAGRAPH_WORDS : MIN_GOOD_WORDS)
}

/** Cards of further things for sale have a price or a picture and are links for a good part; those of reviews are not. */
const isOffering = ({ cards, priced, pictured, words, linkWords }: Grid) =>
  linkWords * 4 >= words && Math.max(priced, pictured) * 2 >= cards.length

function areInCards(blocks: readonly Block[], grids: readonly Grid[]): boolean[] {
  const cards = grids.flatMap((grid) => grid.cards)
  // Sorted by where they begin and without those inside others, the last that begins before a block is the one to look at.
  const outermost: Element[] = []
  for (const card of cards.toSorted((one, other) => one.start - other.start))
    if ((outermost.at(-1)?.end ?? -1) < card.start) outermost.push(card)
  let next = 0
  const order = blocks
    .map((block, i) => ({ start: block.at?.start ?? -1, i }))
    .toSorted((one, other) => one.start - other.start)
  const inCards = blocks.map(() => false)
  for (const { start, i } of order) {
    while ((outermost[next]?.end ?? Infinity) < start) next++
    inCards[i] = (outermost[next]?.start ?? Infinity) <= start
  }
  return inCards
}

/** An item, also one that is set as a heading. */
const isOfList = ({ kind, at }: Block) => kind === 'item' || (kind === 'heading' && at?.parent?.name === 'li')

const isBefore = ({ at }: Block, { start }: Element) => at !== undefined && at.start < start

const isTitle = (block: Block) => block.kind === 'heading' && block.level === 1

const isMostlyLinks = ({ words = 0, linkWords = 0 }: Block) => linkWords >= words * NAVIGATION_LINK_SHARE

const isCaption = ({ at }: Block) =>
  at?.name === 'figcaption' || at?.parent?.name === 'figcaption' || at?.parent?.parent?.name === 'figcaption'
