// HTML -> light tree in one streaming pass. Whatever is sent, the tree is bounded: depth is capped by flattening, so that
// no later walk can overflow a stack, and elements that never carry readable text are left out while parsing.
import { Parser } from 'htmlparser2'

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: (Element | string)[]
}

export interface ParsedPage {
  readonly root: Element
  /** JSON-LD scripts as written. */
  readonly jsonLd: readonly string[]
  /** meta, link, base, html and title, wherever they stood. */
  readonly head: readonly Element[]
  readonly comments: string
  /** Text of elements that the page hides from its readers. */
  readonly hiddenText: string
  readonly elements: number
  readonly skippedElements: number
  readonly truncated: boolean
}

const MAX_DEPTH = 256
const MAX_ELEMENTS = 200_000
const MAX_SIDE_CHARACTERS = 64 * 1024

const SKIPPED = new Set(
  'script style template noscript svg math canvas iframe frame frameset object embed applet audio video map select option datalist textarea input button progress meter dialog'.split(
    ' ',
  ),
)
const HEAD = new Set(['html', 'meta', 'link', 'base', 'title', 'time'])
const NEVER_HIDDEN = new Set(['html', 'body', 'head'])

export function parsePage(html: string): ParsedPage {
  const root: Element = { name: '#root', attributes: {}, children: [] }
  const open: Element[] = [root]
  const head: Element[] = []
  const jsonLd: string[] = []
  const hidden: string[] = []
  const comments: string[] = []
  let sideCharacters = 0
  let elements = 0
  let skippedElements = 0
  let truncated = false
  // Inside a skipped element only the depth is tracked, so that its end is found.
  let skipping: { depth: number; kind: 'drop' | 'hidden' | 'json-ld' } | undefined
  let script = ''

  const keepAside = (list: string[], text: string) => {
    if ((sideCharacters += text.length) <= MAX_SIDE_CHARACTERS) list.push(text)
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (skipping) {
          skipping.depth++
          skippedElements++
          // A script inside something hidden is no text of the page.
          if (skipping.kind === 'hidden' && SKIPPED.has(name)) skipping.kind = 'drop'
          return
        }
        const kind = skipKind(name, attributes)
        if (kind || elements >= MAX_ELEMENTS) {
          truncated ||= !kind
          skippedElements++
          skipping = { depth: 1, kind: kind ?? 'drop' }
          return
        }
        elements++
        const element: Element = { name, attributes, children: [] }
        // Past the cap new elements become siblings below the deepest allowed one: text survives, depth does not grow.
        open[Math.min(open.length, MAX_DEPTH) - 1]!.children.push(element)
        open.push(element)
        if (HEAD.has(name)) head.push(element)
      },
      onclosetag() {
        if (!skipping) {
          if (open.length > 1) open.pop()
          return
        }
        if (--skipping.depth > 0) return
        if (skipping.kind === 'json-ld') {
          jsonLd.push(script)
          script = ''
        }
        skipping = undefined
      },
      ontext(text) {
        if (!skipping) open.at(-1)!.children.push(text)
        else if (skipping.kind === 'json-ld') script += text
        else if (skipping.kind === 'hidden') keepAside(hidden, text)
      },
      oncomment(text) {
        keepAside(comments, text)
      },
    },
    { decodeEntities: true },
  )
  parser.write(html)
  parser.end()
  return {
    root,
    jsonLd,
    head,
    comments: comments.join('\n'),
    hiddenText: hidden.join(' '),
    elements,
    skippedElements,
    truncated,
  }
}

function skipKind(
  name: string,
  attributes: Readonly<Record<string, string>>,
): 'drop' | 'hidden' | 'json-ld' | undefined {
  if (name === 'script' && /^\s*application\/ld\+json\b/i.test(attribute(attributes, 'type') ?? ''))
    return 'json-ld'
  if (SKIPPED.has(name)) return 'drop'
  return isHidden(name, attributes) ? 'hidden' : undefined
}

const HIDING_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:[;!]|$)|font-size\s*:\s*0(?:px|pt|em|rem|%)?\s*(?:[;!]|$))/i

function isHidden(name: string, attributes: Readonly<Record<string, string>>): boolean {
  // Pages that fade in hide their whole body at first: that hides nothing from anybody.
  if (NEVER_HIDDEN.has(name)) return false
  const hidden = attribute(attributes, 'hidden')
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true
  if (attribute(attributes, 'aria-hidden')?.toLowerCase() === 'true') return true
  const style = attribute(attributes, 'style')
  return style !== undefined && HIDING_STYLE.test(style)
}

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
    else for (let i = node.children.length - 1; i >= 0; i--) stack.push(node.children[i]!)
  }
  return pieces.join(separator)
}
