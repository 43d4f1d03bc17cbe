// The elements of a page as they are kept, and how they are walked. Says which elements are blocks and which of them hold running text: what a rule about whole parts of a page may act on.

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** Grown by `append` while parsing. */
  children: (Element | string)[]
  readonly parent: Element | undefined
  /** Place in the order of the document; everything below has a number up to `end`. */
  readonly start: number
  end: number
  /** Words of the text below that is seen. */
  words: number
  /** Those inside links. */
  linkWords: number
  /** A block stands somewhere below: it is a part of the page, and no word within a text. */
  holdsBlocks: boolean
  /** The text below is TeX. */
  formula: 'inline' | 'block' | undefined
}

const words = (list: string) => new Set(list.split(' '))

export const BLOCKS = words(
  'address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul caption',
)

/** Blocks whose inside is a text that somebody wrote as one: nothing inline is left out of them, whatever it is called. */
const TEXT_HOLDERS = words('p h1 h2 h3 h4 h5 h6 li dt dd td th caption figcaption summary blockquote pre')

/** Whether text can belong to this element: text in another one belongs to the block around it. */
export const isBlockElement = ({ name }: Element) => BLOCKS.has(name)

/** A block, or what holds blocks: only these are parts of a page. Everything else is a word or two within a text. */
export const isPart = (element: Element) => BLOCKS.has(element.name) || element.holdsBlocks

export const isTextHolder = ({ name }: Element) => TEXT_HOLDERS.has(name)

/** Own properties only: an attribute may be called `constructor`. */
export function attribute(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined
}

/**
 * All text below, in order, without recursion.
 * @param maxPieces stops there: for short texts of many nested elements
 */
export function textOf(element: Element, separator = '', maxPieces = Infinity): string {
  const pieces: string[] = []
  const stack: (Element | string)[] = [element]
  for (let node = stack.pop(), left = maxPieces; node !== undefined && left > 0; node = stack.pop(), left--) {
    if (typeof node === 'string') pieces.push(node)
    else pushReversed(stack, node.children)
  }
  return pieces.join(separator)
}

/** The element and all elements below it, in the order of the page, without recursion. */
export function elementsBelow(root: Element): Element[] {
  const elements: Element[] = []
  const stack: Element[] = [root]
  for (let element = stack.pop(); element; element = stack.pop()) {
    elements.push(element)
    const { children } = element
    for (let i = children.length - 1; i >= 0; i--) {
      const child = children[i]!
      if (typeof child !== 'string') stack.push(child)
    }
  }
  return elements
}

/** Puts children on a stack, so that the first comes off first. No copy is made: pages have thousands of them. */
export function pushReversed<T>(stack: T[], children: readonly T[]): void {
  for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]!)
}
