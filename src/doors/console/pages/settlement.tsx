// Who settles payments: facilitators with their state, the accounts of this process with their gas, and the chains.
import type { VNode } from 'preact'
import { z } from 'zod'
import { facilitatorIdentity } from '../../../../tools/facilitator-identity.ts'
import { health } from '../../../../tools/health.ts'
import { English } from '../../site/components/english.tsx'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { count, duration, fill } from '../../site/components/market/format.ts'
import { State, type StateName } from '../../site/components/state.tsx'
import { nameNetwork } from '../../site/story.ts'
import { span } from '../components/records.tsx'
import { Table } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { moneyTexts } from '../texts/money.ts'

type Identity = z.output<typeof facilitatorIdentity.output>
type Upstream = Identity['upstreams'][number]
type Settler = NonNullable<Upstream['settlers']>[number]

const Chains = z.object({
  chains: z
    .array(
      z.object({
        network: z.string(),
        state: z.enum(['ok', 'failing', 'unknown']),
        detail: z.string(),
        age_ms: z.number().nullable(),
        latest_block: z.string().optional(),
        takes_payments: z.boolean().optional(),
      }),
    )
    .default([]),
  payments: z.object({ pending: z.int(), unknown: z.int() }).nullable().default(null),
})

interface SettlementData extends z.output<typeof Chains> {
  readonly upstreams: readonly Upstream[]
}

export const page = defineConsolePage<SettlementData>({
  isWide: true,
  async load({ call }) {
    const [identity, report] = await Promise.all([call(facilitatorIdentity.name, {}), call(health.name, {})])
    return { upstreams: facilitatorIdentity.output.parse(identity).upstreams, ...Chains.parse(report) }
  },
  title: (_data, { language }) => consoleTexts[language].pages.settlement,
  View: ({ data, page }) => <Settlement data={data} page={page} />,
})

const PART_LOOKS = { ok: 'done', failing: 'failed', unknown: 'unknown' } satisfies Record<string, StateName>
const GAS_LOOKS = {
  ok: 'done',
  low_on_gas: 'waiting',
  out_of_gas: 'failed',
  stuck: 'failed',
  unknown: 'unknown',
} satisfies Record<Settler['state'], StateName>

function Settlement({ data, page }: { readonly data: SettlementData; readonly page: ConsoleContext }): VNode {
  const t = moneyTexts[page.language].settlement
  const settlers = data.upstreams.flatMap((upstream) => upstream.settlers ?? [])
  const seen = (age: number | null) => (age === null ? '–' : fill(t.ago, { t: span(age) }))
  return (
    <div class="stack">
      <header class="stack tight">
        <h1>{consoleTexts[page.language].pages.settlement}</h1>
        <p class="muted">{t.intro}</p>
      </header>
      {data.payments && data.payments.pending + data.payments.unknown > 0 && (
        <p class="notice warns">
          {t.openPayments}:{' '}
          <Link to={page.href('/console/payments?state=pending')}>
            {fill(t.pending, { n: data.payments.pending })}
          </Link>
          {', '}
          <Link to={page.href('/console/payments?state=unknown')}>
            {fill(t.unknown, { n: data.payments.unknown })}
          </Link>
        </p>
      )}
      <section class="stack" aria-labelledby="settlers">
        <h2 id="settlers">{t.settlers}</h2>
        <Table
          page={page}
          label={t.settlers}
          rows={settlers}
          empty={<p>{t.noSettlers}</p>}
          columns={[
            { head: t.network, cell: ({ network }) => <Foreign text={nameNetwork(network)} max={60} /> },
            { head: t.address, cell: ({ address }) => <Ltr class="mono small">{address}</Ltr> },
            {
              head: t.state,
              cell: ({ state }) => (
                <>
                  <State is={GAS_LOOKS[state]} page={page} words={t.gasStates[state]} />
                  {(state === 'low_on_gas' || state === 'out_of_gas') && <span class="sub">{t.lowHow}</span>}
                </>
              ),
            },
            { head: t.gas, isNumber: true, cell: ({ gas_wei: wei }) => <Ltr>{ether(wei)}</Ltr> },
            {
              head: t.left,
              isNumber: true,
              cell: ({ settlements_left: left }) => <Ltr>{left === null ? '–' : count(left)}</Ltr>,
            },
            {
              head: t.waiting,
              isNumber: true,
              cell: ({ waiting, oldest_ms: oldest }) => (
                <>
                  <Ltr>{String(waiting)}</Ltr>
                  {oldest !== null && (
                    <span class="sub">
                      {t.oldest} <Ltr>{span(oldest)}</Ltr>
                    </span>
                  )}
                </>
              ),
            },
          ]}
        />
      </section>
      <section class="stack" aria-labelledby="facilitators">
        <h2 id="facilitators">{t.facilitators}</h2>
        <Table
          page={page}
          label={t.facilitators}
          rows={data.upstreams}
          empty={<p>{t.noFacilitators}</p>}
          columns={[
            {
              head: t.facilitator,
              cell: ({ id, url }) => (url === null ? t.here : <Foreign text={`${id} ${url}`} max={120} />),
            },
            {
              head: t.state,
              cell: ({ state, detail }) => (
                <>
                  <State is={PART_LOOKS[state]} page={page} words={t.states[state]} />
                  <English text={detail} page={page} as="span" class="sub" />
                </>
              ),
            },
            { head: t.breaker, cell: ({ breaker }) => t.breakers[breaker] },
            {
              head: t.networks,
              cell: ({ kinds }) => (
                <Foreign
                  text={[...new Set(kinds.map(({ network }) => network).filter(isCaip2))]
                    .map(nameNetwork)
                    .join(', ')}
                  max={300}
                  class="small"
                />
              ),
            },
            {
              head: t.latency,
              isNumber: true,
              cell: ({ latency_ms: ms }) => <Ltr>{duration(ms === null ? null : Math.round(ms))}</Ltr>,
            },
            { head: t.seen, cell: ({ age_ms: age }) => seen(age) },
          ]}
        />
      </section>
      <section class="stack" aria-labelledby="chains">
        <h2 id="chains">{t.chains}</h2>
        <Table
          page={page}
          label={t.chains}
          rows={data.chains}
          empty="–"
          columns={[
            { head: t.chain, cell: ({ network }) => <Foreign text={nameNetwork(network)} max={60} /> },
            {
              head: t.state,
              cell: ({ state, detail }) => (
                <>
                  <State is={PART_LOOKS[state]} page={page} words={t.states[state]} />
                  <English text={detail} page={page} as="span" class="sub" />
                </>
              ),
            },
            {
              head: t.token,
              cell: ({ takes_payments: takes }) =>
                takes === undefined ? '–' : takes ? t.taken : <strong>{t.notTaken}</strong>,
            },
            { head: t.block, isNumber: true, cell: ({ latest_block: block }) => <Ltr>{block ?? '–'}</Ltr> },
            { head: t.seen, cell: ({ age_ms: age }) => seen(age) },
          ]}
        />
      </section>
      <p>
        <Link to={page.href('/console/payouts')}>{consoleTexts[page.language].pages.payouts}</Link>
      </p>
    </div>
  )
}

/** Names of v1 say the same networks again. */
const isCaip2 = (network: string) => network.includes(':')

/** Wei as ether, with six decimals; a dash for what nobody looked at. */
function ether(wei: string | null): string {
  if (wei === null) return '–'
  const micro = BigInt(wei) / 10n ** 12n
  const text = micro.toString().padStart(7, '0')
  return `${text.slice(0, -6)}.${text.slice(-6)}`
}
