// The first run as four steps: what is done is told by what there is, so nobody has to tick anything off.
import type { VNode } from 'preact'
import { Code } from '../../site/components/code.tsx'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'
import type { ConsoleContext } from '../ports.ts'
import { maySee } from '../routes.ts'
import { overviewTexts } from '../texts/overview.ts'

/** What there is of each step; null while there is nothing. */
export interface FirstRun {
  readonly credentialId: string | null
  readonly isConnected: boolean
  readonly hasCalls: boolean
  /** The last attempt with a receipt. */
  readonly attemptId: string | null
}

const isAllDone = ({ credentialId, isConnected, hasCalls, attemptId }: FirstRun): boolean =>
  credentialId !== null && isConnected && hasCalls && attemptId !== null

export function FirstRunGuide({
  page,
  run,
}: {
  readonly page: ConsoleContext
  readonly run: FirstRun
}): VNode {
  const t = overviewTexts[page.language]
  const { credentialId, isConnected, hasCalls, attemptId } = run
  // Whoever may store a credential may connect an assistant: owners and operators.
  const mayStore = page.signedIn !== undefined && maySee('newCredential', page.signedIn)
  const isDone = isAllDone(run)
  return (
    <details class="console-section" open={!isDone}>
      <summary>
        <h2>{isDone ? t.guideDone : t.guide}</h2>
      </summary>
      <div class="stack">
        <p class="muted">{t.guideLead}</p>
        <ol class="console-steps">
          <Step page={page} title={t.store} why={t.storeWhy} isDone={credentialId !== null}>
            {credentialId !== null ? (
              <Link to={page.href(`/console/credentials/${credentialId}`)}>{t.storeSeen}</Link>
            ) : mayStore ? (
              <Link to={page.href('/console/credentials/new')} class="button primary">
                {t.storeDo}
              </Link>
            ) : (
              <span class="muted">{t.askOperator}</span>
            )}
          </Step>
          <Step
            page={page}
            title={t.connect}
            why={mayStore ? t.connectWhy : t.connectWhyOthers}
            isDone={isConnected}
          >
            {mayStore ? (
              <Code text={`${page.mcpUrl}/connect`} page={page} />
            ) : (
              <p class="muted">{t.askOperator}</p>
            )}
            <p class="row">
              <Link to={page.href('/console/connections')}>{t.connectSeen}</Link>
              <Link to={page.href('/docs/sign-in')}>{t.connectDo}</Link>
            </p>
          </Step>
          <Step page={page} title={t.call} why={t.callWhy} isDone={hasCalls}>
            {hasCalls ? (
              <Link to={page.href('/console/attempts')}>{t.callSeen}</Link>
            ) : credentialId !== null && mayStore ? (
              <Link to={page.href(`/console/credentials/${credentialId}#test`)} class="button">
                {t.callDo}
              </Link>
            ) : null}
          </Step>
          <Step page={page} title={t.receipt} why={t.receiptWhy} isDone={attemptId !== null}>
            {attemptId !== null && (
              <Link to={page.href(`/console/attempts/${attemptId}`)}>{t.receiptDo}</Link>
            )}
          </Step>
        </ol>
      </div>
    </details>
  )
}

interface StepProps {
  readonly page: ConsoleContext
  readonly title: string
  readonly why: string
  readonly isDone: boolean
  readonly children: VNode | VNode[] | false | null
}

function Step({ page, title, why, isDone, children }: StepProps): VNode {
  const t = overviewTexts[page.language]
  return (
    <li>
      <div class="console-head">
        <h3>{title}</h3>
        <State is={isDone ? 'done' : 'unknown'} page={page} words={isDone ? t.stepDone : t.stepOpen} />
      </div>
      <p class="muted small">{why}</p>
      {children}
    </li>
  )
}
