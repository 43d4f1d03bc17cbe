// One service: what it takes and gives, what it costs and how it is bought, and everything that is known of it, with its sources.
import type { VNode } from 'preact'
import { Code } from '../components/code.tsx'
import { Foreign, Ltr } from '../components/foreign.tsx'
import { Link } from '../components/link.tsx'
import { waysToBuy } from '../components/market/buying.ts'
import { PaidCalls, Ratings, Sources } from '../components/market/evidence.tsx'
import { Filled } from '../components/market/filled.tsx'
import { Figure } from '../components/market/figure.tsx'
import { count, dateOf, duration, fill, percent, usdc } from '../components/market/format.ts'
import { excludedCalls } from '../components/market/listed.ts'
import { askedNetwork, otherNetwork } from '../components/market/network.ts'
import { Routes } from '../components/market/routes.tsx'
import { PriceHistory, ServiceCharts } from '../components/market/service-charts.tsx'
import { State } from '../components/state.tsx'
import { Tabs } from '../components/tabs.tsx'
import { definePage, type PageContext, type PageRequest } from '../ports.ts'
import { marketTexts } from '../texts/market.ts'

async function load({ site, params, query }: PageRequest) {
  const detail = await site.services.marketplace.get({
    sellerId: params['seller'] ?? '',
    serviceId: params['service_id'] ?? '',
    network: askedNetwork(query, site.config),
    callsBefore: undefined,
  })
  return { ...detail, today: new Date(site.now()).toISOString().slice(0, 10) }
}

type Data = Awaited<ReturnType<typeof load>>
interface PartProps {
  readonly data: Data
  readonly page: PageContext
}

const cut = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

export const page = definePage({
  isWide: true,
  load,
  title: ({ service }, page) => `${cut(service.name)} · ${marketTexts[page.language].title}`,
  description: ({ service }) => cut(service.description === '' ? service.name : service.description),
  View({ data, page }) {
    const t = marketTexts[page.language]
    const { service, network } = data
    const source = `${service.links.self}?network=${network}`
    const other = otherNetwork(network)
    const here = `/marketplace/${service.seller}/${service.service_id}`
    return (
      <>
        <Head data={data} page={page} />
        <Buy data={data} page={page} />
        <h2>{t.numbers}</h2>
        <p class="small muted">
          {fill(t.figuresOf, { n: t.networks[network] })}{' '}
          <Link to={page.href(`${here}?network=${other}`)}>{fill(t.see, { n: t.networks[other] })}</Link> ·{' '}
          <Link to={page.href('/marketplace/figures')}>{t.method}</Link> · <Link to={source}>{t.asJson}</Link>
        </p>
        <Numbers data={data} page={page} />
        <ServiceCharts detail={data} today={data.today} page={page} source={source} />
        <h2>{t.priceHistory}</h2>
        <PriceHistory detail={data} today={data.today} page={page} source={source} />
        <h2>{t.routesTitle}</h2>
        {service.words_of_seller && <p class="small muted">{t.wordsOfSeller}</p>}
        <Routes service={service} page={page} />
        <h2>{t.calls}</h2>
        <PaidCalls detail={data} page={page} source={source} />
        <h2>{t.ratings}</h2>
        <Ratings detail={data} page={page} source={source} />
        <h2>{t.sources}</h2>
        <Sources detail={data} page={page} source={source} />
      </>
    )
  },
})

function Head({ data: { service }, page }: PartProps): VNode {
  const t = marketTexts[page.language]
  return (
    <header class="stack">
      <p class="eyebrow">
        <Link to={page.href('/marketplace')}>{t.title}</Link> ·{' '}
        <Link to={page.href(`/marketplace/${service.seller}`)}>
          <Ltr>{service.seller}</Ltr>
        </Link>
      </p>
      <h1>
        <Foreign text={service.name} max={120} />
      </h1>
      <p class="lead">
        <Foreign text={service.description} />
      </p>
      <p class="row wraps">
        {service.words_of_seller ? (
          service.proof && <State is="done" page={page} words={`${t.proven}: ${service.proof.host}`} />
        ) : (
          <State is="done" page={page} words={t.ours} />
        )}
        {service.tags.map((tag) => (
          <Link to={page.href(`/marketplace?tag=${encodeURIComponent(tag)}`)} class="tag">
            <Foreign text={tag} max={40} />
          </Link>
        ))}
      </p>
      {service.availability === 'unavailable' && (
        <p class="notice warns">
          <State is="waiting" page={page} words={t.unavailable} />{' '}
          <Foreign text={service.unavailable_reason ?? ''} max={500} />
        </p>
      )}
      {service.notes.map((note) => (
        <p class="small muted">
          <bdi lang="en" dir="ltr">
            {note}
          </bdi>
        </p>
      ))}
    </header>
  )
}

