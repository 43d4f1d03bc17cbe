// What a seller has on the market: its hosts and their proofs, its services and their steps, what it was told.
import type { z } from 'zod'
import type { OwnHost, OwnListing, OwnSeller } from '../../../../schemas/market-seller.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'
import { Act, Refusal } from '../components/form.tsx'
import { Said } from '../components/said.tsx'
import { Table, Time } from '../components/table.tsx'
import { defineConsolePage } from '../ports.ts'
import { sellingTexts } from '../texts/selling.ts'

type Host = z.infer<typeof OwnHost>

interface Event {
  readonly event_id: string
  readonly type: string
  readonly state: 'pending' | 'sent' | 'dropped'
  readonly problem: string | null
  readonly created_at: string
}

interface Selling {
  /** Null where the account sells nothing yet. */
  readonly seller: z.infer<typeof OwnSeller> | null
  readonly hosts: readonly Host[]
  readonly services: readonly OwnListing[]
  readonly events: readonly Event[]
  readonly next: string | null
  readonly said: string | undefined
  readonly may_change: boolean
}

const HERE = '/console/selling'

export const page = defineConsolePage<Selling>({
  isWide: true,
  async load({ try: ask, call, query, signedIn }) {
    const state = await ask('gateway.seller', {})
    const said = query.get('done') ?? undefined
    const may_change = ['owner', 'operator', 'seller'].includes(signedIn.role)
    if (!state.ok) {
      if (state.error.code !== 'seller_not_found') throw state.error
      return { seller: null, hosts: [], services: [], events: [], next: null, said, may_change }
    }
    const before = query.get('before')
    const told = (await call('gateway.seller.events', { limit: 20, ...(before && { before }) })) as Pick<
      Selling,
      'events' | 'next'
    >
    const own = state.output as Pick<Selling, 'seller' | 'hosts' | 'services'>
    return { ...own, ...told, said, may_change }
  },
  actions: {
    async verify(form, { call }) {
      await call('gateway.seller.verify', { origin: form.get('origin') ?? '' })
      return { goTo: `${HERE}?done=verified` }
    },
    async step(form, { call }) {
      const step = form.get('step') ?? ''
      await call('gateway.seller.step', { service_id: form.get('service_id') ?? '', step })
      return { goTo: `${HERE}?done=${encodeURIComponent(step)}` }
    },
  },
  title: (_data, { language }) => sellingTexts[language].title,
  View({ data, page }) {
    const t = sellingTexts[page.language]
    const { seller, hosts, services, events, next, said, may_change } = data
    if (!seller)
      return (
        <>
          <h1>{t.title}</h1>
          <div class="console-empty stack">
            <p>{t.nothing}</p>
            <p>
              <Link to={page.href('/marketplace/sell')} class="button">
                {t.begin}
              </Link>
            </p>
          </div>
        </>
      )
    return (
      <>
        <h1>
          <Foreign text={seller.name} max={80} />
        </h1>
        <Said word={said} words={t.said} />
        <Refusal page={page} />
        <p class="row">
          <State
            is={seller.state === 'active' ? 'done' : 'failed'}
            page={page}
            words={t.sellerStates[seller.state]}
          />
          {seller.state_reason !== null && <Foreign text={seller.state_reason} max={300} />}
          <Ltr class="mono small">{seller.payout_address}</Ltr>
          <Link to={page.href(`/marketplace/${seller.seller}`)}>{t.publicPage}</Link>
          <Link to={page.href('/console/tools/gateway.seller.statement')}>{t.statement}</Link>
          {may_change && <Link to={page.href('/console/tools/gateway.seller.edit')}>{t.edit}</Link>}
        </p>
        <h2>{t.services}</h2>
        <Table
          page={page}
          label={t.services}
          rows={services}
          next={null}
          empty={<Link to={page.href('/console/tools/gateway.seller.create')}>{t.firstService}</Link>}
          columns={[
            {
              head: t.service,
              cell: ({ name, service_id }) => (
                <>
                  <Link to={page.href(`/marketplace/${seller.seller}/${service_id}`)}>
                    <Foreign text={name} max={80} />
                  </Link>
                  <br />
                  <Ltr class="mono small">{service_id}</Ltr>
                </>
              ),
            },
            {
              head: t.state,
              cell: ({ state, state_reason }) => (
                <>
                  <State is={STATES[state]} page={page} words={t.states[state]} />{' '}
                  {state_reason !== null && <Foreign text={state_reason} max={200} />}
                </>
              ),
            },
            { head: t.routes, cell: ({ routes }) => routes.length, isNumber: true },
            { head: t.checked, cell: ({ checked_at }) => <Time at={checked_at} /> },
            {
              head: t.steps,
              cell: ({ service_id, state }) =>
                may_change ? (
                  <span class="console-actions">
                    {STEPS[state].map((step) => (
                      <Act
                        page={page}
                        action="step"
                        values={{ service_id, step }}
                        label={t.stepWords[step]}
                        isDangerous={step === 'retire'}
                      />
                    ))}
                    <Link to={page.href(`/console/tools/gateway.seller.check?service_id=${service_id}`)}>
                      {t.check}
                    </Link>
                    <Link to={page.href(`/console/tools/gateway.seller.update?service_id=${service_id}`)}>
                      {t.change}
                    </Link>
                  </span>
                ) : null,
            },
          ]}
        />
        <h2>{t.hosts}</h2>
        <Table
          page={page}
          label={t.hosts}
          rows={hosts}
          next={null}
          empty={<Link to={page.href('/console/tools/gateway.seller.host')}>{t.firstHost}</Link>}
          columns={[
            { head: t.host, cell: ({ origin }) => <Ltr>{origin}</Ltr> },
            {
              head: t.state,
              cell: ({ state, problem }) => (
                <>
                  <State is={HOST_STATES[state]} page={page} words={t.hostStates[state]} />{' '}
                  {problem !== null && <Foreign text={problem} max={300} />}
                </>
              ),
            },
            {
              head: t.proof,
              cell: ({ dns }) => <Ltr class="mono small">{`${dns.name} TXT "${dns.value}"`}</Ltr>,
            },
            { head: t.checked, cell: ({ checked_at }) => <Time at={checked_at} /> },
            {
              head: t.steps,
              cell: ({ origin }) =>
                may_change ? <Act page={page} action="verify" values={{ origin }} label={t.look} /> : null,
            },
          ]}
        />
        <h2>{t.events}</h2>
        <Table
          page={page}
          label={t.events}
          rows={events}
          next={next}
          empty={t.noEvents}
          columns={[
            { head: t.when, cell: ({ created_at }) => <Time at={created_at} /> },
            { head: t.event, cell: ({ type }) => <Ltr class="mono small">{type}</Ltr> },
            {
              head: t.webhook,
              cell: ({ state, problem }) => (
                <>
                  {t.sent[state]} {problem !== null && <Foreign text={problem} max={200} />}
                </>
              ),
            },
          ]}
        />
      </>
    )
  },
})

const STATES = {
  draft: 'unknown',
  pending: 'waiting',
  active: 'done',
  paused: 'waiting',
  suspended: 'failed',
  retired: 'unknown',
} as const
const HOST_STATES = { claimed: 'waiting', proven: 'done', lapsed: 'failed' } as const

type Step = 'submit' | 'pause' | 'resume' | 'retire'
/** The steps that lead on from a state. */
const STEPS: Readonly<Record<keyof typeof STATES, readonly Step[]>> = {
  draft: ['submit', 'retire'],
  pending: ['retire'],
  active: ['pause', 'retire'],
  paused: ['resume', 'retire'],
  suspended: ['retire'],
  retired: [],
}
