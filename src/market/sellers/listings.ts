// What a seller does with its services, from draft to retired. Nothing is sold that was not tried with its own example, from a host
// that is not proven, or before the operator has looked where the settings say so.
import type { OwnListing, RouteCheck } from '../../../schemas/market-seller.ts'
import { GatewayError } from '../../core/errors.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { Listing, ListingDocument, ListingState, Seller } from '../../store/ports.ts'
import { applyEdit, hostOf, needsCheck, readReason } from './document.ts'
import { checkServiceId, lookOf } from './names.ts'
import {
  activeSellerOf,
  demandProof,
  eventOf,
  isHostProven,
  listingOf,
  noPlace,
  ownWorkUnderWay,
  rulesOf,
  type SellerParts,
  sellerOf,
} from './parts.ts'
import type { ListingStep, Sellers } from './ports.ts'
import { toOwnListing } from './wire.ts'

export type Listings = Pick<Sellers, 'create' | 'update' | 'step' | 'check' | 'setCredential'>

/** A check that is so old says little of the upstream of now. */
const CHECK_HOLDS_MS = 3600 * 1000
/** Upstreams are slow on purpose, too: as long may all routes of a service take together. */
const CHECK_MS = 45_000
const CHECKS_AT_ONCE = 4

interface Checked {
  readonly ok: boolean
  readonly routes: RouteCheck[]
}

