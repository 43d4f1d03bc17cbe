// The resources that were paid through our own facilitator and named themselves in the extension `bazaar`. Listing costs a
// settled payment; what is listed stays the claim of whoever had it settled, beside what we know: who was paid, by how many.
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { AddressPolicy } from '../egress/address.ts'
import type { Resolver } from '../egress/ports.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import { isObject } from '../lib/json.ts'
import type { Logger } from '../lib/log.ts'
import type { OnSettled, SettledSale } from '../payments/ports.ts'
import type { Store, StoredSettledListing } from '../store/ports.ts'
import { readSale } from './bazaar-extension.ts'
import { memberOf } from './data.ts'
import { type Entry, readEntry } from './entry.ts'
import { FACILITATOR_SOURCE, type Listing, payeeOf } from './merge.ts'
import { hostOf } from './own-listings.ts'
import { isFresh } from '../lib/fresh.ts'

export interface SettledListingParts {
  readonly store: Pick<Store, 'noteSettledListing' | 'listSettledListings' | 'forgetSettledListings'>
  readonly resolver: Resolver
  readonly policy: AddressPolicy
  readonly baseUrl: string
  readonly now: () => number
  readonly log: Logger
}

const LIMITS = { perPayee: 50, total: 2_000, payers: 500 }
/** A listing goes when nobody has paid for it for so long. */
const KEPT_MS = 30 * 24 * 3600 * 1000
/** Rows removed at a time. */
const SWEPT = 100
/** Other processes list too, and their rows are read after so long; those of this process sooner: an index costs work. */
const REFRESH_MS = 60_000
const OWN_REFRESH_MS = 15_000
const RESOLVE_MS = 1_500

export interface SettledListings {
  readonly onSettled: OnSettled
  /** Whether `read` would find something new. */
  isDue(): boolean
  /**
   * Reads the rows anew; what was read before stays when the store does not answer. Never throws.
   * @returns whether they are others than before
   */
  read(): Promise<boolean>
  listings(): readonly Listing[]
}

/** Nothing is read before the first `read`. */
export function createSettledListings(parts: SettledListingParts): SettledListings {
  const { store, resolver, policy, now, log } = parts
  const ownHost = hostOf(parts.baseUrl)
  let listing: Listing | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let isNews = false
  let lastDigest = digestOf('[]')

  async function leadsToPublicPlace(host: string): Promise<boolean> {
    if (isIP(host) !== 0) return false
    const addresses = await resolver.resolve(host, RESOLVE_MS).catch(() => [])
    return addresses.length > 0 && addresses.every((address) => policy.classify(address).ok)
  }

  /** @returns why the sale is not listed; undefined when it is */
  async function note({ payment, requirements, payer }: SettledSale): Promise<string | undefined> {
    // Who pays itself has sold nothing.
    if (payer === '' || payer.toLowerCase() === requirements.payTo.toLowerCase())
      return 'payer and payTo are the same, or the payer is not known'
    const at = now()
    const resource = payment.wire.use((wire) => memberOf(wire, 'resource'))
    const sale = readSale({ resource, bazaar: payment.extensions['bazaar'], requirements }, at)
    if (!sale.ok) return sale.reason
    const { entry, item } = sale
    const host = hostOf(entry.resource)
    if (host === ownHost) return 'this gateway lists its own resources itself'
    if (!(await leadsToPublicPlace(host))) return 'the host of resource.url does not lead to public addresses'
    const payee = payeeOf(requirements)
    const isListed = await store.noteSettledListing({
      id: digestOf(`${entry.key}\0${payee}`),
      payee,
      payer: payer.toLowerCase(),
      item: JSON.stringify(item),
      digest: digestOf(digestCanonical(stableOf(item))),
      limits: LIMITS,
      now: at,
    })
    isNews = true
    return isListed ? undefined : `payTo has ${LIMITS.perPayee} listings already`
  }

  return {
    async onSettled(sale) {
      if (!Object.hasOwn(sale.payment.extensions, 'bazaar')) return undefined
      try {
        const rejectedReason = await note(sale)
        return {
          bazaar:
            rejectedReason === undefined ? { status: 'success' } : { status: 'rejected', rejectedReason },
        }
      } catch (err) {
        log.warn({ err }, 'discovery: a settled resource could not be listed')
        return undefined
      }
    },

    isDue: () => !isFresh(readAt, now(), isNews ? OWN_REFRESH_MS : REFRESH_MS),

    async read() {
      const at = now()
      readAt = at
      isNews = false
      try {
        await store.forgetSettledListings({ notSettledSince: at - KEPT_MS, limit: SWEPT })
        const rows = await store.listSettledListings({ since: at - KEPT_MS, limit: LIMITS.total })
        const digest = digestOf(JSON.stringify(rows))
        if (digest === lastDigest) return false
        lastDigest = digest
        listing = { source: FACILITATOR_SOURCE, fetchedAt: at, entries: rows.flatMap(entryOf) }
        return true
      } catch (err) {
        log.warn({ err }, 'discovery: settled resources could not be read')
        return false
      }
    },

    listings: () => (listing === undefined || listing.entries.length === 0 ? [] : [listing]),
  }
}

/** Rows hold what was listable when it was noted; a release that judges more strictly leaves them out. */
function entryOf({ item, ...row }: StoredSettledListing): Entry[] {
  const value: unknown = JSON.parse(item)
  if (!isObject(value)) return []
  const verdict = readEntry({ ...value, lastUpdated: row.lastSettled }, row.lastSettled)
  if (!verdict.ok) return []
  const { entry } = verdict
  const [terms] = entry.terms
  if (!terms) return []
  const { network, payTo } = terms
  const { settlements, payers, firstSettled, lastSettled } = row
  const probeUrl = memberOf(value, 'probe')
  return [
    {
      ...entry,
      ...(typeof probeUrl === 'string' && { probeUrl }),
      settled: { network, payTo, settlements, payers, firstSettled, lastSettled },
    },
  ]
}

/** What every payment for the resource says alike: the time and the request's own path are not. */
function stableOf(item: Readonly<Record<string, unknown>>): unknown {
  const { lastUpdated: _time, probe: _path, ...stable } = item
  return JSON.parse(JSON.stringify(stable), (name, value: unknown) => (name === 'pathParams' ? null : value))
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url')
