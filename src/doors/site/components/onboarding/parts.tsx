// What every step is made of: a field, a refusal, a step with its state.
import type { ComponentChildren, ComponentProps, VNode } from 'preact'
import type { SellingTexts } from '../../texts/selling.ts'
import { Foreign } from '../foreign.tsx'
import { type StateName, State } from '../state.tsx'
import type { Asking, Refusal } from './call.ts'

/** What every step is given. */
export interface StepProps {
  readonly t: SellingTexts
  readonly language: 'en' | 'ar'
  readonly asking: Asking
}

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  readonly control?: 'input' | 'textarea'
  readonly input?: ComponentProps<'input'> | undefined
  readonly rows?: number
}

/** A labelled field, with what is wrong with it said beside it. */
export function Field({ name, label, hint, fault, control, input, rows }: FieldProps): VNode {
  const id = `sell-${name}`
  const about = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean)
  const shared = {
    id,
    name,
    ...(about.length > 0 && { 'aria-describedby': about.join(' ') }),
    ...(fault !== undefined && { 'aria-invalid': 'true' as const }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control === 'textarea' ? (
        <textarea {...shared} rows={rows ?? 3} dir="auto" spellcheck={false} />
      ) : (
        <input {...shared} {...input} dir={input?.dir ?? 'auto'} />
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          <Foreign text={fault} max={400} />
        </p>
      )}
    </div>
  )
}

/** What the gateway refused, and what to do: its words are English, and may repeat what was sent. */
export const Refused = ({ why }: { readonly why: Refusal | undefined }): VNode | null =>
  why === undefined ? null : (
    <div class="notice fails" role="alert">
      <p>
        <strong>
          <Foreign text={why.title} max={200} />
        </strong>
      </p>
      {why.detail !== '' && (
        <p>
          <Foreign text={why.detail} max={1500} />
        </p>
      )}
    </div>
  )

interface StepFrameProps extends Pick<StepProps, 't' | 'language'> {
  readonly number: number
  readonly title: string
  readonly is: StateName
  /** It is this one's turn. */
  readonly isOpen: boolean
  readonly headingRef: (element: HTMLElement | null) => void
  readonly children: ComponentChildren
}

/** One step: its number, its state in words, and what there is to do while it is its turn or has something to show. */
export const StepFrame = ({
  t,
  language,
  number,
  title,
  is,
  isOpen,
  headingRef,
  children,
}: StepFrameProps): VNode => (
  <li class={isOpen ? 'sell-step is-open' : 'sell-step'} {...(isOpen && { 'aria-current': 'step' as const })}>
    <div class="sell-step-head">
      <h3 tabIndex={-1} ref={headingRef}>
        <span class="visually-hidden">{t.stepOf.replace('{n}', String(number))}: </span>
        <span class="sell-number" aria-hidden="true">
          {number}
        </span>{' '}
        {title}
      </h3>
      <State is={is} page={{ language }} {...(is === 'unknown' && { words: isOpen ? t.open : t.later })} />
    </div>
    <div class="stack">{children}</div>
  </li>
)

/** Text members of a form, by their names; empty ones are left out. */
export function textsOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const [name, value] of new FormData(form))
    if (typeof value === 'string' && value.trim() !== '') texts[name] = value.trim()
  return texts
}
