// The part of the page where a transaction is pasted and its report appears. Without a script the form is sent and the page comes back with
// the report; with one, the report comes by itself, a file may be dropped, and nothing else of the page moves.
import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { InspectResult, TestReport } from '../../../../../schemas/commerce.ts'
import type { Language } from '../../routes.ts'
import type { InspectTexts } from '../../texts/inspect.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { type Paste, readPaste } from './pasted.ts'
import { Report, type Tested } from './report.tsx'

/** Why there is no report: a fault of the text, or what the gateway answered. */
export interface Refusal {
  readonly title: string
  readonly detail: string | null
  /** Where the code is explained; null where there is none. */
  readonly code: string | null
  readonly request_id: string | null
}

export interface InspectorProps {
  readonly text: string
  readonly tested: Tested | null
  readonly refusal: Refusal | null
  /** Where the form goes. */
  readonly action: string
  /** What stands before `/v1/...`. */
  readonly api: string
  /** Address of the page of a problem, with `{code}` in it. */
  readonly problem: string
  readonly language: Language
  readonly samples: readonly { readonly name: string; readonly title: string; readonly href: string }[]
  readonly t: InspectTexts
}

const MAX_BYTES = 256 * 1024

/** The form, and what came of it. */
export function Inspector(props: InspectorProps): VNode {
  const { action, api, problem, language, samples, t } = props
  const [text, setText] = useState(props.text)
  const [outcome, setOutcome] = useState({ tested: props.tested, refusal: props.refusal })
  const [isBusy, setBusy] = useState(false)
  const [isOver, setOver] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)

  async function run(text: string): Promise<void> {
    const read = readPaste(text)
    setBusy(true)
    const next = read.ok ? await ask(api, text, read, t) : refusalOf(t.faults[read.fault])
    setBusy(false)
    setOutcome('test' in next ? { tested: next, refusal: null } : { tested: null, refusal: next })
    // The news is read out and is where the keyboard goes on from.
    requestAnimationFrame(() => heading.current?.focus())
  }

  async function drop(file: File): Promise<void> {
    if (file.size > MAX_BYTES) {
      setOutcome({ tested: null, refusal: refusalOf(t.faults.too_large) })
      return
    }
    const content = await file.text()
    setText(content)
    await run(content)
  }

  const isFaulty = outcome.refusal !== null
  return (
    <div class="stack inspector">
      <form
        method="post"
        action={action}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void run(text)
        }}
      >
        <div
          class={isOver ? 'field paste is-over' : 'field paste'}
          onDragOver={(event) => {
            event.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            const file = event.dataTransfer?.files[0]
            setOver(false)
            if (!file) return
            event.preventDefault()
            void drop(file)
          }}
        >
          <label for="transaction">{t.field}</label>
          <span class="hint" id="transaction-hint">
            {isOver ? t.drop : t.hint}
          </span>
          <textarea
            id="transaction"
            name="transaction"
            dir="ltr"
            rows={12}
            required
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            wrap="soft"
            aria-describedby="transaction-hint"
            aria-invalid={isFaulty ? 'true' : undefined}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run(text)
            }}
          />
        </div>
        <div class="row">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? t.running : t.run}
          </button>
          <span class="row samples">
            <span class="small muted">{t.samples}</span>
            {samples.map(({ title, href }) => (
              <Link to={href} class="sample">
                {title}
              </Link>
            ))}
          </span>
        </div>
      </form>
      <div role="status" aria-live="polite" class="visually-hidden">
        {isBusy ? t.running : ''}
      </div>
      {(outcome.tested ?? outcome.refusal) && (
        <h2 ref={heading} tabIndex={-1} id="result">
          {t.result}
        </h2>
      )}
      {outcome.refusal && <RefusalView refusal={outcome.refusal} problem={problem} t={t} />}
      {outcome.tested && <Report tested={outcome.tested} language={language} t={t} />}
    </div>
  )
}

/** What is wrong, in words, and where more is said of it. */
export function RefusalView({
  refusal,
  problem,
  t,
}: {
  readonly refusal: Refusal
  readonly problem: string
  readonly t: InspectTexts
}): VNode {
  const { title, detail, code, request_id } = refusal
  return (
    <div class="notice fails stack" role="alert">
      <p>{title}</p>
      {detail !== null && (
        <p>
          <Foreign text={detail} />
        </p>
      )}
      {code !== null && (
        <p class="small">
          <Link to={problem.replace('{code}', encodeURIComponent(code))}>
            {t.next}: <code>{code}</code>
          </Link>{' '}
          {request_id !== null && <Ltr class="muted mono">{request_id}</Ltr>}
        </p>
      )}
    </div>
  )
}

const refusalOf = (title: string): Refusal => ({ title, detail: null, code: null, request_id: null })

type Read = Extract<Paste, { ok: true }>

async function ask(api: string, text: string, { pasted }: Read, t: InspectTexts): Promise<Tested | Refusal> {
  const { evaluate_at: _at, tool_annotations: _annotations, ...bare } = pasted.transaction
  try {
    const [test, inspect] = await Promise.all([
      post(`${api}/v1/test`, pasted.transaction),
      post(`${api}/v1/inspect`, bare),
    ])
    for (const { isGood, body } of [test, inspect])
      if (!isGood) return { ...refusalOf(t.faults.failed), ...problemIn(body) }
    return { text, test: test.body as TestReport, inspect: inspect.body as InspectResult }
  } catch {
    return refusalOf(t.faults.offline)
  }
}

async function post(url: string, value: unknown): Promise<{ isGood: boolean; body: unknown }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(value),
  })
  const body: unknown = await response.json()
  return { isGood: response.ok, body }
}

/** Members of a problem document (RFC 9457) that a person is shown. */
function problemIn(body: unknown): Partial<Refusal> {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const textOf = (name: string) => (typeof problem[name] === 'string' ? problem[name] : null)
  return { detail: textOf('detail'), code: textOf('code'), request_id: textOf('request_id') }
}
