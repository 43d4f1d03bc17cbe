// Filters of lists and searches.
import type { DiscoveryFilters } from '../../schemas/discovery.ts'
import { ASSET_DECIMALS, networkOfUsdc } from '../core/networks.ts'
import { networkId } from './accepts.ts'
import type { Merged } from './merge.ts'

/** All that are given must hold, of one and the same way to pay where they speak of payment. */
export function filterOf(filters: DiscoveryFilters): (resource: Pick<Merged, 'entry' | 'claims'>) => boolean {
  const payTo = filters.payTo?.toLowerCase()
  const network = filters.network === undefined ? undefined : networkId(filters.network)
  const wanted = (filters.extensions ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  const most = filters.maxUsdc === undefined ? undefined : toAtomic(filters.maxUsdc)
  return ({ entry, claims }) =>
    (filters.source === undefined || claims.some(({ source }) => source === filters.source)) &&
    (filters.type === undefined || entry.type === filters.type) &&
    wanted.every((name) => entry.extensions !== undefined && Object.hasOwn(entry.extensions, name)) &&
    entry.terms.some(
      (terms) =>
        (payTo === undefined || terms.payTo.toLowerCase() === payTo) &&
        (filters.scheme === undefined || terms.scheme === filters.scheme) &&
        (network === undefined || terms.network === network) &&
        (most === undefined ||
          (networkOfUsdc(terms.network, terms.asset) !== undefined && isAtMost(terms.amount, most))),
    )
}

function toAtomic(decimal: string): bigint {
  const [whole = '', part = ''] = decimal.split('.')
  return BigInt(whole + part.padEnd(ASSET_DECIMALS, '0'))
}

const isAtMost = (amount: string, most: bigint) => /^\d{1,78}$/.test(amount) && BigInt(amount) <= most

/** The same filters, the same text. */
export const describeFilters = (filters: DiscoveryFilters): string => {
  const { type, payTo, scheme, network, extensions, source, maxUsdc } = filters
  const first = [type, payTo, scheme, network, extensions]
  // Cursors of before these were there go on.
  const later = source === undefined && maxUsdc === undefined ? [] : [source, maxUsdc]
  return JSON.stringify([...first, ...later].map((value) => value ?? null))
}
