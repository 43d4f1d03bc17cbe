// Collects the text of a block in runs of one look: links, emphasis, code, formulas, images, raised and lowered signs.
import type { FormulaKind } from './formula.ts'
import { type Image, pictograph, readImage } from './image.ts'
import { writeScript } from './scripts.ts'
import { cleanText, MORE_THAN_A_SPACE } from './text.ts'
import { type Element, estimateWords } from './tree.ts'

interface Look {
  readonly href: string | undefined
  readonly strong: boolean
  readonly emphasis: boolean
  readonly code: boolean
  readonly deleted?: boolean | undefined
}

/** A run of text with one look. */
export interface Run extends Look {
  text: string
  /** The text is TeX. */
  readonly formula?: FormulaKind | undefined
  /** It has no text of its own. */
  readonly image?: Image | undefined
}

/** A run as it is collected. */
interface OpenRun extends Run {
  readonly script?: 'sup' | 'sub' | undefined
  /** What it stands in has the name of something that is no content. */
  readonly isAside: boolean
}

/** What an inline element asks of whoever walks the page. */
export type Entered = 'read' | 'styled' | 'done'

export interface RunCollector {
  /** `styled`: its inside is to be read, and then `leave` called; `read`: only its inside; `done`: nothing. */
  enter(element: Element, isAside: boolean): Entered
  leave(element: Element): void
  text(text: string): void
  /** What follows stands in a line of its own. */
  breakLine(): void
  /** The runs so far, tidied, and starts anew. Nothing where all of them stand in what is no content. */
  take(options: { keepsAside: boolean }): Run[]
}

/** Elements that change the look of the text inside them without being blocks. */
const STYLED = new Set('a b strong i em code kbd samp tt del s strike sup sub q'.split(' '))

/** Starts without text and without a look. */
export function createRunCollector(): RunCollector {
  let runs: OpenRun[] = []
  const depth = { strong: 0, emphasis: 0, code: 0, deleted: 0, sup: 0, sub: 0, aside: 0 }
  const outerHrefs: (string | undefined)[] = []
  const asides: Element[] = []
  let href: string | undefined
  let look: Omit<OpenRun, 'text'> = currentLook()

  function currentLook(): Omit<OpenRun, 'text'> {
    return {
      href,
      strong: depth.strong > 0,
      emphasis: depth.emphasis > 0,
      code: depth.code > 0,
      deleted: depth.deleted > 0,
      script: depth.sub > 0 ? 'sub' : depth.sup > 0 ? 'sup' : undefined,
      isAside: depth.aside > 0,
    }
  }

  /** Text right behind text of the same look belongs to its run: the object itself tells whether anything changed. */
  let lastLook: typeof look | undefined
  function addText(text: string): void {
    const last = runs.at(-1)
    if (last && lastLook === look) last.text += text
    // White space between blocks is nothing.
    else if (last || text !== ' ') {
      runs.push({ ...look, text })
      lastLook = look
    }
  }
  function addWhole(run: Pick<OpenRun, 'text' | 'formula' | 'image'>): void {
    runs.push({ ...look, ...run })
    lastLook = undefined
  }

  function change({ name, attributes }: Element, by: 1 | -1): void {
    switch (name) {
      case 'a':
        if (by === 1) {
          outerHrefs.push(href)
          href = attributes['href'] ?? href
        } else href = outerHrefs.pop()
        break
      case 'b':
      case 'strong':
        depth.strong += by
        break
      case 'i':
      case 'em':
        depth.emphasis += by
        break
      case 'code':
      case 'kbd':
      case 'samp':
      case 'tt':
        depth.code += by
        break
      case 'del':
      case 's':
      case 'strike':
        depth.deleted += by
        break
      case 'sup':
      case 'sub':
        depth[name] += by
    }
    look = currentLook()
  }

  return {
    enter(element, isAside) {
      const { name, formula } = element
      if (formula !== undefined) {
        addFormula(element)
        return 'done'
      }
      if (name === 'br') {
        addText('\n')
        return 'done'
      }
      if (name === 'input') return 'done'
      if (name === 'img') {
        const sign = pictograph(element)
        const image = sign === undefined ? readImage(element) : undefined
        if (sign !== undefined) addText(sign)
        else if (image) addWhole({ text: '', image })
        return 'done'
      }
      if (isAside) {
        depth.aside++
        asides.push(element)
      }
      if (!STYLED.has(name)) {
        if (isAside) look = currentLook()
        return isAside ? 'styled' : 'read'
      }
      change(element, 1)
      if (name === 'q') addText('“')
      return 'styled'
    },
    leave(element) {
      if (element.name === 'q') addText('”')
      if (asides.at(-1) === element) {
        asides.pop()
        depth.aside--
      }
      change(element, -1)
    },
    breakLine: () => addText('\n'),
    text: (text) => addText(text === ' ' ? text : collapseRuns(cleanText(text))),
    take({ keepsAside }) {
      if (runs.length === 0) return runs
      const taken = runs
      runs = []
      lastLook = undefined
      if (!keepsAside && taken.every(isAsideOrBlank)) return []
      return tidyRuns(taken)
    },
  }

  function addFormula(element: Element): void {
    const kind = element.formula
    if (kind === 'block') addText('\n')
    const text = collapseRuns(cleanText(element.children.join('')))
    addWhole({ text, formula: kind })
    if (kind === 'block') addText('\n')
  }
}

