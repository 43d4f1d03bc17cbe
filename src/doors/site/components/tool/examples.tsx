// The examples of a tool beside its words: one of them shown, the others a click away, each as it runs when pasted.
import type { VNode } from 'preact'
import type { Snippets } from '../../../../documents/snippets.ts'
import type { PageContext } from '../../ports.ts'
import { toolTexts } from '../../texts/tool.ts'
import { English } from '../english.tsx'
import { Examples } from '../examples.tsx'
import { Link } from '../link.tsx'

export interface ShownExample {
  /** Position of the example that is shown. */
  readonly at: number
  readonly titles: readonly string[]
  readonly snippets: Snippets
  readonly has_placeholder: boolean
  readonly is_paid: boolean
  /** Environment variable that holds the token; null where none is needed. */
  readonly token_variable: string | null
}

interface ToolExamplesProps {
  readonly example: ShownExample
  readonly page: PageContext
  /** Path of the page, whose `?example=` chooses one. */
  readonly path: string
}

export function ToolExamples({ example, page, path }: ToolExamplesProps): VNode {
  const t = toolTexts[page.language]
  const { at, titles, token_variable: variable } = example
  return (
    <section class="stack" aria-labelledby="examples">
      <h2 id="examples">{t.examples}</h2>
      {titles.length > 1 && (
        <nav aria-label={t.examples}>
          <ul class="tool-choices">
            {titles.map((title, index) => (
              <li>
                <Link
                  to={page.href(`${path}?example=${index + 1}#examples`)}
                  current={index === at}
                  class="tool-choice"
                >
                  <English text={title} page={page} />
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <Examples snippets={example.snippets} page={page} />
      {(example.has_placeholder || variable !== null || example.is_paid) && (
        <ul class="tool-notes">
          {example.has_placeholder && <li>{t.placeholder}</li>}
          {variable !== null && (
            <li>
              <Around words={t.needsToken} name={variable} />
            </li>
          )}
          {example.is_paid && <li>{t.paidCall}</li>}
          {example.is_paid && page.isSandbox && <li>{t.sandboxPayer}</li>}
        </ul>
      )}
      <p class="small">
        <Link to={`${page.href('/')}#connect`}>{t.connect}</Link>
      </p>
    </section>
  )
}

/** A sentence with a name of code where it says `{a}`. */
function Around({ words, name }: { readonly words: string; readonly name: string }): VNode {
  const [before = '', after = ''] = words.split('{a}')
  return (
    <>
      {before}
      <code dir="ltr">{name}</code>
      {after}
    </>
  )
}
