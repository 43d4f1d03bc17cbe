// What went wrong, and what to do next: for a page that is not there, and for a page that could not be made.
import type { VNode } from 'preact'
import type { Problem } from '../../../core/errors.ts'
import { HELP } from '../../../documents/problems.ts'
import { English } from '../components/english.tsx'
import { Foreign, Ltr } from '../components/foreign.tsx'
import { Link } from '../components/link.tsx'
import type { NearPage } from '../nearest.ts'
import type { PageContext } from '../ports.ts'
import { common } from '../texts/common.ts'
import { errorTexts } from '../texts/error.ts'

interface ErrorViewProps {
  readonly problem: Problem
  /** Pages that a mistyped address may have been meant for. */
  readonly near: readonly NearPage[]
  readonly page: PageContext
}

/** A problem document as a page. */
export function ErrorView({ problem, near, page }: ErrorViewProps): VNode {
  const t = errorTexts[page.language]
  const { status, code, detail, request_id } = problem
  const title = t.titles[status as keyof typeof t.titles] ?? t.titles.other
  return (
    <>
      <p class="eyebrow">{status}</p>
      <h1>{title}</h1>
      {status === 404 && code === 'not_found' ? (
        <Missing near={near} page={page} />
      ) : (
        <>
          <p class="lead" {...(page.language !== 'en' && { lang: 'en', dir: 'ltr' })}>
            <Foreign text={detail} />
          </p>
          <section class="notice stack">
            <h2>{t.whatToDo}</h2>
            <English as="p" text={HELP[code]} page={page} />
            {typeof problem.retry_after_seconds === 'number' && (
              <p>{t.retry.replace('{n}', String(problem.retry_after_seconds))}</p>
            )}
            {Array.isArray(problem.allow) && (
              <p>{t.allowed.replace('{methods}', problem.allow.join(', '))}</p>
            )}
          </section>
        </>
      )}
      <p class="muted">
        <Link to={page.href(`/problems/${code}`)}>
          <code>{code}</code>
        </Link>{' '}
        · {status >= 500 ? t.report : common[page.language].requestId} <Ltr>{request_id}</Ltr>
      </p>
    </>
  )
}

function Missing({ near, page }: Pick<ErrorViewProps, 'near' | 'page'>): VNode {
  const t = errorTexts[page.language]
  const { nav } = common[page.language]
  return (
    <>
      <p class="lead">{t.missing}</p>
      {near.length > 0 && (
        <section class="stack">
          <h2>{t.near}</h2>
          <ul class="docs-shelf">
            {near.map(({ path, title }) => (
              <li>
                <Link to={page.href(path)}>
                  {title === undefined ? <Ltr>{path}</Ltr> : <English text={title} page={page} />}
                </Link>
                {title !== undefined && (
                  <span class="muted small">
                    <Ltr>{path}</Ltr>
                  </span>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      <form class="docs-search" role="search" action={page.href('/catalogue')}>
        <label class="visually-hidden" for="missing-q">
          {t.search}
        </label>
        <input id="missing-q" name="q" type="search" placeholder={t.search} maxLength={200} dir="auto" />
        <button class="primary">{t.find}</button>
      </form>
      <h2>{t.ways}</h2>
      <ul class="row error-ways">
        {(['/catalogue', '/marketplace', '/docs', '/status'] as const).map((path) => (
          <li>
            <Link to={page.href(path)}>{nav[path.slice(1) as 'catalogue']}</Link>
          </li>
        ))}
      </ul>
    </>
  )
}
