// Builds a light tree of a page in one streaming pass. Whatever is sent, the tree is bounded: depth is capped by flattening,
// so that no later walk can overflow a stack, and elements that never carry readable text are left out while parsing.
import { BLOCKS, type Element, elementsBelow, textOf } from './elements.ts'
import { NO_ATTRIBUTES, readHtml } from './events.ts'
import { formulaKind, formulaSource, isFormulaImage, tidyTex } from './formula.ts'

export { attribute, type Element, elementsBelow, textOf } from './elements.ts'

export interface ParsedPage {
  readonly root: Element
  /** The root and everything below it, in the order of the page: listed once, and looked through by many. */
  readonly all: readonly Element[]
  /** JSON-LD scripts as written. */
  readonly jsonLd: readonly string[]
  /** meta, link, base, html, title and time, wherever they stood. */
  readonly head: readonly Element[]
  readonly comments: string
  /** Some element says in microdata, RDFa or meta data that it is about a thing for sale. */
  readonly statesWare: boolean
  /** Text of elements that the page hides from its readers. */
  readonly hiddenText: string
  readonly elements: number
  readonly skippedElements: number
  readonly truncated: boolean
}

const MAX_DEPTH = 256
const MAX_ELEMENTS = 120_000
/** Text that comes in pieces of a character is put together before every piece of it is an object. */
const MAX_PIECES = 1024
/** Longer arrays have little room to spare. */
const MAX_SHRUNK = 16
const MAX_SIDE_CHARACTERS = 64 * 1024
/** A longer text is not replaced by what an attribute says that it is. */
const MAX_FORMULA_WORDS = 400

const SKIPPED = new Set(
  'script style template svg canvas iframe frame frameset object embed applet audio video map select option datalist textarea progress meter dialog'.split(
    ' ',
  ),
)
/** They are read where they are seen; inside something hidden they are no text of the page. */
const UNCOUNTED = new Set(['math', 'input'])
const HEAD = new Set(['html', 'meta', 'link', 'base', 'title', 'time'])
/** Parts that fade in once scripts run; what is only a few words is meant to stay unseen. */
const FADING_STYLE = /(?:^|[;\s])opacity\s*:\s*0(?:\.0+)?\s*(?:[;!]|$)/i
const MIN_FADING_WORDS = 60
const NEVER_HIDDEN = new Set(['html', 'body', 'head'])

/** One for all elements without. Most have one child or none, and an array that grows takes room for seventeen at once. */
const NO_CHILDREN: (Element | string)[] = []

function append(parent: Element, child: Element | string): void {
  if (parent.children.length === 0) parent.children = [child]
  else parent.children.push(child)
}

const createElement = (
  name: string,
  attributes: Readonly<Record<string, string>>,
  parent: Element | undefined,
  start: number,
): Element => ({
  name,
  attributes,
  children: NO_CHILDREN,
  parent,
  start,
  end: start,
  words: 0,
  linkWords: 0,
  holdsBlocks: false,
  formula: undefined,
})

