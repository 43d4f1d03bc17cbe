// One connected assistant: what it may, what it used, its latest requests; changed and ended here.
import type { VNode } from 'preact'
import type { ConnectionRecord } from '../../../../schemas/connection.ts'
import type { AttemptRecord } from '../../../../schemas/egress.ts'
import { toAttemptRecord } from '../../../egress/wire.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { fill } from '../../site/components/market/format.ts'
import { AttemptStateChip } from '../components/attempt.tsx'
import { BudgetBars } from '../components/budgets.tsx'
import {
  ConnectionFields,
  choiceOf,
  type Offered,
  offeredIn,
  termsInput,
} from '../components/connection-form.tsx'
import {
  ClientProof,
  ConnectionState,
  May,
  mayAct,
  type Names,
  namesIn,
  requestsOf,
  Who,
} from '../components/connection.tsx'
import { Act, Form, Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { connectionTexts } from '../texts/connections.ts'

interface Data {
  readonly connection: ConnectionRecord
  /** Live ones of the same client. */
  readonly ofClient: number
  readonly offered: readonly Offered[]
  readonly attempts: readonly AttemptRecord[]
  readonly names: Names
  readonly now: number
}

const SHOWN_ATTEMPTS = 10

export const page = defineConsolePage<Data>({
  async load(request) {
    const { call, console: parts, signedIn } = request
    const { accountId } = signedIn
    const connection = (await call('gateway.connections.get', named(request))) as ConnectionRecord
    const [attempts, others, offered, names] = await Promise.all([
      parts.store.searchAttempts(
        { accountId, belowCapabilityId: connection.capability_id },
        { limit: SHOWN_ATTEMPTS },
      ),
      parts.identity.connections.list({ accountId, clientId: connection.client.id }, { limit: 100 }),
      connection.ended_at === null && mayAct(request) ? offeredIn(request) : [],
      namesIn(request),
    ])
    return {
      connection,
      ofClient: others.items.filter(({ revokedAt }) => revokedAt === null).length,
      offered,
      attempts: attempts.items.slice(0, SHOWN_ATTEMPTS).map(toAttemptRecord),
      names,
      now: parts.now(),
    }
  },
  actions: {
    async change(form, request) {
      await request.call('gateway.connections.change', { ...named(request), ...termsInput(choiceOf(form)) })
      return { goTo: `/console/connections/${named(request).connection_id}?done=changed` }
    },
    async end(_form, request) {
      await request.call('gateway.connections.revoke', named(request))
      return { goTo: `/console/connections/${named(request).connection_id}?done=ended` }
    },
    async end_client(_form, request) {
      const connection = (await request.call('gateway.connections.get', named(request))) as ConnectionRecord
      await request.call('gateway.connections.revoke', { client_id: connection.client.id })
      return { goTo: '/console/connections?done=ended' }
    },
  },
  title: ({ connection }) => connection.client.name,
  View: ({ data, page }) => <Connection data={data} page={page} />,
})

const named = ({ params }: SignedInRequest) => ({ connection_id: params['connection_id'] ?? '' })

function Connection({ data, page }: { readonly data: Data; readonly page: ConsoleContext }): VNode {
  const t = connectionTexts[page.language]
  const { connection, names, now, ofClient, offered } = data
  const isLive = connection.ended_at === null
  return (
    <div class="stack">
      <h1>
        <Foreign text={connection.client.name} max={100} />
      </h1>
      <p class="row">
        <ConnectionState page={page} connection={connection} now={now} />
        <ClientProof page={page} connection={connection} />
        <Ltr class="muted small mono">{connection.connection_id}</Ltr>
      </p>
      <Said word={doneWord(page)} words={t.done} />
      <Refusal page={page} />
      <dl class="console-facts">
        <dt>{t.who}</dt>
        <dd>
          <Who page={page} connection={connection} names={names} />
        </dd>
        <dt>{t.may}</dt>
        <dd>
          <May page={page} connection={connection} names={names} />
          {connection.credentials.map(({ hosts, path_prefixes, methods }) => (
            <p class="small muted">
              <Ltr>{`${hosts.join(', ')} · ${path_prefixes.join(', ')} · ${methods.join(' ')}`}</Ltr>
            </p>
          ))}
        </dd>
        <dt>{t.spent}</dt>
        <dd>
          {requestsOf({ page, connection })}
          <BudgetBars page={page} budgets={connection.budgets} />
        </dd>
        <dt>{t.returnsTo}</dt>
        <dd>
          <Ltr class="mono small">{connection.client.redirect_host}</Ltr>
        </dd>
        <dt>{t.clientId}</dt>
        <dd>
          <Foreign text={connection.client.id} max={120} class="mono small" />
        </dd>
        <dt>{t.since}</dt>
        <dd>
          <Time at={connection.created_at} />
        </dd>
        {connection.changed_at !== connection.created_at && (
          <>
            <dt>{t.changed}</dt>
            <dd>
              <Time at={connection.changed_at} />
            </dd>
          </>
        )}
        <dt>{t.lastUse}</dt>
        <dd>{connection.used_at === null ? t.never : <Time at={connection.used_at} />}</dd>
        <dt>{isLive ? t.ends : t.ended}</dt>
        <dd>
          <Time at={connection.ended_at ?? connection.expires_at} />
        </dd>
      </dl>
      <section class="stack">
        <h2>{t.calls}</h2>
        <Table
          page={page}
          label={t.calls}
          rows={data.attempts}
          next={null}
          empty={<p>{t.noCalls}</p>}
          columns={[
            {
              head: t.at,
              cell: ({ attempt_id, created_at }) => (
                <Link to={page.href(`/console/attempts/${attempt_id}`)}>
                  <Time at={created_at} />
                </Link>
              ),
            },
            {
              head: t.upstream,
              cell: ({ method, host }) => <Ltr class="mono small">{`${method} ${host}`}</Ltr>,
            },
            { head: t.outcome, cell: (attempt) => <AttemptStateChip attempt={attempt} page={page} /> },
          ]}
        />
        {data.attempts.length > 0 && (
          <p>
            <Link to={page.href(`/console/attempts?connection=${connection.connection_id}`)}>
              {t.allCalls}
            </Link>
          </p>
        )}
      </section>
      {isLive && mayAct(page) && (
        <>
          <details class="console-section" open={page.refused?.form.get('_action') === 'change'}>
            <summary>{t.change}</summary>
            <Form page={page} action="change" class="stack">
              <p class="muted small">{t.changeHint}</p>
              <ConnectionFields page={page} offered={offered} terms={connection} />
              <div class="console-actions">
                <button class="primary">{consoleTexts[page.language].save}</button>
              </div>
            </Form>
          </details>
          <section class="stack">
            <p class="muted small">{t.endHint}</p>
            <div class="console-actions">
              <Act page={page} action="end" label={t.end} isDangerous />
              {ofClient > 1 && (
                <Act page={page} action="end_client" label={fill(t.endAll, { n: ofClient })} isDangerous />
              )}
            </div>
          </section>
        </>
      )}
    </div>
  )
}
