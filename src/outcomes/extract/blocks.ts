// Reads the tree into blocks in reading order: headings, paragraphs, list items, quotes, code, data tables; what shows no
// text of its own, images and rules, is kept beside them. Iterative throughout.
import { isSetApart } from './apart.ts'
import { codeLanguage, codeText, isLineNumbers } from './code.ts'
import { BLOCKS, isPart, isTextHolder, pushReversed } from './elements.ts'
import { createFrames, type Frame, type Item } from './frames.ts'
import type { Image } from './image.ts'
import { createRunCollector, type Run, textOfRuns, weighRuns } from './runs.ts'
import { type DataTable, readTable } from './table.ts'
import { cleanText, collapseSpaces } from './text.ts'
import { attribute, type Element, textOf } from './tree.ts'

/** An image alone, or a rule: nothing that is counted or scored, so it is no block. */
export type Figure =
  | { readonly kind: 'rule'; readonly at?: Element }
  | {
      readonly kind: 'image'
      readonly at: Element
      readonly image: Image
      readonly href: string | undefined
      readonly caption: string
    }

/** The figures of one reading of a page, in its order. */
interface Figures {
  readonly all: readonly Figure[]
  /** So many stand before this block. */
  readonly before: number
  /** Number of the block in the reading, so that it is told whether one between two was left out. */
  readonly block: number
}

/** The place and weight of a block; blocks of text made elsewhere have no place. */
interface Place {
  readonly at?: Element
  readonly words?: number
  readonly linkWords?: number
  readonly frame?: Frame
  readonly figures?: Figures
}

export type Block = Place &
  (
    | { readonly kind: 'heading'; readonly level: number; readonly runs: readonly Run[] }
    | { readonly kind: 'paragraph' | 'quote'; readonly runs: readonly Run[] }
    | ({ readonly kind: 'item'; readonly runs: readonly Run[] } & Partial<Pick<Item, 'inset' | 'isDone'>> &
        Pick<Item, 'depth' | 'ordinal'>)
    | { readonly kind: 'code'; readonly text: string; readonly language?: string | undefined }
    | { readonly kind: 'table'; readonly table: DataTable }
    /** Markdown as somebody else wrote it. */
    | { readonly kind: 'source'; readonly text: string }
  )

/** What a part of a page stands in. */
export interface Surroundings {
  readonly article: number
  readonly section: number
  readonly quote: number
}

export const NOWHERE: Surroundings = { article: 0, section: 0, quote: 0 }

/** What the children of an element stand in. */
export function surroundingsIn({ name }: Element, around: Surroundings): Surroundings {
  if (name === 'article' || name === 'main') return { ...around, article: around.article + 1 }
  if (name === 'section') return { ...around, section: around.section + 1 }
  return name === 'blockquote' ? { ...around, quote: around.quote + 1 } : around
}

/** The mark lies in the stack above an element whose inside was read. */
const LEAVE = Symbol('leave')
/** What follows stands in a line of its own. */
const BREAK = Symbol('break')
type Step = Element | string | typeof LEAVE | typeof BREAK

