// What Markdown becomes: plain JSON, so that it may travel, of elements that can do nothing.

export type MarkdownTag =
  | (
      | 'p'
      | 'ul'
      | 'ol'
      | 'li'
      | 'blockquote'
      | 'pre'
      | 'code'
      | 'hr'
      | 'br'
      | 'em'
      | 'strong'
      | 's'
      | 'a'
      | 'span'
    )
  | ('table' | 'thead' | 'tbody' | 'tr' | 'th' | 'td')
  | 'h'

export interface MarkdownElement {
  readonly tag: MarkdownTag
  readonly children: readonly MarkdownNode[]
  /** Of `a`. */
  readonly href?: string
  /** Of `h`: 1 to 6 as it was written. */
  readonly level?: number
  /** Of `ol`. */
  readonly start?: number
  /** Of `th` and `td`. */
  readonly align?: 'center' | 'end'
  /** Of `pre`: what stood behind the fence, one word. */
  readonly language?: string
}

export type MarkdownNode = string | MarkdownElement

export interface MarkdownTree {
  readonly nodes: readonly MarkdownNode[]
  /** The text was longer than what is shown. */
  readonly isCut: boolean
}

/** The words of a node, for the id of a heading. */
export const wordsOf = (node: MarkdownNode): string =>
  typeof node === 'string' ? node : node.children.map(wordsOf).join('')
