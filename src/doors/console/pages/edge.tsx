// Calls that were passed on to merchants, and the hosts that the account asked to serve, each with what its DNS says now.
import type { VNode } from 'preact'
import type { AttemptRecord } from '../../../../schemas/egress.ts'
import type { EdgeCheck } from '../../../../schemas/edge.ts'
import { edgeCheck } from '../../../../tools/edge-check.ts'
import { toAttemptRecord } from '../../../egress/wire.ts'
import type { AttemptSearch } from '../../../store/ports.ts'
import { Code } from '../../site/components/code.tsx'
import { English } from '../../site/components/english.tsx'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'
import { AttemptStateChip, tookOf } from '../components/attempt.tsx'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { Choice, Cut, Days, Exports, Facts, Filters, Nothing, Typed } from '../components/records.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { EXPORT_ROWS, sendFile } from '../records/export.ts'
import { fill, pages } from '../records/fill.ts'
import * as read from '../records/query.ts'
import { consoleTexts } from '../texts/common.ts'
import { recordTexts } from '../texts/records.ts'
import { ATTEMPT_COLUMNS, ATTEMPT_STATES } from './attempts.tsx'

interface EdgeData {
  readonly calls: readonly AttemptRecord[]
  readonly next: string | null
  readonly looked: number | null
  readonly hosts: readonly { readonly host: string; readonly asked_at: string }[]
  /** Of the host that was just checked. */
  readonly check: EdgeCheck | null
}

const filterOf = ({ query, signedIn }: SignedInRequest): AttemptSearch => ({
  accountId: signedIn.accountId,
  kind: 'edge',
  state: read.oneOf(query, 'state', ATTEMPT_STATES),
  host: read.text(query, 'host')?.toLowerCase(),
  ...read.days(query),
})

async function load(request: SignedInRequest): Promise<EdgeData> {
  const { query, console, signedIn } = request
  const { store } = console
  const [found, hosts] = await Promise.all([
    fill((page) => store.searchAttempts(filterOf(request), page), {
      before: read.cursor(query),
      now: console.now,
    }),
    store.listEdgeHosts(signedIn.accountId),
  ])
  return {
    calls: found.items.map(toAttemptRecord),
    next: found.next,
    looked: found.looked,
    hosts: hosts.map(({ host, createdAt }) => ({ host, asked_at: new Date(createdAt).toISOString() })),
    check: null,
  }
}

export const page = defineConsolePage<EdgeData>({
  isWide: true,
  load,
  actions: {
    async check(form, request) {
      const check = edgeCheck.output.parse(
        await request.call(edgeCheck.name, { host: form.get('edge_host')?.trim().toLowerCase() ?? '' }),
      )
      return { show: { ...(await load(request)), check } }
    },
    export(form, request) {
      const filter = filterOf(request)
      const { store } = request.console
      return sendFile({ form, request, name: 'edge-calls', columns: ATTEMPT_COLUMNS }, records())
      async function* records() {
        for await (const page of pages((asked) => store.searchAttempts(filter, asked), EXPORT_ROWS))
          yield page.map(toAttemptRecord)
      }
    },
  },
  title: (_data, { language }) => consoleTexts[language].pages.edge,
  View: ({ data, page }) => <Edge data={data} page={page} />,
})