const HEADING = /^h[1-6]$/
const MAX_CAPTION_PIECES = 300
const MAX_CITE_PIECES = 50
/** Signs that link to the heading or the term they stand in. */
const ANCHOR_SIGN = /^[\s#¶§🔗]*$/u
/** Signs that lead from a note back to the text. */
const BACK_SIGN = /^(?:[\s^↑↩⤴⬆]|\uFE0E)+$/u

/**
 * @param isLeftOut parts of the page that are not read; of what stands within a text, whether it has such a name
 */
export function readBlocks(
  root: Element,
  isLeftOut: (element: Element, around: Surroundings) => boolean,
): Block[] {
  const blocks: Block[] = []
  const figures: Figure[] = []
  const collector = createRunCollector()
  const frames = createFrames()
  const captionAt = createCaptions()
  const around = { article: 0, section: 0, quote: 0 }
  // The values that hold again behind the element that is read, innermost last.
  const outerBlocks: Element[] = []
  const headings: number[] = []
  let at = root

  const placeOf = (weight: { words: number; linkWords: number }): Required<Place> => ({
    at,
    words: weight.words,
    linkWords: weight.linkWords,
    frame: frames.frame(),
    figures: { all: figures, before: figures.length, block: blocks.length },
  })

  function flush(): void {
    const runs = collector.take({ keepsAside: isTextHolder(at) })
    if (runs.length === 0) return
    if (!runs.some(({ image }) => image === undefined)) {
      for (const { image, href } of runs)
        if (image) figures.push({ kind: 'image', image, href, caption: captionAt(at), at })
      return
    }
    const place = placeOf(weighRuns(runs))
    const level = headings.at(-1)
    if (level !== undefined) return void blocks.push({ kind: 'heading', level, runs, ...place })
    // Further paragraphs of the same item are plain text below it.
    const item = frames.takeItem()
    if (item) blocks.push({ kind: 'item', ...item, runs, ...place })
    else blocks.push({ kind: frames.inQuote ? 'quote' : 'paragraph', runs, ...place })
  }

  const stack: Step[] = [root]
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    if (step === LEAVE) leave(stack.pop() as Element)
    else if (step === BREAK) collector.breakLine()
    else if (typeof step === 'string') collector.text(step)
    else enter(step)
  }
  flush()
  return blocks

  function enter(element: Element): void {
    const { name, children } = element
    if (name === 'head' || name === 'title') return
    if (name === 'input') return frames.setTask(attribute(element.attributes, 'checked') !== undefined)
    const isBlock = BLOCKS.has(name)
    let isAside = false
    // Within a text nothing is left out by its name: a word called a tooltip is a word of the sentence.
    if (element !== root && (isPart(element) || !isTextHolder(at)) && isLeftOut(element, around)) {
      if (isPart(element) || name === 'noscript') return
      isAside = true
    }
    if (isBlock && element.formula !== undefined) {
      flush()
      collector.enter(element, false)
      flush()
    } else if (!isBlock) {
      if (name === 'noscript' && element !== root) return
      if (name === 'a' && isSignLink(element, headings.length > 0 || at.name === 'dt')) return
      if (name === 'span' && EDIT_LINK.test(element.attributes['class'] ?? '')) return
      // Forums name who is quoted in the line above.
      if (name === 'cite' && frames.inQuote && textOf(element, '', MAX_CITE_PIECES).trimEnd().endsWith(':'))
        stack.push(BREAK)
      if (isSetApart(element)) collector.text(' ')
      const entered = collector.enter(element, isAside)
      if (entered === 'done') return
      if (entered === 'styled') stack.push(element, LEAVE)
    } else {
      flush()
      if (name === 'hr') return void figures.push({ kind: 'rule', at: element })
      if (name === 'pre') return readCode(element)
      if (name === 'table') {
        const table = readTable(element)
        if (table) {
          blocks.push({ kind: 'table', table, ...placeOf(element), at: element })
          return
        }
      }
      outerBlocks.push(at)
      at = element
      if (HEADING.test(name)) headings.push(Number(name[1]))
      count(name, 1)
      frames.enter(element)
      stack.push(element, LEAVE)
    }
    if (element.formula === undefined) pushReversed<Step>(stack, children)
  }

  function leave(element: Element): void {
    const { name } = element
    if (!BLOCKS.has(name)) return collector.leave(element)
    flush()
    at = outerBlocks.pop() ?? root
    if (HEADING.test(name)) headings.pop()
    count(name, -1)
    frames.leave(element)
  }

  function count(name: string, by: 1 | -1): void {
    if (name === 'article' || name === 'main') around.article += by
    else if (name === 'section') around.section += by
    else if (name === 'blockquote') around.quote += by
  }

  function readCode(element: Element): void {
    const text = codeText(element)
    if (text.trim() === '' || isLineNumbers(element, text)) return
    blocks.push({
      kind: 'code',
      text,
      language: codeLanguage(element),
      ...placeOf(element),
      at: element,
    })
  }
}

function isSignLink(link: Element, isInTitle: boolean): boolean {
  if (link.words > 1 || link.attributes['href']?.includes('#') !== true) return false
  const text = textOf(link, '', 10)
  return (isInTitle && ANCHOR_SIGN.test(text)) || (BACK_SIGN.test(text) && text.trim() !== '')
}

/** What a wiki puts behind each heading for those who write it. */
const EDIT_LINK = /(?:^|\s)mw-editsection(?:\s|$)/

/** The words under an image, where its figure has some. A figure of many images is looked through once. */
function createCaptions(): (at: Element) => string {
  const known = new Map<Element, string>()
  return (at) => {
    const figure = figureAround(at)
    if (!figure) return ''
    const caption = known.get(figure) ?? captionOf(figure)
    known.set(figure, caption)
    return caption
  }
}

function figureAround(at: Element): Element | undefined {
  let figure: Element | undefined = at
  for (let levels = 0; figure && figure.name !== 'figure' && levels < 4; levels++) figure = figure.parent
  return figure?.name === 'figure' ? figure : undefined
}

function captionOf(figure: Element): string {
  const caption = figure.children.find((child) => typeof child !== 'string' && child.name === 'figcaption')
  return caption && typeof caption !== 'string'
    ? collapseSpaces(cleanText(textOf(caption, '', MAX_CAPTION_PIECES)))
    : ''
}

/** The text of a block, once whatever it spans. */
export function textOfBlock(block: Block): string {
  if (block.kind === 'code' || block.kind === 'source') return block.text
  if (block.kind !== 'table') return textOfRuns(block.runs)
  const { caption, lines } = block.table
  return [
    ...(caption === null ? [] : [caption]),
    ...lines.map((line) => collapseSpaces(line.join(' '))),
  ].join('\n')
}

/** Blocks are apart by a blank line, items of a list by a line. */
export const separatorBetween = (before: Block, block: Block): string =>
  before.kind === 'item' && block.kind === 'item' ? '\n' : '\n\n'
