// What the operator decides: whether a service may be sold, and whether a seller may. Sellers are told, with the reason.
import { GatewayError } from '../../core/errors.ts'
import type { Listing, ListingState, Seller } from '../../store/ports.ts'
import { hostOf, readReason } from './document.ts'
import { eventOf, isHostProven, listingOf, type SellerParts } from './parts.ts'
import type { Decision, Sellers } from './ports.ts'
import { toOwnListing } from './wire.ts'

export type Moderation = Pick<Sellers, 'queue' | 'decide'>

export function createModeration(parts: SellerParts): Moderation {
  const { store, now, addresses } = parts

  async function decideSeller(seller: Seller, decision: Decision, reason: string): Promise<void> {
    if (decision === 'approve')
      throw new GatewayError('input_invalid', '/service_id: sellers are not approved, services are.')
    const state = decision === 'suspend' ? 'suspended' : 'active'
    const at = now()
    const changed = await store.setSellerState({
      id: seller.id,
      state,
      reason: state === 'suspended' ? reason : null,
      event: eventOf(state === 'suspended' ? 'seller.suspended' : 'seller.reinstated', at, { reason }),
      now: at,
    })
    if (!changed) throw new GatewayError('state_conflict', `The seller is ${state} already.`)
  }

  async function move(
    { sellerId, serviceId }: Listing,
    from: readonly ListingState[],
    to: ListingState,
    more: {
      reason: string | null
      pausedBy?: Listing['pausedBy']
      approvedAt?: number
      version?: number
      type: string
    },
  ): Promise<void> {
    const { type, ...rest } = more
    const at = now()
    const moved = await store.setListingState({
      sellerId,
      serviceId,
      from,
      to,
      ...rest,
      event: eventOf(type, at, { service_id: serviceId, reason: more.reason }),
      now: at,
    })
    if (!moved)
      throw new GatewayError(
        'state_conflict',
        `The service is in none of these states, or was changed meanwhile: ${from.join(', ')}.`,
      )
  }

  /** Lets a service be sold, or wait for the proof of its host. */
  async function release(
    listing: Listing,
    from: ListingState,
    type: string,
    approvedAt: number,
  ): Promise<void> {
    const { version } = listing
    const seller = await store.findSeller(listing.sellerId)
    const host = await store.findHost(listing.sellerId, hostOf(listing.document.origin))
    if (seller && isHostProven(host, seller))
      return move(listing, [from], 'active', { reason: null, approvedAt, version, type })
    return move(listing, [from], 'paused', {
      reason: 'The host is not proven to be the seller’s.',
      pausedBy: 'proof',
      approvedAt,
      version,
      type,
    })
  }

  return {
    async queue(limit) {
      const pending = await store.listPendingListings(limit)
      return pending.map((listing) => toOwnListing(listing, addresses.baseUrl))
    },

    async decide({ seller: sellerId, serviceId, version }, decision, words) {
      const reason = readReason(words)
      if (reason === '')
        throw new GatewayError('input_invalid', '/reason: say why, in words that the seller sees.')
      const seller = await store.findSeller(sellerId)
      if (!seller) throw new GatewayError('seller_not_found', `There is no seller ${sellerId}.`)
      if (serviceId === undefined) return decideSeller(seller, decision, reason)
      const listing = await listingOf(parts, sellerId, serviceId)
      if (decision !== 'suspend') assertLookedAt(listing, version)
      switch (decision) {
        case 'approve':
          return release(listing, 'pending', 'listing.approved', now())
        case 'suspend':
          return move(listing, ['pending', 'active', 'paused'], 'suspended', {
            reason,
            type: 'listing.suspended',
          })
        case 'reinstate':
          return release(listing, 'suspended', 'listing.reinstated', now())
      }
    },
  }
}

/**
 * What is let go is what the operator has seen: its seller may change it while it waits.
 * @throws {GatewayError} state_conflict
 */
function assertLookedAt(listing: Listing, version: number | undefined): void {
  if (version === listing.version || (version === undefined && listing.version === 1)) return
  throw new GatewayError(
    'state_conflict',
    version === undefined
      ? `The service was changed: it is version ${listing.version} now. Look at it, and name it as \`version\`.`
      : `Version ${version} is not what would be sold: it is version ${listing.version} now. Look at that one.`,
    { extras: { version: listing.version } },
  )
}
