// One change of a policy: its lines, and the way back to the text before.
import type { VNode } from 'preact'
import { Visible } from '../../../site/components/foreign.tsx'
import { Link } from '../../../site/components/link.tsx'
import type { ConsoleContext } from '../../ports.ts'
import { diffLines } from '../../policies/diff.ts'
import { policyTexts } from '../../texts/policies.ts'

interface ChangeProps {
  readonly page: ConsoleContext
  readonly before: string | null
  readonly after: string
  /** Address of the editor with the text after it. */
  readonly editAfter: string
}

const SIGNS = { same: ' ', gone: '-', new: '+' } as const

export function PolicyChange({ page, before, after, editAfter }: ChangeProps): VNode {
  const t = policyTexts[page.language]
  return (
    <section class="console-section" id="change">
      <h2>{t.change}</h2>
      <pre class="console-diff" dir="ltr" tabIndex={0} aria-label={t.change}>
        {diffLines(before ?? '', after).map(({ is, text }) => (
          <span class={`diff-${is}`}>
            {SIGNS[is]} <Visible text={text} />
            {'\n'}
          </span>
        ))}
      </pre>
      <p>
        <Link to={page.href(editAfter)}>{t.takeOld}</Link>
      </p>
    </section>
  )
}
