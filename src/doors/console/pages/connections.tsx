// The assistants that people of the account allowed to connect: who, which client, what they may, what they used; and their end.
import type { VNode } from 'preact'
import type { ConnectionRecord } from '../../../../schemas/connection.ts'
import { Code } from '../../site/components/code.tsx'
import { Foreign } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { BudgetBars } from '../components/budgets.tsx'
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
import { Act, Refusal } from '../components/form.tsx'
import { Choice, Filters, Nothing } from '../components/records.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import * as read from '../records/query.ts'
import { connectionTexts } from '../texts/connections.ts'

interface Data {
  readonly connections: readonly ConnectionRecord[]
  readonly next: string | null
  readonly names: Names
  readonly now: number
}

export const page = defineConsolePage<Data>({
  isWide: true,
  async load(request) {
    const { query } = request
    const [person, before] = [read.text(query, 'person'), read.cursor(query)]
    const { connections, next } = (await request.call('gateway.connections.list', {
      limit: 50,
      ...(person !== undefined && { person_id: person }),
      ...(before !== undefined && { before }),
    })) as Pick<Data, 'connections' | 'next'>
    return { connections, next, names: await namesIn(request), now: request.console.now() }
  },
  actions: {
    async end(form, { call }) {
      await call('gateway.connections.revoke', { connection_id: form.get('connection') ?? '' })
      return { goTo: '/console/connections?done=ended' }
    },
  },
  title: (_data, { language }) => connectionTexts[language].connections,
  View: ({ data, page }) => <Connections data={data} page={page} />,
})

function Connections({ data, page }: { readonly data: Data; readonly page: ConsoleContext }): VNode {
  const t = connectionTexts[page.language]
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{t.connections}</h1>
        <p class="muted">{t.lead}</p>
      </header>
      <Said word={doneWord(page)} words={t.done} />
      <Refusal page={page} />
      {Object.keys(data.names.people).length > 1 && (
        <Filters page={page}>
          <Choice page={page} name="person" label={t.who} options={Object.entries(data.names.people)} />
        </Filters>
      )}
      <Table
        page={page}
        label={t.connections}
        columns={columnsOf(data, page)}
        rows={data.connections}
        next={data.next}
        empty={
          <Nothing page={page}>
            <div class="stack">
              <p>{t.empty}</p>
              <Code text={`${page.mcpUrl}/connect`} page={page} />
              <p>
                <Link to={page.href('/#connect')}>{t.emptyHow}</Link>
              </p>
            </div>
          </Nothing>
        }
      />
    </div>
  )
}

function columnsOf({ names, now }: Data, page: ConsoleContext): readonly Column<ConnectionRecord>[] {
  const t = connectionTexts[page.language]
  return [
    {
      head: t.client,
      cell: (connection) => (
        <span class="console-name">
          <Link to={page.href(`/console/connections/${connection.connection_id}`)}>
            <Foreign text={connection.client.name} max={60} />
          </Link>
          <span class="sub">
            <ClientProof page={page} connection={connection} />
          </span>
        </span>
      ),
    },

    { head: t.may, cell: (connection) => <May page={page} connection={connection} names={names} /> },
    {
      head: t.spent,
      cell: (connection) => (
        <>
          <span class="small">{requestsOf({ page, connection })}</span>
          <BudgetBars page={page} budgets={connection.budgets} />
        </>
      ),
    },
    { head: t.who, cell: (connection) => <Who page={page} connection={connection} names={names} /> },
    {
      head: t.lastUse,
      cell: ({ used_at }) =>
        used_at === null ? <span class="muted">{t.never}</span> : <Time at={used_at} />,
    },
    {
      head: t.state,
      cell: (connection) => (
        <>
          <ConnectionState page={page} connection={connection} now={now} />
          <span class="sub">
            {t.until} <Time at={connection.ended_at ?? connection.expires_at} />
          </span>
        </>
      ),
    },
    {
      head: '',
      cell: ({ connection_id, ended_at }) =>
        ended_at === null &&
        mayAct(page) && (
          <Act page={page} action="end" values={{ connection: connection_id }} label={t.end} isDangerous />
        ),
    },
  ]
}
