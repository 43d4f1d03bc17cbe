// Every request that left the gateway, or was to: narrowed by the address, a page at a time.
import type { VNode } from 'preact'
import { HttpMethod } from '../../../../schemas/http.ts'
import type { AttemptRecord } from '../../../../schemas/egress.ts'
import { toAttemptRecord } from '../../../egress/wire.ts'
import type { AttemptSearch } from '../../../store/ports.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Island } from '../../site/components/island.tsx'
import { Link } from '../../site/components/link.tsx'
import { visibleCode } from '../../site/components/market/format.ts'
import { AttemptStateChip, tookOf } from '../components/attempt.tsx'
import { Newer } from '../components/newer.tsx'
import { Choice, Cut, Days, Exports, Filters, Nothing, Typed } from '../components/records.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { EXPORT_ROWS, sendFile } from '../records/export.ts'
import { fill, pages } from '../records/fill.ts'
import * as read from '../records/query.ts'
import { consoleTexts } from '../texts/common.ts'
import { recordTexts } from '../texts/records.ts'

export const ATTEMPT_STATES = ['reserved', 'sending', 'settled', 'ambiguous', 'refunded'] as const
export const ATTEMPT_KINDS = ['fetch', 'action', 'edge'] as const
export const ATTEMPT_COLUMNS = [
  'attempt_id',
  'kind',
  'state',
  'outcome',
  'method',
  'host',
  'upstream_status',
  'credits_charged',
  'created_at',
  'sending_at',
  'finished_at',
  'credential_id',
  'credential_version',
  'capability_id',
  'permit_id',
  'idempotency_key',
  'request_digest',
  'response_digest',
  'receipt_id',
] as const satisfies readonly (keyof AttemptRecord)[]

interface Credential {
  readonly credential_id: string
  readonly label: string
}

export interface AttemptsData {
  readonly attempts: readonly AttemptRecord[]
  readonly next: string | null
  /** Rows that were looked through where more may fit behind them; else null. */
  readonly looked: number | null
  /** Of the account, by their names; the first hundred. */
  readonly credentials: readonly Credential[]
  /** Assistants of the account, by the names that they gave themselves; the newest hundred. */
  readonly connections: readonly { readonly connection_id: string; readonly name: string }[]
}

