// Who sells: its own words, the proofs of its hosts and its account, what it sells, and how its payments spread.
import type { VNode } from 'preact'
import { OWN_SELLER_ID } from '../../../market/own-listing.ts'
import { BarChart } from '../components/chart.tsx'
import { Foreign, Ltr } from '../components/foreign.tsx'
import { Link } from '../components/link.tsx'
import { count, dateOf, fill, lastDays, percent, timeOf, usdc } from '../components/market/format.ts'
import { Filled } from '../components/market/filled.tsx'
import { Figure } from '../components/market/figure.tsx'
import { excludedCalls, listServices } from '../components/market/listed.ts'
import { askedNetwork, otherNetwork, usualNetwork } from '../components/market/network.ts'
import { ServiceList } from '../components/market/service-list.tsx'
import { Scrolling, State } from '../components/state.tsx'
import { Transaction } from '../components/transaction.tsx'
import { definePage, type PageContext, type PageRequest } from '../ports.ts'
import { marketTexts } from '../texts/market.ts'

const MAX_SERVICES = 50
const MAX_PAYOUTS = 5
const DAY_MS = 24 * 3600 * 1000

async function load({ site, params, query }: PageRequest) {
  const { marketplace, sellers, money } = site.services
  const sellerId = params['seller'] ?? ''
  const network = askedNetwork(query, site.config)
  const isOurs = sellerId === OWN_SELLER_ID
  // A seller who is none is told by the service that knows: the page is a 404 with its words.
  const profile = isOurs ? undefined : await sellers.profile(sellerId)
  const own = isOurs ? await marketplace.ofSeller(sellerId) : undefined
  const [found, concentration, days, payouts] = await Promise.all([
    marketplace.search({
      seller: sellerId,
      network,
      sort: 'relevance',
      include: 'unavailable',
      limit: MAX_SERVICES,
    }),
    marketplace.concentration({ sellerId, serviceId: null, network }),
    marketplace.sellerDays(sellerId, network),
    isOurs ? undefined : money.payouts({ seller: sellerId, limit: MAX_PAYOUTS }),
  ])
  const services = await listServices(found.services, marketplace, network)
  return {
    seller: sellerId,
    name: profile?.name ?? own?.name ?? sellerId,
    description: profile?.description ?? '',
    words_of_seller: !isOurs,
    state: profile?.state ?? 'active',
    payout_address: profile?.payout_address ?? null,
    proven_hosts: profile?.proven_hosts ?? [],
    created_at: profile?.created_at ?? null,
    network,
    is_usual_network: network === usualNetwork(site.config),
    services,
    services_total: found.pagination.total,
    concentration,
    excluded_calls: services.reduce((sum, { stats }) => sum + excludedCalls(stats), 0),
    days: days.map(({ day, volume, refunded, ...rest }) => ({
      date: new Date(day * DAY_MS).toISOString().slice(0, 10),
      ...rest,
      volume_atomic: String(volume),
      refunded_atomic: String(refunded),
    })),
    today: new Date(site.now()).toISOString().slice(0, 10),
    payouts: payouts?.payouts ?? [],
    links: {
      services: `${site.addresses.baseUrl}/v1/marketplace/services?seller=${sellerId}&network=${network}`,
      payouts: `${site.addresses.baseUrl}/v1/marketplace/payouts?seller=${sellerId}`,
      openapi: `${site.addresses.baseUrl}/p/${sellerId}/openapi.json`,
      llms: `${site.addresses.baseUrl}/p/${sellerId}/llms.txt`,
      figures_method: `${site.addresses.siteUrl}/marketplace/figures`,
    },
  }
}

type Data = Awaited<ReturnType<typeof load>>
interface PartProps {
  readonly data: Data
  readonly page: PageContext
}

