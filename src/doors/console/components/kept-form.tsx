// A form that was not taken, ready to be sent again.
import type { VNode } from 'preact'
import type { Children } from '../../site/ports.ts'
import type { ConsoleContext } from '../ports.ts'

interface KeptFormProps extends Children {
  readonly page: Pick<ConsoleContext, 'csrf' | 'href'>
  /** Path of the page that takes it. */
  readonly to: string
  /** All that was sent but for secrets. */
  readonly form: URLSearchParams
  readonly 'data-again'?: string
  readonly 'data-words'?: string
}

/** What was typed, hidden, and what its children say of it. */
export const KeptForm = ({ page, to, form, children, ...data }: KeptFormProps): VNode => (
  <form method="post" action={page.href(to)} class="stack" {...data}>
    <input type="hidden" name="_csrf" value={page.csrf} />
    {[...form]
      .filter(([name]) => name !== '_csrf')
      .map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    {children}
  </form>
)