/** Parses a page within bounds; `truncated` says that elements were left out. */
export function parsePage(html: string): ParsedPage {
  const root = createElement('#root', NO_ATTRIBUTES, undefined, 0)
  const open: Element[] = [root]
  const head: Element[] = []
  const jsonLd: string[] = []
  const hidden: string[] = []
  const comments: string[] = []
  let sideCharacters = 0
  let elements = 0
  let skippedElements = 0
  let truncated = false
  let statesWare = false
  // Inside a skipped element only the depth is tracked, so that its end is found.
  let skipping: { depth: number; kind: Skipped } | undefined
  let script = ''
  let links = 0
  let preformatted = 0

  // Text right behind each other that waits to be put together.
  const pieces: string[] = []

  function appendText(): void {
    if (pieces.length === 0) return
    const text = pieces.length === 1 ? pieces[0]! : pieces.join('')
    pieces.length = 0
    const into = open.at(-1) ?? root
    const last = into.children.length - 1
    const before = into.children[last]
    if (typeof before === 'string') into.children[last] = before + text
    else append(into, text)
  }

  const keepAside = (list: string[], text: string) => {
    if ((sideCharacters += text.length) <= MAX_SIDE_CHARACTERS) list.push(text)
  }

  function close(element: Element): void {
    element.end = elements
    const { length } = element.children
    if (length > 1 && length < MAX_SHRUNK) element.children = element.children.slice()
    if (element.name === 'a') links--
    if (element.name === 'pre') preformatted--
    const { parent } = element
    const tex = element.words > MAX_FORMULA_WORDS ? undefined : formulaSource(element)
    // An empty one as well: nothing below it is looked at again.
    if (tex !== undefined) setFormula(element, tex)
    if (parent && (element.holdsBlocks || BLOCKS.has(element.name))) parent.holdsBlocks = true
    const style = element.attributes['style']
    if (parent && style !== undefined && element.words < MIN_FADING_WORDS && FADING_STYLE.test(style)) {
      parent.children.splice(parent.children.lastIndexOf(element), 1)
      keepAside(hidden, textOf(element, ' '))
      return
    }
    // Text that only crawlers and old browsers see counts for itself alone.
    if (!parent || element.name === 'noscript' || element.name === 'title') return
    parent.words += element.words
    parent.linkWords += element.linkWords
  }

  /** Once and as TeX, whatever else was there to draw it; anybody who reads the tree finds it as text. */
  function setFormula(element: Element, tex: string): void {
    element.formula = formulaKind(element)
    element.children = [tex]
    element.words = estimateWords(tex)
    element.linkWords = links > 0 ? element.words : 0
  }

  /** MathJax 2 leaves its source in a script, behind what it drew. */
  function appendFormula(source: string, display: string): void {
    const parent = open.at(-1) ?? root
    for (let drawn = parent.children.at(-1); drawn !== undefined; drawn = parent.children.at(-1)) {
      if (typeof drawn === 'string' ? drawn.trim() !== '' : !isDrawnByMathJax(drawn)) break
      parent.children.pop()
      if (typeof drawn === 'string') continue
      parent.words -= drawn.words
      parent.linkWords -= drawn.linkWords
    }
    const tex = tidyTex(source)
    if (tex === '' || elements >= MAX_ELEMENTS) return
    const element = createElement('math', display === '' ? NO_ATTRIBUTES : { display }, parent, ++elements)
    append(parent, element)
    setFormula(element, tex)
    parent.words += element.words
    parent.linkWords += element.linkWords
  }

  readHtml(html, {
    onOpen(name, attributes) {
      appendText()
      statesWare ||= attributes !== NO_ATTRIBUTES && isAboutWare(attributes)
      if (skipping) {
        skipping.depth++
        skippedElements++
        // A script inside something hidden is no text of the page.
        if (skipping.kind === 'hidden' && (SKIPPED.has(name) || UNCOUNTED.has(name))) skipping.kind = 'drop'
        return
      }
      const kind = skipKind(name, attributes, open.at(-1) ?? root)
      if (kind || elements >= MAX_ELEMENTS) {
        truncated ||= !kind
        skippedElements++
        skipping = { depth: 1, kind: kind ?? 'drop' }
        return
      }
      elements++
      // Past the cap new elements become siblings below the deepest allowed one: text survives, depth does not grow.
      const parent = open[Math.min(open.length, MAX_DEPTH) - 1] ?? root
      const element = createElement(name, attributes, parent, elements)
      append(parent, element)
      open.push(element)
      if (name === 'a') links++
      if (name === 'pre') preformatted++
      if (HEAD.has(name)) head.push(element)
    },
    onClose() {
      appendText()
      if (!skipping) {
        const closed = open.length > 1 ? open.pop() : undefined
        if (closed) close(closed)
        return
      }
      if (--skipping.depth > 0) return
      if (skipping.kind === 'json-ld') {
        jsonLd.push(script)
        script = ''
      } else if (skipping.kind === 'tex' || skipping.kind === 'tex-block') {
        appendFormula(script, skipping.kind === 'tex' ? '' : 'block')
        script = ''
      }
      skipping = undefined
    },
    onText(text) {
      if (!skipping) {
        const into = open.at(-1) ?? root
        const words = estimateWords(text)
        // Indentation is half of the text nodes of a page, and means something only in `pre`.
        const kept = words === 0 && preformatted === 0 && text.length > 1 ? ' ' : text
        if (pieces.push(kept) >= MAX_PIECES) appendText()
        into.words += words
        if (links > 0) into.linkWords += words
      } else if (skipping.kind === 'hidden') keepAside(hidden, text)
      else if (skipping.kind !== 'drop') script += text
    },
    onComment(text) {
      keepAside(comments, text)
    },
  })

  appendText()
  for (let element = open.pop(); element; element = open.pop()) close(element)
  return {
    root,
    all: elementsBelow(root),
    jsonLd,
    head,
    comments: comments.join('\n'),
    statesWare,
    hiddenText: hidden.join(' '),
    elements,
    skippedElements,
    truncated,
  }
}

/** Cheap and good enough to weigh parts of a page: runs of non-spaces, and two ideographs a word. */
export function estimateWords(text: string): number {
  let words = 0
  let ideographs = 0
  let inWord = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isSpace = code <= 0x20 || code === 0xa0
    if (!isSpace && !inWord) words++
    inWord = !isSpace
    if (code >= 0x2e80 && code <= 0x9fff) ideographs++
  }
  return words + (ideographs >> 1)
}

