// An answer of the gateway: what came, or why nothing did and what to do next.
import type { ComponentChildren, VNode } from 'preact'
import type { TryTexts } from '../../texts/try.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { Json } from '../result/json.tsx'
import type { ResultLook } from '../result/look.ts'
import { isRecord, numberAt, recordAt, recordsAt, say, textAt } from '../result/read.ts'
import { ResultView } from '../result/result-view.tsx'
import type { TryAnswer } from './facts.ts'

interface AnswerProps {
  readonly answer: TryAnswer
  readonly t: TryTexts
  readonly look: ResultLook
  readonly save?: (text: string) => void
  /** Fills the form with an input that works. */
  readonly onRepair?: (input: Record<string, unknown>) => void
  /** What follows a price: the way to pay it here. */
  readonly children?: ComponentChildren
  /** The receipt, verified, where that can be. */
  readonly receipt?: ComponentChildren
}

const isFine = (status: number) => status >= 200 && status < 300

export function Answer({ answer, t, look, save, onRepair, children, receipt }: AnswerProps): VNode {
  const { status, body, price } = answer
  if (isFine(status))
    return (
      <div class="stack">
        {receipt}
        <ResultView value={body} {...look} {...(save && { save })} />
      </div>
    )
  return (
    <div class="stack">
      {price ? (
        <div class="notice warns stack tight" data-code="payment_required">
          <p>
            <strong>{say(t.costs, { amount: price.amount, asset: price.asset })}</strong>
          </p>
          <p class="small">
            {t.on} <Ltr>{price.network}</Ltr> {t.payTo} <Ltr class="mono">{price.pay_to}</Ltr>
          </p>
          <p class="small">{t.costsText}</p>
          {children}
        </div>
      ) : (
        <Refusal body={body} t={t} look={look} onRepair={onRepair} />
      )}
      {isRecord(body) && <Json value={body} look={look} save={save} />}
    </div>
  )
}

interface RefusalProps {
  readonly body: unknown
  readonly t: TryTexts
  readonly look: ResultLook
  readonly onRepair: ((input: Record<string, unknown>) => void) | undefined
}

/** A problem document (RFC 9457): what is wrong, where, and a request that works. */
function Refusal({ body, t, look, onRepair }: RefusalProps): VNode {
  const code = /^[a-z_]{1,60}$/.exec(textAt(body, 'code') ?? '')?.[0]
  const retry = numberAt(body, 'retry_after_seconds')
  const example = recordAt(body, 'repair')['example']
  const title = textAt(body, 'title')
  const detail = textAt(body, 'detail') ?? (typeof body === 'string' ? body.slice(0, 500) : undefined)
  return (
    <div class="notice fails stack tight" data-code={code}>
      <p>
        <strong lang="en" dir="auto">
          <Foreign text={title ?? t.refused} max={200} />
        </strong>
      </p>
      {detail !== undefined && (
        <p lang="en" dir="auto">
          <Foreign text={detail} />
        </p>
      )}
      {recordsAt(body, 'fields').length > 0 && (
        <ul class="values small">
          {recordsAt(body, 'fields')
            .slice(0, 10)
            .map((field) => (
              <li>
                <code>{textAt(field, 'pointer') ?? '/'}</code>{' '}
                <Foreign text={textAt(field, 'message') ?? ''} max={300} />
              </li>
            ))}
        </ul>
      )}
      {retry !== undefined && <p>{say(t.retry, { n: retry })}</p>}
      <p class="row">
        {isRecord(example) && onRepair && (
          <button type="button" onClick={() => onRepair(example)}>
            {t.useRepair}
          </button>
        )}
        {code !== undefined && (
          <Link to={look.href(`/problems/${code}`)}>
            {t.explain.split('{code}')[0]}
            <code>{code}</code>
            {t.explain.split('{code}')[1]}
          </Link>
        )}
      </p>
    </div>
  )
}
