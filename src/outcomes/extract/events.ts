// Turns HTML into balanced opening and closing of elements, as browsers repair them, near enough. Linear in the input
// whatever it nests, leaves open or closes in vain: a tokenizer's tokens and one stack with a count of the names on it.
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

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
  'class id role href hidden aria-hidden style itemprop datetime lang xml:lang content property name http-equiv rel type ' +
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
const MAX_NAMES = 1000
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

/** Calls `events` in the order of the page; whatever is opened is closed. */
export function readHtml(html: string, events: HtmlEvents): void {
  const open: string[] = []
  const counts = new Map<string, number>()
  let name = ''
  let attributes: Record<string, string> = NO_ATTRIBUTES
  let attributesRead = 0
  let attributeName: string | undefined
  let attributeValue = ''
  // SVG and MathML have other rules for what a slash closes.
  let foreign = 0

  // The same few names over and over: one string of each, which is compared by its address.
  const names = new Map<string, string>()
  function nameAt(start: number, end: number): string {
    const written = html.slice(start, end)
    const known = names.get(written)
    if (known !== undefined) return known
    const name = written.toLowerCase()
    if (names.size < MAX_NAMES) names.set(written, name)
    return name
  }
  const isOpen = (wanted: string) => (counts.get(wanted) ?? 0) > 0
  function pop(): void {
    const closed = open.pop()
    if (closed === undefined) return
    counts.set(closed, (counts.get(closed) ?? 1) - 1)
    if (closed === 'svg' || closed === 'math') foreign--
    events.onClose()
  }
  function finishOpening(isClosedAtOnce: boolean): void {
    if (name === '') return
    const opened = name
    name = ''
    events.onOpen(opened, attributes)
    if (VOID.has(opened)) return events.onClose()
    open.push(opened)
    counts.set(opened, (counts.get(opened) ?? 0) + 1)
    if (opened === 'svg' || opened === 'math') foreign++
    if (isClosedAtOnce) pop()
  }

  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      const opened = nameAt(start, end)
      attributes = NO_ATTRIBUTES
      attributesRead = 0
      // A form inside a form does not exist.
      if (opened === 'form' && isOpen('form')) return void (name = '')
      name = opened === 'image' && foreign === 0 ? 'img' : opened
      const closes = CLOSES.get(name)
      if (!closes || foreign > 0) return
      for (let last = open.at(-1); last !== undefined && closes.has(last); last = open.at(-1)) pop()
    },
    onattribname(start, end) {
      attributeValue = ''
      attributeName = undefined
      if (attributesRead >= MAX_ATTRIBUTES_READ || end - start > MAX_ATTRIBUTE_NAME) return
      const read = html.slice(start, end).toLowerCase()
      if (READ_ATTRIBUTES.has(read) || READ_OF_ELEMENT.get(name)?.has(read) === true) attributeName = read
    },
    onattribdata(start, end) {
      if (attributeName !== undefined) attributeValue += html.slice(start, end)
    },
    onattribentity(codePoint) {
      if (attributeName !== undefined) attributeValue += String.fromCodePoint(codePoint)
    },
    onattribend() {
      if (attributeName === undefined) return
      attributesRead++
      if (attributes === NO_ATTRIBUTES) attributes = {}
      // The first of a name counts. Only names of the list get here, so that none is one of the prototype.
      attributes[attributeName] ??= attributeValue
    },
    onopentagend: () => finishOpening(false),
    onselfclosingtag: () => finishOpening(foreign > 0),
    onclosetag(start, end) {
      const closed = nameAt(start, end)
      if (closed === 'br') {
        events.onOpen('br', NO_ATTRIBUTES)
        return events.onClose()
      }
      if (!isOpen(closed)) return
      while (open.at(-1) !== closed) pop()
      pop()
    },
    ontext: (start, end) => events.onText(html.slice(start, end)),
    ontextentity: (codePoint) => events.onText(String.fromCodePoint(codePoint)),
    oncomment: (start, end, offset) => events.onComment(html.slice(start, end - offset)),
    oncdata: (start, end, offset) => events.onComment(html.slice(start, end - offset)),
    ondeclaration() {},
    onprocessinginstruction() {},
    isInForeignContext: () => foreign > 0,
    onend() {},
  }
  const tokenizer = new Tokenizer({ decodeEntities: true }, callbacks)
  tokenizer.write(html)
  tokenizer.end()
  while (open.length > 0) pop()
}
