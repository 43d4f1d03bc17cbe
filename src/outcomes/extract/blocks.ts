// Reads the tree into blocks in reading order: headings, paragraphs, list items, quotes, code, data tables. Iterative
// throughout.
import { type DataTable, readTable } from './table.ts'
import { cleanText, collapseSpaces, MORE_THAN_A_SPACE } from './text.ts'
import { type Element, estimateWords, textOf } from './tree.ts'

/** A run of text with one look. */
export interface Run {
  text: string
  readonly href: string | undefined
  readonly strong: boolean
  readonly emphasis: boolean
  readonly code: boolean
}

/** The place and weight of a block; blocks of text made elsewhere have no place. */
interface Place {
  readonly at?: Element
  readonly words?: number
  readonly linkWords?: number
}

export type Block = Place &
  (
    | { readonly kind: 'heading'; readonly level: number; readonly runs: readonly Run[] }
    | { readonly kind: 'paragraph' | 'quote'; readonly runs: readonly Run[] }
    | {
        readonly kind: 'item'
        readonly depth: number
        readonly ordinal: number | null
        readonly runs: readonly Run[]
      }
    | { readonly kind: 'code'; readonly text: string }
    | { readonly kind: 'table'; readonly table: DataTable }
  )

const BLOCKS = new Set(
  'address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul caption'.split(
    ' ',
  ),
)
/** Elements that change the look of the text inside them without being blocks. */
const STYLED = new Set(['a', 'b', 'strong', 'i', 'em', 'code', 'kbd', 'samp'])
/** Whether text can belong to this element: text in another one belongs to the block around it. */
export const isBlockElement = ({ name }: Element) => BLOCKS.has(name)
const MAX_LIST_DEPTH = 8

/** The mark lies in the stack above an element whose inside was read. */
const LEAVE = Symbol('leave')
type Step = Element | string | typeof LEAVE

/**
 * @param isLeftOut parts of the page that are not read
 */
export function readBlocks(
  root: Element,
  isLeftOut: (element: Element, insideArticle: boolean) => boolean,
): Block[] {
  const blocks: Block[] = []
  let runs: Run[] = []
  const look = { href: undefined as string | undefined, strong: 0, emphasis: 0, code: 0 }
  const place = { heading: 0, quote: 0, article: 0 }
  // The values that hold again behind the element that is read, innermost last.
  const outerBlocks: Element[] = []
  const outerHrefs: (string | undefined)[] = []
  const outerHeadings: number[] = []
  const lists: { ordinal: number | null }[] = []
  let item: { depth: number; ordinal: number | null } | undefined
  let at = root

  function flush(): void {
    if (runs.length === 0) return
    const tidy = tidyRuns(runs)
    runs = []
    if (tidy.length === 0) return
    const { words, linkWords } = weigh(tidy)
    if (place.heading > 0)
      blocks.push({ kind: 'heading', level: place.heading, runs: tidy, at, words, linkWords })
    else if (item) {
      blocks.push({ kind: 'item', ...item, runs: tidy, at, words, linkWords })
      // Further paragraphs of the same item are plain text below it.
      item = undefined
    } else blocks.push({ kind: place.quote > 0 ? 'quote' : 'paragraph', runs: tidy, at, words, linkWords })
  }

  function addText(text: string): void {
    const { href } = look
    const strong = look.strong > 0
    const emphasis = look.emphasis > 0
    const code = look.code > 0
    const last = runs.at(-1)
    if (
      last &&
      last.href === href &&
      last.strong === strong &&
      last.emphasis === emphasis &&
      last.code === code
    )
      last.text += text
    // White space between blocks is nothing.
    else if (last || text !== ' ') runs.push({ text, href, strong, emphasis, code })
  }

  const stack: Step[] = [root]
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    if (step === LEAVE) leave(stack.pop() as Element)
    else if (typeof step === 'string') addText(step === ' ' ? step : collapseRuns(cleanText(step)))
    else enter(step)
  }
  flush()
  return blocks

  function enter(element: Element): void {
    const { name, children } = element
    if (name === 'head' || name === 'title') return
    if (element !== root && isLeftOut(element, place.article > 0)) return
    if (name === 'br') return addText('\n')
    if (name === 'img') return
    const isBlock = BLOCKS.has(name)
    if (isBlock) {
      flush()
      if (name === 'pre') {
        const text = cleanText(textOf(element)).replace(/^\n/, '').trimEnd()
        if (text.trim() !== '') blocks.push({ kind: 'code', text, ...weightOf(element) })
        return
      }
      if (name === 'table') {
        const table = readTable(element)
        if (table) {
          blocks.push({ kind: 'table', table, ...weightOf(element) })
          return
        }
      }
      outerBlocks.push(at)
      at = element
    }
    style(element)
    if (isBlock || STYLED.has(name)) stack.push(element, LEAVE)
    for (const child of children.toReversed()) stack.push(child)
  }

  /** Applies what an element changes for the text inside it. */
  function style({ name, attributes }: Element): void {
    switch (name) {
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        outerHeadings.push(place.heading)
        place.heading = Number(name[1])
        break
      case 'a':
        outerHrefs.push(look.href)
        look.href = attributes['href'] ?? look.href
        break
      case 'b':
      case 'strong':
        look.strong++
        break
      case 'i':
      case 'em':
        look.emphasis++
        break
      case 'code':
      case 'kbd':
      case 'samp':
        look.code++
        break
      case 'blockquote':
        place.quote++
        break
      case 'article':
      case 'main':
        place.article++
        break
      case 'ul':
      case 'ol':
        lists.push({ ordinal: name === 'ol' ? 1 : null })
        break
      case 'li': {
        const list = lists.at(-1)
        const ordinal = list?.ordinal ?? null
        if (list && list.ordinal !== null) list.ordinal++
        item = { depth: Math.min(Math.max(lists.length - 1, 0), MAX_LIST_DEPTH), ordinal }
      }
    }
  }

  /** Takes back what `style` applied. */
  function leave({ name }: Element): void {
    if (BLOCKS.has(name)) {
      flush()
      at = outerBlocks.pop() ?? root
    }
    switch (name) {
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        place.heading = outerHeadings.pop() ?? 0
        break
      case 'a':
        look.href = outerHrefs.pop()
        break
      case 'b':
      case 'strong':
        look.strong--
        break
      case 'i':
      case 'em':
        look.emphasis--
        break
      case 'code':
      case 'kbd':
      case 'samp':
        look.code--
        break
      case 'blockquote':
        place.quote--
        break
      case 'article':
      case 'main':
        place.article--
        break
      case 'ul':
      case 'ol':
        lists.pop()
        break
      case 'li':
        item = undefined
    }
  }
}

