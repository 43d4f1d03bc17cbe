// What can be paid with x402, here and elsewhere, to be searched and compared. Everything in it that is not a figure of ours is a stranger's.
import type { VNode } from 'preact'
import { Code } from '../components/code.tsx'
import { Foreign, Ltr } from '../components/foreign.tsx'
import { Link } from '../components/link.tsx'
import { Scrolling, State, type StateName } from '../components/state.tsx'
import { discover, type Discovered, type DiscoveryData, type Offer } from '../discovered.ts'
import { definePage, type PageContext } from '../ports.ts'
import { discoveryTexts, type DiscoveryTexts } from '../texts/discovery.ts'

export const page = definePage<DiscoveryData>({
  isWide: true,
  load: discover,
  title: (_data, { language }) => discoveryTexts[language].title,
  description: (_data, { language }) => discoveryTexts[language].description,
  View({ data, page }) {
    const t = discoveryTexts[page.language]
    const { items, total, query, partial } = data
    const isFiltered = Object.values(query).some((value) => value !== '')
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
        <Filters data={data} page={page} />
        {partial && <p class="notice warns">{t.partial}</p>}
        <section class="stack" aria-labelledby="results">
          <h2 id="results">
            {total === null ? t.found : t.total.replace('{n}', total.toLocaleString('en'))}
          </h2>
          <p class="small muted">
            {t.claims} <Link to={page.href('/docs/discovery')}>{t.guide}</Link>
          </p>
          {items.length === 0 && (
            <p>
              {isFiltered ? t.empty : t.none}{' '}
              {isFiltered && <Link to={page.href('/discovery')}>{t.clear}</Link>}
            </p>
          )}
          <ol class="found">
            {items.map((item) => (
              <ItemView item={item} page={page} />
            ))}
          </ol>
          <Pager data={data} page={page} />
        </section>
        <Sources data={data} page={page} />
        <p class="notice">
          <Link to={page.href('/marketplace/sell')}>{t.sell}</Link> – {t.sellWords}
        </p>
      </>
    )
  },
})

interface PartProps {
  readonly data: DiscoveryData
  readonly page: PageContext
}

function Filters({ data, page }: PartProps): VNode {
  const t = discoveryTexts[page.language]
  const { query, networks, known_sources } = data
  const option = (value: string, words: string, chosen: string) => (
    <option value={value} selected={value === chosen}>
      {words}
    </option>
  )
  const isUnknown = query.network !== '' && !networks.some(({ network }) => network === query.network)
  return (
    <form
      method="get"
      action={page.href('/discovery')}
      role="search"
      class="found-filters"
      aria-label={t.search}
    >
      <span class="field found-words">
        <label for="q">{t.words}</label>
        <input id="q" name="q" type="search" value={query.q} maxLength={200} dir="auto" />
      </span>
      <span class="field">
        <label for="type">{t.type}</label>
        <select id="type" name="type">
          {option('', t.any, query.type)}
          {option('http', t.types.http, query.type)}
          {option('mcp', t.types.mcp, query.type)}
        </select>
      </span>
      <span class="field">
        <label for="network">{t.network}</label>
        <select id="network" name="network">
          {option('', t.any, query.network)}
          {isUnknown && option(query.network, query.network.slice(0, 40), query.network)}
          {networks.map(({ network, name }) => option(network, name, query.network))}
        </select>
      </span>
      <span class="field">
        <label for="max">{t.price}</label>
        <input
          id="max"
          name="max"
          inputMode="decimal"
          pattern="\d{1,9}(\.\d{1,6})?"
          value={query.max}
          dir="ltr"
          size={8}
        />
      </span>
      <span class="field">
        <label for="source">{t.source}</label>
        <select id="source" name="source">
          {option('', t.any, query.source)}
          {known_sources.map((source) => option(source, sourceName(source, t), query.source))}
        </select>
      </span>
      <span class="row">
        <button type="submit" class="primary">
          {t.apply}
        </button>
      </span>
    </form>
  )
}

