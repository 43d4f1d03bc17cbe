// The 402 for people: what is sold, for how much, how a program pays, and where one tries it.
import type { VNode } from 'preact'
import { formatAtomic } from '../../../../schemas/money.ts'
import type { PaymentRequirements } from '../../../../schemas/x402.ts'
import type { Challenge } from '../../../core/charging.ts'
import type { Problem } from '../../../core/errors.ts'
import { createNetworks } from '../../../core/networks.ts'
import type { Registry } from '../../../core/registry.ts'
import { Foreign, Ltr } from '../components/foreign.tsx'
import { Link } from '../components/link.tsx'
import type { PageContext } from '../ports.ts'
import { linkToTool } from '../problems.ts'
import { errorTexts } from '../texts/error.ts'

interface PriceViewProps {
  readonly problem: Problem
  readonly challenge: Pick<Challenge, 'required'>
  readonly registry: Pick<Registry, 'tools'>
  readonly page: PageContext
}

/** A challenge as a page. */
export function PriceView({ problem, challenge: { required }, registry, page }: PriceViewProps): VNode {
  const t = errorTexts[page.language].price
  const { resource, accepts } = required
  const isRefused = problem.code !== 'payment_required'
  const sold = soldAt(resource.url, registry, page)
  return (
    <>
      <p class="eyebrow">{t.eyebrow}</p>
      <h1>{isRefused ? t.refused : t.title}</h1>
      {isRefused && (
        <p class="notice fails">
          <Foreign text={problem.detail} />
        </p>
      )}
      {resource.description !== undefined && resource.description !== '' && (
        <p class="lead">
          <Foreign text={resource.description} />
        </p>
      )}
      <section class="panel stack">
        <h2>{t.pay}</h2>
        {accepts.map((offer) => (
          <Offer offer={offer} page={page} />
        ))}
      </section>
      {sold && (
        <p class="row">
          <Link to={page.href(sold.path)} class={sold.isService ? 'button' : 'button pays'}>
            {sold.isService ? t.service : t.tryHere}
          </Link>
          <span class="small muted">{sold.isService ? t.tryService : t.tryWords}</span>
        </p>
      )}
      <h2>{t.how}</h2>
      <p>{t.lead}</p>
      <ol class="price-steps">
        {t.steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
      <p>
        <Link to={page.href('/docs/payments')}>{t.guide}</Link>
      </p>
      <p class="muted small">
        {t.address} <Ltr>{resource.url}</Ltr> · {t.request} <Ltr>{problem.request_id}</Ltr> ·{' '}
        <Link to={page.href(`/problems/${problem.code}`)}>
          <code>{problem.code}</code>
        </Link>
      </p>
    </>
  )
}

/** Where a person tries what is sold at an address: the tool's page, or the service's. */
function soldAt(
  url: string,
  { tools }: Pick<Registry, 'tools'>,
  { baseUrl }: PageContext,
): { readonly path: string; readonly isService: boolean } | undefined {
  if (!url.startsWith(`${baseUrl}/`)) return undefined
  const path = url.slice(baseUrl.length)
  const [, seller, service] = /^\/p\/(?:testnet\/)?([a-z0-9-]+)\/([a-z0-9-]+)/.exec(path) ?? []
  if (seller !== undefined && service !== undefined)
    return { path: `/marketplace/${seller}/${service}`, isService: true }
  const entry = tools.find(({ tool }) => tool.rest.some((route) => route.path === path))
  return entry && { path: linkToTool(entry).path, isService: false }
}

interface OfferProps {
  readonly offer: PaymentRequirements
  readonly page: PageContext
}

function Offer({ offer: { network, asset, amount, payTo }, page }: OfferProps): VNode {
  const t = errorTexts[page.language].price
  const [known] = createNetworks([Number(network.split(':')[1])]).all
  return (
    <div class="price-offer">
      <p class="row">
        <Ltr class="figure-number">{`${formatAtomic(BigInt(amount))} USDC`}</Ltr>
        <span>{t.on.replace('{network}', known?.name ?? network)}</span>
        {(page.isSandbox || known?.revenue === false) && <span class="tag money">{t.test}</span>}
      </p>
      <dl class="pairs small">
        <dt>{t.to}</dt>
        <dd>
          <Ltr class="mono">{payTo}</Ltr>
        </dd>
        <dt>{t.token}</dt>
        <dd>
          <Ltr class="mono">{asset}</Ltr> <Ltr class="muted">{network}</Ltr>
        </dd>
      </dl>
    </div>
  )
}