function Edge({ data, page }: { readonly data: EdgeData; readonly page: ConsoleContext }): VNode {
  const words = recordTexts[page.language]
  const t = words.edge
  return (
    <div class="stack">
      <header class="console-head">
        <div class="stack tight">
          <h1>{consoleTexts[page.language].pages.edge}</h1>
          <p class="muted">{t.intro}</p>
        </div>
        <Exports page={page} />
      </header>
      <Refusal page={page} />
      <Hosts data={data} page={page} />
      <Filters page={page}>
        <Choice
          page={page}
          name="state"
          label={words.attempt.state}
          options={ATTEMPT_STATES.map((state) => [state, words.states[state]])}
        />
        <Typed page={page} name="host" label={words.attempt.host} />
        <Days page={page} />
      </Filters>
      <Cut page={page} looked={data.looked} found={data.calls.length} />
      <Table
        page={page}
        label={t.label}
        rows={data.calls}
        next={data.next}
        columns={[
          {
            head: words.attempt.when,
            cell: (call) => (
              <Link to={page.href(`/console/attempts/${call.attempt_id}`)}>
                <Time at={call.created_at} />
              </Link>
            ),
          },
          { head: words.attempt.state, cell: (call) => <AttemptStateChip attempt={call} page={page} /> },
          {
            head: words.attempt.request,
            cell: ({ method, host }) => <Ltr class="mono">{`${method} ${host}`}</Ltr>,
          },
          {
            head: words.attempt.outcome,
            cell: ({ upstream_status: status, outcome }) => (
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
          { head: words.attempt.took, isNumber: true, cell: (call) => <Ltr>{tookOf(call)}</Ltr> },
          {
            head: words.attempt.credits,
            isNumber: true,
            cell: ({ credits_charged: credits }) => <Ltr>{String(credits)}</Ltr>,
          },
        ]}
        empty={
          <Nothing page={page}>
            <p>{t.empty}</p>
            <p>
              <Link to={page.href('/docs/edge')}>{t.emptyGuide}</Link>
            </p>
          </Nothing>
        }
      />
    </div>
  )
}

function Hosts({ data, page }: { readonly data: EdgeData; readonly page: ConsoleContext }): VNode {
  const t = recordTexts[page.language].edge
  const mayCheck = page.signedIn?.role === 'owner' || page.signedIn?.role === 'operator'
  return (
    <section class="panel stack" aria-labelledby="hosts">
      <h2 id="hosts">{t.hosts}</h2>
      {data.check && <Checked check={data.check} page={page} />}
      {data.hosts.length === 0 ? (
        <p class="muted">{t.noHosts}</p>
      ) : (
        <ul class="console-hosts">
          {data.hosts.map(({ host, asked_at: at }) => (
            <li>
              <Foreign text={host} max={253} class="mono" />
              <span class="muted small">
                {t.asked} <Time at={at} />
              </span>
              {mayCheck && <Act page={page} action="check" label={t.check} values={{ edge_host: host }} />}
            </li>
          ))}
        </ul>
      )}
      {mayCheck && (
        <Form page={page} action="check" class="stack">
          <Field page={page} name="edge_host" label={t.checkHost} help={t.checkHow} isRequired />
          <p>
            <button>{t.check}</button>
          </p>
        </Form>
      )}
    </section>
  )
}

function Checked({ check, page }: { readonly check: EdgeCheck; readonly page: ConsoleContext }): VNode {
  const t = recordTexts[page.language].edge
  return (
    <div class={`notice stack ${check.authorized ? '' : 'warns'}`} role="status">
      <p class="row">
        <Foreign text={check.host} max={253} class="mono" />
        <State
          is={check.authorized ? 'done' : 'waiting'}
          page={page}
          words={check.authorized ? t.served : t.notServed}
        />
      </p>
      <English text={check.detail} page={page} as="p" />
      {!check.authorized && (
        <>
          <h3>{t.record}</h3>
          <Facts facts={[[t.name, <Ltr class="mono">{check.name}</Ltr>]]} />
          <Code page={page} text={check.expected} label={t.value} />
        </>
      )}
      <details>
        <summary>{t.answers}</summary>
        <Facts
          facts={check.found.map(({ resolver, status, records }) => [
            resolver,
            <>
              <Ltr class="mono">{status}</Ltr>
              {records.map((record) => (
                <span class="block">
                  <Foreign text={record} max={500} class="mono" />
                </span>
              ))}
            </>,
          ])}
        />
      </details>
    </div>
  )
}
