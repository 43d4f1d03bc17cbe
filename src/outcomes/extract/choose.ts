// Where the main text of a page is read from: from the blocks that score.ts chooses, and where those are few, from other places
// that carry the text. The answer names the one that did.
import { type Block, readBlocks, textOfBlock } from './blocks.ts'
import type { BoilerplateRules } from './boilerplate.ts'
import { withAncestors } from './grids.ts'
import type { PageHints } from './hints.ts'
import { within } from './root.ts'
import { scoreBlocks } from './score.ts'
import { type Element, estimateWords, type ParsedPage } from './tree.ts'

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
const MIN_DESCRIPTION_WORDS = 15
const MAX_COMPARED_CHARACTERS = 40
/** How often the main part must hold the words of the prose in it, to be a list of links rather than a text. */
const LISTING_RATIO = 8

/**
 * @param hints what the page says it is
 * @param rules which parts of it are boilerplate
 */
export function chooseBlocks(page: ParsedPage, hints: PageHints, rules: BoilerplateRules): Choice {
  const pictures = withAncestors(page.all, 'img')
  const choose = (root: Element, withComments: boolean) => {
    const all = readBlocks(root, (element, isInside) => {
      if (element.name === 'noscript') return true
      const kind = rules(element, isInside)
      return kind !== undefined && !(kind === 'comments' && withComments)
    })
    const { blocks: scored, isListing } = scoreBlocks(all, hints, pictures)
    return { all, scored, isListing }
  }
  let { all, scored, isListing } = choose(page.root, !hints.isArticle)
  if (wordsOf(scored) < MIN_WORDS && hints.isArticle) {
    const other = choose(page.root, true)
    if (wordsOf(other.scored) > 2 * wordsOf(scored)) ({ all, scored, isListing } = other)
  }
  if (wordsOf(scored) < MIN_WORDS) {
    const noscript = largestNoscript(page)
    if (noscript && noscript.words >= MIN_NOSCRIPT_WORDS) {
      const other = choose(noscript, true)
      if (wordsOf(other.scored) > 2 * wordsOf(scored)) return { blocks: other.scored, mode: 'noscript' }
    }
    const stated = hints.statedText === undefined ? [] : paragraphsOf(hints.statedText)
    if (wordsOf(stated) >= MIN_WORDS && wordsOf(stated) > 2 * wordsOf(scored))
      return { blocks: stated, mode: 'json-ld' }
    if (hints.isProduct && isMissing(stated, scored))
      return { blocks: [...scored, ...stated], mode: 'json-ld' }
  }
  if (!hints.isArticle && !hints.isForum) {
    const listed = readListing(page, all, scored)
    if (listed) return { blocks: listed, mode: 'listing' }
  }
  if (wordsOf(scored) >= MIN_SCORED_WORDS) return { blocks: scored, mode: isListing ? 'listing' : 'scored' }
  if (all.length > 0) return { blocks: all, mode: 'body' }
  const everything = readBlocks(page.root, (element) => element.name === 'noscript')
  return { blocks: everything, mode: everything.length > 0 ? 'everything' : 'empty' }
}

/** A shop that shows its description once scripts run states it all the same: enough words, and not those of the page. */
function isMissing(stated: readonly Block[], scored: readonly Block[]): boolean {
  const words = wordsOf(stated)
  if (words < MIN_DESCRIPTION_WORDS || words * 2 < wordsOf(scored)) return false
  const [first] = stated
  if (!first) return false
  const start = textOfBlock(first).slice(0, MAX_COMPARED_CHARACTERS)
  return !scored.some((block) => textOfBlock(block).includes(start))
}

const wordsOf = (blocks: readonly Block[]) => blocks.reduce((sum, { words = 0 }) => sum + words, 0)

/** Pages whose content is links: what stands in the main part, once it outweighs the prose. */
function readListing(page: ParsedPage, all: readonly Block[], scored: readonly Block[]): Block[] | undefined {
  const main = page.all.find(isMain)
  if (!main) return undefined
  const inside = all.filter((block) => within(main, block))
  const words = wordsOf(inside)
  return words >= MIN_SCORED_WORDS && words >= wordsOf(scored) * LISTING_RATIO ? inside : undefined
}

const isMain = ({ name, attributes }: Element) => name === 'main' || attributes['role'] === 'main'

/** The copy for crawlers that pages without a text of their own carry. */
function largestNoscript(page: ParsedPage): Element | undefined {
  let best: Element | undefined
  for (const element of page.all)
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
