// Merges listings of several catalogues: the same method, URL and payee is one resource, whoever lists it.
import { createHash } from 'node:crypto'
import type { SeenTerms } from '../../schemas/discovery.ts'
import type { Entry, SettledFacts } from './entry.ts'

export const OWN_SOURCE = 'own'
/** What was paid through our own facilitator. */
export const FACILITATOR_SOURCE = 'facilitator'

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
  readonly settled: readonly SettledFacts[]
}

/**
 * Who is paid tells listings of one address apart: a source speaks for nobody else's payee, however new it says it is. The
 * same resource with the same payees is one, and so is one that names only some of them.
 * @param listings in the order of configuration: ours first, what the facilitator saw last
 */
export function mergeListings(listings: readonly Listing[], maxEntries: number): readonly Merged[] {
  const byKey = new Map<string, Found[][]>()
  let size = 0
  for (const listing of listings)
    for (const entry of listing.entries) {
      const found = { listing, entry }
      const groups = byKey.get(entry.key) ?? []
      const group = groups.find(([first]) => first !== undefined && isOfSameResource(found, first))
      if (group) group.push(found)
      else if (size < maxEntries && groups.length < MAX_PAYEES) {
        size++
        byKey.set(entry.key, [...groups, [found]])
      }
    }
  return [...byKey.values()].flatMap((groups) => groups.map((found, at) => mergedOf(found, at)))
}

type Found = { readonly listing: Listing; readonly entry: Entry }

/** Different sets of payees that one address may be listed with. */
const MAX_PAYEES = 5

const isOwn = ({ listing }: Found) => listing.source === OWN_SOURCE

/** What others say of our own address is held against our listing, whomever they name. */
function isOfSameResource(next: Found, first: Found): boolean {
  if (isOwn(first)) return true
  const known = payeesOf(first.entry)
  return [...payeesOf(next.entry)].every((payee) => known.has(payee))
}

/** The payees of an entry, each as network and address. */
export const payeesOf = ({ terms }: Entry): ReadonlySet<string> => new Set(terms.map(payeeOf))
export const payeeOf = ({ network, payTo }: Pick<SeenTerms, 'network' | 'payTo'>) =>
  `${network} ${payTo.toLowerCase()}`

function mergedOf(found: readonly Found[], at: number): Merged {
  const shown = found.reduce((best, next) => (isBetter(next, best) ? next : best))
  return {
    // The first source's resource keeps its id, and with it what we remember of it.
    entry: at === 0 ? shown.entry : { ...shown.entry, id: idWithPayees(shown.entry, found) },
    isOwn: isOwn(shown),
    claims: found.map(({ listing, entry }) => ({
      source: listing.source,
      fetchedAt: listing.fetchedAt,
      lastUpdated: entry.lastUpdated,
      sameTerms: entry.price === shown.entry.price,
    })),
    settled: found.flatMap(({ entry }) => entry.settled ?? []),
  }
}

function idWithPayees({ key }: Entry, [first]: readonly Found[]): string {
  const payees = first ? [...payeesOf(first.entry)].sort() : []
  return createHash('sha256')
    .update([key, ...payees].join('\0'))
    .digest('base64url')
}

/**
 * Nobody else's word counts for what we sell, and the word of whoever paid a seller counts where no catalogue has the seller's.
 */
function isBetter(next: Found, best: Found): boolean {
  if (isOwn(best) || next.listing.source === FACILITATOR_SOURCE) return false
  return next.entry.lastUpdated > best.entry.lastUpdated
}