export const page = defineConsolePage<AttemptsData>({
  isWide: true,
  async load(request) {
    const { query } = request
    const filter = await filterOf(request)
    const [found, credentials, connections] = await Promise.all([
      filter
        ? fill((page) => request.console.store.searchAttempts(filter, page), {
            before: read.cursor(query),
            now: request.console.now,
          })
        : { items: [], next: null, looked: null },
      credentialsOf(request),
      request.console.identity.connections.list({ accountId: request.signedIn.accountId }, { limit: 100 }),
    ])
    return {
      attempts: found.items.map(toAttemptRecord),
      next: found.next,
      looked: found.looked,
      credentials,
      connections: connections.items.map(({ id, clientName }) => ({ connection_id: id, name: clientName })),
    }
  },
  actions: {
    async export(form, request) {
      const filter = await filterOf(request)
      return sendFile({ form, request, name: 'attempts', columns: ATTEMPT_COLUMNS }, records(filter))
      async function* records(filter: AttemptSearch | undefined) {
        if (!filter) return
        const { store } = request.console
        for await (const page of pages((asked) => store.searchAttempts(filter, asked), EXPORT_ROWS))
          yield page.map(toAttemptRecord)
      }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.attempts,
  View: ({ data, page }) => <Attempts data={data} page={page} />,
})

/** Of the account of the session alone; undefined where it names a connection that the account does not have. */
async function filterOf(request: SignedInRequest): Promise<AttemptSearch | undefined> {
  const { query, signedIn, console } = request
  const { accountId } = signedIn
  const connectionId = read.text(query, 'connection')
  const connection =
    connectionId === undefined ? undefined : await console.identity.connections.get(accountId, connectionId)
  if (connectionId !== undefined && !connection) return undefined
  return {
    accountId,
    state: read.oneOf(query, 'state', ATTEMPT_STATES),
    kind: read.oneOf(query, 'kind', ATTEMPT_KINDS),
    method: read.oneOf(query, 'method', HttpMethod.options),
    host: read.text(query, 'host')?.toLowerCase(),
    credentialId: read.text(query, 'credential'),
    capabilityId: read.text(query, 'capability'),
    belowCapabilityId: connection?.capabilityId,
    ...read.days(query),
  }
}

/** Names of credentials, for the filter. */
export async function credentialsOf(request: SignedInRequest): Promise<readonly Credential[]> {
  const { items } = await request.console.store.listCredentials(request.signedIn.accountId, { limit: 100 })
  return items.map(({ id, label }) => ({ credential_id: id, label }))
}

function Attempts({ data, page }: { readonly data: AttemptsData; readonly page: ConsoleContext }): VNode {
  const t = recordTexts[page.language]
  const names = consoleTexts[page.language].pages
  return (
    <div class="stack">
      <header class="console-head">
        <div class="stack tight">
          <h1>{names.attempts}</h1>
          <p class="muted">{t.attempt.intro}</p>
        </div>
        <Exports page={page} />
      </header>
      <Filters page={page}>
        <Choice
          page={page}
          name="state"
          label={t.attempt.state}
          options={ATTEMPT_STATES.map((state) => [state, t.states[state]])}
        />
        <Choice
          page={page}
          name="kind"
          label={t.attempt.kind}
          options={ATTEMPT_KINDS.map((kind) => [kind, t.kinds[kind]])}
        />
        <Choice
          page={page}
          name="method"
          label={t.attempt.method}
          options={HttpMethod.options.map((method) => [method, method])}
        />
        <Typed page={page} name="host" label={t.attempt.host} />
        <Choice
          page={page}
          name="credential"
          label={t.attempt.credential}
          options={data.credentials.map(({ credential_id: id, label }) => [id, label])}
        />
        <Typed page={page} name="capability" label={t.attempt.capability} />
        {data.connections.length > 0 && (
          <Choice
            page={page}
            name="connection"
            label={t.attempt.connection}
            options={data.connections.map(({ connection_id: id, name }) => [
              id,
              visibleCode(name.slice(0, 60)),
            ])}
          />
        )}
        <Days page={page} />
      </Filters>
      <News page={page} />
      <Cut page={page} looked={data.looked} found={data.attempts.length} />
      <Table
        page={page}
        label={t.attempt.label}
        columns={columnsOf(data, page)}
        rows={data.attempts}
        next={data.next}
        empty={
          <Nothing page={page}>
            <p>{t.attempt.empty}</p>
            <p>
              <Link to={page.href('/console/credentials/new')}>{t.attempt.emptyAct}</Link>
            </p>
          </Nothing>
        }
      />
    </div>
  )
}

/** The newest page says when there is more; an older one stays what it is. */
function News({ page }: { readonly page: ConsoleContext }): VNode | null {
  const query = new URLSearchParams(page.path.split('?')[1])
  if (query.has('before') || query.get('until')) return null
  const host = read.text(query, 'host')?.toLowerCase()
  return (
    <Island
      name="console-newer"
      page={page}
      component={Newer}
      props={{
        address: page.href('/console/events'),
        to: page.href(page.path),
        label: recordTexts[page.language].attempt.newer,
        ...(host !== undefined && { host }),
      }}
    />
  )
}

function columnsOf(data: AttemptsData, page: ConsoleContext): readonly Column<AttemptRecord>[] {
  const t = recordTexts[page.language]
  const labels = new Map(data.credentials.map(({ credential_id: id, label }) => [id, label]))
  return [
    {
      head: t.attempt.when,
      cell: (attempt) => (
        <Link to={page.href(`/console/attempts/${attempt.attempt_id}`)}>
          <Time at={attempt.created_at} />
        </Link>
      ),
    },
    { head: t.attempt.state, cell: (attempt) => <AttemptStateChip attempt={attempt} page={page} /> },
    {
      head: t.attempt.request,
      cell: ({ method, host, kind }) => (
        <>
          <Ltr class="mono">{`${method} ${host}`}</Ltr>
          {kind !== 'fetch' && <span class="sub">{t.kinds[kind]}</span>}
        </>
      ),
    },
    {
      head: t.attempt.outcome,
      cell: ({ outcome, upstream_status: status }) => (
        <>
          {status !== null && <Ltr>{String(status)}</Ltr>}
          {outcome !== null && outcome !== 'delivered' && (
            <span class="sub">
              <Ltr class="mono">{outcome}</Ltr>
            </span>
          )}
        </>
      ),
    },
    {
      head: t.attempt.credential,
      cell: ({ credential_id: id }) =>
        id === null ? (
          <span class="muted">{t.attempt.deleted}</span>
        ) : (
          <Link to={page.href(`/console/credentials/${id}`)}>
            <Foreign text={labels.get(id) ?? id} max={60} />
          </Link>
        ),
    },
    { head: t.attempt.took, isNumber: true, cell: (attempt) => <Ltr>{tookOf(attempt)}</Ltr> },
    {
      head: t.attempt.credits,
      isNumber: true,
      cell: ({ credits_charged: credits }) => <Ltr>{String(credits)}</Ltr>,
    },
  ]
}
