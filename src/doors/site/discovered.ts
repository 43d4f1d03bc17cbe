// What can be paid with x402 as the page about it gives it: found by the tools that agents use, within their limits, and as much of each
// resource as a person compares by. Words in it are strangers'.
import type {
  DiscoveryItem,
  DiscoveryListPage,
  DiscoverySearchPage,
  DiscoverySourceState,
} from '../../../schemas/discovery.ts'
import { KNOWN_NETWORKS, networkOfUsdc, toDecimalUsdc } from '../../core/networks.ts'
import { memberOf } from '../../discovery/data.ts'
import type { PageRequest } from './ports.ts'

export interface Offer {
  readonly scheme: string
  /** CAIP-2. */
  readonly network: string
  /** Name of a network that we know. */
  readonly network_name: string | null
  readonly amount: string
  /** Decimal, where it is USDC that we know to be that. */
  readonly usdc: string | null
  readonly asset: string
  readonly pay_to: string
}

export interface Discovered {
  readonly resource: string
  readonly type: string
  readonly method: string | null
  readonly name: string | null
  readonly description: string | null
  readonly tags: readonly string[]
  readonly offers: readonly Offer[]
  readonly own: boolean
  /** Page of this site about it, where it is sold through this gateway. */
  readonly page: string | null
  readonly sources: readonly string[]
  readonly same_terms: boolean
  readonly first_seen: string
  readonly price_changes: number
  readonly liveness: {
    readonly state: DiscoveryItem['liveness']['state']
    readonly checked_at: string | null
  }
  readonly settled: {
    readonly settlements: number
    readonly payers: number
    readonly verified: boolean
  } | null
}

export interface DiscoveryQuery {
  readonly q: string
  readonly type: string
  readonly network: string
  readonly source: string
  readonly max: string
}

export interface DiscoveryData {
  readonly query: DiscoveryQuery
  readonly items: readonly Discovered[]
  /** Null for a search, which is not counted. */
  readonly total: number | null
  /** `cursor` of the next page. */
  readonly cursor: string | null
  readonly is_first: boolean
  readonly partial: boolean
  readonly sources: readonly DiscoverySourceState[]
  /** Sources that may be asked for. */
  readonly known_sources: readonly string[]
  readonly networks: readonly { readonly network: string; readonly name: string }[]
}

const PER_PAGE = 20
const MAX_SOURCE = 512

/** @throws {GatewayError} as the tools do, rate_limited among them */
export async function discover({ site, query, visitor }: PageRequest): Promise<DiscoveryData> {
  const asked: DiscoveryQuery = {
    q: (query.get('q') ?? '').trim().slice(0, 200),
    type: ['http', 'mcp'].find((type) => type === query.get('type')) ?? '',
    network: (query.get('network') ?? '').slice(0, 64),
    source: (query.get('source') ?? '').slice(0, MAX_SOURCE),
    max: /^\d{1,9}(?:\.\d{1,6})?$/.test(query.get('max') ?? '') ? (query.get('max') ?? '') : '',
  }
  const cursor = query.get('cursor') ?? ''
  const name = asked.q === '' ? 'gateway.discovery.resources' : 'gateway.discovery.search'
  const tool = site.registry.find(name)?.tool
  if (!tool) throw new Error(`no tool ${name}`)
  const result = await site.calls.call({
    tool,
    input: {
      limit: PER_PAGE,
      ...(asked.q !== '' && { query: asked.q }),
      ...(asked.type !== '' && { type: asked.type }),
      ...(asked.network !== '' && { network: asked.network }),
      ...(asked.source !== '' && { source: asked.source }),
      ...(asked.max !== '' && { maxUsdc: asked.max }),
      ...(cursor !== '' && { cursor: cursor.slice(0, 512) }),
    },
    door: 'rest',
    tokens: {},
    ...visitor,
  })
  if (!result.ok) throw result.error
  const found = result.output as DiscoveryListPage | DiscoverySearchPage
  const items = 'items' in found ? found.items : found.resources
  const tools = toolsByPath(site)
  return {
    query: asked,
    items: items.map((item) => toDiscovered(item, tools)),
    total: 'items' in found ? found.pagination.total : null,
    cursor: found.pagination.cursor,
    is_first: cursor === '',
    partial: found.partialResults,
    sources: found.sources,
    known_sources: [
      'own',
      'facilitator',
      ...found.sources.map(({ source }) => source).filter((source) => source.length <= MAX_SOURCE),
    ],
    networks: KNOWN_NETWORKS.map(({ network, name }) => ({ network, name })),
  }
}

