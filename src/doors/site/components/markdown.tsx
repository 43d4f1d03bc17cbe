// Markdown on a page that the server draws. In a browser the parser is loaded when there is something to show (result/article.tsx).
import type { VNode } from 'preact'
import { parseMarkdown } from './markdown/parse.ts'
import { type MarkdownLook, MarkdownView } from './markdown/tree.tsx'
import { resultTexts } from '../texts/result.ts'
import type { PageContext } from '../ports.ts'

interface MarkdownProps extends MarkdownLook {
  readonly text: string
  readonly page: Pick<PageContext, 'language'>
  /** Characters that are read of it, where that is less than usual. */
  readonly max?: number
}

/** A Markdown text, a stranger's unless `isOwn`. */
export const Markdown = ({ text, page, max, ...look }: MarkdownProps): VNode => (
  <MarkdownView
    tree={parseMarkdown(text, look.isOwn ? 'own' : 'stranger', max)}
    cutWords={resultTexts[page.language].cut}
    {...look}
  />
)
