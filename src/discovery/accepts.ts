// Reads ways to pay as a listing or a 402 names them, v1 and v2, and makes them comparable.
import type { SeenTerms } from '../../schemas/discovery.ts'
import { PaymentRequirements, PaymentRequirementsV1 } from '../../schemas/x402.ts'
import { createNetworks } from '../core/networks.ts'
import { isObject } from '../lib/json.ts'
import { cleanText, copyData } from './data.ts'
import { MAX_DATA, readMimeType, readUrl } from './fields.ts'

const MAX_ACCEPTS = 10
const MAX_EXTRA = 1024

/** The same prices, the same text, in whatever order they are listed. */
export function priceOf(terms: readonly SeenTerms[]): string {
  const texts = terms.map(({ scheme, network, asset, amount, payTo }) =>
    JSON.stringify({ amount, asset, network, payTo, scheme }),
  )
  return `[${texts.sort().join()}]`
}

/** The comparable terms of one way to pay that `readAccepts` gave, v1 or v2; the network as CAIP-2. */
export function termsOf(accept: Readonly<Record<string, unknown>>): SeenTerms {
  return {
    scheme: String(accept['scheme']),
    network: networkId(String(accept['network'])),
    asset: String(accept['asset']),
    amount: String(accept['amount'] ?? accept['maxAmountRequired']),
    payTo: String(accept['payTo']),
  }
}

const V1_CHAINS = createNetworks([8453, 84532, 137, 43114])
/** CAIP-2 for the names of v1; anything else as it is. */
export const networkId = (name: string): string => V1_CHAINS.find(name)?.network ?? name

/** Reads at most ten ways to pay of a listing or a 402; those that are not valid are left out. */
export function readAccepts(value: unknown, version: 1 | 2): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, MAX_ACCEPTS).flatMap((item) => {
    const found = version === 2 ? readAcceptV2(item) : readAcceptV1(item)
    return found === undefined ? [] : [found]
  })
}

function readAcceptV2(item: unknown): Record<string, unknown> | undefined {
  const parsed = PaymentRequirements.safeParse(item)
  if (!parsed.success || !areWords(parsed.data)) return undefined
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds } = parsed.data
  const extra = copyData(parsed.data.extra, MAX_EXTRA)
  return {
    scheme,
    network,
    amount,
    asset,
    payTo,
    maxTimeoutSeconds,
    ...(isObject(extra) && { extra }),
  }
}

function readAcceptV1(item: unknown): Record<string, unknown> | undefined {
  const parsed = PaymentRequirementsV1.safeParse(item)
  if (!parsed.success || !areWords(parsed.data)) return undefined
  const { scheme, network, maxAmountRequired, payTo, maxTimeoutSeconds, asset } = parsed.data
  const resource = readUrl(parsed.data.resource)?.href
  if (resource === undefined) return undefined
  const outputSchema = copyData(parsed.data.outputSchema, MAX_DATA)
  const extra = copyData(parsed.data.extra, MAX_EXTRA)
  return {
    scheme,
    network,
    maxAmountRequired,
    resource,
    description: cleanText(parsed.data.description, 1024) ?? '',
    mimeType: readMimeType(parsed.data.mimeType) ?? '',
    payTo,
    maxTimeoutSeconds,
    asset,
    ...(isObject(outputSchema) && { outputSchema }),
    ...(isObject(extra) && { extra }),
  }
}

/** Schemes, addresses and assets are printable words in every family of chains. */
const areWords = ({
  scheme,
  asset,
  payTo,
  network,
}: Record<'scheme' | 'asset' | 'payTo' | 'network', string>) =>
  [scheme, asset, payTo, network].every((text) => /^[!-~]+$/.test(text))
