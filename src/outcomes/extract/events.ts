// Turns HTML into balanced opening and closing of elements, as browsers repair them, near enough. Linear in the input
// whatever it nests, leaves open or closes in vain: a tokenizer's tokens and one stack with a count of the names on it.
import { attributeValue, readTokens } from './tokens.ts'

export interface HtmlEvents {
  onOpen(name: string, attributes: Readonly<Record<string, string>>): void
  /** Closes what was opened last. */
  onClose(): void
  onText(text: string): void
  onComment(text: string): void
}

const words = (list: string) => new Set(list.split(' '))

const VOID = words(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
)
/** Attributes that are read; the others only cost. */
const READ_ATTRIBUTES = words(
  'class id role href hidden aria-hidden style itemprop itemtype typeof datetime lang xml:lang content property name http-equiv rel type ' +
    // What parts are called where classes are made by machines.
    'data-testid data-test data-qa data-hook',
)
/** Read of these elements alone: addresses of images are long, and there are many of them. */
const READ_OF_ELEMENT: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    img: 'alt src srcset width height data-src data-original data-lazy-src data-url data-srcset',
    td: 'colspan rowspan',
    th: 'colspan rowspan',
    ol: 'start reversed',
    li: 'value',
    input: 'checked',
    math: 'display alttext data-tex data-latex data-math',
    annotation: 'encoding',
    'mjx-container': 'display data-tex data-latex data-math',
    span: 'data-tex data-latex data-math',
    div: 'data-tex data-latex data-math data-lang data-language',
    pre: 'data-lang data-language',
    code: 'data-lang data-language',
  }).map(([name, list]) => [name, words(list)]),
)
const MAX_ATTRIBUTE_NAME = 16
const MAX_ATTRIBUTES_READ = 64
const MAX_KINDS = 1000
/** One for all elements without; the names that are read are none of the prototype. */
export const NO_ATTRIBUTES: Readonly<Record<string, string>> = Object.freeze({})

const P = words('p')
const FORM_PARTS = words('input option optgroup select button datalist textarea')
const P_OR_HEADING = words('h1 h2 h3 h4 h5 h6 p')
const SECTIONS = words('thead tbody')
const TERMS = words('dd dt')
/** Elements whose end tag may be missing: an opening tag of the first kind closes an open one of the second. */
const CLOSES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['tr', words('tr th td')],
  ['th', words('th td')],
  ['td', words('thead th td')],
  ['body', words('head link script')],
  ['a', words('a')],
  ['li', words('li')],
  ['option', words('option')],
  ['optgroup', words('optgroup option')],
  ...['tbody', 'tfoot'].map((name) => [name, SECTIONS] as const),
  ...['dd', 'dt'].map((name) => [name, TERMS] as const),
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [name, P_OR_HEADING] as const),
  ...['select', 'input', 'output', 'button', 'datalist', 'textarea'].map(
    (name) => [name, FORM_PARTS] as const,
  ),
  ...'p address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul'
    .split(' ')
    .map((name) => [name, P] as const),
])

/** An element that is open, or was: looked up once a tag, and not once for every question about it. */
interface Kind {
  readonly name: string
  readonly isVoid: boolean
  readonly isForeign: boolean
  readonly closes: ReadonlySet<string> | undefined
  readonly reads: ReadonlySet<string> | undefined
  /** How many of this name are open. */
  open: number
}

const createKind = (name: string): Kind => ({
  name,
  isVoid: VOID.has(name),
  isForeign: name === 'svg' || name === 'math',
  closes: CLOSES.get(name),
  reads: READ_OF_ELEMENT.get(name),
  open: 0,
})

/** Calls `events` in the order of the page; whatever is opened is closed. */
export function readHtml(html: string, events: HtmlEvents): void {
  const open: Kind[] = []
  const kinds = new Map<string, Kind>()
  // The tag that is read: undefined where it is none.
  let kind: Kind | undefined
  let attributes: Record<string, string> = NO_ATTRIBUTES
  let attributesRead = 0
  // SVG and MathML have other rules for what a slash closes.
  let foreign = 0

  function kindOf(name: string): Kind {
    const known = kinds.get(name)
    if (known) return known
    const kind = createKind(name)
    kinds.set(name, kind)
    return kind
  }
  function pop(): void {
    const closed = open.pop()
    if (!closed) return
    closed.open--
    if (closed.isForeign) foreign--
    // A page may make up a name for each of its elements.
    if (closed.open === 0 && closed !== kind && kinds.size > MAX_KINDS) kinds.delete(closed.name)
    events.onClose()
  }

  readTokens(html, {
    onOpenName(name) {
      attributes = NO_ATTRIBUTES
      attributesRead = 0
      kind = kindOf(name === 'image' && foreign === 0 ? 'img' : name)
      // A form inside a form does not exist.
      if (name === 'form' && kind.open > 0) return void (kind = undefined)
      const { closes } = kind
      if (!closes || foreign > 0) return
      for (let last = open.at(-1); last !== undefined && closes.has(last.name); last = open.at(-1)) pop()
    },
    onAttribute(nameStart, nameEnd, valueStart, valueEnd) {
      if (attributesRead >= MAX_ATTRIBUTES_READ || nameEnd - nameStart > MAX_ATTRIBUTE_NAME) return
      const name = html.slice(nameStart, nameEnd).toLowerCase()
      if (!READ_ATTRIBUTES.has(name) && kind?.reads?.has(name) !== true) return
      attributesRead++
      if (attributes === NO_ATTRIBUTES) attributes = {}
      // The first of a name counts. Only names of the list get here, so that none is one of the prototype.
      attributes[name] ??= attributeValue(html, valueStart, valueEnd)
    },
    onOpenEnd(hasSlash) {
      if (!kind) return
      const opened = kind
      kind = undefined
      const isClosedAtOnce = hasSlash && foreign > 0
      events.onOpen(opened.name, attributes)
      if (opened.isVoid) return events.onClose()
      open.push(opened)
      opened.open++
      if (opened.isForeign) foreign++
      if (isClosedAtOnce) pop()
    },
    onClose(name) {
      if (name === 'br') {
        events.onOpen('br', NO_ATTRIBUTES)
        return events.onClose()
      }
      const closed = kinds.get(name)
      if (!closed || closed.open === 0) return
      while (open.at(-1) !== closed) pop()
      pop()
    },
    onText: (text) => events.onText(text),
    onComment: (text) => events.onComment(text),
    isForeign: () => foreign > 0,
  })
  while (open.length > 0) pop()
}
