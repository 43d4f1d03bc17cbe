// The versions of a credential: the one in use beside those before it, and the form that makes another.
import type { VNode } from 'preact'
import { Scrolling, State } from '../../../site/components/state.tsx'
import { type KindName, kindOf } from '../../credentials/kinds.ts'
import { partsOf, type ShownCredential } from '../../credentials/settings.ts'
import type { VersionUse } from '../../credentials/versions.ts'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts, fill } from '../../texts/credentials.ts'
import { Form } from '../form.tsx'
import { Time } from '../table.tsx'
import { SecretFields } from './secret-fields.tsx'

interface VersionsProps {
  readonly page: ConsoleContext
  readonly credential: ShownCredential
  readonly uses: readonly VersionUse[]
  /** Answers are searched for the secret before this one until then; null where there is none, or no more. */
  readonly soughtUntil: number | null
  readonly mayAct: boolean
}

export function Versions({ page, credential, uses, soughtUntil, mayAct }: VersionsProps): VNode {
  const t = credentialTexts[page.language]
  const { version, created_at, rotated_at, edited_at, settings } = credential
  const since =
    [created_at, rotated_at, edited_at]
      .filter((at) => at !== null)
      .toSorted()
      .at(-1) ?? created_at
  const before = version > 1 ? [version - 1] : []
  const shown = [...new Set([version, ...before, ...uses.map((use) => use.version)])].filter((n) => n > 0)
  const kind = kindOf(settings) as KindName
  return (
    <section class="console-section">
      <h2>{t.versions}</h2>
      <Scrolling label={t.versions}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.version}</th>
              <th scope="col">{t.state}</th>
              <th scope="col">{t.versionSince}</th>
              <th scope="col" class="number">
                {t.versionCalls}
              </th>
              <th scope="col">{t.versionLast}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((n) => {
              const use = uses.find((one) => one.version === n)
              return (
                <tr>
                  <th scope="row">{n}</th>
                  <td>
                    {n === version ? (
                      <State is="done" page={page} words={t.versionNow} />
                    ) : (
                      <State is="unknown" page={page} words={t.versionBefore} />
                    )}
                  </td>
                  <td>{n === version && <Time at={since} />}</td>
                  <td class="number">{use?.calls ?? 0}</td>
                  <td>
                    <Time at={use?.lastAt ?? null} />
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </Scrolling>
      <p class="muted small">{t.versionHint}</p>
      {soughtUntil !== null && (
        <p class="small">
          {t.sought} <Time at={soughtUntil} />
        </p>
      )}
      {mayAct && (
        <details open={page.refused?.form.get('_action') === 'rotate'}>
          <summary>{t.rotate}</summary>
          <Form page={page} action="rotate" class="stack" values={{ version: String(version) }}>
            <p>{fill(t.rotateTo, { from: String(version), to: String(version + 1) })}</p>
            <p class="muted small">{t.rotateHint}</p>
            {kind === 'oauth2_refresh_token' && <p class="muted small">{t.refreshStays}</p>}
            <SecretFields page={page} kind={kind} named={partsOf(credential)} />
            <p>
              <button class="primary">{t.rotate}</button>
            </p>
          </Form>
        </details>
      )}
    </section>
  )
}
