// Permits of the account, by the state that they are in.
import type { VNode } from 'preact'
import type { PermitRecord } from '../../../../schemas/actions.ts'
import { PermitState } from '../../../../schemas/actions.ts'
import { Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { PartyName, PermitStateChip } from '../components/permit.tsx'
import { Choice, Filters, Nothing } from '../components/records.tsx'
import { type Column, Table, Time } from '../components/table.tsx'
import { namesFor, type Party } from '../inbox/read.ts'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { cursor, oneOf } from '../records/query.ts'
import { inboxTexts } from '../texts/inbox.ts'

const STATES = PermitState.exclude(['revoked']).options

interface Row {
  readonly permit: PermitRecord
  readonly asker: Party | null
  readonly decider: Party | null
}

interface PermitsData {
  readonly rows: readonly Row[]
  readonly next: string | null
}

export const page = defineConsolePage<PermitsData>({
  isWide: true,
  async load({ call, query, console, signedIn }) {
    const before = cursor(query)
    const state = oneOf(query, 'state', STATES)
    const { permits, next } = (await call('gateway.actions.permits.list', {
      limit: 50,
      ...(before !== undefined && { before }),
      ...(state !== undefined && { state }),
    })) as { permits: PermitRecord[]; next: string | null }
    const nameOf = namesFor(console, signedIn.accountId)
    const rows = await Promise.all(
      permits.map(async (permit): Promise<Row> => {
        const last = permit.decisions.at(-1)
        const [asker, decider] = await Promise.all([
          permit.prepared_by && nameOf(permit.prepared_by),
          last ? nameOf(last) : null,
        ])
        // What would be sent is read where it is decided, and is not carried along here.
        return { permit: { ...permit, summary: null }, asker, decider }
      }),
    )
    return { rows, next }
  },
  title: (_data, { language }) => inboxTexts[language].permits,
  View: ({ data, page }) => <Permits data={data} page={page} />,
})

function Permits({ data, page }: { readonly data: PermitsData; readonly page: ConsoleContext }): VNode {
  const t = inboxTexts[page.language]
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{t.permits}</h1>
        <p class="muted">{t.permitsLead}</p>
      </header>
      <Filters page={page}>
        <Choice
          page={page}
          name="state"
          label={t.state}
          options={STATES.map((state) => [state, t.states[state]])}
        />
      </Filters>
      <Table
        page={page}
        label={t.permits}
        columns={columnsOf(page)}
        rows={data.rows}
        next={data.next}
        empty={
          <Nothing page={page}>
            <p>{t.permitsEmpty}</p>
            <p>
              <Link to={page.href('/console/mandates')}>{t.emptyAct}</Link>
            </p>
          </Nothing>
        }
      />
    </div>
  )
}

function columnsOf(page: ConsoleContext): readonly Column<Row>[] {
  const t = inboxTexts[page.language]
  return [
    {
      head: t.when,
      cell: ({ permit }) => (
        <Link to={page.href(`/console/inbox/${permit.permit_id}`)}>
          <Time at={permit.created_at} />
        </Link>
      ),
    },
    { head: t.state, cell: ({ permit }) => <PermitStateChip state={permit.state} page={page} /> },
    { head: t.request, cell: ({ permit }) => <Ltr class="mono">{`${permit.method} ${permit.host}`}</Ltr> },
    { head: t.by, cell: ({ asker }) => <PartyName party={asker} page={page} /> },
    {
      head: t.decidedBy,
      cell: ({ decider, permit }) =>
        decider ? (
          <>
            <PartyName party={decider} page={page} />
            <span class="sub">
              <Time at={permit.decided_at} />
            </span>
          </>
        ) : (
          <span class="muted">–</span>
        ),
    },
    {
      head: t.result,
      cell: ({ permit: { attempt_id: id } }) =>
        id === null ? (
          <span class="muted">–</span>
        ) : (
          <Link to={page.href(`/console/attempts/${id}`)}>
            <Ltr class="mono">{`${id.slice(0, 12)}…`}</Ltr>
          </Link>
        ),
    },
  ]
}
