// One call in every language and protocol, ready to paste.
import type { VNode } from 'preact'
import type { Snippet, SnippetLanguage, Snippets } from '../../../documents/snippets.ts'
import type { PageContext } from '../ports.ts'
import { toolTexts } from '../texts/tool.ts'
import { Code } from './code.tsx'
import { Tabs } from './tabs.tsx'

const ORDER: readonly SnippetLanguage[] = ['curl', 'typescript', 'python', 'mcp', 'a2a']

interface ExamplesProps {
  readonly snippets: Snippets
  readonly page: Pick<PageContext, 'language' | 'needScript'>
  /** One word, different from that of every other group of the page. */
  readonly name?: string
}

/** A tab for each way that there is. */
export function Examples({ snippets, page, name = 'call' }: ExamplesProps): VNode {
  const t = toolTexts[page.language]
  page.needScript('tabs.js')
  const tabs = ORDER.flatMap((language) => {
    const theirs = snippets[language]
    return theirs
      ? [{ label: t.languages[language], content: <Blocks of={theirs} language={language} page={page} /> }]
      : []
  })
  return <Tabs label={t.examples} name={name} tabs={tabs} />
}

interface BlocksProps {
  readonly of: readonly Snippet[]
  readonly language: SnippetLanguage
  readonly page: Pick<PageContext, 'language'>
}

function Blocks({ of, language, page }: BlocksProps): VNode {
  const t = toolTexts[page.language]
  return (
    <div class="stack">
      {of.map(({ code, runs_in }) => (
        <Code
          text={code}
          language={runs_in}
          page={page}
          label={of.length > 1 ? `${t.languages[language]}, ${t.runsIn[runs_in]}` : t.languages[language]}
        />
      ))}
    </div>
  )
}
