// What agents hold in place of secrets: issued by hand, narrowed, or below a connection, which is where those are managed.
import type { VNode } from 'preact'
import type { CapabilityRecord } from '../../../../schemas/egress.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { BudgetBars } from '../components/budgets.tsx'
import { mayAct, type Names, namesIn, Standing } from '../components/connection.tsx'
import { Act, Refusal } from '../components/form.tsx'
import { Choice, Filters, Nothing } from '../components/records.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import * as read from '../records/query.ts'
import { connectionTexts } from '../texts/connections.ts'

interface Data {
  readonly capabilities: readonly CapabilityRecord[]
  readonly next: string | null
  readonly names: Names
  /** The connection at whose root a capability stands, by the id of the root. */
  readonly connections: Readonly<Record<string, string>>
  readonly now: number
}

export const page = defineConsolePage<Data>({
  isWide: true,
  async load(request) {
    const { query, console: parts, signedIn } = request
    const [credential, before] = [read.text(query, 'credential'), read.cursor(query)]
    const [listed, connected, names] = await Promise.all([
      request.call('gateway.egress.capabilities.list', {
        limit: 50,
        ...(credential !== undefined && { credential_id: credential }),
        ...(before !== undefined && { before }),
      }) as Promise<Pick<Data, 'capabilities' | 'next'>>,
      parts.identity.connections.list({ accountId: signedIn.accountId }, { limit: 100 }),
      namesIn(request),
    ])
    return {
      next: listed.next,
      // The root of a connection is for no credential: its page shows it.
      capabilities: listed.capabilities.filter(({ credential_id }) => credential_id !== null),
      names,
      connections: Object.fromEntries(connected.items.map(({ id, capabilityId }) => [capabilityId, id])),
      now: parts.now(),
    }
  },
  actions: {
    async revoke(form, { call }) {
      await call('gateway.egress.capabilities.revoke', { capability_id: form.get('id') ?? '' })
      return { goTo: '/console/capabilities?done=revoked' }
    },
  },
  title: (_data, { language }) => connectionTexts[language].capabilities,
  View({ data, page }) {
    const t = connectionTexts[page.language]
    return (
      <div class="stack">
        <header class="stack tight">
          <h1>{t.capabilities}</h1>
          <p class="muted">{t.capabilitiesLead}</p>
        </header>
        <Said word={doneWord(page)} words={t.done} />
        <Refusal page={page} />
        <Filters page={page}>
          <Choice
            page={page}
            name="credential"
            label={t.onlyOf}
            options={Object.entries(data.names.credentials)}
          />
        </Filters>
        <Table
          page={page}
          label={t.capabilities}
          columns={columnsOf(data, page)}
          rows={data.capabilities}
          next={data.next}
          empty={
            <Nothing page={page}>
              <p>{t.capabilitiesEmpty}</p>
              <p>
                <Link to={page.href('/console/tools/gateway.egress.capabilities.issue')}>{t.issue}</Link>
              </p>
            </Nothing>
          }
        />
      </div>
    )
  },
})

function columnsOf(
  { names, connections, now }: Data,
  page: ConsoleContext,
): readonly Column<CapabilityRecord>[] {
  const t = connectionTexts[page.language]
  const connectionOf = ({ capability_id, parent_id }: CapabilityRecord) =>
    connections[capability_id] ?? connections[parent_id ?? '']
  return [
    {
      head: t.label,
      cell: ({ label, capability_id }) => (
        <>
          <Foreign text={label} max={60} />
          <span class="sub" title={capability_id}>
            <Ltr class="mono small muted">{`cap_…${capability_id.slice(-8)}`}</Ltr>
          </span>
        </>
      ),
    },
    {
      head: t.holder,
      cell(capability): VNode {
        const connection = connectionOf(capability)
        if (connection !== undefined)
          return <Link to={page.href(`/console/connections/${connection}`)}>{t.ofConnection}</Link>
        return <>{capability.parent_id === null ? t.issued : t.narrowedFrom}</>
      },
    },
    {
      head: t.may,
      cell: ({ credential_id: id, hosts, path_prefixes, methods }) => (
        <span class="console-name">
          {id !== null && (
            <Link to={page.href(`/console/credentials/${id}`)}>
              <Foreign text={names.credentials[id] ?? id} max={40} />
            </Link>
          )}
          <span class="sub">
            <Ltr class="small muted">
              {hosts.length === 0
                ? '–'
                : `${hosts.join(', ')} · ${path_prefixes.join(', ')} · ${methods.join(' ')}`}
            </Ltr>
          </span>
        </span>
      ),
    },
    {
      head: t.uses,
      cell: ({ uses, max_uses, budgets }) => (
        <>
          <Ltr>{max_uses === null ? String(uses) : `${uses} / ${max_uses}`}</Ltr>
          <BudgetBars page={page} budgets={budgets} />
        </>
      ),
    },
    {
      head: t.state,
      cell: ({ revoked_at, expires_at }) => (
        <>
          <Standing page={page} endedAt={revoked_at} expiresAt={expires_at} now={now} />
          <span class="sub">
            {t.until} <Time at={revoked_at ?? expires_at} />
          </span>
        </>
      ),
    },
    {
      head: '',
      cell: (capability) =>
        capability.revoked_at === null &&
        mayAct(page) &&
        connectionOf(capability) === undefined && (
          <Act
            page={page}
            action="revoke"
            values={{ id: capability.capability_id }}
            label={t.revoke}
            isDangerous
          />
        ),
    },
  ]
}