function isAboutWare({ itemtype, typeof: type, property, name }: Readonly<Record<string, string>>): boolean {
  if (itemtype !== undefined && WARE.test(itemtype)) return true
  if (type !== undefined && WARE.test(type)) return true
  return [property, name].some((key) => key !== undefined && WARE_PRICE.test(key))
}

const WARE = /product|offer/i
const WARE_PRICE = /^\s*(?:product|og):price/i

type Skipped = 'drop' | 'hidden' | 'json-ld' | 'tex' | 'tex-block'

function skipKind(
  name: string,
  attributes: Readonly<Record<string, string>>,
  parent: Element,
): Skipped | undefined {
  if (name === 'script') return scriptKind(attributes['type'] ?? '')
  if (SKIPPED.has(name) || (name === 'input' && !isTick(attributes, parent))) return 'drop'
  if (attributes === NO_ATTRIBUTES || !isHidden(name, attributes)) return undefined
  if (name === 'img' && isFormulaImage(attributes)) return undefined
  return isOnlyDrawing(attributes, parent) ? undefined : 'hidden'
}

function scriptKind(type: string): Skipped {
  if (/^\s*application\/ld\+json\b/i.test(type)) return 'json-ld'
  if (!/^\s*math\/tex\b/i.test(type)) return 'drop'
  return /mode\s*=\s*display/i.test(type) ? 'tex-block' : 'tex'
}

/** The box of a task in a list. */
const isTick = ({ type }: Readonly<Record<string, string>>, parent: Element) =>
  type?.toLowerCase() === 'checkbox' &&
  (parent.name === 'li' || ((parent.name === 'label' || parent.name === 'p') && parent.parent?.name === 'li'))

/** KaTeX hides its drawing from screen readers, who have its MathML; where that is missing, the drawing is all there is. */
const isOnlyDrawing = (attributes: Readonly<Record<string, string>>, parent: Element) =>
  attributes['class'] === 'katex-html' &&
  attributes['style'] === undefined &&
  parent.attributes['class'] === 'katex' &&
  parent.children.length === 0

const isDrawnByMathJax = ({ attributes }: Element) => /\bMathJax/.test(attributes['class'] ?? '')

const HIDING_STYLE = new RegExp(
  [
    String.raw`(?:^|[;\s])(?:`,
    [
      String.raw`display\s*:\s*none`,
      String.raw`visibility\s*:\s*(?:hidden|collapse)`,
      String.raw`font-size\s*:\s*0(?:px|pt|em|rem|%)?\s*(?:[;!]|$)`,
      // Outside the window, or cut to nothing.
      String.raw`(?:left|right|top|text-indent|margin-left)\s*:\s*-\d{4}`,
      String.raw`clip\s*:\s*rect\(\s*[01](?:px)?[\s,]`,
      String.raw`clip-path\s*:\s*inset\(\s*(?:50|100)%`,
    ].join('|'),
    ')',
  ].join(''),
  'i',
)

function isHidden(name: string, attributes: Readonly<Record<string, string>>): boolean {
  // Pages that fade in hide their whole body at first: that hides nothing from anybody.
  return saysHidden(attributes) && !NEVER_HIDDEN.has(name) && !isExpandable(attributes)
}

/** Parts that servers send late, hidden, and that scripts move into place: `<div hidden id="S:0">` of React, `<div id="af0" style="display:none">` of Marko. */
const SENT_LATE = /^(?:S:|af[a-z]{0,20}\d+$)/

function saysHidden(attributes: Readonly<Record<string, string>>): boolean {
  const { hidden, style, id, 'aria-hidden': ariaHidden } = attributes
  if (id !== undefined && SENT_LATE.test(id)) return false
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true
  if (ariaHidden?.toLowerCase() === 'true') return true
  return style !== undefined && HIDING_STYLE.test(style)
}

/** Folded away until a reader asks for it: answers, tab panels, specifications. Read, as a reader would. */
const EXPANDABLE =
  /(?:^|[\s_-])(?:accordions?|collaps(?:e|ed|ible)|expand(?:able|ed|er)?|tab-?(?:panel|pane|content)s?|panel|faqs?|answer|toggle|fold|read-?more|spoiler|description)(?:$|[\s_\d-])/i

function isExpandable(attributes: Readonly<Record<string, string>>): boolean {
  if (attributes['role']?.toLowerCase() === 'tabpanel') return true
  const names = `${attributes['class'] ?? ''} ${attributes['id'] ?? ''}`
  return names.length > 3 && names.length < 500 && EXPANDABLE.test(names)
}
