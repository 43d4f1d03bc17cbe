// One permit: what it sends or sent, who said what, and the buttons while it waits.
import type { VNode } from 'preact'
import type { PermitEvidence, PermitRecord, PermitSummary } from '../../../../schemas/actions.ts'
import { GatewayError } from '../../../core/errors.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { fill } from '../../site/components/market/format.ts'

import { Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Decide, ExactRequest, PartyName, PermitFacts, PermitStateChip } from '../components/permit.tsx'
import { Facts, type Happening, Happenings } from '../components/records.tsx'
import { decideFrom } from '../inbox/decide.ts'
import { type PermitView, viewsOf } from '../inbox/read.ts'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { inboxTexts } from '../texts/inbox.ts'

interface ApprovalData {
  readonly view: PermitView
  /** The approved request, as it was kept. */
  readonly evidence: PermitSummary | null
}

export const page = defineConsolePage<ApprovalData>({
  isWide: true,
  async load(request) {
    const permitId = request.params['permit_id'] ?? ''
    const permit = await find(permitId, request)
    if (!permit) return undefined
    const [view] = await viewsOf([permit], request)
    const evidence = permit.evidence_kept
      ? ((await request.call('gateway.actions.permits.evidence', { permit_id: permitId })) as PermitEvidence)
      : undefined
    return view && { view, evidence: evidence?.request ?? null }
  },
  actions: decideFrom((permitId) => `/console/inbox/${permitId}`),
  title: ({ view: { permit } }) => `${permit.method} ${permit.host}`,
  View: ({ data, page }) => <Approval data={data} page={page} />,
})

async function find(permitId: string, { call }: SignedInRequest): Promise<PermitRecord | undefined> {
  try {
    return (await call('gateway.actions.permits.get', { permit_id: permitId })) as PermitRecord
  } catch (thrown) {
    if (thrown instanceof GatewayError && ['permit_not_found', 'input_invalid'].includes(thrown.code))
      return undefined
    throw thrown
  }
}

function Approval({ data, page }: { readonly data: ApprovalData; readonly page: ConsoleContext }): VNode {
  const { view, evidence } = data
  const { permit } = view
  const t = inboxTexts[page.language]
  const isWaiting = permit.state === 'pending_approval'
  const shown = permit.summary ?? evidence
  return (
    <div class="stack">
      <header class="stack tight">
        <p class="eyebrow">
          <Link to={page.href(isWaiting ? '/console/inbox' : '/console/permits')}>
            {isWaiting ? t.inbox : t.permits}
          </Link>
        </p>
        <h1 class="console-id">
          <Ltr class="mono">{`${permit.method} ${permit.host}`}</Ltr>
        </h1>
        <p>
          <PermitStateChip state={permit.state} page={page} />
        </p>
      </header>
      <Said word={doneWord(page)} words={t.done} />
      <Refusal page={page} />
      <div class="console-two">
        <section class="panel stack" aria-labelledby="exact">
          <h2 id="exact">{isWaiting ? t.exact : t.approved}</h2>
          {shown ? <ExactRequest summary={shown} page={page} /> : <p class="muted">{t.noEvidence}</p>}
          {evidence && <p class="muted small">{t.evidence}</p>}
          {isWaiting && (
            <div class="permit-bar">
              <Decide view={view} page={page} />
            </div>
          )}
        </section>
        <section class="panel stack" aria-labelledby="facts">
          <h2 id="facts">{t.facts}</h2>
          <PermitFacts view={view} page={page} />
          <Facts
            facts={[
              [t.permit, <Ltr class="mono">{permit.permit_id}</Ltr>],
              [t.mandate, <Ltr class="mono">{permit.mandate_id}</Ltr>],
              [t.digest, <Ltr class="mono">{permit.request_digest}</Ltr>],
            ]}
          />
          <h2>{t.timeline}</h2>
          <Happenings page={page} events={eventsOf(view, page)} />
        </section>
      </div>
    </div>
  )
}

function eventsOf(view: PermitView, page: ConsoleContext): readonly Happening[] {
  const t = inboxTexts[page.language]
  const { permit, deciders } = view
  const address = permit.prepared_by?.address ?? null
  const events: Happening[] = [
    {
      title: t.prepared,
      is: 'done',
      at: permit.created_at,
      how: (
        <>
          <PartyName party={view.asker} page={page} />
          {address !== null && (
            <>
              {' · '}
              <Ltr>{fill(t.from, { a: address })}</Ltr>
            </>
          )}
        </>
      ),
    },
    ...permit.decisions.map(({ decision, method, address, at }, index): Happening => ({
      title: decision === 'approve' ? t.saidApprove : t.saidRefuse,
      is: decision === 'approve' ? 'done' : 'failed',
      at,
      how: (
        <>
          <PartyName party={deciders[index] ?? null} page={page} />
          {method !== null && ` · ${t.methods[method]}`} · <Ltr>{fill(t.from, { a: address })}</Ltr>
        </>
      ),
    })),
  ]
  // An earlier release kept who decided, and no more.
  if (permit.decisions.length === 0 && permit.decided_at !== null)
    events.push({
      title: permit.state === 'refused' ? t.saidRefuse : t.saidApprove,
      is: permit.state === 'refused' ? 'failed' : 'done',
      at: permit.decided_at,
      how: permit.decided_by !== null && <Ltr class="mono">{permit.decided_by}</Ltr>,
    })
  if (permit.state === 'pending_approval') events.push({ title: t.waits, is: 'waiting', at: null })
  if (permit.attempt_id !== null)
    events.push({
      title: t.executed,
      is: 'done',
      at: null,
      how: <Link to={page.href(`/console/attempts/${permit.attempt_id}`)}>{t.showAttempt}</Link>,
    })
  if (permit.state === 'expired' || permit.state === 'revoked')
    events.push({
      title: t.ended[permit.state],
      is: 'unknown',
      at: permit.state === 'expired' ? permit.expires_at : null,
    })
  return events
}
