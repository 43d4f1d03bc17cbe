// What Markdown is made of, read by one parser whoever wrote it: its words, its parts by kind, and its blocks as a reader sees them.
import MarkdownIt from 'markdown-it'

export const PARTS = ['headings', 'links', 'images', 'code', 'tables', 'items', 'quotes', 'formulas'] as const
export type Parts = Record<(typeof PARTS)[number], number>

const PART_OF_TOKEN: Readonly<Record<string, (typeof PARTS)[number]>> = {
  heading_open: 'headings',
  link_open: 'links',
  image: 'images',
  fence: 'code',
  code_block: 'code',
  table_open: 'tables',
  list_item_open: 'items',
  blockquote_open: 'quotes',
}
/** Sums of money have dollars too, but nothing of TeX between them. */
const FORMULA = /\$\$[^$]+\$\$|\$(?=\S)[^$\n]*[\\^_{}=+][^$\n]*\$/g
const WRITTEN_HTML = /<table[\s>]|<img[\s>]/gi

const parser = new MarkdownIt({ html: true, linkify: false })

export function countParts(markdown: string): Parts {
  const parts = Object.fromEntries(PARTS.map((part) => [part, 0])) as Parts
  for (const token of parser.parse(markdown, {}))
    for (const { type, content } of [token, ...(token.children ?? [])]) {
      const part = PART_OF_TOKEN[type]
      if (part) parts[part]++
      else if (type === 'html_block' || type === 'html_inline')
        for (const [tag] of content.matchAll(WRITTEN_HTML))
          parts[tag.startsWith('<t') ? 'tables' : 'images']++
    }
  parts.formulas = markdown.match(FORMULA)?.length ?? 0
  return parts
}

/** The text of each block, without addresses, words for images and marks. */
export function blocksOf(markdown: string): string[] {
  return parser
    .parse(markdown, {})
    .flatMap(({ type, content, children }) => {
      if (type === 'fence' || type === 'code_block') return [content]
      if (type === 'html_block') return [content.replace(/<[^<>]*>/g, ' ')]
      if (type !== 'inline') return []
      return [(children ?? []).map((child) => textOf(child.type, child.content)).join('')]
    })
    .map((text) => text.trim())
    .filter((text) => text !== '')
}

const textOf = (type: string, content: string): string => {
  if (type === 'softbreak' || type === 'hardbreak') return '\n'
  return type === 'text' || type === 'code_inline' ? content : type === 'html_inline' ? ' ' : ''
}

/** As corpora.ts counts them. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

/** Words of the first that the second has not, each as often as it comes. */
export function without(words: readonly string[], others: readonly string[]): string[] {
  const left = Map.groupBy(others, (word) => word)
  return words.filter((word) => left.get(word)?.pop() === undefined)
}
