// Draws the tree of a Markdown text. Each element is named here: what is not in this list is not drawn.
import type { ComponentChildren, VNode } from 'preact'
import { Visible } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { type MarkdownElement, type MarkdownNode, type MarkdownTree, wordsOf } from './node.ts'

export interface MarkdownLook {
  /** The level that the highest heading has on this page. */
  readonly headingsFrom?: 1 | 2 | 3 | 4
  /** We wrote it: its headings have ids, and its links are those of this site. */
  readonly isOwn?: boolean
  /** Where a link of our own leads on this site. */
  readonly hrefOf?: (href: string) => string
  /** Draws a block of code, where a page has more for it than a frame. */
  readonly code?: (text: string, language: string) => VNode
}

interface TreeProps extends MarkdownLook {
  readonly tree: MarkdownTree
  /** Said where the text was longer. */
  readonly cutWords: string
}

export function MarkdownView({ tree, cutWords, ...look }: TreeProps): VNode {
  return (
    <div class="markdown" dir="auto">
      {drawAll(tree.nodes, look)}
      {tree.isCut && <p class="notice warns">{cutWords}</p>}
    </div>
  )
}

const drawAll = (nodes: readonly MarkdownNode[], look: MarkdownLook): ComponentChildren[] =>
  nodes.map((node) => (typeof node === 'string' ? textOf(node, look) : draw(node, look)))

const textOf = (text: string, { isOwn }: MarkdownLook) => (isOwn ? text : <Visible text={text} />)

function draw(node: MarkdownElement, look: MarkdownLook): ComponentChildren {
  const { tag, align } = node
  const inner = () => drawAll(node.children, look)
  const cell = align === undefined ? undefined : `align-${align}`
  switch (tag) {
    case 'p':
      return <p dir="auto">{inner()}</p>
    case 'ul':
      return <ul dir="auto">{inner()}</ul>
    case 'ol':
      return (
        <ol dir="auto" {...(node.start !== undefined && { start: node.start })}>
          {inner()}
        </ol>
      )
    case 'li':
      return <li dir="auto">{inner()}</li>
    case 'blockquote':
      return <blockquote dir="auto">{inner()}</blockquote>
    case 'h':
      return <Heading node={node} look={look} />
    case 'a':
      return <MarkdownLink node={node} look={look} />
    case 'code':
      return <code dir="ltr">{inner()}</code>
    case 'pre':
      return look.code ? (
        look.code(wordsOf(node), node.language ?? '')
      ) : (
        <pre class="markdown-code" dir="ltr" tabIndex={0}>
          <code>{inner()}</code>
        </pre>
      )
    case 'table':
      return (
        <div class="scrolling" tabIndex={0}>
          <table dir="auto">{inner()}</table>
        </div>
      )
    case 'thead':
      return <thead>{inner()}</thead>
    case 'tbody':
      return <tbody>{inner()}</tbody>
    case 'tr':
      return <tr>{inner()}</tr>
    case 'th':
      return (
        <th scope="col" class={cell}>
          {inner()}
        </th>
      )
    case 'td':
      return <td class={cell}>{inner()}</td>
    case 'em':
      return <em>{inner()}</em>
    case 'strong':
      return <strong>{inner()}</strong>
    case 's':
      return <s>{inner()}</s>
    case 'br':
      return <br />
    case 'hr':
      return <hr />
    case 'span':
      return <span>{inner()}</span>
  }
}

interface PartProps {
  readonly node: MarkdownElement
  readonly look: MarkdownLook
}

function Heading({ node, look }: PartProps): VNode {
  const level = Math.min(6, (node.level ?? 1) + (look.headingsFrom ?? 3) - 1)
  const Tag = `h${level}` as 'h1'
  return (
    <Tag dir="auto" {...(look.isOwn && { id: headingId(wordsOf(node)) })}>
      {drawAll(node.children, look)}
    </Tag>
  )
}

function MarkdownLink({ node, look }: PartProps): VNode {
  const href = node.href ?? ''
  const isOwn = look.isOwn === true
  // A place in a stranger's page is none in ours.
  if (!isOwn && href.startsWith('#')) return <span>{drawAll(node.children, look)}</span>
  return (
    <Link to={isOwn ? (look.hrefOf?.(href) ?? href) : href} isForeign={!isOwn}>
      {drawAll(node.children, look)}
    </Link>
  )
}

/** As GitHub makes them, which our guides are written for: `Paid web fetch` -> `paid-web-fetch`. */
export const headingId = (words: string): string =>
  words
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
