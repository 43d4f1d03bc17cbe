// Verdicts: of an email address, of a transaction, of a sample.
import type { VNode } from 'preact'
import { Foreign, Ltr } from '../foreign.tsx'
import { More, Value } from './generic.tsx'
import type { ResultLook } from './look.ts'
import { count, isRecord, type Members, numberAt, recordAt, recordsAt, say, textAt, textsAt } from './read.ts'

interface VerdictProps {
  readonly value: Members
  readonly look: ResultLook
}

const SHAPES: Readonly<Record<string, readonly [state: string, shape: string]>> = {
  accept: ['done', '●'],
  allow: ['done', '●'],
  review: ['waiting', '◆'],
  reject: ['failed', '■'],
  deny: ['failed', '■'],
}

/** A decision in a word, with its shape. */
function Decision({ is, look }: { readonly is: string; readonly look: ResultLook }): VNode {
  const [state, shape] = SHAPES[is] ?? ['unknown', '○']
  const words: Readonly<Record<string, string>> = look.t.decision
  return (
    <span class={`state state-${state} decision`}>
      <span aria-hidden="true">{shape}</span>{' '}
      {Object.hasOwn(words, is) ? words[is] : <Foreign text={is} max={40} />}
    </span>
  )
}

/** A stable word of the gateway, as far as it is one. */
const Code = ({ text }: { readonly text: string }): VNode => (
  <code>
    <Foreign text={text} max={80} />
  </code>
)

/** schemas/email.ts */
export function EmailVerdict({ value, look }: VerdictProps): VNode {
  const { t } = look
  const reasons = textsAt(value, 'reasons')
  const meant = textAt(value, 'did_you_mean')
  return (
    <section class="stack tight">
      <p class="row">
        <Decision is={textAt(value, 'decision') ?? ''} look={look} />{' '}
        <Foreign text={textAt(value, 'email') ?? ''} max={320} />
      </p>
      {meant !== undefined && (
        <p>
          {t.didYouMean} <Foreign text={meant} max={320} />
        </p>
      )}
      <p>
        {reasons.length === 0 ? t.noReasons : `${t.reasons}: `}
        {reasons.map((reason) => (
          <>
            <Code text={reason} />{' '}
          </>
        ))}
      </p>
      <details>
        <summary>{t.checks}</summary>
        <div class="inner">
          <Value value={value['checks']} look={look} depth={1} />
        </div>
      </details>
    </section>
  )
}

/** Several addresses: each with its verdict. */
export const EmailVerdicts = ({ value, look }: VerdictProps): VNode => (
  <div class="stack">
    {recordsAt(value, 'results')
      .slice(0, 20)
      .map((result) => (
        <EmailVerdict value={result} look={look} />
      ))}
    <More left={recordsAt(value, 'results').length - 20} look={look} />
  </div>
)

/** schemas/commerce.ts, InspectResult */
export function Inspection({ value, look }: VerdictProps): VNode {
  const policy = recordAt(value, 'policy')
  const reasons = recordsAt(policy, 'reasons')
  return (
    <section class="stack tight">
      <p class="row">
        <Decision is={textAt(policy, 'decision') ?? ''} look={look} />
        <span>
          <Ltr>
            {[textAt(value, 'protocol'), textAt(value, 'version'), textAt(value, 'stage')]
              .filter(Boolean)
              .join(' ')}
          </Ltr>
        </span>
      </p>
      <Findings findings={reasons} look={look} />
      <details>
        <summary>{look.t.details}</summary>
        <div class="inner">
          <Value value={value['transaction']} look={look} depth={1} />
        </div>
      </details>
    </section>
  )
}

/** schemas/commerce.ts, TestReport */
export function Score({ value, look }: VerdictProps): VNode {
  const score = numberAt(value, 'score') ?? 0
  const lost = recordsAt(value, 'checks').filter(({ result }) => result === 'fail' || result === 'partial')
  return (
    <section class="stack tight">
      <p class="row">
        <span class="figure-number">{say(look.t.score, { n: count(score) })}</span>
        <Ltr class="muted">{textAt(value, 'level') ?? ''}</Ltr>
      </p>
      <ul class="bars">
        {Object.entries(recordAt(value, 'dimensions'))
          .filter(([, dimension]) => isRecord(dimension) && dimension['applicable'] === true)
          .map(([name, dimension]) => (
            <li>
              <label>
                <Ltr>{name.replaceAll('_', ' ').slice(0, 40)}</Ltr>{' '}
                <meter
                  min={0}
                  max={100}
                  low={50}
                  high={80}
                  optimum={100}
                  value={numberAt(dimension, 'score') ?? 0}
                />{' '}
                <Ltr>{String(numberAt(dimension, 'score') ?? 0)}</Ltr>
              </label>
            </li>
          ))}
      </ul>
      <Findings findings={lost} look={look} />
    </section>
  )
}

const MAX_FINDINGS = 30

function Findings({
  findings,
  look,
}: {
  readonly findings: readonly Members[]
  readonly look: ResultLook
}): VNode {
  const { t } = look
  if (findings.length === 0) return <p>{t.noReasons}</p>
  return (
    <>
      <ul class="findings">
        {findings.slice(0, MAX_FINDINGS).map((finding) => {
          const place = textAt(finding, 'evidence') ?? textAt(finding, 'path') ?? textAt(finding, 'at')
          const remedy = textAt(finding, 'remediation')
          const fragment = textAt(finding, 'fragment')
          return (
            <li>
              <Code text={textAt(finding, 'id') ?? textAt(finding, 'code') ?? ''} />{' '}
              <Foreign text={textAt(finding, 'finding') ?? textAt(finding, 'message') ?? ''} max={500} />{' '}
              {place !== undefined && (
                <span class="muted small">
                  {t.place} <Ltr>{place.slice(0, 200)}</Ltr>
                </span>
              )}
              {remedy !== undefined && (
                <p class="small">
                  {t.remedy}: <Foreign text={remedy} max={500} />
                </p>
              )}
              {fragment !== undefined && (
                <pre dir="ltr" tabIndex={0}>
                  <Foreign text={fragment} max={1000} />
                </pre>
              )}
            </li>
          )
        })}
      </ul>
      <More left={findings.length - MAX_FINDINGS} look={look} />
    </>
  )
}
