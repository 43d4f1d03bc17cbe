// The part of a page that tries a tool: an island, and beneath it what the page answers where the form was sent without a script.
import type { VNode } from 'preact'
import type { PageContext } from '../ports.ts'
import { formTexts } from '../texts/form.ts'
import { resultTexts } from '../texts/result.ts'
import { tryTexts } from '../texts/try.ts'
import { Island } from './island.tsx'
import { Link } from './link.tsx'
import { parseMarkdown } from './markdown/parse.ts'
import { MarkdownView } from './markdown/tree.tsx'
import type { ResultLook } from './result/look.ts'
import { Answer } from './try/answer.tsx'
import type { TryFacts, TryState } from './try/facts.ts'
import { TryForm, type TryFormProps } from './try/form.tsx'

interface TryItProps {
  /** Of `tryFacts`; undefined where no form can call the tool. */
  readonly facts: TryFacts | undefined
  /** Of `tryTool`. */
  readonly state: TryState | undefined
  readonly page: PageContext
}

/** Characters of Markdown that the server draws: a page reads so much at once, and the server has other visitors. */
const MAX_DRAWN = 32 * 1024

const drawNow: ResultLook['markdown'] = (text, t) => (
  <MarkdownView tree={parseMarkdown(text, 'stranger', MAX_DRAWN)} cutWords={t.cut} />
)

/** A form, the call that it makes, and its result. */
export function TryIt({ facts, state, page }: TryItProps): VNode {
  const { language } = page
  const t = tryTexts[language]
  if (!facts || !state) return <p class="muted">{t.rawOnly}</p>
  const root = page.href('/').replace(/\/$/, '')
  const props: TryFormProps = {
    facts,
    input: state.input,
    faults: state.faults,
    action: `${page.href(`/tools/${facts.name}`)}#try`,
    api: page.api,
    baseUrl: page.baseUrl,
    root,
    language,
    ...(page.isSandbox && { wallet: page.href('/site/test-payment') }),
    t,
    form: formTexts[language],
    result: resultTexts[language],
  }
  return (
    <>
      <div class="try-room">
        <Island name="try-it" page={page} component={TryForm} props={props} />
      </div>
      {state.answer && (
        <section class="try-answer sent stack" aria-labelledby="try-sent">
          <h3 id="try-sent">{t.result}</h3>
          <Answer answer={state.answer} t={t} look={{ t: props.result, href: page.href, markdown: drawNow }}>
            <p class="row">
              <span>{page.isSandbox ? t.noScriptPay : t.needsWallet}</span>
              <Link to={page.href('/docs/payments')}>{t.howPaid}</Link>
            </p>
          </Answer>
        </section>
      )}
    </>
  )
}
