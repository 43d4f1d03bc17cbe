// The only form of the console: it says what it does and proves whose page it came from.
import type { VNode } from 'preact'
import type { Children } from '../../site/ports.ts'
import type { ConsoleContext } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { Fresh, type FreshPage } from './fresh.tsx'

interface FormProps extends Children {
  readonly page: Pick<ConsoleContext, 'csrf'>
  /** The action of the page that it is for. */
  readonly action: string
  /** Path that takes it, where that is not the page itself. */
  readonly to?: string
  readonly class?: string
  readonly id?: string
  /** Further hidden values. */
  readonly values?: Readonly<Record<string, string>>
}

/** A form that POSTs to its page. */
export const Form = ({ page, action, to, values = {}, children, ...others }: FormProps): VNode => (
  <form method="post" {...(to !== undefined && { action: to })} {...others}>
    <input type="hidden" name="_csrf" value={page.csrf} />
    <input type="hidden" name="_action" value={action} />
    {Object.entries(values).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    {children}
  </form>
)

/** A button that is a form of its own: one press, one action. */
export const Act = ({
  label,
  isDangerous,
  ...form
}: Omit<FormProps, 'children' | 'class'> & {
  readonly label: string
  readonly isDangerous?: boolean
}): VNode => (
  <Form {...form}>
    <button class={isDangerous ? 'dangerous' : undefined}>{label}</button>
  </Form>
)

/** Why the form was refused, and what to do; nothing where none was. */
export function Refusal({ page }: { readonly page: FreshPage }): VNode | null {
  const { refused } = page
  if (!refused) return null
  const { error } = refused
  if (error.code === 'fresh_sign_in_required') return <Fresh page={page} />
  const fields = error.extras.fields ?? []
  return (
    <div class="notice fails" role="alert">
      <p>
        <strong>{consoleTexts[page.language].refused}.</strong>{' '}
        <span lang="en" dir="ltr">
          {forPeople(error.message)}
        </span>
      </p>
      {fields.length > 0 && (
        <ul lang="en" dir="ltr">
          {fields.map(({ pointer, message }) => (
            <li>
              <code>{pointer}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A refusal of the input tells programs where its schema is; who has the form before them needs no other. */
const forPeople = (text: string) => text.replace(/ ?The schema of \S+ is in [^.]*\.json[^.]*\./, '').trim()

type FieldType = 'text' | 'number' | 'date' | 'password' | 'datetime-local' | 'search' | 'url' | 'email'

interface FieldProps {
  readonly page: Pick<ConsoleContext, 'refused'>
  readonly name: string
  readonly label: string
  readonly help?: string
  readonly value?: string | undefined
  readonly type?: FieldType
  readonly isRequired?: boolean
  readonly autoComplete?: string
}

/** A field with its label, that keeps what was typed where the form was refused. A name that begins with `secret` is never sent back. */
export function Field({
  page,
  name,
  label,
  help,
  value,
  type = 'text',
  isRequired,
  autoComplete,
}: FieldProps): VNode {
  const typed = page.refused?.form.get(name) ?? value
  const helpId = `${name}-help`
  return (
    <label class="field">
      <span>{label}</span>
      <input
        name={name}
        {...({ type } as { type: 'text' })}
        {...(typed !== undefined && !name.startsWith('secret') && { value: typed })}
        required={isRequired}
        autoComplete={autoComplete ?? 'off'}
        {...(help !== undefined && { 'aria-describedby': helpId })}
      />
      {help !== undefined && (
        <span class="muted small" id={helpId}>
          {help}
        </span>
      )}
    </label>
  )
}
