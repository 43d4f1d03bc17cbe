// What the tests say of a transaction: what it is, its score and where each point went, drawn beside the text itself.
import type { VNode } from 'preact'
import type { DimensionName, InspectResult, TestReport } from '../../../../../schemas/commerce.ts'
import { networkOfUsdc, toDecimalUsdc } from '../../../../core/networks.ts'
import type { Language } from '../../routes.ts'
import type { InspectTexts } from '../../texts/inspect.ts'
import { English } from '../english.tsx'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { Scrolling, State, type StateName } from '../state.tsx'
import { locate } from './documents.ts'
import { type Finding, listFindings } from './findings.ts'
import { masksIn } from './masks.ts'
import { readPaste } from './pasted.ts'
import { SourceView } from './source-view.tsx'

/** What a test gave: both reports, of the text as it was pasted. */
export interface Tested {
  readonly text: string
  readonly test: TestReport
  readonly inspect: InspectResult
}

export interface ReportProps {
  readonly tested: Tested
  readonly language: Language
  readonly t: InspectTexts
}

const LEVEL_STATES: Readonly<Record<TestReport['level'], StateName>> = {
  ready: 'done',
  gaps: 'waiting',
  at_risk: 'waiting',
  not_ready: 'failed',
}
const DECISION_STATES: Readonly<Record<InspectResult['policy']['decision'], StateName>> = {
  allow: 'done',
  review: 'waiting',
  deny: 'failed',
}

/** The whole report. */
export function Report({ tested, language, t }: ReportProps): VNode {
  const { test, inspect } = tested
  const read = readPaste(tested.text)
  const pasted = read.ok ? read.pasted : undefined
  const findings = listFindings(test, inspect)
  const redacted = inspect.redactions.map(({ path }) => path)
  const located = pasted && locate(pasted, [...findings.map(({ place }) => place ?? ''), ...redacted])
  const spots = located?.spots ?? []
  const words = (kind: string) => `[${t.hidden}: ${kind.replaceAll('_', ' ')}]`
  return (
    <div class="stack report">
      <section class="panel stack" aria-label={t.result}>
        <div class="report-head">
          <p class="report-protocol">
            <span class="figure-number">{NAMES[test.protocol] ?? t.unknown}</span>
            {test.version !== null && <Ltr class="muted">{test.version}</Ltr>}
          </p>
          <div>
            <p class="small muted">{t.score}</p>
            {test.applicable ? (
              <>
                <p class="row">
                  <span>
                    <Ltr class="figure-number">{String(test.score)}</Ltr> <span class="muted">{t.of100}</span>
                  </span>
                  <State is={LEVEL_STATES[test.level]} page={{ language }} words={t.levels[test.level]} />
                </p>
                <Scale score={test.score} />
              </>
            ) : (
              <p>
                <State is="unknown" page={{ language }} words={t.notScored} />
              </p>
            )}
          </div>
          <div>
            <p class="small muted">{t.decision}</p>
            <p>
              <State
                is={DECISION_STATES[inspect.policy.decision]}
                page={{ language }}
                words={t.decisions[inspect.policy.decision]}
              />
            </p>
          </div>
        </div>
        {pasted?.isTargetAssumed && <p class="small muted">{t.assumed}</p>}
        {pasted?.form === 'curl' && <p class="small muted">{t.fromCurl}</p>}
        <Facts tested={tested} t={t} />
      </section>
      {test.applicable && <Dimensions test={test} t={t} />}
      <div class="report-sides">
        <section class="stack" aria-labelledby="findings">
          <h2 id="findings">
            {t.findings} <span class="muted">{findings.length}</span>
          </h2>
          {findings.length === 0 && <p>{t.none}</p>}
          <ol class="report-findings">
            {findings.map((finding, at) => (
              <FindingView
                finding={finding}
                number={at + 1}
                hasSpot={spots[at] !== undefined}
                language={language}
                t={t}
              />
            ))}
          </ol>
        </section>
        <section class="stack report-text" aria-labelledby="text" tabIndex={0}>
          <h2 id="text">{t.text}</h2>
          {inspect.redactions.length > 0 && <p class="small muted">{t.hiddenHelp}</p>}
          {located?.documents.map((document, index) => (
            <SourceView
              document={document}
              t={t}
              weightOf={(number) => findings[number - 1]?.weight ?? 'tells'}
              marks={findings.flatMap((_, at) => {
                const spot = spots[at]
                return spot?.document === index ? [{ range: spot.range, finding: at + 1 }] : []
              })}
              masks={[
                ...inspect.redactions.flatMap(({ kind }, at) => {
                  const spot = spots[findings.length + at]
                  return spot?.document === index ? [{ range: spot.range, words: words(kind) }] : []
                }),
                ...(document.place === '' ? [] : masksIn(document.text, words)),
              ]}
            />
          ))}
        </section>
      </div>
      <p class="small muted">
        {t.again
          .split(/(\{rules\}|\{hash\})/)
          .map((part) =>
            part === '{rules}' ? (
              <Ltr>{test.ruleset_version}</Ltr>
            ) : part === '{hash}' ? (
              <Ltr class="mono">{test.report_hash.slice(0, 16)}</Ltr>
            ) : (
              part
            ),
          )}{' '}
        {t.notLinkable}
      </p>
    </div>
  )
}