export function createListings(parts: SellerParts): Listings {
  const { store, settings, now, addresses, egress, tryRoute } = parts
  const checks = createSemaphore(CHECKS_AT_ONCE)
  const checking = new Set<string>()
  const shown = (listing: Listing) => toOwnListing(listing, addresses.baseUrl)

  /** Tries every route, one after the other: a seller's own host is not to be flooded by its own request. */
  async function tryAll(seller: Seller, document: ListingDocument): Promise<Checked> {
    await demandProof(parts, seller, document.origin)
    if (checking.has(seller.id)) throw ownWorkUnderWay('A check of your services is under way.', 30)
    checking.add(seller.id)
    const release = await checks.acquire(5000)
    try {
      if (!release) throw noPlace('Too many services are being checked.', 30)
      const deadline = now() + CHECK_MS
      const routes: RouteCheck[] = []
      for (const route of document.routes) {
        const { method, path } = route
        const left = deadline - now()
        const result =
          left > 0
            ? await tryRoute({
                sellerId: seller.id,
                accountId: seller.accountId,
                document,
                route: { ...route, timeoutMs: Math.min(route.timeoutMs, left) },
              })
            : {
                ok: false,
                status: null,
                durationMs: null,
                problem: 'The routes before it took all the time there is.',
              }
        const { ok, status, durationMs, problem } = result
        routes.push({ method, path, ok, status, duration_ms: durationMs, problem })
      }
      return { ok: routes.every(({ ok }) => ok), routes }
    } finally {
      release?.()
      checking.delete(seller.id)
    }
  }

  /** @throws {GatewayError} state_conflict with what each route answered */
  async function demandCheck(seller: Seller, document: ListingDocument): Promise<void> {
    const { ok, routes } = await tryAll(seller, document)
    if (ok) return
    throw new GatewayError(
      'state_conflict',
      'The upstream did not answer the examples as the listing says. `routes` says what each did; nothing was changed.',
      { extras: { routes } },
    )
  }

  async function revise(seller: Seller, listing: Listing, document: ListingDocument): Promise<Listing> {
    const { approval, limits } = await settings()
    const isOffered = listing.state === 'active' || listing.state === 'paused'
    const isTried = needsCheck(listing.document, document)
    if (listing.state !== 'draft' && (isTried || isOffered)) await demandProof(parts, seller, document.origin)
    const wasChecked = isTried && (isOffered || listing.state === 'pending')
    if (wasChecked) await demandCheck(seller, document)
    const at = now()
    const revised = await store.reviseListing({
      sellerId: seller.id,
      serviceId: listing.serviceId,
      fromVersion: listing.version,
      fromState: listing.state,
      host: hostOf(document.origin),
      document,
      ...(approval === 'always' && isOffered && { state: 'pending' as const }),
      maxRevisionsADay: limits.revisions_per_listing_and_day,
      event: eventOf('listing.changed', at, { service_id: listing.serviceId, version: listing.version + 1 }),
      now: at,
    })
    if (!revised.ok)
      throw revised.reason === 'number'
        ? new GatewayError(
            'rate_limited',
            'The service was changed as often as a day allows. Try again tomorrow.',
          )
        : changedMeanwhile()
    if (!wasChecked) return revised.listing
    const version = revised.listing.version
    await store.noteListingCheck({ sellerId: seller.id, serviceId: listing.serviceId, version, now: at })
    return { ...revised.listing, checkedVersion: version, checkedAt: at }
  }

  async function move(
    listing: Listing,
    to: ListingState,
    from: readonly ListingState[],
    more: { reason?: string | null; pausedBy?: Listing['pausedBy']; approvedAt?: number } = {},
  ): Promise<OwnListing> {
    const { sellerId, serviceId } = listing
    const at = now()
    const { reason = null, ...rest } = more
    const moved = await store.setListingState({
      sellerId,
      serviceId,
      from,
      to,
      reason,
      ...rest,
      event: eventOf(`listing.${to}`, at, { service_id: serviceId, reason }),
      now: at,
    })
    if (!moved) throw changedMeanwhile()
    return shown(moved)
  }

  /** Where a service goes that its seller offers: to the operator, or to the buyers. */
  async function submit(seller: Seller, listing: Listing): Promise<OwnListing> {
    demandState(listing, ['draft'])
    await demandProof(parts, seller, listing.document.origin)
    const isFresh =
      listing.checkedVersion === listing.version && now() - (listing.checkedAt ?? 0) < CHECK_HOLDS_MS
    if (!isFresh) {
      await demandCheck(seller, listing.document)
      await store.noteListingCheck({
        sellerId: seller.id,
        serviceId: listing.serviceId,
        version: listing.version,
        now: now(),
      })
    }
    const { approval } = await settings()
    const others = approval === 'first' ? await store.listListingsOf(seller.id) : []
    const isTrusted = approval === 'never' || isTrustworthy(others)
    if (!isTrusted) return move(listing, 'pending', ['draft'], { reason: 'It waits for the operator.' })
    return move(listing, 'active', ['draft'], { approvedAt: now() })
  }

  async function resume(seller: Seller, listing: Listing): Promise<OwnListing> {
    demandState(listing, ['paused'])
    await demandProof(parts, seller, listing.document.origin)
    if (listing.checkedVersion !== listing.version) await demandCheck(seller, listing.document)
    return move(listing, 'active', ['paused'])
  }

  const steps: Readonly<
    Record<ListingStep, (seller: Seller, listing: Listing, reason: string | undefined) => Promise<OwnListing>>
  > = {
    submit,
    resume,
    async pause(_seller, listing, reason) {
      demandState(listing, ['active', 'paused'])
      return move(listing, 'paused', ['active', 'paused'], {
        pausedBy: 'seller',
        reason: reason === undefined ? 'Paused by its seller.' : readReason(reason),
      })
    },
    async retire(_seller, listing) {
      const from: ListingState[] = ['draft', 'pending', 'active', 'paused', 'suspended']
      demandState(listing, from)
      return move(listing, 'retired', from, { reason: 'Retired by its seller.' })
    },
  }

  return {
    async create(key, serviceId, edit) {
      const seller = await activeSellerOf(parts, key)
      const verdict = checkServiceId(serviceId)
      if (!verdict.ok) throw new GatewayError('input_invalid', `/service_id: ${verdict.why}`)
      const document = applyEdit(undefined, edit, await rulesOf(parts))
      const { limits } = await settings()
      const created = await store.createListing({
        sellerId: seller.id,
        serviceId,
        skeleton: lookOf(serviceId),
        host: hostOf(document.origin),
        document,
        limit: limits.listings_per_seller,
        now: now(),
      })
      if (created.ok) return shown(created.listing)
      const same = await store.findListing(seller.id, serviceId)
      if (same?.state === 'draft' && JSON.stringify(same.document) === JSON.stringify(document))
        return shown(same)
      throw new GatewayError(
        'state_conflict',
        created.reason === 'name'
          ? 'You have a service of this id, or one that looks like it. Choose another.'
          : `A seller has at most ${limits.listings_per_seller} services here. Ask the operator.`,
      )
    },

    async update(key, serviceId, edit) {
      const seller = await activeSellerOf(parts, key)
      const listing = await listingOf(parts, seller.id, serviceId)
      demandState(listing, ['draft', 'pending', 'active', 'paused', 'suspended'])
      const document = applyEdit(listing.document, edit, await rulesOf(parts))
      if (document.credentialId !== null && document.origin !== listing.document.origin)
        throw new GatewayError(
          'state_conflict',
          'The credential of this service is for its host alone. Remove it first (secret: null), then change the origin.',
        )
      return shown(await revise(seller, listing, document))
    },

    async step(key, serviceId, step, reason) {
      const seller =
        step === 'retire' || step === 'pause' ? await sellerOf(parts, key) : await activeSellerOf(parts, key)
      return steps[step](seller, await listingOf(parts, seller.id, serviceId), reason)
    },

    async check(key, serviceId) {
      const seller = await activeSellerOf(parts, key)
      const listing = await listingOf(parts, seller.id, serviceId)
      const checked = await tryAll(seller, listing.document)
      const { version } = listing
      if (checked.ok) await store.noteListingCheck({ sellerId: seller.id, serviceId, version, now: now() })
      return checked
    },

    async setCredential(key, serviceId, given) {
      const seller = await activeSellerOf(parts, key)
      const listing = await listingOf(parts, seller.id, serviceId)
      demandState(listing, ['draft', 'pending', 'active', 'paused', 'suspended'])
      const { document } = listing
      const { credentialId, origin, basePath } = document
      // A secret goes to no host that somebody else may hold.
      if (!isHostProven(await store.findHost(seller.id, hostOf(origin)), seller))
        await demandProof(parts, seller, origin)
      let next: string | null = null
      if (given !== null) {
        const { credential_id } = await egress.createCredential(seller.accountId, {
          provider: 'custom',
          label: `market ${serviceId}`,
          secret: new Map([['secret', given.secret]]),
          scope: { hosts: [hostOf(origin)], path_prefixes: [basePath || '/'], methods: [...METHODS] },
          header: given.header,
          scheme: given.scheme,
          isAdministrator: false,
        })
        next = credential_id
      }
      let revised: Listing
      try {
        revised = await revise(seller, listing, { ...document, credentialId: next })
      } catch (thrown) {
        if (next !== null) await egress.deleteCredential(seller.accountId, next)
        throw thrown
      }
      if (credentialId !== null)
        await egress.deleteCredential(seller.accountId, credentialId).catch(ignoreGone)
      return shown(revised)
    },
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Who had a service approved brings others by itself, unless the operator has stopped one since. */
const isTrustworthy = (listings: readonly Listing[]) =>
  listings.some(({ approvedAt }) => approvedAt !== null) &&
  !listings.some(({ state }) => state === 'suspended')

function ignoreGone(thrown: unknown): void {
  if (!(thrown instanceof GatewayError && thrown.code === 'credential_not_found')) throw thrown
}

/** @throws {GatewayError} state_conflict */
function demandState({ state, stateReason }: Listing, wanted: readonly ListingState[]): void {
  if (wanted.includes(state)) return
  throw new GatewayError(
    'state_conflict',
    `The service is ${state}${stateReason === null ? '' : ` (${stateReason})`}; this needs ${wanted.join(' or ')}.`,
  )
}

const changedMeanwhile = () =>
  new GatewayError(
    'state_conflict',
    'The service was changed meanwhile. Read it again, then repeat the change.',
  )
