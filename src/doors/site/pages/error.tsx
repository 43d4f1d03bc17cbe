// What went wrong, and what to do next: for a page that is not there, and for a page that could not be made.
import type { VNode } from 'preact'
import type { Problem } from '../../../core/errors.ts'
import { Foreign, Ltr } from '../components/foreign.tsx'
import { Link } from '../components/link.tsx'
import type { PageContext } from '../ports.ts'
import { common } from '../texts/common.ts'

interface ErrorViewProps {
  readonly problem: Problem
  readonly page: PageContext
}

/** A problem document as a page. */
export function ErrorView({ problem, page }: ErrorViewProps): VNode {
  const t = common[page.language]
  const isMissing = problem.status === 404
  return (
    <>
      <p class="eyebrow">{problem.status}</p>
      <h1>{isMissing ? t.notFound : t.failed}</h1>
      <p class="lead">{isMissing ? t.notFoundHelp : <Foreign text={problem.detail} />}</p>
      {isMissing && (
        <ul>
          {(['/catalogue', '/marketplace', '/docs', '/status'] as const).map((path) => (
            <li>
              <Link to={page.href(path)}>{t.nav[path.slice(1) as 'catalogue']}</Link>
            </li>
          ))}
        </ul>
      )}
      <p class="muted">
        <Link to={page.href(`/problems/${problem.code}`)}>
          <code>{problem.code}</code>
        </Link>{' '}
        · {t.requestId} <Ltr>{problem.request_id}</Ltr>
      </p>
    </>
  )
}