const NAMES: Readonly<Record<string, string>> = {
  x402: 'x402',
  mpp: 'MPP',
  ap2: 'AP2',
  ucp: 'UCP',
  acp: 'ACP',
  mcp: 'MCP',
}

/** Where the score lies between the levels. */
const Scale = ({ score }: { readonly score: number }): VNode => (
  <svg class="scale" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="scale-all" width="100" height="6" />
    <rect class={`scale-score ${scaleClass(score)}`} width={score} height="6" />
    <path class="scale-levels" d="M50 0V6M75 0V6M90 0V6" />
  </svg>
)

const scaleClass = (score: number) => (score >= 90 ? 'is-ready' : score >= 50 ? 'is-between' : 'is-low')

function Dimensions({ test, t }: { readonly test: TestReport; readonly t: InspectTexts }): VNode {
  return (
    <Scrolling label={t.byDimension}>
      <table class="dimensions">
        <caption>{t.byDimension}</caption>
        <thead>
          <tr>
            <th scope="col">{t.dimension}</th>
            <th scope="col">{t.score}</th>
            <th scope="col" class="number">
              {t.weight}
            </th>
          </tr>
        </thead>
        <tbody>
          {(Object.keys(test.dimensions) as DimensionName[]).map((name) => {
            const { score, weight, applicable } = test.dimensions[name]
            return (
              <tr>
                <th scope="row">{t.dimensions[name]}</th>
                <td>
                  {applicable ? (
                    <span class="dimension-score">
                      <Scale score={score} />
                      <Ltr>{String(score)}</Ltr>
                    </span>
                  ) : (
                    <span class="muted">{t.notApplicable}</span>
                  )}
                </td>
                <td class="number">
                  <Ltr>{String(weight)}</Ltr>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scrolling>
  )
}

function Facts({ tested, t }: { readonly tested: Tested; readonly t: InspectTexts }): VNode {
  const { transaction, stage, transport } = tested.inspect
  const { amount, currency, asset, network } = transaction
  const usdc = networkOfUsdc(network ?? '', asset ?? '') && toDecimalUsdc(amount ?? '')
  const rows: readonly (readonly [string, string | null])[] = [
    [t.facts.stage, stage],
    [t.facts.transport, transport],
    [
      t.facts.amount,
      usdc === undefined ? amount && `${amount} ${currency ?? asset ?? ''}`.trim() : `${usdc} USDC`,
    ],
    [t.facts.network, network],
    [t.facts.payee, transaction.payee],
    [t.facts.payer, transaction.payer],
    [t.facts.resource, transaction.resource],
    [t.facts.expires, transaction.expires_at],
  ]
  const known = rows.filter(([, value]) => value !== null && value !== '')
  return (
    <dl class="pairs">
      {known.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd class="mono">
            <Foreign text={value ?? ''} max={200} />
            {name === t.facts.amount && usdc === undefined && (
              <span class="muted small"> {t.facts.smallest}</span>
            )}
          </dd>
        </>
      ))}
      <dt>{t.facts.key}</dt>
      <dd>{transaction.idempotency_key_present ? t.facts.present : t.facts.absent}</dd>
    </dl>
  )
}

interface FindingProps {
  readonly finding: Finding
  readonly number: number
  readonly hasSpot: boolean
  readonly language: Language
  readonly t: InspectTexts
}

function FindingView({ finding, number, hasSpot, language, t }: FindingProps): VNode {
  const { codes, weight, lost, says, remedy, fragment, isLimit, spec, place } = finding
  return (
    <li id={`finding-${number}`} class={`finding weight-${weight}`} tabIndex={-1}>
      <p class="finding-head">
        <span class="finding-number" aria-hidden="true">
          {number}
        </span>
        <strong>{t.weights[weight]}</strong>
        {lost > 0 && (
          <span>
            <Ltr>{`−${lost}`}</Ltr> {t.points}
          </span>
        )}
        <span class="finding-codes">
          {codes.map((code) => (
            <code>{code}</code>
          ))}
        </span>
      </p>
      <English as="p" text={says} page={{ language }} />
      {remedy !== null && (
        <p class="finding-remedy">
          <span class="muted">{t.remedy}</span> <English text={remedy} page={{ language }} as="span" />
        </p>
      )}
      {fragment !== null && (
        <pre class="finding-fragment" dir="ltr" tabIndex={0}>
          <code>{fragment}</code>
        </pre>
      )}
      <p class="row small">
        {place !== null &&
          place !== '' &&
          (hasSpot ? (
            <Link to={`#place-${number}`} label={`${t.showPlace}: ${place.slice(0, 120)}`}>
              <code dir="ltr">
                <Foreign text={place} max={120} />
              </code>
            </Link>
          ) : (
            <code dir="ltr">
              <Foreign text={place} max={120} />
            </code>
          ))}
        {isLimit && <span class="muted">{t.limit}</span>}
        {spec !== null && (
          <span class="muted">
            {t.spec} <Ltr>{spec}</Ltr>
          </span>
        )}
      </p>
    </li>
  )
}
