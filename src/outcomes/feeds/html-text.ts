// A piece of HTML, or of XML that stands for HTML, -> the text a reader sees, and what a reader does not see.
import { Parser } from 'htmlparser2'
import type { Construct } from './model.ts'
import type { XmlElement } from './xml.ts'

export interface VisibleText {
  /** The text as written: not cleaned, spaces not collapsed. */
  readonly text: string
  /** Text of elements that are not shown. */
  readonly hidden: string
  readonly comments: string
}

/** Elements that are never text for a reader. What stands in frames and players is shown where they cannot be. */
const SKIPPED = new Set(['script', 'style', 'template', 'select', 'datalist', 'textarea'])
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const MAX_DEPTH = 300
const MAX_SIDE_CHARACTERS = 8192
const STOP = Symbol('stop')

const isHidden = (attributes: { hidden?: string | undefined; style?: string | undefined }) =>
  attributes.hidden !== undefined ||
  /(?:^|;)\s{0,9}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i.test(
    attributes.style?.slice(0, 1000) ?? '',
  )

/** @param maxCharacters of text: reading stops a little after */
function readHtml(html: string, maxCharacters: number): VisibleText {
  // Most titles and many descriptions.
  if (!/[<&]/.test(html)) return { text: html.slice(0, maxCharacters), hidden: '', comments: '' }
  const parts: string[] = []
  const hidden: string[] = []
  const comments: string[] = []
  let length = 0
  let sideLength = 0
  let depth = 0
  /** Depth at which something began that is not to be seen. */
  let skippedFrom = 0
  let isScript = false
  const keepAside = (list: string[], text: string) => {
    if ((sideLength += text.length) <= MAX_SIDE_CHARACTERS) list.push(text)
  }
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > MAX_DEPTH) throw STOP
      if (skippedFrom === 0 && (SKIPPED.has(name) || isHidden(attributes))) {
        skippedFrom = depth
        isScript = SKIPPED.has(name)
      } else if (!INLINE.has(name)) parts.push(' ')
    },
    onclosetag(name) {
      if (skippedFrom === depth) skippedFrom = 0
      else if (skippedFrom === 0 && !INLINE.has(name)) parts.push(' ')
      depth--
    },
    ontext(text) {
      if (skippedFrom > 0) return isScript ? undefined : keepAside(hidden, text)
      parts.push(text)
      if ((length += text.length) > maxCharacters) throw STOP
    },
    oncomment: (text) => keepAside(comments, text),
  })
  try {
    parser.write(html)
    parser.end()
  } catch (error) {
    if (error !== STOP) throw error
  }
  return {
    text: parts.join('').slice(0, maxCharacters),
    hidden: hidden.join(' '),
    comments: comments.join(' '),
  }
}

/** The same for elements that stand in the feed itself. */
function readTree(element: XmlElement, maxCharacters: number): VisibleText {
  const parts: string[] = []
  const hidden: string[] = []
  let length = 0
  const queue: (XmlElement | string)[] = element.children.toReversed()
  for (let node = queue.pop(); node !== undefined && length < maxCharacters; node = queue.pop()) {
    if (typeof node === 'string') {
      parts.push(node)
      length += node.length
      continue
    }
    const name = node.name.slice(node.name.lastIndexOf(':') + 1)
    if (SKIPPED.has(name)) continue
    const { attributes } = node
    if (isHidden({ hidden: attributes.get('hidden'), style: attributes.get('style') })) {
      hidden.push(readTreeFlat(node))
      continue
    }
    if (!INLINE.has(name)) {
      parts.push(' ')
      queue.push(' ')
    }
    for (const child of node.children.toReversed()) queue.push(child)
  }
  return { text: parts.join('').slice(0, maxCharacters), hidden: hidden.join(' '), comments: '' }
}

/** Text directly in an element that is hidden: enough to tell what it says. */
const readTreeFlat = (element: XmlElement) =>
  element.children
    .filter((child) => typeof child === 'string')
    .join(' ')
    .slice(0, MAX_SIDE_CHARACTERS)

/** The text of a construct as a reader sees it, at most so many characters. */
export function readVisible(construct: Construct, maxCharacters: number): VisibleText {
  if (construct.kind === 'tree') return readTree(construct.element, maxCharacters)
  if (construct.kind === 'html') return readHtml(construct.value, maxCharacters)
  return { text: construct.value.slice(0, maxCharacters), hidden: '', comments: '' }
}
