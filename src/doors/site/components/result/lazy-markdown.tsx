// Markdown in a browser: its parser is loaded when there is something to show, since it is larger than the page. Until then, and where it
// does not come, the text is shown as it is.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Visible } from '../foreign.tsx'
import type { MarkdownTree } from '../markdown/node.ts'
import { MarkdownView } from '../markdown/tree.tsx'

interface LazyMarkdownProps {
  readonly text: string
  readonly cutWords: string
}

export function LazyMarkdown({ text, cutWords }: LazyMarkdownProps): VNode {
  const [tree, setTree] = useState<MarkdownTree>()
  useEffect(() => {
    let isShown = true
    setTree(undefined)
    import('../markdown/parse.ts').then(
      ({ parseMarkdown }) => isShown && setTree(parseMarkdown(text)),
      () => undefined,
    )
    return () => void (isShown = false)
  }, [text])
  if (tree) return <MarkdownView tree={tree} cutWords={cutWords} />
  return (
    <div class="plain-text" dir="auto">
      <Visible text={text.slice(0, MAX_PLAIN)} />
    </div>
  )
}
const MAX_PLAIN = 20_000
