// A form that a passkey answers. Its script fetches the challenge and asks the device when the button is pressed.
import type { VNode } from 'preact'
import type { Children } from '../../site/ports.ts'
import type { ConsoleContext } from '../ports.ts'
import { signInTexts } from '../texts/sign-in.ts'

interface PasskeyFormProps extends Partial<Children> {
  readonly page: Pick<ConsoleContext, 'csrf' | 'language' | 'needScript'>
  /** Whether an existing passkey answers, or a new one is made. */
  readonly kind: 'use' | 'make'
  /** The action of the page that gives the options, and the one that takes the answer. */
  readonly ask: string
  readonly action: string
  /** Address of the page whose actions they are. */
  readonly to: string
  readonly label: string
  readonly isQuiet?: boolean
  /** Further hidden values. */
  readonly values?: Readonly<Record<string, string>>
}

/** The form; its button waits for the script. */
export function PasskeyForm({
  page,
  kind,
  ask,
  action,
  to,
  label,
  isQuiet,
  values = {},
  children,
}: PasskeyFormProps): VNode {
  page.needScript('console-passkey.js')
  const { passkeyAborted, passkeyExists, passkeyImpossible } = signInTexts[page.language]
  return (
    <form
      method="post"
      action={to}
      class="stack needs-script"
      data-passkey={kind}
      data-ask={ask}
      data-to={to}
      data-words={JSON.stringify({ passkeyAborted, passkeyExists, passkeyImpossible })}
    >
      <input type="hidden" name="_csrf" value={page.csrf} />
      <input type="hidden" name="_action" value={action} />
      <input type="hidden" name="secret_answer" value="" autoComplete="off" />
      {Object.entries(values).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
      <p>
        <button class={isQuiet ? undefined : 'primary'}>{label}</button>
      </p>
      <p role="alert" class="fault" />
    </form>
  )
}
