// The form that tries a tool, alive: it calls the tool's REST route from the browser, as any program would, and shows what happens.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { callPaid, type CallOutcome, type CallStep } from '../../browser/lib/paid-call.ts'
import type { Language } from '../../routes.ts'
import type { FormTexts } from '../../texts/form.ts'
import type { ResultTexts } from '../../texts/result.ts'
import type { TryTexts } from '../../texts/try.ts'
import { Code } from '../code.tsx'
import { FormFields } from '../form/fields.tsx'
import { type FieldFault, readForm } from '../form/read.ts'
import { membersOf } from '../form/schema.ts'
import { Link } from '../link.tsx'
import { LazyMarkdown } from '../result/lazy-markdown.tsx'
import type { ResultLook } from '../result/look.ts'
import { isRecord, say } from '../result/read.ts'
import { Answer } from './answer.tsx'
import type { TryFacts } from './facts.ts'
import { Bar, Confirm, ID, JsonInput } from './form-parts.tsx'
import { LazyReceipt } from './lazy-receipt.tsx'
import { curlOf, faultsOf, missingInPath, requestOf, type ToolRequest } from './request.ts'
import { Steps } from './steps.tsx'

export interface TryFormProps {
  readonly facts: TryFacts
  readonly input: Record<string, unknown>
  readonly faults: readonly FieldFault[]
  /** Where the form goes without a script. */
  readonly action: string
  readonly api: string
  readonly baseUrl: string
  /** What stands before the path of a page, in two parts: of this site, and of its language. */
  readonly root: string
  readonly language: Language
  /** Address of the test wallet; undefined where there is none. */
  readonly wallet?: string
  readonly t: TryTexts
  readonly form: FormTexts
  readonly result: ResultTexts
}

/** What is filled in; another number draws the form anew. */
interface Filling {
  readonly version: number
  readonly input: Record<string, unknown>
}

interface Run {
  /** What was sent: a price is paid for this, whatever the form says by then. */
  readonly input: Record<string, unknown>
  readonly request: ToolRequest
  readonly steps: readonly CallStep[]
  readonly outcome?: CallOutcome
  /** Why there is no outcome, in words. */
  readonly end?: string
}

