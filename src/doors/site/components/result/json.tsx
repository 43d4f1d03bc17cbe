// The answer as it came, beside every picture of it.
import type { VNode } from 'preact'
import { Visible } from '../foreign.tsx'
import type { ResultLook } from './look.ts'
import { count, say } from './read.ts'

/** Characters that are drawn: more is for programs, and there is a button that saves it. */
const MAX_SHOWN = 100_000

interface JsonProps {
  readonly value: unknown
  readonly look: ResultLook
  /** Saves a text as a file, where a script can. */
  readonly save?: ((text: string) => void) | undefined
  readonly isOpen?: boolean
}

/** The whole answer, folded. */
export function Json({ value, look, save, isOpen }: JsonProps): VNode {
  const { t } = look
  const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
  const isLong = text.length > MAX_SHOWN
  return (
    <details open={isOpen}>
      <summary>
        {t.jsonOf} <span class="muted small">{say(t.characters, { n: count(text.length) })}</span>
      </summary>
      {(save !== undefined || isLong) && (
        <p class="row">
          {isLong && <span class="muted">{t.cut}</span>}
          {save !== undefined && (
            <button type="button" class="minor" onClick={() => save(text)}>
              {t.save}
            </button>
          )}
        </p>
      )}
      <pre class="answer-text" dir="ltr" tabIndex={0} role="region" aria-label={t.json}>
        <code>
          <Visible text={text.slice(0, MAX_SHOWN)} />
        </code>
      </pre>
    </details>
  )
}

/** A text of a stranger with its lines as they are. */
export const Text = ({ text, look }: { readonly text: string; readonly look: ResultLook }): VNode => (
  <>
    <div class="plain-text" dir="auto" tabIndex={0} role="region" aria-label={look.t.asText}>
      <Visible text={text.slice(0, MAX_SHOWN)} />
    </div>
    {text.length > MAX_SHOWN && <p class="muted small">{look.t.cut}</p>}
  </>
)
