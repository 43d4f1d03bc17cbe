// What is sold, in memory: our own listing, and sellers' listings as the store had them a second ago, with the versions and the fees
// whose offers may still be open.
import { keepNewest } from '../../lib/keep-newest.ts'
import type { FeeTerms, Listing, ListingDocument, MarketHost, Seller } from '../../store/ports.ts'
import type { Millis } from '../../store/model.ts'
import { OWN_FEE, OWN_LISTING, OWN_PAYOUT_MODE, OWN_SELLER_ID, OWN_SERVICE_ID } from '../own-listing.ts'
import type { Listings, OfferedVersion, Sold } from './ports.ts'
import { isFresh } from '../../lib/fresh.ts'

/** Validity of a signed offer (`maxTimeoutSeconds`), and as much again for a buyer whose clock or way is slow. */
const OFFER_LIFE_MS = 600_000
const FRESH_MS = 1_000
const MAX_KEPT = 20_000
const MAX_EARLIER = 8

/** A version of a listing and when it began. */
interface Version {
  readonly version: number
  readonly document: ListingDocument
  readonly createdAt: Millis
  /** Whether it could be bought. */
  readonly isOffered: boolean
}

export interface ListingRows {
  findListing(sellerId: string, serviceId: string): Promise<Listing | undefined>
  findSeller(sellerId: string): Promise<Seller | undefined>
  findHost(sellerId: string, host: string): Promise<MarketHost | undefined>
  /** Newest first. */
  listVersions(of: { sellerId: string; serviceId: string; limit: number }): Promise<readonly Version[]>
}

export interface ListingParts {
  readonly rows: ListingRows
  /** The operator's terms for sellers, as they stand now. */
  readonly readFee: () => Promise<FeeTerms>
  readonly now: () => number
}

const OWN: Sold = {
  sellerId: OWN_SELLER_ID,
  serviceId: OWN_SERVICE_ID,
  accountId: null,
  payoutAddress: null,
  payoutMode: OWN_PAYOUT_MODE,
  state: 'active',
  stateReason: null,
  isProven: true,
  current: {
    version: OWN_LISTING.version,
    document: { ...OWN_LISTING.document, origin: '', basePath: '', credentialId: null },
  },
  earlier: [],
  fees: [OWN_FEE],
}

interface Kept {
  readonly readAt: number
  readonly sold: Promise<Sold | undefined>
}

export function createListings({ rows, readFee, now }: ListingParts): Listings {
  const kept = new Map<string, Kept>()
  /** Versions never change: their schemas are made ready once. */
  const versions = new Map<string, OfferedVersion>()
  const fees = rememberFees(now)

  async function read(sellerId: string, serviceId: string): Promise<Sold | undefined> {
    const [seller, listing, fee] = await Promise.all([
      rows.findSeller(sellerId),
      rows.findListing(sellerId, serviceId),
      readFee(),
    ])
    if (!seller || !listing) return undefined
    const superseded =
      listing.version > 1 && listing.updatedAt > now() - OFFER_LIFE_MS
        ? await rows.listVersions({ sellerId, serviceId, limit: MAX_EARLIER + 1 })
        : []
    const isSuspended = seller.state === 'suspended'
    // What is sold was proven, and pauses when that ends; a draft may name anybody's host, and so may a version that was one.
    const isUnsold = listing.state === 'draft' || listing.state === 'pending'
    const ofOthers = superseded.filter(({ document }) => document.origin !== listing.document.origin)
    const proven = await provenOrigins(seller, [
      ...(isUnsold ? [listing.document.origin] : []),
      ...ofOthers.map(({ document }) => document.origin),
    ])
    const isProven = !isUnsold || proven.has(listing.document.origin)
    const callable = superseded.filter(
      (version) => !ofOthers.includes(version) || proven.has(version.document.origin),
    )
    return {
      sellerId,
      serviceId,
      accountId: seller.accountId,
      payoutAddress: seller.payoutAddress,
      payoutMode: 'batched_onchain',
      state: isSuspended ? 'suspended' : listing.state,
      stateReason: isSuspended ? seller.stateReason : listing.stateReason,
      isProven,
      current: remember(listing, listing),
      earlier: openVersions(superseded, now())
        .filter((version) => callable.includes(version))
        .map((version) => remember(listing, version)),
      fees: fees.see(fee),
    }
  }

  /** Those of the origins that the seller has shown to be its own, for the account that it is paid to. */
  async function provenOrigins(seller: Seller, origins: readonly string[]): Promise<ReadonlySet<string>> {
    const proven = new Set<string>()
    for (const origin of new Set(origins)) {
      const host = await rows.findHost(seller.id, new URL(origin).host)
      if (host?.state === 'proven' && host.payoutAddress === seller.payoutAddress) proven.add(origin)
    }
    return proven
  }

  function remember(
    { sellerId, serviceId }: Listing,
    { version, document }: Pick<Version, 'version' | 'document'>,
  ): OfferedVersion {
    const key = `${sellerId}/${serviceId} ${version}`
    const known = versions.get(key)
    if (known) return known
    const fresh = { version, document }
    versions.set(key, fresh)
    keepNewest(versions, MAX_KEPT)
    return fresh
  }

  return {
    find(sellerId, serviceId) {
      if (sellerId === OWN_SELLER_ID) return Promise.resolve(serviceId === OWN_SERVICE_ID ? OWN : undefined)
      const key = `${sellerId}/${serviceId}`
      const known = kept.get(key)
      if (known && isFresh(known.readAt, now(), FRESH_MS)) return known.sold
      const fresh = { readAt: now(), sold: read(sellerId, serviceId) }
      // What could not be read is asked for again at once.
      fresh.sold.catch(() => kept.get(key) === fresh && kept.delete(key))
      kept.delete(key)
      kept.set(key, fresh)
      keepNewest(kept, MAX_KEPT)
      return fresh.sold
    },
  }
}

/** Those that could be bought a moment ago: each ends when the next one begins. @param versions newest first, with the current one */
function openVersions(versions: readonly Version[], now: number): readonly Version[] {
  return versions.filter((version, at) => {
    const next = versions[at - 1]
    return version.isOffered && next !== undefined && next.createdAt > now - OFFER_LIFE_MS
  })
}

/** Fee terms that this process has made offers under. */
function rememberFees(now: () => number) {
  let seen: { readonly terms: FeeTerms; until: number }[] = []
  return {
    see(terms: FeeTerms): readonly [FeeTerms, ...FeeTerms[]] {
      const at = now()
      const known = seen.find((one) => isSame(one.terms, terms))
      if (known) known.until = at + OFFER_LIFE_MS
      else seen.push({ terms, until: at + OFFER_LIFE_MS })
      seen = seen.filter(({ until }) => until > at)
      return [terms, ...seen.filter((one) => !isSame(one.terms, terms)).map((one) => one.terms)]
    },
  }
}

const isSame = (a: FeeTerms, b: FeeTerms) =>
  a.bps === b.bps && a.fixedAtomic === b.fixedAtomic && a.minimumAtomic === b.minimumAtomic