function Buy({ data, page }: PartProps): VNode {
  const t = marketTexts[page.language]
  const { service } = data
  const route = service.routes.find(({ path }) => path === '/') ?? service.routes[0]
  return (
    <section class="buy" aria-labelledby="buy">
      <div class="stack">
        <h2 id="buy">{t.howToBuy}</h2>
        <p class="figure-number">
          <Filled
            text={service.routes.length > 1 ? t.from : t.perCall}
            values={{ n: `${usdc(service.price.amount_atomic)} USDC` }}
          />
        </p>
        <p class="small muted">
          <Filled text={t.fee} values={{ n: `${usdc(service.allocation.platform_fee_atomic)} USDC` }} />
        </p>
        <dl class="pairs">
          <dt>{t.endpoint}</dt>
          <dd>
            <Ltr class="mono">{service.endpoint}</Ltr>
          </dd>
          <dt>{t.limit}</dt>
          <dd>
            <Filled text={t.perMinute} values={{ n: count(service.max_requests_per_minute) }} />
          </dd>
          {service.refund_policy !== null && (
            <>
              <dt>{t.refundPolicy}</dt>
              <dd>
                <Foreign text={service.refund_policy} max={1000} />
              </dd>
            </>
          )}
          {service.terms_url !== null && (
            <>
              <dt>{t.terms}</dt>
              <dd>
                <Link to={service.terms_url} isForeign>
                  {t.termsLink}
                </Link>
              </dd>
            </>
          )}
          {service.created_at !== null && (
            <>
              <dt>{t.listed}</dt>
              <dd>
                <Ltr>{dateOf(service.created_at)}</Ltr> · {t.version} <Ltr>{String(service.version)}</Ltr>
              </dd>
            </>
          )}
        </dl>
      </div>
      <div class="stack">
        <p>{t.howToBuyWords}</p>
        {route && (
          <Tabs
            label={t.buyLabel}
            name="buy"
            tabs={waysToBuy(data, route, page).map(({ id, code }) => ({
              label: id === 'curl' ? 'curl' : t.buy[id],
              content: <Code text={code} page={page} label={t.buy[id]} />,
            }))}
          />
        )}
      </div>
    </section>
  )
}

function Numbers({ data, page }: PartProps): VNode {
  const t = marketTexts[page.language]
  const { stats } = data.service
  const { last_30_days: last, ratings, excluded } = stats
  const excludedKinds = Object.entries(excluded).filter(([, { calls }]) => calls > 0)
  const failures = Object.entries(last.failures).filter(([, calls]) => calls > 0)
  return (
    <div class="stack">
      <div class="figures">
        <Figure
          page={page}
          name={t.successful}
          value={percent(last.success_rate)}
          method="last_30_days.success_rate"
          note={`${count(last.settled_calls)} / ${count(last.settled_calls + last.failed_calls)}`}
        />
        <Figure page={page} name={t.median} value={duration(last.p50_ms)} method="last_30_days.p50_ms" />
        <Figure page={page} name={t.p95} value={duration(last.p95_ms)} method="last_30_days.p95_ms" />
        <Figure
          page={page}
          name={t.figures.uptime}
          value={percent(stats.uptime_30_days)}
          method="uptime_30_days"
          note={fill(t.looks, { n: count(stats.probes_30_days) })}
        />
        <Figure
          page={page}
          name={t.figures.calls}
          value={count(stats.settled_calls)}
          method="settled_calls"
        />
        <Figure
          page={page}
          name={t.figures.payers}
          value={count(stats.unique_payers)}
          method="unique_payers"
        />
        <Figure page={page} name={t.repeat} value={count(stats.repeat_payers)} method="repeat_payers" />
        <Figure
          page={page}
          name={t.figures.largest}
          value={percent(data.concentration.largest_payer_share)}
          method="concentration.largest_payer_share"
          note={t.largestNote}
        />
        <Figure
          page={page}
          name={t.volume}
          value={`${usdc(stats.volume_atomic)} USDC`}
          method="volume_atomic"
          note={t.volumeNote}
        />
        <Figure page={page} name={t.refunds} value={count(last.refunds)} method="last_30_days.refunds" />
        <Figure
          page={page}
          name={t.rating}
          value={ratings.average === null ? '–' : `${ratings.average} / 5`}
          method="ratings"
          note={fill(t.ratingOf, { a: ratings.average ?? '–', n: count(ratings.count) })}
        />
        {stats.challenge_score !== null && (
          <Figure
            page={page}
            name={t.score}
            value={`${stats.challenge_score} / 100`}
            method="challenge_score"
          />
        )}
        {stats.days_since_proof !== null && (
          <Figure
            page={page}
            name={t.proof}
            value={count(stats.days_since_proof)}
            method="days_since_proof"
            note={fill(t.proofDays, { n: count(stats.days_since_proof) })}
          />
        )}
      </div>
      {excludedCalls(stats) > 0 && (
        <div class="notice warns">
          <p>
            <strong>{t.excludedTitle}</strong>
          </p>
          <ul>
            {excludedKinds.map(([kind, { payers, calls, volume_atomic }]) => (
              <li>
                {t.excludedKinds[kind as keyof typeof excluded]}:{' '}
                <Filled
                  text={t.payersCalls}
                  values={{ p: count(payers), c: count(calls), v: `${usdc(volume_atomic)} USDC` }}
                />
              </li>
            ))}
          </ul>
        </div>
      )}
      {failures.length > 0 && (
        <dl class="pairs">
          <dt>{t.failures}</dt>
          <dd>
            {failures
              .map(
                ([kind, calls]) => `${t.failureKinds[kind as keyof typeof last.failures]}: ${count(calls)}`,
              )
              .join(' · ')}
          </dd>
        </dl>
      )}
    </div>
  )
}
