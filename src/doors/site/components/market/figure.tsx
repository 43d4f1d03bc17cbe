// One number with its name, which leads to how it is computed.
import type { VNode } from 'preact'
import type { PageContext } from '../../ports.ts'
import { Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'

interface FigureProps {
  readonly page: PageContext
  readonly name: string
  readonly value: string
  /** Its name on the page about methods. */
  readonly method: string
  readonly note?: string
}

export const Figure = ({ page, name, value, method, note }: FigureProps): VNode => (
  <div class="figure">
    <p class="small">
      <Link to={page.href(`/marketplace/figures#${method}`)}>{name}</Link>
    </p>
    <p class="figure-number">
      <Ltr>{value}</Ltr>
    </p>
    {note !== undefined && <p class="small muted">{note}</p>}
  </div>
)