function toDiscovered(item: DiscoveryItem, tools: ToolsByPath): Discovered {
  const { settled = [] } = item
  const ours = item.own ? oursOf(item, tools) : undefined
  return {
    resource: item.resource,
    type: item.type,
    method: item.method !== null && /^[A-Z]{1,10}$/.test(item.method) ? item.method : null,
    name: ours?.name ?? item.serviceName ?? null,
    description: item.description ?? null,
    tags: (item.tags ?? []).slice(0, 6),
    offers: item.accepts.map(offerOf),
    own: item.own,
    page: ours?.page ?? null,
    sources: item.sources.map(({ source }) => source),
    same_terms: item.sources.every(({ same_terms }) => same_terms),
    first_seen: item.first_seen,
    price_changes: Math.max(0, item.price_history.length - 1),
    liveness: { state: item.liveness.state, checked_at: item.liveness.checked_at },
    settled:
      settled.length === 0
        ? null
        : {
            settlements: settled.reduce((sum, { settlements }) => sum + settlements, 0),
            payers: settled.reduce((sum, { payers }) => sum + payers, 0),
            verified: settled.every(({ verified }) => verified),
          },
  }
}

function offerOf(accept: DiscoveryItem['accepts'][number]): Offer {
  const textOf = (name: string) => (typeof accept[name] === 'string' ? accept[name] : '')
  const amount = textOf('amount') || textOf('maxAmountRequired')
  const asset = textOf('asset')
  const given = textOf('network')
  const known = KNOWN_NETWORKS.find(({ network, v1Name }) => network === given || v1Name === given)
  return {
    scheme: textOf('scheme'),
    network: known?.network ?? given,
    network_name: known?.name ?? null,
    amount,
    usdc: (networkOfUsdc(given, asset) && toDecimalUsdc(amount)) ?? null,
    asset,
    pay_to: textOf('payTo'),
  }
}

type ToolsByPath = ReadonlyMap<string, { readonly name: string; readonly title: string }>

const toolsByPath = ({ registry }: PageRequest['site']): ToolsByPath =>
  new Map(registry.tools.flatMap(({ tool }) => tool.rest.map(({ path }) => [path, tool] as const)))

interface Ours {
  readonly page: string
  readonly name: string | undefined
}

/** What this gateway sells: a service of the market, one of its outcomes, else a tool. Their names say more than the gateway's own. */
function oursOf({ resource, extensions }: DiscoveryItem, tools: ToolsByPath): Ours | undefined {
  const body = (name: string) => {
    const value = memberOf(extensions, 'bazaar', 'info', 'input', 'body', name)
    return typeof value === 'string' ? value : undefined
  }
  const [seller, service, capability] = [body('seller'), body('service_id'), body('capability')]
  if (seller !== undefined && service !== undefined)
    return {
      page: `/marketplace/${encodeURIComponent(seller)}/${encodeURIComponent(service)}`,
      name: `${seller}/${service}`,
    }
  const path = URL.parse(resource)?.pathname ?? ''
  const sold = /\/p\/([^/]+)\/([^/]+)(?:\/|$)/.exec(path)
  if (sold) return { page: `/marketplace/${sold[1]}/${sold[2]}`, name: undefined }
  if (capability !== undefined)
    return { page: `/capabilities/${encodeURIComponent(capability)}`, name: capability }
  const [, tool] = [...tools].find(([route]) => path.endsWith(route)) ?? []
  return tool && { page: `/tools/${tool.name}`, name: tool.title }
}