export const page = definePage({
  isWide: true,
  load,
  title: ({ name, seller }, page) => `${cut(name)} (${seller}) · ${marketTexts[page.language].title}`,
  description: ({ description, name }, page) =>
    cut(description === '' ? `${name}: ${marketTexts[page.language].ownSeller}` : description),
  View({ data, page }) {
    const t = marketTexts[page.language]
    const other = otherNetwork(data.network)
    return (
      <>
        <header class="market-head">
          <div class="stack">
            <p class="eyebrow">
              <Link to={page.href('/marketplace')}>{t.title}</Link> · {t.sellerTitle} <Ltr>{data.seller}</Ltr>
            </p>
            <h1>
              <Foreign text={data.name} max={120} />
            </h1>
            <p class="lead">{data.words_of_seller ? <Foreign text={data.description} /> : t.ownSeller}</p>
            {data.state === 'suspended' && (
              <p>
                <State is="failed" page={page} words={t.suspended} />
              </p>
            )}
          </div>
        </header>
        <Profile data={data} page={page} />
        <h2>{t.total}</h2>
        <p class="small muted">
          {fill(t.figuresOf, { n: t.networks[data.network] })}{' '}
          <Link to={page.href(`/marketplace/${data.seller}?network=${other}`)}>
            {fill(t.see, { n: t.networks[other] })}
          </Link>{' '}
          · <Link to={page.href('/marketplace/figures')}>{t.method}</Link>
        </p>
        <Totals data={data} page={page} />
        <h2>{t.services}</h2>
        {data.services.length === 0 ? (
          <p class="muted">{t.noServices}</p>
        ) : (
          <ServiceList
            services={data.services}
            page={page}
            suffix={data.is_usual_network ? '' : `?network=${data.network}`}
            level={3}
          />
        )}
        {data.services_total > data.services.length && (
          <p>
            <Link to={page.href(`/marketplace?seller=${data.seller}&include=unavailable`)}>
              {t.moreServices} ({count(data.services_total)})
            </Link>
          </p>
        )}
        {data.words_of_seller && <Payouts data={data} page={page} />}
      </>
    )
  },
})

const cut = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

function Profile({ data, page }: PartProps): VNode {
  const t = marketTexts[page.language]
  return (
    <dl class="pairs">
      {data.payout_address !== null ? (
        <>
          <dt>{t.payout}</dt>
          <dd>
            <Ltr class="mono">{data.payout_address}</Ltr>
            <p class="small muted">{t.payoutWords}</p>
          </dd>
          <dt>{t.hosts}</dt>
          <dd>
            {data.proven_hosts.length === 0 && <State is="waiting" page={page} words={t.noHosts} />}
            <ul class="plain wraps">
              {data.proven_hosts.map(({ host, method, proven_at }) => (
                <li>
                  <State is="done" page={page} words={host} />{' '}
                  <span class="small muted">
                    <Filled
                      text={t.hostProven.replace(
                        '{m}',
                        method === 'dns' ? t.methods.dns : t.methods.well_known,
                      )}
                      values={{ d: dateOf(proven_at) }}
                    />
                  </span>
                </li>
              ))}
            </ul>
          </dd>
        </>
      ) : (
        <>
          <dt>{t.payout}</dt>
          <dd>{t.ownPayout}</dd>
        </>
      )}
      {data.created_at !== null && (
        <>
          <dt>{fill(t.since, { d: '' }).trim()}</dt>
          <dd>
            <Ltr>{dateOf(data.created_at)}</Ltr>
          </dd>
        </>
      )}
      <dt>{t.asJson}</dt>
      <dd>
        <Link to={data.links.services}>{t.services}</Link> · <Link to={data.links.openapi}>OpenAPI</Link> ·{' '}
        <Link to={data.links.llms}>llms.txt</Link>
      </dd>
    </dl>
  )
}

