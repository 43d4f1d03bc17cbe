// A secret that is shown this once, with a button that copies it.
import type { ComponentChildren, VNode } from 'preact'
import { Code } from '../../site/components/code.tsx'
import type { ConsoleContext } from '../ports.ts'

interface OnceProps {
  readonly page: Pick<ConsoleContext, 'language'>
  readonly label: string
  readonly text: string
  readonly children: ComponentChildren
}

export const Once = ({ page, label, text, children }: OnceProps): VNode => (
  <section class="notice warns stack" role="status">
    <p>
      <strong>{label}</strong>
    </p>
    <Code text={text} page={page} label={label} />
    <p>{children}</p>
  </section>
)
