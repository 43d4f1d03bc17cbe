// Our Markdown beside Defuddle's, page by page: words that only one of them has and how many of those the label has, how many headings, links,
// images, code blocks, tables, items, quotes and formulas each keeps, and the longest blocks of which the other has little. Twenty pages of
// each type, taken by the hash of their names; of pages that were kept out while the rules were made no word is shown.
// docs/outcomes.md explains what it finds. `node bench/side-by-side.ts [--corpus DIR] [--pages] [--blocks] [--page NAME]`
import { createHash } from 'node:crypto'
import { parseHTML } from 'linkedom'
import { decodeText } from '../src/outbound/charset.ts'
import { readPage } from '../src/outcomes/extract/page.ts'
import { findData, listPages, type Page, scorePage } from './corpora.ts'
import { blocksOf, countParts, type Parts, PARTS, without, wordsOf } from './markdown-parts.ts'
import { printTable } from './support.ts'

const PAGES_PER_TYPE = 20
const SHOWN_BLOCKS = 5
const MAX_SHOWN_CHARACTERS = 300
/** A block with a larger share of its words in the other text is there too. */
const SHARED = 0.5

interface Side {
  readonly blocks: readonly string[]
  readonly parts: Parts
  readonly f1: number
  /** Words that the other one has not, and how many of them the label has. */
  readonly alone: number
  readonly right: number
}
interface Compared {
  readonly page: Page
  readonly ours: Side
  readonly theirs: Side
}

const name = process.argv.includes('--page') ? process.argv[process.argv.indexOf('--page') + 1] : undefined
const showsBlocks = process.argv.includes('--blocks') || name !== undefined
const print = console.log
// Defuddle reports what it cannot read.
console.warn = console.error = () => {}

/** Those that may be looked at come first. */
function pick(all: readonly Page[]): Page[] {
  if (name !== undefined) return all.filter((page) => page.name === name)
  const keyOf = (page: Page) =>
    `${page.isHeldOut ? 1 : 0}${createHash('sha256').update(page.name).digest('hex')}`
  const types = Map.groupBy(all, ({ type }) => type)
  return [...types.keys()].sort().flatMap((type) =>
    types
      .get(type)!
      .map((page) => ({ page, key: keyOf(page) }))
      .sort((one, other) => (one.key < other.key ? -1 : 1))
      .slice(0, PAGES_PER_TYPE)
      .map(({ page }) => page),
  )
}

function readOurs(body: Buffer, url: string): string {
  const reading = readPage({ body, isCut: false, contentType: 'text/html', contentLanguage: null, url })
  return reading.ok ? reading.value.document.markdown : ''
}

async function loadDefuddle(): Promise<(body: Buffer, url: string) => Promise<string>> {
  // Its types are those of another DOM.
  const { Defuddle } = (await import('defuddle/node')) as unknown as {
    Defuddle: (document: object, url: string, options: object) => Promise<{ content: string }>
  }
  return async (body, url) => {
    const { text } = decodeText(body, undefined, { isCut: false, markup: 'html' })
    try {
      // Nothing is fetched: what the page itself holds is compared.
      const { content } = await Defuddle(parseHTML(text).document, url, { markdown: true, useAsync: false })
      return content
    } catch {
      return ''
    }
  }
}

function compare(page: Page, ours: string, theirs: string): Compared {
  const label = wordsOf(page.truth)
  const read = (markdown: string) => {
    const blocks = blocksOf(markdown)
    return { blocks, parts: countParts(markdown), words: wordsOf(blocks.join('\n')) }
  }
  const sides = { ours: read(ours), theirs: read(theirs) }
  const side = (one: ReturnType<typeof read>, other: ReturnType<typeof read>): Side => {
    const alone = without(one.words, other.words)
    return {
      blocks: one.blocks,
      parts: one.parts,
      f1: scorePage({ ...page, corpus: 'wcxb' }, one.words.join(' ')).f1,
      alone: alone.length,
      right: alone.length - without(alone, without(label, other.words)).length,
    }
  }
  return { page, ours: side(sides.ours, sides.theirs), theirs: side(sides.theirs, sides.ours) }
}

