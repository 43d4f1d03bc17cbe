// Parts of the form that tries a tool: its examples and views, its input as JSON, and the question before something is changed.
import type { VNode } from 'preact'
import type { TryTexts } from '../../texts/try.ts'
import type { FieldFault } from '../form/read.ts'
import { membersOf } from '../form/schema.ts'
import type { TryFacts } from './facts.ts'

/** Begins the ids of the form. */
export const ID = 'try'

interface BarProps {
  readonly facts: TryFacts
  readonly t: TryTexts
  readonly view: 'form' | 'json'
  readonly onFill: (input: Record<string, unknown>) => void
  readonly onView: (view: 'form' | 'json') => void
}

/** Examples to fill in, which work without a script too, and the two views of the input. */
export function Bar({ facts, t, view, onFill, onView }: BarProps): VNode | null {
  const { examples, schema } = facts
  if (membersOf(schema).length === 0) return null
  return (
    <div class="bar">
      <div class="row" role="group" aria-label={t.examples}>
        <span class="muted small">{t.examples}</span>
        {examples.map(({ title, input }, index) => (
          <button
            type={facts.needsScript === undefined ? 'submit' : 'button'}
            class={facts.needsScript === undefined ? 'minor' : 'minor needs-script'}
            name="example"
            value={index}
            lang="en"
            onClick={(event) => {
              event.preventDefault()
              onFill(input)
            }}
          >
            {title}
          </button>
        ))}
        <button type="button" class="minor needs-script" onClick={() => onFill({})}>
          {t.clear}
        </button>
      </div>
      <div class="row needs-script views" role="group" aria-label={t.view}>
        {(['form', 'json'] as const).map((name) => (
          <button type="button" class="minor" aria-pressed={view === name} onClick={() => onView(name)}>
            {t[name]}
          </button>
        ))}
      </div>
    </div>
  )
}

interface JsonInputProps {
  readonly input: Record<string, unknown>
  readonly faults: readonly FieldFault[]
  readonly t: TryTexts
}

export function JsonInput({ input, faults, t }: JsonInputProps): VNode {
  const text = JSON.stringify(input, undefined, 2)
  return (
    <div class="field">
      <label for={`${ID}-json`}>{t.jsonInput}</label>
      <textarea
        id={`${ID}-json`}
        rows={Math.min(24, Math.max(6, text.split('\n').length + 1))}
        defaultValue={text}
        dir="ltr"
        spellcheck={false}
        aria-describedby={`${ID}-json-fault`}
        {...(faults.length > 0 && { 'aria-invalid': 'true' as const })}
      />
      <p class="fault" id={`${ID}-json-fault`}>
        {faults.map(({ pointer, message }) => `${pointer} ${message}`.trim()).join(' · ')}
      </p>
    </div>
  )
}

interface ConfirmProps {
  readonly reference: { current: HTMLDialogElement | null }
  readonly t: TryTexts
  readonly onYes: () => void
}

/** What changes something is asked for once more. */
export const Confirm = ({ reference, t, onYes }: ConfirmProps): VNode => (
  <dialog ref={reference} class="panel" aria-labelledby={`${ID}-confirm`}>
    <form method="dialog" class="stack">
      <h3 id={`${ID}-confirm`}>{t.confirm}</h3>
      <p>{t.confirmText}</p>
      <p class="row">
        <button type="submit" autofocus>
          {t.confirmNo}
        </button>
        <button type="submit" class="primary" onClick={onYes}>
          {t.confirmYes}
        </button>
      </p>
    </form>
  </dialog>
)
