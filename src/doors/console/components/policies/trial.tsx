// What a text would do: in words, and to the last decisions on record.
import type { VNode } from 'preact'
import type { z } from 'zod'
import type { PolicyDryRun } from '../../../../../schemas/policy.ts'
import type { policiesCheck } from '../../../../../tools/policies-check.ts'
import { Ltr } from '../../../site/components/foreign.tsx'
import { Scrolling, State, type StateName } from '../../../site/components/state.tsx'
import type { ConsoleContext } from '../../ports.ts'
import { fill } from '../../texts/credentials.ts'
import { policyTexts } from '../../texts/policies.ts'
import { Time } from '../table.tsx'
import { Problems, Statements } from './statements.tsx'

export type Checked = z.infer<(typeof policiesCheck)['output']>

interface TrialProps {
  readonly page: ConsoleContext
  readonly checked: Checked
}

export function Trial({ page, checked }: TrialProps): VNode {
  const t = policyTexts[page.language]
  return (
    <section class="console-section" role="status" id="trial">
      <h2>{t.trial}</h2>
      <Problems page={page} problems={checked.problems} />
      <Statements page={page} statements={checked.statements} />
      {checked.dry_run && <DryRun page={page} run={checked.dry_run} />}
      <p class="muted small">{t.notSaved}</p>
    </section>
  )
}

const LOOKS: Readonly<Record<'allow' | 'review' | 'deny', StateName>> = {
  allow: 'done',
  review: 'waiting',
  deny: 'failed',
}

function DryRun({ page, run }: { readonly page: ConsoleContext; readonly run: PolicyDryRun }): VNode {
  const t = policyTexts[page.language]
  const { judged, since, changes, gaps } = run
  const verdictOf = ({ verdict, reasons }: (typeof changes)[number]['after']) => (
    <>
      <State is={LOOKS[verdict]} page={page} words={t.verdicts[verdict] ?? verdict} />
      {reasons.length > 0 && <Ltr class="small muted block mono">{reasons.join(' ')}</Ltr>}
    </>
  )
  return (
    <>
      <h3>{t.dryRun}</h3>
      {judged === 0 ? (
        <p>{t.nothingJudged}</p>
      ) : (
        <p>
          {fill(t.judged, { n: String(judged) })} <Time at={since} />.{' '}
          <strong>{changes.length === 0 ? t.same : fill(t.differs, { n: String(changes.length) })}</strong>
        </p>
      )}
      {changes.length > 0 && (
        <Scrolling label={t.dryRun}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t.at}</th>
                <th scope="col">{t.decision}</th>
                <th scope="col">{t.now}</th>
                <th scope="col">{t.next}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ at, what, before, after }) => (
                <tr>
                  <td>
                    <Time at={at} />
                  </td>
                  <td>
                    <Ltr class="small">{what}</Ltr>
                  </td>
                  <td>{verdictOf(before)}</td>
                  <td>{verdictOf(after)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
      )}
      <details>
        <summary>{t.gaps}</summary>
        <ul class="small muted">
          {gaps.map(({ code, text }) => (
            <li>{t.gapTexts[code] ?? text}</li>
          ))}
        </ul>
      </details>
    </>
  )
}
