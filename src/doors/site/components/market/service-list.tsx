// Services one below the other, with the figures that people compare. The words are the seller's, the figures are ours.
import type { VNode } from 'preact'
import type { PageContext } from '../../ports.ts'
import { marketTexts } from '../../texts/market.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { State } from '../state.tsx'
import { Filled } from './filled.tsx'
import { count, duration, fill, percent, usdc } from './format.ts'
import { excludedCalls, type ListedService } from './listed.ts'

/** From here on, a page says in words that the figures are one buyer's. */
const ONE_PAYER = 0.8

interface ServiceListProps {
  readonly services: readonly ListedService[]
  readonly page: PageContext
  /** What stands behind the address of each service: the network of the figures, where it is not the usual one. */
  readonly suffix: string
  /** Under which heading the names stand. */
  readonly level?: 2 | 3
}

export const ServiceList = ({ services, page, suffix, level = 2 }: ServiceListProps): VNode => (
  <ol class="services">
    {services.map((service) => (
      <li>
        <Service service={service} page={page} suffix={suffix} level={level} />
      </li>
    ))}
  </ol>
)

function Service({
  service,
  page,
  suffix,
  level,
}: Omit<ServiceListProps, 'services'> & { readonly service: ListedService }): VNode {
  const t = marketTexts[page.language]
  const { seller, stats, concentration } = service
  const address = page.href(`/marketplace/${seller}/${service.service_id}${suffix}`)
  const Heading = level === 3 ? 'h3' : 'h2'
  const excluded = excludedCalls(stats)
  const isOnePayer = (concentration?.largest_payer_share ?? 0) >= ONE_PAYER
  return (
    <article class="service">
      <div class="service-words">
        <Heading class="service-name">
          <Link to={address}>
            <Foreign text={service.name} max={120} />
          </Link>
        </Heading>
        <p class="small muted">
          {t.by}{' '}
          <Link to={page.href(`/marketplace/${seller}`)}>
            <Ltr>{seller}</Ltr>
          </Link>
          {' · '}
          <Ltr>{service.allowed_methods.join(', ')}</Ltr>
          {service.routes > 1 && (
            <>
              {' · '}
              <Filled text={t.routes.many} values={{ n: String(service.routes) }} />
            </>
          )}
        </p>
        <p class="service-about">
          <Foreign text={service.description} max={220} />
        </p>
        {service.availability === 'unavailable' && (
          <p class="small">
            <State is="waiting" page={page} words={t.unavailable} />{' '}
            <Foreign text={service.unavailable_reason ?? ''} max={200} />
          </p>
        )}
        {isOnePayer && <p class="small warning">{t.onePayer}</p>}
        {excluded > 0 && <p class="small warning">{fill(t.excluded, { n: count(excluded) })}</p>}
      </div>
      <div class="service-figures">
        <p class="service-price">
          <Filled
            text={service.routes > 1 ? t.from : t.perCall}
            values={{ n: `${usdc(service.price.amount_atomic)} USDC` }}
          />
        </p>
        <Figures service={service} page={page} />
      </div>
    </article>
  )
}

function Figures({
  service: { stats, concentration },
  page,
}: Pick<ServiceListProps, 'page'> & {
  readonly service: ListedService
}): VNode {
  const t = marketTexts[page.language]
  const { last_30_days: last } = stats
  const isUncalled = last.settled_calls + last.failed_calls === 0 && stats.settled_calls === 0
  if (isUncalled && stats.uptime_30_days === null) return <p class="small muted">{t.noCalls}</p>
  const pairs: readonly (readonly [string, string])[] = [
    [t.figures.success, percent(last.success_rate)],
    [t.figures.latency, duration(last.p50_ms)],
    [t.figures.uptime, percent(stats.uptime_30_days)],
    [t.figures.calls, count(stats.settled_calls)],
    [t.figures.payers, count(stats.unique_payers)],
    [t.figures.largest, percent(concentration?.largest_payer_share ?? null)],
  ]
  return (
    <dl class="few-figures">
      {pairs.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>
            <Ltr>{value}</Ltr>
          </dd>
        </div>
      ))}
    </dl>
  )
}