export function TryForm(props: TryFormProps): VNode {
  const { facts, t, form: formTexts, language } = props
  const [filling, setFilling] = useState<Filling>({ version: 0, input: props.input })
  const [view, setView] = useState<'form' | 'json'>('form')
  const [faults, setFaults] = useState(props.faults)
  const [run, setRun] = useState<Run>()
  const [isRunning, setRunning] = useState(false)
  const [said, setSaid] = useState('')
  const element = useRef<HTMLFormElement>(null)
  const token = useRef<HTMLInputElement>(null)
  const dialog = useRef<HTMLDialogElement>(null)
  const answer = useRef<HTMLHeadingElement>(null)
  const ending = useRef<AbortController>(undefined)
  /** Waits for a yes. */
  const waiting = useRef<Record<string, unknown>>(undefined)

  // Whoever leaves the page wants no answer any more.
  useEffect(() => () => ending.current?.abort(), [])
  // The first marked field is where the news is.
  useEffect(() => {
    if (faults.length > 0) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [faults])

  function fill(input: Record<string, unknown>): void {
    setFaults([])
    setFilling({ version: filling.version + 1, input })
  }

  /** What is filled in, in either view; undefined where it cannot be read, which is then shown. */
  function read(): Record<string, unknown> | undefined {
    if (!element.current) return undefined
    if (view === 'json') {
      const text = element.current.querySelector<HTMLTextAreaElement>(`#${ID}-json`)?.value ?? ''
      const value = parsed(text)
      if (isRecord(value)) return { ...value }
      setFaults([{ pointer: '', message: t.notObject }])
      return undefined
    }
    const reading = readForm(new FormData(element.current), facts.schema, formTexts)
    if (reading.faults.length > 0) {
      setFaults(reading.faults)
      return undefined
    }
    return reading.input
  }

  function show(next: 'form' | 'json'): void {
    const input = next === view ? undefined : read()
    if (!input) return
    fill(input)
    setView(next)
  }

  function submit(event: Event): void {
    event.preventDefault()
    if (ending.current) return
    const input = read()
    if (!input) return
    const missing = missingInPath(facts, input)
    if (missing.length > 0)
      return setFaults(missing.map((name) => ({ pointer: `/${name}`, message: formTexts.required })))
    if (facts.caller !== 'anyone' && !token.current?.value) {
      setSaid(t.needsToken)
      return token.current?.focus()
    }
    if (facts.isDestructive) {
      waiting.current = input
      dialog.current?.showModal()
    } else void call(input, false)
  }

  async function call(input: Record<string, unknown>, isPaying: boolean): Promise<void> {
    const request = requestOf(facts, input)
    const ended = new AbortController()
    ending.current = ended
    // The gateway has a little longer to say itself that it took too long.
    const limit = setTimeout(() => ended.abort('time'), (facts.maxSeconds + GRACE_SECONDS) * 1000)
    const started = performance.now()
    setRunning(true)
    setFaults([])
    setSaid(t.sending)
    setRun({ input, request, steps: [] })
    const bearer = token.current?.value.trim()
    const steps: CallStep[] = []
    try {
      const outcome = await callPaid(
        {
          api: props.api,
          ...request,
          headers: {
            ...(bearer && { authorization: `Bearer ${bearer}` }),
            ...(facts.takesKey && { 'idempotency-key': crypto.randomUUID() }),
          },
          wallet: isPaying ? props.wallet : undefined,
          signal: ended.signal,
        },
        (step) => {
          steps.push(step)
          setRun({ input, request, steps: [...steps] })
        },
      )
      setRun({ input, request, steps, outcome })
      setSaid(
        outcome.ok
          ? say(t.done, { n: Math.round(performance.now() - started) })
          : say(t.failed, { title: outcome.problem.title || t.unreachable }),
      )
      const found = outcome.ok ? [] : faultsOf(outcome.body)
      setFaults(found)
      if (found.length === 0) answer.current?.focus()
    } catch {
      const end = ended.signal.reason === 'time' ? say(t.timedOut, { n: facts.maxSeconds }) : t.cancelled
      setRun({ input, request, steps, end })
      setSaid(end)
    } finally {
      clearTimeout(limit)
      ending.current = undefined
      setRunning(false)
    }
  }

  const start = (input: Record<string, unknown> | undefined, isPaying: boolean) => {
    if (input && !ending.current) void call(input, isPaying)
  }

  const unshown = [...facts.secret, ...facts.hidden]
  const isLive = facts.needsScript === undefined
  return (
    <div class="try">
      <form
        ref={element}
        class="try-form stack"
        noValidate
        // What a form without a script must not send goes nowhere: `dialog` closes a dialog, and there is none.
        {...(isLive ? { method: 'post' as const, action: props.action } : { method: 'dialog' as const })}
        onSubmit={submit}
      >
        <Bar facts={facts} t={t} view={view} onFill={fill} onView={show} />
        {view === 'form' ? (
          <div class="stack fields" key={`form ${filling.version}`}>
            {membersOf(facts.schema).length === 0 && Object.keys(filling.input).length === 0 ? (
              <p class="muted">{t.noInput}</p>
            ) : (
              <FormFields
                schema={facts.schema}
                value={filling.input}
                faults={faults}
                t={formTexts}
                id={ID}
                hidden={facts.hidden}
                secret={facts.secret}
              />
            )}
          </div>
        ) : (
          <JsonInput key={`json ${filling.version}`} input={filling.input} faults={faults} t={t} />
        )}
        {facts.caller !== 'anyone' && (
          <div class="field token">
            <label for={`${ID}-token`}>{t.token[facts.caller]}</label>
            {/* Without a name it is in no form that is sent, and in no input that is read. */}
            <input
              id={`${ID}-token`}
              ref={token}
              type="password"
              autocomplete="off"
              spellcheck={false}
              dir="ltr"
              aria-describedby={`${ID}-token-hint`}
            />
            <p class="hint" id={`${ID}-token-hint`}>
              {t.tokenHint}{' '}
              {facts.caller === 'email' ? (
                <Link to={`${props.root}/tools/gateway.keys.free`}>{t.getEmailKey}</Link>
              ) : (
                <Link to={`${props.root}/docs/rest`}>{t.howToken}</Link>
              )}
            </p>
          </div>
        )}
        {facts.needsScript !== undefined && (
          <p class="notice without-script">
            {facts.needsScript === 'token' ? t.noScriptToken : t.noScriptSecret}
          </p>
        )}
        {isLive && facts.isDestructive && (
          <p class="without-script">
            <label>
              <input type="checkbox" name="confirm" value="yes" /> {t.confirmText} {t.confirmYes}
            </label>
          </p>
        )}
        <p class="row">
          <button type="submit" class={isLive ? 'primary' : 'primary needs-script'} aria-disabled={isRunning}>
            {isRunning ? t.sending : facts.isPaid ? t.price : t.send}
          </button>
          {isRunning && (
            <button type="button" onClick={() => ending.current?.abort('cancelled')}>
              {t.cancel}
            </button>
          )}
        </p>
        <p class="visually-hidden" role="status">
          {said}
        </p>
      </form>
      <Confirm reference={dialog} t={t} onYes={() => start(waiting.current, false)} />
      <section class="try-answer stack" aria-labelledby={`${ID}-answer`} hidden={run === undefined}>
        <h3 id={`${ID}-answer`} ref={answer} tabIndex={-1}>
          {t.result}
        </h3>
        {run && (
          <>
            <details class="request">
              <summary>{t.request}</summary>
              <Code
                text={curlOf(run.request, {
                  baseUrl: props.baseUrl,
                  tokenIn: facts.tokenIn,
                  secret: unshown,
                })}
                label="curl"
                page={{ language }}
              />
            </details>
            <Steps steps={run.steps} secret={unshown} t={t} />
            {run.end !== undefined && <p class="notice warns">{run.end}</p>}
            {run.outcome && (
              <Outcome
                outcome={run.outcome}
                props={props}
                onPay={() => start(run.input, true)}
                isRunning={isRunning}
                onRepair={fill}
              />
            )}
          </>
        )}
      </section>
    </div>
  )
}
const GRACE_SECONDS = 5

function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}

