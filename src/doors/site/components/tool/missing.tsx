// A name that nothing has: what it may have been, and where everything is.
import type { VNode } from 'preact'
import type { PageContext } from '../../ports.ts'
import { toolTexts } from '../../texts/tool.ts'
import { Foreign } from '../foreign.tsx'
import { English } from '../english.tsx'
import { Link } from '../link.tsx'

/** The problem document of the page, with what may have been meant. */
export interface Missing {
  readonly type: string
  readonly status: 404
  readonly code: 'tool_not_found' | 'not_found'
  readonly title: string
  readonly detail: string
  readonly wanted: string
  readonly nearest: readonly { readonly title: string; readonly name: string; readonly path: string }[]
}

interface MissingViewProps {
  readonly data: Missing
  readonly page: PageContext
  readonly title: string
}

export function MissingView({ data, page, title }: MissingViewProps): VNode {
  const t = toolTexts[page.language]
  return (
    <>
      <p class="eyebrow">404</p>
      <h1>{title}</h1>
      <p class="lead">
        <Foreign text={data.wanted} max={80} />
      </p>
      {data.nearest.length > 0 && (
        <>
          <h2>{t.didYouMean}</h2>
          <ul class="stack">
            {data.nearest.map(({ title, name, path }) => (
              <li>
                <Link to={page.href(path)}>
                  <English text={title} page={page} />
                </Link>{' '}
                <code dir="ltr">{name}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <Link to={page.href('/catalogue')} class="button">
          {t.seeCatalogue}
        </Link>
      </p>
    </>
  )
}
