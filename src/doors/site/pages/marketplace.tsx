// What is sold: search, filters, order and pages, all of them in the address.
import { toGatewayError } from '../../../core/errors.ts'
import { SearchForm } from '../components/market/search-form.tsx'
import { count, fill } from '../components/market/format.ts'
import { listServices } from '../components/market/listed.ts'
import { marketAddress, readMarketQuery } from '../components/market/query.ts'
import { ServiceList } from '../components/market/service-list.tsx'
import { usualNetwork } from '../components/market/network.ts'
import { Link } from '../components/link.tsx'
import { definePage, type PageRequest } from '../ports.ts'
import { marketTexts } from '../texts/market.ts'

async function load({ site, query: params }: PageRequest) {
  const { marketplace } = site.services
  const usual = usualNetwork(site.config)
  const { query, values, faults } = readMarketQuery(params, usual)
  let isPageGone = false
  const found = await marketplace.search(query).catch((thrown: unknown) => {
    // A cursor of another search, or of before an update: the first page is a better answer than a refusal.
    if (query.cursor === undefined || toGatewayError(thrown).code !== 'input_invalid') throw thrown
    isPageGone = true
    return marketplace.search({ ...query, cursor: undefined })
  })
  return {
    services: await listServices(found.services, marketplace, query.network),
    pagination: found.pagination,
    currency: found.currency,
    network: found.network,
    is_usual_network: found.network === usual,
    asked: values,
    not_understood: faults,
    is_first_page: query.cursor === undefined || isPageGone,
    is_page_gone: isPageGone,
    notice: found.notice,
    links: {
      api: `${site.addresses.baseUrl}/v1/marketplace/services`,
      figures_method: `${site.addresses.siteUrl}/marketplace/figures`,
      seller_onboarding: found.seller_onboarding,
    },
  }
}

export const page = definePage({
  isWide: true,
  load,
  title: (_data, page) => marketTexts[page.language].title,
  description: (_data, page) => marketTexts[page.language].lead,
  View({ data, page }) {
    const t = marketTexts[page.language]
    const { total, cursor } = data.pagination
    return (
      <>
        <header class="market-head">
          <div class="stack">
            <h1>{t.title}</h1>
            <p class="lead">{t.lead}</p>
          </div>
          <p class="row">
            <Link to={page.href('/marketplace/figures')}>{t.method}</Link>
            <Link to={page.href('/marketplace/sell')} class="button">
              {t.sell}
            </Link>
          </p>
        </header>
        <SearchForm values={data.asked} faults={data.not_understood} page={page} network={data.network} />
        {data.not_understood.length > 0 && (
          <p class="notice warns" role="status">
            {fill(t.leftOut, { names: data.not_understood.map((name) => t.fields[name]).join(', ') })}
          </p>
        )}
        {data.is_page_gone && (
          <p class="notice warns" role="status">
            {t.cursorGone}
          </p>
        )}
        <p class="market-count">
          <strong>
            {total === 0 ? t.found.none : total === 1 ? t.found.one : fill(t.found.many, { n: count(total) })}
          </strong>{' '}
          <span class="muted">{fill(t.figuresOf, { n: t.networks[data.network] })}</span>
        </p>
        {total === 0 ? (
          <div class="panel stack">
            <p>{t.nothing}</p>
            <p class="row">
              <Link to={page.href('/marketplace')} class="button">
                {t.clear}
              </Link>
              <span>
                {t.nothingSeller} <Link to={page.href('/marketplace/sell')}>{t.sell}</Link>
              </span>
            </p>
          </div>
        ) : (
          <ServiceList
            services={data.services}
            page={page}
            suffix={data.is_usual_network ? '' : `?network=${data.network}`}
          />
        )}
        {(cursor !== null || !data.is_first_page) && (
          <nav class="row" aria-label={t.pages}>
            {!data.is_first_page && <Link to={page.href(marketAddress(data.asked))}>{t.first}</Link>}
            {cursor !== null && (
              <Link to={page.href(marketAddress(data.asked, { cursor }))} class="button">
                {t.next}
              </Link>
            )}
          </nav>
        )}
      </>
    )
  },
})
