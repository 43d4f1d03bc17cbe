// Lists our own paid tools as a catalogue does.
import type { PaymentNetwork } from '../core/networks.ts'
import { toRequirements } from '../payments/requirements.ts'
import type { AnyTool, RegisteredTool, Registry, RestRoute, Sold } from '../core/registry.ts'
import { type Entry, makeEntry } from './entry.ts'
import { toTimestamp } from '../lib/timestamp.ts'

export interface OwnListingParts {
  readonly registry: Registry
  readonly networks: readonly PaymentNetwork[]
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly startedAt: number
}

const SERVICE_NAME = 'Agent Gateway'

/** Paid calls that anyone can make: what may ask for a key is not for strangers. */
export function listOwnTools({ registry, ...parts }: OwnListingParts): readonly Entry[] {
  return registry.tools
    .filter(({ tool }) => tool.doors.includes('rest') && !tool.errors.includes('key_required'))
    .flatMap((registered) =>
      registered.tool.rest
        // A template names many resources, each with a listing of its own.
        .filter(({ path }) => !path.includes('{'))
        .flatMap((route) =>
          soldBy(registered.tool).flatMap(
            (sold, at) => entryOf(registered, route, { ...parts, sold, at }) ?? [],
          ),
        ),
    )
}

/** Most tools sell one thing. */
const soldBy = ({ sold, price, title, summary, skills, examples }: AnyTool): readonly Sold[] =>
  sold ??
  (price.kind === 'x402'
    ? [
        {
          name: title,
          amountAtomic: price.amountAtomic,
          description: summary,
          tags: skills[0]?.tags ?? [],
          input: (examples[0]?.input ?? {}) as Sold['input'],
        },
      ]
    : [])

/** Plans of our tools charge on one network, or on its test network: other configured ones are for other sellers. */
const plannedOn = (isTest: boolean) => (isTest ? 'eip155:84532' : 'eip155:8453')

function entryOf(
  { tool: { price }, inputSchema }: RegisteredTool,
  route: RestRoute,
  {
    networks,
    payTo,
    baseUrl,
    startedAt,
    sold,
    at,
  }: Omit<OwnListingParts, 'registry'> & { sold: Sold; at: number },
): Entry | undefined {
  if (payTo === undefined) return undefined
  const { amountAtomic } = sold
  const isTest = route.fixed?.['testnet'] === true
  const soldOn =
    price.kind === 'x402' && price.networksFrom === 'known' ? price.networks : [plannedOn(isTest)]
  const accepts = networks
    .filter(({ network }) => soldOn.includes(network))
    .map((network) => toRequirements({ network, amountAtomic, payTo }))
  if (accepts.length === 0) return undefined
  return makeEntry({
    resource: baseUrl + route.path,
    // The first one stands for the address: what others say of that is held against it.
    variant: at === 0 ? undefined : String(at),
    type: 'http',
    method: route.method,
    x402Version: 2,
    accepts,
    lastUpdated: toTimestamp(startedAt),
    description: sold.description,
    mimeType: 'application/json',
    serviceName: SERVICE_NAME,
    tags: sold.tags.slice(0, 5),
    extensions: {
      bazaar: {
        info: {
          input: {
            type: 'http',
            method: route.method,
            bodyType: 'json',
            body: { ...sold.input, ...route.fixed },
          },
          output: { type: 'json' },
        },
        schema: bodySchema(route.method, inputSchema),
      },
    },
  })
}

const bodySchema = (method: string, body: unknown) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    input: {
      type: 'object',
      properties: {
        type: { type: 'string', const: 'http' },
        method: { type: 'string', enum: [method] },
        bodyType: { type: 'string', enum: ['json'] },
        body,
      },
      required: ['type', 'method', 'bodyType', 'body'],
      additionalProperties: false,
    },
    output: { type: 'object', properties: { type: { type: 'string' } } },
  },
  required: ['input'],
})

/**
 * @param listings everything that we list ourselves
 * @returns whether somebody else's entry is for our host and is none of ours: another method, path, query, port or tool
 */
export function impostorOf(listings: readonly Entry[], baseUrl: string): (entry: Entry) => boolean {
  const keys = new Set(listings.map(({ key }) => key))
  const host = hostOf(baseUrl)
  return ({ key, resource }) => hostOf(resource) === host && !keys.has(key)
}

/** The host of a URL, without the dot that may stand at its end. */
export const hostOf = (url: string) => new URL(url).hostname.replace(/\.$/, '')
