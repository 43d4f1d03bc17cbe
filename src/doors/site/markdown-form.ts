// A page as Markdown, for a model that reads: what the page says, without what one clicks. It is made of the page's own HTML, so the two
// forms cannot disagree. Words of the page are escaped: no stranger's text becomes a link or a heading that the page does not have.
import { Parser } from 'htmlparser2'

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Node[]
}
type Node = Element | string

/**
 * The content of a page as Markdown (GFM): headings, lists, tables, code with its language, links with whole addresses. What is folded
 * stands open; controls, forms, pictures without words and scripts are left out.
 * @param html markup of `<main>`, as `renderPage` makes it
 * @param address of the page, which its links are relative to
 */
export function markdownOf(html: string, address: string): string {
  const text = withoutEmptySections(blocksOf(parse(html), { address })).join('\n\n')
  return `${text}\n`
}

/** A section of controls alone has nothing to read. */
const withoutEmptySections = (blocks: readonly string[]): readonly string[] =>
  blocks.filter((block, at) => {
    const level = levelOf(block)
    if (level === undefined || level === 1) return true
    const next = blocks[at + 1]
    return next !== undefined && (levelOf(next) ?? Infinity) > level
  })

const levelOf = (block: string): number | undefined => /^(#{1,6}) /.exec(block)?.[1]?.length

const VOID = new Set(['br', 'hr', 'img', 'input', 'link', 'meta', 'wbr', 'source'])

/** Our own pages are well formed: nothing has to be guessed. */
function parse(html: string): Node[] {
  const root: Element = { name: '', attributes: {}, children: [] }
  const open = [root]
  const parser = new Parser({
    onopentag(name, attributes) {
      const element: Element = { name, attributes, children: [] }
      open.at(-1)?.children.push(element)
      if (!VOID.has(name)) open.push(element)
    },
    // A text with entities in it comes in pieces, and what they mean together is seen only together.
    ontext(text) {
      const children = open.at(-1)?.children ?? []
      const before = children.at(-1)
      if (typeof before === 'string') children[children.length - 1] = before + text
      else children.push(text)
    },
    onclosetag(name) {
      if (open.length > 1 && !VOID.has(name)) open.pop()
    },
  })
  parser.end(html)
  return root.children
}

interface Place {
  readonly address: string
  /** Within a cell of a table everything is one line. */
  readonly isCell?: boolean
}

const BLOCKS = new Set(
  'address article aside blockquote caption dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre search section summary table ul'.split(
    ' ',
  ),
)
/** What one acts with, and what only draws. */
const LEFT_OUT = new Set(
  'button canvas datalist dialog form input label link meta noscript optgroup option script select style svg template textarea'.split(
    ' ',
  ),
)

const isLeftOut = ({ name, attributes }: Element) =>
  (LEFT_OUT.has(name) && attributes['role'] !== 'img') ||
  'hidden' in attributes ||
  'data-only-drawn' in attributes ||
  attributes['aria-hidden'] === 'true' ||
  /(?:^| )needs-script(?: |$)/.test(attributes['class'] ?? '')

const isBlock = (node: Node): node is Element =>
  typeof node !== 'string' && (BLOCKS.has(node.name) || (!isLeftOut(node) && node.children.some(isBlock)))

/** Blocks of Markdown; what stands inline between two blocks is a paragraph. */
function blocksOf(nodes: readonly Node[], place: Place): string[] {
  const blocks: string[] = []
  let line: Node[] = []
  const endLine = () => {
    const text = paragraph(line, place)
    if (text !== '') blocks.push(text)
    line = []
  }
  for (const node of nodes) {
    if (typeof node !== 'string' && isLeftOut(node)) continue
    if (!isBlock(node)) line.push(node)
    else {
      endLine()
      blocks.push(...blockOf(node, place))
    }
  }
  endLine()
  return blocks
}

function blockOf(element: Element, place: Place): string[] {
  const { name, children, attributes } = element
  switch (name) {
    case 'h1':
    case 'h2':
    case 'h3':
    case 'h4':
    case 'h5':
    case 'h6': {
      const words = inline(children, place)
      return words === '' ? [] : [`${'#'.repeat(Number(name[1]))} ${words}`]
    }
    case 'p':
    case 'dt':
    case 'summary':
    case 'figcaption':
    case 'caption': {
      if (children.some(isBlock)) return blocksOf(children, place)
      const text = paragraph(children, place)
      if (text === '') return []
      return [name === 'p' ? text : `**${text.replaceAll('**', '')}**`]
    }
    case 'hr':
      return ['---']
    case 'pre':
      return [fenced(element)]
    case 'blockquote':
      return [prefixed(blocksOf(children, place), '> ', '> ')]
    case 'ul':
    case 'ol':
    case 'dl':
      return list(element, place)
    case 'table':
      return table(element, place)
    case 'figure':
      // A caption of code says more than its fence.
      return blocksOf(children, place)
    case 'section': {
      // The name of a tab is on the button that shows it, unless what it shows begins with it.
      const blocks = blocksOf(children, place)
      const name = attributes['aria-label'] && `**${escaped(attributes['aria-label'])}**`
      return name && blocks.length > 0 && blocks[0] !== name && !blocks[0]?.startsWith('#')
        ? [name, ...blocks]
        : blocks
    }
    case 'nav':
      return attributes['aria-label'] === undefined ? [] : blocksOf(children, place)
    default:
      return blocksOf(children, place)
  }
}

function fenced(pre: Element): string {
  const text = textOf(pre).replace(/\n$/, '')
  const code = pre.children.find((node): node is Element => typeof node !== 'string' && node.name === 'code')
  const [, language = ''] = /(?:^| )language-([\w+-]+)/.exec(code?.attributes['class'] ?? '') ?? []
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

function list({ name, children }: Element, place: Place): string[] {
  const items: string[] = []
  let number = 0
  let isTight = true
  for (const item of elementsOf(children)) {
    if (item.name === 'div') {
      items.push(...list({ ...item, name }, place))
      continue
    }
    const blocks = item.name === 'dt' ? blockOf(item, place) : blocksOf(item.children, place)
    if (blocks.length === 0) continue
    if (blocks.length > 1) isTight = false
    const mark = name === 'ol' ? `${(number += 1)}. ` : '- '
    // What is said of a term stands below it.
    const lead = item.name === 'dd' ? '  - ' : mark
    items.push(prefixed(blocks, lead, ' '.repeat(lead.length)))
  }
  return items.length === 0 ? [] : [items.join(isTight ? '\n' : '\n\n')]
}

function table(element: Element, place: Place): string[] {
  const caption = elementsOf(element.children).find(({ name }) => name === 'caption')
  const rows = rowsOf(element).map((row) =>
    elementsOf(row.children)
      .filter(({ name }) => name === 'th' || name === 'td')
      .map((cell) => ({ cell, text: cellText(cell, place) })),
  )
  const hasHead = rows[0]?.every(({ cell }) => cell.name === 'th') ?? false
  const width = Math.max(0, ...rows.map((row) => row.length))
  if (width === 0) return []
  const draw = (texts: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, at) => texts[at] ?? '').join(' | ')} |`
  const [head, ...body] = rows.map((row) => row.map(({ text }) => text))
  const lines = [
    draw(hasHead ? (head ?? []) : []),
    draw(Array.from({ length: width }, () => '---')),
    ...(hasHead ? body : [head ?? [], ...body]).map(draw),
  ]
  return [...(caption ? blockOf(caption, place) : []), lines.join('\n')]
}

const rowsOf = ({ children }: Element): Element[] =>
  elementsOf(children).flatMap((child) => (child.name === 'tr' ? [child] : rowsOf(child)))

function cellText(cell: Element, place: Place): string {
  const parts = blocksOf(cell.children, { ...place, isCell: true })
  return parts
    .join('; ')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim()
}

/** A line that begins like a heading, a list or a quotation is none. */
const paragraph = (nodes: readonly Node[], place: Place): string =>
  inline(nodes, place)
    .split('\n')
    .map((line) => line.trim().replace(/^(#{1,6}(?= |$)|[-+](?= |$)|>|=+$|-+$|~{3})/, '\\$1'))
    .map((line) => line.replace(/^(\d{1,9})([.)])(?= |$)/, '$1\\$2'))
    .join('\n')
    .trim()

/** One run of words. Neighbours that are elements stand apart on the page, so they do here. */
function inline(nodes: readonly Node[], place: Place): string {
  let text = ''
  let isAfterElement = false
  for (const node of nodes) {
    if (typeof node === 'string') {
      text += escaped(node.replaceAll(/\s+/g, ' '))
      isAfterElement = false
      continue
    }
    const words = isLeftOut(node) ? '' : inlineOf(node, place)
    if (words === '') continue
    text += isAfterElement && !/\s$/.test(text) ? ` ${words}` : words
    isAfterElement = true
  }
  return text.replaceAll(/ {2,}/g, ' ').trim() === '' ? '' : text.replaceAll(/ {2,}/g, ' ')
}

function inlineOf(element: Element, place: Place): string {
  const { name, attributes, children } = element
  switch (name) {
    case 'br':
      return place.isCell ? ' ' : '\\\n'
    case 'code':
    case 'kbd':
    case 'samp':
      return codeSpan(textOf(element), place)
    case 'a':
      return link(attributes['href'], inline(children, place).trim(), place)
    case 'img':
    case 'svg':
      return escaped(attributes['alt'] ?? attributes['aria-label'] ?? '')
    case 'strong':
    case 'b':
      return marked(inline(children, place), '**')
    case 'em':
    case 'i':
      return marked(inline(children, place), '*')
    default:
      return children.some(isBlock) ? blocksOf(children, place).join(' ') : inline(children, place)
  }
}

const marked = (words: string, mark: string) => {
  const inner = words.trim()
  return inner === '' ? '' : `${mark}${inner}${mark}`
}

function codeSpan(text: string, { isCell = false }: Place): string {
  const line = text.replaceAll(/\s+/g, ' ')
  if (line.trim() === '') return ''
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  const inner = isCell ? line.replaceAll('|', '\\|') : line
  return longest === 0 ? `${fence}${inner}${fence}` : `${fence} ${inner} ${fence}`
}

function link(href: string | undefined, words: string, { address }: Place): string {
  if (href === undefined || words === '') return words
  if (!URL.canParse(href, address)) return words
  const to = new URL(href, address).href.replaceAll(/[()<>\s|]/g, (char) => encodeURIComponent(char))
  return `[${words}](${to.replaceAll('(', '%28').replaceAll(')', '%29')})`
}

function textOf(element: Element): string {
  return element.children
    .map((child) => (typeof child === 'string' ? child : isLeftOut(child) ? '' : textOf(child)))
    .join('')
}

const elementsOf = (nodes: readonly Node[]): Element[] =>
  nodes.filter((node): node is Element => typeof node !== 'string' && !isLeftOut(node))

const prefixed = (blocks: readonly string[], first: string, others: string) =>
  blocks
    .join('\n\n')
    .split('\n')
    .map((line, at) => (at === 0 ? first : line === '' ? others.trimEnd() : others) + line)
    .join('\n')

/** Marks of Markdown in words. An underscore within a word is none, and an `&` is one only where an entity follows. */
const escaped = (text: string) =>
  text
    .replaceAll(/[\\`*[\]<|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replaceAll(/&(?=#?\w+;)/g, '\\&')
