// A test call: what it costs and does is said before, what came of it after.
import type { VNode } from 'preact'
import { HttpMethod } from '../../../../../schemas/http.ts'
import { Foreign } from '../../../site/components/foreign.tsx'
import { Link } from '../../../site/components/link.tsx'
import type { TestCall, TestResult } from '../../credentials/test-call.ts'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts, fill } from '../../texts/credentials.ts'
import { Area, Choice, forForm } from '../fields.tsx'
import { Field, Form } from '../form.tsx'

interface TestFormProps {
  readonly page: ConsoleContext
  readonly test: TestCall
  readonly result?: TestResult | undefined
}

export function TestForm({ page: around, test, result }: TestFormProps): VNode {
  const page = forForm(around, 'test')
  const t = credentialTexts[page.language]
  return (
    <section class="console-section" id="test">
      <h2>{t.test}</h2>
      {result && <Outcome result={result} page={page} />}
      <p class="muted small">
        {t.testCost} {t.testHow}
      </p>
      <Form page={page} action="test" class="stack">
        <div class="console-call">
          <Choice
            page={page}
            name="method"
            label={t.testMethod}
            value={test.method}
            options={HttpMethod.options.map((value) => ({ value, label: value }))}
          />
          <Field page={page} name="url" label={t.testUrl} value={test.url} isRequired />
        </div>
        <details open={test.body !== ''}>
          <summary>{t.testBody}</summary>
          <Area page={page} name="body" label={t.testBody} value={test.body} />
        </details>
        <p>
          <button>{t.testSend}</button>
        </p>
      </Form>
    </section>
  )
}

function Outcome({ result, page }: { readonly result: TestResult; readonly page: ConsoleContext }): VNode {
  const t = credentialTexts[page.language]
  const { host, status, attemptId, shown } = result
  const isDenied = status === 401 || status === 403
  const words = status < 400 ? t.testOk : isDenied ? t.testDenied : t.testOther
  return (
    <div class={`notice ${status < 400 ? '' : 'warns'} stack tight`} role="status">
      <p>{fill(words, { host, status: String(status) })}</p>
      <p>
        <Link to={page.href(`/console/attempts/${attemptId}`)}>{t.testAttempt}</Link>
      </p>
      {shown !== '' && (
        <details>
          <summary>{t.testBodyShown}</summary>
          <pre class="console-answer" dir="ltr">
            <Foreign text={shown} />
          </pre>
        </details>
      )}
    </div>
  )
}