interface OutcomeProps {
  readonly outcome: CallOutcome
  readonly props: TryFormProps
  readonly isRunning: boolean
  readonly onPay: () => void
  readonly onRepair: (input: Record<string, unknown>) => void
}

function Outcome({ outcome, props, isRunning, onPay, onRepair }: OutcomeProps): VNode {
  const { t, result, api, baseUrl, language, root } = props
  const { status, body, price } = outcome
  const look = {
    t: result,
    href: (path: string) => root + path,
    markdown: drawLazily,
  }
  if (status === 0) return <p class="notice fails">{t.unreachable}</p>
  const receipt = outcome.ok ? outcome.receipt : undefined
  return (
    <Answer
      answer={{ status, body, ...(price && status === 402 && { price }) }}
      t={t}
      look={look}
      save={saveFile}
      onRepair={onRepair}
      receipt={
        receipt?.jws !== undefined && (
          <div class="receipt row">
            <strong>{t.receipt}</strong>
            <LazyReceipt jws={receipt.jws} answer={body} api={api} baseUrl={baseUrl} language={language} />
            <Link to={`${root}/receipts/${encodeURIComponent(receipt.receipt_id)}`}>{t.openReceipt}</Link>
          </div>
        )
      }
    >
      <p class="row">
        {props.wallet === undefined ? (
          <span>{t.needsWallet}</span>
        ) : (
          <button type="button" class="pays" onClick={onPay} aria-disabled={isRunning}>
            {isRunning ? t.paying : t.payTest}
          </button>
        )}
        <Link to={`${root}/docs/payments`}>{t.howPaid}</Link>
      </p>
    </Answer>
  )
}

const drawLazily: ResultLook['markdown'] = (text, t) => <LazyMarkdown text={text} cutWords={t.cut} />

function saveFile(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'answer.json'
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
