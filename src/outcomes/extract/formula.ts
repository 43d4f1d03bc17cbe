// Reads a formula of a page as TeX: what MathML, KaTeX, MathJax and images of formulas carry beside their drawing, and
// where they carry nothing, a linear text of the MathML. Bounded, and without recursion over the page.
import { type Element, elementsBelow, textOf } from './elements.ts'

export type FormulaKind = NonNullable<Element['formula']>

const MAX_FORMULA_CHARACTERS = 4000
/** Larger MathML without TeX in it is read as its bare text. */
const MAX_FORMULA_ELEMENTS = 500
/** Attributes in which renderers keep the source. */
const SOURCE_ATTRIBUTES = ['data-tex', 'data-latex', 'data-math']
/** They hide it from screen readers, who have the MathML, and the MathML from everybody else. */
export const isFormulaImage = ({ class: className, alt }: Element['attributes']): boolean =>
  className !== undefined && !!alt && FORMULA_IMAGE.test(className)

const FORMULA_IMAGE = /(?:^|\s)(?:mwe-math-fallback-image-(?:inline|display)|latex|tex|mathjax)(?:\s|$)/i

/** Elements that say what a formula is, as far as an opening tag tells. Undefined for everything else. */
export function formulaSource(element: Element): string | undefined {
  const { name, attributes } = element
  if (name === 'math') return readMathMl(element)
  if (name === 'img') {
    return isFormulaImage(attributes) ? tidyTex(attributes['alt'] ?? '') : undefined
  }
  if (name !== 'span' && name !== 'div' && name !== 'mjx-container' && name !== 'math-renderer')
    return undefined
  return statedTex(attributes) ?? writtenTex(element)
}

/** What a renderer in the browser is to find: the element is called a formula, and its whole text is one between delimiters. */
function writtenTex({ attributes, children }: Element): string | undefined {
  const [text] = children
  if (children.length !== 1 || typeof text !== 'string' || text.length > MAX_FORMULA_CHARACTERS)
    return undefined
  return FORMULA_NAME.test(attributes['class'] ?? '') && DELIMITED.test(text.trim())
    ? tidyTex(text)
    : undefined
}

export const formulaKind = ({ name, attributes, children }: Element): FormulaKind =>
  attributes['display'] === 'block' ||
  (typeof children[0] === 'string' && DISPLAYED.test(children[0])) ||
  attributes['mode'] === 'display' ||
  (name === 'img' && attributes['class']?.includes('image-display') === true)
    ? 'block'
    : 'inline'

const FORMULA_NAME = /(?:^|\s)(?:math|arithmatex|tex|katex|js-(?:inline|display)-math)(?:\s|$)/i
const DISPLAYED = /^\s*(?:\$\$|\\\[)/
const DELIMITED = /^(?:\$\$[^$]+\$\$|\$[^$]+\$|\\\([^]+\\\)|\\\[[^]+\\\])$/

/** None of the names is one of the prototype. */
function statedTex(attributes: Element['attributes']): string | undefined {
  const written = SOURCE_ATTRIBUTES.map((key) => attributes[key]).find((value) => value?.trim())
  return written === undefined ? undefined : tidyTex(written)
}

/** TeX without what only says how large it is set, and without delimiters around it. */
export function tidyTex(written: string): string {
  let tex = written.slice(0, MAX_FORMULA_CHARACTERS).replace(/\s+/g, ' ').trim()
  const wrapped = /^\{\\(?:display|text)style(?![a-z])(.*)\}$/i.exec(tex)?.[1]
  if (wrapped !== undefined) tex = wrapped.trim()
  tex = tex.replace(/^\\(?:display|text)style(?![a-z])\s*/i, '')
  const inside = /^(?:\$\$(.+)\$\$|\$([^$]+)\$|\\\((.+)\\\)|\\\[(.+)\\\])$/.exec(tex)
  return (inside?.slice(1).find((part) => part !== undefined) ?? tex).trim()
}

function readMathMl(math: Element): string {
  for (const { name, attributes, children } of elementsBelow(math)) {
    if (name !== 'annotation' || !/tex/i.test(attributes['encoding'] ?? '')) continue
    const tex = tidyTex(children.filter((child) => typeof child === 'string').join(''))
    if (tex !== '') return tex
  }
  const stated = statedTex(math.attributes) ?? math.attributes['alttext']
  if (stated?.trim()) return tidyTex(stated)
  return math.end - math.start > MAX_FORMULA_ELEMENTS ? tidyTex(textOf(math, ' ')) : linearise(math)
}

/** What stands between the parts of an element. */
const JOINS: Readonly<Record<string, readonly string[]>> = {
  msup: ['^'],
  msub: ['_'],
  msubsup: ['_', '^'],
  munder: ['_'],
  mover: ['^'],
  munderover: ['_', '^'],
  mfrac: ['/'],
  mtr: [', '],
  mtable: ['; '],
}
const OPERATORS = /^[=<>+\u2212±×÷·≤≥≠≈≡∈∉⊂→←↔⇒⇔∀∃∧∨-]$/

/** `(a+b)/2`, `x^2`, `√(n)`: the parts of each element put together once those of its children are. */
function linearise(math: Element): string {
  const written = new Map<Element, string>()
  // Children come after their parents in the order of the page: from the end on, every part is ready.
  const elements = [...elementsBelow(math)]
  for (const element of elements.toReversed()) {
    const parts = element.children
      .map((child) =>
        typeof child === 'string' ? child.replace(/\s+/g, ' ').trim() : (written.get(child) ?? ''),
      )
      .filter((part) => part !== '')
    written.set(element, writeElement(element.name, parts).slice(0, MAX_FORMULA_CHARACTERS))
  }
  return (written.get(math) ?? '').replace(/ {2,}/g, ' ').trim()
}

function writeElement(name: string, parts: readonly string[]): string {
  const joins = JOINS[name]
  if (name === 'annotation' || name === 'annotation-xml' || name === 'mphantom') return ''
  if (name === 'mo') return OPERATORS.test(parts.join('')) ? ` ${parts.join('')} ` : parts.join('')
  if (name === 'msqrt') return `√${group(parts.join(''))}`
  if (name === 'mroot') return `root(${parts.join(', ')})`
  if (name === 'mfenced') return `(${parts.join(', ')})`
  if (joins === undefined) return parts.join('')
  const isList = name === 'mtr' || name === 'mtable'
  return parts
    .map(
      (part, i) =>
        (i === 0 ? '' : (joins[Math.min(i, joins.length) - 1] ?? '')) + (isList ? part : group(part)),
    )
    .join('')
}

const group = (part: string) =>
  /^(?:[\p{L}\p{M}]+|[\d.,]+|.)$/u.test(part.trim()) ? part.trim() : `(${part.trim()})`