const weightOf = (at: Element) => ({ at, words: at.words, linkWords: at.linkWords })

function weigh(runs: readonly Run[]): { words: number; linkWords: number } {
  let words = 0
  let linkWords = 0
  for (const { text, href } of runs) {
    const count = estimateWords(text)
    words += count
    if (href !== undefined) linkWords += count
  }
  return { words, linkWords }
}

const RUN_OF_SPACES = /[\t\n\v\f\r]|\s\s|[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/
const collapseRuns = (text: string) =>
  RUN_OF_SPACES.test(text) ? text.replace(MORE_THAN_A_SPACE, ' ') : text

/** The characters that `tidyRuns` changes: most texts have none of them. */
const UNTIDY = /[\t\v\f\r\n\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]|  /

/** Spaces as a reader sees them: none at the ends, one between words, none around line breaks. Changes the runs. */
function tidyRuns(runs: readonly Run[]): Run[] {
  const tidy: Run[] = []
  let endsWithSpace = true
  for (const run of runs) {
    let { text } = run
    if (UNTIDY.test(text)) text = text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n[ \n]*/g, '\n')
    if (endsWithSpace) text = text.trimStart()
    if (text === '') continue
    const before = tidy.at(-1)
    if (before && text.startsWith('\n')) before.text = before.text.trimEnd()
    endsWithSpace = text.endsWith(' ') || text.endsWith('\n')
    run.text = text
    tidy.push(run)
  }
  for (let last = tidy.at(-1); last; last = tidy.at(-1)) {
    last.text = last.text.trimEnd()
    if (last.text !== '') break
    tidy.pop()
  }
  return tidy
}

/** The text of runs without their looks. */
export const textOfRuns = (runs: readonly Run[]): string => runs.map((run) => run.text).join('')

function textOfBlock(block: Block): string {
  if (block.kind === 'code') return block.text
  if (block.kind !== 'table') return textOfRuns(block.runs)
  const { caption, header, rows } = block.table
  const lines = [...(caption === null ? [] : [caption]), ...(header.length > 0 ? [header] : []), ...rows]
  return lines.map((line) => (typeof line === 'string' ? line : collapseSpaces(line.join(' ')))).join('\n')
}

/**
 * Blocks apart by a blank line, items of a list by a line.
 * @param maxCharacters ends behind the block that goes over it: the caller cuts
 */
export function textOfBlocks(blocks: readonly Block[], maxCharacters: number): string {
  let text = ''
  let before: Block['kind'] | undefined
  for (const block of blocks) {
    if (text.length > maxCharacters) break
    const piece = textOfBlock(block)
    if (piece === '') continue
    text += before === undefined ? '' : before === 'item' && block.kind === 'item' ? '\n' : '\n\n'
    text += piece
    before = block.kind
  }
  return text
}
