// What sets an offer apart from one that can be bought new, now, for a price that still holds: what a buyer has to know before a low
// price is a good one. Only what is stated counts; whatever could be either way is no flag.
import type { ComparableGroup, Offer } from '../../../schemas/product-offers.ts'
import { toIsoTime } from '../extract/times.ts'
import { isBuyable } from './terms.ts'

type Flag = ComparableGroup['entries'][number]['flags'][number]

/** An offer among those that it would be ranked with. */
export interface Candidate {
  readonly offer: Offer
  /** Of the product. */
  readonly name: string | null
  /** When the page said so, in milliseconds; undefined where that is not known. */
  readonly retrievedAt: number | undefined
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** The day ends there last of all: UTC-12. */
const LAST_ZONE = 12 * HOUR

/** Shops call a thing refurbished in its name, and what writes their markup says that all they sell is new. */
const NAMED_NOT_NEW =
  /(?<!\p{L})(?:refurbished|refurb|renewed|pre[- ]?owned|second[- ]?hand|generalüberholt|gebraucht|refurbed|reconditionn(?:é|ée)s?|ricondizionat[oa]|usato garantito|reacondicionad[oa]|recondicionad[oa]|begagnad|yenilenmiş|ikinci el|odnowiony|używany|repasovaný|tweedehands)(?!\p{L})|中古|整備済|リファービッシュ|مستعمل|مجدد/iu

/** @param others that it would be ranked with, itself among them or not */
export function flagsOf({ offer, name, retrievedAt }: Candidate, others: readonly Candidate[]): Flag[] {
  const { condition, availability, valid_until: until, issues } = offer
  const flags: Flag[] = []
  const isNamedSo = [name, offer.name].some((text) => text !== null && NAMED_NOT_NEW.test(text))
  if (isNamedSo || (condition !== null && condition !== 'NewCondition')) flags.push('not_new')
  else if (condition === null && others.some((other) => other.offer.condition !== null))
    flags.push('condition_unknown')
  if (availability !== null && !isBuyable(availability)) flags.push('out_of_stock')
  if (/^(?:PreOrder|PreSale|BackOrder)$/.test(availability ?? '')) flags.push('not_in_stock_yet')
  if (availability === 'InStoreOnly') flags.push('in_store_only')
  if (retrievedAt !== undefined && until !== null && hasEnded(until, retrievedAt)) flags.push('price_expired')
  if (issues.includes('tax_excluded') && others.some((other) => !other.offer.issues.includes('tax_excluded')))
    flags.push('tax_excluded')
  if (offer.stated_in === 'text') flags.push('price_from_text')
  return flags
}

/** Whether a stated validity has ended at a moment, wherever on Earth its clock stands. */
export function hasEnded(validUntil: string, at: number): boolean {
  const end = latestEnd(validUntil)
  return end !== undefined && end < at
}

/** The last moment that a stated time can mean; undefined where it is no time. */
function latestEnd(stated: string): number | undefined {
  const iso = toIsoTime(stated)
  if (iso === undefined) return undefined
  const [, year = '', month = '', day, clock] = /^(\d{4})-(\d\d)(?:-(\d\d))?(?:T(.+))?$/.exec(iso) ?? []
  const start = Date.UTC(Number(year), Number(month) - 1, Number(day ?? '1'))
  // The thirty-first of February is no day.
  if (new Date(start).getUTCMonth() !== Number(month) - 1) return undefined
  if (day === undefined) return Date.UTC(Number(year), Number(month), 1) + LAST_ZONE
  // A day that is named is a day on which the price holds, and many write its midnight.
  if (clock === undefined || /^00:00(?::00(?:\.0+)?)?$/.test(clock)) return start + DAY + LAST_ZONE
  const hasZone = /(?:Z|[+-]\d\d:\d\d)$/i.test(clock)
  const moment = Date.parse(hasZone ? iso : `${iso}Z`)
  if (Number.isNaN(moment)) return undefined
  return hasZone ? moment : moment + LAST_ZONE
}