function Totals({ data, page }: PartProps): VNode {
  const t = marketTexts[page.language]
  const { concentration } = data
  const byDate = new Map(data.days.map((day) => [day.date, day]))
  const dates = lastDays(Date.parse(data.today))
  const settled = dates.map((date) => byDate.get(date)?.settled ?? 0)
  const failed = dates.map((date) => byDate.get(date)?.failed ?? 0)
  const volume = dates.map((date) => Number(byDate.get(date)?.volume_atomic ?? 0))
  const [paidSum, failedSum, volumeSum, refunds] = [
    sum(settled),
    sum(failed),
    sum(volume),
    sum(data.days.map((day) => day.refunds)),
  ]
  const isQuiet = paidSum + failedSum === 0
  return (
    <div class="stack">
      <div class="figures">
        <Figure
          page={page}
          name={t.figures.payers}
          value={count(concentration.payers)}
          method="unique_payers"
        />
        <Figure
          page={page}
          name={t.repeat}
          value={count(concentration.repeat_payers)}
          method="repeat_payers"
        />
        <Figure
          page={page}
          name={t.figures.largest}
          value={percent(concentration.largest_payer_share)}
          method="concentration.largest_payer_share"
          note={t.largestNote}
        />
        <Figure
          page={page}
          name={t.volume}
          value={`${usdc(concentration.volume_atomic)} USDC`}
          method="volume_atomic"
          note={t.volumeNote}
        />
        <Figure
          page={page}
          name={t.successful}
          value={percent(isQuiet ? null : paidSum / (paidSum + failedSum))}
          method="last_30_days.success_rate"
        />
        <Figure page={page} name={t.refunds} value={count(refunds)} method="last_30_days.refunds" />
      </div>
      {data.excluded_calls > 0 && (
        <p class="notice warns">{fill(t.excluded, { n: count(data.excluded_calls) })}</p>
      )}
      {isQuiet ? (
        <p class="muted">{t.noCharts}</p>
      ) : (
        <div class="charts">
          <BarChart
            page={page}
            title={t.callsByDay}
            label={fill(t.callsByDayLabel, {
              n: count(paidSum),
              f: count(failedSum),
              m: count(Math.max(0, ...settled.map((one, at) => one + (failed[at] ?? 0)))),
            })}
            times={dates}
            series={[
              { name: t.paid, values: settled },
              { name: t.failed, values: failed },
            ]}
            source={data.links.services}
          />
          <BarChart
            page={page}
            title={t.volumeByDay}
            label={fill(t.volumeByDayLabel, { n: usdc(volumeSum) })}
            times={dates}
            series={[{ name: 'USDC', values: volume }]}
            format={(value) => usdc(Math.round(value))}
            source={data.links.services}
          />
        </div>
      )}
      {!isQuiet && <p class="small muted">{t.allCount}</p>}
    </div>
  )
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

function Payouts({ data, page }: PartProps): VNode {
  const t = marketTexts[page.language]
  return (
    <>
      <h2>{t.payouts}</h2>
      {data.payouts.length === 0 ? (
        <p class="muted">{t.noPayouts}</p>
      ) : (
        <Scrolling label={t.payoutsCaption}>
          <table>
            <caption>{t.payoutsCaption}</caption>
            <thead>
              <tr>
                <th scope="col">{t.when}</th>
                <th scope="col" class="number">
                  {t.amount}
                </th>
                <th scope="col">{t.transaction}</th>
              </tr>
            </thead>
            <tbody>
              {data.payouts.map((payout) => (
                <tr>
                  <td class="nowrap">
                    <Ltr>{payout.paid_at === null ? '–' : timeOf(payout.paid_at)}</Ltr>
                  </td>
                  <td class="number">
                    <Ltr>{`${usdc(payout.amount_atomic)} USDC`}</Ltr>
                  </td>
                  <td class="nowrap">
                    {payout.transaction === null ? (
                      '–'
                    ) : (
                      <Transaction
                        hash={payout.transaction}
                        network={payout.network}
                        environment={page.isSandbox ? 'sandbox' : 'production'}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
      )}
      <p class="small">
        <Link to={data.links.payouts}>{t.asJson}</Link>
      </p>
    </>
  )
}
