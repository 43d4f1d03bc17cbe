// Discovery as MCP and A2A give it: an entry in full is 700 tokens, most of it schemas, signatures' domains and history.
import type {
  BriefItem,
  BriefListPage,
  BriefSearchPage,
  DiscoveryItem,
  DiscoveryListPage,
  DiscoverySearchPage,
} from '../../schemas/discovery.ts'

const MAX_DESCRIPTION = 300

const text = (value: unknown) => (typeof value === 'string' ? value : '')

const briefOf = (item: DiscoveryItem): BriefItem => ({
  resource: item.resource,
  type: item.type,
  method: item.method,
  ...(item.description !== undefined && { description: cut(item.description) }),
  ...(item.serviceName !== undefined && { serviceName: item.serviceName }),
  accepts: item.accepts.map((way) => ({
    scheme: text(way['scheme']),
    network: text(way['network']),
    amount: text(way['amount'] ?? way['maxAmountRequired']),
    payTo: text(way['payTo']),
  })),
  own: item.own,
  sources: item.sources.map(({ source }) => source),
  same_terms: item.sources.every(({ same_terms }) => same_terms),
  liveness: item.liveness.state,
})

const cut = (words: string) =>
  words.length <= MAX_DESCRIPTION ? words : `${words.slice(0, MAX_DESCRIPTION).toWellFormed()}…`

const DETAILS =
  'Items are in brief. With "full": true they come whole: schemas, each source, price history, settled payments.'

/** A page of the list; whole where that is asked for. */
export const briefList = (
  { items, ...page }: DiscoveryListPage,
  { full }: { readonly full?: boolean | undefined },
): BriefListPage | DiscoveryListPage =>
  full === true ? { items, ...page } : { ...page, details: DETAILS, items: items.map(briefOf) }

/** A page of a search, the same way. */
export const briefSearch = (
  { resources, ...page }: DiscoverySearchPage,
  { full }: { readonly full?: boolean | undefined },
): BriefSearchPage | DiscoverySearchPage =>
  full === true ? { resources, ...page } : { ...page, details: DETAILS, resources: resources.map(briefOf) }
