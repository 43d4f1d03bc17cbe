// The terms of a call: which version and which fee an offer was made under, and the words and the extension that a 402 says them in.
import { formatAtomic } from '../../../schemas/money.ts'
import type { MarketNetwork } from '../../../schemas/market.ts'
import type { Terms } from '../../core/charging.ts'
import { isObject } from '../../lib/json.ts'
import { MARKETPLACE_EXTENSION } from '../../payments/extensions.ts'
import type { Payment } from '../../payments/ports.ts'
import type { FeeTerms, ListingRoute, Sale } from '../../store/ports.ts'
import { type Allocation, allocate } from '../fee.ts'
import { encodeSegment } from './path.ts'
import type { Sold } from './ports.ts'

/** A route at its price, under one version of its listing and one fee. */
export interface Priced {
  readonly version: number
  readonly route: ListingRoute
  readonly fee: FeeTerms
}

/** What a payment says of the offer that it accepts. */
interface Accepted {
  readonly amount: string
  /** `info` of our extension as the buyer sends it back, where it does. */
  readonly echo: Readonly<Record<string, unknown>>
}

export function acceptedOf({ kind, accepted, extensions }: Payment): Accepted {
  const extension = extensions[MARKETPLACE_EXTENSION]
  const info = isObject(extension) ? extension['info'] : undefined
  const amount = kind.type === 'eip3009' ? String(kind.authorization.value) : (accepted?.amount ?? '')
  return { amount, echo: isObject(info) ? info : {} }
}

/**
 * The offer that a payment accepts: an open offer keeps its price and its fee when either has changed since. Without any that fits it is
 * today's, which the payment then does not meet.
 * @param offered newest first; all of them may still be open
 */
export function chooseOffer(offered: readonly [Priced, ...Priced[]], accepted: Accepted | undefined): Priced {
  if (!accepted) return offered[0]
  const fitting = offered.filter(({ route }) => route.priceAtomic === accepted.amount)
  const named = fitting.filter(({ version }) => version === accepted.echo['listing_version'])
  const { allocation } = accepted.echo
  const fee = isObject(allocation) ? allocation['policy'] : undefined
  const sameFee = (named.length > 0 ? named : fitting).find(
    (one) =>
      isObject(fee) &&
      fee['bps'] === one.fee.bps &&
      fee['fixed_atomic'] === one.fee.fixedAtomic &&
      fee['minimum_atomic'] === one.fee.minimumAtomic,
  )
  return sameFee ?? named[0] ?? fitting[0] ?? offered[0]
}

export const routeName = ({ method, path }: Pick<ListingRoute, 'method' | 'path'>) => `${method} ${path}`

export interface Shown {
  readonly sold: Pick<Sold, 'sellerId' | 'serviceId' | 'payoutMode' | 'current' | 'accountId'>
  readonly priced: Priced
  readonly allocation: Allocation
  readonly network: MarketNetwork
  /** Whether the address itself is the service, so that query and body are the route's own. */
  readonly isDirect: boolean
}

export function saleOf({ sold, priced, allocation }: Omit<Shown, 'network' | 'isDirect'>): Sale {
  return {
    sellerId: sold.sellerId,
    serviceId: sold.serviceId,
    listingVersion: priced.version,
    route: routeName(priced.route),
    fee: priced.fee,
    feeAtomic: String(allocation.platformFeeAtomic),
    proceedsAtomic: String(allocation.sellerProceedsAtomic),
    payoutMode: sold.payoutMode,
  }
}

export const allocationOf = ({ route, fee }: Priced): Allocation => allocate(BigInt(route.priceAtomic), fee)

/** How a challenge speaks of this offer. What a seller wrote stands in quotation marks. */
export function shownOf(shown: Shown): NonNullable<Terms['shown']> {
  const { sold, priced, network, isDirect } = shown
  const { route, version, fee } = priced
  const { sellerId, serviceId } = sold
  const { path, query, body } = exampleOf(route)
  return {
    key: `${sellerId}/${serviceId} v${version} ${routeName(route)} ${network} ${isDirect} ${fee.bps} ${fee.fixedAtomic} ${fee.minimumAtomic}`,
    description: wordsOf(shown),
    ...(isDirect
      ? {
          example: isObject(body) ? body : query,
          schema: (route.bodySchema ?? route.inputSchema ?? NO_INPUT) as Readonly<Record<string, unknown>>,
        }
      : {
          example: {
            seller: sellerId,
            service_id: serviceId,
            ...(path !== '/' && { path }),
            ...(Object.keys(query).length > 0 && { query }),
            ...(body !== undefined && { body }),
            ...(network === TEST && { testnet: true }),
          },
        }),
    extensions: { [MARKETPLACE_EXTENSION]: { info: infoOf(shown), schema: { type: 'object' } } },
  }
}

/** The seller's example with its path parameters where they belong. */
function exampleOf({ path, example }: ListingRoute) {
  const given = example?.query ?? {}
  const inPath = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name))
  const fill = (whole: string, name: string) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    return typeof value === 'string' || typeof value === 'number' ? encodeSegment(String(value)) : whole
  }
  return {
    path: path.replaceAll(/\{([^{}]+)\}/g, fill),
    query: Object.fromEntries(Object.entries(given).filter(([name]) => !inPath.has(name))),
    body: example?.body,
  }
}

const TEST: MarketNetwork = 'eip155:84532'
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false }
const MAX_WORDS = 160

function wordsOf({ sold, priced, allocation, network }: Shown): string {
  const { sellerId, serviceId, current, accountId } = sold
  const { grossAtomic, platformFeeAtomic, sellerProceedsAtomic } = allocation
  const name =
    accountId === null ? current.document.name : `“${cut(current.document.name)}” (the seller's words)`
  return (
    `${name}, ${sellerId}/${serviceId}, ${routeName(priced.route)}: ${formatAtomic(grossAtomic)} ${network === TEST ? 'test ' : ''}USDC a call. Of ${grossAtomic} atomic ` +
    `units the platform's fee is ${platformFeeAtomic} (${feeWords(priced.fee)}); the seller gets ${sellerProceedsAtomic}. A failed call ` +
    'is not charged.'
  )
}

const cut = (text: string) =>
  (text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text).replaceAll(/[“”]/g, '"')

const feeWords = ({ bps, fixedAtomic, minimumAtomic }: FeeTerms) =>
  [
    `${bps} bps`,
    ...(fixedAtomic > 0 ? [`and ${fixedAtomic}`] : []),
    ...(minimumAtomic > 0 ? [`at least ${minimumAtomic}`] : []),
    'rounded up',
  ].join(', ')

const infoOf = ({ sold, priced, allocation }: Shown) => ({
  seller: sold.sellerId,
  service_id: sold.serviceId,
  listing_version: priced.version,
  route: routeName(priced.route),
  allocation: {
    gross_atomic: String(allocation.grossAtomic),
    platform_fee_atomic: String(allocation.platformFeeAtomic),
    seller_proceeds_atomic: String(allocation.sellerProceedsAtomic),
    policy: {
      bps: priced.fee.bps,
      fixed_atomic: priced.fee.fixedAtomic,
      minimum_atomic: priced.fee.minimumAtomic,
      rounding: 'ceil_to_atomic_unit',
    },
  },
})
