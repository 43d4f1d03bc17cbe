// What one step of a live call sent or received: the message as it is, and above it what a person wants to know of it.
import type { ComponentChildren, VNode } from 'preact'
import { isObject } from '../../../../lib/json.ts'
import type { ReadDocument } from '../../browser/lib/after-call.ts'
import type { CallProblem, ShownRequest, ShownResponse } from '../../browser/lib/paid-call.ts'
import type { LiveTexts } from '../../texts/home.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { Checks } from '../proof/checks.tsx'
import { type LiveCallProps, plannedRequest, type Progress, type StepName } from './live.ts'

interface WindowProps {
  readonly name: StepName
  readonly progress: Progress
  readonly props: LiveCallProps
}

/** A region of a fixed height, which scrolls by itself. */
export function StepWindow({ name, progress, props }: WindowProps): VNode {
  return (
    <div class="live-window" role="region" aria-label={props.texts.shown} tabIndex={0}>
      <Content key={name} name={name} progress={progress} props={props} />
    </div>
  )
}

function Content({ name, progress, props }: WindowProps): VNode {
  const { steps, outcome, failed, document } = progress
  const { texts: t } = props
  if (failed?.at === name) return <Failure problem={failed.problem} props={props} />
  const step = steps[name]
  if (name === 'receipt' && outcome?.ok && outcome.receipt) {
    const { receipt, settlement } = outcome
    return (
      <>
        <Pairs
          pairs={[
            [t.receiptId, <Ltr class="mono">{receipt.receipt_id}</Ltr>],
            [t.transaction, settlement && <Ltr class="mono">{settlement.transaction}</Ltr>],
          ]}
        />
        <p>
          <Link to={props.receiptPage.replace('{id}', encodeURIComponent(receipt.receipt_id))} class="button">
            {t.openReceipt}
          </Link>
        </p>
        {progress.proof && (
          <Checks
            checks={progress.proof.verified.checks}
            language={props.language}
            texts={props.proofTexts}
          />
        )}
        {receipt.jws !== undefined && <Message lines={[receipt.jws]} />}
      </>
    )
  }
  switch (step?.name) {
    case 'priced': {
      const { price } = step
      return (
        <>
          <Pairs
            pairs={[
              [t.amount, <Ltr>{`${price.amount} ${price.asset}`}</Ltr>],
              [t.network, <Ltr class="mono">{price.network}</Ltr>],
              [t.payTo, <Ltr class="mono">{price.pay_to}</Ltr>],
              [t.forWhat, price.description && <Foreign text={price.description} />],
            ]}
          />
          <Response response={step.response} />
        </>
      )
    }
    case 'paid':
      return (
        <>
          <Pairs pairs={[[t.payer, <Ltr class="mono">{step.payer}</Ltr>]]} />
          <Request request={step.request} />
        </>
      )
    case 'answered':
      return (
        <>
          <Result body={outcome?.ok ? outcome.body : undefined} document={document} t={t} />
          <Response response={step.response} />
        </>
      )
    default:
      return <Request request={step?.name === 'asked' ? step.request : plannedRequest(props)} />
  }
}

function Failure({
  problem,
  props,
}: {
  readonly problem: CallProblem
  readonly props: LiveCallProps
}): VNode {
  const { texts: t, problemPage } = props
  const isSilent = problem.code === 'unreachable'
  return (
    <div class="notice fails stack">
      <p>
        <strong>{isSilent ? t.unreachable : <Foreign text={problem.title || t.failed} />}</strong>
      </p>
      {!isSilent && (
        <p>
          <Foreign text={problem.detail} />
        </p>
      )}
      {problem.retry_after_seconds !== undefined && (
        <p>{t.tryAgain.replace('{n}', String(problem.retry_after_seconds))}</p>
      )}
      {/^[a-z_]+$/.test(problem.code) && !isSilent && (
        <p>
          <Link to={problemPage.replace('{code}', problem.code)}>{t.about}</Link> <code>{problem.code}</code>
        </p>
      )}
    </div>
  )
}

interface ResultProps {
  readonly body: unknown
  readonly document: ReadDocument | undefined
  readonly t: LiveTexts
}

/** What was bought, for a person; the whole answer stands below it. */
function Result({ body, document, t }: ResultProps): VNode | null {
  if (body === undefined) return null
  return (
    <>
      {document && (
        <article class="live-document" lang="en" dir="auto">
          {document.title !== undefined && (
            <p>
              <strong>
                <Foreign text={document.title} />
              </strong>
            </p>
          )}
          {document.paragraphs.map((text) => (
            <p>
              <Foreign text={text} />
            </p>
          ))}
        </article>
      )}
      <details open={!isFetched(body)}>
        <summary>{t.whole}</summary>
        <Message lines={[JSON.stringify(body, undefined, 2)]} isForeign />
      </details>
    </>
  )
}

/** A fetched page is read as a document, which comes a moment later; of other answers there is no other form here. */
const isFetched = (body: unknown) => isObject(body) && isObject(body['response'])

const Request = ({ request: { method, path, headers, body } }: { readonly request: ShownRequest }): VNode => (
  <Message
    lines={[
      `${method} ${path}`,
      ...headers.map(({ name, value }) => `${name}: ${value}`),
      ...(body === undefined ? [] : ['', body]),
    ]}
  />
)

const Response = ({ response: { status, headers } }: { readonly response: ShownResponse }): VNode => (
  <Message lines={[`HTTP ${status}`, ...headers.map(({ name, value }) => `${name}: ${value}`)]} />
)

const MAX_SHOWN = 20_000

const Message = ({
  lines,
  isForeign,
}: {
  readonly lines: readonly string[]
  readonly isForeign?: boolean
}): VNode => {
  const text = lines.join('\n')
  return (
    <pre class="live-message" dir="ltr">
      {isForeign ? <Foreign text={text} max={MAX_SHOWN} /> : text}
    </pre>
  )
}

function Pairs({ pairs }: { readonly pairs: readonly (readonly [string, ComponentChildren])[] }): VNode {
  return (
    <dl class="pairs">
      {pairs.filter(([, value]) => value).flatMap(([name, value]) => [<dt>{name}</dt>, <dd>{value}</dd>])}
    </dl>
  )
}
