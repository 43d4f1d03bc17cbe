// One tool as a form, called in the name of the person. There is no line about any one of them here: what its file says is what its page asks.
import { toProblem } from '../../../core/errors.ts'
import { isObject, parseJson } from '../../../lib/json.ts'
import { English } from '../../site/components/english.tsx'
import { FormFields } from '../../site/components/form/fields.tsx'
import { type FieldFault, readForm } from '../../site/components/form/read.ts'
import { parseMarkdown } from '../../site/components/markdown/parse.ts'
import { MarkdownView } from '../../site/components/markdown/tree.tsx'
import type { ResultLook } from '../../site/components/result/look.ts'
import { Answer } from '../../site/components/try/answer.tsx'
import type { TryAnswer, TryFacts } from '../../site/components/try/facts.ts'
import { faultsOf } from '../../site/components/try/request.ts'
import { formTexts } from '../../site/texts/form.ts'
import { resultTexts } from '../../site/texts/result.ts'
import { tryTexts } from '../../site/texts/try.ts'
import { tryFacts } from '../../site/trying.ts'
import { Form } from '../components/form.tsx'
import { defineConsolePage, type SignedInRequest } from '../ports.ts'
import { toolsTexts } from '../texts/tools.ts'
import { isOffered } from './tools.tsx'

interface ToolData {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly facts: TryFacts
  readonly input: Readonly<Record<string, unknown>>
  readonly faults: readonly FieldFault[]
  readonly answer?: TryAnswer
}

export const page = defineConsolePage<ToolData>({
  load: (request) => read(request, {}),
  actions: {
    async call(form, request) {
      const data = read(request, {})
      if (!data) return { goTo: '/console/tools' }
      const { facts } = data
      const { input, faults } = readForm(form, facts.schema, formTexts[request.language], parseJson)
      // What one can act with is sent, and never drawn into a page.
      const shown = Object.fromEntries(Object.entries(input).filter(([name]) => !facts.secret.includes(name)))
      if (faults.length > 0) return { show: { ...data, input: shown, faults } }
      if (facts.isDestructive && form.get('confirm') !== 'yes')
        return { show: { ...data, input: shown, answer: notSure(request) } }
      const result = await request.try(data.name, input)
      const answer = result.ok
        ? { status: 200, body: result.output }
        : {
            status: result.error.status,
            body: toProblem(result.error, {
              requestId: request.visitor.requestId,
              baseUrl: request.console.addresses.baseUrl,
              instance: facts.path,
            }),
          }
      return { show: { ...data, input: shown, faults: faultsOf(answer.body), answer } }
    },
  },
  title: ({ title }) => title,
  View({ data: { name, title, summary, facts, input, faults, answer }, page }) {
    const t = toolsTexts[page.language]
    const words = tryTexts[page.language]
    return (
      <>
        <h1>
          <English text={title} page={page} />
        </h1>
        <English text={summary} page={page} as="p" class="lead" />
        {answer && (
          <section class="panel stack" aria-labelledby="answer" role="status">
            <h2 id="answer">{words.result}</h2>
            <Answer
              answer={answer}
              t={words}
              look={{
                t: resultTexts[page.language],
                href: page.href,
                markdown: drawMarkdown,
              }}
            />
          </section>
        )}
        <Form page={page} action="call" class="stack">
          <FormFields
            schema={facts.schema}
            value={input}
            t={formTexts[page.language]}
            faults={faults}
            id={name}
            hidden={facts.hidden}
            secret={facts.secret}
          />
          {facts.isDestructive && (
            <label class="row">
              <input type="checkbox" name="confirm" value="yes" /> {t.sure}
            </label>
          )}
          <p>
            <button class="primary">{facts.isDestructive ? t.doIt : words.send}</button>
          </p>
        </Form>
      </>
    )
  },
})

/** Characters of Markdown that the server draws. */
const MAX_DRAWN = 32 * 1024

const drawMarkdown: ResultLook['markdown'] = (text, { cut }) => (
  <MarkdownView tree={parseMarkdown(text, 'stranger', MAX_DRAWN)} cutWords={cut} />
)

function read(request: SignedInRequest, input: Record<string, unknown>): ToolData | undefined {
  const { console: parts, params, query, signedIn } = request
  const entry = parts.registry.find(params['name'] ?? '')
  if (!entry || !isOffered(entry, signedIn)) return undefined
  const facts = tryFacts(entry, parts.config.mode)
  if (!facts) return undefined
  const members = facts.schema.properties
  // A link from a record fills its id in.
  const given = [...query].filter(([name]) => isObject(members) && Object.hasOwn(members, name))
  const { name, title, summary } = entry.tool
  return { name, title, summary, facts, input: { ...Object.fromEntries(given), ...input }, faults: [] }
}

const notSure = ({ language }: SignedInRequest): TryAnswer => ({
  status: 400,
  body: { title: tryTexts[language].confirm, detail: toolsTexts[language].sure },
})