const shown = (page: Page) => (page.isHeldOut ? '(held out)' : page.name)
const ratio = (one: number, other: number) => `${one} / ${other}`

function printPage({ page, ours, theirs }: Compared): void {
  print(
    `\n${page.type} ${shown(page)}: F1 ${ours.f1.toFixed(3)} / ${theirs.f1.toFixed(3)}; only ours ${ours.alone} words, ` +
      `${ours.right} of the label; only theirs ${theirs.alone}, ${theirs.right} of the label; ` +
      PARTS.map((part) => `${part} ${ratio(ours.parts[part], theirs.parts[part])}`).join(', '),
  )
}

/** The longest blocks of each that the other has little of. */
function printBlocks({ page, ours, theirs }: Compared): void {
  const label = new Set(wordsOf(page.truth))
  for (const [title, one, other] of [
    ['only ours', ours, theirs],
    ['only theirs', theirs, ours],
  ] as const) {
    const known = new Set(other.blocks.flatMap(pairsOf))
    const alone = one.blocks.filter((block) => {
      const pairs = pairsOf(block)
      return pairs.filter((pair) => known.has(pair)).length < pairs.length * SHARED
    })
    for (const block of alone.toSorted((a, b) => b.length - a.length).slice(0, SHOWN_BLOCKS)) {
      const words = wordsOf(block)
      const right = words.filter((word) => label.has(word)).length
      print(
        `  ${title}, ${right} of ${words.length} words in the label: ${block.slice(0, MAX_SHOWN_CHARACTERS).replace(/\s+/g, ' ')}`,
      )
    }
  }
}

const pairsOf = (block: string): string[] => {
  const words = wordsOf(block)
  return words.map((word, i) => `${words[i - 1] ?? ''} ${word}`)
}

function report(compared: readonly Compared[]): void {
  const types = [...Map.groupBy(compared, ({ page }) => page.type), ['all', compared] as const]
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  printTable(
    'Markdown of the gateway / of Defuddle: words a page',
    ['type', 'pages', 'F1', 'only in one', 'of those in the label', 'better / worse / alike'],
    types.map(([type, all]) => {
      const of = (read: (side: Side) => number, digits: number) =>
        [all.map(({ ours }) => read(ours)), all.map(({ theirs }) => read(theirs))]
          .map((values) => mean(values).toFixed(digits))
          .join(' / ')
      const differences = all.map(({ ours, theirs }) => ours.f1 - theirs.f1)
      return [
        type,
        all.length,
        of(({ f1 }) => f1, 3),
        of(({ alone }) => alone, 0),
        of(({ right }) => right, 0),
        [
          differences.filter((difference) => difference > 0.02).length,
          differences.filter((difference) => difference < -0.02).length,
          differences.filter((difference) => Math.abs(difference) <= 0.02).length,
        ].join(' / '),
      ]
    }),
  )
  printTable(
    'Parts kept, of all pages together: the gateway / Defuddle',
    ['type', ...PARTS],
    types.map(([type, all]) => [
      type,
      ...PARTS.map((part) => {
        const count = (side: 'ours' | 'theirs') =>
          all.map((each) => each[side].parts[part]).reduce((sum, parts) => sum + parts, 0)
        return ratio(count('ours'), count('theirs'))
      }),
    ]),
  )
}

const data = findData()
const pages = data === undefined ? [] : pick(listPages(data))
if (pages.length === 0)
  print('No pages: name the folder that holds `extraction` with --corpus or GATEWAY_BENCH_DATA.')
else {
  const readTheirs = await loadDefuddle()
  const compared: Compared[] = []
  for (const page of pages) {
    const body = page.read()
    const each = compare(page, readOurs(body, page.url), await readTheirs(body, page.url))
    compared.push(each)
    if (process.argv.includes('--pages') || showsBlocks) printPage(each)
    if (showsBlocks && !page.isHeldOut) printBlocks(each)
  }
  report(compared)
}
