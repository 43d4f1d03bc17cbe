// Markdown as a tree of allowed elements. There is never a string of HTML: the parser gives tokens, and this takes of them what is
// allowed. It is a file of its own, since its library is six times as large as everything else that a page loads.
import MarkdownIt, { type Token } from 'markdown-it'
import type { MarkdownNode, MarkdownTag, MarkdownTree } from './node.ts'

/** Characters that are read of a text; 100 pages of a book. */
export const MAX_CHARACTERS = 256 * 1024
/** Elements and texts that are drawn of it: more than that no page has, and a browser would work at them for seconds. */
export const MAX_NODES = 20_000
/** Lists in lists, quotes in quotes. Without a bound a text of brackets costs more than it says. */
const MAX_NESTING = 40

const STRANGERS_LINKS = /^(?:https?:|mailto:|#)/i
/** A path of this site too, but no other host behind two slashes. */
const OWN_LINKS = /^(?:https?:|mailto:|#|\.{0,2}\/(?![/\\])|[\w.-]+(?:[/#?]|$))/i

const createParser = (links: RegExp) => {
  // Pictures would tell their host who reads, and turning words into links would make addresses of what its author only named.
  const parser = new MarkdownIt({ html: false, linkify: false, typographer: false, maxNesting: MAX_NESTING })
  parser.disable(['image'])
  parser.validateLink = (address) => links.test(address.trim()) && !/^\s*javascript:/i.test(address)
  return parser
}
const parsers: { [name in 'stranger' | 'own']?: ReturnType<typeof createParser> } = {}

/** Elements that a token may become; whatever else there is gives its text alone. */
const TAGS: Readonly<Record<string, MarkdownTag>> = {
  paragraph_open: 'p',
  bullet_list_open: 'ul',
  ordered_list_open: 'ol',
  list_item_open: 'li',
  blockquote_open: 'blockquote',
  table_open: 'table',
  thead_open: 'thead',
  tbody_open: 'tbody',
  tr_open: 'tr',
  th_open: 'th',
  td_open: 'td',
  em_open: 'em',
  strong_open: 'strong',
  s_open: 's',
  hardbreak: 'br',
  hr: 'hr',
}

/**
 * Reads a text.
 * @param author `own`: its links may lead to pages of this site
 * @param maxCharacters that are read of it
 */
export function parseMarkdown(
  text: string,
  author: 'stranger' | 'own' = 'stranger',
  maxCharacters: number = MAX_CHARACTERS,
): MarkdownTree {
  const parser = (parsers[author] ??= createParser(author === 'own' ? OWN_LINKS : STRANGERS_LINKS))
  const reader = createReader()
  const nodes = reader.read(parser.parse(text.slice(0, maxCharacters), {}))
  return { nodes, isCut: text.length > maxCharacters || reader.isFull() }
}

function createReader() {
  let count = 0

  function read(tokens: readonly Token[]): MarkdownNode[] {
    const root: MarkdownNode[] = []
    const open = [root]
    for (const token of tokens) {
      if (count >= MAX_NODES) break
      if (token.nesting < 0) {
        // What opens nothing here closes nothing.
        if (isDrawn(token)) open.pop()
        continue
      }
      const at = open.at(-1) ?? root
      if (token.type === 'inline') at.push(...read(token.children ?? []))
      else if (token.nesting === 0) at.push(...leafOf(token, at))
      else if (isDrawn(token)) {
        const children: MarkdownNode[] = []
        if (token.type === 'link_open') dropPictureMark(at)
        at.push(elementOf(token, children))
        open.push(children)
      }
      count++
    }
    return root
  }

  return { read, isFull: () => count >= MAX_NODES }
}

/** Paragraphs of a list without blank lines are no paragraphs. */
const isDrawn = ({ hidden }: Token) => !hidden

/** `![a picture](…)` is a link to the picture here, and its mark nothing that anybody wrote to be read. */
function dropPictureMark(before: MarkdownNode[]): void {
  const last = before.at(-1)
  if (typeof last === 'string' && last.endsWith('!')) before[before.length - 1] = last.slice(0, -1)
}

function elementOf(token: Token, children: MarkdownNode[]): MarkdownNode {
  const attribute = (name: string) => {
    const value = token.attrGet(name)
    return value === null ? undefined : String(value)
  }
  if (token.type === 'link_open') return { tag: 'a', children, href: attribute('href') ?? '' }
  if (token.type === 'heading_open') return { tag: 'h', children, level: Number(token.tag.slice(1)) }
  const tag = TAGS[token.type] ?? 'span'
  const start = tag === 'ol' ? attribute('start') : undefined
  const align = /^text-align:(center|right)$/.exec(attribute('style') ?? '')?.[1]
  return {
    tag,
    children,
    ...(start !== undefined && { start: Number(start) }),
    ...(align !== undefined && { align: align === 'right' ? 'end' : 'center' }),
  }
}

function leafOf(token: Token, before: MarkdownNode[]): MarkdownNode[] {
  switch (token.type) {
    case 'code_inline':
      return [{ tag: 'code', children: [token.content] }]
    case 'fence':
    case 'code_block':
      return [
        { tag: 'pre', children: [token.content], language: /^[\w+#.-]{1,32}/.exec(token.info)?.[0] ?? '' },
      ]
    case 'hr':
      return [{ tag: 'hr', children: [] }]
    case 'hardbreak':
      return [{ tag: 'br', children: [] }]
    case 'softbreak':
      return joined(before, '\n')
    default:
      return joined(before, token.content)
  }
}

/** Texts that follow each other are one. */
function joined(before: MarkdownNode[], text: string): MarkdownNode[] {
  const last = before.at(-1)
  if (typeof last !== 'string') return text === '' ? [] : [text]
  before[before.length - 1] = last + text
  return []
}
