// Finds the part of a page that its main text is in: what the page itself calls the body, else the smallest part that holds
// most of the good text.
import type { Block } from './blocks.ts'
import { attribute, type Element } from './tree.ts'

/** Words outside links. */
export const plainWords = ({ words = 0, linkWords = 0 }: Block) => words - linkWords

/** Whether a block stands in an element. */
export const within = ({ start, end }: Element, { at }: Block): boolean =>
  at !== undefined && at.start >= start && at.start <= end

/**
 * The deepest element that holds the share of all good words.
 * @param weigh how many words a block counts for
 */
export function smallestRoot(
  blocks: readonly Block[],
  good: readonly boolean[],
  share: number,
  weigh: (block: Block, index: number) => number = plainWords,
): Element | undefined {
  const held = new Map<Element, number>()
  let total = 0
  blocks.forEach((block, i) => {
    if (!good[i] || !block.at) return
    const words = weigh(block, i)
    total += words
    // Every ancestor is added once, so that deep pages cost no more than flat ones.
    for (let at: Element | undefined = block.at; at && !held.has(at); at = at.parent) held.set(at, 0)
    held.set(block.at, (held.get(block.at) ?? 0) + words)
  })
  let best: Element | undefined
  // Later elements are never above earlier ones: what they hold is complete when their turn comes.
  for (const element of [...held.keys()].sort((one, other) => other.start - one.start)) {
    const words = held.get(element) ?? 0
    if (words >= total * share && (!best || element.start > best.start)) best = element
    if (element.parent) held.set(element.parent, (held.get(element.parent) ?? 0) + words)
  }
  return best
}

/** A part with little more than one paragraph holds a text of one paragraph: its heading and its link belong to it. */
const MAX_WHOLE_RATIO = 1.25

/** The part around a text that is one block, where there is little else in it. */
export function wholeOf(part: Element, blocks: readonly Block[]): Element {
  const { parent } = part
  const isWhole = parent !== undefined && parent.words <= part.words * MAX_WHOLE_RATIO
  return isWhole && blocks.some(({ at }) => at === part) ? parent : part
}

/** The deepest element that both lie in. */
export function commonAncestor(one: Element, other: Element): Element {
  let at = one
  while (at.parent && !(other.start >= at.start && other.start <= at.end)) at = at.parent
  return at
}

const MIN_MARKED_WORDS = 80
/** Bodies are sent in pieces, with advertising between them: the part that holds nearly all of them. */
const MARKED_PIECES_SHARE = 0.9
const BODY_NAME =
  /(?:^|[\s_-])(?:article|story|post|entry|blog|news|single)[\s_-]{0,2}(?:body|content|text)(?:$|[\s_-])|articlebody|storybody|postcontent|entrycontent/i
const MAX_NAME_CHARACTERS = 300

/** @param share of the good text that must be in it, or the name is of something else */
export function markedRoot(
  blocks: readonly Block[],
  good: readonly boolean[],
  share: number,
): Element | undefined {
  const isInMarked = createAncestry(isMarked)
  let total = 0
  let marked = 0
  const within = blocks.map((block, i) => {
    if (!good[i]) return false
    total += plainWords(block)
    if (!isInMarked(block.at)) return false
    marked += plainWords(block)
    return true
  })
  if (marked < MIN_MARKED_WORDS || marked < total * share) return undefined
  return smallestRoot(blocks, within, MARKED_PIECES_SHARE)
}

function isMarked({ attributes }: Element): boolean {
  if (attribute(attributes, 'itemprop')?.toLowerCase() === 'articlebody') return true
  const { class: className, id } = attributes
  if (className === undefined && id === undefined) return false
  const names = `${className ?? ''} ${id ?? ''}`
  return names.length > 6 && names.length < MAX_NAME_CHARACTERS && BODY_NAME.test(names)
}

/** Whether an element or one it stands in is so; every element is asked once. */
export function createAncestry(
  isSo: (element: Element) => boolean,
): (element: Element | undefined) => boolean {
  const known = new Map<Element, boolean>()
  return (element) => {
    const passed: Element[] = []
    let at = element
    while (at && !known.has(at)) {
      passed.push(at)
      if (isSo(at)) break
      at = at.parent
    }
    const result = at !== undefined && (known.get(at) ?? true)
    for (const each of passed) known.set(each, result)
    return result
  }
}
