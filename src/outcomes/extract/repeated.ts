// What a page sends more than once is said once: paragraphs in different parts of it and, on the page of a product, sentences, and lists and
// tables as a whole.
import type { Block } from './blocks.ts'
import { type Run, textOfRuns } from './runs.ts'
import { type Element, estimateWords } from './tree.ts'

/** Pages send the same paragraph for narrow and for wide windows; what is shorter may be said twice. */
const MIN_REPEATED_WORDS = 6
/** Authors and posters repeat a line more often than a shop means to. */
const MIN_REPEATED_PROSE = 12
/** Shorter ones are labels and states, which each part of a page has its own of. */
const MIN_REPEATED_SENTENCE = 8
/** Sizes and colours may be the same of two variants. */
const MIN_REPEATED_LIST = { lines: 3, words: 8 }

/**
 * Items of lists and rows are left as often as they come: equal ones are different things. So is what comes twice in one part of the
 * page, such as the dishes of a plan for a week.
 */
export function withoutRepeated(
  blocks: readonly Block[],
  { isProse }: { readonly isProse: boolean },
): Block[] {
  const minWords = isProse ? MIN_REPEATED_PROSE : MIN_REPEATED_WORDS
  const said = new Map<string, Element | undefined>()
  const headings = new Set<string>()
  const kept: Block[] = []
  // Headings that came before: they go with the text below them, if that was said as well.
  let waiting: Block[] = []
  for (const block of blocks) {
    const text = repeatable(block)
    if (text !== undefined && (block.words ?? 0) >= minWords) {
      if (said.has(text) && said.get(text) !== block.at?.parent) {
        waiting = []
        continue
      }
      said.set(text, block.at?.parent)
    }
    if (block.kind === 'heading' && text !== undefined && headings.has(text)) {
      waiting.push(block)
      continue
    }
    if (block.kind === 'heading' && text !== undefined) headings.add(text)
    kept.push(...waiting, block)
    waiting = []
  }
  return [...kept, ...waiting]
}

const isInCell = ({ at }: Block) => at?.name === 'td' || at?.parent?.name === 'td'

const repeatable = (block: Block): string | undefined =>
  !isInCell(block) && (block.kind === 'paragraph' || block.kind === 'heading' || block.kind === 'quote')
    ? textOfRuns(block.runs)
    : undefined

/** The end of a sentence, with the quotation marks that close it. */
const SENTENCE_END = /(?<=[.!?…。！？][”"’']?)(?=[\s“"])/u

/** Of the page of a product; on others equal lists belong to different things, such as plans and offers. */
export const withoutRepeatedStatements = (blocks: readonly Block[]): Block[] =>
  withoutRepeatedSentences(withoutRepeatedLists(blocks))

/** Lists and tables of features are sent for narrow and for wide windows, as paragraphs are. */
function withoutRepeatedLists(blocks: readonly Block[]): Block[] {
  const said = new Set<string>()
  const kept: Block[] = []
  for (let first = 0, next = 1; first < blocks.length; first = next++) {
    if (blocks[first]?.kind === 'item') while (blocks[next]?.kind === 'item') next++
    const list = blocks.slice(first, next)
    const lines = list.flatMap(linesOf)
    const words = list.reduce((sum, block) => sum + (block.words ?? 0), 0)
    const text = lines.join('\n')
    if (lines.length >= MIN_REPEATED_LIST.lines && words >= MIN_REPEATED_LIST.words) {
      if (said.has(text)) continue
      said.add(text)
    }
    kept.push(...list)
  }
  return kept
}

function linesOf(block: Block): string[] {
  if (block.kind === 'item') return [textOfRuns(block.runs)]
  return block.kind === 'table' ? block.table.lines.map((cells) => cells.join('\t')) : []
}

/**
 * Shops describe a product for its summary, its tab and its foot, and catalogues join the records of several sellers: the same sentences in
 * paragraphs that are none.
 */
function withoutRepeatedSentences(blocks: readonly Block[]): Block[] {
  const said = new Set<string>()
  return blocks.flatMap((block) => {
    if (!('runs' in block) || (block.words ?? 0) < MIN_REPEATED_SENTENCE) return [block]
    // Equal items and values are different things, but one of them says nothing twice.
    const before = repeatable(block) === undefined ? new Set<string>() : said
    const runs = block.runs.map((run) => (run.code || run.formula ? run : saidOnce(run, before)))
    if (runs.every((run, i) => run === block.runs[i])) return [block]
    const words = estimateWords(textOfRuns(runs))
    return words > 0 ? [{ ...block, runs, words, linkWords: Math.min(block.linkWords ?? 0, words) }] : []
  })
}

/** @param said what came before, which grows */
function saidOnce(run: Run, said: Set<string>): Run {
  const sentences = run.text.split(SENTENCE_END)
  const kept = sentences.filter((sentence) => {
    if (estimateWords(sentence) < MIN_REPEATED_SENTENCE) return true
    const text = lettersOf(sentence)
    const isNew = !said.has(text)
    said.add(text)
    return isNew
  })
  return kept.length === sentences.length ? run : { ...run, text: kept.join('') }
}

/** Catalogues set quotation marks and dashes in their own way. */
const lettersOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
