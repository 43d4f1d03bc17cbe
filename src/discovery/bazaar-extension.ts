// Reads the extension `bazaar` of a payment that was settled for another seller into an entry as catalogues have them. All of
// it is a claim of whoever had the payment settled; what is known is who was paid.
import type { PaymentRequirements } from '../../schemas/x402.ts'
import { isObject } from '../lib/json.ts'
import { copyData, memberOf } from './data.ts'
import { type Entry, readEntry } from './entry.ts'
import { isPublicHost, isRouteTemplate, MAX_DATA, readUrl } from './fields.ts'
import { validateBySchema } from '../lib/json-schema.ts'

export interface SettledSale {
  /** The resource as the payment names it, with what it says of itself. */
  readonly resource: unknown
  readonly bazaar: unknown
  readonly requirements: PaymentRequirements
}

export type SaleVerdict =
  | {
      readonly ok: true
      readonly entry: Entry
      /** What `entry` was read from, as JSON data. */
      readonly item: Readonly<Record<string, unknown>>
    }
  /** A sentence for the seller. */
  | { readonly ok: false; readonly reason: string }

const refused = (reason: string) => ({ ok: false, reason }) as const
const SCHEMA_REFUSALS = {
  invalid: 'info does not match schema',
  unsupported: 'schema is not JSON Schema 2020-12 that stands alone: nothing outside it is resolved',
  costly: 'schema takes too much work to check',
}

/** @param now stands for the time of the settlement, in milliseconds */
export function readSale({ resource, bazaar, requirements }: SettledSale, now: number): SaleVerdict {
  const extension = copyData(bazaar, MAX_DATA)
  if (!isObject(extension))
    return refused(`the extension is no object, nested deeper than 12, or longer than ${MAX_DATA} characters`)
  const { info, schema, routeTemplate } = extension
  const verdict = validateBySchema(schema, info)
  if (!verdict.ok) return refused(SCHEMA_REFUSALS[verdict.reason])
  const input = memberOf(info, 'input')
  const wrong = problemOf(input)
  if (wrong !== undefined) return refused(wrong)

  const named = memberOf(resource, 'url')
  const url = typeof named === 'string' ? readUrl(named) : undefined
  if (!url || url.protocol !== 'https:' || !isPublicHost(url))
    return refused('resource.url is no https address of a public host')
  const type = memberOf(input, 'type')
  const address = addressOf(url, type === 'http' ? routeTemplate : undefined)
  const item = {
    resource: address,
    type,
    x402Version: 2,
    accepts: [requirements],
    lastUpdated: now,
    description: memberOf(resource, 'description'),
    mimeType: memberOf(resource, 'mimeType'),
    serviceName: memberOf(resource, 'serviceName'),
    tags: memberOf(resource, 'tags'),
    iconUrl: memberOf(resource, 'iconUrl'),
    extensions: { bazaar: extension },
    // A template cannot be asked for itself; one of its resources can.
    ...(address !== url.origin + url.pathname && { probe: url.origin + url.pathname }),
  }
  const read = readEntry(item, now)
  return read.ok
    ? { ok: true, entry: read.entry, item }
    : refused(`the resource cannot be listed: ${read.reason}`)
}

/** Without a query, which is of one request; a template stands for every path that it matches, so it has to match this one. */
function addressOf({ origin, pathname }: URL, template: unknown): string {
  if (!isRouteTemplate(template)) return origin + pathname
  const parts = template.split('/')
  const path = pathname.split('/')
  const isOfThis =
    parts.length === path.length &&
    parts.every((part, i) => (part.startsWith(':') ? path[i] !== '' : part === path[i]))
  return isOfThis ? origin + template : origin + pathname
}

const QUERY_METHODS = ['GET', 'HEAD', 'DELETE']
const BODY_METHODS = ['POST', 'PUT', 'PATCH']

/** What the extension's own text asks of `info.input`, whatever its schema says. */
function problemOf(input: unknown): string | undefined {
  if (!isObject(input)) return 'info.input is missing'
  const { type, method, bodyType, toolName, tool, inputSchema, transport } = input
  if (type === 'mcp') {
    const name = toolName ?? tool
    if (typeof name !== 'string' || name === '') return 'info.input.toolName is missing'
    if (!isObject(inputSchema)) return 'info.input.inputSchema is missing'
    return transport === undefined || transport === 'streamable-http' || transport === 'sse'
      ? undefined
      : 'info.input.transport must be streamable-http or sse'
  }
  if (type !== 'http') return 'info.input.type must be http or mcp'
  if (method !== undefined && ![...QUERY_METHODS, ...BODY_METHODS].includes(String(method)))
    return 'info.input.method is none that can be listed'
  if (bodyType === undefined) return undefined
  if (!['json', 'form-data', 'text'].includes(String(bodyType)))
    return 'info.input.bodyType must be json, form-data or text'
  return method === undefined || BODY_METHODS.includes(String(method))
    ? undefined
    : 'info.input.bodyType needs a method with a body'
}
