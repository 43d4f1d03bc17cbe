// Merges listings of several catalogues: the same method and URL is one resource, whoever lists it.
import type { Entry } from './entry.ts'

export const OWN_SOURCE = 'own'

export interface Listing {
  /** Name of the catalogue, or `own`. */
  readonly source: string
  readonly fetchedAt: number
  readonly entries: readonly Entry[]
}

export interface Merged {
  /** The entry that is shown: ours, else the newest by its own account, else the first source's. */
  readonly entry: Entry
  readonly isOwn: boolean
  readonly claims: readonly {
    readonly source: string
    readonly fetchedAt: number
    readonly lastUpdated: string
    readonly sameTerms: boolean
  }[]
}

/** @param listings in the order of configuration, ours first */
export function mergeListings(listings: readonly Listing[], maxEntries: number): readonly Merged[] {
  const byKey = new Map<string, { listing: Listing; entry: Entry }[]>()
  for (const listing of listings)
    for (const entry of listing.entries) {
      const known = byKey.get(entry.key)
      if (known) known.push({ listing, entry })
      else if (byKey.size < maxEntries) byKey.set(entry.key, [{ listing, entry }])
    }
  return [...byKey.values()].map((found) => {
    const shown = found.reduce((best, next) => (isBetter(next, best) ? next : best))
    return {
      entry: shown.entry,
      isOwn: shown.listing.source === OWN_SOURCE,
      claims: found.map(({ listing, entry }) => ({
        source: listing.source,
        fetchedAt: listing.fetchedAt,
        lastUpdated: entry.lastUpdated,
        sameTerms: entry.price === shown.entry.price,
      })),
    }
  })
}

type Found = { readonly listing: Listing; readonly entry: Entry }

/** Nobody else's word counts for what we sell. */
const isBetter = (next: Found, best: Found) =>
  best.listing.source !== OWN_SOURCE && next.entry.lastUpdated > best.entry.lastUpdated
