// Decides which blocks of a page are its main text: the good ones in the part that holds most of them, and what belongs to
// them. Where that finds little, other places that carry the text are tried; the answer names the one that did.
import { type Block, readBlocks } from './blocks.ts'
import { createBoilerplateRules } from './boilerplate.ts'
import { markedRoot, smallestRoot } from './root.ts'
import { type Element, elementsBelow, estimateWords, type ParsedPage } from './tree.ts'

export interface PageHints {
  readonly isArticle: boolean
  /** Threads of posts: what elsewhere are comments is the content here. */
  readonly isForum: boolean
  /** Main text that structured data carries. */
  readonly statedText: string | undefined
}

export const EXTRACTION_MODES = [
  'scored',
  'listing',
  'noscript',
  'json-ld',
  'body',
  'everything',
  'empty',
] as const
export type ExtractionMode = (typeof EXTRACTION_MODES)[number]

export interface Choice {
  readonly blocks: readonly Block[]
  readonly mode: ExtractionMode
}

/** Fewer words are no text to be content with: other places are tried. */
const MIN_WORDS = 80
/** Fewer words are chance: the page is then taken as a whole. */
const MIN_SCORED_WORDS = 30
const MIN_NOSCRIPT_WORDS = 40
/** How often the main part must hold the words of the prose in it, to be a list of links rather than a text. */
const LISTING_RATIO = 8

const MIN_GOOD_WORDS = 8
const MIN_PARAGRAPH_WORDS = 6
/** A whole sentence inside a link is a teaser with words of its own. */
const MIN_LINKED_WORDS = 20
const MAX_LINK_SHARE = 0.5
/** Short blocks that are mostly links are navigation, even between good ones. */
const NAVIGATION_LINK_SHARE = 0.7
const NEAR = 2
/** Shares of the good text: what the root must hold, and what a part marked as the body must hold. */
const SHARES = {
  article: { root: 0.65, marked: 0.3 },
  // Every post counts, also the one outside the list of replies.
  forum: { root: 0.9, marked: 0.9 },
  other: { root: 0.75, marked: 0.5 },
}

/** @param hints what the page says it is */
export function chooseBlocks(page: ParsedPage, hints: PageHints): Choice {
  const rules = createBoilerplateRules(page.root)
  const choose = (root: Element, withComments: boolean) => {
    const all = readBlocks(root, (element, isInside) => {
      if (element.name === 'noscript') return true
      const kind = rules(element, isInside)
      return kind !== undefined && !(kind === 'comments' && withComments)
    })
    return { all, scored: scoreBlocks(all, hints) }
  }
  let { all, scored } = choose(page.root, !hints.isArticle)
  if (wordsOf(scored) < MIN_WORDS && hints.isArticle) {
    const other = choose(page.root, true)
    if (wordsOf(other.scored) > 2 * wordsOf(scored)) ({ all, scored } = other)
  }
  if (wordsOf(scored) < MIN_WORDS) {
    const noscript = largestNoscript(page.root)
    if (noscript && noscript.words >= MIN_NOSCRIPT_WORDS) {
      const other = choose(noscript, true)
      if (wordsOf(other.scored) > 2 * wordsOf(scored)) return { blocks: other.scored, mode: 'noscript' }
    }
    const stated = hints.statedText === undefined ? [] : paragraphsOf(hints.statedText)
    if (wordsOf(stated) >= MIN_WORDS && wordsOf(stated) > 2 * wordsOf(scored))
      return { blocks: stated, mode: 'json-ld' }
  }
  if (!hints.isArticle && !hints.isForum) {
    const listed = readListing(page.root, all, scored)
    if (listed) return { blocks: listed, mode: 'listing' }
  }
  if (wordsOf(scored) >= MIN_SCORED_WORDS) return { blocks: scored, mode: 'scored' }
  if (all.length > 0) return { blocks: all, mode: 'body' }
  const everything = readBlocks(page.root, (element) => element.name === 'noscript')
  return { blocks: everything, mode: everything.length > 0 ? 'everything' : 'empty' }
}

const wordsOf = (blocks: readonly Block[]) => blocks.reduce((sum, { words = 0 }) => sum + words, 0)

function scoreBlocks(blocks: readonly Block[], { isArticle, isForum }: PageHints): Block[] {
  const shares = isArticle ? SHARES.article : isForum ? SHARES.forum : SHARES.other
  const good = blocks.map((block) => isGood(block, isArticle))
  const root = markedRoot(blocks, good, shares.marked) ?? smallestRoot(blocks, good, shares.root)
  if (!root) return []
  const first = blocks.findIndex((block, i) => good[i] && isWithin(block, root))
  return blocks.filter((block, i) => {
    if (!isWithin(block, root) || isCaption(block)) return false
    if (good[i]) return true
    // Bylines, dates and tags above the text are metadata.
    if (i < first && block.kind !== 'heading') return false
    const { words = 0, linkWords = 0 } = block
    if (words > 3 && linkWords >= words * NAVIGATION_LINK_SHARE) return false
    for (let distance = 1; distance <= NEAR; distance++)
      if (good[i + distance] || good[i - distance]) return true
    return false
  })
}

function isGood(block: Block, isArticle: boolean): boolean {
  if (block.kind === 'code') return true
  const { words = 0, linkWords = 0 } = block
  if (linkWords >= words * MAX_LINK_SHARE) return !isArticle && words >= MIN_LINKED_WORDS
  return words >= (block.at?.name === 'p' ? MIN_PARAGRAPH_WORDS : MIN_GOOD_WORDS)
}

const isWithin = ({ at }: Block, root: Element) =>
  at !== undefined && at.start >= root.start && at.start <= root.end

const isCaption = ({ at }: Block) =>
  at?.name === 'figcaption' || at?.parent?.name === 'figcaption' || at?.parent?.parent?.name === 'figcaption'

/** Pages whose content is links: what stands in the main part, once it outweighs the prose. */
function readListing(root: Element, all: readonly Block[], scored: readonly Block[]): Block[] | undefined {
  const main = findMain(root)
  if (!main) return undefined
  const inside = all.filter((block) => isWithin(block, main))
  const words = wordsOf(inside)
  return words >= MIN_SCORED_WORDS && words >= wordsOf(scored) * LISTING_RATIO ? inside : undefined
}

function findMain(root: Element): Element | undefined {
  for (const element of elementsBelow(root))
    if (element.name === 'main' || element.attributes['role'] === 'main') return element
  return undefined
}

/** The copy for crawlers that pages without a text of their own carry. */
function largestNoscript(root: Element): Element | undefined {
  let best: Element | undefined
  for (const element of elementsBelow(root))
    if (element.name === 'noscript' && (!best || element.words > best.words)) best = element
  return best
}

const paragraphsOf = (text: string): Block[] =>
  text
    .split(/\n+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => ({
      kind: 'paragraph',
      runs: [{ text: line, href: undefined, strong: false, emphasis: false, code: false }],
      words: estimateWords(line),
      linkWords: 0,
    }))
