// Who sells what: registration, proof of hosts, services from draft to retired, what the operator decides, and who is told.
import { createHosts, type Hosts } from './hosts.ts'
import { createImport } from './import.ts'
import { createListings } from './listings.ts'
import { createModeration } from './moderation.ts'
import { type SellerParts, sellerOf } from './parts.ts'
import type { Sellers } from './ports.ts'
import { createRegistration } from './registration.ts'

export type { SellerParts } from './parts.ts'
export type { Sellers } from './ports.ts'

export interface OpenSellers extends Sellers, Pick<Hosts, 'recheck'> {}

/** Everything that sellers and the operator do on the market. */
export function createSellers(parts: SellerParts): OpenSellers {
  const { claimHost, verifyHost, recheck } = createHosts(parts)
  const listings = createListings(parts)
  return {
    ...createRegistration(parts),
    claimHost,
    verifyHost,
    recheck,
    ...listings,
    ...createImport(parts, listings),
    ...createModeration(parts),
    async events(key, page) {
      const { id } = await sellerOf(parts, key)
      return parts.store.listMarketEvents(id, page)
    },
  }
}
