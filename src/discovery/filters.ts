// Filters of lists and searches.
import type { DiscoveryFilters } from '../../schemas/discovery.ts'
import { networkId } from './accepts.ts'
import type { Entry } from './entry.ts'

/** All that are given must hold, of one and the same way to pay where they speak of payment. */
export function filterOf(filters: DiscoveryFilters): (entry: Entry) => boolean {
  const payTo = filters.payTo?.toLowerCase()
  const network = filters.network === undefined ? undefined : networkId(filters.network)
  const wanted = (filters.extensions ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  return (entry) =>
    (filters.type === undefined || entry.type === filters.type) &&
    wanted.every((name) => entry.extensions !== undefined && Object.hasOwn(entry.extensions, name)) &&
    entry.terms.some(
      (terms) =>
        (payTo === undefined || terms.payTo.toLowerCase() === payTo) &&
        (filters.scheme === undefined || terms.scheme === filters.scheme) &&
        (network === undefined || terms.network === network),
    )
}

/** The same filters, the same text. */
export const describeFilters = ({ type, payTo, scheme, network, extensions }: DiscoveryFilters): string =>
  JSON.stringify([type, payTo, scheme, network, extensions].map((value) => value ?? null))
