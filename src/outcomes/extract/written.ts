// Writes the part of a document that there is room for, as text and as Markdown of the same blocks.
import type { ExtractedDocument } from '../../../schemas/document.ts'
import { lastCutWithin, MIN_SHARE, type Cut } from '../text/cut.ts'
import type { Block } from './blocks.ts'
import { withFigures } from './figures.ts'
import { type MarkdownOptions, toMarkdown } from './markdown.ts'
import { takePortion } from './portion.ts'
import { cutText } from './text.ts'

export interface Written {
  /** Those that are written. */
  readonly blocks: readonly Block[]
  readonly document: Pick<ExtractedDocument, 'text' | 'markdown'> &
    Required<Pick<ExtractedDocument, 'characters' | 'start' | 'next_start'>>
  readonly cuts: readonly Cut[]
  /** `text` and `markdown`, where something follows. */
  readonly truncated: readonly string[]
}

/** Characters of text and Markdown. */
const MIN_BETWEEN_CUTS = 400

interface Room {
  /** Offset in the whole text, in Unicode characters. */
  readonly start: number
  /** Of text and of Markdown each. */
  readonly maxCharacters: number
}

type Options = Omit<MarkdownOptions, 'maxCharacters' | 'onEnd'>

/** Escapes make Markdown at most twice as long as its text; addresses may make it any length. */
const MIN_TEXT_SHARE = 1 / 8
const SLIGHTLY_LESS = 0.98

/** @param blocks of the whole document */
export const writeDocument = (blocks: readonly Block[], room: Room, options: Options): Written =>
  write(blocks, room, options, room.maxCharacters)

/** @param maxText of the text, where the Markdown of more of it has no room */
function write(
  blocks: readonly Block[],
  { start, maxCharacters }: Room,
  options: Options,
  maxText: number,
): Written {
  const portion = takePortion(blocks, start, maxText)
  const lengths = new Map<unknown, number>()
  const whole = toMarkdown(withFigures(portion.blocks), {
    ...options,
    maxCharacters,
    onEnd: (piece, length) => void lengths.set(piece, length),
  })
  const cuts = portion.blocks.flatMap((block, i): Cut[] => {
    const markdown = lengths.get(block)
    const end = portion.ends[i]
    return markdown === undefined || !end ? [] : [{ ...end, markdown }]
  })
  let { text, next } = portion
  let markdown = whole
  if (markdown.length > maxCharacters) {
    const cut = lastCutWithin(cuts, (each) => each.markdown <= maxCharacters)
    const isNear = cut !== undefined && cut.text >= text.length * MIN_SHARE
    // The mark of a heading and a few escapes need little room; where that is not enough, it is addresses.
    const less = Math.floor(maxText === maxCharacters ? maxText * SLIGHTLY_LESS : maxText / 2)
    if (!isNear && less >= maxCharacters * MIN_TEXT_SHARE)
      return write(blocks, { start, maxCharacters }, options, less)
    // One block whose addresses alone are too long: its text is whole, and its Markdown says that it is not.
    if (!cut) {
      const markdownCut = cutText(markdown, maxCharacters).trimEnd()
      const first = cuts[0]
      return {
        blocks: portion.blocks,
        document: {
          text: text.trimEnd(),
          markdown: markdownCut,
          characters: portion.characters,
          start,
          next_start: next,
        },
        cuts: first ? [first] : [],
        truncated: next === null ? ['markdown'] : ['markdown', 'text'],
      }
    }
    text = text.slice(0, cut.text)
    markdown = markdown.slice(0, cut.markdown)
    next = cut.next
  }
  const kept = cuts.filter(({ text: end }) => end <= text.length)
  return {
    blocks: portion.blocks.slice(0, kept.length || undefined),
    document: {
      text: text.trimEnd(),
      markdown: markdown.trimEnd(),
      characters: portion.characters,
      start,
      next_start: next,
    },
    cuts: thin(kept),
    truncated: next === null ? [] : ['markdown', 'text'],
  }
}

/** Cuts close to each other are of no use, and there are as many as blocks. */
function thin(cuts: readonly Cut[]): Cut[] {
  const thinned: Cut[] = []
  for (const cut of cuts) {
    const last = thinned.at(-1)
    if (!last || cut.text + cut.markdown - last.text - last.markdown >= MIN_BETWEEN_CUTS) thinned.push(cut)
  }
  return thinned
}

/** Why an offset gives nothing; undefined where it does. */
export const startsBehind = ({
  text,
  characters = 0,
  start = 0,
}: Pick<ExtractedDocument, 'text' | 'characters' | 'start'>): string | undefined =>
  text === '' && start > 0
    ? `The text of this source has ${characters} characters, so nothing begins at ${start}. Send a \`start\` below that, such as the \`next_start\` of an answer.`
    : undefined
