// Reads what a short page says, line by line, as its visitor sees it. What it quotes or shows as code is not what it says. Stops where a page
// is no short page, so that a long one costs nothing.
import { surroundingsIn, NOWHERE, type Surroundings } from '../blocks.ts'
import { createBoilerplateRules } from '../boilerplate.ts'
import { attribute, type Element, isPart } from '../elements.ts'
import { collapseSpaces } from '../text.ts'
import { estimateWords, type ParsedPage, textOf } from '../tree.ts'

export interface Said {
  /** Content, without what stands around it, in lower case. */
  readonly lines: readonly string[]
  /** Navigation, footers, dialogs and forms. */
  readonly around: readonly string[]
  /** For browsers without scripts. */
  readonly unscripted: readonly string[]
  /** The title and its parts, and headings. */
  readonly names: readonly string[]
  /** Where the links of the content lead, as they are written. */
  readonly links: readonly string[]
  readonly hasHeading: boolean
  /** Pictures, players, tables, forms, code or quotations are among it. */
  readonly hasMore: boolean
  /** Of `lines` with the code and the quotations among them. */
  readonly words: number
  /** There was more than is read here. */
  readonly isLong: boolean
}

/** Longer pages are judged by nothing that is read here. */
export const MAX_SHORT_WORDS = 250
const MAX_LINES = 100
const MAX_LINE_CHARACTERS = 300
const MAX_NAMES = 20

const INLINE = new Set(
  'a abbr b bdi bdo big cite data del dfn em font i ins label mark small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const NOT_SAID = new Set('code pre q blockquote kbd samp td th figcaption'.split(' '))
const HEADINGS = new Set(['h1', 'h2', 'h3'])
const MORE = new Set(
  'img picture video audio iframe object embed canvas table form pre code blockquote q'.split(' '),
)

interface Open {
  readonly element: Element
  next: number
  readonly around: Surroundings
  readonly isAround: boolean
  readonly isUnscripted: boolean
  readonly isSilent: boolean
}

/** Linear in the part of the page that is read, without recursion. */
export function readSaid(page: ParsedPage): Said {
  const rules = createBoilerplateRules(page.root)
  const said = { lines: [] as string[], around: [] as string[], unscripted: [] as string[] }
  const names: string[] = []
  const links: string[] = []
  let hasHeading = false
  let hasMore = false
  let words = 0
  let line = ''
  let into: string[] = said.lines
  const endLine = () => {
    const text = clean(line)
    if (text !== '' && into.length < MAX_LINES) into.push(text)
    line = ''
  }
  const stack: Open[] = [
    { element: page.root, next: 0, around: NOWHERE, isAround: false, isUnscripted: false, isSilent: false },
  ]
  for (let open = stack.at(-1); open && words <= MAX_SHORT_WORDS; open = stack.at(-1)) {
    const child = open.element.children[open.next++]
    if (child === undefined) {
      if (!INLINE.has(open.element.name)) endLine()
      stack.pop()
    } else if (typeof child === 'string') {
      const target = open.isUnscripted ? said.unscripted : open.isAround ? said.around : said.lines
      if (target !== into) endLine()
      into = target
      if (target === said.lines) words += estimateWords(child)
      if (!open.isSilent && line.length < MAX_LINE_CHARACTERS) line += child.slice(0, MAX_LINE_CHARACTERS)
    } else {
      const { name } = child
      if (name === 'head' || name === 'title') {
        if (name === 'head') stack.push({ ...open, element: child, next: 0, isSilent: true, isAround: true })
        continue
      }
      if (!INLINE.has(name)) endLine()
      if (HEADINGS.has(name) && names.length < MAX_NAMES) names.push(clean(textOf(child, ' ', 50)))
      const isAround = open.isAround || (isPart(child) && rules(child, open.around) !== undefined)
      hasMore ||= MORE.has(name) && (!isAround || name === 'form')
      if (!isAround) {
        hasHeading ||= HEADINGS.has(name)
        const href = name === 'a' ? attribute(child.attributes, 'href') : undefined
        if (href !== undefined && links.length < MAX_NAMES) links.push(href)
      }
      stack.push({
        element: child,
        next: 0,
        around: surroundingsIn(child, open.around),
        isAround,
        isUnscripted: open.isUnscripted || name === 'noscript',
        isSilent: open.isSilent || NOT_SAID.has(name),
      })
    }
  }
  endLine()
  return {
    ...said,
    names: [...titlesOf(page), ...names],
    links,
    hasHeading,
    hasMore,
    words,
    isLong: words > MAX_SHORT_WORDS,
  }
}

/** Quoted words are somebody else's. */
const QUOTED = /"[^"]{1,200}"|“[^”]{1,200}”|„[^“”]{1,200}[“”]|«[^»]{1,200}»|「[^」]{1,200}」/g

const clean = (text: string): string =>
  collapseSpaces(
    text
      .slice(0, 2 * MAX_LINE_CHARACTERS)
      .replace(/[’‘ʼ]/g, "'")
      .replace(QUOTED, ' ')
      .toLowerCase(),
  )

function titlesOf({ head }: ParsedPage): string[] {
  const title = head.find(({ name }) => name === 'title')
  if (!title) return []
  const whole = clean(textOf(title, '', 50))
  return [whole, ...whole.split(/\s[-–—|·:/]\s|\s?\|\s?/)].map((part) => part.trim())
}
