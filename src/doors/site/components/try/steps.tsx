// What happens between a browser and the gateway, each step as it ends.
import type { VNode } from 'preact'
import type { CallStep, ShownHeader, ShownRequest, ShownResponse } from '../../browser/lib/paid-call.ts'
import type { TryTexts } from '../../texts/try.ts'
import { Ltr } from '../foreign.tsx'
import { isRecord, say } from '../result/read.ts'
import { hide } from './request.ts'

interface StepsProps {
  readonly steps: readonly CallStep[]
  /** Members of the input that are not shown again. */
  readonly secret: readonly string[]
  readonly t: TryTexts
}

export function Steps({ steps, secret, t }: StepsProps): VNode {
  return (
    <ol class="steps" aria-label={t.steps}>
      {steps.map((step) => (
        <li>
          <Step step={hideIn(step, secret)} t={t} />
        </li>
      ))}
    </ol>
  )
}

/** The step without what somebody typed into a field that hides it. */
function hideIn(step: CallStep, secret: readonly string[]): CallStep {
  if (secret.length === 0 || !('request' in step) || step.request.body === undefined) return step
  const body: unknown = JSON.parse(step.request.body)
  return isRecord(body)
    ? { ...step, request: { ...step.request, body: JSON.stringify(hide(body, secret), undefined, 2) } }
    : step
}

function Step({ step, t }: { readonly step: CallStep; readonly t: TryTexts }): VNode {
  switch (step.name) {
    case 'asked':
      return <Exchange head={t.asked} request={step.request} t={t} />
    case 'priced':
      return (
        <Exchange
          head={say(t.priced, { amount: step.price.amount, asset: step.price.asset })}
          response={step.response}
          ms={step.ms}
          t={t}
          isMoney
        />
      )
    case 'paid':
      return <Exchange head={t.paid} request={step.request} ms={step.ms} t={t} isMoney />
    case 'answered':
      return <Exchange head={t.answered} response={step.response} ms={step.ms} t={t} />
  }
}

interface ExchangeProps {
  readonly head: string
  readonly t: TryTexts
  readonly ms?: number
  readonly request?: ShownRequest
  readonly response?: ShownResponse
  readonly isMoney?: boolean
}

function Exchange({ head, request, response, ms, t, isMoney }: ExchangeProps): VNode {
  const line = request ? `${request.method} ${request.path}` : response ? String(response.status) : ''
  const headers = request?.headers ?? response?.headers ?? []
  const isFine = response === undefined || response.status < 300 || isMoney === true
  return (
    <details class={isMoney ? 'step money' : 'step'}>
      <summary>
        <span class={isFine ? undefined : 'state-failed'}>{head}</span> <Ltr class="mono line">{line}</Ltr>{' '}
        {ms !== undefined && <span class="muted small">{say(t.ms, { n: Math.round(ms) })}</span>}
      </summary>
      <Headers headers={headers} />
      {request?.body !== undefined && (
        <pre class="answer-text" dir="ltr" tabIndex={0}>
          <code>{request.body}</code>
        </pre>
      )}
    </details>
  )
}

/** A token that was typed into the page is on it in one place. */
const SECRET = ['authorization', 'x-gateway-capability']

const Headers = ({ headers }: { readonly headers: readonly ShownHeader[] }): VNode => (
  <dl class="pairs headers" dir="ltr">
    {headers.map(({ name, value }) => (
      <>
        <dt>{name}</dt>
        <dd class="mono">{SECRET.includes(name) ? 'Bearer …' : value}</dd>
      </>
    ))}
  </dl>
)
