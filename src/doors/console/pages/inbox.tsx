// What waits for a person: each with exactly what will be sent, who asks, and what its mandate spent.
import type { VNode } from 'preact'
import type { PermitRecord } from '../../../../schemas/actions.ts'
import { Link } from '../../site/components/link.tsx'

import { Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Decide, ExactRequest, PermitFacts } from '../components/permit.tsx'
import { withQuery } from '../components/table.tsx'
import { decideFrom } from '../inbox/decide.ts'
import { type PermitView, viewsOf } from '../inbox/read.ts'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { cursor } from '../records/query.ts'
import { consoleTexts } from '../texts/common.ts'
import { inboxTexts } from '../texts/inbox.ts'

interface InboxData {
  readonly waiting: readonly PermitView[]
  readonly next: string | null
}

export const page = defineConsolePage<InboxData>({
  isWide: true,
  async load(request) {
    const before = cursor(request.query)
    const { permits, next } = (await request.call('gateway.actions.permits.list', {
      state: 'pending_approval',
      limit: 20,
      ...(before !== undefined && { before }),
    })) as { permits: PermitRecord[]; next: string | null }
    return { waiting: await viewsOf(permits, request), next }
  },
  actions: decideFrom(() => '/console/inbox'),
  title: (_data, { language }) => inboxTexts[language].inbox,
  View: ({ data, page }) => <Inbox data={data} page={page} />,
})

function Inbox({ data, page }: { readonly data: InboxData; readonly page: ConsoleContext }): VNode {
  const t = inboxTexts[page.language]
  page.needScript('console-inbox.js')
  return (
    <div class="stack" data-inbox={page.href('/console/events')} data-notice={t.arrived}>
      <header class="console-head">
        <div class="stack tight">
          <h1>{t.inbox}</h1>
          <p class="muted">{t.lead}</p>
        </div>
        <label class="console-box needs-script" title={t.notifyHow}>
          <input type="checkbox" data-notify autoComplete="off" /> {t.notify}
        </label>
      </header>
      <p class="notice" role="status" data-arrived hidden>
        {t.arrived} <Link to={page.href('/console/inbox')}>{t.show}</Link>
      </p>
      <p class="notice warns small" data-notify-off hidden>
        {t.notifyOff}
      </p>
      <Said word={doneWord(page)} words={t.done} />
      <Refusal page={page} />
      {data.waiting.length === 0 ? (
        <div class="console-empty stack">
          <p>
            <strong>{t.empty}</strong>
          </p>
          <p>{t.emptyHow}</p>
          <p>
            <Link to={page.href('/console/mandates')}>{t.emptyAct}</Link>
          </p>
        </div>
      ) : (
        <>
          <p class="muted small needs-script inbox-keys">
            <label class="console-box">
              <input type="checkbox" data-keys checked autoComplete="off" /> {t.keysOn}
            </label>
            <span>{t.keysHow}</span>
          </p>
          <ol class="inbox-list">
            {data.waiting.map((view) => (
              <Waiting view={view} page={page} />
            ))}
          </ol>
          {data.next !== null && (
            <nav class="row" aria-label={t.inbox}>
              <Link to={page.href(withQuery(page.path, 'before', data.next))}>
                {consoleTexts[page.language].older}
              </Link>
            </nav>
          )}
        </>
      )}
    </div>
  )
}

function Waiting({ view, page }: { readonly view: PermitView; readonly page: ConsoleContext }): VNode {
  const t = inboxTexts[page.language]
  const { permit } = view
  const id = `request-${permit.permit_id}`
  return (
    <li>
      <article class="panel inbox-item" aria-labelledby={id} tabIndex={-1} data-item>
        <div class="inbox-request">
          <h2 class="visually-hidden" id={id}>
            {`${permit.method} ${permit.host}`}
          </h2>
          {permit.summary && <ExactRequest summary={permit.summary} page={page} />}
        </div>
        <div class="stack tight">
          <PermitFacts view={view} page={page} />
          <Decide view={view} page={page} />
          <p class="small">
            <Link to={page.href(`/console/inbox/${permit.permit_id}`)} class="inbox-open">
              {t.open}
            </Link>
          </p>
        </div>
      </article>
    </li>
  )
}