const isAsideOrBlank = ({ isAside, text, image }: OpenRun) => isAside || (!image && text.trim() === '')

const RUN_OF_SPACES = /[\t\n\v\f\r]|\s\s|[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/
const collapseRuns = (text: string) =>
  RUN_OF_SPACES.test(text) ? text.replace(MORE_THAN_A_SPACE, ' ') : text

/** The characters that `tidyRuns` changes: most texts have none of them. */
const UNTIDY = /[\t\v\f\r\n\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]|  /

/** Spaces as a reader sees them: none at the ends, one between words, none around line breaks. Changes the runs. */
function tidyRuns(runs: readonly OpenRun[]): Run[] {
  const tidy: OpenRun[] = []
  let endsWithSpace = true
  let hasScripts = false
  for (const run of runs) {
    if (run.image) {
      tidy.push(run)
      endsWithSpace = false
      continue
    }
    let { text } = run
    if (UNTIDY.test(text)) text = text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n[ \n]*/g, '\n')
    if (endsWithSpace) text = text.trimStart()
    if (text === '') continue
    const before = tidy.at(-1)
    if (before && text.startsWith('\n')) before.text = before.text.trimEnd()
    endsWithSpace = text.endsWith(' ') || text.endsWith('\n')
    hasScripts ||= run.script !== undefined
    run.text = text
    tidy.push(run)
  }
  for (let last = tidy.at(-1); last && !last.image; last = tidy.at(-1)) {
    last.text = last.text.trimEnd()
    if (last.text !== '') break
    tidy.pop()
  }
  if (hasScripts) writeScripts(tidy)
  return joinEqual(tidy)
}

/** One over two, as `<sup>1</sup>/<sub>2</sub>`. */
const isFraction = (runs: readonly OpenRun[], i: number): boolean =>
  runs[i]?.script === 'sup' &&
  /^[/\u2044]$/.test(runs[i + 1]?.text.trim() ?? '') &&
  runs[i + 2]?.script === 'sub' &&
  [runs[i], runs[i + 2]].every((run) => /^\d{1,4}$/.test(run?.text.trim() ?? ''))

/** What is raised together is written as one, whatever looks its words have. */
function writeScripts(runs: readonly OpenRun[]): void {
  for (let i = 0; i < runs.length; i++) {
    const first = runs[i]
    if (first?.script === undefined || first.formula) continue
    if (isFraction(runs, i)) {
      if (/\p{N}$/u.test(runs[i - 1]?.text ?? '')) first.text = ` ${first.text}`
      i += 2
      continue
    }
    const from = i
    while (runs[i + 1]?.script === first.script && !runs[i + 1]?.formula) i++
    const last = runs[i] ?? first
    const text = textOfRuns(runs.slice(from, i + 1))
    const before = runs[from - 1]?.text.at(-1) ?? ' '
    const after = runs[i + 1]?.text.at(0) ?? ' '
    const written = writeScript(text, first.script, { before, after, href: first.href })
    const start = written.indexOf(text.trim())
    if (written === text || start === -1) continue
    const end = written.slice(start + text.trim().length).trimEnd()
    first.text = written.slice(0, start) + first.text.trimStart()
    last.text = last.text.trimEnd() + end + /\s*$/.exec(last.text)?.[0]
  }
}

function joinEqual(runs: readonly OpenRun[]): Run[] {
  const joined: Run[] = []
  for (const run of runs) {
    const last = joined.at(-1)
    if (last && isSameLook(last, run)) last.text += run.text
    else joined.push(run)
  }
  return joined
}

const isSameLook = (one: Run, other: Run) =>
  one.href === other.href &&
  one.strong === other.strong &&
  one.emphasis === other.emphasis &&
  one.code === other.code &&
  one.deleted === other.deleted &&
  !one.formula &&
  !other.formula &&
  !one.image &&
  !other.image

/** The text of runs without their looks. */
export const textOfRuns = (runs: readonly Run[]): string => runs.map((run) => run.text).join('')

export function weighRuns(runs: readonly Run[]): { words: number; linkWords: number } {
  let words = 0
  let linkWords = 0
  for (const { text, href } of runs) {
    const count = estimateWords(text)
    words += count
    if (href !== undefined) linkWords += count
  }
  return { words, linkWords }
}
