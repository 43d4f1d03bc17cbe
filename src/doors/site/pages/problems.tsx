// Every refusal in a list, by its status.
import { Prose } from '../components/code.tsx'
import { english } from '../components/document.tsx'
import { Link } from '../components/link.tsx'
import { Scrolling } from '../components/state.tsx'
import { CODES, describeCode } from '../problems.ts'
import { definePage } from '../ports.ts'
import { referenceTexts } from '../texts/reference.ts'

export const page = definePage({
  isFixed: true,
  isWide: true,
  load: () => ({ problems: CODES.map(describeCode).toSorted((a, b) => a.status - b.status) }),
  title: (_data, { language }) => referenceTexts[language].problemsTitle,
  description: (_data, { language }) => referenceTexts[language].problemsLead,
  View({ data: { problems }, page }) {
    const t = referenceTexts[page.language]
    return (
      <>
        <h1>{t.problemsTitle}</h1>
        <p class="lead">{t.problemsLead}</p>
        <Scrolling label={t.problemsTitle}>
          <table class="reference-table">
            <thead>
              <tr>
                <th scope="col">{t.status}</th>
                <th scope="col">{t.code}</th>
                <th scope="col">{t.whatToDo}</th>
              </tr>
            </thead>
            <tbody>
              {problems.map(({ code, status, title, what_to_do }) => (
                <tr>
                  <td>{status}</td>
                  <th scope="row">
                    <Link to={page.href(`/problems/${code}`)}>
                      <code>{code}</code>
                    </Link>
                  </th>
                  <td {...english(page)}>
                    <strong>{title}.</strong> <Prose text={what_to_do} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
      </>
    )
  },
})
