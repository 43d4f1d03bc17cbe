// How calls of a tool fail, and what to do then.
import type { VNode } from 'preact'
import type { ErrorFacts } from '../../tool-facts.ts'
import { toolTexts } from '../../texts/tool.ts'
import type { PageContext } from '../../ports.ts'
import { English } from '../english.tsx'
import { Link } from '../link.tsx'

interface ErrorTableProps {
  readonly errors: readonly ErrorFacts[]
  readonly page: PageContext
}

/** Any call of any tool may end in these. */
const OF_EVERY_CALL = ['input_invalid', 'rate_limited', 'overloaded', 'internal']

/** A row a code, those of the request first; below it what every call can end in. */
export function ErrorTable({ errors, page }: ErrorTableProps): VNode {
  const t = toolTexts[page.language]
  const own = errors.filter(({ is_of_payment: isOfPayment }) => !isOfPayment)
  const ofPayment = errors.filter(({ is_of_payment: isOfPayment }) => isOfPayment)
  const usual = OF_EVERY_CALL.filter((name) => !errors.some(({ code }) => code === name))
  return (
    <>
      <Rows errors={own} page={page} label={t.errors} />
      {ofPayment.length > 0 && (
        <details>
          <summary>
            {t.paymentErrors} ({ofPayment.length})
          </summary>
          <Rows errors={ofPayment} page={page} label={t.paymentErrors} />
        </details>
      )}
      <p class="small muted">
        {t.errorsMore} {usual.map((name) => [<Code of={name} page={page} />, ' '])}·{' '}
        <Link to={page.href('/problems')}>{t.errorsAll}</Link>
      </p>
    </>
  )
}

const Code = ({ of, page }: { readonly of: string; readonly page: PageContext }): VNode => (
  <Link to={page.href(`/problems/${of}`)}>
    <code dir="ltr">{of}</code>
  </Link>
)

function Rows({ errors, page, label }: ErrorTableProps & { readonly label: string }): VNode | null {
  if (errors.length === 0) return null
  const t = toolTexts[page.language]
  return (
    <table class="tool-errors">
      <caption class="visually-hidden">{label}</caption>
      <thead>
        <tr>
          <th scope="col">{t.code}</th>
          <th scope="col">{t.whatToDo}</th>
        </tr>
      </thead>
      <tbody>
        {errors.map((error) => (
          <tr>
            <th scope="row">
              <Code of={error.code} page={page} />
              <span class="schema-type">
                {error.status} <English text={error.title} page={page} />
              </span>
            </th>
            <td>
              <English text={error.what_to_do} page={page} as="p" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