const sourceName = (source: string, t: DiscoveryTexts) =>
  source === 'own'
    ? t.own
    : source === 'facilitator'
      ? t.facilitator
      : source.replace(/^https:\/\//, '').slice(0, 60)

const STATES: Readonly<Record<Discovered['liveness']['state'], StateName>> = {
  alive: 'done',
  changed: 'waiting',
  dead: 'failed',
  unknown: 'unknown',
}

const SHOWN_OFFERS = 3

function ItemView({ item, page }: { readonly item: Discovered; readonly page: PageContext }): VNode {
  const t = discoveryTexts[page.language]
  const { offers, settled, liveness } = item
  return (
    <li class="found-item">
      <div class="found-about">
        <h3>
          <Name item={item} page={page} /> {item.own && <span class="tag">{t.ownTag}</span>}
        </h3>
        <p class="found-address" dir="ltr">
          <code>
            {item.method !== null && <>{item.method} </>}
            <Foreign text={item.resource} max={200} />
          </code>
        </p>
        {item.description !== null && (
          <p>
            <Foreign text={item.description} max={280} />
          </p>
        )}
        <p class="row small found-facts">
          {!item.own && <State is={STATES[liveness.state]} page={page} words={t.liveness[liveness.state]} />}
          {!item.own && liveness.checked_at !== null && (
            <span class="muted">{timeOf(t.looked, liveness.checked_at)}</span>
          )}
          <span class="muted">
            {t.listed}{' '}
            {item.sources.map((source, at) => (
              <>
                {at > 0 && ', '}
                <Foreign text={sourceName(source, t)} max={60} />
              </>
            ))}{' '}
            {timeOf(t.since, item.first_seen.slice(0, 10), '{date}')}
          </span>
          {!item.same_terms && <span class="state-waiting">{t.otherTerms}</span>}
          {item.price_changes > 0 && (
            <span class="muted">{t.changes.replace('{n}', String(item.price_changes))}</span>
          )}
          {settled && (
            <span class="muted">
              {t.payers
                .replace('{n}', settled.settlements.toLocaleString('en'))
                .replace('{payers}', settled.payers.toLocaleString('en'))}
              {settled.verified && ` · ${t.verified}`}
            </span>
          )}
        </p>
        <details>
          <summary>{t.how}</summary>
          <How item={item} page={page} />
        </details>
      </div>
      <ul class="found-offers">
        {offers.slice(0, SHOWN_OFFERS).map((offer) => (
          <OfferView offer={offer} t={t} />
        ))}
        {offers.length > SHOWN_OFFERS && (
          <li class="small muted">{t.more.replace('{n}', String(offers.length - SHOWN_OFFERS))}</li>
        )}
      </ul>
    </li>
  )
}

function OfferView({ offer, t }: { readonly offer: Offer; readonly t: DiscoveryTexts }): VNode {
  const { usdc, amount, asset, network, network_name } = offer
  return (
    <li>
      <span class="found-price">
        {usdc === null ? <Foreign text={amount} max={24} /> : <Ltr>{`${usdc} USDC`}</Ltr>}
      </span>
      {usdc === null && (
        <span class="small muted found-asset">
          {t.units} <Foreign text={asset} max={44} />
        </span>
      )}
      <span class="small muted">
        {network_name === null ? <Foreign text={network} max={48} /> : <Ltr>{network_name}</Ltr>}
      </span>
    </li>
  )
}

function How({ item, page }: { readonly item: Discovered; readonly page: PageContext }): VNode {
  const t = discoveryTexts[page.language]
  if (item.page !== null)
    return (
      <p>
        {t.howOwn} <Link to={page.href(item.page)}>{t.open}</Link>
      </p>
    )
  const command = commandFor(item)
  return (
    <div class="stack">
      <p>{t.howElse}</p>
      {command !== undefined && <Code page={page} label={t.ask} text={command} />}
      <p>
        <Link to={page.href('/test')}>{t.inspect}</Link>
      </p>
    </div>
  )
}

/** Somebody pastes it into a shell, and a stranger wrote the address: whatever a shell could read in it is encoded. */
export function commandFor({
  resource,
  method,
  type,
}: Pick<Discovered, 'resource' | 'method' | 'type'>): string | undefined {
  const url = URL.parse(resource)
  if (url?.protocol !== 'https:' || type !== 'http') return undefined
  const address = url.href.replaceAll(/[^\w.~:/?#@&=%+,;[\]-]/g, (char) =>
    encodeURIComponent(char).replace("'", '%27'),
  )
  const verb = method === null || method === 'GET' || !/^[A-Z]+$/.test(method) ? '' : ` -X ${method}`
  return `curl -i${verb} '${address.replaceAll("'", '%27')}'`
}

function Name({ item, page }: { readonly item: Discovered; readonly page: PageContext }): VNode {
  const t = discoveryTexts[page.language]
  const name = <Foreign text={item.name ?? hostOf(item.resource) ?? t.unnamed} max={80} />
  return item.page === null ? name : <Link to={page.href(item.page)}>{name}</Link>
}

const hostOf = (resource: string): string | undefined => URL.parse(resource)?.host

function timeOf(text: string, time: string, name = '{time}'): VNode {
  const [before = '', after = ''] = text.split(name)
  return (
    <>
      {before}
      <Ltr>{time.replace('T', ' ').slice(0, 16)}</Ltr>
      {after}
    </>
  )
}

function Pager({ data, page }: PartProps): VNode | null {
  const t = discoveryTexts[page.language]
  const { cursor, is_first, query } = data
  if (cursor === null && is_first) return null
  const to = (cursor: string | null) => {
    const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
    if (cursor !== null) params.set('cursor', cursor)
    return `${page.href('/discovery')}?${params}`
  }
  return (
    <nav class="row" aria-label={t.next}>
      {!is_first && <Link to={to(null)}>{t.first}</Link>}
      {cursor !== null && (
        <Link to={to(cursor)} class="button">
          {t.next}
        </Link>
      )}
    </nav>
  )
}

function Sources({ data, page }: PartProps): VNode {
  const t = discoveryTexts[page.language]
  const { sources } = data
  return (
    <section class="stack found-sources" aria-labelledby="sources">
      <h2 id="sources">{t.sources}</h2>
      {sources.length === 0 ? (
        <p class="muted">{t.noSources}</p>
      ) : (
        <>
          <p class="small muted">{t.sourcesNote}</p>
          <Scrolling label={t.sources}>
            <table aria-label={t.sources}>
              <thead>
                <tr>
                  <th scope="col">{t.source}</th>
                  <th scope="col">{t.state}</th>
                  <th scope="col">{t.read}</th>
                  <th scope="col" class="number">
                    {t.entries}
                  </th>
                  <th scope="col" class="number">
                    {t.dropped}
                  </th>
                </tr>
              </thead>
              <tbody>
                {sources.map(({ source, state, fetched_at, entries, dropped }) => (
                  <tr>
                    <th scope="row">
                      <Ltr class="mono">{sourceName(source, t)}</Ltr>
                    </th>
                    <td>
                      <State
                        is={state === 'ok' ? 'done' : state === 'failing' ? 'failed' : 'waiting'}
                        page={page}
                        words={t.states[state]}
                      />
                    </td>
                    <td>{fetched_at === null ? '–' : timeOf('{time} UTC', fetched_at)}</td>
                    <td class="number">
                      <Ltr>{entries.toLocaleString('en')}</Ltr>
                    </td>
                    <td class="number">
                      <Ltr>{dropped.toLocaleString('en')}</Ltr>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scrolling>
        </>
      )}
    </section>
  )
}
