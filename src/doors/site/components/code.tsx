// Code, commands and addresses that somebody copies. The button is there only where a script can use it.
import type { VNode } from 'preact'
import { common } from '../texts/common.ts'
import type { PageContext } from '../ports.ts'
import { highlight } from './highlight.tsx'

interface CodeProps {
  readonly text: string
  readonly page: Pick<PageContext, 'language'>
  /** Said to who hears the page, and shown above: `curl`, `claude_desktop_config.json`. */
  readonly label?: string
  /** As behind the fence of a block in Markdown: `sh`, `ts`. Of our own code alone. */
  readonly language?: string
}

/** A block of code with a button that copies it. */
export function Code({ text, page, label, language }: CodeProps): VNode {
  const t = common[page.language]
  return (
    <figure class="code" dir="ltr">
      {label !== undefined && <figcaption>{label}</figcaption>}
      <button type="button" class="copy needs-script" data-copy="" data-copied={t.copied}>
        {t.copy}
      </button>
      <pre tabIndex={0} role="region" aria-label={label ?? t.copy}>
        <code class={language ? `language-${language}` : undefined}>{highlight(text, language)}</code>
      </pre>
    </figure>
  )
}

/** Words with `code` in them, as the descriptions of tools and errors are written. */
export const Prose = ({ text }: { readonly text: string }): VNode => (
  <>{text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
)
