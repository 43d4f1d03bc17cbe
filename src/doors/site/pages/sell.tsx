// How to sell: the way itself where a script runs, and the same requests for a terminal. For programs it is what it always was: steps as JSON.
import { SELLING_RULES, sellingDocument, sellingSteps } from '../../../documents/market.ts'
import { Code, Prose } from '../components/code.tsx'
import { English } from '../components/english.tsx'
import { Island } from '../components/island.tsx'
import { Link } from '../components/link.tsx'
import { Onboarding } from '../components/onboarding/onboarding.tsx'
import { definePage } from '../ports.ts'
import { sellingTexts } from '../texts/selling.ts'

export const page = definePage({
  isFixed: true,
  isWide: true,
  load: ({ site }) => sellingDocument(site.addresses),
  title: (_data, page) => sellingTexts[page.language].title,
  description: (_data, page) => sellingTexts[page.language].lead,
  View({ page }) {
    const t = sellingTexts[page.language]
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
        <p class="row">
          <Link to={page.href('/docs/selling')}>{t.guide}</Link>
          <Link to={`${page.baseUrl}/v1/marketplace/fee?amount_atomic=100000`}>{t.fee}</Link>
        </p>
        <section class="only-script stack" aria-labelledby="start">
          <h2 id="start">{t.start}</h2>
          {page.isSandbox && <p class="muted">{t.startSandbox}</p>}
          <Island
            name="onboarding"
            page={page}
            component={Onboarding}
            props={{
              t,
              language: page.language,
              api: page.api,
              isSandbox: page.isSandbox,
              marketplace: page.href('/marketplace'),
            }}
          />
        </section>
        <p class="notice without-script">{t.noScript}</p>
        <h2>{t.byProgram}</h2>
        <p class="muted">{t.byProgramWords}</p>
        <ol class="sell-lines">
          {sellingSteps(page).map((step, at) => (
            <li>
              <details open={at === 0}>
                <summary>
                  <English text={step.title} page={page} />
                </summary>
                <div class="stack">
                  <English text={step.words} page={page} as="p" />
                  <p>
                    <code dir="ltr">{`${step.method} ${step.url}`}</code>
                  </p>
                  <Code text={curlOf(step, at > 0)} page={page} label="curl" />
                </div>
              </details>
            </li>
          ))}
        </ol>
        <h2>{t.rules}</h2>
        <ul class="stack" {...(page.language !== 'en' && { lang: 'en', dir: 'ltr' as const })}>
          {SELLING_RULES.map((rule) => (
            <li>
              <Prose text={rule} />
            </li>
          ))}
        </ul>
      </>
    )
  },
})

/** @param isKeyed the key of the first answer goes along, from a variable */
function curlOf({ method, url, body }: ReturnType<typeof sellingSteps>[number], isKeyed: boolean): string {
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} '${url}'`]
  if (isKeyed && method !== 'GET') lines.push(`-H "authorization: Bearer $SELLER_KEY"`)
  if (body) lines.push(`-H 'content-type: application/json'`, `--data-raw '${JSON.stringify(body)}'`)
  return lines.join(' \\\n  ')
}
