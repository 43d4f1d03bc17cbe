// What every part of a result is drawn with.
import type { VNode } from 'preact'
import type { ResultTexts } from '../../texts/result.ts'

export interface ResultLook {
  readonly t: ResultTexts
  /** Draws Markdown: at once on the server, when its parser has come in a browser. */
  readonly markdown: (text: string, t: ResultTexts) => VNode
  /** Address of a page of this site in the visitor's language. */
  readonly href: (path: string) => string
}
