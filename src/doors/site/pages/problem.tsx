// What one code means: where `type` of a problem document leads.
import type { VNode } from 'preact'
import { Code, Prose } from '../components/code.tsx'
import { english, GuideTitle } from '../components/document.tsx'
import { Link } from '../components/link.tsx'
import { openLibrary } from '../documents.ts'
import { isCode, problemOf, type ToolLink } from '../problems.ts'
import { definePage, type PageContext } from '../ports.ts'
import { referenceTexts } from '../texts/reference.ts'

export const page = definePage({
  isFixed: true,
  async load({ site, params: { code } }) {
    if (!isCode(code)) return undefined
    const { guide, ...problem } = problemOf(code, site.registry, site.addresses.baseUrl)
    const { entries } = await openLibrary()
    const title = entries.find(({ slug }) => slug === guide)?.title ?? guide
    return { ...problem, guide: { slug: guide, title, path: `/docs/${guide}` } }
  },
  title: ({ title }) => title,
  description: ({ what_to_do }) => what_to_do,
  View({ data: { code, status, title, what_to_do, next, guide, answered_by, example }, page }) {
    const t = referenceTexts[page.language]
    return (
      <>
        <p class="eyebrow">
          <Link to={page.href('/problems')}>{t.problemsTitle}</Link> / {t.statusWords} {status}
        </p>
        <h1 {...english(page)}>{title}</h1>
        <p>
          <code>{code}</code>
        </p>
        <section class="notice stack">
          <h2>{t.whatToDo}</h2>
          <p {...english(page)}>
            <Prose text={what_to_do} />
          </p>
          {next.length > 0 && (
            <p>
              {t.nextStep}: <Tools tools={next} page={page} />
            </p>
          )}
          <p>
            {t.readMore}:{' '}
            <Link to={page.href(guide.path)}>
              <GuideTitle guide={guide} page={page} />
            </Link>
          </p>
        </section>
        <h2>{t.expect}</h2>
        {answered_by.length === 0 ? (
          <p>{t.nobody}</p>
        ) : (
          <ul class="problem-tools">
            {answered_by.map((tool) => (
              <li>
                <Link to={page.href(tool.path)}>
                  <span {...english(page)}>{tool.title}</span>
                </Link>{' '}
                <code class="muted">{tool.name}</code>
              </li>
            ))}
          </ul>
        )}
        <h2>{t.example}</h2>
        <Code
          text={JSON.stringify(example, undefined, 2)}
          language="json"
          label="application/problem+json"
          page={page}
        />
      </>
    )
  },
})

const Tools = ({
  tools,
  page,
}: {
  readonly tools: readonly ToolLink[]
  readonly page: PageContext
}): VNode => (
  <span {...english(page)}>
    {tools.map((tool, at) => (
      <>
        {at > 0 && ', '}
        <Link to={page.href(tool.path)}>{tool.title}</Link>
      </>
    ))}
  </span>
)
